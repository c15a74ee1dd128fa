//! Interception of requests by the embedder.
//!
//! Interceptors are part of the routes: the newest route or interceptor that matches a request applies, after the
//! navigation policy. Requests are handed over in a bounded queue; the supervisor's thread never waits for an answer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::error::Error;
use super::handle::{Requester, Supervisor};
use super::network_route::{AbortReason, Encoded, Fulfilment, HeaderList, RouteAction, RouteRule, check_action};
use super::state::Request;
use crate::cdp::RecvError;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Time limit for the supervisor's thread to apply an answer.
const ANSWERING: Duration = Duration::from_secs(5);
/// Time limit for reporting the end of an interceptor.
const ENDING: Duration = Duration::from_secs(1);

/// Which requests are intercepted.
///
/// ```
/// use std::time::Duration;
/// use cdpilot::supervisor::InterceptRule;
/// let rule = InterceptRule::new("**/api/*").method("POST").timeout(Duration::from_secs(5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterceptRule {
    /// A URL glob, as in [`RouteRule::pattern`].
    pub pattern: String,
    /// The page whose requests are intercepted, including those of its frames and workers. Default: all pages.
    pub target: Option<TargetId>,
    /// The method of the request. Default: any.
    pub method: Option<String>,
    /// The type of the request, as in [`RouteRule::resource_type`]. Default: any.
    pub resource_type: Option<String>,
    /// The client whose pages are meant, see [`Supervisor::assign_page`]. Default: all pages.
    pub client: Option<Arc<str>>,
    /// Only requests that may change something: those whose method is not GET, HEAD, OPTIONS or TRACE. Default false.
    pub changing: bool,
    /// Whether a request fails that is not answered: in time, because it was dropped, or because the queue is full. Default
    /// false: it continues.
    pub fails_unanswered: bool,
    /// Maximum number of requests waiting to be received; further ones continue without interception. Default 256.
    pub capacity: usize,
    /// How long a request waits for its answer after it was intercepted; then it continues without interception.
    /// Default 30 s, at most 120 s.
    pub timeout: Duration,
}

impl InterceptRule {
    /// All requests whose URL matches the glob.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            target: None,
            method: None,
            resource_type: None,
            client: None,
            changing: false,
            fails_unanswered: false,
            capacity: 256,
            timeout: Duration::from_secs(30),
        }
    }

    /// Restricts the rule to requests of one page.
    #[must_use]
    pub fn on_page(mut self, target: TargetId) -> Self {
        self.target = Some(target);
        self
    }

    /// Restricts the rule to requests with this method.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Restricts the rule to requests of one type: `document`, `script`, `image`, `fetch`, …
    #[must_use]
    pub fn resource_type(mut self, kind: impl Into<String>) -> Self {
        self.resource_type = Some(kind.into());
        self
    }

    /// Restricts the rule to the pages of one client, see [`Supervisor::assign_page`].
    #[must_use]
    pub fn by(mut self, client: impl Into<Arc<str>>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// Restricts the rule to requests that may change something: those whose method is not GET, HEAD, OPTIONS or TRACE.
    #[must_use]
    pub fn changing(mut self) -> Self {
        self.changing = true;
        self
    }

    /// Requests that are not answered fail instead of continuing.
    #[must_use]
    pub fn fails_unanswered(mut self) -> Self {
        self.fails_unanswered = true;
        self
    }

    /// Sets the maximum number of requests waiting to be received.
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets how long a request waits for its answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// Receives the requests that match an [`InterceptRule`]. Dropping it ends the interception: waiting requests continue
/// without it.
pub struct Interceptor {
    requests: Receiver<Handed>,
    shared: Arc<Shared>,
    requester: Requester,
}

impl Interceptor {
    /// Waits for the next request until the deadline. Requests that have timed out are skipped.
    ///
    /// # Errors
    /// [`RecvError::Timeout`]; [`RecvError::Closed`] once the page of the rule is closed or the supervisor has ended.
    pub fn next(&self, deadline: Deadline<'_>) -> Result<InterceptedRequest, RecvError> {
        loop {
            match self.requests.recv_deadline(deadline.next_check()) {
                Ok(handed) if handed.until <= Instant::now() => {}
                Ok(handed) => {
                    return Ok(InterceptedRequest { handed, requester: self.requester.clone(), answered: false });
                }
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return Err(RecvError::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(RecvError::Closed),
            }
        }
    }

    /// Number of matching requests that were not handed over because the queue was full.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.shared.missed.load(Ordering::Relaxed)
    }
}

impl Drop for Interceptor {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        let end = Request::EndInterception { shared: Arc::clone(&self.shared) };
        // If the queue is full, each request continues at its deadline.
        let _ = self.requester.requests.send_timeout(end, ENDING);
    }
}

