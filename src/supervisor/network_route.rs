//! Routes: modify, answer or abort requests of pages whose URL matches a pattern.
//!
//! The navigation policy comes first: a blocked request reaches no route.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::Error;
use super::handle::Supervisor;
use super::state::Request;
use super::url_glob::UrlGlob;
use crate::cdp::protocol::fetch::HeaderEntry;
use crate::cdp::protocol::network::ErrorReason;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::{Base64, Command, Empty};
use crate::sync::Deadline;

/// Maximum delay of a request.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(120);
/// Resource types, as in [`NetworkRequest::resource_type`](super::NetworkRequest::resource_type).
const TYPES: [&str; 15] = [
    "document",
    "stylesheet",
    "image",
    "media",
    "font",
    "script",
    "texttrack",
    "xhr",
    "fetch",
    "eventsource",
    "manifest",
    "ping",
    "cspviolationreport",
    "prefetch",
    "other",
];
/// Headers that the browser sets itself.
const OF_THE_CONNECTION: [&str; 9] =
    ["host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "cookie2"];

/// Names and values of headers; a name may occur more than once.
pub type HeaderList = Vec<(String, String)>;

/// A rule for requests: which ones, and what to do with them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RouteRule {
    /// A URL glob: `*` matches anything but `/`, `**` matches anything, all other characters themselves. A pattern that
    /// contains `://` or begins with `**` matches the whole URL without its fragment (`**/api/*.json`); one that begins
    /// with `/` matches path and query on any host; any other matches host, path and query (`*.example.com/api/**`).
    pub pattern: String,
    /// The page whose requests match, including those of its frames and workers. Default: all pages.
    pub target: Option<TargetId>,
    /// The method of the request. Default: any.
    pub method: Option<String>,
    /// The type of the request, in lower case. `fetch` and `xhr` are one type. Default: any.
    pub resource_type: Option<String>,
    /// What to do with the request.
    pub action: RouteAction,
    /// How long the request is held before that, at most 120 s.
    pub delay: Duration,
    /// Number of requests to apply to; the route is then removed. Default: no limit.
    pub times: Option<u32>,
    /// The client whose pages are meant, see [`Supervisor::assign_page`]. Default: the pages of all clients.
    pub client: Option<Arc<str>>,
}

impl RouteRule {
    /// A rule for all requests whose URL matches the pattern.
    #[must_use]
    pub fn new(pattern: impl Into<String>, action: RouteAction) -> Self {
        Self {
            pattern: pattern.into(),
            target: None,
            method: None,
            resource_type: None,
            action,
            delay: Duration::ZERO,
            times: None,
            client: None,
        }
    }

    /// Restricts the rule to the pages of one client, see [`Supervisor::assign_page`].
    #[must_use]
    pub fn by(mut self, client: Option<Arc<str>>) -> Self {
        self.client = client;
        self
    }

    /// Restricts the rule to requests of one page.
    #[must_use]
    pub fn on_page(mut self, target: TargetId) -> Self {
        self.target = Some(target);
        self
    }

    /// Restricts the rule to requests with this HTTP method.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Restricts the rule to requests of this resource type.
    #[must_use]
    pub fn resource_type(mut self, kind: impl Into<String>) -> Self {
        self.resource_type = Some(kind.into());
        self
    }

    /// Delays matching requests, at most 120 s.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Number of requests to apply to (default: no limit).
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Validates the rule and parses its pattern.
    pub(super) fn checked(mut self) -> Result<(Self, UrlGlob), Error> {
        let bad = |problem: String| Error::BadRoute { problem };
        let glob = UrlGlob::parse(&self.pattern).map_err(|problem| bad(format!("pattern: {problem}")))?;
        if self.times == Some(0) {
            return Err(bad("times: expected 1 or more, got 0".to_owned()));
        }
        if self.delay > LONGEST_DELAY {
            return Err(bad(format!("delayMs: exceeds the maximum of {} ms", LONGEST_DELAY.as_millis())));
        }
        if let Some(method) = &mut self.method {
            if !is_token(method) {
                return Err(bad(format!("method: {:?} is not an HTTP method such as GET", cut(method))));
            }
            method.make_ascii_uppercase();
        }
        if let Some(kind) = &mut self.resource_type {
            kind.make_ascii_lowercase();
            if !TYPES.contains(&kind.as_str()) {
                return Err(bad(format!("resourceType: {:?} is unknown; one of {}", cut(kind), TYPES.join(", "))));
            }
        }
        check_action(&self.action)?;
        if matches!(&self.action, RouteAction::Continue { headers } if headers.is_empty()) && self.delay.is_zero() {
            let problem = "the route has no effect: give abort, fulfil, status, requestHeaders or delayMs";
            return Err(bad(problem.to_owned()));
        }
        Ok((self, glob))
    }
}

