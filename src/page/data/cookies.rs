//! Cookies of the browser context that a tab lives in.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::cdp::protocol::network::{self, CookieSameSite, DeleteCookies, SetCookie};
use crate::cdp::protocol::storage::GetCookies;
use crate::page::{Error, Tab};
use crate::sync::Deadline;

/// Cookies set at once at most.
const MANY: usize = 1000;
/// Longest name and value together, in bytes: <https://www.rfc-editor.org/rfc/rfc6265bis>.
const NAME_AND_VALUE: usize = 4096;
/// A later time than this is one in milliseconds.
const FAR: f64 = 1e11;

/// Where else a cookie is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub enum SameSite {
    /// Nowhere.
    #[serde(alias = "strict")]
    Strict,
    /// Along with navigations.
    #[serde(alias = "lax")]
    Lax,
    /// Everywhere; for secure cookies only.
    #[serde(alias = "none")]
    None,
}

/// A cookie. `Debug` does not show its value.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host it belongs to; with a dot in front, all hosts below it too.
    pub domain: String,
    /// The path it belongs to.
    pub path: String,
    /// When it ends, Unix seconds. One without ends with the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// Whether scripts cannot see it.
    pub http_only: bool,
    /// Whether it is sent over secure connections only.
    pub secure: bool,
    /// Where else it is sent to, when that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
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
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// An address (http or https) whose host and path it belongs to. This or `domain`.
    pub url: Option<String>,
    /// The host it belongs to, and all below it.
    pub domain: Option<String>,
    /// The path it belongs to. Default `/`.
    pub path: Option<String>,
    /// When it ends, Unix seconds. Without, or with -1, it ends with the browser.
    pub expires: Option<f64>,
    /// Whether scripts cannot see it.
    pub http_only: Option<bool>,
    /// Whether it is sent over secure connections only.
    pub secure: Option<bool>,
    /// Where else it is sent to.
    pub same_site: Option<SameSite>,
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
    /// What is wrong with it.
    pub(in crate::page) fn problem(&self) -> Option<String> {
        let forbidden = |text: &str| text.chars().any(|c| c == ';' || c.is_control());
        let secure = self.secure == Some(true) || self.url.as_deref().is_some_and(|url| has_scheme(url, "https"));
        let problem = if forbidden(&self.name) || self.name.contains('=') {
            "its name has a `=`, `;` or control character in it"
        } else if forbidden(&self.value) {
            "its value has a `;` or control character in it; encode it"
        } else if self.name.is_empty() && self.value.is_empty() {
            "it has neither name nor value"
        } else if self.name.len() + self.value.len() > NAME_AND_VALUE {
            "name and value together are longer than 4,096 bytes"
        } else if self.url.is_none() && self.domain.is_none() {
            "it needs `url` or `domain`"
        } else if self.url.as_deref().is_some_and(|url| !is_web(url)) {
            "its `url` is no http or https address"
        } else if self.domain.as_deref().is_some_and(|domain| !is_host(domain)) {
            "its `domain` is no host name; give it without scheme, port and path"
        } else if self.path.as_deref().is_some_and(|path| !path.starts_with('/') || forbidden(path)) {
            "its `path` must begin with `/`"
        } else if self.expires.is_some_and(|time| !time.is_finite() || time < -1.0) {
            "its `expires` is no time in Unix seconds"
        } else if self.expires.is_some_and(|time| time > FAR) {
            "its `expires` lies thousands of years ahead; give seconds, not milliseconds"
        } else if self.same_site == Some(SameSite::None) && !secure {
            "`sameSite: None` needs `secure: true`"
        } else if self.name.starts_with("__Secure-") && !secure {
            "a name with `__Secure-` needs `secure: true`"
        } else if self.name.starts_with("__Host-")
            && (!secure || self.domain.is_some() || self.path.as_deref().is_some_and(|path| path != "/"))
        {
            "a name with `__Host-` needs `secure: true`, a `url` instead of `domain`, and `/` as path"
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

/// Whether a cookie's domain is a host name or address in its usual form, with or without a dot before it. Anything else
/// could be another host in an address.
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
    /// The cookies that would be sent to some addresses; with none, all of the tab's browser context.
    /// Answered under a dialog too.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what is no http or https address; [`Error::Supervisor`].
    pub fn cookies(&self, urls: &[&str], deadline: Deadline) -> Result<Vec<Cookie>, Error> {
        if let Some(url) = urls.iter().find(|url| !is_web(url)) {
            let problem = format!("{:?} is no http or https address", url.chars().take(200).collect::<String>());
            return Err(Error::BadRequest { problem });
        }
        let cookies = if urls.is_empty() {
            self.all_cookies(deadline)?
        } else {
            self.supervisor.cookies(&self.page(), urls, deadline)?
        };
        Ok(cookies.into_iter().map(Cookie::from).collect())
    }

    /// Sets cookies. All are looked at before the first one is set. Gives how many there were.
    ///
    /// # Errors
    /// [`Error::BadCookie`] with the index of the first one that is wrong, or that Chromium does not take (then
    /// those before it are set); [`Error::BadRequest`], [`Error::Supervisor`].
    pub fn set_cookies(&self, cookies: &[NewCookie], deadline: Deadline) -> Result<usize, Error> {
        if cookies.len() > MANY {
            let problem = format!("{} cookies at once are too many; set at most {MANY}", cookies.len());
            return Err(Error::BadRequest { problem });
        }
        let wrong = cookies.iter().enumerate().find_map(|(index, cookie)| Some((index, cookie.problem()?)));
        if let Some((index, problem)) = wrong {
            return Err(Error::BadCookie { index, problem });
        }
        for (index, cookie) in cookies.iter().enumerate() {
            if !self.supervisor.call(&self.page(), &cookie.command(), deadline)?.result.success {
                let problem = "the browser does not take it; do host, path and `secure` fit its address?".to_owned();
                return Err(Error::BadCookie { index, problem });
            }
        }
        Ok(cookies.len())
    }

    /// Deletes cookies of the tab's browser context: those of a name, of a host (its own, not those of hosts
    /// below it), of both, or with neither all of them. Gives how many there were.
    ///
    /// # Errors
    /// [`Error::Supervisor`].
    pub fn delete_cookies(&self, name: Option<&str>, domain: Option<&str>, deadline: Deadline) -> Result<usize, Error> {
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

    pub(in crate::page) fn all_cookies(&self, deadline: Deadline) -> Result<Vec<network::Cookie>, Error> {
        Ok(self.supervisor.call(&self.page(), &GetCookies::new(), deadline)?.result.cookies)
    }
}
