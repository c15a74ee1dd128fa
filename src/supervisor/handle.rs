//! The handle everybody works with.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, SendTimeoutError, Sender};

use super::error::Error;
use super::inputs::Inputs;
use super::kept::{Kept, Room};
use super::link::Link;
use super::liveness::Liveness;
use super::log::{EventLog, Happened, LogEvent};
use super::navigation::{Lookups, NavigationPolicy, Verdict, names};
use super::options::{Pages, SupervisorOptions};
use super::served::RawScreenshot;
use super::snapshot::{ConsoleEntry, Phase, View};
use super::state::{Request, Response, State};
use super::traffic::{NetworkRequest, Traffic};
use super::worker::{Worker, now};
use crate::browser::{BrowserProcess, LaunchOptions};
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::{ConnectOptions, Connection};
use crate::sync::{Cancel, Deadline, Published, Thread, on_panic, spawn};

/// Console messages and exceptions that are kept of a page; the longest text is 4 KiB.
const KEPT_CONSOLE: Room = Room { entries: 500, bytes: 2 * 1024 * 1024 };
/// Network requests that are kept of a page.
const KEPT_REQUESTS: Room = Room { entries: 500, bytes: 3 * 1024 * 1024 };
/// Requests that may wait for the thread.
const REQUESTS: usize = 256;

/// A supervisor of one task. It owns its browser: dropping it ends the connection, the thread, and
/// the browser if we started it. [`stop`](Self::stop) also leaves the pages in order.
///
/// All methods take `&self` and may be called from any thread.
pub struct Supervisor {
    pub(super) link: Arc<Link>,
    pub(super) published: Arc<Published<View>>,
    log: Arc<EventLog>,
    /// Set when the thread leaves.
    done: Arc<AtomicBool>,
    pub(super) traffic: Arc<Published<Traffic>>,
    pub(super) kept_requests: Arc<Kept<NetworkRequest>>,
    pub(super) kept_console: Arc<Kept<ConsoleEntry>>,
    pub(super) requests: Sender<Request>,
    pub(super) liveness: Liveness,
    pub(super) pictures: parking_lot::Mutex<VecDeque<(TargetId, RawScreenshot)>>,
    pub(super) rescue_after: Duration,
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
    /// [`Error::Browser`] when it does not start, and those of [`start`](Self::start).
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

    /// Supervises a browser over its one connection, which the supervisor owns from now on.
    ///
    /// # Errors
    /// [`Error::PageNotFound`] when the page to supervise is not there, [`Error::StartTimeout`],
    /// [`Error::NotActive`] when the connection ends meanwhile, [`Error::System`].
    pub fn start(browser: BrowserProcess, mut options: SupervisorOptions) -> Result<Self, Error> {
        options.remote |= browser.endpoint().is_some_and(|endpoint| !endpoint.is_loopback());
        Self::begin(Link::new(browser.connection().clone(), Some(browser)), options)
    }

    /// Supervises over a connection that was made elsewhere. When it is lost the supervisor ends.
    ///
    /// # Errors
    /// See [`start`](Self::start).
    pub fn over(connection: Connection, options: SupervisorOptions) -> Result<Self, Error> {
        Self::begin(Link::new(connection, None), options)
    }

    fn begin(link: Arc<Link>, options: SupervisorOptions) -> Result<Self, Error> {
        let (_, connection) = link.current();
        let deadline = Deadline::after(options.start_timeout);
        let began = Instant::now();
        let (task, close_own_pages) = (options.task.clone(), options.close_own_pages);
        let rescue_after = options.rescue_after;
        let navigation = options.navigation().cloned();
        if let (Some(policy), Pages::New { url, .. }) = (&navigation, &options.pages) {
            policy.check(url).map_err(|refused| refused.error(url))?;
        }
        let (lookups, found) = Lookups::new(names(navigation.as_ref()));
        let (requests, requests_out) = crossbeam_channel::bounded(REQUESTS);
        let (close, close_out) = crossbeam_channel::bounded(1);
        let (reply, started) = crossbeam_channel::bounded(1);
        let _ = requests.try_send(Request::Started { reply });
        let published = Arc::new(Published::new(View::empty()));
        let shared_log = options.log.clone();
        let is_shared = shared_log.is_some();
        let log = shared_log.unwrap_or_default();
        let done = Arc::new(AtomicBool::new(false));
        let traffic = Arc::new(Published::new(Traffic::default()));
        let kept_requests = Arc::new(Kept::new(KEPT_REQUESTS));
        let kept_console = Arc::new(Kept::new(KEPT_CONSOLE));
        let worker = Worker {
            link: Arc::clone(&link),
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
            kept_requests: Arc::clone(&kept_requests),
            kept_console: Arc::clone(&kept_console),
            connection,
        };
        let (ends_log, ends_done) = (Arc::clone(&log), Arc::clone(&done));
        let ends = Ends {
            link: Arc::clone(&link),
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
            link,
            published,
            log,
            done,
            traffic,
            kept_requests,
            kept_console,
            requests,
            liveness: Liveness::default(),
            pictures: parking_lot::Mutex::default(),
            rescue_after,
            navigation,
            close,
            task,
            close_own_pages,
            thread: parking_lot::Mutex::new(Some(thread)),
        };
        match started.recv_deadline(deadline.instant()) {
            Ok(outcome) => outcome.map(|()| supervisor),
            Err(_) => Err(Error::StartTimeout { after: began.elapsed() }),
        }
    }