/// Checks status and headers.
pub(super) fn check_action(action: &RouteAction) -> Result<(), Error> {
    let bad = |problem: String| Err(Error::BadRoute { problem });
    match action {
        RouteAction::Abort(_) => Ok(()),
        RouteAction::Fulfil(answer) if !(200..=599).contains(&answer.status) => {
            bad(format!("status: {} is not an HTTP status from 200 to 599", answer.status))
        }
        RouteAction::Fulfil(answer) => check_headers("headers", &answer.headers),
        RouteAction::Continue { headers } => {
            check_headers("requestHeaders", headers)?;
            let is_fixed = |name: &str| OF_THE_CONNECTION.iter().any(|own| own.eq_ignore_ascii_case(name));
            match headers.iter().find(|(name, _)| is_fixed(name)) {
                Some((name, _)) => bad(format!("requestHeaders: {name} is set by the browser; omit it")),
                None => Ok(()),
            }
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

fn is_token(name: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.len() <= 256 && name.chars().all(token)
}

fn check_headers(field: &str, headers: &HeaderList) -> Result<(), Error> {
    for (name, value) in headers {
        if !is_token(name) {
            return Err(Error::BadRoute { problem: format!("{field}: {:?} is not a valid header name", cut(name)) });
        }
        if value.chars().any(|c| c.is_control() && c != '\t') || value.len() > 8192 {
            let problem =
                format!("{field}: the value of {} contains a control character or exceeds 8192 bytes", cut(name));
            return Err(Error::BadRoute { problem });
        }
    }
    Ok(())
}

/// What to do with a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RouteAction {
    /// It fails as if the network did: the page sees a network error.
    Abort(AbortReason),
    /// It is answered with this, and not sent.
    Fulfil(Arc<Fulfilment>),
    /// It is sent, with these headers in place of its own of the same names. They do not follow a redirect.
    Continue {
        /// Names and values of the headers to send.
        headers: HeaderList,
    },
}

/// The network error of an aborted request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AbortReason {
    /// `net::ERR_FAILED`.
    #[default]
    Failed,
    /// `net::ERR_ABORTED`.
    Aborted,
    /// `net::ERR_TIMED_OUT`.
    TimedOut,
    /// `net::ERR_ACCESS_DENIED`.
    AccessDenied,
    /// `net::ERR_CONNECTION_CLOSED`.
    ConnectionClosed,
    /// `net::ERR_CONNECTION_RESET`.
    ConnectionReset,
    /// `net::ERR_CONNECTION_REFUSED`.
    ConnectionRefused,
    /// `net::ERR_CONNECTION_ABORTED`.
    ConnectionAborted,
    /// `net::ERR_CONNECTION_FAILED`.
    ConnectionFailed,
    /// `net::ERR_NAME_NOT_RESOLVED`.
    NameNotResolved,
    /// `net::ERR_INTERNET_DISCONNECTED`.
    InternetDisconnected,
    /// `net::ERR_ADDRESS_UNREACHABLE`.
    AddressUnreachable,
    /// `net::ERR_BLOCKED_BY_CLIENT`.
    BlockedByClient,
    /// `net::ERR_BLOCKED_BY_RESPONSE`.
    BlockedByResponse,
}

impl AbortReason {
    pub(super) fn wire(self) -> ErrorReason {
        match self {
            Self::Failed => ErrorReason::Failed,
            Self::Aborted => ErrorReason::Aborted,
            Self::TimedOut => ErrorReason::TimedOut,
            Self::AccessDenied => ErrorReason::AccessDenied,
            Self::ConnectionClosed => ErrorReason::ConnectionClosed,
            Self::ConnectionReset => ErrorReason::ConnectionReset,
            Self::ConnectionRefused => ErrorReason::ConnectionRefused,
            Self::ConnectionAborted => ErrorReason::ConnectionAborted,
            Self::ConnectionFailed => ErrorReason::ConnectionFailed,
            Self::NameNotResolved => ErrorReason::NameNotResolved,
            Self::InternetDisconnected => ErrorReason::InternetDisconnected,
            Self::AddressUnreachable => ErrorReason::AddressUnreachable,
            Self::BlockedByClient => ErrorReason::BlockedByClient,
            Self::BlockedByResponse => ErrorReason::BlockedByResponse,
        }
    }
}

/// A response in place of the server's. `Debug` shows neither headers nor body. For cross-origin requests, CORS headers
/// that allow reading it are added, unless it has some.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fulfilment {
    /// The status, 200 to 599.
    pub status: u16,
    /// Names and values of the response headers. A name may occur more than once.
    pub headers: HeaderList,
    /// The response body, in bytes.
    pub body: Vec<u8>,
}

impl Fulfilment {
    /// A response with this status (200 to 599), these headers and this body.
    #[must_use]
    pub fn new(status: u16, headers: HeaderList, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers, body: body.into() }
    }
}

/// A Base64-encoded body as JSON string, encoded once for all requests.
#[derive(Clone)]
pub(super) struct Encoded(Arc<RawValue>);

