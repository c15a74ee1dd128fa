//! Sessions and the attach procedure, which never waits.
//!
//! All commands of the attach are sent at once, the resume command last: a paused target continues as soon as it has
//! received the others, and a target that hangs delays no other.
//!
//! The browser attaches to all pages (`Target.setAutoAttach`, paused on start), each page to all its child targets.
//! Without the pause a popup could open a dialog before `Page.enable`, and such a dialog can be neither seen nor
//! answered. A page is `Ready` when the commands are answered, and `Unresponsive` after `ATTACH_LIMIT`. A target that
//! does not belong to the task is released: resumed if it waits, and detached.
//!
//! When a renderer is replaced, Chromium 156 restores the settings that the old one had confirmed. A target that
//! crashes before all of them are confirmed is set up again when `Inspector.targetReloadedAfterCrash` reports its new
//! renderer. A session that is attached to a crashed target gets no such event: its commands wait, and are refused with
//! "Target crashed" when the target is loaded again. They are then repeated at once.
//!
//! One kind of popup cannot be caught: `window.open('about:blank')`, which its opener writes to and makes alert in one
//! step. It blocks the opener's thread before the popup's session exists in the renderer. Closing or navigating the
//! popup frees both.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::log::LogEvent as Noted;
use super::super::options::Pages;
use super::super::snapshot::{BridgeLife, PageState};
use super::pages::Ownership;
use super::{Effect, Now, Outgoing, SessionKey, State, Waiting};
use crate::cdp::protocol::page::{FrameId, GetFrameTreeReturns};
use crate::cdp::protocol::target::{AttachedToTargetEvent, TargetId, TargetInfo};
use crate::cdp::protocol::{network, page, runtime, target};
use crate::cdp::{self, GoneReason, RawReply};

/// A page that has not answered the attach within this time counts as unresponsive.
pub(in crate::supervisor) const ATTACH_LIMIT: Duration = Duration::from_secs(5);
/// How often an attach is repeated because the target had crashed before.
const REPEATS: u8 = 3;
/// The error of Chromium 156 for commands that were pending when the renderer crashed.
const CRASHED: &str = "Target crashed";

/// The type of target that a session is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionKind {
    Page,
    Iframe,
    Worker,
    /// A shared worker: it has no page, and is attached only for its requests.
    Shared,
    Other,
}

impl SessionKind {
    fn of(kind: &str) -> Self {
        match kind {
            "page" => Self::Page,
            "iframe" => Self::Iframe,
            "worker" | "shared_worker" | "service_worker" => Self::Worker,
            _ => Self::Other,
        }
    }

    pub(super) fn has_network(self) -> bool {
        matches!(self, Self::Page | Self::Iframe | Self::Worker)
    }

    pub(super) fn has_frames(self) -> bool {
        matches!(self, Self::Page | Self::Iframe)
    }
}

/// A live session.
#[derive(Debug)]
pub(super) struct SessionRec {
    pub(super) kind: SessionKind,
    pub(super) target: TargetId,
    pub(super) page: TargetId,
    /// Number of unanswered steps of the attach.
    open_steps: u8,
    /// Whether a step of the attach failed.
    has_failed: bool,
    /// Whether one failed because the target has crashed.
    was_refused: bool,
    /// Whether all steps of the attach have succeeded: Chromium keeps the settings when the renderer is replaced.
    is_set_up: bool,
    /// Whether its target has crashed since the attach.
    has_crashed: bool,
    /// How often the attach may still be repeated without a report that the renderer is back.
    repeats: u8,
    since: Instant,
    pub(super) bridge: BridgeLife,
}

impl SessionRec {
    fn new(kind: SessionKind, target: TargetId, page: TargetId, now: Now) -> Self {
        let (since, bridge) = (now.instant, BridgeLife::Off);
        let (has_failed, was_refused, is_set_up, has_crashed) = (false, false, false, false);
        let (open_steps, repeats) = (0, REPEATS);
        Self { kind, target, page, open_steps, has_failed, was_refused, is_set_up, has_crashed, repeats, since, bridge }
    }

