//! Who may ask: the host that was asked, the page that asks, and the token.
//!
//! A page in somebody's browser can send requests to this machine, and with a name that it lets point here
//! (DNS rebinding) it can even read the answers. So every request, `GET /health` included, must name a host of ours
//! and, if it says where it comes from, come from us. Then it must show the token, or the secret that the web UI got for
//! a one-time ticket. Both are sent as a header: browsers send cookies of 127.0.0.1 to every port of it.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::tickets::Tickets;
use super::ui;
use crate::config::Token;
use crate::http::{Answer, Head};

/// Where a browser says how the page that asks is related to us.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Where the web UI exchanges its ticket for a secret.
pub(super) const EXCHANGE: &str = "/ui/secret";
/// Where tickets are issued: for the token alone, so that no secret lives on in others.
const ISSUE: &str = "/ui/ticket";

/// Decides who may ask.
#[derive(Debug)]
pub struct Auth {
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

impl Auth {
    /// The auth of a server on a bound address. `allowed_hosts` are further names of it, each `name` (good without
    /// a port and with ours) or `name:port`.
    #[must_use]
    pub fn new(token: Token, address: SocketAddr, allowed_hosts: &[String]) -> Self {
        let port = address.port();
        let mut hosts: Vec<Host> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|name| Host { name: name.to_owned(), port: Some(port), foreign: false })
            .into();
        if address.ip().is_loopback() {
            // Another address of loopback than the usual ones, such as 127.0.0.2.
            let text = SocketAddr::new(address.ip(), 0).to_string();
            let name = text.trim_end_matches(":0").to_owned();
            hosts.push(Host { name, port: Some(port), foreign: false });
        }
        for allowed in allowed_hosts {
            let Some((name, given)) = split(&allowed.to_ascii_lowercase()) else { continue };
            // Without a port: as the browser leaves it out, for http and https, and ours.
            let ports = given.map_or_else(|| vec![None, Some(port)], |given| vec![Some(given)]);
            hosts.extend(ports.into_iter().map(|port| Host { name: name.clone(), port, foreign: true }));
        }
        Self { token, hosts, tickets: Arc::new(Tickets::default()) }
    }

    /// Whether a text of `allowed_hosts` names a host.
    #[must_use]
    pub fn is_host(text: &str) -> bool {
        split(text.trim()).is_some()
    }

    /// The tickets that open the web UI.
    #[must_use]
    pub fn tickets(&self) -> &Arc<Tickets> {
        &self.tickets
    }

    /// Lets a request in, or says what it is answered instead: 403 `FORBIDDEN_HOST` or `FORBIDDEN_ORIGIN`, 401
    /// `UNAUTHORIZED`. `GET /` of a browser that shows no valid ticket is answered with the web UI's page and 401.
    ///
    /// # Errors
    /// The answer.
    pub fn check(&self, head: &Head) -> Result<(), Answer> {
        self.check_host(head)?;
        let from_us = self.check_origin(&head.headers)?;
        // Without a body: bodies of clients without the token must not use up the room for bodies.
        if head.path == "/health" && matches!(head.method, Method::GET | Method::HEAD) && !head.has_body() {
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
        let is_exchange = head.path == EXCHANGE && head.method == Method::POST;
        if is_exchange && let Some(ticket) = self::ticket(head) {
            // Browsers send Origin with every POST.
            return match (from_us, self.tickets.is_valid(ticket)) {
                (false, _) => Err(foreign("a ticket is exchanged by the web UI: Origin or Sec-Fetch-Site must say so")),
                (true, true) => Ok(()),
                (true, false) => Err(unauthorized(
                    "the ticket was used already or is older than 60 seconds; `cdpilot ui` prints another address",
                )),
            };
        }
        if head.headers.contains_key(AUTHORIZATION) {
            let shown = head.header(AUTHORIZATION.as_str()).and_then(|header| value_of(header, "bearer"));
            return match shown {
                Some(shown) if self.token.is(shown) => Ok(()),
                Some(shown) if self.tickets.admit(shown) && !is_exchange => {
                    if head.path == ISSUE {
                        return Err(unauthorized("a ticket is issued for the token only; run `cdpilot ui`"));
                    }
                    Ok(())
                }
                _ => Err(unauthorized(
                    "the token is not the one of this server, which is in the file `token` in its home; \
                     the web UI gets in again with the address that `cdpilot ui` prints",
                )),
            };
        }
        if ui::is_root(head) {
            if head.parameter("ticket").is_some_and(|ticket| self.tickets.is_valid(ticket)) {
                return Ok(());
            }
            if ui::is_wanted(head) {
                return Err(ui::signed_out());
            }
        }
        Err(unauthorized(
            "send the token as `Authorization: Bearer …`; it is in the file `token` in the server's home, \
             and `cdpilot ui` opens the web UI",
        ))
    }
}

/// The ticket in a header `Authorization: Ticket …`.
pub(super) fn ticket(head: &Head) -> Option<&str> {
    head.header(AUTHORIZATION.as_str()).and_then(|header| value_of(header, "ticket"))
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

/// What follows the scheme in an `Authorization` header.
fn value_of<'a>(header: &'a str, scheme: &str) -> Option<&'a str> {
    let (given, value) = header.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| value.trim_matches(' '))
}
