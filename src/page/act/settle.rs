//! What an action caused, and when that has ended.
//!
//! Causes are looked for where they can be seen: in the document that was acted on and those around it
//! (changes), and in what the supervisor was told before the page answered again (dialogs, navigations,
//! tabs, requests, downloads). That a page has put something off to a timer or to the next frame can be seen
//! by the numbers these get, but not what it is. So its document counts as at rest when it has not changed
//! over [`STEPS`] steps, each a frame and a timer: in step with the page, whatever the speed of the machine.
//! A document that has put off nothing is over after a step without a change, or at once when there was none.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{Error, Tab};
use super::notices::Reported;
use super::{Act, ActKind, Did, Outcome, Settle, Settled};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{self, Dialog, Loading, Secrets, Traffic, View};
use crate::sync::Deadline;

/// Steps without a change after which a document is at rest.
const STEPS: u32 = 3;
/// And so long it must have stood still, when it had changed.
const QUIET: Duration = Duration::from_millis(30);
/// So long a document may go on changing, and requests may take after the last change, before the action counts as over all
/// the same.
const BEYOND: Duration = Duration::from_millis(500);
/// So long the body of a response is waited for: one that takes longer is a stream.
const BODY: Duration = Duration::from_millis(150);
/// So often an address is requested between actions before its requests count as polling.
const POLLS: usize = 3;
/// So long a navigation may take. Of the time that the action has left it is three quarters at most: there is an answer
/// to give.
const LOADING: Duration = Duration::from_secs(10);
/// So long a download may take to begin, once it is known to be on its way.
const BEGINNING: Duration = Duration::from_secs(3);
/// So long the end of downloads is waited for, so that their paths can be reported.
const ENDED: Duration = Duration::from_millis(500);
/// How long it may take to begin to watch. A page that hangs is freed before that.
const LOOK: Duration = Duration::from_secs(5);
/// How often dialogs and navigations are looked for while requests are under way.
const SLICE: Duration = Duration::from_millis(50);
/// How many documents in a row may go while they load.
const TRIES: u32 = 5;
/// Requests whose answer changes nothing that is shown to a reader, or that stay open.
const ASIDE: [&str; 7] = ["ping", "prefetch", "image", "media", "font", "cspviolationreport", "eventsource"];

/// What there was before.
pub(super) struct Before {
    pub(super) seen: Arc<View>,
    pub(super) log: u64,
    /// The newest request.
    pub(super) requests: u64,
    /// Addresses of requests under way, without what is behind `?`. One of these that is made again is a poll
    /// that goes on.
    polled: Vec<Arc<str>>,
    /// The newest download.
    pub(super) downloads: u64,
    pub(super) top: Option<FrameId>,
    pub(super) document: Arc<str>,
    /// Whether navigations that were under way count too: a dialog has held them.
    held: bool,
}

/// Steps that are waited for a first change.
#[derive(Clone, Copy)]
struct Look {
    /// Of a document that has put off nothing.
    least: u32,
    /// Of one that has.
    most: u32,
}

impl Look {
    fn of(kind: &ActKind) -> Self {
        match kind {
            // A script is awaited, and can wait for what it set off.
            ActKind::Evaluate { .. } => Self { least: 0, most: 0 },
            // What is scrolled or resized is told so with the next frame.
            ActKind::Scroll { .. }
            | ActKind::ScrollIntoView { .. }
            | ActKind::Mouse { .. }
            | ActKind::Drag { .. }
            | ActKind::Hover { .. }
            | ActKind::Resize { .. } => Self { least: 1, most: STEPS },
            _ => Self { least: 0, most: STEPS },
        }
    }
}

/// How long is waited.
#[derive(Clone, Copy)]
struct Patience {
    /// At most, for everything.
    all: Deadline,
    /// After the last change that the action caused.
    beyond: Duration,
    /// For changes of a document.
    changing: Duration,
    /// For the answer of a document.
    answer: Deadline,
}

impl Patience {
    fn of(settle: Option<Settle>, deadline: Deadline) -> Self {
        let most = deadline.left() * 3 / 4;
        let (all, beyond) = match settle {
            Some(Settle::MaxMs(ms)) => (Duration::from_millis(ms).min(most), Duration::from_millis(ms)),
            _ => (LOADING.min(most), BEYOND),
        };
        let answer = deadline.within((all + BEYOND * 4).min(most));
        Self { all: deadline.within(all), beyond, changing: BEYOND.min(all), answer }
    }
}

