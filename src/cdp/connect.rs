//! Connecting: options, URL, TCP, TLS. All steps share one deadline.

use std::fmt;
use std::net::TcpStream;
use std::time::Duration;

use http::Uri;

use super::error::Error;
use super::stream::Stream;
use crate::http::dial;
use crate::setters;
use crate::sync::Deadline;

/// Trade-off between latency and CPU time of a call.
///
/// On a quiet machine, most of a round trip is spent waking sleeping threads. A waiting caller spins briefly before it
/// sleeps, if its call is the only one in flight; at most one thread spins at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Latency {
    /// Never spins: lowest CPU usage.
    Quiet,
    /// Spins up to twice the usual answer time, at most 400 µs per call, and only while that makes answers faster; both
    /// modes are measured continuously.
    #[default]
    Balanced,
    /// Spins up to 5 ms per call.
    Low,
}

/// Options of a connection. `Debug` shows only the names of the headers.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Trade-off between latency and CPU time.
    pub latency: Latency,
    /// Additional headers of the WebSocket handshake. Their values are never logged.
    pub headers: Vec<(String, String)>,
    /// Limit for name resolution, TCP connect and handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// Maximum size of an incoming message in bytes. A larger one is skipped: its call fails; of an event only the
    /// beginning is delivered. A message sixteen times as large ends the connection. Default 256 MiB, enough for
    /// full-page screenshots.
    pub max_message: usize,
    /// Interval of silence after which a ping is sent; the connection ends after three such intervals. Silence itself
    /// is allowed, unanswered pings are not. Default 20 s; WebSocket only.
    pub keepalive: Option<Duration>,
    /// Additional root certificates for `wss://`, such as that of a proxy. Each entry is one certificate in DER, or a
    /// PEM text with one or more. Feature `tls`.
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

/// Host, port and path of a URL.
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
    pub(super) uri: Uri,
}

/// The supported URL schemes.
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

/// The stream over a new socket, encrypted if the URL requires it.
pub(super) fn stream(
    socket: TcpStream,
    target: &Target,
    roots: &[Vec<u8>],
    deadline: Deadline<'_>,
) -> Result<Stream, Error> {
    let stream =
        Stream::tcp(socket).map_err(|e| Error::System { what: "cannot set up the socket", problem: e.to_string() })?;
    #[cfg(feature = "tls")]
    if target.tls {
        return super::tls::wrap(stream, &target.host, roots, deadline);
    }
    let _ = (target.tls, roots, deadline); // without the feature, TLS was rejected above
    Ok(stream)
}

pub(super) fn tcp(target: &Target, deadline: Deadline<'_>) -> Result<TcpStream, Error> {
    Ok(dial::tcp(&target.host, target.port, deadline)?)
}
