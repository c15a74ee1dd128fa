//! The supervisor: start, state, pages, stop.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender};

use super::current_connection::CurrentConnection;
use super::error::Error;
use super::inputs::Inputs;
use super::liveness::Liveness;
use super::log::{EventLog, EventRecord, LogEvent};
use super::navigation_policy::{Lookups, NavigationPolicy, Verdict, names};
use super::options::{Pages, SupervisorOptions};
use super::owned_pages::Claim;
use super::page_ring::{PageRing, RingLimits};
use super::passive_queries::RawScreenshot;
use super::snapshot::{ConsoleEntry, Phase, View};
use super::state::{Request, Response, State};
use super::traffic::{NetworkRequest, Traffic};
use super::worker::{Worker, now};
use crate::browser::{BrowserProcess, Context, LaunchOptions};
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::{ConnectOptions, Connection};
use crate::sync::{Deadline, Published, Thread, on_panic, spawn};

/// Limits of the console messages and exceptions kept for each page; a text has at most 4 KiB.
const CONSOLE_LIMITS: RingLimits = RingLimits { entries: 500, bytes: 2 * 1024 * 1024 };
/// Limits of the network requests kept for each page.
const REQUEST_LIMITS: RingLimits = RingLimits { entries: 500, bytes: 3 * 1024 * 1024 };
/// Capacity of the queue of requests to the thread.
const MAX_REQUESTS: usize = 256;

/// A supervisor of one task. It owns its browser: dropping it ends the connection, the thread, and
/// the browser if we started it. [`stop`](Self::stop) also closes its pages.
///
/// All methods take `&self` and may be called from any thread.
pub struct Supervisor {
    pub(super) current_connection: Arc<CurrentConnection>,
    pub(super) published: Arc<Published<View>>,
    log: Arc<EventLog>,
    /// Set when the thread exits.
    done: Arc<AtomicBool>,
    pub(super) traffic: Arc<Published<Traffic>>,
    pub(super) request_ring: Arc<PageRing<NetworkRequest>>,
    pub(super) console_ring: Arc<PageRing<ConsoleEntry>>,
    pub(super) requests: Sender<Request>,
    pub(super) liveness: Liveness,
    pub(super) pictures: parking_lot::Mutex<VecDeque<(TargetId, RawScreenshot)>>,
    pub(super) rescue_after: Duration,
    pub(super) rescue_after_load: Duration,
    pub(super) navigation: Option<NavigationPolicy>,
    close: Sender<()>,
    task: String,
    close_own_pages: bool,
    thread: parking_lot::Mutex<Option<Thread>>,
}

impl Supervisor {
    /// Starts a browser and supervises it.
    ///
    /// # Errors
    /// [`Error::Browser`] when the browser cannot be started, and those of [`start`](Self::start).
    pub fn launch(browser: &LaunchOptions, options: SupervisorOptions) -> Result<Self, Error> {
        Self::start(BrowserProcess::launch(browser)?, options)
    }

    /// Attaches to a running browser by its CDP address (ws, wss, http, https) and supervises it.
    ///
    /// # Errors
    /// [`Error::Browser`] when it cannot be reached, and those of [`start`](Self::start). No error
    /// carries the address.
    pub fn attach(url: &str, connect: &ConnectOptions, options: SupervisorOptions) -> Result<Self, Error> {
        Self::start(BrowserProcess::attach(url, connect)?, options)
    }

    /// Supervises a browser over its one connection, which the supervisor then owns.
    ///
    /// # Errors
    /// [`Error::PageNotFound`] when the page to supervise does not exist, [`Error::StartTimeout`],
    /// [`Error::NotActive`] when the connection ends meanwhile, [`Error::System`].
    pub fn start(browser: BrowserProcess, options: SupervisorOptions) -> Result<Self, Error> {
        let deadline = Deadline::after(options.start_timeout);
        Self::start_until(browser, options, deadline)
    }

