//! Network requests of pages: requests in flight, recent requests, and their bodies.
//!
//! Disabled until [`SupervisorOptions::network`](super::SupervisorOptions::network) or [`Supervisor::watch_network`]
//! enables it: Chromium sends four or five messages for each request.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::request_detail::RequestDetail;
use super::route::{Route, ScriptOf};
use super::state::{Request, SessionKey};
use crate::cdp;
use crate::cdp::protocol::network::{GetRequestPostData, GetResponseBody, RequestId};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::{Base64, Command as _};
use crate::sync::Deadline;

/// A network request in its current state. Times and URLs are as reported by Chromium.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NetworkRequest {
    /// `r1`, `r2`, …; never reused by a supervisor.
    pub id: Arc<str>,
    /// The HTTP method, such as `GET`.
    pub method: Arc<str>,
    /// Its URL without user information, truncated at 2,048 bytes; of a `data:` URL the first 64.
    pub url: Arc<str>,
    /// `document`, `script`, `fetch`, …: the protocol's
    /// [resource type](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ResourceType)
    /// in lower case.
    pub resource_type: Arc<str>,
    /// The HTTP status, if there was a response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the status is a success (200 to 299).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Why it failed: Chromium's error name, `net::ERR_…`, and what blocked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Arc<str>>,
    /// Start of the request, in Unix seconds.
    pub started_at: f64,
    /// Time until the body was complete or the request failed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Target id of the page that sent it.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The frame; `None` for requests of workers.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// Its number within the supervisor.
    #[serde(skip)]
    pub number: u64,
    /// Number of bytes received over the network, once it has ended.
    #[serde(skip)]
    pub wire_bytes: Option<u64>,
    /// Whether it was redirected: the next request continues it.
    #[serde(skip)]
    pub redirected: bool,
    #[serde(skip)]
    pub(super) session: SessionKey,
    /// Headers, timing and further details.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub(super) detail: Arc<RequestDetail>,
    /// The protocol's request id.
    #[serde(skip)]
    pub(super) raw_id: Arc<str>,
}

/// A request in flight.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loading {
    /// Its number within the supervisor; later requests have greater numbers.
    pub number: u64,
    /// Target id of the page that sent it.
    pub target_id: TargetId,
    /// The frame; `None` for requests of workers.
    pub frame_id: Option<FrameId>,
    /// As in [`NetworkRequest::resource_type`].
    pub resource_type: Arc<str>,
    /// As in [`NetworkRequest::url`].
    pub url: Arc<str>,
    /// When it was reported.
    pub since: Instant,
    /// When its response headers were reported.
    pub answered: Option<Instant>,
}

/// Requests in flight at one moment, on all pages. Excludes sockets and event streams, which stay open, and requests of
/// documents that were left.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Whether network events are enabled.
    pub watched: bool,
    /// Number of the newest request; 0 if there was none.
    pub last: u64,
    /// Requests in flight, oldest first.
    pub loading: Arc<[Arc<Loading>]>,
    /// Number of events lost in floods. Requests that were in flight at that time are excluded.
    pub lost: u64,
}

impl Traffic {
    /// Requests in flight of a page.
    pub fn of<'a>(&'a self, page: &'a TargetId) -> impl Iterator<Item = &'a Loading> {
        self.loading.iter().map(|loading| &**loading).filter(move |loading| loading.target_id == *page)
    }

    /// Requests in flight of a page that began after the request numbered `last`, see [`Traffic::last`](Self::last).
    pub fn since<'a>(&'a self, page: &'a TargetId, last: u64) -> impl Iterator<Item = &'a Loading> {
        self.of(page).filter(move |loading| loading.number > last)
    }
}

/// Scheme of the URL of Chromium's error pages.
const ERROR_PAGE: &str = "chrome-error:";

/// A document that failed to load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FailedDocument {
    /// The URL that did not load.
    pub url: Arc<str>,
    /// Chromium's error name, `net::ERR_…`; omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Arc<str>>,
}

/// The body of a response or request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Body {
    /// The content, decoded from the protocol's Base64.
    pub bytes: Vec<u8>,
    /// Whether Chromium treats it as text.
    pub is_text: bool,
}