    /// The name of the task.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// Everything known at this moment. Never waits for the browser.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.published.get()
    }

    /// The number of the current snapshot; grows with each one.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.published.latest().version
    }

    /// Waits until `accept` holds for the snapshot, the present one first. `None` at the deadline, when the
    /// calling thread's [`Cancel`] is set, or when the supervisor has ended and nothing will change any more.
    pub fn wait_until(&self, deadline: Deadline, mut accept: impl FnMut(&View) -> bool) -> Option<Arc<View>> {
        let mut ended = false;
        let found = self.published.wait_until(deadline, |snapshot| {
            let accepted = accept(snapshot);
            ended = !accepted && matches!(snapshot.phase, Phase::Ended(_));
            accepted || ended
        });
        found.filter(|_| !ended)
    }

    /// Waits for a snapshot newer than `seen`. `None` at the deadline.
    #[must_use]
    pub fn wait_newer(&self, seen: u64, deadline: Deadline) -> Option<Arc<View>> {
        self.published.wait_newer(seen, deadline).map(|v| v.value)
    }

    /// Everything known, after all that the browser has told so far: what it told before the answer to a
    /// call that has returned is in it, and in the log and the traffic.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn caught_up(&self, deadline: Deadline) -> Result<Arc<View>, Error> {
        self.ask("catching up", deadline, |reply| Request::CaughtUp { reply })?;
        Ok(self.view())
    }

    /// Gives the scripts of a page as much more time as its processor is slowed down; 1: as usual.
    #[cfg(feature = "page")]
    pub(crate) fn slowed(&self, page: &TargetId, times: f64) {
        self.liveness.slow(page, times);
    }

    /// Appends an event of a page to the event log.
    #[cfg(feature = "page")]
    pub(crate) fn note(&self, page: &TargetId, event: LogEvent) {
        self.log.append([(now().unix, Happened::new(Some(page.clone()), event))]);
    }

    /// The event log.
    #[must_use]
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Whether it is watching.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.view().is_active()
    }

    /// The connection that actions go through at the moment. After a reconnect there is another one.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.link.current().1
    }

    /// Runs `with` on the browser behind it, if this supervisor was started with one.
    pub fn with_browser<T>(&self, with: impl FnOnce(&BrowserProcess) -> T) -> Option<T> {
        self.link.browser.lock().as_ref().map(with)
    }

    /// Whether a page may go to an address: what the navigation policy says of its form and host, and of the
    /// addresses that its host's name has. A redirect there is another matter. Everything passes without a policy.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn check_navigation(&self, url: &str, deadline: Deadline) -> Result<(), Error> {
        let Some(policy) = &self.navigation else { return Ok(()) };
        match policy.check(url).map_err(|refused| refused.error(url))? {
            Verdict::Pass => Ok(()),
            Verdict::Look(_) => {
                let url = url.to_owned();
                self.ask("looking up the host", deadline, |reply| Request::MayVisit { url, reply })
            }
        }
    }

    /// Opens a page that belongs to the task. Returns when it is attached. Under a navigation policy it shows
    /// `about:blank` first and is on its way then: what the browser asks for before that cannot be held.
    ///
    /// # Errors
    /// [`Error::NavigationBlocked`] when it may not go there; [`Error::Cdp`] when the browser refuses, [`Error::Timeout`], [`Error::NotActive`].
    pub fn open_page(
        &self,
        url: &str,
        context: Option<BrowserContextId>,
        deadline: Deadline,
    ) -> Result<TargetId, Error> {
        self.open(url, context, false, deadline)
    }

    /// Opens a page behind the others, as [`open_page`](Self::open_page) does one in front.
    ///
    /// # Errors
    /// Those of [`open_page`](Self::open_page).
    pub fn open_behind(&self, url: &str, deadline: Deadline) -> Result<TargetId, Error> {
        self.open(url, None, true, deadline)
    }

    fn open(
        &self,
        url: &str,
        context: Option<BrowserContextId>,
        behind: bool,
        deadline: Deadline,
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
    pub fn close_page(&self, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        self.connected(deadline)?;
        self.ask("closing the page", deadline, |reply| Request::Close { target: target.clone(), reply })
    }

    /// Ends it in order: open dialogs are dismissed, pages it opened are closed, the thread ends, and
    /// the browser is closed if we started it. Within the deadline, whatever the browser does.
    /// Dropping it does the same within five seconds. A [`Cancel`] of the calling thread does not hinder it.
    pub fn stop(&self, deadline: Deadline) {
        Cancel::shielded(|| self.stop_by(deadline));
    }

    fn stop_by(&self, deadline: Deadline) {
        if self.thread.lock().is_none() {
            return;
        }
        if self.is_active() {
            let ours = self.link.browser.lock().as_ref().is_some_and(BrowserProcess::is_ours);
            // Pages of a browser that is about to close need no closing of their own.
            let close_pages = self.close_own_pages && !ours;
            let leave = |reply| Request::Leave { close_pages, reply };
            let _ = self.ask("leaving", deadline.within(LEAVE), leave);
        }
        let _ = self.close.try_send(());
        // Taken out first: joining under the lock would hold it over a wait.
        let thread = self.thread.lock().take();
        drop(thread);
        let browser = self.link.browser.lock().take();
        if let Some(browser) = browser
            && let Err(error) = browser.close(deadline)
        {
            tracing::warn!(%error, "the browser did not close in order");
        }
        self.connection().close();
    }

    pub(super) fn ask<T>(
        &self,
        what: &'static str,
        deadline: Deadline,
        request: impl FnOnce(Response<T>) -> Request,
    ) -> Result<T, Error> {
        self.requester().ask(what, deadline, request)
    }

    /// What asks the thread for something, for handles that are given away.
    pub(super) fn requester(&self) -> Requester {
        let (requests, done) = (self.requests.clone(), Arc::clone(&self.done));
        Requester { requests, done, published: Arc::clone(&self.published) }
    }

    /// Waits, by the deadline, until there is a connection.
    ///
    /// # Errors
    /// [`Error::Reconnecting`], [`Error::NotActive`].
    pub(super) fn connected(&self, deadline: Deadline) -> Result<Arc<View>, Error> {
        let now = self.view();
        if !matches!(now.phase, Phase::Reconnecting(_)) {
            return Ok(now);
        }
        match self.wait_until(deadline, |s| !matches!(s.phase, Phase::Reconnecting(_) | Phase::Ended(_))) {
            Some(now) => Ok(now),
            None => Err(self.not_active().or_cancelled()),
        }
    }

    pub(super) fn not_active(&self) -> Error {
        not_active(&self.view())
    }
}