    /// As [`start`](Self::start), with a deadline in addition to the timeout of the options.
    ///
    /// # Errors
    /// Those of [`start`](Self::start), [`Error::Cancelled`].
    pub fn start_until(
        browser: BrowserProcess,
        mut options: SupervisorOptions,
        deadline: Deadline<'_>,
    ) -> Result<Self, Error> {
        options.remote |= browser.endpoint().is_some_and(|endpoint| !endpoint.is_loopback());
        let connection = CurrentConnection::new(browser.connection().clone(), Some(browser));
        Self::begin(connection, options, deadline)
    }

    /// Supervises over an existing connection. The supervisor ends when the connection is lost.
    ///
    /// # Errors
    /// See [`start`](Self::start).
    pub fn over(connection: Connection, options: SupervisorOptions) -> Result<Self, Error> {
        let deadline = Deadline::after(options.start_timeout);
        Self::begin(CurrentConnection::new(connection, None), options, deadline)
    }

    fn begin(
        current_connection: Arc<CurrentConnection>,
        options: SupervisorOptions,
        deadline: Deadline<'_>,
    ) -> Result<Self, Error> {
        let (_, connection) = current_connection.current();
        let deadline = deadline.within(options.start_timeout);
        let began = Instant::now();
        let (task, close_own_pages) = (options.task.clone(), options.close_own_pages);
        let (rescue_after, rescue_after_load) = (options.rescue_after, options.rescue_after_load);
        let navigation = options.navigation_policy().cloned();
        if let (Some(policy), Pages::New { url, .. }) = (&navigation, &options.pages) {
            policy.check(url).map_err(|refused| refused.error(url))?;
        }
        let (lookups, found) = Lookups::new(names(navigation.as_ref()));
        let (requests, requests_out) = crossbeam_channel::bounded(MAX_REQUESTS);
        let (close, close_out) = crossbeam_channel::bounded(1);
        let (reply, started) = crossbeam_channel::bounded(1);
        let _ = requests.try_send(Request::Started { reply });
        let published = Arc::new(Published::new(View::empty()));
        let shared_log = options.log.clone();
        let is_shared = shared_log.is_some();
        let log = shared_log.unwrap_or_default();
        let done = Arc::new(AtomicBool::new(false));
        let traffic = Arc::new(Published::new(Traffic::default()));
        let request_ring = Arc::new(PageRing::new(REQUEST_LIMITS));
        let console_ring = Arc::new(PageRing::new(CONSOLE_LIMITS));
        let worker = Worker {
            current_connection: Arc::clone(&current_connection),
            task: task.clone(),
            dialing: None,
            tried: 0,
            inputs: Inputs::new(&connection, requests_out, found, close_out),
            lookups,
            state: State::new(options),
            published: Arc::clone(&published),
            log: Arc::clone(&log),
            done: Arc::clone(&done),
            traffic: Arc::clone(&traffic),
            request_ring: Arc::clone(&request_ring),
            console_ring: Arc::clone(&console_ring),
            claim: Claim::new(),
            connection,
        };
        let (ends_log, ends_done) = (Arc::clone(&log), Arc::clone(&done));
        let ends = Ends {
            current_connection: Arc::clone(&current_connection),
            published: Arc::clone(&published),
            log: ends_log,
            is_shared,
            done: ends_done,
        };
        let thread = spawn(format!("sup-{task}"), move || {
            let _guard = on_panic(|| ends.publish());
            worker.run();
        });
        let thread = thread.map_err(|e| Error::System { problem: e.to_string() })?;
        let supervisor = Self {
            current_connection,
            published,
            log,
            done,
            traffic,
            request_ring,
            console_ring,
            requests,
            liveness: Liveness::default(),
            pictures: parking_lot::Mutex::default(),
            rescue_after,
            rescue_after_load,
            navigation,
            close,
            task,
            close_own_pages,
            thread: parking_lot::Mutex::new(Some(thread)),
        };
        loop {
            match started.recv_deadline(deadline.next_check()) {
                Ok(outcome) => return outcome.map(|()| supervisor),
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(_) => return Err(Error::StartTimeout { after: began.elapsed() }.or_cancelled(deadline)),
            }
        }
    }

