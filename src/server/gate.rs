//! Who may ask: the host that was asked, the page that asks, and the token.
//!
//! A page in somebody's browser can send requests to this machine, and with a name that it lets point here
//! (DNS rebinding) it can even read the answers. So every request, `GET /health` included, must name a host of ours
//! and, if it says where it comes from, come from us. Then it must show the token, or the cookie that a one-time
//! ticket was exchanged for.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;

use super::http::{Answer, Head};
use crate::config::Token;

/// The cookie of the web UI.
const SESSION: &str = "cdpilot_session";
/// Where a browser says how the page that asks is related to us.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// How long a ticket is good for.
const TICKET_LIFE: Duration = Duration::from_secs(60);
/// How long a session lasts without being used.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Tickets, and sessions, at once; above it the oldest go.
const MOST: usize = 64;

/// Decides who may ask.
#[derive(Debug)]
pub struct Gate {
    token: Token,
    hosts: Vec<Host>,
    tickets: Arc<Tickets>,
}

/// A host of ours, in lower case, with the port to be named beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    /// `None`: any of ours, or none at all.
    port: Option<u16>,
    /// Reached through something else, which may speak TLS.
    foreign: bool,
}

impl Gate {
    /// The gate of a server on a bound address. `allowed_hosts` are further names of it, each `name` (good without
    /// a port and with ours) or `name:port`.
    #[must_use]
    pub fn new(token: Token, address: SocketAddr, allowed_hosts: &[String]) -> Self {
        let port = address.port();
        let mut hosts: Vec<Host> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|name| Host { name: name.to_owned(), port: Some(port), foreign: false })
            .into();
        for allowed in allowed_hosts {
            let Some((name, given)) = split(&allowed.to_ascii_lowercase()) else { continue };
            // Without a port: as the browser leaves it out, for http and https, and ours.
            let ports = given.map_or_else(|| vec![None, Some(port)], |given| vec![Some(given)]);
            hosts.extend(ports.into_iter().map(|port| Host { name: name.clone(), port, foreign: true }));
        }
        Self { token, hosts, tickets: Arc::new(Tickets::default()) }
    }

    /// The tickets that open the web UI.
    #[must_use]
    pub fn tickets(&self) -> &Arc<Tickets> {
        &self.tickets
    }

    /// Lets a request in, or says what it is answered instead: 403 `FORBIDDEN_HOST` or `FORBIDDEN_ORIGIN`, 401
    /// `UNAUTHORIZED`. `GET /` with a good ticket is answered 303 to `/` with the session's cookie.
    ///
    /// # Errors
    /// The answer.
    pub fn check(&self, head: &Head) -> Result<(), Answer> {
        self.check_host(head)?;
        let from_us = self.check_origin(&head.headers)?;
        if head.path == "/health" && matches!(head.method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        self.check_secret(head, from_us)
    }

    fn check_host(&self, head: &Head) -> Result<(), Answer> {
        let mut named: Vec<Option<&str>> = head.headers.get_all(HOST).iter().map(|v| v.to_str().ok()).collect();
        named.extend(head.authority.as_deref().map(Some));
        // Every one that is named, and there must be one.
        let good = !named.is_empty() && named.iter().all(|host| host.is_some_and(|host| self.is_ours("http", host)));
        if good {
            return Ok(());
        }
        Err(Answer::failure(
            StatusCode::FORBIDDEN,
            "FORBIDDEN_HOST",
            "the Host of the request is not a name of this server; use http://127.0.0.1 with its port, \
             or add the host to server.allowed_hosts in config.yaml",
        ))
    }

    /// Whether a host, with its port, is ours when reached with a scheme.
    fn is_ours(&self, scheme: &str, host: &str) -> bool {
        let default = if scheme == "https" { 443 } else { 80 };
        let Some((name, port)) = split(&host.to_ascii_lowercase()) else { return false };
        self.hosts.iter().any(|ours| {
            let port_fits = match ours.port {
                Some(wanted) => port.unwrap_or(default) == wanted,
                // A proxy in front says the host without a port whatever it speaks itself.
                None => port.is_none_or(|port| port == default),
            };
            ours.name == name && port_fits && (ours.foreign || scheme == "http")
        })
    }

    /// Whether the request says that it comes from us; one that comes from elsewhere is refused.
    fn check_origin(&self, headers: &HeaderMap) -> Result<bool, Answer> {
        let mut from_us = false;
        for origin in headers.get_all(ORIGIN) {
            let ours =
                origin.to_str().ok().and_then(|origin| origin.split_once("://")).is_some_and(|(scheme, host)| {
                    let scheme = scheme.to_ascii_lowercase();
                    matches!(scheme.as_str(), "http" | "https") && self.is_ours(&scheme, host)
                });
            if !ours {
                return Err(foreign(
                    "the Origin of the request is another site; this server is for its own pages and for programs",
                ));
            }
            from_us = true;
        }
        for site in headers.get_all(FETCH_SITE) {
            match site.as_bytes() {
                b"same-origin" => from_us = true,
                b"none" => {}
                _ => {
                    return Err(foreign(
                        "a page of another site made the request (Sec-Fetch-Site); \
                         this server is for its own pages and for programs",
                    ));
                }
            }
        }
        Ok(from_us)
    }

    fn check_secret(&self, head: &Head, from_us: bool) -> Result<(), Answer> {
        if head.headers.contains_key(AUTHORIZATION) {
            let shown = head.header(AUTHORIZATION.as_str()).and_then(bearer);
            return if shown.is_some_and(|shown| self.token.is(shown)) {
                Ok(())
            } else {
                Err(unauthorized("the token is not this server's; it is in the file `token` in its home"))
            };
        }
        let in_session = self.tickets.knows(&cookies(&head.headers));
        let ticket = (head.method == Method::GET && head.path == "/").then(|| head.parameter("ticket")).flatten();
        if let Some(ticket) = ticket {
            // The address with the ticket does not stay in the history, and loading it again does no harm.
            let redirect = || {
                Answer::bytes(StatusCode::SEE_OTHER, "text/plain", Vec::new())
                    .with(LOCATION, HeaderValue::from_static("/"))
            };
            return Err(match self.tickets.redeem(ticket) {
                Ok(Some(cookie)) => redirect().with(SET_COOKIE, cookie),
                Ok(None) if in_session => redirect(),
                Ok(None) => {
                    unauthorized("the ticket was used, or is older than 60 seconds; get another with `cdpilot ui`")
                }
                Err(problem) => Answer::failure(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", problem),
            });
        }
        if !in_session {
            return Err(unauthorized(
                "send the token as `Authorization: Bearer …`; it is in the file `token` in the server's home, \
                 and `cdpilot ui` opens the web UI",
            ));
        }
        // A cookie is sent by the browser whoever makes it ask, so a page that changes something must prove that it
        // is ours.
        if from_us || matches!(head.method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        Err(foreign(
            "a request with a cookie that changes something must say where it comes from (Origin or Sec-Fetch-Site)",
        ))
    }
}

fn foreign(error: &str) -> Answer {
    Answer::failure(StatusCode::FORBIDDEN, "FORBIDDEN_ORIGIN", error)
}

fn unauthorized(error: &str) -> Answer {
    Answer::failure(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", error)
        .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

/// The name and the port of `name`, `name:port` or `[v6]:port`.
fn split(host: &str) -> Option<(String, Option<u16>)> {
    let after_name = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at(after_name);
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some(port) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => Some(port.parse().ok()?),
        _ => return None,
    };
    (!name.is_empty()).then(|| (name.to_owned(), port))
}

/// What a header `Bearer …` shows.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, shown) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| shown.trim_matches(' '))
}

/// The values of our cookie.
fn cookies(headers: &HeaderMap) -> Vec<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == SESSION).map(|(_, value)| value).collect()
}

