//! CDP ports of the profiles' browsers.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};

use parking_lot::Mutex;

use super::settings::Settings;
use crate::config::{Config, RESERVED_PORT};

/// Number of ports to try above the first.
const TRIED: u16 = 200;

/// Reserved CDP ports. Each port is reserved for one profile at a time.
#[derive(Debug, Default)]
pub(super) struct Ports {
    given: Mutex<BTreeMap<String, u16>>,
    /// Ports that are not chosen automatically.
    kept: Vec<(Option<String>, u16)>,
}

/// A reserved port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) number: u16,
    /// The configured port, if it is in use and was replaced.
    pub(super) instead_of: Option<u16>,
}

impl Ports {
    pub(super) fn new(config: &Config) -> Self {
        let profiles =
            config.browser.profiles.iter().filter_map(|(name, own)| Some((Some(name.clone()), own.cdp_port?)));
        let default = (Some(config.browser.default_profile.clone()), config.browser.cdp_port);
        let own_url = url::Url::parse(&config.browser.control_url).ok().and_then(|url| url.port());
        let server = [Some(config.server.port), own_url, Some(RESERVED_PORT)].into_iter().flatten();
        let kept = profiles.chain([default]).chain(server.map(|port| (None, port))).collect();
        Self { given: Mutex::default(), kept }
    }

    /// Reserves a free port for a profile: the configured one, else the next free one above; for 0, any free port. Ports in
    /// `refused` are skipped. `None` if there is no free port.
    pub(super) fn give(&self, settings: &Settings, base: u16, refused: &[u16]) -> Option<Port> {
        let wished = settings.cdp_port;
        if wished == Some(0) || (wished.is_none() && base == 0) {
            // Chosen before the start, so that the browser can be launched with the port blocked for pages.
            let number = any_free().filter(|port| !refused.contains(port) && self.reserve(settings, *port))?;
            return Some(Port { number, instead_of: None });
        }
        let first = wished.unwrap_or(base.saturating_add(1));
        let last = if settings.port_is_asked { first } else { first.saturating_add(TRIED) };
        let number = (first..=last).find(|port| {
            let kept = self.kept.iter().any(|(name, kept)| kept == port && name.as_ref() != Some(&settings.name));
            !refused.contains(port) && (Some(*port) == wished || !kept) && self.reserve(settings, *port)
        })?;
        Some(Port { number, instead_of: wished.filter(|wished| *wished != number) })
    }

    /// Reserves a port for a profile, unless it is reserved or in use.
    fn reserve(&self, settings: &Settings, port: u16) -> bool {
        {
            let mut given = self.given.lock();
            if given.iter().any(|(name, taken)| *name != settings.name && *taken == port) {
                return false;
            }
            given.insert(settings.name.clone(), port);
        }
        let free = is_free(port);
        if !free {
            self.take_back(&settings.name);
        }
        free
    }

    /// Releases the port of a profile.
    pub(super) fn take_back(&self, name: &str) {
        self.given.lock().remove(name);
    }
}

/// Any free port.
fn any_free() -> Option<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    listener.local_addr().ok().map(|at| at.port()).filter(|port| *port != RESERVED_PORT)
}

/// Whether a local port is free.
pub(super) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::Overrides;
    use super::super::settings::Origin;
    use super::*;
    use crate::config::Home;

    fn settings(name: &str, config: &Config, preferred: Option<u16>) -> Settings {
        let overrides = Overrides { cdp_port: preferred, ..Overrides::default() };
        Settings::new(name, Origin::Config, &Home::at("home"), config, &overrides, None)
    }

    #[test]
    fn each_browser_gets_a_port_of_its_own_that_nobody_listens_on() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let base = taken.local_addr().unwrap().port();
        let mut config = Config::default();
        config.browser.cdp_port = base;
        let ports = Ports::new(&config);
        let default = settings("cdpilot", &config, None);
        let first = ports.give(&default, base, &[]).unwrap();
        assert!(first.number > base && first.instead_of == Some(base), "{first:?}");
        let preferred = settings("cdpilot", &config, Some(base));
        assert_eq!(Ports::new(&config).give(&preferred, base, &[]), None, "that one and no other");
        let second = ports.give(&settings("second", &config, None), base, &[]).unwrap();
        assert!(second.number > base && second.number != first.number && second.instead_of.is_none(), "{second:?}");
        let again = ports.give(&default, base, &[first.number]).unwrap();
        assert!(again.number > first.number && again.number != second.number, "{again:?}");
        ports.take_back("cdpilot");
        let any = ports.give(&settings("cdpilot", &config, Some(0)), 0, &[]).unwrap();
        assert!(any.number != 0 && any.instead_of.is_none(), "{any:?}");
        let third = ports.give(&settings("third", &config, None), 0, &[]).unwrap();
        assert!(third.number != 0 && third.number != any.number, "any where the default is any: {third:?}");
        let near = ports.give(&settings("fourth", &config, None), RESERVED_PORT - 1, &[]).unwrap();
        assert!(near.number > RESERVED_PORT, "{near:?}");
    }
}
