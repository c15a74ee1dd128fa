//! Resolver rules of the browser for a policy.
//!
//! `Fetch` intercepts neither WebSockets nor connections without a request (preconnect, WebRTC, WebTransport). A
//! browser started with these rules cannot connect to refused places at all. The rules know only host and port, so they
//! never refuse more than the policy does; decisions that depend on the scheme are left to `Fetch`.
//!
//! Network prediction is disabled in the profile (`net.network_prediction_options`): a document that is prefetched by
//! speculation rules is requested outside of every CDP session and shown without a request. `--no-pings` disables pings
//! of links.

use super::address::METADATA_V4;
use super::pattern::{Name, Pattern, matches};
use super::policy::{METADATA_NAMES, NavigationPolicy};

/// Link-local addresses, and other metadata addresses by prefix.
const METADATA: [&str; 4] = ["169.254.*.*", "[fe80:*]", "[fd00:ec2:*]", "[::ffff:a9fe:*]"];
/// Private networks and this machine.
const PRIVATE: [&str; 11] = [
    "localhost",
    "localhost.",
    "*.localhost",
    "127.*.*.*",
    "0.0.0.0",
    "10.*.*.*",
    "192.168.*.*",
    "192.0.0.*",
    "[::*]",
    "[fc*:*]",
    "[fd*:*]",
];

/// Private networks that no glob describes: the first number, and the range of the second.
const PRIVATE_RANGES: [(u8, std::ops::RangeInclusive<u8>); 3] = [(100, 64..=127), (172, 16..=31), (198, 18..=19)];

/// Globs for all addresses of private networks and of this machine.
fn private() -> impl Iterator<Item = String> {
    let ranges = PRIVATE_RANGES.into_iter().flat_map(|(a, range)| range.map(move |b| format!("{a}.{b}.*.*")));
    PRIVATE.into_iter().map(str::to_owned).chain(ranges)
}

impl NavigationPolicy {
    /// Rules for [`LaunchOptions::resolver_rules`](crate::browser::LaunchOptions::resolver_rules). `given` are the
    /// caller's own rules, as `MAP name address`; those that the policy allows are included in the result. `closed`:
    /// whether to block private networks and hosts that are not in `allow`; not possible if the browser uses a proxy,
    /// whose own host may be among them.
    #[must_use]
    pub fn resolver_rules(&self, given: &[String], closed: bool) -> Vec<String> {
        if !self.holds_requests() {
            return given.to_vec();
        }
        let refused = |host: &str| format!("MAP {host} ~NOTFOUND");
        let named = METADATA_NAMES.iter().chain(&METADATA).map(|host| refused(host));
        let numbers = METADATA_V4.iter().map(|ip| refused(&ip.to_string()));
        let mut rules: Vec<String> = named.chain(numbers).collect();
        let blocked = self.block.iter().filter(|pattern| pattern.scheme().is_none());
        rules.extend(blocked.flat_map(Pattern::hosts).map(|host| refused(&host)));

        let given_maps: Vec<(&str, &str)> = given.iter().filter_map(|rule| map(rule)).collect();
        if !closed {
            rules.extend_from_slice(given);
            return rules;
        }
        // Rules are applied in order; the first match decides.
        rules.extend(self.allow.iter().flat_map(|pattern| admitted(pattern, &given_maps)));
        if !self.private_addresses {
            rules.extend(private().map(|host| refused(&host)));
        }
        if self.allow.is_empty() {
            rules.extend_from_slice(given);
            return rules;
        }
        rules.push(refused("*"));
        // Chromium checks these first, regardless of their position: see [`excludes_hosts`](Self::excludes_hosts).
        let globs = self.allow.iter().filter(|pattern| !pattern.is_exact());
        let free = globs.filter(|pattern| given_maps.iter().all(|(name, _)| !meet(pattern, name)));
        rules.extend(free.flat_map(Pattern::hosts_alone).map(|host| format!("EXCLUDE {host}")));
        rules
    }
}

impl NavigationPolicy {
    /// Whether some of the rules exclude hosts from all other rules, including those for protected ports.
    #[must_use]
    pub fn excludes_hosts(rules: &[String]) -> bool {
        rules.iter().any(|rule| rule.trim_start().get(..8).is_some_and(|start| start.eq_ignore_ascii_case("EXCLUDE ")))
    }

    /// URL patterns of WebSockets to hosts in `block`, if requests are checked.
    pub(in crate::supervisor) fn blocked_sockets(&self) -> Vec<String> {
        let blocked = self.block.iter().filter(|_| self.holds_requests());
        let of = |pattern: &Pattern| -> Vec<String> {
            let schemes: &[&str] = match pattern.scheme() {
                Some("http") => &["ws"],
                Some(_) => &["wss"],
                None => &["ws", "wss"],
            };
            let port = pattern.port().map_or_else(|| "*".to_owned(), |port| port.to_string());
            let hosts = pattern.hosts_alone();
            let urls = |scheme: &&str| -> Vec<String> {
                hosts.iter().map(|host| format!("{scheme}://{host}:{port}/*")).collect()
            };
            schemes.iter().flat_map(urls).collect()
        };
        blocked.flat_map(of).collect()
    }
}

/// Name and address of a rule `MAP name address`.
fn map(rule: &str) -> Option<(&str, &str)> {
    let mut words = rule.split_whitespace();
    match (words.next()?, words.next()?, words.next()?) {
        (kind, name, address) if kind.eq_ignore_ascii_case("MAP") => Some((name, address)),
        _ => None,
    }
}

/// Whether a pattern of the policy and the name of a rule may have hosts in common.
fn meet(pattern: &Pattern, name: &str) -> bool {
    pattern.hosts_alone().iter().any(|host| matches(host, name) || matches(name, host))
}

