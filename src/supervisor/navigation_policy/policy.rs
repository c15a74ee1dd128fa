//! Decisions of a policy on a URL, without name resolution.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use super::address::{Reach, plain, reach};
use super::lookup::{Names, system};
use super::pattern::{BadPattern, Pattern};
use super::protected::ProtectedPorts;
use super::{Place, Refused, Verdict};

/// Maximum length of a displayed URL, in bytes.
const SHOWN: usize = 2048;
/// Host names of cloud metadata services.
pub(super) const METADATA_NAMES: [&str; 12] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
    "api.metadata.cloud.ibm.com",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
    "metadata.internal",
];

/// Which URLs pages may load.
///
/// `http`, `https`, `about:blank`, `data` and `blob` are allowed, and `file` if enabled; all other schemes are refused.
/// URLs with a user name are refused, and so are all URLs of cloud metadata services. Patterns are hosts
/// (`example.com`, `127.0.0.1`) or globs of hosts (`*.example.com`), with an optional scheme and port
/// (`https://*.example.com:8443`). `block` takes precedence; if `allow` is not empty, only hosts that match it are
/// allowed.
#[derive(Debug, Clone)]
pub struct NavigationPolicy {
    pub(super) allow: Vec<Pattern>,
    pub(super) block: Vec<Pattern>,
    pub(super) private_addresses: bool,
    file_urls: bool,
    names: Names,
    protected: ProtectedPorts,
    requests: bool,
}

impl Default for NavigationPolicy {
    /// Allows every host, private ones included; no files.
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            block: Vec::new(),
            private_addresses: true,
            file_urls: false,
            names: system,
            protected: ProtectedPorts::default(),
            requests: false,
        }
    }
}

impl NavigationPolicy {
    /// Creates a policy with these patterns. Without `private_addresses`, this machine and private networks are allowed
    /// only for hosts listed in `allow` without `*`. A browser behind a proxy reports the proxy's address for every
    /// page: if requests are checked, a proxy in a private network requires `private_addresses`.
    ///
    /// # Errors
    /// [`BadPattern`], for the first invalid pattern.
    pub fn new(
        allow: &[impl AsRef<str>],
        block: &[impl AsRef<str>],
        private_addresses: bool,
        file_urls: bool,
    ) -> Result<Self, BadPattern> {
        let allow = allow.iter().map(|text| Pattern::parse(text.as_ref())).collect::<Result<_, _>>()?;
        let block = block.iter().map(|text| Pattern::parse(text.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { allow, block, private_addresses, file_urls, ..Self::default() })
    }

    /// Refuses these ports too, in documents and requests of pages, for any name or address of the host.
    #[must_use]
    pub fn protecting(mut self, ports: ProtectedPorts) -> Self {
        self.protected = ports;
        self
    }

    /// Sets whether requests of pages (scripts, images, `fetch`, workers) are checked like documents, provided that the
    /// policy refuses anything: `allow` or `block` has entries, or private addresses are refused. Default false. Each
    /// request then takes an additional round trip.
    #[must_use]
    pub fn with_requests(mut self, held: bool) -> Self {
        self.requests = held;
        self
    }

    pub(in crate::supervisor) fn holds_requests(&self) -> bool {
        self.requests && (!self.allow.is_empty() || !self.block.is_empty() || !self.private_addresses)
    }

    pub(in crate::supervisor) fn protected_ports(&self) -> Vec<u16> {
        self.protected.all()
    }

    /// Sets another resolver than the system's. For tests; not a stable interface.
    #[doc(hidden)]
    #[must_use]
    pub fn with_names(mut self, names: fn(&str) -> Vec<IpAddr>) -> Self {
        self.names = names;
        self
    }

    pub(super) fn names(&self) -> Names {
        self.names
    }

    /// Checks a URL, as far as possible without resolving names.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check(&self, url: &str) -> Result<Verdict, Refused> {
        let url = Url::parse(url).map_err(|problem| Refused::new(format!("not a valid address ({problem})")))?;
        match url.scheme() {
            "http" | "https" => self.check_web(&url),
            "about" if url.path() == "blank" => Ok(Verdict::Pass),
            "data" => Ok(Verdict::Pass),
            "blob" => self.check_blob(&url),
            "file" => self.check_file(&url).map(|()| Verdict::Pass),
            scheme => Err(Refused::new(format!(
                "`{scheme}:` addresses are not allowed; use http, https, about:blank, data or blob"
            ))),
        }
    }

