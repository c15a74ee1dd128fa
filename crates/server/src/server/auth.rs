//! Authentication: the `Host` header, the origin of the request, and the token.
//!
//! A web page can send requests to this machine, and by DNS rebinding it can even read the answers. Therefore every
//! request, `GET /health` included, must name a host of this server, and must be same-origin if it has an `Origin` or
//! `Sec-Fetch-Site` header. It must then carry the token, or the secret that the web UI received for a one-time ticket.
//! Both are sent in a header, because browsers send cookies of 127.0.0.1 to every port.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::tickets::Tickets;
use super::ui;
use crate::config::Token;
use crate::http::{Answer, Head};
use cdpilot::code::Code;

/// The header in which a browser reports the relation between the requesting page and this server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Route on which the web UI exchanges its ticket for a secret.
pub(super) const EXCHANGE: &str = "/ui/secret";
/// Route that issues tickets. It requires the token: a secret must not be able to outlive itself through new tickets.
const ISSUE: &str = "/ui/ticket";

/// Checks host, origin and credentials of requests.
#[derive(Debug)]
pub struct Auth {
    token: Token,
    hosts: Vec<Host>,
    tickets: Arc<Tickets>,
}

/// A host name of this server, in lower case, and the port expected with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    /// `None`: no port, or the default port of the scheme.
    port: Option<u16>,
    /// Configured in `allowed_hosts`: possibly behind a TLS proxy, so https is accepted.
    foreign: bool,
}

