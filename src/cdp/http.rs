//! HTTP requests to a CDP endpoint or a WebDriver server, also over TLS, and blocking use of a stream for handshakes.
//! The HTTP protocol itself is in `crate::http`.

use std::io;
use std::time::Instant;

use super::connect;
use super::error::{Error, TimeoutKind};
use super::stream::Stream;
pub(super) use crate::http::client::host;
use crate::http::client::{self, Tcp, Wire, exchange};
use crate::setters;
use crate::sync::Deadline;

/// Maximum size of a response body, in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Blocking use of a stream, with a deadline.
pub(super) struct Blocking<'a> {
    pub(super) stream: &'a Stream,
    pub(super) deadline: Deadline<'a>,
    pub(super) kind: TimeoutKind,
    pub(super) began: Instant,
}

impl Blocking<'_> {
    fn timeout(&self) -> Error {
        Error::Timeout { kind: self.kind, method: "connect".into(), after: self.began.elapsed() }
    }

    /// Writes all bytes.
    pub(super) fn write_all(&self, bytes: &[u8]) -> Result<(), Error> {
        let sealed = self.stream.seal(bytes.to_vec()).map_err(broken)?;
        let mut bytes = &sealed[..];
        while !bytes.is_empty() {
            if self.deadline.passed() {
                return Err(self.timeout());
            }
            match self.stream.write(bytes) {
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.wait_writable(self.deadline).map_err(broken)?;
                }
                Err(e) => return Err(broken(e)),
            }
        }
        Ok(())
    }

    /// Waits for bytes; 0 at the end of the stream.
    pub(super) fn read_some(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.read(|| self.stream.read(into))
    }

    /// Waits for encrypted bytes; 0 at the end of the stream.
    #[cfg(feature = "tls")]
    pub(super) fn read_raw(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.read(|| self.stream.read_raw(into))
    }

    fn read(&self, mut read: impl FnMut() -> io::Result<usize>) -> Result<usize, Error> {
        loop {
            if self.deadline.passed() {
                return Err(self.timeout());
            }
            match read() {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.wait_readable_until(self.deadline).map_err(broken)?;
                }
                Err(e) => return Err(broken(e)),
            }
        }
    }
}

impl Wire for Blocking<'_> {
    type Error = Error;

    fn write_all(&self, bytes: &[u8]) -> Result<(), Error> {
        Blocking::write_all(self, bytes)
    }

    fn read_some(&self, into: &mut [u8]) -> Result<usize, Error> {
        Blocking::read_some(self, into)
    }
}

fn broken(problem: io::Error) -> Error {
    client::Error::Broken(problem.kind()).into()
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Self {
        match error {
            client::Error::Header => Self::Address { problem: error.to_string() },
            client::Error::Thread { problem } => Self::System { what: "cannot start a thread", problem },
            client::Error::Timeout { after } => {
                Self::Timeout { kind: TimeoutKind::Connect, method: "connect".into(), after }
            }
            other => Self::Connect { problem: other.to_string() },
        }
    }
}

/// Fetches a small document over `http://`, with the feature `tls` also `https://`. Returns status and body. Uses no
/// proxy and follows no redirects; user information in the URL is not sent.
///
/// # Errors
/// [`Error::Address`], [`Error::Connect`], [`Error::Timeout`]; none contains the URL.
pub fn get(address: &str, headers: &[(String, String)], deadline: Deadline<'_>) -> Result<(u16, Vec<u8>), Error> {
    get_trusting(address, headers, &[], deadline)
}

/// Like [`get`], with additional root certificates, see
/// [`ConnectOptions::tls_roots`](super::ConnectOptions::tls_roots).
///
/// # Errors
/// Those of [`get`].
pub fn get_trusting(
    address: &str,
    headers: &[(String, String)],
    roots: &[Vec<u8>],
    deadline: Deadline<'_>,
) -> Result<(u16, Vec<u8>), Error> {
    send(&Request { method: "GET", address, headers, body: None, roots }, deadline)
}

/// A request for [`send`].
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'static str,
    /// The complete URL, with scheme, host and path.
    pub address: &'a str,
    /// Headers except `Host`, `Connection` and `Content-Length`.
    pub headers: &'a [(String, String)],
    /// The body, if any.
    pub body: Option<&'a [u8]>,
    /// Root certificates to trust, as in [`ConnectOptions::tls_roots`](super::ConnectOptions::tls_roots). Default: none in addition.
    pub roots: &'a [Vec<u8>],
}

impl<'a> Request<'a> {
    /// A request without headers, body or further root certificates. The method is in capitals, the URL complete.
    #[must_use]
    pub fn new(method: &'static str, address: &'a str) -> Self {
        Self { method, address, headers: &[], body: None, roots: &[] }
    }
}

setters! { <'a> Request<'a>:
    headers(&'a [(String, String)]),
    body(some &'a [u8]),
    roots(&'a [Vec<u8>]),
}

/// Sends a request on its own connection. Returns status and body of the response; otherwise like [`get`].
///
/// # Errors
/// Those of [`get`].
pub fn send(request: &Request<'_>, deadline: Deadline<'_>) -> Result<(u16, Vec<u8>), Error> {
    let began = Instant::now();
    let target = connect::parse(request.address, connect::Protocol::Http)?;
    let Request { method, headers, body, .. } = *request;
    let client_request = client::Request { method, uri: &target.uri, headers, body, max_answer: MAX_BODY };
    if !target.tls {
        return Ok(exchange(&Tcp::connect(&target.uri, deadline.left(), deadline)?, &client_request)?);
    }
    let stream = connect::stream(connect::tcp(&target, deadline)?, &target, request.roots, deadline)?;
    exchange(&Blocking { stream: &stream, deadline, kind: TimeoutKind::Connect, began }, &client_request)
}