/// Rules that keep allowed hosts reachable.
fn admitted(pattern: &Pattern, given: &[(&str, &str)]) -> Vec<String> {
    if let Some((name, address)) = given.iter().find(|(name, _)| meet(pattern, name)) {
        let narrow = |host: String| if matches(&host, name) { (*name).to_owned() } else { host };
        return pattern.hosts().into_iter().map(|host| format!("MAP {} {address}", narrow(host))).collect();
    }
    if !pattern.is_exact() {
        return Vec::new();
    }
    let to = pattern.hosts_alone();
    pattern.hosts().iter().zip(&to).map(|(host, to)| format!("MAP {host} {to}")).collect()
}

impl Pattern {
    /// The hosts in the form of a resolver rule, with the port if any. Empty if a rule cannot express them.
    fn hosts(&self) -> Vec<String> {
        let port = self.port().map(|port| format!(":{port}")).unwrap_or_default();
        self.hosts_alone().into_iter().map(|host| format!("{host}{port}")).collect()
    }

    /// Like [`hosts`](Self::hosts), without the port.
    fn hosts_alone(&self) -> Vec<String> {
        let hosts = match self.name() {
            Name::Exact(host) | Name::Glob(host) => vec![host.clone(), format!("{host}.")],
            Name::Address(std::net::IpAddr::V4(ip)) => {
                let [a, b, c, d] = ip.octets();
                let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                vec![ip.to_string(), format!("[::ffff:{high:x}:{low:x}]")]
            }
            Name::Address(std::net::IpAddr::V6(ip)) => vec![format!("[{ip}]")],
        };
        hosts.into_iter().filter(|host| !host.contains([',', ' '])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], block: &[&str], private: bool, given: &[&str]) -> Vec<String> {
        let policy = NavigationPolicy::new(allow, block, private, false).unwrap().with_requests(true);
        policy.resolver_rules(&given.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>(), true)
    }

    fn has(rules: &[String], rule: &str) -> bool {
        rules.iter().any(|has| has == rule)
    }

    #[test]
    fn a_policy_that_refuses_nothing_has_no_rules() {
        assert!(rules(&[], &[], true, &[]).is_empty());
        assert_eq!(rules(&[], &[], true, &["MAP a.test 127.0.0.1"]), ["MAP a.test 127.0.0.1"]);
        let policy = NavigationPolicy::new(&["a.test"], &[] as &[&str], true, false).unwrap();
        assert!(policy.resolver_rules(&[], true).is_empty(), "requests are not held to it");
    }

    #[test]
    fn what_is_blocked_cannot_be_resolved_and_nothing_else() {
        let made = rules(&[], &["bad.test", "*.evil.test:8080", "https://half.test", "10.0.0.1"], true, &[]);
        for rule in [
            "MAP bad.test ~NOTFOUND",
            "MAP bad.test. ~NOTFOUND",
            "MAP *.evil.test:8080 ~NOTFOUND",
            "MAP 10.0.0.1 ~NOTFOUND",
            "MAP [::ffff:a00:1] ~NOTFOUND",
            "MAP 169.254.*.* ~NOTFOUND",
            "MAP metadata.google.internal ~NOTFOUND",
        ] {
            assert!(has(&made, rule), "{rule}: {made:?}");
        }
        assert!(!made.iter().any(|rule| rule.contains("half.test") || rule == "MAP * ~NOTFOUND"), "{made:?}");
    }

    #[test]
    fn what_is_allowed_is_all_that_can_be_resolved() {
        let made = rules(&["a.test:80", "*.b.test"], &["bad.b.test"], true, &[]);
        let place = |rule: &str| made.iter().position(|has| has == rule).unwrap_or_else(|| panic!("{rule}: {made:?}"));
        assert!(place("MAP a.test:80 a.test") < place("MAP * ~NOTFOUND"));
        place("EXCLUDE *.b.test");
        place("MAP bad.b.test ~NOTFOUND");
        // The caller's rules still apply to allowed hosts.
        let made = rules(&["a.test", "*.b.test"], &[], true, &["MAP * 127.0.0.1"]);
        assert!(has(&made, "MAP a.test 127.0.0.1") && has(&made, "MAP *.b.test 127.0.0.1"), "{made:?}");
        assert!(!has(&made, "MAP * 127.0.0.1") && !has(&made, "EXCLUDE *.b.test"), "{made:?}");
        let made = rules(&["*.b.test"], &[], true, &["MAP x.b.test 127.0.0.1", "MAP c.test 127.0.0.1"]);
        assert!(has(&made, "MAP x.b.test 127.0.0.1") && !made.iter().any(|rule| rule.contains("c.test")), "{made:?}");
    }

    #[test]
    fn private_networks_are_cut_off_but_for_what_is_named() {
        let made = rules(&["127.0.0.1"], &[], false, &[]);
        let place = |rule: &str| made.iter().position(|has| has == rule).unwrap_or_else(|| panic!("{rule}: {made:?}"));
        assert!(place("MAP 127.0.0.1 127.0.0.1") < place("MAP 127.*.*.* ~NOTFOUND"));
        let made = rules(&[], &[], false, &[]);
        for host in ["localhost", "172.16.*.*", "172.31.*.*", "100.64.*.*", "100.127.*.*", "198.19.*.*", "192.0.0.*"] {
            assert!(has(&made, &format!("MAP {host} ~NOTFOUND")), "{host}: {made:?}");
        }
        assert!(!made.iter().any(|rule| rule.contains("172.15.") || rule.contains("172.32.")), "{made:?}");
    }
}
