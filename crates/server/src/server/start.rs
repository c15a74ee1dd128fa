//! Starting and stopping the server of a home.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::ServerContext;
use super::auth::Auth;
use super::home_tools::HomeTools;
use super::routes::{RouteMatch, answer, find};
use super::{AgentParts, error::ApiError};
use crate::config::{self, Claim, Claimed, Config, Home, Running, Token};
use crate::control::{self, Control, Overrides};
use crate::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};
use cdpilot::sync::Deadline;

/// How long the ends of runs are waited for at the end.
const RUNS: Duration = Duration::from_millis(1_500);
/// How long the last events of recordings are waited for at the end.
const RECORDINGS: Duration = Duration::from_millis(1_000);
/// How long opening the database may take.
const DATABASE: Duration = Duration::from_secs(10);
/// Part of the time to stop that is reserved for the browsers.
const BROWSERS: Duration = Duration::from_secs(3);

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The home it serves.
    pub home: Home,
    /// The home's settings.
    pub config: Config,
    /// Overrides of the browser settings.
    pub overrides: Overrides,
    /// Address to listen on, instead of `server.bind`: an IP address or `localhost`. Addresses other than loopback require
    /// `server.allowed_hosts`.
    pub bind: Option<String>,
    /// Port, instead of `server.port`; 0: any free port.
    pub port: Option<u16>,
    /// Whether to use any free port if that one is in use.
    pub any_port: bool,
    /// Limits of the HTTP engine.
    pub limits: Limits,
    /// Whether routes for tests are served, such as `POST /recordings/ingest`.
    pub test_routes: bool,
}

impl ServerOptions {
    /// Options as configured.
    #[must_use]
    pub fn new(home: Home, config: Config) -> Self {
        Self {
            home,
            config,
            overrides: Overrides::default(),
            bind: None,
            port: None,
            any_port: false,
            limits: Limits::default(),
            test_routes: false,
        }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another server is running for the home.
    #[error("another server is already running for this home{}; use it, or stop it first", at(running.as_ref()))]
    Taken {
        /// The other server; `None` if it is just starting.
        running: Option<Running>,
    },
    /// The address is reachable by other machines, but `server.allowed_hosts` is empty.
    #[error(
        "{bind} is not a loopback address, so other machines could reach the server; keep server.bind at 127.0.0.1, or \
         list the host names that clients use in server.allowed_hosts in config.yaml as well (see docs/remote.md)"
    )]
    NotLoopback {
        /// The address.
        bind: String,
    },
    /// The address is invalid.
    #[error(
        "{bind:?} is not an IP address; give an address of this machine, or 0.0.0.0 for all of them (--bind, or server.bind in config.yaml)"
    )]
    NotAnAddress {
        /// The given text.
        bind: String,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {}", why_not(address, problem))]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        problem: io::Error,
    },
    /// Another error of the system.
    #[error("cannot start the server: {0}")]
    System(io::Error),
    /// Settings or files of the home are wrong or inaccessible.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The browsers of the home cannot be managed.
    #[error(transparent)]
    Control(#[from] control::Error),
}

fn at(running: Option<&Running>) -> String {
    running.map(|running| format!(" at {} (process {})", running.url, running.pid)).unwrap_or_default()
}

/// Why the server cannot listen on an address, and what to do.
fn why_not(address: &SocketAddr, problem: &io::Error) -> String {
    match problem.kind() {
        io::ErrorKind::AddrInUse => {
            let taken = control::port_in_use(address.port());
            format!("{taken}; stop that program, or choose another port with --port or server.port (0: any free port)")
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{problem}; set server.bind to an address of this machine, or to 0.0.0.0 for all of them")
        }
        _ => format!("{problem}; choose another port with --port or server.port (0: any free port)"),
    }
}

/// The server of a home. Dropping it stops it within five seconds.
pub struct Server {
    context: Arc<ServerContext>,
    token: Token,
    // Dropped in this order: HTTP, browsers, the claim on the home.
    http: Option<HttpServer>,
    address: SocketAddr,
    claim: Option<Claim>,
}