impl fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interceptor").field("waiting", &self.requests.len()).finish_non_exhaustive()
    }
}

/// A request that the browser holds until it is answered. If it is dropped unanswered, it continues without
/// interception.
pub struct InterceptedRequest {
    handed: Handed,
    requester: Requester,
    answered: bool,
}

impl InterceptedRequest {
    /// Its URL without the fragment, including any secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.handed.url
    }

    /// Its method, in capital letters.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.handed.method
    }

    /// Its type: `document`, `script`, `image`, `xhr` (`fetch()` too), …
    #[must_use]
    pub fn resource_type(&self) -> &str {
        &self.handed.resource_type
    }

    /// The page that made it.
    #[must_use]
    pub fn page(&self) -> &TargetId {
        &self.handed.page
    }

    /// The frame that made it; `None` for a worker's.
    #[must_use]
    pub fn frame(&self) -> Option<&FrameId> {
        self.handed.frame.as_ref()
    }

    /// Its headers known at this point, without cookies.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.handed.headers
    }

    /// A header by its name, case-insensitive.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.handed.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Its body, if it is text. Chromium omits long bodies and files.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.handed.body.as_deref()
    }

    /// Whether it is a CORS preflight. [`fulfil`](Self::fulfil) answers it with permission for the actual request.
    #[must_use]
    pub fn is_preflight(&self) -> bool {
        self.handed.is_preflight
    }

    /// Answers it in place of the server. Pages of other origins may read the response, unless its headers restrict
    /// that.
    ///
    /// # Errors
    /// [`Error::BadRoute`] for a status outside 200 to 599 or invalid headers: the request then continues;
    /// [`Error::RequestGone`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn fulfil(self, answer: Fulfilment) -> Result<(), Error> {
        let body = Encoded::of(&answer.body)?;
        self.answer(RouteAction::Fulfil(Arc::new(answer)), body)
    }

    /// Continues it unchanged.
    ///
    /// # Errors
    /// [`Error::RequestGone`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn continue_(self) -> Result<(), Error> {
        self.continue_with(Vec::new())
    }

    /// Continues it with these headers, which replace its own of the same names. They are not used for redirects.
    ///
    /// # Errors
    /// [`Error::BadRoute`] for invalid headers and headers that the browser sets itself: the request then continues
    /// unchanged; those of [`continue_`](Self::continue_).
    pub fn continue_with(self, headers: HeaderList) -> Result<(), Error> {
        self.answer(RouteAction::Continue { headers }, Encoded::default())
    }

    /// Fails it: the page sees a network error.
    ///
    /// # Errors
    /// Those of [`continue_`](Self::continue_).
    pub fn fail(self, reason: AbortReason) -> Result<(), Error> {
        self.answer(RouteAction::Abort(reason), Encoded::default())
    }

    fn answer(mut self, action: RouteAction, body: Encoded) -> Result<(), Error> {
        check_action(&action)?;
        let number = self.handed.number;
        let answer = Some((action, body));
        self.answered = true;
        self.requester.ask("answering a request", Deadline::after(ANSWERING), |reply| Request::Intercepted {
            number,
            answer,
            reply: Some(reply),
        })
    }
}

impl Drop for InterceptedRequest {
    fn drop(&mut self) {
        if !self.answered {
            let release = Request::Intercepted { number: self.handed.number, answer: None, reply: None };
            // If the queue is full, it continues at its deadline.
            let _ = self.requester.requests.send_timeout(release, ENDING);
        }
    }
}

impl fmt::Debug for InterceptedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Handed { method, resource_type, page, .. } = &self.handed;
        f.debug_struct("InterceptedRequest")
            .field("method", method)
            .field("resource_type", resource_type)
            .field("page", page)
            .finish_non_exhaustive()
    }
}