    /// Checks the URL of a request that loads no document, as far as possible without resolving names.
    ///
    /// # Errors
    /// [`Refused`].
    pub(in crate::supervisor) fn check_request(&self, url: &str) -> Result<Verdict, Refused> {
        let Ok(url) = Url::parse(url) else { return Ok(Verdict::Pass) };
        if !matches!(url.scheme(), "http" | "https") {
            return Ok(Verdict::Pass);
        }
        if self.holds_requests() {
            return self.check_web(&url);
        }
        let Some((place, ip)) = place_of(&url) else { return Ok(Verdict::Pass) };
        let local = is_local(&place.host);
        self.protected.check(&place, ip, local)?;
        let known = local || ip.is_some() || !self.protected.is_protected(place.port);
        Ok(if known { Verdict::Pass } else { Verdict::Look(place) })
    }

    /// Checks a request to a place with these addresses.
    ///
    /// # Errors
    /// [`Refused`].
    pub(in crate::supervisor) fn check_request_addresses(
        &self,
        place: &Place,
        addresses: &[IpAddr],
    ) -> Result<(), Refused> {
        if self.holds_requests() {
            return self.check_addresses(place, addresses);
        }
        addresses.iter().try_for_each(|ip| self.protected.check_address(place, *ip))
    }

    /// Checks the document that a frame shows. Its host was resolved before the request.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check_frame(&self, url: &str, main: bool) -> Result<(), Refused> {
        // Pages of the browser itself: empty pages, error pages, and its parts in frames.
        let own = ["chrome-error:", "chrome://newtab/", "chrome://new-tab-page/", "chrome://new-tab-page-third-party/"];
        let is_web = ["http:", "https:", "file:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
        if url.is_empty() || url == ":" || own.iter().any(|own| url.starts_with(own)) || (!main && !is_web) {
            return Ok(());
        }
        self.check(url).map(|_| ())
    }

