//! Protected ports: those of servers and browsers that would give a page control over the machine.
//!
//! The list is shared by the supervisors of a home; `control` fills it. Three layers enforce it:
//!
//! - Resolver rules (`MAP *:PORT ~NOTFOUND`) for ports that are known when a browser is started. Chromium 156 applies
//!   them to IP addresses too, and to everything that connects: documents, requests, WebSockets, workers, preconnects,
//!   WebRTC over TCP.
//! - `Fetch` patterns for these ports in every session with requests. They report a reason, and they also work for
//!   attached browsers and for ports that are added later.
//! - `Network.emulateNetworkConditionsByRule` for WebSockets in those two cases, which `Fetch` and
//!   `Network.setBlockedURLs` do not catch. Chromium 156 reads the top-level `offline` and ignores that of a rule, so
//!   rules can only disconnect.
//!
//! A shared worker has no page to attach through. Therefore, if all pages belong to the task, the browser's own
//! auto-attach includes shared workers, for their requests only. If Chromium created the loaders of such a worker
//! before the command arrived, `Fetch` catches nothing of it, so the rules block HTTP there too. They are in effect
//! when `Network.enable` and then the rules were answered; after that the worker is resumed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use super::address::plain;
use super::{Place, Refused};

/// Lower ports are those of well-known services and are refused on this machine only; others are refused on every host.
const WELL_KNOWN: u16 = 1024;
/// The host names and addresses of this machine, as patterns of Chromium's resolver rules.
const LOCAL_HOSTS: [&str; 8] =
    ["localhost", "localhost.", "*.localhost", "*.localhost.", "127.*", "0.0.0.0", "[::*]", "[::ffff:*]"];
/// The same as URL patterns, which do not support wildcards within an IP address.
const LOCAL_PATTERNS: [&str; 5] = ["localhost", "*.localhost", "127.0.0.1", "0.0.0.0", "[*]"];

/// Ports that no page may connect to, by any name of their host. Clones share one list.
///
/// A port from 1024 on is refused on every host, since any name may lead to this machine; a lower one only if the host
/// is known to be this machine.
#[derive(Debug, Clone, Default)]
pub struct ProtectedPorts {
    ports: Arc<Mutex<BTreeMap<u16, Entry>>>,
}

#[derive(Debug)]
struct Entry {
    owner: Arc<str>,
    users: usize,
}

/// Keeps a port protected until it is dropped.
#[derive(Debug)]
pub struct ProtectedPort {
    list: ProtectedPorts,
    port: u16,
}

impl ProtectedPorts {
    /// Protects a port until the returned value is dropped. `owner` names in errors what uses the port, such as "the
    /// control server".
    #[must_use]
    pub fn protect(&self, port: u16, owner: &str) -> ProtectedPort {
        let mut ports = self.ports.lock();
        ports.entry(port).or_insert_with(|| Entry { owner: owner.into(), users: 0 }).users += 1;
        ProtectedPort { list: self.clone(), port }
    }

    /// The protected ports, in ascending order.
    #[must_use]
    pub fn all(&self) -> Vec<u16> {
        self.ports.lock().keys().copied().collect()
    }

    /// Rules for [`LaunchOptions::resolver_rules`](crate::browser::LaunchOptions::resolver_rules) that make a browser
    /// unable to connect to the given ports.
    #[must_use]
    pub fn resolver_rules(ports: &[u16]) -> Vec<String> {
        let of = |port: &u16| -> Vec<String> {
            match *port {
                port if port >= WELL_KNOWN => vec![format!("MAP *:{port} ~NOTFOUND")],
                port => LOCAL_HOSTS.iter().map(|host| format!("MAP {host}:{port} ~NOTFOUND")).collect(),
            }
        };
        ports.iter().flat_map(of).collect()
    }

    /// `Fetch` URL patterns of requests to a port. They may match other requests too, which then pass the check.
    pub(in crate::supervisor) fn request_patterns(port: u16) -> Vec<String> {
        match port {
            80 => vec!["http://*".to_owned()],
            443 => vec!["https://*".to_owned()],
            port => vec![format!("*://*:{port}/*")],
        }
    }