    /// The name of the task.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// The current state. Never waits for the browser.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.published.get()
    }

    /// The number of the current view; increases with each one.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.published.latest().version
    }

    /// Waits until `accept` holds for the view, checking the current one first. `None` at the deadline, also when it
    /// is [cancelled](Deadline::cancelled_by), or when the supervisor has ended.
    pub fn wait_until(&self, deadline: Deadline<'_>, mut accept: impl FnMut(&View) -> bool) -> Option<Arc<View>> {
        let mut ended = false;
        let found = self.published.wait_until(deadline, |snapshot| {
            let accepted = accept(snapshot);
            ended = !accepted && matches!(snapshot.phase, Phase::Ended(_));
            accepted || ended
        });
        found.filter(|_| !ended)
    }

    /// Waits for a view newer than `seen`. `None` at the deadline.
    #[must_use]
    pub fn wait_newer(&self, seen: u64, deadline: Deadline<'_>) -> Option<Arc<View>> {
        self.published.wait_newer(seen, deadline).map(|v| v.value)
    }

    /// The view after all messages that the browser has sent so far: everything that it sent before the answer to a
    /// completed call is in the view, the log and the traffic.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn caught_up(&self, deadline: Deadline<'_>) -> Result<Arc<View>, Error> {
        self.ask("processing pending events", deadline, |reply| Request::CaughtUp { reply })?;
        Ok(self.view())
    }

    /// Extends the time limit for scripts of a page by the factor of its CPU throttling (1: none).
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn slowed(&self, page: &TargetId, times: f64) {
        self.liveness.slow(page, times);
    }

    /// Appends an event of a page to the event log.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn note(&self, page: &TargetId, event: LogEvent) {
        self.log.append([(now().unix, EventRecord::new(Some(page.clone()), event))]);
    }

    /// The event log of the supervisor; see [`EventLog`].
    #[must_use]
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Whether the supervisor is attached and has not ended.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.view().is_active()
    }

    /// The current connection. A reconnect replaces it.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.current_connection.current().1
    }

    /// Runs `with` on the browser that the supervisor was started with, if any.
    pub fn with_browser<T>(&self, with: impl FnOnce(&BrowserProcess) -> T) -> Option<T> {
        self.current_connection.browser.lock().as_ref().map(with)
    }

    /// Checks an address against the navigation policy: its form, its host, and the IP addresses that the host resolves
    /// to. Redirects are not followed. Without a policy every address passes.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn check_navigation(&self, url: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let Some(policy) = &self.navigation else { return Ok(()) };
        match policy.check(url).map_err(|refused| refused.error(url))? {
            Verdict::Pass => Ok(()),
            Verdict::Look(_) => {
                let url = url.to_owned();
                self.ask("resolving the host", deadline, |reply| Request::MayVisit { url, reply })
            }
        }
    }

    /// Opens a page that belongs to the task. Returns when it is attached. With a navigation policy it shows
    /// `about:blank` first and is then navigated: requests that the browser sends earlier cannot be intercepted.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`] when the policy blocks the address; [`Error::Cdp`] when the browser refuses,
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn open_page(
        &self,
        url: &str,
        context: Option<BrowserContextId>,
        deadline: Deadline<'_>,
    ) -> Result<TargetId, Error> {
        self.open(url, context, false, deadline)
    }

    /// Like [`open_page`](Self::open_page), in the background.
    ///
    /// # Errors
    /// Those of [`open_page`](Self::open_page).
    pub fn open_behind(
        &self,
        url: &str,
        context: Option<BrowserContextId>,
        deadline: Deadline<'_>,
    ) -> Result<TargetId, Error> {
        self.open(url, context, true, deadline)
    }

    /// Creates a browser context with its own cookies, storage and cache. Dropping it closes its pages.
    ///
    /// # Errors
    /// [`Error::Browser`] when the browser refuses, [`Error::Reconnecting`], [`Error::NotActive`].
    pub fn new_context(&self, deadline: Deadline<'_>) -> Result<Context, Error> {
        if !self.connected(deadline)?.is_active() {
            return Err(self.not_active());
        }
        Ok(Context::create(&self.connection(), deadline)?)
    }

    /// As [`new_context`](Self::new_context), behind a proxy: all requests of its pages go there. What would not, WebRTC
    /// and prerendering, is disabled in its pages.
    ///
    /// # Errors
    /// Those of [`new_context`](Self::new_context).
    pub fn new_context_behind(&self, proxy: SocketAddr, deadline: Deadline<'_>) -> Result<Context, Error> {
        if !self.connected(deadline)?.is_active() {
            return Err(self.not_active());
        }
        let context = Context::create_behind(&self.connection(), Some(proxy), deadline)?;
        let id = context.id().clone();
        self.ask("confining a browser context", deadline, |reply| Request::Confine { context: id, reply })?;
        Ok(context)
    }

    fn open(
        &self,
        url: &str,
        context: Option<BrowserContextId>,
        behind: bool,
        deadline: Deadline<'_>,
    ) -> Result<TargetId, Error> {
        self.check_navigation(url, deadline)?;
        self.connected(deadline)?;
        let url = url.to_owned();
        self.ask("opening the page", deadline, |reply| Request::Open { url, context, behind, reply })
    }

    /// Closes a page of the task. Open dialogs are dismissed first: Chromium crashes as a whole when
    /// a tab is closed under a dialog of one of its subframes.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Cdp`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn close_page(&self, target: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        self.connected(deadline)?;
        self.ask("closing the page", deadline, |reply| Request::Close { target: target.clone(), reply })
    }

    /// Stops the supervisor: dismisses open dialogs, closes the pages that it opened and their popups, ends its thread, and
    /// closes the browser if we started it; within the deadline in any case. Dropping the supervisor does the same within five
    /// seconds. A [`Cancel`](crate::sync::Cancel) of the deadline has no effect.
    pub fn stop(&self, deadline: Deadline<'_>) {
        let deadline = deadline.uncancelled();
        if self.thread.lock().is_none() {
            return;
        }
        if self.is_active() {
            let ours = self.current_connection.browser.lock().as_ref().is_some_and(BrowserProcess::is_ours);
            // Pages of a browser that is about to end need not be closed.
            let close_pages = self.close_own_pages && !ours;
            let leave = |reply| Request::Leave { close_pages, reply };
            let _ = self.ask("closing the pages", deadline.within(STOP_LIMIT), leave);
        }
        let _ = self.close.try_send(());
        // Taken out first, since joining must not hold the lock.
        let thread = self.thread.lock().take();
        drop(thread);
        let browser = self.current_connection.browser.lock().take();
        if let Some(browser) = browser
            && let Err(error) = browser.close(deadline)
        {
            tracing::warn!(%error, "the browser did not shut down cleanly");
        }
        self.connection().close();
    }

    pub(super) fn ask<T>(
        &self,
        what: &'static str,
        deadline: Deadline<'_>,
        request: impl FnOnce(Response<T>) -> Request,
    ) -> Result<T, Error> {
        self.requester().ask(what, deadline, request)
    }

    /// A handle for requests to the thread.
    pub(super) fn requester(&self) -> Requester {
        let (requests, done) = (self.requests.clone(), Arc::clone(&self.done));
        Requester { requests, done, published: Arc::clone(&self.published) }
    }

    /// Waits until connected.
    ///
    /// # Errors
    /// [`Error::Reconnecting`], [`Error::NotActive`].
    pub(super) fn connected(&self, deadline: Deadline<'_>) -> Result<Arc<View>, Error> {
        let now = self.view();
        if !matches!(now.phase, Phase::Reconnecting(_)) {
            return Ok(now);
        }
        match self.wait_until(deadline, |s| !matches!(s.phase, Phase::Reconnecting(_) | Phase::Ended(_))) {
            Some(now) => Ok(now),
            None => Err(self.not_active().or_cancelled(deadline)),
        }
    }

    pub(super) fn not_active(&self) -> Error {
        not_active(&self.view())
    }
}

