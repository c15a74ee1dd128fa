//! Requests of pages that the embedder decides about, one by one.
//!
//! An interceptor stands among the routes: the newest route or interceptor that fits a request holds for it, and the navigation
//! policy comes before both. Requests are handed over in a bounded queue; the supervisor's thread never waits for an answer.

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
use crate::sync::{Cancel, Deadline};

/// What the supervisor's thread may take to note an answer.
const ANSWERING: Duration = Duration::from_secs(5);
/// What the end of an interceptor may take to be noted.
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
    /// A glob of addresses, as in [`RouteRule::pattern`].
    pub pattern: String,
    /// The page whose requests are meant, those of its frames and workers included. Default: all pages, those to come too.
    pub target: Option<TargetId>,
    /// The method of the request. Default: any.
    pub method: Option<String>,
    /// The type of the request, as in [`RouteRule::resource_type`]. Default: any.
    pub resource_type: Option<String>,
    /// How many requests wait to be received. One more goes on as without the interceptor. Default 256.
    pub capacity: usize,
    /// How long a request waits for its answer, from the moment it was intercepted; then it goes on as without the
    /// interceptor. Default 30 s, at most 120 s.
    pub timeout: Duration,
}

impl InterceptRule {
    /// All requests whose address fits.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            target: None,
            method: None,
            resource_type: None,
            capacity: 256,
            timeout: Duration::from_secs(30),
        }
    }

    /// Requests of one page only.
    #[must_use]
    pub fn on_page(mut self, target: TargetId) -> Self {
        self.target = Some(target);
        self
    }

    /// Requests with one method only.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Requests of one type only: `document`, `script`, `image`, `fetch`, …
    #[must_use]
    pub fn resource_type(mut self, kind: impl Into<String>) -> Self {
        self.resource_type = Some(kind.into());
        self
    }

    /// How many requests wait to be received.
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// How long a request waits for its answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// Receives the requests that fit an [`InterceptRule`]. Dropping it ends the interception: requests that wait go on as without
/// it.
pub struct Interceptor {
    requests: Receiver<Handed>,
    shared: Arc<Shared>,
    requester: Requester,
}

impl Interceptor {
    /// The next request, waiting for it until the deadline. Those whose time is up already are passed over.
    ///
    /// # Errors
    /// [`RecvError::Timeout`]; [`RecvError::Closed`] once the page of the rule is closed or the supervisor has ended.
    pub fn next(&self, deadline: Deadline) -> Result<InterceptedRequest, RecvError> {
        loop {
            match self.requests.recv_deadline(Cancel::until(deadline).instant()) {
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

    /// Requests that fitted and went on without having been handed over, since the queue was full.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.shared.missed.load(Ordering::Relaxed)
    }
}

impl Drop for Interceptor {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        let end = Request::EndInterception { shared: Arc::clone(&self.shared) };
        // Where this has no room, each request goes on at its deadline.
        let _ = self.requester.requests.send_timeout(end, ENDING);
    }
}

impl fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interceptor").field("waiting", &self.requests.len()).finish_non_exhaustive()
    }
}

/// A request that the browser holds until it is answered. Dropping it unanswered lets it go on as without the interceptor.
pub struct InterceptedRequest {
    handed: Handed,
    requester: Requester,
    answered: bool,
}

impl InterceptedRequest {
    /// Its address, without the fragment: as the page gave it, secrets included.
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

    /// Its headers as far as the browser knows them at this point: cookies are not among them.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.handed.headers
    }

    /// A header by its name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.handed.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// What it sends, where that is text. Chromium leaves long bodies and files out.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.handed.body.as_deref()
    }

    /// Whether it is a CORS preflight. [`fulfil`](Self::fulfil) answers it with leave for the request that follows.
    #[must_use]
    pub fn is_preflight(&self) -> bool {
        self.handed.is_preflight
    }

    /// Answers it; the server is not asked. A page of another origin may read the answer unless its headers say otherwise.
    ///
    /// # Errors
    /// [`Error::BadRoute`] for a status outside of 200 to 599 and for headers that are none: the request goes on then;
    /// [`Error::RequestGone`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn fulfil(self, answer: Fulfilment) -> Result<(), Error> {
        let body = Encoded::of(&answer.body)?;
        self.answer(RouteAction::Fulfil(Arc::new(answer)), body)
    }

    /// Sends it as it is.
    ///
    /// # Errors
    /// [`Error::RequestGone`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn continue_(self) -> Result<(), Error> {
        self.continue_with(Vec::new())
    }

    /// Sends it with these headers in place of its own of the same names. They do not follow a redirect.
    ///
    /// # Errors
    /// [`Error::BadRoute`] for headers that are none or that the browser sets by itself: the request goes on as it is then;
    /// those of [`continue_`](Self::continue_).
    pub fn continue_with(self, headers: HeaderList) -> Result<(), Error> {
        self.answer(RouteAction::Continue { headers }, Encoded::default())
    }

    /// Lets it fail: the page sees a network error.
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
            // Where this has no room, it goes on at its deadline.
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

/// A request as it is handed over.
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

/// What both ends share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    missed: AtomicU64,
    is_over: AtomicBool,
}

/// The supervisor's end: where requests are handed over.
#[derive(Clone)]
pub(super) struct HandOver {
    sender: Sender<Handed>,
    pub(super) shared: Arc<Shared>,
    pub(super) timeout: Duration,
}

impl HandOver {
    pub(super) fn new(sender: Sender<Handed>, shared: Arc<Shared>, timeout: Duration) -> Self {
        Self { sender, shared, timeout }
    }

    /// Whether it was taken. What is not goes on without.
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
    /// Hands the requests that fit a rule to the caller, who answers each one in a thread of its own. It is in effect for
    /// requests that pages make once this returns, until the [`Interceptor`] is dropped; over a new connection too.
    ///
    /// Of several interceptors and [routes](Self::add_route) that fit, the newest alone holds. The navigation policy comes
    /// first, and holds again for what was answered with [`continue_`](InterceptedRequest::continue_). A request goes on as
    /// without the interceptor, which may mean an older route, when nobody answers it in time, when the interceptor or the
    /// request is dropped, and when more requests wait than the queue takes. What is not reached by routes is not reached
    /// either, nor may be the first requests of a document that is being committed at that moment (Chromium 156): intercept
    /// before a navigation, or after it has loaded.
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
    /// [`Error::BadRoute`], [`Error::TooManyRoutes`], [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn intercept(&self, rule: InterceptRule, deadline: Deadline) -> Result<Interceptor, Error> {
        let InterceptRule { pattern, target, method, resource_type, capacity, timeout } = rule;
        let mut route = RouteRule::new(pattern, RouteAction::Continue { headers: Vec::new() }).delay(timeout);
        (route.target, route.method, route.resource_type) = (target, method, resource_type);
        if timeout.is_zero() {
            return Err(Error::BadRoute { problem: "timeout: give more than 0".to_owned() });
        }
        let (mut rule, glob) = route.checked()?;
        rule.delay = Duration::ZERO;
        let (sender, requests) = crossbeam_channel::bounded(capacity.max(1));
        let shared = Arc::new(Shared::default());
        let hand = HandOver::new(sender, Arc::clone(&shared), timeout);
        self.ask("intercepting requests", deadline, |reply| Request::Intercept { rule, glob, hand, reply })?;
        Ok(Interceptor { requests, shared, requester: self.requester() })
    }
}