/// A request in the queue.
pub(super) struct Handed {
    pub(super) number: u64,
    pub(super) until: Instant,
    pub(super) url: String,
    pub(super) method: String,
    pub(super) resource_type: String,
    pub(super) page: TargetId,
    pub(super) frame: Option<FrameId>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Arc<str>>,
    pub(super) is_preflight: bool,
}

/// Shared by both ends.
#[derive(Debug, Default)]
pub(super) struct Shared {
    missed: AtomicU64,
    is_over: AtomicBool,
}

/// The supervisor's end of the queue.
#[derive(Clone)]
pub(super) struct HandOver {
    pub(super) sender: Sender<Handed>,
    pub(super) shared: Arc<Shared>,
    pub(super) timeout: Duration,
    /// Whether only requests are handed over that may change something.
    pub(super) changing: bool,
    /// Whether requests fail that are not answered.
    pub(super) fails_unanswered: bool,
}

impl HandOver {
    /// Queues a request. Returns whether there was room.
    pub(super) fn offer(&self, handed: Handed) -> bool {
        let is_taken = !self.shared.is_over.load(Ordering::Acquire) && self.sender.try_send(handed).is_ok();
        if !is_taken {
            self.shared.missed.fetch_add(1, Ordering::Relaxed);
        }
        is_taken
    }
}

impl fmt::Debug for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandOver")
    }
}

impl Supervisor {
    /// Intercepts the requests that match a rule; the caller answers each one, on a thread of its own. In effect for
    /// requests made after this call returns, until the [`Interceptor`] is dropped; also over reconnects.
    ///
    /// Of several matching interceptors and [routes](Self::add_route), only the newest applies. The navigation policy
    /// comes first, and is checked again for requests answered with [`continue_`](InterceptedRequest::continue_). A
    /// request continues without interception, which may mean an older route, if it is not answered in time, if the
    /// interceptor or the request is dropped, or if the queue is full. Requests that routes do not reach are not
    /// intercepted either; in Chromium 156 this may include the first requests of a document that is being committed:
    /// call this before a navigation, or after the page has loaded.
    ///
    /// ```no_run
    /// # use cdpilot::{browser::LaunchOptions, sync::Deadline};
    /// # use cdpilot::supervisor::{AbortReason, Fulfilment, InterceptRule, Supervisor, SupervisorOptions};
    /// # let supervisor = Supervisor::launch(&LaunchOptions::new(), SupervisorOptions::default())?;
    /// let interceptor = supervisor.intercept(InterceptRule::new("**/api/*"), Deadline::after_secs(2))?;
    /// while let Ok(request) = interceptor.next(Deadline::after_secs(10)) {
    ///     match request.method() {
    ///         "GET" => request.fulfil(Fulfilment::new(200, Vec::new(), "{}"))?,
    ///         "DELETE" => request.fail(AbortReason::AccessDenied)?,
    ///         _ => request.continue_()?,
    ///     }
    /// }
    /// # Ok::<(), cdpilot::supervisor::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadRoute`], [`Error::TooManyRoutes`], [`Error::PageNotFound`], [`Error::Timeout`],
    /// [`Error::NotActive`].
    pub fn intercept(&self, rule: InterceptRule, deadline: Deadline<'_>) -> Result<Interceptor, Error> {
        let InterceptRule {
            pattern,
            target,
            method,
            resource_type,
            client,
            changing,
            fails_unanswered,
            capacity,
            timeout,
        } = rule;
        let mut route = RouteRule::new(pattern, RouteAction::Continue { headers: Vec::new() }).delay(timeout);
        (route.target, route.method, route.resource_type, route.client) = (target, method, resource_type, client);
        if timeout.is_zero() {
            return Err(Error::BadRoute { problem: "timeout: give more than 0".to_owned() });
        }
        let (mut rule, glob) = route.checked()?;
        rule.delay = Duration::ZERO;
        let (sender, requests) = crossbeam_channel::bounded(capacity.max(1));
        let shared = Arc::new(Shared::default());
        let hand = HandOver { sender, shared: Arc::clone(&shared), timeout, changing, fails_unanswered };
        self.ask("intercepting requests", deadline, |reply| Request::Intercept { rule, glob, hand, reply })?;
        Ok(Interceptor { requests, shared, requester: self.requester() })
    }
}