    /// The frame that the session is attached to: the id of a frame target is the id of its frame.
    pub(super) fn frame(&self) -> Option<FrameId> {
        self.kind.has_frames().then(|| FrameId::from(self.target.as_str()))
    }
}

/// A step of the attach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A command whose answer has no content.
    Plain,
    /// The frame tree.
    FrameTree,
    /// The frame tree again, after events were lost or a document came back from the cache.
    Reseed,
}

impl State {
    pub(super) fn attached(&mut self, event: &AttachedToTargetEvent, parent: Option<&SessionKey>, now: Now) {
        let session: SessionKey = event.session_id.as_str().into();
        let (info, waits) = (&event.target_info, event.waiting_for_debugger);
        match parent {
            Some(parent) => match self.page_of(parent) {
                Some(page) => self.adopt_child(&session, info, parent, page, now),
                None => self.let_go(session, None, waits),
            },
            None if info.r#type == "shared_worker" && self.watches_shared_workers() => {
                self.adopt_shared_worker(&session, info, now);
            }
            // Its session belongs to the caller that opened it.
            None if self.requests.is_reserved(&info.target_id) => {}
            None if info.r#type != "page" => self.let_go(session, None, waits),
            None => match self.belongs(info) {
                Ownership::Yes => self.adopt_page(&session, info, now),
                Ownership::No => self.let_go(session, waiting_opener(info), waits),
                Ownership::NotYetKnown => self.requests.hold(session, info.clone(), waits, now),
            },
        }
    }

    /// The command that attaches to the pages, and to the workers that they share if they are watched.
    pub(super) fn attach_pages(&self) -> target::SetAutoAttach {
        let only = |kind: &str| target::FilterEntry { exclude: None, r#type: Some(kind.to_owned()) };
        let workers = self.watches_shared_workers().then(|| only("shared_worker"));
        let others = target::FilterEntry { exclude: Some(true), r#type: None };
        let mut attach = auto_attach();
        attach.filter = Some([only("page")].into_iter().chain(workers).chain([others]).collect());
        attach
    }

    /// Detaches from a target of another task. It is resumed only if it waits: otherwise a popup that it opens at that moment would be
    /// resumed before its owner is ready (Chromium 156).
    pub(super) fn let_go(&mut self, session: SessionKey, opener: Option<TargetId>, waits: bool) {
        self.effects.push(Effect::Release { session, opener, waits });
    }

    pub(super) fn adopt_page(&mut self, session: &SessionKey, info: &TargetInfo, now: Now) {
        match self.page_index(&info.target_id) {
            Some(index) if self.sessions.contains_key(&self.pages[index].session) => {
                return; // already attached; the first session stays
            }
            Some(index) => self.page_back(index, session, info),
            None => {
                self.page_in(session, info, now);
                self.join_popup(info);
            }
        }
        self.catch_downloads_in(info.browser_context_id.clone());
        self.add_session(session, SessionKind::Page, info, info.target_id.clone(), now);
        self.locate(&info.target_id, &info.url);
        self.claim_downloads(now);
    }

    fn adopt_child(&mut self, session: &SessionKey, info: &TargetInfo, parent: &SessionKey, page: TargetId, now: Now) {
        let kind = SessionKind::of(&info.r#type);
        if kind == SessionKind::Iframe {
            self.frame_target_attached(session, info, parent, &page, now);
        }
        self.add_session(session, kind, info, page, now);
    }

    /// Whether requests of shared workers are checked by the navigation policy. Only if all pages belong to the task:
    /// the pages that share a worker are not reported.
    pub(super) fn watches_shared_workers(&self) -> bool {
        self.has_navigation_policy() && matches!(self.options.pages, Pages::All)
    }

    fn adopt_shared_worker(&mut self, session: &SessionKey, info: &TargetInfo, now: Now) {
        let (target, page, kind) = (info.target_id.clone(), info.target_id.clone(), SessionKind::Shared);
        self.sessions.insert(Arc::clone(session), SessionRec::new(kind, target, page, now));
        let Some(catch) = self.catching(session) else { return };
        // `Fetch` comes first and intercepts most requests; sometimes the worker's first requests precede it.
        self.send(Some(session), 0, catch.command());
        let tag = self.expect(Waiting::Prepared { session: Arc::clone(session) });
        // For what is in effect in the target itself. Its events are of no use.
        let mut enable = network::Enable::new();
        (enable.max_total_buffer_size, enable.max_resource_buffer_size) = (Some(1), Some(1));
        enable.max_post_data_size = Some(1);
        self.send(Some(session), tag, enable);
    }

    /// A shared worker is ready for blocked URLs, and is resumed once they are set. Sent earlier, Chromium 156
    /// sometimes ignores them.
    pub(super) fn shared_worker_ready(&mut self, session: &SessionKey) {
        if !self.sessions.contains_key(session) {
            return; // it has ended
        }
        let Some(conditions) = self.conditions(session) else {
            self.send(Some(session), 0, resume());
            return;
        };
        self.navigation_checks.cut_off.insert(Arc::clone(session));
        let tag = self.expect(Waiting::Caught { session: Arc::clone(session) });
        self.send(Some(session), tag, conditions);
    }

    fn add_session(&mut self, session: &SessionKey, kind: SessionKind, info: &TargetInfo, page: TargetId, now: Now) {
        let rec = SessionRec::new(kind, info.target_id.clone(), page.clone(), now);
        self.sessions.insert(Arc::clone(session), rec);
        self.set_up(session, kind, &page);
        // Sent last; its answer is not needed.
        self.send(Some(session), 0, resume());
    }

    /// Sends the settings of a session, enables its events, and asks for its frames. All of this may be repeated.
    fn set_up(&mut self, session: &SessionKey, kind: SessionKind, page: &TargetId) {
        self.confine_session(session, kind, page);
        self.hold_session(session, kind, page);
        self.bridge_session(session);
        self.network_session(session);
        self.chooser_session(session);
        self.send_persistent_commands(session);
        if kind == SessionKind::Page && self.has_navigation_policy() && !self.options.prepared {
            self.send(Some(session), 0, page::SetPrerenderingAllowed::new(false));
        }
        if kind.has_frames() {
            self.step(session, Step::Plain, page::Enable::new());
        }
        if kind.has_frames() || kind == SessionKind::Worker {
            self.step(session, Step::Plain, runtime::Enable::new());
            self.step(session, Step::Plain, auto_attach());
        }
        self.recording_session(session);
        if kind.has_frames() {
            self.step(session, Step::FrameTree, page::GetFrameTree::new());
        }
    }

    fn step(&mut self, session: &SessionKey, step: Step, command: impl Into<Outgoing>) {
        let tag = self.expect(Waiting::Step { session: Arc::clone(session), step });
        if let Some(rec) = self.sessions.get_mut(session) {
            rec.open_steps += 1;
        }
        self.send(Some(session), tag, command);
    }

    /// Reads a session's frame tree again.
    pub(super) fn reseed(&mut self, session: &SessionKey) {
        self.step(session, Step::Reseed, page::GetFrameTree::new());
    }

    pub(super) fn step_done(
        &mut self,
        session: &SessionKey,
        step: Step,
        result: &Result<RawReply, cdp::Error>,
        now: Now,
    ) {
        let Some(rec) = self.sessions.get_mut(session) else { return };
        rec.open_steps = rec.open_steps.saturating_sub(1);
        if step != Step::Reseed
            && let Err(error) = result
        {
            rec.has_failed = true;
            rec.was_refused |= is_crash(error);
        }
        let ready = rec.open_steps == 0;
        let is_attached = ready && !rec.has_failed && !rec.is_set_up;
        rec.is_set_up |= is_attached;
        let (kind, page, was_refused) = (rec.kind, rec.page.clone(), rec.was_refused);
        if step == Step::Reseed && matches!(result, Err(cdp::Error::SessionGone { reason: GoneReason::Unknown, .. })) {
            // Its end was among the lost events, and so was whether the frame remains. If it does, it is in the frame
            // tree of the parent's session, which is read again too.
            let frame = rec.frame().filter(|_| kind == SessionKind::Iframe);
            self.detached(session, now);
            if let Some(frame) = frame.filter(|frame| self.frames.session(frame).is_none()) {
                self.frame_gone(&frame, &page, now);
            }
            return;
        }
        if step != Step::Plain
            && let Ok(raw) = result
        {
            match raw.decode::<GetFrameTreeReturns>() {
                Ok(tree) => {
                    self.seed(session, &tree.frame_tree, step == Step::Reseed, now);
                    self.claim_downloads(now);
                    if kind == SessionKind::Page {
                        self.drop_forgotten(&page, now);
                    }
                }
                Err(error) => tracing::warn!(%error, "frame tree ignored"),
            }
        }
        if ready && was_refused && step != Step::Reseed {
            if self.repeat_attach(session, now) {
                return;
            }
            if kind == SessionKind::Page {
                self.set_page_state(&page, PageState::Crashed, now);
            }
        }
        if ready && kind == SessionKind::Page {
            self.attach_answered(&page, now);
            if is_attached {
                self.ask_title(session);
            }
        }
        let is_back = is_attached || self.page_state(&page) != Some(PageState::Crashed);
        if ready && kind == SessionKind::Page && is_back {
            self.set_page_state(&page, PageState::Ready, now);
            if let Some(page) = self.page_mut(&page) {
                page.lost_dialog = None;
            }
        }
    }

    fn page_state(&self, target: &TargetId) -> Option<PageState> {
        self.page_index(target).map(|index| self.pages[index].state)
    }

    pub(super) fn detached(&mut self, session: &str, now: Now) {
        self.requests.unhold(session);
        let Some(rec) = self.sessions.remove(session) else { return };
        self.followers.session_gone(session, &rec.page);
        self.left_session(session);
        self.unguard(|gone| gone == session);
        self.forget_cut_off(|gone| gone == session);
        self.forget_recording_contexts(|gone| gone == session);
        self.forget_recording_scripts(|gone| gone == session);
        match rec.kind {
            SessionKind::Page => self.page_out(&rec.page, now),
            SessionKind::Iframe => {
                self.frame_target_detached(session, &rec.target, now);
                self.resend_process_settings(&rec.page);
            }
            SessionKind::Worker | SessionKind::Shared | SessionKind::Other => {}
        }
    }

    pub(super) fn crashed(&mut self, session: &SessionKey, now: Now) {
        let Some(rec) = self.sessions.get_mut(session) else { return };
        rec.has_failed |= !rec.is_set_up;
        rec.has_crashed = true;
        let (kind, page, target) = (rec.kind, rec.page.clone(), rec.target.clone());
        self.contexts_cleared(session);
        self.drop_children(&FrameId::from(target.as_str()));
        if kind == SessionKind::Page {
            self.set_page_state(&page, PageState::Crashed, now);
            self.stop_expecting(&page);
            self.forget_open(|target| *target == page);
            self.lose_dialogs(|dialog| dialog.target_id == page, now);
        } else {
            let frames = self.frames.on_session(session);
            self.lose_dialogs(|d| d.frame_id.as_ref().is_some_and(|f| frames.contains(f)), now);
        }
        self.note(Some(&page), now, Noted::Crashed { crashed: target });
    }

    fn set_up_again(&mut self, session: &SessionKey, now: Now) {
        let Some(rec) = self.sessions.get_mut(session) else { return };
        (rec.open_steps, rec.has_failed, rec.was_refused, rec.since) = (0, false, false, now.instant);
        let (kind, page) = (rec.kind, rec.page.clone());
        self.forget_recording_scripts(|again| *again == **session);
        self.set_up(session, kind, &page);
        self.send(Some(session), 0, resume());
    }

    /// Repeats the attach of a target that had crashed before. Chromium 156 refuses the commands of such an attach once the
    /// target is loaded again, and reports neither the crash nor its end to that session.
    fn repeat_attach(&mut self, session: &SessionKey, now: Now) -> bool {
        let rec = self.sessions.get_mut(session).filter(|rec| !rec.has_crashed && rec.repeats > 0);
        let page = rec.map(|rec| {
            rec.repeats -= 1;
            (rec.kind == SessionKind::Page).then(|| rec.page.clone())
        });
        let Some(page) = page else { return false };
        if let Some(page) = page {
            self.set_page_state(&page, PageState::Attaching, now);
        }
        self.set_up_again(session, now);
        true
    }

    /// A crashed page or frame has a process again. If it crashed while it was being attached, its attach is repeated:
    /// Chromium restores only the settings that the crashed process had confirmed.
    pub(super) fn revived(&mut self, session: &SessionKey, now: Now) {
        let Some(rec) = self.sessions.get_mut(session) else { return };
        let (kind, page, is_set_up) = (rec.kind, rec.page.clone(), rec.is_set_up);
        (rec.has_crashed, rec.repeats) = (false, REPEATS);
        if !is_set_up && kind.has_frames() {
            self.set_up_again(session, now);
        }
        if kind == SessionKind::Page {
            let state = if is_set_up { PageState::Ready } else { PageState::Attaching };
            self.set_page_state(&page, state, now);
        }
    }

    /// Marks pages whose attach takes too long as unresponsive, and releases targets held for them.
    pub(super) fn check_attaches(&mut self, now: Now) {
        let stuck: Vec<TargetId> = self
            .sessions
            .values()
            .filter(|s| s.kind == SessionKind::Page && s.open_steps > 0)
            .filter(|s| now.instant.duration_since(s.since) >= ATTACH_LIMIT)
            .map(|s| s.page.clone())
            .filter(|page| self.page_state(page) == Some(PageState::Attaching))
            .collect();
        for page in stuck {
            self.set_page_state(&page, PageState::Unresponsive, now);
        }
        for (session, opener, waits) in self.requests.held_too_long(now) {
            self.let_go(session, opener, waits);
        }
    }

    /// Time of the next [`check_attaches`](Self::check_attaches).
    pub(super) fn next_attach_check(&self, now: Now) -> Option<Instant> {
        let attaching = self.pages.iter().filter(|p| p.state == PageState::Attaching);
        let stuck = attaching.filter_map(|p| self.sessions.get(&p.session)).map(|s| s.since + ATTACH_LIMIT).min();
        [stuck, self.requests.next_check(now)].into_iter().flatten().min()
    }
}

/// Whether a command failed because the renderer of its target has crashed.
fn is_crash(error: &cdp::Error) -> bool {
    match error {
        cdp::Error::SessionGone { reason: GoneReason::Crashed, .. } => true,
        cdp::Error::Protocol { message, .. } => message.contains(CRASHED),
        _ => false,
    }
}

/// The opener of a popup that shares its process and waits for it. A popup that cannot access its opener waits for each session on
/// its own (Chromium 156), so that resuming it for one takes nothing from the others.
pub(super) fn waiting_opener(info: &TargetInfo) -> Option<TargetId> {
    info.opener_id.clone().filter(|_| info.can_access_opener == Some(true))
}

/// The command that detaches from a target. On its own it resumes neither a paused popup nor the page that opened it (Chromium 156).
pub(in crate::supervisor) fn detach(session: &SessionKey) -> target::DetachFromTarget {
    let mut detach = target::DetachFromTarget::new();
    detach.session_id = Some(target::SessionId::from(&**session));
    detach
}

/// The command that lets a new target go on.
pub(in crate::supervisor) fn resume() -> runtime::RunIfWaitingForDebugger {
    runtime::RunIfWaitingForDebugger::new()
}

/// Attaches to everything that belongs to a session. Paused on start: only a page that waits for us cannot open a dialog before
/// we can see it. Without the pause, a click that calls `window.open` hangs for seconds (Chromium 156).
fn auto_attach() -> target::SetAutoAttach {
    let mut attach = target::SetAutoAttach::new(true, true);
    attach.flatten = Some(true);
    attach
}