impl Encoded {
    /// # Errors
    /// Does not fail for Base64; the message is that of the JSON serializer.
    pub(super) fn of(body: &[u8]) -> Result<Self, Error> {
        let raw = serde_json::value::to_raw_value(&Base64::encode(body));
        raw.map(|raw| Self(raw.into())).map_err(|problem| Error::BadRoute { problem: format!("body: {problem}") })
    }

    /// Length of the encoded body.
    pub(super) fn len(&self) -> usize {
        self.0.get().len()
    }
}

impl PartialEq for Encoded {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Default for Encoded {
    fn default() -> Self {
        Self(RawValue::from_string("\"\"".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned()).into())
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Encoded").field(&self.len()).finish()
    }
}

/// `Fetch.fulfillRequest` with an encoded body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FulfilRequest {
    request_id: Arc<str>,
    response_code: u16,
    response_headers: Vec<HeaderEntry>,
    body: Arc<RawValue>,
    /// Chromium rejects a status without a standard phrase, so one is always sent.
    response_phrase: &'static str,
}

impl FulfilRequest {
    pub(super) fn new(request_id: Arc<str>, status: u16, headers: Vec<HeaderEntry>, body: Encoded) -> Self {
        let phrase = ::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let response_phrase = phrase.unwrap_or("Unknown");
        Self { request_id, response_code: status, response_headers: headers, body: body.0, response_phrase }
    }
}

impl Command for FulfilRequest {
    const METHOD: &'static str = "Fetch.fulfillRequest";
    type Returns = Empty;
}

impl fmt::Debug for Fulfilment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, bytes) = (self.status, self.body.len());
        f.debug_struct("Fulfilment").field("status", &status).field("bytes", &bytes).finish_non_exhaustive()
    }
}

/// A header in a list of routes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Header {
    /// Name of the header, as sent; names are case-insensitive.
    pub name: String,
    /// The value; secrets are replaced by `[secret]`.
    pub value: String,
}

impl Header {
    /// A header field; neither name nor value is checked before it is used.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// The response of a route in a list of routes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RouteAnswer {
    /// The HTTP status, 200 to 599.
    pub status: u16,
    /// The response headers, in order.
    pub headers: Vec<Header>,
    /// Length of the body in bytes.
    pub body_bytes: usize,
}

/// A route in a list of routes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NetworkRoute {
    /// `route1`, `route2`, …; never used twice by a browser.
    pub id: String,
    /// The pattern that request URLs are compared with.
    pub pattern: String,
    /// The tab whose requests match; all tabs if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// The method that requests must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The type that requests must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// The error of aborted requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abort: Option<AbortReason>,
    /// The response to matching requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fulfil: Option<RouteAnswer>,
    /// Request headers that are set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub request_headers: Vec<Header>,
    /// How long requests are delayed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Number of further requests that it applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Number of requests that matched so far.
    pub hits: u64,
    /// The client whose pages are meant.
    #[serde(skip)]
    pub client: Option<Arc<str>>,
}

impl Supervisor {
    /// Adds a route. Of several that match a request, only the newest applies. In effect for requests made after this
    /// call returns, until it is removed, its page is closed or the supervisor ends; also over reconnects.
    ///
    /// Requests of a shared worker are routed only with a navigation policy, and only if the browser paused the worker
    /// at its start, which Chromium 156 does not always do. WebSockets and responses of service workers from their
    /// cache are never routed.
    ///
    /// # Errors
    /// [`Error::BadRoute`], [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn add_route(&self, rule: RouteRule, deadline: Deadline<'_>) -> Result<NetworkRoute, Error> {
        let (rule, glob) = rule.checked()?;
        let body = match &rule.action {
            RouteAction::Fulfil(answer) => Encoded::of(&answer.body)?,
            _ => Encoded::default(),
        };
        self.ask("adding a route", deadline, |reply| Request::AddRoute { rule, glob, body, reply })
    }

    /// Assigns a page to a client of the embedder; popups of the page are assigned to the same client. Routes may be
    /// restricted to the pages of a client ([`RouteRule::client`]). Does nothing if the page is gone.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn assign_page(&self, page: &TargetId, client: Option<Arc<str>>, deadline: Deadline<'_>) -> Result<(), Error> {
        let page = page.clone();
        self.ask("assigning a page", deadline, |reply| Request::AssignPage { page, client, reply })
    }

    /// The routes, oldest first.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn routes(&self, deadline: Deadline<'_>) -> Result<Vec<NetworkRoute>, Error> {
        self.ask("listing routes", deadline, |reply| Request::Routes { reply })
    }

    /// Removes a route, or all. Requests that they delay continue unchanged. Returns the removed routes.
    ///
    /// # Errors
    /// [`Error::RouteNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn remove_routes(&self, id: Option<&str>, deadline: Deadline<'_>) -> Result<Vec<NetworkRoute>, Error> {
        let id = id.map(str::to_owned);
        self.ask("removing routes", deadline, |reply| Request::RemoveRoutes { id, reply })
    }
}
