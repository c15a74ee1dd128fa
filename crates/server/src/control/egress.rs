//! The hosts that a session may reach, and the proxy that holds its browser context to them.
//!
//! The browser context is created with the proxy and with `proxyBypassList: <-loopback>`, without which loopback
//! addresses and names would be requested directly. The proxy checks each request and each `CONNECT` by its host, and
//! the address that the name resolves to. What would not use the proxy is disabled in the pages of the context by
//! `supervisor/state/confined.rs`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::Error;
use crate::http::proxy::{Admission, Destination, Proxy};
use cdpilot::supervisor::{self, NavigationPolicy, Place};

/// Maximum number of refused hosts that are remembered until they are reported.
const MOST_REFUSED: usize = 64;

/// The hosts that a session may reach. Clones are the same.
#[derive(Debug, Clone)]
pub struct Hosts(Arc<Inner>);

/// Whether a host can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAccess {
    /// It is admitted.
    Admitted,
    /// It is not among the hosts of the session.
    Limited,
    /// It is refused to all sessions, with the reason.
    Never(String),
}

/// The hosts that are admitted.
#[derive(Debug)]
struct Admitted {
    patterns: Vec<String>,
    policy: NavigationPolicy,
}

impl Admitted {
    fn new(patterns: &[String]) -> Result<Self, Error> {
        let none: [&str; 0] = [];
        let policy = NavigationPolicy::new(patterns, &none, true, false);
        let policy = policy.map_err(|problem| Error::BadRequest { problem: format!("hosts: {problem}") })?;
        Ok(Self { patterns: patterns.to_vec(), policy })
    }
}

#[derive(Debug)]
struct Inner {
    /// Locked for reading and replacing it only.
    admitted: RwLock<Arc<Admitted>>,
    /// What holds for all sessions: addresses that are never admitted.
    general: NavigationPolicy,
    refused: Mutex<BTreeMap<String, u64>>,
}

/// A host that was requested and refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedHost {
    /// Host and port.
    pub host: String,
    /// How often it was requested since the last report.
    pub count: u64,
}

impl Hosts {
    /// Hosts by patterns, as in `browser.navigation`: `example.com`, `*.example.com`, with an optional scheme and port.
    /// `general` holds for all sessions.
    pub(super) fn new(patterns: &[String], general: &NavigationPolicy) -> Result<Self, Error> {
        let admitted = RwLock::new(Arc::new(Admitted::new(patterns)?));
        Ok(Self(Arc::new(Inner { admitted, general: general.clone(), refused: Mutex::default() })))
    }

    /// Replaces the patterns: requests that begin from now on are checked by these. Connections that are open stay open.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid pattern; nothing is replaced then.
    pub fn set(&self, patterns: &[String]) -> Result<(), Error> {
        if self.0.admitted().patterns == patterns {
            return Ok(());
        }
        let admitted = Arc::new(Admitted::new(patterns)?);
        *self.0.admitted.write() = admitted;
        Ok(())
    }

    /// Whether a host, with or without a port, can be reached by `http` or `https`.
    #[must_use]
    pub fn access(&self, host: &str) -> HostAccess {
        if let Err(problem) = Admitted::new(&[host.to_owned()]) {
            return HostAccess::Never(problem.to_string());
        }
        let urls = ["https", "http"].map(|scheme| format!("{scheme}://{host}/"));
        let admitted = self.0.admitted();
        if let Some(Err(refused)) = urls.iter().map(|url| self.0.general.check(url)).find(Result::is_err) {
            return HostAccess::Never(refused.reason);
        }
        match urls.iter().all(|url| admitted.policy.check(url).is_ok()) {
            true => HostAccess::Admitted,
            false => HostAccess::Limited,
        }
    }

    /// Checks a URL that the session is to load.
    ///
    /// # Errors
    /// [`Error::Page`] with `NAVIGATION_BLOCKED`.
    pub fn check(&self, url: &str) -> Result<(), Error> {
        let admitted = self.0.admitted();
        if admitted.policy.check(url).is_ok() {
            return Ok(());
        }
        let url = url::Url::parse(url).ok();
        let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
        let port = url.as_ref().and_then(url::Url::port).map(|port| format!(":{port}")).unwrap_or_default();
        let reason =
            format!("{host}{port} is not among the hosts of this conversation: {}", admitted.patterns.join(", "));
        let url = url.as_ref().map_or_else(String::new, |url| format!("{}://{host}{port}{}", url.scheme(), url.path()));
        Err(supervisor::Error::NavigationBlocked { url, reason }.into())
    }

    /// The hosts that were refused since the last call.
    #[must_use]
    pub fn take_refused(&self) -> Vec<RefusedHost> {
        let refused = std::mem::take(&mut *self.0.refused.lock());
        refused.into_iter().map(|(host, count)| RefusedHost { host, count }).collect()
    }

    /// Starts a proxy that admits only these hosts.
    pub(super) fn proxy(&self) -> Result<Proxy, Error> {
        let admission: Arc<dyn Admission> = Arc::clone(&self.0) as Arc<dyn Admission>;
        Proxy::start(admission).map_err(|problem| Error::Conflict {
            problem: format!("the proxy that holds the conversation to its hosts cannot start: {problem}"),
        })
    }
}

impl Inner {
    fn admitted(&self) -> Arc<Admitted> {
        Arc::clone(&self.admitted.read())
    }

    /// Whether a policy admits a destination. A tunnel may be for either scheme.
    fn admits_by(policy: &NavigationPolicy, to: &Destination) -> bool {
        let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.clone() };
        let is_admitted = |scheme: &str| policy.check(&format!("{scheme}://{host}:{}/", to.port)).is_ok();
        is_admitted("http") || (to.is_tunnel && is_admitted("https"))
    }
}

impl Admission for Inner {
    fn admits(&self, to: &Destination) -> bool {
        Self::admits_by(&self.admitted().policy, to) && Self::admits_by(&self.general, to)
    }

    fn admits_address(&self, to: &Destination, address: SocketAddr) -> bool {
        let place = Place::new(if to.is_tunnel { "https" } else { "http" }, &to.host, to.port);
        self.general.check_addresses(&place, &[address.ip()]).is_ok()
    }

    fn refused(&self, to: &Destination) {
        let mut refused = self.refused.lock();
        let host = format!("{}:{}", to.host, to.port);
        if refused.len() < MOST_REFUSED || refused.contains_key(&host) {
            *refused.entry(host).or_default() += 1;
        }
    }
}
