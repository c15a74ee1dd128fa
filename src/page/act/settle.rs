//! Waiting for the effects of an action.
//!
//! Effects are observed where they happen: changes in the document that was acted on and those around it; dialogs,
//! navigations, tabs, requests and downloads in what the supervisor received before the page answered again. Ids of
//! timers and animation frames show that a page has deferred something, but not what. So a document counts as settled
//! when it has not changed over [`STEPS`] steps, each a frame and a timer: in step with the page, whatever the speed of
//! the machine. A document that has deferred nothing is settled after one step without a change, or at once when
//! nothing changed.
//!
//! What is not waited for:
//!
//! - Changes: content that also changed in the 100 ms before the action (the same attribute or text of the same node,
//!   or a list that was rebuilt twice); frame callbacks and timers of a loop; a style that changes in more than three
//!   frames after the action (an animation); a text that changes in more than five (a counter).
//! - Requests: images, media, fonts, beacons, event streams, bodies that take more than `BODY_TIME` after their head,
//!   and addresses that the page requested `MIN_POLLS` times between actions.
//!
//! The wait ends at most `AFTER_LAST_CHANGE` after the last change that the action caused. `keepalive` requests cannot
//! be distinguished from others over CDP and fall under this limit. The field `settle` of an action changes all this.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{Error, Tab};
use super::notices::Reported;
use super::{Act, ActKind, Outcome, Performed, Settle, Settled};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{self, Dialog, Loading, Secrets, Traffic, View};
use crate::sync::Deadline;

/// Steps without a change after which a document counts as settled.
const STEPS: u32 = 3;
/// How many of them a document may take that has set timers when it was typed into, and for how long it must stay unchanged then.
const TYPED_STEPS: u32 = 20;
const TYPED_QUIET: Duration = Duration::from_millis(340);
/// How long a changed document must also stay unchanged.
const MIN_QUIET: Duration = Duration::from_millis(30);
/// How long a document may keep changing, and requests may take after the last change, before the action counts as
/// finished anyway.
const AFTER_LAST_CHANGE: Duration = Duration::from_millis(500);
/// How long to wait for the body of a response: a longer one is a stream.
const BODY_TIME: Duration = Duration::from_millis(150);
/// Requests of one address between actions after which its requests count as polling.
const MIN_POLLS: usize = 3;
/// How long a navigation may take; at most three quarters of the action's remaining time, to leave time for the answer.
const NAVIGATION: Duration = Duration::from_secs(10);
/// How long a download may take to start once it is expected.
const DOWNLOAD_START: Duration = Duration::from_secs(3);
/// How long to wait for the end of downloads, so that their paths can be reported.
const DOWNLOAD_END: Duration = Duration::from_millis(500);
/// How long it may take to start watching. A page that hangs is rescued before that.
const WATCH_START: Duration = Duration::from_secs(5);
/// How often dialogs and navigations are checked while requests are under way.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of documents that may replace each other while loading.
const MAX_DOCUMENTS: u32 = 5;
/// Resource types whose responses change no visible text, or that stay open.
const IGNORED_TYPES: [&str; 7] = ["ping", "prefetch", "image", "media", "font", "cspviolationreport", "eventsource"];

/// The state before the action.
pub(super) struct Before {
    pub(super) seen: Arc<View>,
    pub(super) log: u64,
    /// The number of the newest request.
    pub(super) requests: u64,
    /// URLs without query of requests under way. Another request of such a URL is a poll that continues.
    polled: Vec<Arc<str>>,
    /// The number of the newest download.
    pub(super) downloads: u64,
    pub(super) top: Option<FrameId>,
    pub(super) document: Arc<str>,
    /// Whether navigations that were already under way count too, because a dialog has blocked them.
    held: bool,
}

/// Steps to wait for a first change.
#[derive(Clone, Copy)]
struct StepLimits {
    /// In a document that has deferred nothing.
    least: u32,
    /// In a document that has deferred something.
    most: u32,
    /// In one that has set timers.
    timers: u32,
}