/// What is looked for in a document.
#[derive(Serialize)]
struct Quiet {
    least: u32,
    look: u32,
    steps: u32,
    quiet: u64,
    most: u64,
}

/// How it stands in a document.
#[derive(Debug, Deserialize)]
struct Rest {
    changes: u64,
    rest: bool,
    /// A link was clicked whose address is to be saved.
    saves: bool,
    /// Steps that were waited, and those of them without a frame.
    #[allow(dead_code)] // for the trace
    steps: u32,
    #[allow(dead_code)] // for the trace
    undrawn: u32,
    notices: Vec<Reported>,
}

/// What has been seen so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Some document has answered.
    looked: bool,
    changed: bool,
    restless: bool,
    /// When a document was last seen to have changed.
    last: Option<Instant>,
    saves: bool,
    rescued: bool,
    /// Documents of frames below the top that have been waited for.
    known: HashMap<FrameId, Arc<str>>,
    /// What the page reported, by frame.
    pub(super) notices: HashMap<FrameId, Vec<Reported>>,
}

impl Tab {
    /// Does it, and answers when what it caused has ended.
    pub(super) fn settled(&self, act: &Act, actor: Option<&str>, deadline: Deadline) -> Result<Outcome, Error> {
        if let ActKind::Batch { actions, stop_on_error } = &act.kind {
            let stop_on_error = stop_on_error.unwrap_or(true);
            return self.with_delta(act, deadline, || self.batch(actions, stop_on_error, act.settle, actor, deadline));
        }
        let began = Instant::now();
        if matches!(act.kind, ActKind::Close {}) {
            // Whatever the tab shows: its dialogs are dismissed.
            let before = self.before();
            let did = self.perform(act, deadline)?;
            return Ok(self.tell(&before, did, Settled::Done));
        }
        self.arrived(deadline)?;
        let act = &*self.with_frame_ids(act, deadline)?;
        // What was told of before is not this action's.
        self.supervisor.caught_up(deadline)?;
        let before = self.before();
        if let Some(open) = before.seen.dialogs_of(self.target.as_str()).next() {
            return Err(supervisor::Error::blocked_by_dialog("act", &open.id).into());
        }
        self.with_delta(act, deadline, || self.caused(act, &before, began, deadline))
    }

