//! Making a connection: options, addresses, TCP, TLS. Every step shares one deadline.

use std::fmt;
use std::net::TcpStream;
use std::time::Duration;

use http::Uri;

use super::error::Error;
use super::stream::Stream;
use crate::http::dial;
use crate::setters::setters;
use crate::sync::Deadline;

/// Trade-off between latency and CPU time of a call.
///
/// On a quiet machine most of a round trip is waking sleeping threads. A caller that waits spins for
/// a moment before it sleeps, when its call is the only one under way; only one thread spins at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Latency {
    /// Never spins: least processor time.
    Quiet,
    /// Spins up to twice the usual time of an answer, at most 400 µs a call, and only while answers
    /// come sooner that way; which way does better is tried all the time.
    #[default]
    Balanced,
    /// Spins up to 5 ms a call.
    Low,
}

/// How to connect. Its `Debug` shows the names of the headers only.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Trade-off between latency and CPU time.
    pub latency: Latency,
    /// Extra headers of the WebSocket handshake. Their values are never logged.
    pub headers: Vec<(String, String)>,
    /// Limit for look-up, TCP connect and handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// Greatest incoming message in bytes. A larger one is skipped: its call fails, of its event only the beginning is
    /// handed on. One of sixteen times as much ends the connection. Default 256 MiB: full-page pictures are large.
    pub max_message: usize,
    /// A ping goes out after so much silence, and the connection ends after three times as much.
    /// Silence itself is legal, only unanswered pings are not. Default 20 s; WebSocket only.
    pub keepalive: Option<Duration>,
    /// Root certificates for `wss://` beside the public ones that are built in: for a proxy with a
    /// certificate of your own. Each is one certificate in DER, or a PEM text with one or more (what
    /// is in the file). Feature `tls`.
    pub tls_roots: Vec<Vec<u8>>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            latency: Latency::Balanced,
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            max_message: 256 * 1024 * 1024,
            keepalive: Some(Duration::from_secs(20)),
            tls_roots: Vec::new(),
        }
    }
}

impl ConnectOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { ConnectOptions:
    latency(Latency),
    headers(Vec<(String, String)>),
    connect_timeout(Duration),
    max_message(usize),
    keepalive(Option<Duration>),
    tls_roots(Vec<Vec<u8>>),
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { latency, headers, connect_timeout, max_message, keepalive, tls_roots } = self;
        f.debug_struct("ConnectOptions")
            .field("latency", latency)
            .field("headers", &headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("connect_timeout", connect_timeout)
            .field("max_message", max_message)
            .field("keepalive", keepalive)
            .field("tls_roots", &tls_roots.len())
            .finish()
    }
}

/// Host, port and path of an address.
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
    pub(super) uri: Uri,
}

/// The accepted address schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    WebSocket,
    Http,
}

pub(super) fn parse(address: &str, protocol: Protocol) -> Result<Target, Error> {
    let bad = |problem: &str| Error::Address { problem: problem.to_owned() };
    let uri: Uri = address.parse().map_err(|_| bad("it is no valid URL"))?;
    let tls = match (protocol, uri.scheme_str()) {
        (Protocol::WebSocket, Some("ws")) | (Protocol::Http, Some("http")) => false,
        (Protocol::WebSocket, Some("wss")) | (Protocol::Http, Some("https")) if cfg!(feature = "tls") => true,
        (Protocol::WebSocket, Some("wss")) | (Protocol::Http, Some("https")) => {
            return Err(bad("wss:// and https:// need a build with the feature `tls`"));
        }
        (Protocol::WebSocket, _) => return Err(bad("it must begin with ws:// or wss://")),
        (Protocol::Http, _) => return Err(bad("it must begin with http:// or https://")),
    };
    let host = uri.host().filter(|h| !h.is_empty()).ok_or_else(|| bad("it names no host"))?;
    Ok(Target {
        host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        tls,
        uri,
    })
}

/// The stream over a fresh socket, encrypted if the address asks for it.
pub(super) fn stream(
    socket: TcpStream,
    target: &Target,
    roots: &[Vec<u8>],
    deadline: Deadline,
) -> Result<Stream, Error> {
    let stream =
        Stream::tcp(socket).map_err(|e| Error::System { what: "cannot set up the socket", problem: e.to_string() })?;
    #[cfg(feature = "tls")]
    if target.tls {
        return super::tls::wrap(stream, &target.host, roots, deadline);
    }
    let _ = (target.tls, roots, deadline); // TLS was refused above in a build without it
    Ok(stream)
}

pub(super) fn tcp(target: &Target, deadline: Deadline) -> Result<TcpStream, Error> {
    Ok(dial::tcp(&target.host, target.port, deadline)?)
}