    /// Checks a navigation to a place with these addresses.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check_addresses(&self, place: &Place, addresses: &[IpAddr]) -> Result<(), Refused> {
        addresses.iter().try_for_each(|ip| self.check_address(place, *ip))
    }

    /// Checks a document by the IP address of its server. Unparsable addresses are allowed.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check_reached(&self, url: &str, address: &str) -> Result<(), Refused> {
        let ip = address.trim_start_matches('[').trim_end_matches(']').parse();
        match (ip, Url::parse(url).ok().as_ref().and_then(place_of)) {
            (Ok(ip), Some((place, _))) => self.check_address(&place, ip),
            _ => Ok(()),
        }
    }

    fn check_address(&self, place: &Place, ip: IpAddr) -> Result<(), Refused> {
        self.protected.check_address(place, ip)?;
        let leads = if place.host.parse() == Ok(plain(ip)) {
            format!("{ip} is")
        } else {
            format!("{} resolves to {}, which is", place.host, plain(ip))
        };
        if let Some(pattern) = self.block.iter().find(|pattern| pattern.matches_address(place, ip)) {
            return Err(blocked_by(pattern, &format!("{leads} an address")));
        }
        match reach(ip) {
            Reach::Public => Ok(()),
            Reach::Metadata => Err(Refused::new(format!(
                "{leads} a link-local or cloud metadata address; such addresses are always blocked"
            ))),
            Reach::Private => self.check_private(place, &leads),
        }
    }

    fn check_private(&self, place: &Place, leads: &str) -> Result<(), Refused> {
        let named = || self.allow.iter().any(|pattern| pattern.is_exact() && pattern.matches(place));
        if self.private_addresses || named() {
            return Ok(());
        }
        Err(Refused::new(format!(
            "{leads} an address of this machine or of a private network; to allow it, add `{}` to browser.navigation.allow \
             or set browser.navigation.private_addresses: true in config.yaml and restart the server",
            place.host
        )))
    }

    fn check_web(&self, url: &Url) -> Result<Verdict, Refused> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::new("it contains a user name or password; remove them from the address"));
        }
        let (place, ip) = place_of(url).ok_or_else(|| Refused::new("the address has no host"))?;
        let host = &*place.host;
        self.protected.check(&place, ip, is_local(host))?;
        if METADATA_NAMES.contains(&host) {
            let why = format!("{host} is a cloud metadata host, which is always blocked");
            return Err(Refused::new(why));
        }
        if let Some(pattern) = self.block.iter().find(|pattern| pattern.matches(&place)) {
            return Err(blocked_by(pattern, &format!("{host} is")));
        }
        if let Some(ip) = ip.filter(|ip| reach(*ip) == Reach::Metadata) {
            self.check_address(&place, ip)?;
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|pattern| pattern.matches(&place)) {
            return Err(Refused::new(format!(
                "no entry of browser.navigation.allow matches {host}; to allow the host, add `{host}` to it in config.yaml \
                 and restart the server"
            )));
        }
        match ip {
            Some(ip) => self.check_address(&place, ip).map(|()| Verdict::Pass),
            None if is_local(host) => {
                self.check_address(&place, Ipv4Addr::LOCALHOST.into())?;
                Ok(Verdict::Pass)
            }
            None => Ok(Verdict::Look(place)),
        }
    }

    fn check_blob(&self, url: &Url) -> Result<Verdict, Refused> {
        // Its content was created by a page of that origin; `null` stands for documents without an origin.
        if url.path().starts_with("null/") {
            return Ok(Verdict::Pass);
        }
        match Url::parse(url.path()) {
            Ok(of) if matches!(of.scheme(), "http" | "https") => self.check_web(&of).map(|_| Verdict::Pass),
            Ok(of) if of.scheme() == "file" => self.check_file(&of).map(|()| Verdict::Pass),
            _ => Err(Refused::new("a `blob:` address must belong to an allowed origin")),
        }
    }

    fn check_file(&self, url: &Url) -> Result<(), Refused> {
        if url.host().is_some() {
            return Err(Refused::new("it is a file on another machine, which is always blocked"));
        }
        if self.file_urls {
            return Ok(());
        }
        Err(Refused::new(
            "`file:` addresses are blocked; to allow them, set browser.navigation.file_urls: true in config.yaml and \
             restart the server",
        ))
    }
}

fn blocked_by(pattern: &Pattern, what: &str) -> Refused {
    let pattern = pattern.text();
    Refused::new(format!(
        "{what} matched by the entry `{pattern}` of browser.navigation.block; to allow it, remove that entry in config.yaml \
         and restart the server"
    ))
}

/// The place of an HTTP URL, and the IP address if its host is one.
fn place_of(url: &Url) -> Option<(Place, Option<IpAddr>)> {
    let (host, ip) = match url.host()? {
        Host::Domain(name) => (name.trim_end_matches('.').to_owned(), None),
        Host::Ipv4(ip) => (ip.to_string(), Some(ip.into())),
        Host::Ipv6(ip) => (plain(ip.into()).to_string(), Some(ip.into())),
    };
    let port = url.port_or_known_default()?;
    (!host.is_empty()).then(|| (Place { scheme: url.scheme().into(), host: host.into(), port }, ip))
}

/// Names that browsers resolve to this machine without a lookup:
/// <https://www.rfc-editor.org/rfc/rfc6761#section-6.3>.
fn is_local(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// A URL without user, password, query and fragment; only the scheme for other kinds of URLs.
pub(super) fn shown(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "an invalid address".to_owned() };
    let mut text = match url.host_str() {
        Some(host) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}://{host}{port}{}", url.scheme(), url.path())
        }
        None if matches!(url.scheme(), "file" | "about" | "chrome") => {
            format!("{}:{}{}", url.scheme(), if url.scheme() == "file" { "//" } else { "" }, url.path())
        }
        None => format!("{}:…", url.scheme()),
    };
    if text.len() > SHOWN {
        let end = (0..=SHOWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
