//! Addresses of browsers. A CDP address gives full control of a browser, so it is printed redacted.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use super::Error;

/// The scheme of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `ws://`
    Ws,
    /// `wss://`; needs the feature `tls`.
    Wss,
    /// `http://`
    Http,
    /// `https://`; needs the feature `tls`.
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Whether it is a WebSocket scheme.
    #[must_use]
    pub fn is_websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Wss | Self::Https)
    }

    fn default_port(self) -> u16 {
        if self.is_encrypted() { 443 } else { 80 }
    }
}

/// A parsed CDP address.
///
/// `Display` and `Debug` show `scheme://host:port` only, with `/…` for a path or query: user, password, path and query may
/// each be secret (the path after `/devtools/browser/` is). [`Endpoint::url`] returns the whole address.
///
/// ```
/// use cdpilot::browser::Endpoint;
/// let endpoint = Endpoint::parse("wss://me:pw@grid.example/devtools/browser/abc?token=t")?;
/// assert_eq!(endpoint.to_string(), "wss://grid.example:443/…");
/// # Ok::<(), cdpilot::browser::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) scheme: Scheme,
    /// `user:password` as in the address.
    pub(super) user: Option<String>,
    /// Without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// Starts with a slash.
    pub(super) path: String,
    pub(super) query: Option<String>,
}

impl Endpoint {
    /// Parses `ws://`, `wss://`, `http://` and `https://` addresses, `host:port` (meaning `http://`) and a single port
    /// (on this machine).
    ///
    /// # Errors
    /// [`Error::BadUrl`], which does not contain the address.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |problem: &str| Error::BadUrl { problem: problem.to_owned() };
        let text = text.trim();
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        let whole = match text.contains("://") {
            true => text.to_owned(),
            false if text.bytes().all(|b| b.is_ascii_digit()) => format!("http://127.0.0.1:{text}"),
            // A word alone is more likely a mistake than a host with port 80.
            false if !text.contains(':') => return Err(bad("it has neither a scheme nor a port")),
            false => format!("http://{text}"),
        };
        let uri: Uri = whole.parse().map_err(|e| bad(&format!("it is not a valid URL ({e})")))?;
        let scheme = match uri.scheme_str().unwrap_or_default().to_ascii_lowercase().as_str() {
            "ws" => Scheme::Ws,
            "wss" => Scheme::Wss,
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(bad(&format!("the scheme `{other}` is not one of ws, wss, http, https"))),
        };
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let (user, place) = match authority.as_str().rsplit_once('@') {
            Some((user, place)) => (Some(user.to_owned()), place),
            None => (None, authority.as_str()),
        };
        // Only a port may follow the host (an IPv6 address ends with a bracket).
        let port = match place.rsplit_once(']').map_or(place, |(_, rest)| rest).rsplit_once(':') {
            Some((_, "")) | None => scheme.default_port(),
            Some((_, digits)) => digits.parse().map_err(|_| bad("the port is not a number up to 65535"))?,
        };
        if port == 0 {
            return Err(bad("port 0 cannot be connected to"));
        }
        Ok(Self {
            scheme,
            user,
            host: host.to_owned(),
            port,
            path: if uri.path().is_empty() { "/".to_owned() } else { uri.path().to_owned() },
            query: uri.query().map(str::to_owned),
        })
    }

    /// The address of a browser on this machine.
    pub(super) fn local(port: u16, path: &str) -> Self {
        let (host, path) = ("127.0.0.1".to_owned(), path.to_owned());
        Self { scheme: Scheme::Ws, user: None, host, port, path, query: None }
    }

    /// The whole address with its secrets, without user and password (see [`Endpoint::authorization`]). Not for logs.
    #[must_use]
    pub fn url(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{}{query}", self.origin(), self.path)
    }

    /// `scheme://host:port`, without path, query and credentials: safe to show.
    #[must_use]
    pub fn origin(&self) -> String {
        let Self { scheme, host, port, .. } = self;
        let scheme = scheme.name();
        if host.contains(':') { format!("{scheme}://[{host}]:{port}") } else { format!("{scheme}://{host}:{port}") }
    }

    /// The `Authorization` header for the user and password in the address (RFC 7617). Secret.
    #[must_use]
    pub fn authorization(&self) -> Option<String> {
        use base64::Engine as _;
        let user: Vec<u8> = percent_encoding::percent_decode_str(self.user.as_deref()?).collect();
        Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user)))
    }

    /// `given`, plus `Authorization` for the user in the address unless it is given.
    pub(super) fn headers(&self, given: &[(String, String)]) -> Vec<(String, String)> {
        let mut headers = given.to_vec();
        let has_own = given.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(value) = self.authorization().filter(|_| !has_own) {
            headers.push(("Authorization".to_owned(), value));
        }
        headers
    }

    /// The scheme: how the address is connected to.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host name or address, IPv6 without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; the default one of the scheme if the address names none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the host is this machine, judging by its name only.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())?;
        if self.path == "/" && self.query.is_none() { Ok(()) } else { f.write_str("/…") }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}