impl Auth {
    /// Checks for a server on a bound address. `allowed_hosts` are further names of the server: `name` (matches without
    /// a port and with the bound port) or `name:port`.
    #[must_use]
    pub fn new(token: Token, address: SocketAddr, allowed_hosts: &[String]) -> Self {
        let port = address.port();
        let mut hosts: Vec<Host> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|name| Host { name: name.to_owned(), port: Some(port), foreign: false })
            .into();
        if address.ip().is_loopback() {
            // Other loopback addresses, such as 127.0.0.2.
            let text = SocketAddr::new(address.ip(), 0).to_string();
            let name = text.trim_end_matches(":0").to_owned();
            hosts.push(Host { name, port: Some(port), foreign: false });
        }
        for allowed in allowed_hosts {
            let Some((name, given)) = split(&allowed.to_ascii_lowercase()) else { continue };
            // Without a port: matches the default port of http and https, and the bound port.
            let ports = given.map_or_else(|| vec![None, Some(port)], |given| vec![Some(given)]);
            hosts.extend(ports.into_iter().map(|port| Host { name: name.clone(), port, foreign: true }));
        }
        Self { token, hosts, tickets: Arc::new(Tickets::default()) }
    }

    /// Whether an entry of `allowed_hosts` is valid.
    #[must_use]
    pub fn is_host(text: &str) -> bool {
        split(text.trim()).is_some()
    }

    /// The tickets that open the web UI.
    #[must_use]
    pub fn tickets(&self) -> &Arc<Tickets> {
        &self.tickets
    }

    /// Admits a request or returns the refusal: 403 `FORBIDDEN_HOST` or `FORBIDDEN_ORIGIN`, 401 `UNAUTHORIZED`.
    /// `GET /` of a browser without a valid ticket gets the web UI's page with status 401.
    ///
    /// # Errors
    /// The refusal to send.
    pub fn check(&self, head: &Head) -> Result<(), Answer> {
        self.check_host(head)?;
        let from_us = self.check_origin(&head.headers)?;
        // Only without a body: unauthenticated clients must not use up the budget for bodies.
        let is_open = head.path == "/health" || ui::is_asset(head);
        if is_open && matches!(head.method, Method::GET | Method::HEAD) && !head.has_body() {
            return Ok(());
        }
        self.check_secret(head, from_us)
    }

    fn check_host(&self, head: &Head) -> Result<(), Answer> {
        let mut named: Vec<Option<&str>> = head.headers.get_all(HOST).iter().map(|v| v.to_str().ok()).collect();
        named.extend(head.authority.as_deref().map(Some));
        // There must be at least one, and all must match.
        let good = !named.is_empty() && named.iter().all(|host| host.is_some_and(|host| self.is_ours("http", host)));
        if good {
            return Ok(());
        }
        Err(Answer::failure(
            StatusCode::FORBIDDEN,
            Code::ForbiddenHost,
            "the Host header does not name this server; use http://127.0.0.1 with its port, \
             or add the host to server.allowed_hosts in config.yaml",
        ))
    }

    /// Whether a host with its port belongs to this server when reached with a scheme.
    fn is_ours(&self, scheme: &str, host: &str) -> bool {
        let default = if scheme == "https" { 443 } else { 80 };
        let Some((name, port)) = split(&host.to_ascii_lowercase()) else { return false };
        self.hosts.iter().any(|ours| {
            let port_fits = match ours.port {
                Some(expected_port) => port.unwrap_or(default) == expected_port,
                // A proxy forwards the host without a port, whatever scheme it serves.
                None => port.is_none_or(|port| port == default),
            };
            ours.name == name && port_fits && (ours.foreign || scheme == "http")
        })
    }

    /// Whether the request declares itself same-origin. Cross-origin requests are refused.
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
                    "the Origin header names another site; only same-origin pages and programs may send requests; \
                     programs: omit the header",
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
                        "Sec-Fetch-Site reports a request of another site; only same-origin pages and programs may \
                         send requests",
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
                (false, _) => Err(foreign(
                    "a ticket can only be exchanged by the web UI: Origin or Sec-Fetch-Site must be same-origin",
                )),
                (true, true) => Ok(()),
                (true, false) => Err(unauthorized(
                    "the ticket has been used or is older than 60 seconds; run `cdpilot ui` for a new address",
                )),
            };
        }
        if head.headers.contains_key(AUTHORIZATION) {
            let shown = head.header(AUTHORIZATION.as_str()).and_then(|header| value_of(header, "bearer"));
            return match shown {
                Some(shown) if self.token.is(shown) => Ok(()),
                Some(shown) if self.tickets.admit(shown) && !is_exchange => {
                    if head.path == ISSUE {
                        return Err(unauthorized(
                            "POST /ui/ticket requires the token, not a secret of the web UI; run `cdpilot ui`",
                        ));
                    }
                    Ok(())
                }
                _ if from_us => Err(unauthorized(
                    "the web UI's session has expired, or the token is wrong; run `cdpilot ui` for a new address",
                )),
                None => Err(unauthorized(
                    "the Authorization header has another scheme than Bearer; send `Authorization: Bearer TOKEN` with \
                     the content of the file `token` in the server's home",
                )),
                Some(_) => {
                    Err(unauthorized("the token is wrong; send the content of the file `token` in the server's home"))
                }
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
            "the token is missing; send `Authorization: Bearer TOKEN` with the content of the file `token` in the \
             server's home (`cdpilot ui` opens the web UI)",
        ))
    }
}

/// The ticket in an `Authorization: Ticket …` header.
pub(super) fn ticket(head: &Head) -> Option<&str> {
    head.header(AUTHORIZATION.as_str()).and_then(|header| value_of(header, "ticket"))
}

fn foreign(error: &str) -> Answer {
    Answer::failure(StatusCode::FORBIDDEN, Code::ForbiddenOrigin, error)
}

fn unauthorized(error: &str) -> Answer {
    Answer::failure(StatusCode::UNAUTHORIZED, Code::Unauthorized, error)
        .with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

/// Splits `name`, `name:port` or `[v6]:port`.
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

/// The credentials in an `Authorization` header of this scheme.
fn value_of<'a>(header: &'a str, scheme: &str) -> Option<&'a str> {
    let (given, value) = header.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| value.trim_matches(' '))
}