impl Supervisor {
    /// Starts or stops recording the network requests of all pages of the task, see
    /// [`SupervisorOptions::network`](super::SupervisorOptions::network). Requests in flight at that moment are not
    /// recorded.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn watch_network(&self, on: bool, deadline: Deadline<'_>) -> Result<(), Error> {
        self.ask("enabling network events", deadline, |reply| Request::Network { on, reply })
    }

    /// The current requests in flight. Does not wait.
    #[must_use]
    pub fn traffic(&self) -> Arc<Traffic> {
        self.traffic.get()
    }

    /// Requests in flight, including everything that the browser sent before this call.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn traffic_now(&self, deadline: Deadline<'_>) -> Result<Arc<Traffic>, Error> {
        self.caught_up(deadline)?;
        Ok(self.traffic.get())
    }

    /// Waits until `accept` holds for the requests in flight, checking the current ones first. `None` at the deadline.
    pub fn wait_traffic(&self, deadline: Deadline<'_>, accept: impl FnMut(&Traffic) -> bool) -> Option<Arc<Traffic>> {
        self.traffic.wait_until(deadline, accept)
    }

    /// The last requests of a page, oldest first: at most 500 and 3 MiB.
    #[must_use]
    pub fn network_requests(&self, page: &TargetId) -> Vec<Arc<NetworkRequest>> {
        self.request_ring.of(page)
    }

    /// The HTTP status of the newest document of a frame whose request came after the one numbered `since`.
    #[must_use]
    pub fn document_status(&self, page: &TargetId, frame: &FrameId, since: u64) -> Option<u16> {
        let requests = self.network_requests(page);
        let document = requests.iter().rev().find(|request| {
            request.number > since
                && &*request.resource_type == "document"
                && request.frame_id.as_ref() == Some(frame)
                && !request.redirected
        });
        document.and_then(|request| request.status)
    }

    /// The document that a page failed to load, if it shows Chromium's error page instead. The URL is that of the
    /// request, else the one that Chromium shows.
    #[must_use]
    pub fn failed_document(&self, page: &TargetId) -> Option<FailedDocument> {
        let now = self.view();
        let shown = now.page(page.as_str())?;
        let top = shown.top_frame.as_ref()?;
        let is_failure = |url: &str| url.starts_with(ERROR_PAGE);
        if !is_failure(now.frame(top.as_str()).map_or(&*shown.url, |frame| &*frame.url)) {
            return None;
        }
        let requests = self.network_requests(page);
        let failed = requests.iter().rev().find(|request| {
            &*request.resource_type == "document" && request.frame_id.as_ref() == Some(top) && request.failure.is_some()
        });
        let url = failed.map_or_else(|| Arc::clone(&shown.url), |request| Arc::clone(&request.url));
        Some(FailedDocument { url, error: failed.and_then(|request| request.failure.clone()) })
    }

    /// Removes the recorded requests of a page up to a number. Requests in flight stay in [`traffic`](Self::traffic).
    pub fn forget_requests(&self, page: &TargetId, upto: u64) {
        self.request_ring.clear(page, upto);
    }

    /// A recorded request of a page by its number; `None` if it is no longer kept.
    #[must_use]
    pub fn network_request(&self, page: &TargetId, number: u64) -> Option<Arc<NetworkRequest>> {
        self.request_ring.get(page, number)
    }

    /// The body of a response. Chromium keeps bodies of current documents only, and limits them to 5 MB each and 20 MB
    /// per process. Redirects have none.
    ///
    /// # Errors
    /// [`Error::Cdp`] when it is not available, and those of [`evaluate`](Self::evaluate).
    pub fn response_body(&self, request: &NetworkRequest, deadline: Deadline<'_>) -> Result<Body, Error> {
        let get = GetResponseBody::new(RequestId::from(&*request.raw_id));
        let returned = self.run(&self.route_of(request, deadline)?, &get, deadline)?.result;
        body_of(GetResponseBody::METHOD, returned.body, returned.base64_encoded)
    }

    /// The body of a request; available while the document that sent it exists.
    ///
    /// # Errors
    /// Those of [`response_body`](Self::response_body).
    pub fn post_data(&self, request: &NetworkRequest, deadline: Deadline<'_>) -> Result<Body, Error> {
        let get = GetRequestPostData::new(RequestId::from(&*request.raw_id));
        let returned = self.run(&self.route_of(request, deadline)?, &get, deadline)?.result;
        body_of(GetRequestPostData::METHOD, returned.post_data, returned.base64_encoded)
    }

    /// The session that reported a request.
    fn route_of(&self, request: &NetworkRequest, deadline: Deadline<'_>) -> Result<Route, Error> {
        self.connected(deadline)?;
        let session = Arc::clone(&request.session);
        let target = request.target_id.clone();
        Ok(Route {
            connection: self.connection(),
            target,
            session,
            frame: None,
            context: None,
            script: ScriptOf::default(),
        })
    }
}

fn body_of(method: &'static str, text: String, is_base64: bool) -> Result<Body, Error> {
    if !is_base64 {
        return Ok(Body { bytes: text.into_bytes(), is_text: true });
    }
    let problem = |error: &dyn std::fmt::Display| {
        let problem = error.to_string();
        cdp::Error::Decode { method: method.into(), path: "body".to_owned(), problem }
    };
    let bytes = Base64::from_wire(text).decode().map_err(|error| problem(&error))?;
    Ok(Body { bytes, is_text: false })
}

impl NetworkRequest {
    /// Headers, timing and further details.
    #[must_use]
    pub fn detail(&self) -> &RequestDetail {
        &self.detail
    }
}
