//! Cookies of the browser context of a tab.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use serde_json::{Value, json};

use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::network::{self, CookieSameSite, DeleteCookies, SetCookie};
use crate::cdp::protocol::storage::GetCookies;
use crate::page::{Error, Tab};
use crate::setters;
use crate::sync::Deadline;

/// Maximum number of cookies set by one call.
const MANY: usize = 1000;
/// Maximum length of name and value together, in bytes: <https://www.rfc-editor.org/rfc/rfc6265bis>.
const NAME_AND_VALUE: usize = 4096;
/// A larger `expires` is in milliseconds by mistake.
const FAR: f64 = 1e11;

/// The `SameSite` attribute: which cross-site requests carry the cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SameSite {
    /// Sent with requests of the same site only.
    #[serde(alias = "strict")]
    Strict,
    /// Also sent with top-level navigations from other sites.
    #[serde(alias = "lax")]
    Lax,
    /// Sent with all requests; needs `Secure`.
    #[serde(alias = "none")]
    None,
}

/// A cookie. `Debug` does not show its value.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cookie {
    /// The name, unique per domain, path and partition.
    pub name: String,
    /// The value, as sent in requests. Secret.
    pub value: String,
    /// The host; with a leading dot, its subdomains too.
    pub domain: String,
    /// The path prefix of the requests that carry the cookie.
    pub path: String,
    /// Expiry, in Unix seconds. Absent: a session cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// Whether scripts cannot read it.
    pub http_only: bool,
    /// Whether it is only sent over secure connections.
    pub secure: bool,
    /// The `SameSite` attribute, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
}

setters!(Cookie:
    path(into String),
    expires(some f64),
    http_only(bool),
    secure(bool),
    same_site(some SameSite),
);

impl Cookie {
    /// A session cookie of a host, for all its paths, without attributes. With a leading dot, the host includes its
    /// subdomains.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>, domain: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            domain: domain.into(),
            path: "/".to_owned(),
            expires: None,
            http_only: false,
            secure: false,
            same_site: None,
        }
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, domain, path, .. } = self;
        f.debug_struct("Cookie").field("name", name).field("domain", domain).field("path", path).finish_non_exhaustive()
    }
}

impl From<network::Cookie> for Cookie {
    fn from(cookie: network::Cookie) -> Self {
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            expires: (!cookie.session && cookie.expires >= 0.0).then_some(cookie.expires),
            http_only: cookie.http_only,
            secure: cookie.secure,
            same_site: cookie.same_site.and_then(|same_site| match same_site {
                CookieSameSite::Strict => Some(SameSite::Strict),
                CookieSameSite::Lax => Some(SameSite::Lax),
                CookieSameSite::None => Some(SameSite::None),
                _ => None,
            }),
        }
    }
}

/// A cookie to set. `Debug` does not show its value.
#[derive(Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct NewCookie {
    /// The name. Name and value together have 4,096 bytes at most.
    pub name: String,
    /// The value. Secret.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "password")))]
    pub value: String,
    /// An http or https URL whose host the cookie belongs to. Required unless `domain` is given.
    pub url: Option<String>,
    /// The host; the cookie is sent to its subdomains too.
    pub domain: Option<String>,
    /// The path. Default `/`.
    pub path: Option<String>,
    /// Expiry, in Unix seconds. Absent or -1: a session cookie.
    pub expires: Option<f64>,
    /// Whether scripts cannot read it. Default false.
    pub http_only: Option<bool>,
    /// Whether it is only sent over secure connections. Default false.
    pub secure: Option<bool>,
    /// Which cross-site requests carry the cookie. Default: the browser decides, as for `Lax`.
    pub same_site: Option<SameSite>,
}

impl NewCookie {
    /// A session cookie. Its [`url`](field@Self::url) or its [`domain`](field@Self::domain) must be set, too.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            url: None,
            domain: None,
            path: None,
            expires: None,
            http_only: None,
            secure: None,
            same_site: None,
        }
    }
}

setters! { NewCookie:
    url(some into String),
    domain(some into String),
    path(some into String),
    expires(some f64),
    http_only(some bool),
    secure(some bool),
    same_site(some SameSite),
}

impl fmt::Debug for NewCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, url, domain, .. } = self;
        f.debug_struct("NewCookie")
            .field("name", name)
            .field("url", url)
            .field("domain", domain)
            .finish_non_exhaustive()
    }
}