impl Server {
    /// Starts the server of a home.
    ///
    /// # Errors
    /// [`Error::Taken`] if another server is running, [`Error::NotLoopback`], [`Error::Bind`], [`Error::System`],
    /// [`Error::Config`], [`Error::Control`].
    pub fn start(options: ServerOptions) -> Result<Self, Error> {
        let ServerOptions { home, config, overrides, bind, port, any_port, limits, test_routes } = options;
        let bind = bind.unwrap_or_else(|| config.server.bind.clone());
        let ip = bind_address(&bind, &config.server.allowed_hosts)?;
        let address = SocketAddr::new(ip, port.unwrap_or(config.server.port));
        home.prepare()?;
        let claim = match Claim::of(&home)? {
            Claimed::Ours(claim) => claim,
            Claimed::Taken(running) => return Err(Error::Taken { running }),
        };
        let token = Token::of(&home)?;
        let listener = match listen(address) {
            Err(problem) if any_port && problem.kind() == io::ErrorKind::AddrInUse => {
                tracing::warn!("{}; using another port", control::port_in_use(address.port()));
                listen(SocketAddr::new(ip, 0))
            }
            listener => listener,
        };
        let listener = listener.map_err(|problem| Error::Bind { address, problem })?;
        let address = listener.address();
        let auth = Auth::new(token.clone(), address, &config.server.allowed_hosts);
        let own_addresses = own_addresses(address, &config.server.allowed_hosts);
        let control = Arc::new(Control::open(home, config, overrides)?);
        control.protect_port(address.port(), "the control server");
        let url = format!("http://{}", SocketAddr::new(loopback_of(ip), address.port()));
        let tools = Arc::new(HomeTools::new(&control));
        let secrets = tools.secrets();
        let tickets = Arc::clone(auth.tickets());
        let agent = open_agent(&control, &tools, own_addresses);
        let has_test_routes = test_routes;
        let context = ServerContext { control, tools, tickets, secrets, agent, url: url.clone(), has_test_routes };
        let context = Arc::new(context);
        let handler = Arc::new(RequestHandler { context: Arc::clone(&context), auth });
        let http = HttpServer::start(listener, limits, handler).map_err(Error::System)?;
        let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let server = Self { context, token, http: Some(http), address, claim: Some(claim) };
        if let Some(claim) = &server.claim {
            let (pid, port, environment) = (std::process::id(), address.port(), Running::environment_now());
            claim.announce(&Running { pid, port, url, started_at, version, environment })?;
        }
        Ok(server)
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Whether other machines can reach it. The token is then sent unencrypted, unless a TLS proxy is used.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Its URL on this machine, `http://127.0.0.1:18791`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.context.url
    }

    /// The token that clients must send.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The browsers of the home.
    #[must_use]
    pub fn control(&self) -> &Arc<Control> {
        &self.context.control
    }

    /// The tools of the home.
    #[must_use]
    pub fn tools(&self) -> &Arc<HomeTools> {
        &self.context.tools
    }

