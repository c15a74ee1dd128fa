//! The little HTTP/1.1 that a CDP endpoint and a WebDriver server need: one request and its answer a
//! connection. Heads are parsed by `httparse`.

use std::io;
use std::net::TcpStream;
use std::time::Instant;

use http::Uri;

use super::connect;
use super::error::{Error, TimeoutKind};
use super::stream::Stream;
use crate::sync::Deadline;

/// Longest head of a response, in bytes.
const MAX_HEAD: usize = 64 * 1024;
/// Most headers of a response.
const MAX_HEADERS: usize = 100;
/// Longest body of a response, in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// The head of a response and what came behind it.
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
    rest: Vec<u8>,
}

impl Head {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A stream used in a blocking way, with a deadline.
pub(super) struct Blocking<'a> {
    pub(super) stream: &'a Stream,
    pub(super) deadline: Deadline,
    pub(super) kind: TimeoutKind,
    pub(super) began: Instant,
}

impl Blocking<'_> {
    fn timeout(&self) -> Error {
        Error::Timeout { kind: self.kind, method: "connect".into(), after: self.began.elapsed() }
    }

    fn failed(&self, what: &str, error: &io::Error) -> Error {
        Error::Connect { problem: format!("{what} ({})", error.kind()) }
    }

    pub(super) fn write_all(&self, bytes: &[u8]) -> Result<(), Error> {
        let sealed = self.stream.seal(bytes.to_vec()).map_err(|e| self.failed("the connection broke off", &e))?;
        let mut bytes = &sealed[..];
        while !bytes.is_empty() {
            if self.deadline.passed() {
                return Err(self.timeout());
            }
            match self.stream.write(bytes) {
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.wait_writable(self.deadline).map_err(|e| self.failed("the connection broke off", &e))?
                }
                Err(e) => return Err(self.failed("the connection broke off", &e)),
            }
        }
        Ok(())
    }

    /// Appends what comes next. False at the end of the stream.
    fn read_more(&self, into: &mut Vec<u8>) -> Result<bool, Error> {
        let mut chunk = [0; 8192];
        let came = self.read_some(&mut chunk)?;
        into.extend_from_slice(&chunk[..came]);
        Ok(came > 0)
    }

    /// Waits for bytes; 0 at the end.
    pub(super) fn read_some(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.read(|| self.stream.read(into))
    }

    /// Waits for bytes below TLS; 0 at the end.
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
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self
                    .stream
                    .wait_readable_until(self.deadline)
                    .map_err(|e| self.failed("the connection broke off", &e))?,
                Err(e) => return Err(self.failed("the connection broke off", &e)),
            }
        }
    }

    fn read_head(&self) -> Result<Head, Error> {
        let bad = |problem: &str| Error::Connect { problem: problem.to_owned() };
        let mut text = Vec::new();
        loop {
            if !self.read_more(&mut text)? {
                return Err(bad("the endpoint closed the connection before it answered"));
            }
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            match response.parse(&text) {
                Ok(httparse::Status::Complete(length)) => {
                    let status = response.code.unwrap_or(0);
                    let text_of = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
                    let headers = response.headers.iter().map(|h| (h.name.to_owned(), text_of(h.value))).collect();
                    return Ok(Head { status, headers, rest: text.split_off(length) });
                }
                Ok(httparse::Status::Partial) if text.len() <= MAX_HEAD => {}
                Ok(httparse::Status::Partial) => return Err(bad("the endpoint's answer is too long")),
                Err(_) => return Err(bad("the endpoint does not speak HTTP")),
            }
        }
    }

    fn read_body(&self, head: Head) -> Result<Vec<u8>, Error> {
        let bad = |problem: &str| Error::Connect { problem: problem.to_owned() };
        if head.status == 204 {
            return Ok(Vec::new());
        }
        let chunked = head.header("transfer-encoding").is_some_and(|t| t.eq_ignore_ascii_case("chunked"));
        let length = head.header("content-length").and_then(|l| l.parse::<usize>().ok());
        let mut raw = head.rest;
        loop {
            if raw.len() > MAX_BODY || length.is_some_and(|l| l > MAX_BODY) {
                return Err(bad("the endpoint's answer is too long"));
            }
            if chunked {
                match dechunk(&raw) {
                    Some(Some(body)) => return Ok(body),
                    Some(None) => {}
                    None => return Err(bad("the endpoint's answer is not valid HTTP")),
                }
            } else if let Some(length) = length
                && raw.len() >= length
            {
                raw.truncate(length);
                return Ok(raw);
            }
            if !self.read_more(&mut raw)? {
                return if chunked || length.is_some() {
                    Err(bad("the endpoint closed the connection in the middle of its answer"))
                } else {
                    Ok(raw)
                };
            }
        }
    }
}

