//! A server of a home, from its claim to its end.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Front;
use super::gate::Gate;
use super::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};
use super::routes::{Found, answer, find};
use super::toolboxes::Toolboxes;
use crate::config::{self, Claim, Claimed, Config, Home, Running, Token};
use crate::control::{self, Control, Overrides};
use crate::sync::Deadline;

/// What is left to the browsers of the time to stop.
const BROWSERS: Duration = Duration::from_secs(3);

/// How a server is to be.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The home it serves.
    pub home: Home,
    /// The home's settings.
    pub config: Config,
    /// What goes before the settings of browsers.
    pub overrides: Overrides,
    /// The address to listen on, instead of `server.bind`; loopback.
    pub bind: Option<String>,
    /// The port, instead of `server.port`; 0: any free one.
    pub port: Option<u16>,
    /// Bounds of the HTTP engine.
    pub limits: Limits,
}

impl ServerOptions {
    /// A server as the settings say.
    #[must_use]
    pub fn new(home: Home, config: Config) -> Self {
        Self { home, config, overrides: Overrides::default(), bind: None, port: None, limits: Limits::default() }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another server serves the home.
    #[error("another server serves this home already{}; use it, or stop it first", at(running.as_ref()))]
    Taken {
        /// Where it is, unless it has only just begun.
        running: Option<Running>,
    },
    /// The address is open to others.
    #[error("{bind} is not a loopback address; the server is for this machine only: use 127.0.0.1 or ::1")]
    NotLoopback {
        /// The address.
        bind: String,
    },
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {problem}; choose another port with --port or server.port, 0 for any free one"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's sentence.
        problem: io::Error,
    },
    /// The system refused something else.
    #[error("cannot serve: {0}")]
    System(io::Error),
    /// Settings or files of the home.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The browsers of the home.
    #[error(transparent)]
    Control(#[from] control::Error),
}

fn at(running: Option<&Running>) -> String {
    running.map(|running| format!(" at {} (process {})", running.url, running.pid)).unwrap_or_default()
}

/// A server that serves a home. Dropping it stops it within five seconds.
pub struct Server {
    front: Arc<Front>,
    token: Token,
    // In this order: no requests any more, then no browsers, then the home is free.
    http: Option<HttpServer>,
    address: SocketAddr,
    claim: Option<Claim>,
}

impl Server {
    /// Serves a home.
    ///
    /// # Errors
    /// [`Error::Taken`] when another one does, [`Error::NotLoopback`], [`Error::Bind`], [`Error::System`],
    /// [`Error::Config`], [`Error::Control`].
    pub fn start(options: ServerOptions) -> Result<Self, Error> {
        let ServerOptions { home, config, overrides, bind, port, limits } = options;
        let bind = bind.unwrap_or_else(|| config.server.bind.clone());
        let address = SocketAddr::new(loopback(&bind)?, port.unwrap_or(config.server.port));
        home.prepare()?;
        let claim = match Claim::of(&home)? {
            Claimed::Ours(claim) => claim,
            Claimed::Taken(running) => return Err(Error::Taken { running }),
        };
        let token = Token::of(&home)?;
        let listener = Listener::bind(address).map_err(|problem| Error::Bind { address, problem })?;
        let address = listener.address();
        let gate = Gate::new(token.clone(), address, &config.server.allowed_hosts);
        let control = Arc::new(Control::open(home, config, overrides)?);
        let url = format!("http://{address}");
        let toolboxes = Arc::new(Toolboxes::new(&control));
        let front = Arc::new(Front { control, toolboxes, tickets: Arc::clone(gate.tickets()), url: url.clone() });
        let desk = Arc::new(Desk { front: Arc::clone(&front), gate });
        let http = HttpServer::start(listener, limits, desk).map_err(Error::System)?;
        let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let server = Self { front, token, http: Some(http), address, claim: Some(claim) };
        if let Some(claim) = &server.claim {
            claim.announce(&Running { pid: std::process::id(), port: address.port(), url, started_at, version })?;
        }
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Where it is, `http://127.0.0.1:18791`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.front.url
    }

    /// The token that opens it.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The browsers behind it.
    #[must_use]
    pub fn control(&self) -> &Arc<Control> {
        &self.front.control
    }

    /// The tools of the home.
    #[must_use]
    pub fn toolboxes(&self) -> &Arc<Toolboxes> {
        &self.front.toolboxes
    }

    /// The address of the web UI with a new one-time ticket.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn ui_url(&self) -> Result<String, Error> {
        let ticket = self.front.tickets.issue().map_err(Error::System)?;
        Ok(format!("{}/?ticket={ticket}", self.front.url))
    }

    /// Ends it in order: nothing more is taken, what is under way is cancelled, the browsers are stopped, the home is
    /// free for another server.
    pub fn stop(mut self, deadline: Deadline) {
        self.end(deadline);
    }

    fn end(&mut self, deadline: Deadline) {
        if let Some(http) = self.http.take() {
            let patience = deadline.left().saturating_sub(BROWSERS);
            if !http.stop(Deadline::after(patience)) {
                tracing::warn!("a request did not end");
            }
            self.front.toolboxes.close();
            self.front.control.stop(deadline);
        }
        self.claim = None;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(Deadline::after_secs(5));
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A loopback address by number, or `localhost`.
fn loopback(bind: &str) -> Result<IpAddr, Error> {
    let bare = bind.trim().trim_start_matches('[').trim_end_matches(']');
    let address = if bare.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { bare };
    let address: Option<IpAddr> = address.parse().ok();
    address.filter(IpAddr::is_loopback).ok_or_else(|| Error::NotLoopback { bind: bind.to_owned() })
}

/// Where requests come in.
struct Desk {
    front: Arc<Front>,
    gate: Gate,
}

impl Handler for Desk {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        self.gate.check(head)
    }

    fn lane(&self, head: &Head) -> Lane {
        match find(head) {
            Found::Route(route, _) => route.lane,
            // Refused at once.
            Found::Methods(_) | Found::Nothing(_) => Lane::Control,
        }
    }

    fn handle(&self, request: Request) -> Answer {
        answer(&self.front, &request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        for good in ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"] {
            assert!(loopback(good).is_ok(), "{good}");
        }
        for bad in ["0.0.0.0", "::", "192.168.0.1", "example.com", ""] {
            assert!(matches!(loopback(bad), Err(Error::NotLoopback { .. })), "{bad}");
        }
    }
}
