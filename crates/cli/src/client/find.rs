//! Finds the address of the server: `--url`, `CDPILOT_URL`, `run/server.json`, `browser.control_url`, in this order.

use std::net::IpAddr;

use super::super::failure::Failure;
use super::super::settings::env;
use cdpilot_server::config::{Browser, Config, Home, Running};

/// The address of a server and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct ServerAddress {
    url: String,
    near: bool,
    pub(in super::super) source: Source,
}

/// Where the address comes from.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Source {
    /// `--url`.
    Flag,
    /// `CDPILOT_URL`.
    Environment,
    /// `run/server.json`.
    Running(Running),
    /// `browser.control_url` in config.yaml.
    Settings,
    /// The default of `browser.control_url`: no server is known.
    Default,
}

impl Source {
    /// The source in parentheses, to follow the address in a sentence.
    pub(super) fn suffix(&self) -> &'static str {
        match self {
            Self::Flag | Self::Running(_) | Self::Default => "",
            Self::Environment => " (from CDPILOT_URL)",
            Self::Settings => " (browser.control_url in config.yaml)",
        }
    }
}

impl Source {
    /// What to do about a wrong address.
    pub(super) fn correction(&self) -> &'static str {
        match self {
            Self::Flag => "give the address of a cdpilot server with --url",
            Self::Environment => "correct CDPILOT_URL",
            Self::Settings => "correct browser.control_url in config.yaml",
            Self::Running(_) => "restart the server with `cdpilot serve --stop`",
            Self::Default => {
                "another program uses the port of cdpilot: stop it, or set browser.control_url and server.port in config.yaml"
            }
        }
    }
}

impl ServerAddress {
    /// Parses `http://host:port` or `host:port`.
    fn new(text: &str, source: Source) -> Result<Self, Failure> {
        let bad = |why: &str| {
            let what = match source {
                Source::Environment => "CDPILOT_URL",
                Source::Flag => "--url",
                _ => "browser.control_url",
            };
            // The text is not repeated: it may contain a password.
            Failure::usage(format!("{what} {why} such as http://host:port"))
        };
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url =
            url::Url::parse(&whole).map_err(|_| bad("is not a valid address; give the address of a cdpilot server"))?;
        if url.scheme() == "https" {
            return Err(bad(
                "uses https, which is not supported; use an SSH tunnel (see docs/remote.md) and give its local address",
            ));
        }
        let host = url
            .host_str()
            .filter(|_| url.scheme() == "http")
            .ok_or_else(|| bad("is not an http address; give the address of a cdpilot server"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("contains a user name; set the server's token in CDPILOT_TOKEN, and give an address"));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(bad("has a path or query after the port; give only the address"));
        }
        // A word alone is more likely a mistake than a host with port 80.
        if !text.contains("://") && url.port().is_none() {
            return Err(bad("has neither a scheme nor a port; give the address of a cdpilot server"));
        }
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { near: is_loopback(host), url: format!("http://{host}:{port}"), source })
    }

    /// The address without a trailing slash.
    pub(in super::super) fn base(&self) -> &str {
        &self.url
    }

    /// Process id of the server, if it is the running server of the home.
    pub(in super::super) fn process(&self) -> Option<u32> {
        match &self.source {
            Source::Running(running) => Some(running.pid),
            _ => None,
        }
    }

    /// Whether it is known that no server runs: none has the home, and no address was given.
    pub(in super::super) fn is_none_running(&self) -> bool {
        self.source == Source::Default && env("CDPILOT_TOKEN").is_none()
    }

    /// Whether the server is on this machine.
    pub(in super::super) fn is_near(&self) -> bool {
        self.near
    }

    pub(in super::super) fn running(running: Running) -> Result<Self, Failure> {
        Self::new(&running.url.clone(), Source::Running(running))
    }

    /// Whether a server may be started when none is running: only on this machine, and only if no address was given by flag
    /// or variable.
    pub(in super::super) fn may_start(&self) -> bool {
        self.near && matches!(self.source, Source::Running(_) | Source::Settings | Source::Default)
    }
}

/// Finds the server of a command. config.yaml is read only when nothing else gives the address.
pub(in super::super) fn find(flag: Option<&str>, home: Option<&Home>) -> Result<ServerAddress, Failure> {
    if let Some(url) = flag {
        return ServerAddress::new(url, Source::Flag);
    }
    if let Some(url) = env("CDPILOT_URL") {
        return ServerAddress::new(&url, Source::Environment);
    }
    let Some(home) = home else { return Err(cdpilot_server::config::Error::NoHome.into()) };
    if let Some(running) = Running::of(home)? {
        return ServerAddress::running(running);
    }
    let usual = Browser::default().control_url;
    let set = Config::of(home)?.browser.control_url;
    let source = if set == usual { Source::Default } else { Source::Settings };
    ServerAddress::new(&set, source)
}

/// Whether a text can be the address of a server.
pub(in super::super) fn is_server(text: &str) -> bool {
    ServerAddress::new(text, Source::Flag).is_ok()
}

/// Whether an address is on this machine.
pub(in super::super) fn is_loopback_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| url.host_str().is_some_and(is_loopback))
}

/// Whether a host is this machine.
pub(in super::super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_urls_are_parsed() {
        let base = |text: &str| ServerAddress::new(text, Source::Flag).map(|found| (found.url, found.near)).unwrap();
        assert_eq!(base("http://127.0.0.1:18791"), ("http://127.0.0.1:18791".into(), true));
        assert_eq!(base("http://localhost:1/"), ("http://localhost:1".into(), true));
        assert_eq!(base("localhost:7"), ("http://localhost:7".into(), true));
        assert_eq!(base("http://[::1]:5"), ("http://[::1]:5".into(), true));
        assert_eq!(base("http://box.example"), ("http://box.example:80".into(), false));
        assert_eq!(base("http://10.0.0.7:9"), ("http://10.0.0.7:9".into(), false));
        for bad in
            ["", "ftp://h:1", "https://h:1", "http://u:secret@h:1", "http://h:1/x", "http://h:1/?a", "h:x", "foo"]
        {
            let error = ServerAddress::new(bad, Source::Flag).unwrap_err().error;
            assert!(error.contains("http://host:port") && !error.contains("secret"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_server_is_started_for_a_home_of_this_machine_only() {
        let may = |text: &str, source: Source| ServerAddress::new(text, source).unwrap().may_start();
        assert!(may("http://127.0.0.1:1", Source::Default));
        assert!(may("http://127.0.0.1:1", Source::Settings));
        assert!(!may("http://box.example:1", Source::Settings));
        assert!(!may("http://127.0.0.1:1", Source::Flag));
        assert!(!may("http://127.0.0.1:1", Source::Environment));
    }
}
