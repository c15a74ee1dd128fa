//! What an action caused, and when that has ended.
//!
//! Causes are looked for where they can be seen: in the document that was acted on (changes), in what the
//! supervisor was told before the page answered again (dialogs, navigations, tabs, requests). An action
//! that caused nothing is over at once; nothing is waited for on suspicion.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::super::see::SnapshotOptions;
use super::super::{Error, Tab};
use super::{Act, Did, Kind, Outcome};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, ConsoleLevel, Dialog, Kind as Noted, Snapshot};
use crate::sync::Deadline;

/// A document that has not changed for so long has come to rest.
const QUIET: Duration = Duration::from_millis(30);
/// So long a document may go on changing before the action counts as over all the same.
const RESTLESS: Duration = Duration::from_millis(1000);
/// So long a navigation may take, and requests that the action started.
const LOADING: Duration = Duration::from_secs(10);
/// How long the look at the page itself may take, which is over at once where the page answers.
const LOOK: Duration = Duration::from_millis(1500);
/// How often dialogs and navigations are looked for while requests are under way.
const SLICE: Duration = Duration::from_millis(50);
/// Characters of a difference at most.
const DELTA: usize = 4_000;
/// Console errors told at most.
const ERRORS: usize = 10;

/// What there was before.
struct Before {
    seen: Arc<Snapshot>,
    log: u64,
    /// The newest request.
    requests: u64,
    top: Option<FrameId>,
    document: Arc<str>,
}

/// How it ended.
#[derive(Debug, Deserialize)]
struct Rest {
    changes: u64,
    rest: bool,
}

impl Tab {
    /// Does it, and answers when what it caused has ended.
    pub(super) fn settled(&self, act: &Act, deadline: Deadline) -> Result<Outcome, Error> {
        if let Kind::Batch { actions, stop_on_error } = &act.kind {
            return self.batch(actions, stop_on_error.unwrap_or(true), deadline);
        }
        let began = Instant::now();
        let before = self.before();
        if let Some(open) = before.seen.dialogs_of(self.target.as_str()).next() {
            return Err(supervisor::Error::blocked_by_dialog("act", &open.id).into());
        }
        let frame = self.acted_frame(act);
        let frame = frame.filter(|frame| causes(&act.kind) && self.watch(frame, deadline));
        let did = match self.perform(act, deadline) {
            Err(error) if error.is_blocked_by_dialog() && self.opened(&before) => Did::default(),
            outcome => outcome?,
        };
        let settled = if causes(&act.kind) { self.settle(&before, frame.as_ref(), deadline) } else { "done" };
        tracing::debug!(target: "cdpilot::page", settled, took = ?began.elapsed(), "acted");
        self.tell(act, &before, did, settled, deadline)
    }

    fn before(&self) -> Before {
        let seen = self.supervisor.snapshot();
        let top = seen.page(self.target.as_str()).and_then(|page| page.top_frame.clone());
        let document = top.as_ref().and_then(|top| seen.document_of(top)).unwrap_or_default();
        Before { log: self.supervisor.log().last(), requests: self.supervisor.traffic().last, seen, top, document }
    }

    /// Whether a dialog has opened since.
    fn opened(&self, before: &Before) -> bool {
        self.opened_in(before, &self.supervisor.snapshot())
    }

    /// The frame whose document is looked at for changes.
    fn acted_frame(&self, act: &Act) -> Option<FrameId> {
        let named = act.kind.locator().and_then(|at| match (&at.reference, &at.frame_id) {
            (Some(reference), _) => self.resolve(reference).ok().map(|(node, _)| node.frame),
            (None, frame) => frame.as_deref().map(FrameId::from),
        });
        named.or_else(|| self.top().ok())
    }

    fn watch(&self, frame: &FrameId, deadline: Deadline) -> bool {
        self.call::<u8>(frame, "watch", &json!({}), deadline.within(LOOK)).is_ok()
    }