impl NewCookie {
    /// Why it cannot be set, as part of a sentence.
    pub(in crate::page) fn problem(&self) -> Option<String> {
        let forbidden = |text: &str| text.chars().any(|c| c == ';' || c.is_control());
        let secure = self.secure == Some(true) || self.url.as_deref().is_some_and(|url| has_scheme(url, "https"));
        let problem = if forbidden(&self.name) || self.name.contains('=') {
            "its name contains `=`, `;` or a control character"
        } else if forbidden(&self.value) {
            "its value contains `;` or a control character; encode it"
        } else if self.name.is_empty() && self.value.is_empty() {
            "name and value are both empty"
        } else if self.name.len() + self.value.len() > NAME_AND_VALUE {
            "name and value together are longer than 4,096 bytes"
        } else if self.url.is_none() && self.domain.is_none() {
            "give `url` or `domain`"
        } else if self.url.as_deref().is_some_and(|url| !is_web(url)) {
            "its `url` is not an http or https URL"
        } else if self.domain.as_deref().is_some_and(|domain| !is_host(domain)) {
            let domain: String = self.domain.iter().flat_map(|domain| domain.chars()).take(200).collect();
            return Some(format!("its `domain` {domain:?} is not a host name; give it without scheme, port and path"));
        } else if self.path.as_deref().is_some_and(|path| !path.starts_with('/') || forbidden(path)) {
            "its `path` must begin with `/`"
        } else if self.expires.is_some_and(|time| !time.is_finite() || time < -1.0) {
            "its `expires` is not a time in Unix seconds"
        } else if self.expires.is_some_and(|time| time > FAR) {
            "its `expires` is thousands of years ahead; give seconds, not milliseconds"
        } else if self.same_site == Some(SameSite::None) && !secure {
            "`sameSite: None` needs `secure: true`"
        } else if self.name.starts_with("__Secure-") && !secure {
            "the name prefix `__Secure-` needs `secure: true`"
        } else if self.name.starts_with("__Host-")
            && (!secure || self.domain.is_some() || self.path.as_deref().is_some_and(|path| path != "/"))
        {
            "the name prefix `__Host-` needs `secure: true`, `url` instead of `domain`, and the path `/`"
        } else {
            return None;
        };
        Some(problem.to_owned())
    }

    pub(in crate::page) fn command(&self) -> SetCookie {
        let mut set = SetCookie::new(&*self.name, &*self.value);
        set.url.clone_from(&self.url);
        set.domain.clone_from(&self.domain);
        set.path = Some(self.path.clone().unwrap_or_else(|| "/".to_owned()));
        set.expires = self.expires.filter(|time| *time >= 0.0);
        set.http_only = self.http_only;
        let secure = self.url.as_deref().is_some_and(|url| has_scheme(url, "https"))
            && (self.same_site == Some(SameSite::None) || self.name.starts_with("__"));
        set.secure = self.secure.or(secure.then_some(true));
        set.same_site = self.same_site.map(|same_site| match same_site {
            SameSite::Strict => CookieSameSite::Strict,
            SameSite::Lax => CookieSameSite::Lax,
            SameSite::None => CookieSameSite::None,
        });
        set
    }
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.split_once("://").is_some_and(|(has, _)| has.eq_ignore_ascii_case(scheme))
}

pub(in crate::page) fn is_web(url: &str) -> bool {
    (has_scheme(url, "http") || has_scheme(url, "https"))
        && url.split_once("://").is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with(['/', ':', '?', '#']))
}

/// Whether a cookie's domain is a host name or address in canonical form, with or without a leading dot. Anything else
/// could be another host in a URL.
pub(in crate::page) fn is_host(domain: &str) -> bool {
    let host = domain.strip_prefix('.').unwrap_or(domain);
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let plain = |c: char| c.is_alphabetic() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    // Browsers read a host whose last label is a number as an address: 2130706433 and 0x7f.1 are 127.0.0.1.
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_name = !host.is_empty() && !host.starts_with('.') && !host.contains("..") && host.chars().all(plain);
    is_name && (!is_number || host.parse::<Ipv4Addr>().is_ok())
}

