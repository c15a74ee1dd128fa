//! The origins for which a browser context has data, as far as known without visiting any.

use crate::cdp::protocol::network;
use crate::page::{Error, Tabs};
use crate::supervisor::{FrameRef, PageView, TargetId, http_origin};
use crate::sync::Deadline;

/// Maximum number of origins.
pub(super) const MAX_ORIGINS: usize = 300;

/// The given origins, in canonical form.
pub(super) fn named(origins: &[String]) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for text in origins {
        let origin = http_origin(text).ok_or_else(|| {
            let shown: String = text.split(['?', '#']).next().unwrap_or_default().chars().take(200).collect();
            let problem =
                format!("{shown:?} is not an origin; give one such as https://example.com or http://localhost:8080");
            Error::BadRequest { problem }
        })?;
        if !all.contains(&origin) {
            all.push(origin);
        }
    }
    if all.len() > MAX_ORIGINS {
        return Err(Error::BadRequest {
            problem: format!("{} origins are too many; give at most {MAX_ORIGINS}", all.len()),
        });
    }
    Ok(all)
}

/// The host of an origin.
pub(super) fn host_of(origin: &str) -> &str {
    let place = origin.split_once("://").map_or(origin, |(_, place)| place);
    match place.rfind(':') {
        Some(at) if !place[at..].contains(']') => &place[..at],
        _ => place,
    }
}

/// Whether a cookie is sent to one of some origins.
pub(super) fn is_sent_to(domain: &str, origins: &[String]) -> bool {
    let fits = |origin: &String| {
        let host = host_of(origin);
        match domain.strip_prefix('.') {
            Some(parent) => host == parent || host.strip_suffix(parent).is_some_and(|below| below.ends_with('.')),
            None => host == domain,
        }
    };
    origins.iter().any(fits)
}

/// The origins that a cookie belongs to.
fn of_cookie(cookie: &network::Cookie) -> Vec<String> {
    let is_secure = cookie.secure || cookie.source_scheme == Some(network::CookieSourceScheme::Secure);
    let (scheme, usual) = if is_secure { ("https", 443) } else { ("http", 80) };
    let port = cookie.source_port.filter(|port| *port > 0 && *port != usual);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let host = cookie.domain.trim_start_matches('.');
    let is_parent = cookie.domain.starts_with('.') && !host.starts_with("www.");
    let hosts = [Some(host.to_owned()), is_parent.then(|| format!("www.{host}"))];
    hosts.into_iter().flatten().filter_map(|host| http_origin(&format!("{scheme}://{host}{port}"))).collect()
}

impl Tabs {
    /// The pages of a browser context, that of one tab first.
    pub(super) fn pages_with(&self, tab: &TargetId) -> Vec<PageView> {
        let now = self.supervisor().view();
        let context = now.page(tab.as_str()).and_then(|page| page.context.clone());
        let mut pages: Vec<PageView> = now.pages.iter().filter(|page| page.context == context).cloned().collect();
        pages.sort_by_key(|page| page.target_id != *tab);
        pages
    }

    /// The known origins: of frames and histories of tabs, and of cookies.
    pub(super) fn known_origins(
        &self,
        pages: &[PageView],
        cookies: &[network::Cookie],
        deadline: Deadline<'_>,
    ) -> Vec<String> {
        let now = self.supervisor().view();
        let mut all: Vec<String> = Vec::new();
        let mut add = |origin: Option<String>| {
            if let Some(origin) = origin.filter(|origin| !all.contains(origin)) {
                all.push(origin);
            }
        };
        for page in pages {
            now.frames_of(page.target_id.as_str()).for_each(|frame| add(http_origin(&frame.origin)));
        }
        for page in pages {
            let history = self.supervisor().history(&FrameRef::TopOf(page.target_id.clone()), deadline);
            history.into_iter().flat_map(|history| history.entries).for_each(|entry| add(http_origin(&entry.url)));
        }
        cookies.iter().flat_map(of_cookie).for_each(|origin| add(Some(origin)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_no_port() {
        assert_eq!(
            (host_of("http://[::1]:9"), host_of("https://a.b:1"), host_of("https://a.b")),
            ("[::1]", "a.b", "a.b")
        );
    }

    #[test]
    fn a_cookie_is_sent_to_its_host_and_with_a_dot_below_it() {
        let to = |domain: &str, origin: &str| is_sent_to(domain, &[origin.to_owned()]);
        assert!(
            to("a.test", "https://a.test") && to(".a.test", "https://a.test:1") && to(".a.test", "http://b.a.test")
        );
        assert!(
            !to("a.test", "https://b.a.test")
                && !to(".a.test", "https://ba.test")
                && !to(".b.a.test", "https://a.test")
        );
    }
}