impl StepLimits {
    fn of(kind: &ActKind) -> Self {
        match kind {
            // A script is awaited, and can wait for its own effects.
            ActKind::Evaluate { .. } => Self { least: 0, most: 0, timers: 0 },
            // Scrolled and resized documents are notified with the next frame.
            ActKind::Scroll { .. }
            | ActKind::ScrollIntoView { .. }
            | ActKind::Mouse { .. }
            | ActKind::Drag { .. }
            | ActKind::Hover { .. }
            | ActKind::Resize { .. } => Self { least: 1, most: STEPS, timers: STEPS },
            // Lists and filters answer when the keys have ended: search fields wait for 200 to 300 ms.
            ActKind::Type { submit: false, .. } | ActKind::Fill { submit: false, .. } => {
                Self { least: 0, most: STEPS, timers: TYPED_STEPS }
            }
            _ => Self { least: 0, most: STEPS, timers: STEPS },
        }
    }
}

/// Time limits.
#[derive(Clone, Copy)]
struct TimeLimits<'c> {
    /// For everything.
    all: Deadline<'c>,
    /// After the last change that the action caused.
    beyond: Duration,
    /// For changes of a document.
    changing: Duration,
    /// For the answer of a document.
    answer: Deadline<'c>,
}

impl<'c> TimeLimits<'c> {
    fn of(settle: Option<Settle>, deadline: Deadline<'c>) -> Self {
        let most = deadline.left() * 3 / 4;
        let (all, beyond) = match settle {
            Some(Settle::MaxMs(ms)) => (Duration::from_millis(ms).min(most), Duration::from_millis(ms)),
            _ => (NAVIGATION.min(most), AFTER_LAST_CHANGE),
        };
        let answer = deadline.within((all + AFTER_LAST_CHANGE * 4).min(most));
        Self { all: deadline.within(all), beyond, changing: AFTER_LAST_CHANGE.min(all), answer }
    }
}

/// Arguments of the in-page call `quiet`.
#[derive(Serialize)]
struct QuietArgs {
    least: u32,
    look: u32,
    steps: u32,
    quiet: u64,
    most: u64,
    /// As `look` and `quiet`, in a document that has set timers.
    timers: u32,
    timed: u64,
}

/// The answer of the in-page call `quiet`.
#[derive(Debug, Deserialize)]
struct QuietReply {
    changes: u64,
    rest: bool,
    /// Whether a link to a download was clicked.
    saves: bool,
    /// The number of steps waited, and of those without a frame.
    #[allow(dead_code)] // for the trace
    steps: u32,
    #[allow(dead_code)] // for the trace
    undrawn: u32,
    notices: Vec<Reported>,
}

/// What has been observed so far.
#[derive(Default)]
pub(super) struct Observed {
    /// Whether some document has answered.
    looked: bool,
    changed: bool,
    restless: bool,
    /// When a document was last seen to have changed.
    last: Option<Instant>,
    saves: bool,
    rescued: bool,
    /// Documents of child frames that have already been awaited.
    known: HashMap<FrameId, Arc<str>>,
    /// Notices of the page, by frame.
    pub(super) notices: HashMap<FrameId, Vec<Reported>>,
}

impl Tab {
    /// Performs an action and waits for its effects.
    pub(super) fn settled(&self, act: &Act, actor: Option<&str>, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        if let ActKind::Batch { actions, stop_on_error } = &act.kind {
            let stop_on_error = stop_on_error.unwrap_or(true);
            return self.with_delta(act, deadline, || self.batch(actions, stop_on_error, act.settle, actor, deadline));
        }
        let began = Instant::now();
        if matches!(act.kind, ActKind::Close {}) {
            // Even under a dialog: closing dismisses the tab's dialogs.
            let before = self.before();
            let performed = act.kind.perform(self, act, deadline)?;
            return Ok(self.build_outcome(&before, performed, Settled::Done));
        }
        self.arrived(deadline)?;
        let act = &*self.with_frame_ids(act, deadline)?;
        // Earlier events are not effects of this action.
        self.supervisor.caught_up(deadline)?;
        let before = self.before();
        if let Some(open) = before.seen.dialogs_of(self.target.as_str()).next() {
            return Err(supervisor::Error::blocked_by_dialog("act", &open.id).into());
        }
        self.with_delta(act, deadline, || self.caused(act, &before, began, deadline))
    }

