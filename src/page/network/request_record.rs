//! One network request in detail: headers, timing, bodies.

use serde::Serialize;

use super::requests::{ResponseBody, limited};
use crate::cdp;
use crate::page::{Download, Error, Tab};
use crate::redact::{Secrets, cover_header};
use crate::setters;
use crate::supervisor::{self, Body, Header, NetworkRequest, RawHeaders};
use crate::sync::Deadline;

/// Chromium's failure of a navigation without a document.
const ABORTED: &str = "net::ERR_ABORTED";

/// What to report of a request.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RecordOptions {
    /// Report headers and timing.
    pub headers: bool,
    /// Report the body of the response.
    pub body: bool,
    /// Maximum size of each body, in bytes. Default 1 MiB.
    pub max_bytes: Option<usize>,
    /// Secrets to cover in headers, URLs and bodies, besides texts that look like one. Default `None`: nothing is
    /// covered.
    pub redact: Option<Secrets>,
}

setters!(RecordOptions: headers(bool), body(bool), max_bytes(some usize), redact(some Secrets));

impl RecordOptions {
    /// Neither headers nor bodies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The timing of a request, in milliseconds. Phases that did not happen are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestTiming {
    /// Waiting in the browser until a connection was available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<f64>,
    /// Resolving the host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<f64>,
    /// Making the connection, the TLS handshake included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<f64>,
    /// The TLS handshake, a part of `connect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<f64>,
    /// Sending the request to the server.
    pub send: f64,
    /// Waiting for the response.
    pub wait: f64,
    /// Receiving the body of the response.
    pub receive: f64,
}

/// A network request in detail.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestRecord {
    /// The fields of the request list.
    #[serde(flatten)]
    pub request: NetworkRequest,
    /// Headers of the request. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_headers: Option<Vec<Header>>,
    /// Headers of the response. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_headers: Option<Vec<Header>>,
    /// The media type of the response. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The protocol, such as `http/1.1` or `h2`. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The IP address of the server. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_address: Option<String>,
    /// Whether the response was downloaded, which ends the navigation that requested it. `failure` is absent then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub download: bool,
    /// Whether the response came from a cache.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
    /// Whether a service worker answered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_service_worker: bool,
    /// Bytes received, headers included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_bytes: Option<u64>,
    /// The timing. Only with `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<RequestTiming>,
    /// The body of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_data: Option<ResponseBody>,
    /// The body of the response. Only with `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<ResponseBody>,
    /// Why there is no body. Only with `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_body: Option<String>,
}

/// The headers with secrets covered; `None` if they are unknown.
fn headers(raw: &RawHeaders, redact: Option<&Secrets>) -> Option<Vec<Header>> {
    let header = |(name, value): (String, String)| match redact {
        Some(secrets) => Header { value: cover_header(secrets, &name, &value).into_owned(), name },
        None => Header { name, value },
    };
    raw.are_known().then(|| raw.list().into_iter().map(header).collect())
}

/// The timing of a request, as far as it is known.
fn timing(request: &NetworkRequest) -> Option<RequestTiming> {
    let detail = request.detail();
    let (raw, began) = (detail.timing?, detail.began?);
    let round = |millis: f64| (millis.max(0.0) * 1e3).round() / 1e3;
    let between = |from: f64, to: f64| (from >= 0.0 && to >= from).then(|| round(to - from));
    let first = [raw.dns_start, raw.connect_start, raw.send_start].into_iter().find(|at| *at >= 0.0).unwrap_or(0.0);
    let queued = (raw.request_time - began) * 1e3;
    let whole = request.duration_ms.unwrap_or(0.0);
    Some(RequestTiming {
        blocked: Some(round(queued + first)),
        dns: between(raw.dns_start, raw.dns_end),
        connect: between(raw.connect_start, raw.connect_end),
        tls: between(raw.ssl_start, raw.ssl_end),
        send: round(raw.send_end - raw.send_start),
        wait: round(raw.receive_headers_end - raw.send_end),
        receive: round(whole - queued - raw.receive_headers_end),
    })
}