/// RFC 9112 section 7.1. `None`: not valid; `Some(None)`: not whole yet.
fn dechunk(mut raw: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some((size, length)) = (match httparse::parse_chunk_size(raw) {
            Ok(httparse::Status::Complete((at, size))) => Some((at, usize::try_from(size).ok()?)),
            Ok(httparse::Status::Partial) => None,
            Err(_) => return None,
        }) else {
            return Some(None);
        };
        if length == 0 {
            return Some(Some(body));
        }
        let Some(chunk) = raw.get(size..size.checked_add(length)?) else { return Some(None) };
        body.extend_from_slice(chunk);
        let Some(rest) = raw.get(size + length + 2..) else { return Some(None) };
        raw = rest;
    }
}

/// The request line's target.
fn path(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
}

/// The `Host` header: host and port without user information.
pub(super) fn host(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    uri.port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Fetches a small document over `http://`, with the feature `tls` also `https://`. Returns status
/// and body. No proxy is used and no redirect followed;
/// user information in the address is not sent.
///
/// # Errors
/// [`Error::Address`], [`Error::Connect`], [`Error::Timeout`]; none names the address.
pub fn get(address: &str, headers: &[(String, String)], deadline: Deadline) -> Result<(u16, Vec<u8>), Error> {
    get_trusting(address, headers, &[], deadline)
}

/// Like [`get`], with further root certificates, see
/// [`ConnectOptions::tls_roots`](super::ConnectOptions::tls_roots).
///
/// # Errors
/// Those of [`get`].
pub fn get_trusting(
    address: &str,
    headers: &[(String, String)],
    roots: &[Vec<u8>],
    deadline: Deadline,
) -> Result<(u16, Vec<u8>), Error> {
    send(&Request { method: "GET", address, headers, body: None, roots }, deadline)
}

/// A request for [`send`].
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'static str,
    /// The whole address.
    pub address: &'a str,
    /// Headers beside `Host`, `Connection` and `Content-Length`.
    pub headers: &'a [(String, String)],
    /// What is sent along.
    pub body: Option<&'a [u8]>,
    /// See [`ConnectOptions::tls_roots`](super::ConnectOptions::tls_roots).
    pub roots: &'a [Vec<u8>],
}

/// Sends a request on a connection of its own. Returns status and body of the answer; otherwise like
/// [`get`].
///
/// # Errors
/// Those of [`get`].
pub fn send(request: &Request<'_>, deadline: Deadline) -> Result<(u16, Vec<u8>), Error> {
    let began = Instant::now();
    let target = connect::parse(request.address, connect::Protocol::Http)?;
    let uri = &target.uri;
    let mut head = format!("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method, path(uri), host(uri));
    if let Some(body) = request.body {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    push_headers(&mut head, request.headers)?;
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(request.body.unwrap_or_default());

    let socket: TcpStream = connect::tcp(&target, deadline)?;
    let stream = connect::stream(socket, &target, request.roots, deadline)?;
    let blocking = Blocking { stream: &stream, deadline, kind: TimeoutKind::Connect, began };
    blocking.write_all(&bytes)?;
    let head = blocking.read_head()?;
    let status = head.status;
    Ok((status, blocking.read_body(head)?))
}

/// Adds headers after checking that they are headers and nothing more.
fn push_headers(request: &mut String, headers: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in headers {
        let name_ok = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
        if !name_ok || http::HeaderValue::from_str(value).is_err() {
            return Err(Error::Address { problem: "a header's name or value is not valid".to_owned() });
        }
        request.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    Ok(())
}