impl Tab {
    /// The cookies that would be sent to some URLs; without URLs, all cookies of the tab's browser context. Also works
    /// while a dialog is open.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for anything but http and https URLs; [`Error::Supervisor`].
    pub fn cookies(&self, urls: &[&str], deadline: Deadline<'_>) -> Result<Vec<Cookie>, Error> {
        if let Some(url) = urls.iter().find(|url| !is_web(url)) {
            let problem = format!("{:?} is not an http or https URL", url.chars().take(200).collect::<String>());
            return Err(Error::BadRequest { problem });
        }
        let cookies = if urls.is_empty() {
            self.all_cookies(deadline)?
        } else {
            self.supervisor.cookies(&self.page(), urls, deadline)?
        };
        Ok(cookies.into_iter().map(Cookie::from).collect())
    }

    /// Sets cookies. All are checked before the first one is set. Returns their number.
    ///
    /// # Errors
    /// [`Error::BadCookie`] with the index of the first invalid cookie, or of the first one that Chromium refuses
    /// (those before it are set then); [`Error::BadRequest`], [`Error::Supervisor`].
    pub fn set_cookies(&self, cookies: &[NewCookie], deadline: Deadline<'_>) -> Result<usize, Error> {
        if cookies.len() > MANY {
            let problem = format!("{} cookies are too many for one call; set at most {MANY}", cookies.len());
            return Err(Error::BadRequest { problem });
        }
        let wrong = cookies.iter().enumerate().find_map(|(index, cookie)| Some((index, cookie.problem()?)));
        if let Some((index, problem)) = wrong {
            return Err(Error::BadCookie { index, problem });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let expired = |cookie: &NewCookie| cookie.expires.filter(|time| *time >= 0.0 && *time <= now);
        if let Some((index, time)) = cookies.iter().enumerate().find_map(|(at, cookie)| Some((at, expired(cookie)?))) {
            let problem = format!("its `expires` {time} is in the past; give a later time in Unix seconds");
            return Err(Error::BadCookie { index, problem });
        }
        for (index, cookie) in cookies.iter().enumerate() {
            if !self.supervisor.call(&self.page(), &cookie.command(), deadline)?.result.success {
                let problem = "the browser refuses it; check that host, path and `secure` match its URL".to_owned();
                return Err(Error::BadCookie { index, problem });
            }
        }
        Ok(cookies.len())
    }

    /// Deletes cookies of the tab's browser context: those with a name, those of a host (without its subdomains), both,
    /// or all. Returns how many.
    ///
    /// # Errors
    /// [`Error::Supervisor`].
    pub fn delete_cookies(
        &self,
        name: Option<&str>,
        domain: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<usize, Error> {
        let bare = |domain: &str| domain.trim_start_matches('.').to_ascii_lowercase();
        let domain = domain.map(bare);
        let mut gone = self.all_cookies(deadline)?;
        gone.retain(|cookie| {
            name.is_none_or(|name| cookie.name == name)
                && domain.as_ref().is_none_or(|domain| bare(&cookie.domain) == *domain)
        });
        for cookie in &gone {
            let mut delete = DeleteCookies::new(&*cookie.name);
            delete.domain = Some(cookie.domain.clone());
            delete.path = Some(cookie.path.clone());
            delete.partition_key.clone_from(&cookie.partition_key);
            self.supervisor.call(&self.page(), &delete, deadline)?;
        }
        Ok(gone.len())
    }

    pub(in crate::page) fn all_cookies(&self, deadline: Deadline<'_>) -> Result<Vec<network::Cookie>, Error> {
        // Sent to a page, the command reads the default browser context, also for a page of another one; only the browser
        // itself takes the id of a context, and only of those that were created by a command (Chromium 156).
        let context = self.supervisor.view().page(self.target.as_str()).and_then(|page| page.context.clone());
        let created = self.supervisor.browser_raw("Target.getBrowserContexts", &Value::Null, deadline)?;
        let is_created = |context: &BrowserContextId| {
            let ids = created.get("browserContextIds").and_then(Value::as_array);
            ids.is_some_and(|ids| ids.iter().any(|id| *id == *context.as_str()))
        };
        let Some(context) = context.filter(is_created) else {
            return Ok(self.supervisor.call(&self.page(), &GetCookies::new(), deadline)?.result.cookies);
        };
        let params = json!({ "browserContextId": context });
        let result = self.supervisor.browser_raw("Storage.getCookies", &params, deadline)?;
        let cookies = result.get("cookies").cloned().unwrap_or_default();
        serde_json::from_value(cookies).map_err(|problem| Error::BadRequest {
            problem: format!("the browser's cookies cannot be decoded: {problem}"),
        })
    }
}
