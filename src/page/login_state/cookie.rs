//! Cookies with all their attributes, so that another browser treats them alike.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::cdp::protocol::network::{self, CookieSameSite, CookieSourceScheme, SetCookie};
use crate::page::data::is_host;
use crate::page::{Cookie, SameSite};
use crate::setters;

/// A cookie of a login state. `Debug` does not show its value.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StateCookie {
    /// The attributes of every cookie.
    #[serde(flatten)]
    pub cookie: Cookie,
    /// The partition of a partitioned cookie (CHIPS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<PartitionKey>,
    /// The port of the server that set it, if it is known and not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// Whether it was set over a secure connection, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_secure: Option<bool>,
}

/// The partition of a partitioned cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PartitionKey {
    /// The site of the top frame.
    pub top_level_site: String,
    /// Whether a frame of another site is in between.
    #[serde(default)]
    pub has_cross_site_ancestor: bool,
}

setters!(StateCookie: partition_key(some PartitionKey), source_port(some u16), source_secure(some bool));
setters!(PartitionKey: has_cross_site_ancestor(bool));

impl StateCookie {
    /// An unpartitioned cookie whose source is not known.
    #[must_use]
    pub fn new(cookie: Cookie) -> Self {
        Self { cookie, partition_key: None, source_port: None, source_secure: None }
    }
}

impl PartitionKey {
    /// The partition of a top-level site, such as `https://example.com`, without frames of other sites in between.
    #[must_use]
    pub fn new(top_level_site: impl Into<String>) -> Self {
        Self { top_level_site: top_level_site.into(), has_cross_site_ancestor: false }
    }
}

impl fmt::Debug for StateCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cookie.fmt(f)
    }
}

impl From<network::Cookie> for StateCookie {
    fn from(cookie: network::Cookie) -> Self {
        let partition_key = cookie.partition_key.clone().map(|key| PartitionKey {
            top_level_site: key.top_level_site,
            has_cross_site_ancestor: key.has_cross_site_ancestor,
        });
        let source_secure = match cookie.source_scheme {
            Some(CookieSourceScheme::Secure) => Some(true),
            Some(CookieSourceScheme::NonSecure) => Some(false),
            _ => None,
        };
        let usual = if source_secure == Some(true) { 443 } else { 80 };
        let source_port =
            cookie.source_port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0 && *port != usual);
        Self { cookie: cookie.into(), partition_key, source_port, source_secure }
    }
}

impl<'de> Deserialize<'de> for StateCookie {
    /// Accepts the own format, and Playwright's: an `expires` of -1, a `partitionKey` that is a string.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Key {
            Whole(PartitionKey),
            Site(String),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Any {
            name: String,
            value: String,
            domain: String,
            #[serde(default)]
            path: Option<String>,
            #[serde(default)]
            expires: Option<f64>,
            #[serde(default)]
            http_only: bool,
            #[serde(default)]
            secure: bool,
            #[serde(default)]
            same_site: Option<SameSite>,
            #[serde(default)]
            partition_key: Option<Key>,
            #[serde(default, rename = "_crHasCrossSiteAncestor")]
            ancestor: Option<bool>,
            #[serde(default)]
            source_port: Option<u16>,
            #[serde(default)]
            source_secure: Option<bool>,
        }
        let any = Any::deserialize(deserializer)?;
        let partition_key = any.partition_key.map(|key| match key {
            Key::Whole(key) => key,
            Key::Site(site) => {
                PartitionKey { top_level_site: site, has_cross_site_ancestor: any.ancestor.unwrap_or(false) }
            }
        });
        let cookie = Cookie {
            name: any.name,
            value: any.value,
            domain: any.domain,
            path: any.path.unwrap_or_else(|| "/".to_owned()),
            expires: any.expires.filter(|time| *time >= 0.0),
            http_only: any.http_only,
            secure: any.secure,
            same_site: any.same_site,
        };
        Ok(Self { cookie, partition_key, source_port: any.source_port, source_secure: any.source_secure })
    }
}

impl StateCookie {
    /// The command that sets it. A host-only cookie is set by URL: a domain would include the subdomains.
    pub(super) fn command(&self) -> SetCookie {
        let cookie = &self.cookie;
        let mut set = SetCookie::new(&*cookie.name, &*cookie.value);
        let is_secure = cookie.secure || self.source_secure == Some(true);
        if cookie.domain.starts_with('.') {
            set.domain = Some(cookie.domain.clone());
        }
        let scheme = if is_secure { "https" } else { "http" };
        let port = self.source_port.map(|port| format!(":{port}")).unwrap_or_default();
        set.url = Some(format!("{scheme}://{}{port}{}", cookie.domain.trim_start_matches('.'), cookie.path));
        set.path = Some(cookie.path.clone());
        set.expires = cookie.expires;
        set.http_only = Some(cookie.http_only);
        set.secure = Some(cookie.secure);
        set.same_site = cookie.same_site.map(|same_site| match same_site {
            SameSite::Strict => CookieSameSite::Strict,
            SameSite::Lax => CookieSameSite::Lax,
            SameSite::None => CookieSameSite::None,
        });
        if let Some(is_secure) = self.source_secure {
            let (scheme, usual) = match is_secure {
                true => (CookieSourceScheme::Secure, 443),
                false => (CookieSourceScheme::NonSecure, 80),
            };
            set.source_scheme = Some(scheme);
            set.source_port = Some(i64::from(self.source_port.unwrap_or(usual)));
        }
        set.partition_key = self
            .partition_key
            .as_ref()
            .map(|key| network::CookiePartitionKey::new(&*key.top_level_site, key.has_cross_site_ancestor));
        set
    }

    /// Why it cannot be set, if that is certain.
    pub(super) fn problem(&self, now: f64) -> Option<&'static str> {
        let cookie = &self.cookie;
        let forbidden = |text: &str| text.chars().any(|c| c == ';' || c.is_control());
        if forbidden(&cookie.name) || forbidden(&cookie.value) || forbidden(&cookie.path) {
            Some("its name, value or path contains `;` or a control character")
        } else if cookie.domain.is_empty() {
            Some("it has no domain")
        } else if !is_host(&cookie.domain) {
            Some("its domain is not a host name or address; give it without scheme, port, path and user name")
        } else if !cookie.path.starts_with('/') {
            Some("its path does not start with `/`")
        } else if cookie.expires.is_some_and(|time| time <= now) {
            Some("it has expired")
        } else {
            None
        }
    }
}