    /// The action with ids in the place of the refs of iframes.
    fn with_frame_ids<'a>(&self, act: &'a Act, deadline: Deadline) -> Result<Cow<'a, Act>, Error> {
        if act.kind.frames().iter().all(|frame| self.own_frame(frame).is_ok()) {
            return Ok(Cow::Borrowed(act));
        }
        let mut act = act.clone();
        for frame in act.kind.frames_mut() {
            *frame = self.frame_named(frame, deadline)?.to_string();
        }
        Ok(Cow::Owned(act))
    }

    fn caused(&self, act: &Act, before: &Before, began: Instant, deadline: Deadline) -> Result<Outcome, Error> {
        let waits = causes(&act.kind) && act.settles() != Settle::None;
        let frames = if waits { self.watched_frames(act, before, deadline) } else { Vec::new() };
        let mut did = match self.perform(act, deadline) {
            // What was waited for has not come.
            Err(error) if matches!(act.kind, ActKind::Wait(_)) => return Err(error),
            Err(error) if error.is_blocked_by_dialog() && self.opened_in(before, &self.supervisor.view()) => {
                Did::default()
            }
            outcome => outcome?,
        };
        let (mut settled, mut notices) = (Settled::Done, Vec::new());
        if waits {
            let mut seen = Seen::default();
            let patience = Patience::of(act.settle, deadline);
            settled = self.settle(before, &frames, Look::of(&act.kind), &mut seen, patience, deadline);
            notices = self.notices(before, &mut seen, settled, deadline);
            did.rescued |= seen.rescued;
            self.wait_for_opened(before, deadline.within(patience.all.left()));
            self.wait_downloads_after(before.downloads, deadline.within(ENDED.min(patience.all.left())));
        } else if causes(&act.kind) {
            settled = if self.opened_in(before, &self.supervisor.view()) {
                Settled::DialogOpened
            } else {
                Settled::NotWaited
            };
        } else {
            self.wait_for_opened(before, deadline);
            self.wait_downloads_after(before.downloads, deadline.within(ENDED));
        }
        if causes(&act.kind) {
            self.acted.lock().add(before.requests, self.supervisor.traffic().last);
        }
        tracing::debug!(target: "cdpilot::page", %settled, took = ?began.elapsed(), "acted");
        if settled == Settled::NoChange && !notices.is_empty() {
            settled = Settled::PageSettled; // without a change of the document: native validation
        }
        Ok(Outcome { notices, ..self.tell(before, did, settled) })
    }

    /// Does something that lets the page go on, as the answer to a dialog does, and waits for what the page does then.
    /// `frame` is the one that was held; `redact` covers secrets in the changes.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn settle_after<T, E>(
        &self,
        frame: Option<FrameId>,
        redact: Option<&Secrets>,
        deadline: Deadline,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Outcome), E> {
        let before = Before { held: true, ..self.before() };
        let done = run()?;
        let frames = around(&before.seen, frame.or_else(|| before.top.clone()));
        let mut seen = Seen::default();
        let patience = Patience::of(None, deadline);
        let settled = self.settle(&before, &frames, Look { least: 0, most: STEPS }, &mut seen, patience, deadline);
        let notices = self.notices(&before, &mut seen, settled, deadline);
        let mut outcome = Outcome { notices, ..self.tell(&before, Did::default(), settled) };
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

    /// The frames whose documents are looked at for changes: the one that is acted on, and those around it.
    fn watched_frames(&self, act: &Act, before: &Before, deadline: Deadline) -> Vec<FrameId> {
        let named = act.kind.locator().and_then(|at| match (&at.reference, &at.frame_id) {
            (Some(reference), _) => self.resolve(reference).ok().map(|(node, _)| node.frame),
            (None, frame) => frame.as_deref().map(FrameId::from),
        });
        let frames = around(&before.seen, named.or_else(|| before.top.clone()));
        // An action on an element begins when that is ready.
        let now = act.kind.locator().is_none_or(|at| !at.is_given()) && !matches!(act.kind, ActKind::Drag { .. });
        // One that does not answer begins to watch when it is looked at.
        let args = json!({ "now": now });
        match &frames[..] {
            // The call that makes sure of the element comes behind this one on the same session.
            [only] if !now && self.post_to(only, "watch", &args) => {}
            _ => drop(self.call_all::<u8, _>(&frames, "watch", |_| &args, deadline.within(LOOK))),
        }
        frames
    }

    /// Waits for what it caused. Gives the reason why that counts as over.
    fn settle(
        &self,
        before: &Before,
        frames: &[FrameId],
        look: Look,
        seen: &mut Seen,
        patience: Patience,
        deadline: Deadline,
    ) -> Settled {
        let began = Instant::now();
        let loading = patience.all;
        loop {
            // The page's answer comes after all that the action set off at once; the documents around are
            // looked at after that, for what it has told them.
            if let Some((acted, around)) = frames.split_first() {
                self.look_at(std::slice::from_ref(acted), look, seen, patience);
                self.look_at(around, look, seen, patience);
            }
            if self.supervisor.caught_up(deadline).is_err() {
                return Settled::BrowserEnded;
            }
            if let Some(reason) = self.left(before, seen, loading) {
                return reason;
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
                // A dialog or a navigation is told elsewhere, so it is looked for by the way.
                let slice = requests.within(SLICE);
                self.supervisor.wait_traffic(slice, |now| !self.is_fetching(before, now));
            }
        }
        if self.downloads.is_some() && (seen.saves || self.was_a_download(before)) && self.begun(before, deadline) {
            return Settled::DownloadStarted;
        }
        match seen {
            Seen { restless: true, .. } => Settled::PageChanging,
            Seen { changed: true, .. } => Settled::PageSettled,
            Seen { looked: true, .. } => Settled::NoChange,
            _ => Settled::PageUnresponsive,
        }
    }

    fn look_at(&self, frames: &[FrameId], look: Look, seen: &mut Seen, patience: Patience) {
        let most = if seen.restless { Duration::ZERO } else { patience.changing };
        let args = Quiet { least: look.least, look: look.most, steps: STEPS, quiet: millis(QUIET), most: millis(most) };
        let found = self.call_all_brief::<Rest, &Quiet>(frames, "quiet", |_| &args, patience.answer);
        // A frame that does not answer is on its way elsewhere, gone, or under a dialog: others tell.
        for (frame, found) in frames.iter().zip(found) {
            let Ok((_, done)) = found else { continue };
            tracing::trace!(target: "cdpilot::page", rest = ?done.result, "looked");
            seen.looked = true;
            // What changes for ever has no last change.
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

    /// Whether requests are under way that it started and whose answers may be shown.
    fn is_fetching(&self, before: &Before, now: &Traffic) -> bool {
        let is_aside = |open: &Loading| {
            ASIDE.contains(&&*open.resource_type)
                || open.answered.is_some_and(|answered| answered.elapsed() > BODY)
                || before.polled.iter().any(|polled| **polled == *path(&open.url))
                || self.is_polled(before, path(&open.url))
        };
        now.since(&self.target, before.requests).any(|open| !is_aside(open))
    }

    /// Whether the page requested an address again and again between actions.
    fn is_polled(&self, before: &Before, address: &str) -> bool {
        let acted = self.acted.lock().clone();
        let requests = self.supervisor.network_requests(&self.target);
        let alike = requests.iter().filter(|request| {
            request.number <= before.requests && path(&request.url) == address && !acted.contains(request.number)
        });
        alike.take(POLLS).count() == POLLS
    }

    /// Why there is nothing more to wait for in the document: a dialog, another document, the end. Waits for
    /// the documents of frames that it set on their way.
    fn left(&self, before: &Before, seen: &mut Seen, loading: Deadline) -> Option<Settled> {
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
            // A document is loaded when those in it are.
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
            } else if tries >= TRIES {
                return Some(Settled::NavigationPending);
            }
            if self.supervisor.caught_up(loading).is_err() {
                return Some(Settled::BrowserEnded);
            }
        }
    }

    /// Frames that show another document than before, or are new.
    fn new_documents(&self, before: &Before, seen: &Seen, now: &View) -> Vec<(FrameId, Arc<str>)> {
        let there = now.frames_of(self.target.as_str());
        let there = there.filter(|frame| frame.session_id.is_some() && !frame.loader.is_empty());
        let is_new = |frame: &&supervisor::Frame| {
            let was = before.seen.document_of(&frame.frame_id);
            was.as_ref() != Some(&frame.loader) && seen.known.get(&frame.frame_id) != Some(&frame.loader)
        };
        there.filter(is_new).map(|frame| (frame.frame_id.clone(), Arc::clone(&frame.loader))).collect()
    }

    /// Whether a frame is on its way to another document that was not before.
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

    /// Whether a navigation got an answer that was not shown: it goes into a file.
    fn was_a_download(&self, before: &Before) -> bool {
        let requests = self.supervisor.network_requests(&self.target);
        requests.iter().any(|request| {
            request.number > before.requests
                && &*request.resource_type == "document"
                && request.failure.as_deref() == Some("net::ERR_ABORTED")
                && request.status.is_some_and(|status| (200..300).contains(&status) && status != 204 && status != 205)
        })
    }

    /// Waits for the beginning of a download.
    fn begun(&self, before: &Before, deadline: Deadline) -> bool {
        let target = self.target.as_str();
        let begun = |now: &View| now.downloads.iter().any(|d| d.number > before.downloads && self.is_mine(d));
        let over = |now: &View| begun(now) || now.page(target).is_none() || self.opened_in(before, now);
        self.supervisor.wait_until(deadline.within(BEGINNING), over).is_some_and(|now| begun(&now))
    }
}

/// Numbers of the requests that were made while it was acted: the last ranges.
#[derive(Debug, Clone, Default)]
pub(in crate::page) struct Acted(VecDeque<(u64, u64)>);

impl Acted {
    /// How many ranges are remembered.
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

/// A frame and those around it.
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

/// Whether an action changes anything that is to be waited for.
fn causes(kind: &ActKind) -> bool {
    !matches!(kind, ActKind::Wait(_) | ActKind::Close {} | ActKind::Batch { .. })
}

/// An address without what is behind `?`.
fn path(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
