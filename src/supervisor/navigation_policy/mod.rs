//! Navigation policy: which URLs pages may load.
//!
//! [`NavigationPolicy`] is the pure part: URLs in, verdicts out. Names are resolved by `lookup`, and
//! `state/navigation_checks` holds every document request until the policy has decided.

mod address;
mod lookup;
#[cfg(feature = "navigation")]
mod pattern;
#[cfg(feature = "navigation")]
mod policy;
#[cfg(feature = "navigation")]
mod protected;
#[cfg(feature = "navigation")]
mod resolver;

use std::sync::Arc;

pub(super) use lookup::{Lookups, Names, ResolvedName};
#[cfg(feature = "navigation")]
pub use pattern::BadPattern;
#[cfg(feature = "navigation")]
pub use policy::NavigationPolicy;
#[cfg(feature = "navigation")]
pub use protected::{ProtectedPort, ProtectedPorts};

/// The verdict on a URL that is not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The navigation policy allows the URL.
    Pass,
    /// Depends on the IP addresses of the host.
    Look(Place),
}

/// A host whose name is to be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub(super) scheme: Arc<str>,
    pub(super) host: Arc<str>,
    pub(super) port: u16,
}

impl Place {
    /// A place by its scheme, the name or address of its host, and its port.
    #[allow(dead_code, reason = "not used in builds without the control server")]
    pub fn new(scheme: &str, host: &str, port: u16) -> Self {
        Self { scheme: scheme.into(), host: host.into(), port }
    }

    /// The name to resolve: lower case, without a trailing dot.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }
}

/// Why a URL is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Refused {
    /// The reason, and which setting would allow it.
    pub reason: String,
}

impl Refused {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A navigation that the navigation policy blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedNavigation {
    /// Increases with each one, over all pages.
    pub number: u64,
    /// The blocked URL, without user name, query and fragment.
    pub url: Arc<str>,
    /// Why it was blocked, and which setting would allow it.
    pub reason: Arc<str>,
}

/// Without the feature `navigation` there is no policy.
#[cfg(not(feature = "navigation"))]
#[derive(Debug, Clone)]
pub enum NavigationPolicy {}

#[cfg(not(feature = "navigation"))]
impl NavigationPolicy {
    pub(super) fn check(&self, _url: &str) -> Result<Verdict, Refused> {
        match *self {}
    }

    pub(super) fn check_frame(&self, _url: &str, _main: bool) -> Result<(), Refused> {
        match *self {}
    }

    pub(super) fn check_addresses(&self, _place: &Place, _addresses: &[std::net::IpAddr]) -> Result<(), Refused> {
        match *self {}
    }

    pub(super) fn check_reached(&self, _url: &str, _address: &str) -> Result<(), Refused> {
        match *self {}
    }

    pub(super) fn holds_requests(&self) -> bool {
        match *self {}
    }

    pub(super) fn check_request(&self, _url: &str) -> Result<Verdict, Refused> {
        match *self {}
    }

    pub(super) fn check_request_addresses(
        &self,
        _place: &Place,
        _addresses: &[std::net::IpAddr],
    ) -> Result<(), Refused> {
        match *self {}
    }

    pub(super) fn protected_ports(&self) -> Vec<u16> {
        match *self {}
    }

    pub(super) fn blocked_sockets(&self) -> Vec<String> {
        match *self {}
    }
}

/// URL patterns of requests and of WebSockets to a protected port.
#[cfg(feature = "navigation")]
pub(super) fn patterns_of(port: u16) -> (Vec<String>, Vec<String>) {
    (ProtectedPorts::request_patterns(port), ProtectedPorts::socket_patterns(port))
}

#[cfg(not(feature = "navigation"))]
pub(super) fn patterns_of(_port: u16) -> (Vec<String>, Vec<String>) {
    (Vec::new(), Vec::new())
}

/// The resolver of a policy.
#[cfg(feature = "navigation")]
pub(super) fn names(policy: Option<&NavigationPolicy>) -> Names {
    policy.map_or(lookup::system, NavigationPolicy::names)
}

#[cfg(not(feature = "navigation"))]
pub(super) fn names(_policy: Option<&NavigationPolicy>) -> Names {
    lookup::system
}

/// A URL for display: without user name, query and fragment, which may contain secrets.
#[cfg(feature = "navigation")]
pub(super) fn shown(url: &str) -> String {
    policy::shown(url)
}

#[cfg(not(feature = "navigation"))]
pub fn shown(_url: &str) -> String {
    String::new()
}
