//! Requests.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::{Duration, Instant};

use http::{HeaderMap, Method};

use cdpilot::sync::{Cancel, Deadline};

/// The parsed request line and headers.
///
/// `Debug` shows the method and the path, nothing that may be secret.
#[derive(Clone)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The path as it was sent, percent-encoded, without the query. Begins with `/`, or is `*`.
    pub path: String,
    /// The parts of the path between slashes, percent-decoded; `/` has none. An encoded slash does not separate.
    pub segments: Vec<String>,
    /// The query's pairs in order, decoded as forms are; a bare name has an empty value.
    pub query: Vec<(String, String)>,
    /// The headers. Values are bytes; [`Head::header`] gives text.
    pub headers: HeaderMap,
    /// The host and port of a request target that names them (`GET http://host:port/path`).
    pub authority: Option<String>,
    /// Address of the client.
    pub peer: SocketAddr,
    /// When its first byte arrived. Timeouts of operations count from here, including time in the queue.
    pub arrived: Instant,
    /// Whether the connection is kept alive.
    pub(super) keep_alive: bool,
    /// How the body is delimited.
    pub(super) framing: Framing,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects_continue: bool,
}

/// How a body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// No body, or one of this many bytes.
    Length(u64),
    /// In chunks.
    Chunked,
}

impl Head {
    /// The value of a header. `None` if it is missing, repeated or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.get_all(name).iter();
        let first = all.next()?;
        if all.next().is_some() {
            return None;
        }
        first.to_str().ok()
    }

    /// The first value of a query parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether a body follows.
    #[must_use]
    pub fn has_body(&self) -> bool {
        self.framing != Framing::Length(0)
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({} {})", self.method, self.path)
    }
}

/// A whole request. The fields of its [`Head`] are reached directly.
pub struct Request {
    /// Request line and headers.
    pub head: Head,
    /// The body, declared as `application/json`; empty if there was none.
    pub body: Vec<u8>,
    /// Set when the client disconnects, and when a stopping server cancels running requests.
    pub cancel: Cancel,
}

impl Request {
    /// A deadline `limit` after the request arrived, which is cancelled when the client disconnects.
    #[must_use]
    pub fn deadline(&self, limit: Duration) -> Deadline<'_> {
        Deadline::after(limit.saturating_sub(self.arrived.elapsed())).cancelled_by(&self.cancel)
    }

    /// A request that did not come over HTTP, from this program: its target is a path with or without a query, as in a
    /// request line. The error is the message for the client.
    pub(crate) fn local(method: &str, target: &str, body: Vec<u8>) -> Result<Self, &'static str> {
        // The parser would take what follows a line break for headers.
        if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the path has spaces or characters outside of ASCII; percent-encode them");
        }
        let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: local\r\n\r\n");
        let head = super::head::parse(head.as_bytes(), SocketAddr::from(([127, 0, 0, 1], 0)), Instant::now())?;
        Ok(Self { head, body, cancel: Cancel::new() })
    }
}

impl Deref for Request {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {}, {} bytes)", self.method, self.path, self.body.len())
    }
}