    /// The URL of the web UI with a new one-time ticket.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn ui_url(&self) -> Result<String, Error> {
        let ticket = self.context.tickets.issue().map_err(Error::System)?;
        Ok(format!("{}/?ticket={ticket}", self.context.url))
    }

    /// Whether it stopped serving because of a panic or system error in the thread of all connections. Stop it and start
    /// another one.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.http.as_ref().is_some_and(HttpServer::has_failed)
    }

    /// Calls `tell` once when the server [fails](Self::has_failed), at once when it has. `tell` must not wait.
    pub fn when_failed(&self, tell: impl FnOnce() + Send + 'static) {
        if let Some(http) = &self.http {
            http.when_failed(tell);
        }
    }

    /// Stops accepting requests, cancels running ones, stops the browsers, and releases the home for another server.
    pub fn stop(mut self, deadline: Deadline<'_>) {
        self.end(deadline);
    }

    fn end(&mut self, deadline: Deadline<'_>) {
        if let Some(http) = self.http.take() {
            if let Ok(agent) = &self.context.agent {
                agent.recordings.stop_all(deadline.within(RECORDINGS));
                agent.agents.stop(deadline.within(RUNS));
            }
            let patience = deadline.left().saturating_sub(BROWSERS);
            if !http.stop(Deadline::after(patience)) {
                tracing::warn!("a cancelled request did not end");
            }
            self.context.tools.close();
            self.context.control.stop(deadline);
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

/// Parses `server.bind`. Addresses other than loopback require `allowed_hosts`.
pub(super) fn bind_address(bind: &str, allowed_hosts: &[String]) -> Result<IpAddr, Error> {
    let bare = bind.trim().trim_start_matches('[').trim_end_matches(']');
    let address = if bare.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { bare };
    let address: Option<IpAddr> = address.parse().ok();
    match address {
        None => Err(Error::NotAnAddress { bind: bind.to_owned() }),
        Some(address) if address.is_loopback() => Ok(address),
        _ if !allowed_hosts.iter().any(|host| Auth::is_host(host)) => Err(Error::NotLoopback { bind: bind.to_owned() }),
        Some(address) => Ok(address),
    }
}

/// The loopback address of a server that is bound to `ip`.
fn loopback_of(ip: IpAddr) -> IpAddr {
    match ip {
        ip if ip.is_loopback() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Listens on an address and always on loopback, where local commands connect.
fn listen(address: SocketAddr) -> io::Result<Listener> {
    let ip = address.ip();
    if ip.is_loopback() || ip.is_unspecified() {
        Listener::bind(address)
    } else {
        Listener::bind_both(address, loopback_of(ip))
    }
}

/// Hosts and ports by which pages of this server are reached, `host:port`; hosts of a proxy as `server.allowed_hosts` has them.
fn own_addresses(address: SocketAddr, allowed_hosts: &[String]) -> Vec<String> {
    let port = address.port();
    let mut all = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")).to_vec();
    all.push(address.to_string());
    for host in allowed_hosts {
        let host = host.trim().to_ascii_lowercase();
        all.extend([format!("{host}:{port}"), host]);
    }
    all
}

/// Opens the database, the conversations and the recordings of a home. Without them the server serves all other routes.
fn open_agent(
    control: &Arc<Control>,
    tools: &Arc<HomeTools>,
    own_addresses: Vec<String>,
) -> Result<AgentParts, ApiError> {
    let open = move || -> Result<AgentParts, ApiError> {
        let opened = crate::store::Store::open(control.home(), Deadline::after(DATABASE))?;
        if let Some(damaged) = opened.damaged {
            tracing::warn!("the database was damaged; it is kept as {}, and a new one was begun", damaged.display());
        }
        let (tools, store) = (Arc::clone(tools), opened.store);
        tools.set_store(&store);
        let toolbox = move || tools.toolbox().map_err(|problem| problem.to_string());
        let agents = crate::agent::Agents::new(Arc::clone(control), toolbox, store.clone())?;
        let recordings = crate::record::Recordings::new(Arc::clone(control), store.clone(), own_addresses)?;
        let recordings = Arc::new(recordings);
        agents.set_recordings(Arc::clone(&recordings));
        Ok(AgentParts { agents, recordings, store })
    };
    open().inspect_err(|problem| {
        tracing::warn!("conversations, recordings and browser ids are not available: {}", problem.error)
    })
}

/// Connects the HTTP engine to authentication and routes.
struct RequestHandler {
    context: Arc<ServerContext>,
    auth: Auth,
}

impl Handler for RequestHandler {
    fn is_streamed_change(&self, head: &Head) -> bool {
        match find(head) {
            RouteMatch::Route(route, _) => route.is_streamed_change(),
            RouteMatch::OtherMethods(..) | RouteMatch::NotFound(_) => false,
        }
    }

    fn admit(&self, head: &Head) -> Result<(), Answer> {
        self.auth.check(head)
    }

    fn body_bytes(&self, head: &Head) -> Option<usize> {
        match find(head) {
            RouteMatch::Route(route, _) => route.spec.max_body,
            RouteMatch::OtherMethods(..) | RouteMatch::NotFound(_) => None,
        }
    }

    fn lane(&self, head: &Head) -> Lane {
        match find(head) {
            RouteMatch::Route(route, _) => route.lane(),
            // Refused immediately.
            RouteMatch::OtherMethods(..) | RouteMatch::NotFound(_) => Lane::Control,
        }
    }

    fn handle(&self, request: Request) -> Answer {
        answer(&self.context, &request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_addresses_than_loopback_need_allowed_hosts() {
        let hosts = ["pilot.example.com".to_owned()];
        for good in ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"] {
            assert!(bind_address(good, &[]).is_ok() && bind_address(good, &hosts).is_ok(), "{good}");
        }
        for other in ["0.0.0.0", "::", "192.168.0.1", "[2001:db8::1]"] {
            for none in [&[][..], &[String::new()], &["bad:port".to_owned()]] {
                let refused = bind_address(other, none).unwrap_err();
                assert!(matches!(refused, Error::NotLoopback { .. }), "{other} {none:?}");
                let text = refused.to_string();
                assert!(text.contains("server.bind") && text.contains("server.allowed_hosts"), "{text}");
            }
            let bound = bind_address(other, &hosts).unwrap();
            assert!(loopback_of(bound).is_loopback() && loopback_of(bound).is_ipv4() == bound.is_ipv4(), "{other}");
        }
        for bad in ["example.com", "", "0.0.0.0:1"] {
            assert!(matches!(bind_address(bad, &[]), Err(Error::NotAnAddress { .. })), "{bad}");
            assert!(matches!(bind_address(bad, &hosts), Err(Error::NotAnAddress { .. })), "{bad}");
        }
    }
}