/// One-time tickets for the web UI, and the sessions that they became. They last as long as the server at most.
#[derive(Debug, Default)]
pub struct Tickets {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Good until then.
    tickets: VecDeque<(Token, Instant)>,
    /// Last used then.
    sessions: VecDeque<(Token, Instant)>,
}

impl Tickets {
    /// A new ticket, 64 hex digits, good once and for 60 seconds, for `GET /?ticket=…`.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn issue(&self) -> io::Result<String> {
        let text = random()?;
        let mut kept = self.kept.lock();
        if kept.tickets.len() >= MOST {
            kept.tickets.pop_front();
        }
        kept.tickets.push_back((Token::given(text.as_str()), Instant::now() + TICKET_LIFE));
        Ok(text)
    }

    /// Takes a ticket and gives the cookie of a new session for it; `None` when the ticket is not good.
    fn redeem(&self, shown: &str) -> io::Result<Option<HeaderValue>> {
        let session = random()?;
        let now = Instant::now();
        let mut kept = self.kept.lock();
        kept.tickets.retain(|(_, until)| *until > now);
        let Some(at) = kept.tickets.iter().position(|(ticket, _)| ticket.is(shown)) else { return Ok(None) };
        kept.tickets.remove(at);
        if kept.sessions.len() >= MOST {
            kept.sessions.pop_front();
        }
        kept.sessions.push_back((Token::given(session.as_str()), now));
        drop(kept);
        let cookie = format!("{SESSION}={session}; HttpOnly; SameSite=Strict; Path=/");
        HeaderValue::try_from(cookie).map(Some).map_err(io::Error::other)
    }

    /// Whether one of these is a session; it is used with that.
    fn knows(&self, shown: &[&str]) -> bool {
        if shown.is_empty() {
            return false;
        }
        let now = Instant::now();
        let mut kept = self.kept.lock();
        kept.sessions.retain(|(_, used)| now.duration_since(*used) < SESSION_LIFE);
        let found = kept.sessions.iter().position(|(session, _)| shown.iter().any(|shown| session.is(shown)));
        // The one used last stands last, so that the first is the one to go.
        let session = found.and_then(|at| kept.sessions.remove(at));
        session.map(|(session, _)| kept.sessions.push_back((session, now))).is_some()
    }
}

/// 32 random bytes in hex.
fn random() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|problem| io::Error::other(problem.to_string()))?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