impl RequestRecord {
    pub(super) fn of(request: &NetworkRequest, options: &RecordOptions) -> Self {
        let (detail, redact) = (request.detail(), options.redact.as_ref());
        let mut shown = request.clone();
        if let Some(secrets) = redact {
            shown.url = secrets.cover(&shown.url).as_ref().into();
        }
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().filter(|_| options.headers).map(str::to_owned);
        Self {
            request_headers: headers(&detail.request_headers, redact).filter(|_| options.headers),
            response_headers: headers(&detail.response_headers, redact).filter(|_| options.headers),
            mime_type: text(&detail.mime_type),
            protocol: text(&detail.protocol),
            remote_address: text(&detail.remote_address),
            download: false,
            from_cache: detail.from_cache,
            from_service_worker: detail.from_service_worker,
            wire_bytes: request.wire_bytes,
            timing: timing(request).filter(|_| options.headers),
            post_data: None,
            body: None,
            no_body: None,
            request: shown,
        }
    }

    /// Chromium reports a downloaded document as a cancelled navigation.
    fn or_download(mut self, request: &NetworkRequest, downloads: &[Download]) -> Self {
        let was_aborted = &*request.resource_type == "document" && request.failure.as_deref() == Some(ABORTED);
        let is_success = request.status.is_some_and(|status| (200..300).contains(&status));
        if was_aborted && is_success && downloads.iter().any(|download| download.url == request.url) {
            self.download = true;
            self.request.failure = None;
        }
        self
    }
}

impl Tab {
    /// The last requests of the tab in detail, without bodies. `filter` and `clear` as in [`requests`](Self::requests).
    #[must_use]
    pub fn request_records(&self, filter: Option<&str>, clear: bool, options: &RecordOptions) -> Vec<RequestRecord> {
        let downloads = self.downloads();
        let requests = self.requests(filter, clear);
        requests.iter().map(|request| RequestRecord::of(request, options).or_download(request, &downloads)).collect()
    }

    /// One request in detail, with the body that was sent. A body that is not available is left out.
    ///
    /// # Errors
    /// [`Error::NoRequest`]; [`Error::Supervisor`] when the page does not answer.
    pub fn request_record(
        &self,
        id: &str,
        options: &RecordOptions,
        deadline: Deadline<'_>,
    ) -> Result<RequestRecord, Error> {
        let request = self.known_request(id)?;
        let mut record = RequestRecord::of(&request, options).or_download(&request, &self.downloads());
        record.post_data = self.post_data_of(&request, options, deadline)?;
        if options.body {
            match self.body_of(&request, deadline) {
                Ok(body) => record.body = Some(shown(body, options)),
                Err(Error::NoBody { why, .. }) => record.no_body = Some(why),
                Err(error) => return Err(error),
            }
        }
        Ok(record)
    }

    /// The body that a request sent; `None` when there is none or it is no longer available.
    pub(super) fn post_data_of(
        &self,
        request: &NetworkRequest,
        options: &RecordOptions,
        deadline: Deadline<'_>,
    ) -> Result<Option<ResponseBody>, Error> {
        if !request.detail().has_post_data {
            return Ok(None);
        }
        match self.supervisor.post_data(request, deadline) {
            Ok(body) => Ok(Some(shown(body, options))),
            Err(supervisor::Error::Cdp(cdp::Error::Protocol { .. } | cdp::Error::SessionGone { .. })) => Ok(None),
            Err(error) if error.is_blocked_by_dialog() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A body as reported.
pub(super) fn shown(body: Body, options: &RecordOptions) -> ResponseBody {
    let Some(secrets) = options.redact.as_ref().filter(|_| body.is_text) else {
        return limited(body, options.max_bytes);
    };
    // Covered before it is cut: a secret at the end is recognised as a whole.
    let bytes = body.bytes.len();
    let text = String::from_utf8_lossy(&body.bytes).into_owned();
    let covered = secrets.cover(&text).into_owned().into_bytes();
    ResponseBody { bytes, ..limited(Body { bytes: covered, is_text: true }, options.max_bytes) }
}