/// Asks the thread for something and waits for its answer.
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
        deadline: Deadline,
        request: impl FnOnce(Response<T>) -> Request,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let (reply, answer): (Response<T>, Receiver<_>) = crossbeam_channel::bounded(1);
        let late = || Error::Timeout { what, after: began.elapsed() }.or_cancelled();
        let mut request = request(reply);
        while let Err(refused) = self.requests.send_deadline(request, Cancel::until(deadline).instant()) {
            match refused {
                SendTimeoutError::Disconnected(_) => return Err(self.not_active()),
                SendTimeoutError::Timeout(_) if deadline.passed() => return Err(late()),
                SendTimeoutError::Timeout(back) => request = back,
            }
        }
        loop {
            // Looked at before the wait: what was answered by then is in the channel.
            let ended = self.done.load(Ordering::Acquire);
            match answer.recv_deadline(deadline.within(LOOK).instant()) {
                Ok(outcome) => return outcome,
                Err(crossbeam_channel::RecvTimeoutError::Disconnected) => return Err(self.not_active()),
                // A request that slipped in when the thread was leaving stays in the queue for ever.
                Err(crossbeam_channel::RecvTimeoutError::Timeout) if ended => return Err(self.not_active()),
                Err(crossbeam_channel::RecvTimeoutError::Timeout) if deadline.passed() => return Err(late()),
                Err(crossbeam_channel::RecvTimeoutError::Timeout) => {}
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

/// How often a waiting request looks whether the supervisor has ended.
const LOOK: Duration = Duration::from_millis(100);
/// What tidying up may take of a stop.
const LEAVE: Duration = Duration::from_secs(3);

/// What the thread publishes when it panics: without it callers would wait for answers that never come.
struct Ends {
    link: Arc<Link>,
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
            let ended = Happened::new(None, LogEvent::Ended { reason: REASON.into() });
            self.log.append(std::iter::once(ended).map(|event| (now().unix, event)));
            if self.is_shared {
                self.log.append(open.into_iter().map(|page| (now().unix, Happened::closed_at_end(page))));
            }
        }
        // Calls under way fail, and a browser at the other end of a pipe ends.
        self.link.current().1.abort();
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
