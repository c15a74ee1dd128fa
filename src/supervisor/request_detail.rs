//! Details of a network request: headers, timing, cache.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::network_route::HeaderList;
use super::state::Head;

/// Maximum size of the headers of a request or response, in bytes. Longer ones are not kept.
const HEADERS: usize = 16 * 1024;
/// Maximum length of a short text, such as a media type, in bytes.
const SHORT: usize = 256;

/// Headers as the browser reports them. `Debug` does not show them.
#[derive(Clone, Default, PartialEq)]
pub struct RawHeaders(Option<Arc<str>>);

impl RawHeaders {
    pub(super) fn of(raw: Option<&RawValue>) -> Self {
        Self(raw.map(RawValue::get).filter(|text| text.len() <= HEADERS).map(Into::into))
    }

    /// Whether the headers are known.
    #[must_use]
    pub fn are_known(&self) -> bool {
        self.0.is_some()
    }

    /// Names and values, secrets included. A repeated name occurs several times.
    #[must_use]
    pub fn list(&self) -> HeaderList {
        let Some(Ok(Value::Object(map))) = self.0.as_deref().map(serde_json::from_str) else { return Vec::new() };
        let lines = map.into_iter().flat_map(|(name, value)| {
            let value = value.as_str().unwrap_or_default().to_owned();
            value.split('\n').map(|line| (name.clone(), line.to_owned())).collect::<Vec<_>>()
        });
        lines.collect()
    }

    fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |text| text.len())
    }
}

impl fmt::Debug for RawHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawHeaders({} bytes)", self.bytes())
    }
}

/// Timing of a request: the first value in seconds of the browser's clock, the others in milliseconds after it, -1 for
/// phases that did not occur. <https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ResourceTiming>
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // named by the protocol
#[non_exhaustive]
pub struct RawTiming {
    pub request_time: f64,
    pub dns_start: f64,
    pub dns_end: f64,
    pub connect_start: f64,
    pub connect_end: f64,
    pub ssl_start: f64,
    pub ssl_end: f64,
    pub send_start: f64,
    pub send_end: f64,
    pub receive_headers_end: f64,
}

/// Details of a network request.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestDetail {
    /// Request headers: those sent over the network if the browser reported them, else those set by the page.
    pub request_headers: RawHeaders,
    /// Headers of the response.
    pub response_headers: RawHeaders,
    /// The reason phrase of the status.
    pub status_text: Option<Arc<str>>,
    /// The protocol: `http/1.1`, `h2`, …
    pub protocol: Option<Arc<str>>,
    /// The media type of the body.
    pub mime_type: Option<Arc<str>>,
    /// The address of the server.
    pub remote_address: Option<Arc<str>>,
    /// Whether it was answered from a cache.
    pub from_cache: bool,
    /// Whether a service worker answered it.
    pub from_service_worker: bool,
    /// Whether it was sent with a body.
    pub has_post_data: bool,
    /// Timing of the phases of the request.
    pub timing: Option<RawTiming>,
    /// Start of the request, in seconds of the browser's monotonic clock.
    pub began: Option<f64>,
}

impl RequestDetail {
    /// Memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.request_headers.bytes() + self.response_headers.bytes()
    }

    pub(super) fn answered(&mut self, head: &Head<'_>) {
        let short = |text: Option<&str>| text.filter(|text| !text.is_empty() && text.len() <= SHORT).map(Into::into);
        if !self.response_headers.are_known() {
            self.response_headers = RawHeaders::of(head.headers);
        }
        self.status_text = short(head.status_text.as_deref());
        self.protocol = short(head.protocol.as_deref());
        self.mime_type = short(head.mime_type.as_deref());
        self.remote_address = short(head.remote_ip_address.as_deref());
        self.from_cache |= head.from_disk_cache;
        self.from_service_worker = head.from_service_worker;
        self.timing = head.timing;
    }
}