/// Sends requests to the thread and waits for the responses.
#[derive(Clone)]
pub(super) struct Requester {
    pub(super) requests: Sender<Request>,
    done: Arc<AtomicBool>,
    published: Arc<Published<View>>,
}

impl Requester {
    pub(super) fn ask<T>(
        &self,
        what: &'static str,
        deadline: Deadline<'_>,
        request: impl FnOnce(Response<T>) -> Request,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let (reply, answer): (Response<T>, Receiver<_>) = crossbeam_channel::bounded(1);
        let late = || Error::Timeout { what, after: began.elapsed() }.or_cancelled(deadline);
        let mut request = request(reply);
        while let Err(refused) = self.requests.send_deadline(request, deadline.next_check()) {
            match refused {
                SendTimeoutError::Disconnected(_) => return Err(self.not_active()),
                SendTimeoutError::Timeout(_) if deadline.passed() => return Err(late()),
                SendTimeoutError::Timeout(back) => request = back,
            }
        }
        loop {
            // Read before the wait: a response sent before the end is already in the channel.
            let ended = self.done.load(Ordering::Acquire);
            match answer.recv_deadline(deadline.within(POLL_INTERVAL).instant()) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Disconnected) => return Err(self.not_active()),
                // A request sent while the thread was ending is never answered.
                Err(RecvTimeoutError::Timeout) if ended => return Err(self.not_active()),
                Err(RecvTimeoutError::Timeout) if deadline.passed() => return Err(late()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn not_active(&self) -> Error {
        not_active(&self.published.get())
    }
}

fn not_active(now: &View) -> Error {
    let reason = match &now.phase {
        Phase::Ended(reason) => reason.to_string(),
        Phase::Reconnecting(reason) => return Error::Reconnecting { reason: reason.to_string() },
        Phase::Starting => "starting".to_owned(),
        Phase::Active => "ending".to_owned(),
    };
    Error::NotActive { reason }
}

/// Interval at which a waiting request checks whether the supervisor has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest time for closing pages when stopping: that of a page that opens one dialog after another.
const STOP_LIMIT: Duration = Duration::from_secs(12);

/// Published when the thread panics; otherwise callers would wait for responses that never come.
struct Ends {
    current_connection: Arc<CurrentConnection>,
    published: Arc<Published<View>>,
    log: Arc<EventLog>,
    is_shared: bool,
    done: Arc<AtomicBool>,
}

impl Ends {
    fn publish(&self) {
        const REASON: &str = "internal error: the thread of the supervisor panicked; see the log";
        let mut last = View::clone(&self.published.get());
        if !matches!(last.phase, Phase::Ended(_)) {
            last.phase = Phase::Ended(REASON.into());
            last.dialogs = Arc::default();
            let open: Vec<TargetId> = last.pages.iter().map(|page| page.target_id.clone()).collect();
            self.published.publish(Arc::new(last));
            let ended = EventRecord::new(None, LogEvent::Ended { reason: REASON.into() });
            self.log.append(std::iter::once(ended).map(|event| (now().unix, event)));
            if self.is_shared {
                self.log.append(open.into_iter().map(|page| (now().unix, EventRecord::closed_at_end(page))));
            }
        }
        // Pending calls fail, and a browser connected by a pipe ends.
        self.current_connection.current().1.abort();
        self.done.store(true, Ordering::Release);
        if !self.is_shared {
            self.log.end();
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.stop(Deadline::after_secs(5));
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor").field("task", &self.task).field("phase", &self.view().phase).finish()
    }
}