    /// URL patterns of WebSockets to a port.
    pub(in crate::supervisor) fn socket_patterns(port: u16) -> Vec<String> {
        let hosts: &[&str] = if port >= WELL_KNOWN { &["*"] } else { &LOCAL_PATTERNS };
        let of = |host: &&str| ["ws", "wss"].map(|scheme| format!("{scheme}://{host}:{port}/*"));
        hosts.iter().flat_map(of).collect()
    }

    pub(super) fn is_protected(&self, port: u16) -> bool {
        self.ports.lock().contains_key(&port)
    }

    fn owner(&self, port: u16) -> Option<Arc<str>> {
        self.ports.lock().get(&port).map(|entry| Arc::clone(&entry.owner))
    }

    /// Refuses a place by its port, as far as the text of its host allows a decision.
    pub(super) fn check(&self, endpoint: &Place, ip: Option<IpAddr>, local_name: bool) -> Result<(), Refused> {
        let Some(owner) = self.owner(endpoint.port) else { return Ok(()) };
        if endpoint.port >= WELL_KNOWN || local_name || ip.is_some_and(is_this_machine) {
            return Err(refused(endpoint, &owner));
        }
        Ok(())
    }

    /// Refuses a place by one of its resolved addresses.
    pub(super) fn check_address(&self, place: &Place, ip: IpAddr) -> Result<(), Refused> {
        match self.owner(place.port) {
            Some(owner) if is_this_machine(ip) => Err(refused(place, &owner)),
            _ => Ok(()),
        }
    }
}

impl Drop for ProtectedPort {
    fn drop(&mut self) {
        let mut ports = self.list.ports.lock();
        if let Some(entry) = ports.get_mut(&self.port) {
            entry.users -= 1;
            if entry.users == 0 {
                ports.remove(&self.port);
            }
        }
    }
}

fn is_this_machine(ip: IpAddr) -> bool {
    let ip = plain(ip);
    ip.is_loopback() || ip.is_unspecified()
}

fn refused(place: &Place, owner: &str) -> Refused {
    let Place { host, port, .. } = place;
    let scope = if *port >= WELL_KNOWN { ", on any host" } else { "" };
    Refused::new(format!(
        "port {port} of {host} is used by {owner} and is blocked for pages{scope}; serve the page on another port"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str, port: u16) -> Place {
        Place { scheme: "http".into(), host: host.into(), port }
    }

    #[test]
    fn a_port_is_protected_as_long_as_anybody_wants_it() {
        let ports = ProtectedPorts::default();
        let one = ports.protect(18791, "the control server");
        let two = ports.clone().protect(18791, "somebody else");
        let low = ports.protect(80, "the control server");
        assert_eq!(ports.all(), [80, 18791]);
        let refusal = ports.check(&place("example.com", 18791), None, false).unwrap_err().reason;
        assert!(
            refusal.contains("18791") && refusal.contains("the control server") && refusal.contains("any host"),
            "{refusal}"
        );
        assert!(ports.check(&place("example.com", 80), None, false).is_ok());
        assert!(ports.check(&place("localhost", 80), None, true).is_err());
        for ip in ["127.0.0.2", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"] {
            assert!(ports.check(&place(ip, 80), ip.parse().ok(), false).is_err(), "{ip}");
            assert!(ports.check_address(&place("rebound.test", 80), ip.parse().unwrap()).is_err(), "{ip}");
        }
        assert!(ports.check_address(&place("other.test", 80), "9.9.9.9".parse().unwrap()).is_ok());
        drop((one, low));
        assert_eq!(ports.all(), [18791]);
        drop(two);
        assert!(ports.all().is_empty() && ports.check(&place("127.0.0.1", 18791), None, true).is_ok());
    }

    #[test]
    fn rules_name_every_host_or_this_machine_alone() {
        assert_eq!(ProtectedPorts::resolver_rules(&[18791]), ["MAP *:18791 ~NOTFOUND"]);
        let low = ProtectedPorts::resolver_rules(&[443]);
        assert!(low.contains(&"MAP 127.*:443 ~NOTFOUND".to_owned()) && !low.iter().any(|rule| rule.contains("MAP *:")));
        assert_eq!(ProtectedPorts::socket_patterns(18791), ["ws://*:18791/*", "wss://*:18791/*"]);
        assert!(ProtectedPorts::socket_patterns(80).contains(&"ws://127.0.0.1:80/*".to_owned()));
        assert_eq!(ProtectedPorts::request_patterns(443), ["https://*"]);
    }
}