    /// The action with frame ids in place of the refs of iframes.
    fn with_frame_ids<'a>(&self, act: &'a Act, deadline: Deadline<'_>) -> Result<Cow<'a, Act>, Error> {
        if act.kind.frames().iter().all(|frame| self.own_frame(frame).is_ok()) {
            return Ok(Cow::Borrowed(act));
        }
        let mut act = act.clone();
        for frame in act.kind.frames_mut() {
            *frame = self.frame_named(frame, deadline)?.to_string();
        }
        Ok(Cow::Owned(act))
    }

    fn caused(&self, act: &Act, before: &Before, began: Instant, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let waits = causes(&act.kind) && act.settles() != Settle::None;
        let frames = if waits { self.watched_frames(act, before, deadline) } else { Vec::new() };
        let mut performed = match act.kind.perform(self, act, deadline) {
            // The condition did not come true.
            Err(error) if matches!(act.kind, ActKind::Wait(_)) => return Err(error),
            Err(error) if error.is_blocked_by_dialog() && self.opened_in(before, &self.supervisor.view()) => {
                Performed::default()
            }
            outcome => outcome?,
        };
        let (mut settled, mut notices) = (Settled::Done, Vec::new());
        if waits {
            let mut seen = Observed::default();
            let limits = TimeLimits::of(act.settle, deadline);
            settled = self.settle(before, &frames, StepLimits::of(&act.kind), &mut seen, limits, deadline);
            notices = self.notices(before, &mut seen, settled, deadline);
            performed.rescued |= seen.rescued;
            self.wait_for_opened(before, deadline.within(limits.all.left()));
            self.wait_downloads_after(before.downloads, deadline.within(DOWNLOAD_END.min(limits.all.left())));
        } else if causes(&act.kind) {
            settled = if self.opened_in(before, &self.supervisor.view()) {
                Settled::DialogOpened
            } else {
                Settled::NotWaited
            };
        } else {
            self.wait_for_opened(before, deadline);
            self.wait_downloads_after(before.downloads, deadline.within(DOWNLOAD_END));
        }
        if causes(&act.kind) {
            self.action_requests.lock().add(before.requests, self.supervisor.traffic().last);
        }
        tracing::debug!(target: "cdpilot::page", %settled, took = ?began.elapsed(), "acted");
        if settled == Settled::NoChange && !notices.is_empty() {
            settled = Settled::PageSettled; // without a change of the document: native validation
        }
        Ok(Outcome { notices, ..self.build_outcome(before, performed, settled) })
    }