    /// Waits for what it caused. Gives the reason why that counts as over.
    fn settle(&self, before: &Before, frame: Option<&FrameId>, deadline: Deadline) -> &'static str {
        let loading = deadline.within(LOADING);
        let mut changed = false;
        loop {
            // The page's answer to this comes after all that the action set off at once.
            let rest = frame.map(|frame| {
                let args = json!({ "quiet": millis(QUIET), "most": millis(RESTLESS) });
                self.call::<Rest>(frame, "quiet", &args, deadline.within(LOOK)).map(|(_, done)| done.result)
            });
            if self.supervisor.caught_up(deadline).is_err() {
                return "the supervisor ended";
            }
            if let Some(reason) = self.left(before, loading) {
                return reason;
            }
            match rest {
                Some(Ok(rest)) if !rest.rest => return "the page goes on changing",
                Some(Ok(rest)) => changed |= rest.changes > 0,
                Some(Err(Error::DocumentGone { .. })) => return "its frame shows another document",
                _ => {}
            }
            if !self.is_fetching(before) {
                return if changed { "the page changed and has come to rest" } else { "nothing changed" };
            }
            changed = true;
            while self.is_fetching(before) {
                if loading.passed() {
                    return "requests that it started are under way still";
                }
                if let Some(reason) = self.left(before, loading) {
                    return reason;
                }
                // A dialog or a navigation is told elsewhere, so it is looked for by the way.
                let slice = loading.within(SLICE);
                self.supervisor.wait_traffic(slice, |now| now.since(&self.target, before.requests).next().is_none());
            }
        }
    }

    /// Whether requests that it started are under way.
    fn is_fetching(&self, before: &Before) -> bool {
        self.supervisor.traffic().since(&self.target, before.requests).next().is_some()
    }

    /// Why there is nothing more to wait for in the document: a dialog, another document, the end.
    fn left(&self, before: &Before, loading: Deadline) -> Option<&'static str> {
        let target = self.target.as_str();
        let now = self.supervisor.snapshot();
        if now.page(target).is_none() {
            return Some("the tab closed");
        }
        if self.opened_in(before, &now) {
            return Some("a dialog opened");
        }
        let document = before.top.as_ref().and_then(|top| now.document_of(top)).unwrap_or_default();
        if !now.is_loading(target) && document == before.document {
            return None;
        }
        let over = |s: &Snapshot| s.page(target).is_none() || self.opened_in(before, s) || !s.is_loading(target);
        Some(match self.supervisor.wait_until(loading, over) {
            Some(s) if self.opened_in(before, &s) => "a dialog opened",
            Some(_) => "it navigated and has loaded",
            None => "it navigates and still loads",
        })
    }

    fn opened_in(&self, before: &Before, now: &Snapshot) -> bool {
        let known = |dialog: &Dialog| before.seen.dialogs.iter().any(|old| old.id == dialog.id);
        now.dialogs_of(self.target.as_str()).any(|dialog| !known(dialog))
    }

    fn tell(&self, act: &Act, before: &Before, did: Did, settled: &str, deadline: Deadline) -> Result<Outcome, Error> {
        let now = self.supervisor.snapshot();
        let target = self.target.as_str();
        let was = before.seen.page(target);
        let page = now.page(target);
        let document = before.top.as_ref().and_then(|top| now.document_of(top)).unwrap_or_default();
        let pending: Vec<Dialog> = now.dialogs_of(target).cloned().collect();
        let mut told = Outcome {
            target_id: Some(self.target.clone()),
            url: page.or(was).map(|page| page.url.to_string()).unwrap_or_default(),
            result: did.result,
            navigated: page.is_some()
                && (document != before.document || page.map(|page| &page.url) != was.map(|page| &page.url)),
            new_tabs: self.new_tabs(before, &now),
            console_errors: self.errors_since(before),
            blocked_by_dialog: !pending.is_empty(),
            pending_dialogs: pending,
            input: did.input,
            rescued: did.rescued,
            settled: Some(settled.to_owned()),
            ..Outcome::default()
        };
        if act.delta && !told.blocked_by_dialog && page.is_some() {
            let options = SnapshotOptions { diff: true, max_chars: DELTA, fold: true, ..SnapshotOptions::default() };
            told.delta = self.snapshot(&options, deadline).ok().and_then(|seen| seen.snapshot);
        }
        Ok(told)
    }

    fn new_tabs(&self, before: &Before, now: &Snapshot) -> Vec<TargetId> {
        let new = now.pages.iter().filter(|page| before.seen.page(page.target_id.as_str()).is_none());
        new.filter(|page| page.opener.as_ref() == Some(&self.target)).map(|page| page.target_id.clone()).collect()
    }

    fn errors_since(&self, before: &Before) -> Vec<String> {
        #[derive(Deserialize)]
        struct Said {
            level: String,
            text: String,
        }
        let worst = [ConsoleLevel::Error, ConsoleLevel::Exception];
        let is_bad = |level: &str| worst.iter().any(|bad| serde_json::to_value(bad).is_ok_and(|bad| bad == level));
        let tail = self.supervisor.log().since(before.log, 1000);
        let ours =
            tail.entries.iter().filter(|e| e.kind == Noted::Console && e.target_id.as_ref() == Some(&self.target));
        let said = ours.filter_map(|entry| serde_json::from_str::<Said>(entry.data.get()).ok());
        said.filter(|said| is_bad(&said.level)).take(ERRORS).map(|said| said.text).collect()
    }
}

/// Whether an action changes anything that is to be waited for.
fn causes(kind: &Kind) -> bool {
    !matches!(kind, Kind::Wait(_) | Kind::Close {} | Kind::Batch { .. })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
