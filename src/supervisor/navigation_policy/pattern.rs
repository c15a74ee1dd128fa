//! Patterns of a policy: a host or a glob of hosts, with an optional scheme and port.

use std::net::IpAddr;

use url::{Host, Url};

use super::Place;
use super::address::plain;
use crate::text::{GlobPart, glob_matches};

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pattern}` is not a navigation pattern: {problem}; write a host such as `example.com` or `*.example.com`, \
     optionally with a scheme and a port, as `https://example.com:8443`"
)]
#[non_exhaustive]
pub struct BadPattern {
    /// The pattern as given.
    pub pattern: String,
    /// What is wrong with it, and which form is expected.
    pub problem: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A host with `*`, which matches any number of characters, dots included.
    Glob(String),
    Exact(String),
    Address(IpAddr),
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    scheme: Option<String>,
    name: Name,
    port: Option<u16>,
}

impl Pattern {
    pub(super) fn parse(pattern: &str) -> Result<Self, BadPattern> {
        let bad = |problem: &str| BadPattern { pattern: pattern.to_owned(), problem: problem.to_owned() };
        let text = pattern.trim();
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some((scheme, rest)) => {
                let scheme = scheme.to_ascii_lowercase();
                if !matches!(&*scheme, "http" | "https") {
                    return Err(bad("the scheme must be http:// or https://"));
                }
                (Some(scheme), rest)
            }
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['/', '?', '#', '@']) {
            return Err(bad("only a host and a port are allowed"));
        }
        let (host, port) = split_port(rest).ok_or_else(|| bad("the port is not a number from 1 to 65535"))?;
        let name = name(host).ok_or_else(|| bad("the host is invalid"))?;
        Ok(Self { text: text.to_owned(), scheme, name, port })
    }

    /// The original text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether it is a single host, by name or address.
    pub(super) fn is_exact(&self) -> bool {
        !matches!(self.name, Name::Glob(_))
    }

    pub(super) fn matches(&self, endpoint: &Place) -> bool {
        let scheme = self.scheme.as_ref().is_none_or(|scheme| **scheme == *endpoint.scheme);
        scheme && self.port.is_none_or(|port| port == endpoint.port) && self.fits_host(&endpoint.host)
    }

    /// Whether it matches one of the resolved addresses of a place.
    pub(super) fn matches_address(&self, place: &Place, ip: IpAddr) -> bool {
        let at = Place { host: plain(ip).to_string().into(), ..place.clone() };
        !matches!(self.name, Name::Exact(_)) && self.matches(&at)
    }

    fn fits_host(&self, host: &str) -> bool {
        match &self.name {
            Name::Exact(name) => name == host,
            Name::Glob(glob) => matches(glob, host),
            Name::Address(ip) => host.parse().is_ok_and(|host: IpAddr| plain(host) == *ip),
        }
    }
}

/// Splits host and port. An IPv6 address without brackets has no port.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((text, None));
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let port = port.parse().ok().filter(|port| *port != 0 && !host.is_empty())?;
            Some((host, Some(port)))
        }
        _ => Some((text, None)),
    }
}

/// Parses a host as browsers do; they accept `*` in names.
fn name(host: &str) -> Option<Name> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse() {
        return Some(Name::Address(plain(ip)));
    }
    // A glob over IP addresses, which would be parsed as an invalid address.
    if host.contains('*') && host.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'0'..=b'9')) {
        return Some(Name::Glob(host.to_owned()));
    }
    let url = Url::parse(&format!("http://{host}/")).ok()?;
    let name = match url.host()? {
        Host::Ipv4(ip) => return Some(Name::Address(ip.into())),
        Host::Ipv6(ip) => return Some(Name::Address(plain(ip.into()))),
        Host::Domain(name) => name.trim_end_matches('.').to_owned(),
    };
    match name.is_empty() {
        true => None,
        false if name.contains('*') => Some(Name::Glob(name)),
        false => Some(Name::Exact(name)),
    }
}

/// Whether a text matches a glob, in which `*` matches any number of characters.
pub(super) fn matches(glob: &str, text: &str) -> bool {
    let part = |byte| if byte == b'*' { GlobPart::Anything } else { GlobPart::Byte(byte) };
    let parts: Vec<GlobPart> = glob.bytes().map(part).collect();
    glob_matches(&parts, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, scheme: &str, host: &str, port: u16) -> bool {
        Pattern::parse(pattern).unwrap().matches(&Place { scheme: scheme.into(), host: host.into(), port })
    }

    #[test]
    fn patterns_fit_hosts_schemes_and_ports() {
        for (pattern, host) in [
            ("example.com", "example.com"),
            ("Example.COM.", "example.com"),
            ("*.example.com", "www.example.com"),
            ("*.example.com", "a.b.example.com"),
            ("*", "anything.test"),
            ("*", "10.0.0.1"),
            ("10.*", "10.1.2.3"),
            ("192.168.*.1", "192.168.7.1"),
            ("0x7f.1", "127.0.0.1"),
            ("127.0.0.1", "::ffff:127.0.0.1"),
            ("::1", "::1"),
            ("[::1]", "0:0:0:0:0:0:0:1"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("*.bücher.example", "www.xn--bcher-kva.example"),
            ("a*c*e.test", "abcde.test"),
            ("https://example.com", "example.com"),
            ("https://example.com:8443/", "example.com"),
        ] {
            assert!(is_match(pattern, "https", host, 8443), "{pattern} {host}");
        }
        for (pattern, host) in [
            ("example.com", "www.example.com"),
            ("example.com", "example.com.evil.test"),
            ("*.example.com", "example.com"),
            ("*.example.com", "badexample.com"),
            ("*.example.com", "www.example.com.evil.test"),
            ("http://example.com", "example.com"),
            ("example.com:443", "example.com"),
            ("10.*", "110.1.2.3"),
            ("a*c*e.test", "abcdf.test"),
        ] {
            assert!(!is_match(pattern, "https", host, 8443), "{pattern} {host}");
        }
        assert!(is_match("[::1]:80", "http", "::1", 80));
        assert!(!is_match("[::1]:80", "http", "::1", 81));
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for pattern in [
            "",
            " ",
            "ftp://example.com",
            "example.com/path",
            "user@example.com",
            "example.com:0",
            "example.com:x",
            ":80",
            "a b",
        ] {
            let problem = Pattern::parse(pattern).unwrap_err().to_string();
            assert!(problem.contains("is not a navigation pattern"), "{problem}");
        }
    }

    #[test]
    fn a_glob_of_many_stars_is_quick() {
        let text = format!("{}b", "a".repeat(5000));
        assert!(!matches(&format!("{}c", "*a".repeat(200)), &text));
    }
}