    /// Runs something that lets the page continue, such as answering a dialog, and waits for its effects. `frame` is
    /// the blocked frame; `redact` covers secrets in the changes.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn settle_after<T, E>(
        &self,
        frame: Option<FrameId>,
        redact: Option<&Secrets>,
        deadline: Deadline<'_>,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Outcome), E> {
        let before = Before { held: true, ..self.before() };
        let done = run()?;
        let frames = around(&before.seen, frame.or_else(|| before.top.clone()));
        let mut seen = Observed::default();
        let patience = TimeLimits::of(None, deadline);
        let settled = self.settle(
            &before,
            &frames,
            StepLimits { least: 0, most: STEPS, timers: STEPS },
            &mut seen,
            patience,
            deadline,
        );
        let notices = self.notices(&before, &mut seen, settled, deadline);
        let mut outcome = Outcome { notices, ..self.build_outcome(&before, Performed::default(), settled) };
        if !outcome.blocked_by_dialog {
            outcome.changes = self.changes_since(&before, redact, deadline);
        }
        Ok((done, outcome))
    }

    fn before(&self) -> Before {
        let seen = self.supervisor.view();
        let traffic = self.supervisor.traffic();
        let top = seen.page(self.target.as_str()).and_then(|page| page.top_frame.clone());
        let document = top.as_ref().and_then(|top| seen.document_of(top)).unwrap_or_default();
        Before {
            log: self.supervisor.log().last(),
            requests: traffic.last,
            polled: traffic.of(&self.target).map(|open| path(&open.url).into()).collect(),
            downloads: seen.downloads.last().map_or(0, |newest| newest.number),
            seen,
            top,
            document,
            held: false,
        }
    }

    /// The frames to watch for changes: that of the element, and those around it.
    fn watched_frames(&self, act: &Act, before: &Before, deadline: Deadline<'_>) -> Vec<FrameId> {
        let (reference, frame) = match &act.kind {
            // The drop has the effects.
            ActKind::Drag { start_ref, end_ref, frame_id, .. } => (end_ref.as_ref().or(start_ref.as_ref()), frame_id),
            kind => kind.locator().map_or((None, &None), |at| (at.reference.as_ref(), &at.frame_id)),
        };
        let named = match reference {
            Some(reference) => self.resolve(reference).ok().map(|(node, _)| node.frame),
            None => frame.as_deref().map(FrameId::from),
        };
        let frames = around(&before.seen, named.or_else(|| before.top.clone()));
        // An action on an element begins when the element is ready.
        let now = act.kind.locator().is_none_or(|at| !at.is_given()) && !matches!(act.kind, ActKind::Drag { .. });
        // A frame that does not answer starts watching when it is first checked.
        let args = json!({ "now": now });
        match &frames[..] {
            // The next call on the same session checks the element.
            [only] if !now && self.post_to(only, "watch", &args) => {}
            _ => drop(self.call_all::<u8, _>(&frames, "watch", |_| &args, deadline.within(WATCH_START))),
        }
        frames
    }

    /// Waits for the effects and returns why the action counts as finished.
    fn settle(
        &self,
        before: &Before,
        frames: &[FrameId],
        look: StepLimits,
        seen: &mut Observed,
        patience: TimeLimits<'_>,
        deadline: Deadline<'_>,
    ) -> Settled {
        let began = Instant::now();
        let loading = patience.all;
        let mut files_given = 0;
        loop {
            // The page answers after everything that the action triggered synchronously; the documents around it are
            // checked after that, for messages from it.
            if let Some((action_requests, around)) = frames.split_first() {
                self.check_quiet(std::slice::from_ref(action_requests), look, seen, patience);
                self.check_quiet(around, look, seen, patience);
            }
            if self.supervisor.caught_up(deadline).is_err() {
                return Settled::BrowserEnded;
            }
            if let Some(reason) = self.left(before, seen, loading) {
                return reason;
            }
            // A file chooser gets its files after it has opened, so perhaps after the page has answered. What they cause is
            // answered for by the next check, which is sent after them.
            let given = self.files_given_since(before);
            if given > files_given && !loading.passed() {
                files_given = given;
                continue;
            }
            if !self.is_fetching(before, &self.supervisor.traffic()) {
                break;
            }
            let waited = seen.last.unwrap_or(began).elapsed();
            let requests = loading.within(patience.beyond.saturating_sub(waited));
            if requests.passed() {
                return Settled::RequestsPending;
            }
            while self.is_fetching(before, &self.supervisor.traffic()) && !requests.passed() {
                if let Some(reason) = self.left(before, seen, loading) {
                    return reason;
                }
                // The supervisor learns of dialogs and navigations elsewhere, so they are checked in between.
                let slice = requests.within(CHECK_INTERVAL);
                self.supervisor.wait_traffic(slice, |now| !self.is_fetching(before, now));
            }
        }
        if self.downloads.is_some() && (seen.saves || self.was_a_download(before)) && self.begun(before, deadline) {
            return Settled::DownloadStarted;
        }
        match seen {
            Observed { restless: true, .. } => Settled::PageChanging,
            Observed { changed: true, .. } => Settled::PageSettled,
            Observed { looked: true, .. } => Settled::NoChange,
            _ => Settled::PageUnresponsive,
        }
    }

    fn check_quiet(&self, frames: &[FrameId], look: StepLimits, seen: &mut Observed, patience: TimeLimits<'_>) {
        let most = if seen.restless { Duration::ZERO } else { patience.changing };
        let args = QuietArgs {
            least: look.least,
            look: look.most,
            steps: STEPS,
            quiet: millis(MIN_QUIET),
            most: millis(most),
            timers: look.timers,
            timed: millis(if look.timers > STEPS { TYPED_QUIET } else { MIN_QUIET }),
        };
        let found = self.call_all_brief::<QuietReply, &QuietArgs>(frames, "quiet", |_| &args, patience.answer);
        // A frame that does not answer is navigating, gone or blocked by a dialog, which is detected elsewhere.
        for (frame, found) in frames.iter().zip(found) {
            let Ok((_, done)) = found else { continue };
            tracing::trace!(target: "cdpilot::page", rest = ?done.result, "looked");
            seen.looked = true;
            // Endless changes have no last one.
            if done.result.changes > 0 && done.result.rest {
                seen.last = Some(Instant::now());
            }
            seen.changed |= done.result.changes > 0;
            seen.restless |= !done.result.rest;
            seen.saves |= done.result.saves;
            seen.rescued |= done.rescued;
            seen.notices.insert(frame.clone(), done.result.notices);
        }
    }

    /// Whether requests of the action are under way whose responses may be shown.
    fn is_fetching(&self, before: &Before, now: &Traffic) -> bool {
        let is_aside = |open: &Loading| {
            IGNORED_TYPES.contains(&&*open.resource_type)
                || open.answered.is_some_and(|answered| answered.elapsed() > BODY_TIME)
                || before.polled.iter().any(|polled| **polled == *path(&open.url))
                || self.is_polled(before, path(&open.url))
        };
        now.since(&self.target, before.requests).any(|open| !is_aside(open))
    }

    /// Whether the page requested a URL repeatedly between actions.
    fn is_polled(&self, before: &Before, address: &str) -> bool {
        let action_requests = self.action_requests.lock().clone();
        let requests = self.supervisor.network_requests(&self.target);
        let alike = requests.iter().filter(|request| {
            request.number <= before.requests
                && path(&request.url) == address
                && !action_requests.contains(request.number)
        });
        alike.take(MIN_POLLS).count() == MIN_POLLS
    }

    /// Why waiting for the document has ended: a dialog, another document, the end of the tab. Waits for documents that
    /// child frames are loading.
    fn left(&self, before: &Before, seen: &mut Observed, loading: Deadline<'_>) -> Option<Settled> {
        let target = self.target.as_str();
        let over = |now: &View| now.page(target).is_none() || self.opened_in(before, now);
        let mut tries = 0;
        loop {
            let now = self.supervisor.view();
            if now.page(target).is_none() {
                return Some(Settled::TabClosed);
            }
            if self.opened_in(before, &now) {
                return Some(Settled::DialogOpened);
            }
            let new = self.new_documents(before, seen, &now);
            let top = new.iter().any(|(frame, _)| Some(frame) == before.top.as_ref());
            if loading.passed() && (top || !new.is_empty() || self.is_loading(before, &now)) {
                return Some(Settled::NavigationPending);
            }
            if self.is_loading(before, &now) {
                seen.changed = true;
                self.supervisor.wait_until(loading, |now| over(now) || !self.is_loading(before, now));
                continue;
            }
            if new.is_empty() {
                return None;
            }
            seen.changed = true;
            // A document is loaded when those inside it are.
            let frames: Vec<FrameId> = match &before.top {
                Some(frame) if top => vec![frame.clone()],
                _ => new.iter().map(|(frame, _)| frame.clone()).collect(),
            };
            let loaded = self.call_all::<bool, ()>(&frames, "loaded", |_| (), loading);
            if loaded.iter().any(|loaded| loaded.as_ref().is_err_and(Error::is_blocked_by_dialog)) {
                return Some(Settled::DialogOpened);
            }
            tries += 1;
            if !top {
                seen.known.extend(new);
            } else if loaded.iter().any(Result::is_ok) {
                return Some(Settled::Navigated);
            } else if tries >= MAX_DOCUMENTS {
                return Some(Settled::NavigationPending);
            }
            if self.supervisor.caught_up(loading).is_err() {
                return Some(Settled::BrowserEnded);
            }
        }
    }

    /// Frames that are new or show another document than before.
    fn new_documents(&self, before: &Before, seen: &Observed, now: &View) -> Vec<(FrameId, Arc<str>)> {
        let there = now.frames_of(self.target.as_str());
        let there = there.filter(|frame| frame.session_id.is_some() && !frame.loader.is_empty());
        let is_new = |frame: &&supervisor::Frame| {
            let was = before.seen.document_of(&frame.frame_id);
            was.as_ref() != Some(&frame.loader) && seen.known.get(&frame.frame_id) != Some(&frame.loader)
        };
        there.filter(is_new).map(|frame| (frame.frame_id.clone(), Arc::clone(&frame.loader))).collect()
    }

    /// Whether a frame is navigating that was not before.
    fn is_loading(&self, before: &Before, now: &View) -> bool {
        let was = |frame: &supervisor::Frame| {
            let old = before.seen.frame(frame.frame_id.as_str());
            !before.held && old.is_some_and(|old| old.navigating && old.loader == frame.loader)
        };
        now.frames_of(self.target.as_str()).any(|frame| frame.navigating && !was(frame))
    }

    pub(super) fn opened_in(&self, before: &Before, now: &View) -> bool {
        let known = |dialog: &Dialog| before.seen.dialogs.iter().any(|old| old.id == dialog.id);
        now.dialogs_of(self.target.as_str()).any(|dialog| !known(dialog))
    }

    /// Whether a navigation turned into a download.
    fn was_a_download(&self, before: &Before) -> bool {
        let requests = self.supervisor.network_requests(&self.target);
        requests.iter().any(|request| {
            request.number > before.requests
                && &*request.resource_type == "document"
                && request.failure.as_deref() == Some("net::ERR_ABORTED")
                && request.status.is_some_and(|status| (200..300).contains(&status) && status != 204 && status != 205)
        })
    }

    /// Waits for a download to start. Returns whether it did.
    fn begun(&self, before: &Before, deadline: Deadline<'_>) -> bool {
        let target = self.target.as_str();
        let begun = |now: &View| now.downloads.iter().any(|d| d.number > before.downloads && self.is_mine(d));
        let over = |now: &View| begun(now) || now.page(target).is_none() || self.opened_in(before, now);
        self.supervisor.wait_until(deadline.within(DOWNLOAD_START), over).is_some_and(|now| begun(&now))
    }
}

/// Numbers of the requests made during actions: the last ranges.
#[derive(Debug, Clone, Default)]
pub(in crate::page) struct ActionRequests(VecDeque<(u64, u64)>);

impl ActionRequests {
    /// Maximum number of ranges.
    const MOST: usize = 32;

    fn add(&mut self, after: u64, upto: u64) {
        if upto <= after {
            return;
        }
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((after, upto));
    }

    fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|(after, upto)| number > *after && number <= *upto)
    }
}

/// A frame and its ancestors, innermost first.
fn around(seen: &View, frame: Option<FrameId>) -> Vec<FrameId> {
    let mut frames: Vec<FrameId> = frame.into_iter().collect();
    while let Some(around) = frames
        .last()
        .and_then(|frame| seen.frame(frame.as_str()))
        .and_then(|frame| frame.parent_frame_id.clone())
        .filter(|around| !frames.contains(around))
    {
        frames.push(around);
    }
    frames
}

/// Whether an action has effects to wait for.
fn causes(kind: &ActKind) -> bool {
    !matches!(kind, ActKind::Wait(_) | ActKind::Close {} | ActKind::Batch { .. })
}

/// A URL without its query.
fn path(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
