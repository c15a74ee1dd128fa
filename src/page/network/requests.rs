//! The list of network requests, and response bodies.

use std::sync::Arc;

use base64::Engine as _;
use serde::Serialize;

use crate::cdp;
use crate::page::{Error, Tab};
use crate::supervisor::{self, Body, NetworkRequest};
use crate::sync::Deadline;

/// Default maximum size of a body, in bytes.
const BODY: usize = 1024 * 1024;

/// The body of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResponseBody {
    /// The text, or the bytes in Base64.
    pub body: String,
    /// Whether `body` is Base64.
    pub base64: bool,
    /// The length of the whole body, in bytes.
    pub bytes: usize,
    /// Whether `body` was cut.
    pub truncated: bool,
}

impl Tab {
    /// The last requests of the tab and its workers, oldest first, one for each leg of a redirect. At most 500, and 3
    /// MiB of URLs and headers. Empty unless the network is [watched](super::super::PageOptions::network).
    ///
    /// `filter` is a part of the URL, or a pattern for the whole URL if it contains `*`. `clear` forgets all requests
    /// up to now, reported or not.
    #[must_use]
    pub fn requests(&self, filter: Option<&str>, clear: bool) -> Vec<Arc<NetworkRequest>> {
        let mut all = self.supervisor.network_requests(&self.target);
        if clear && let Some(newest) = all.last() {
            self.supervisor.forget_requests(&self.target, newest.number);
        }
        if let Some(filter) = filter.filter(|filter| !filter.is_empty()) {
            all.retain(|request| fits(filter, &request.url));
        }
        all
    }

    /// The body of a response, by the id of its request. `max_bytes` defaults to 1 MiB.
    ///
    /// # Errors
    /// [`Error::NoRequest`] when the tab has no request with that id; [`Error::NoBody`] when there is no body or
    /// Chromium no longer keeps it (it does for the present documents only); [`Error::Supervisor`].
    pub fn response_body(
        &self,
        id: &str,
        max_bytes: Option<usize>,
        deadline: Deadline<'_>,
    ) -> Result<ResponseBody, Error> {
        let request = self.known_request(id)?;
        Ok(limited(self.body_of(&request, deadline)?, max_bytes))
    }

    /// A recent request, by its id.
    pub(super) fn known_request(&self, id: &str) -> Result<Arc<NetworkRequest>, Error> {
        let number = id.strip_prefix('r').and_then(|digits| digits.parse().ok());
        let known = number.and_then(|number| self.supervisor.network_request(&self.target, number));
        known.ok_or_else(|| Error::NoRequest { id: id.chars().take(40).collect() })
    }

    /// The body of a response.
    pub(super) fn body_of(&self, request: &NetworkRequest, deadline: Deadline<'_>) -> Result<Body, Error> {
        let gone = |why: &str| Error::NoBody { id: request.id.to_string(), why: why.to_owned() };
        if request.redirected {
            return Err(gone("the request was redirected; see the next request"));
        }
        if request.failure.is_some() {
            return Err(gone("the request failed"));
        }
        if request.duration_ms.is_none() {
            return Err(gone("the response is still loading, or endless"));
        }
        self.supervisor.response_body(request, deadline).map_err(|error| match &error {
            supervisor::Error::Cdp(cdp::Error::Protocol { message, .. }) => gone(message),
            supervisor::Error::Cdp(cdp::Error::SessionGone { .. }) => gone("its frame or worker no longer exists"),
            _ => error.into(),
        })
    }
}

/// A body up to a maximum size. Default 1 MiB.
pub(super) fn limited(body: Body, max_bytes: Option<usize>) -> ResponseBody {
    let limit = max_bytes.unwrap_or(BODY);
    let bytes = body.bytes.len();
    let mut kept = body.bytes;
    kept.truncate(limit);
    if body.is_text {
        // A character that is cut is left out.
        let text = String::from_utf8(kept).unwrap_or_else(|error| {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).unwrap_or_default()
        });
        return ResponseBody { body: text, base64: false, bytes, truncated: bytes > limit };
    }
    let body = base64::engine::general_purpose::STANDARD.encode(&kept);
    ResponseBody { body, base64: true, bytes, truncated: bytes > limit }
}

/// Whether a URL contains a text, or matches a pattern with `*`.
fn fits(filter: &str, url: &str) -> bool {
    if !filter.contains('*') {
        return url.contains(filter);
    }
    let mut parts = filter.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = url.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_filter_is_a_part_or_a_pattern_of_the_whole() {
        for (filter, url, holds) in [
            ("api", "https://a.test/api/x", true),
            ("API", "https://a.test/api/x", false),
            ("?q=1", "https://a.test/?q=1", true),
            ("*/api/*", "https://a.test/api/x", true),
            ("/api/*", "https://a.test/api/x", false),
            ("https://*.test/*x", "https://a.test/api/x", true),
            ("https://*.test/*y", "https://a.test/api/x", false),
            ("*", "https://a.test/", true),
            ("**", "", true),
            ("https://a.test/*/x", "https://a.test/x", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits(filter, url), holds, "{filter} {url}");
        }
    }
}
