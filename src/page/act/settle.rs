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
/// Characters of a difference at most.
const DELTA: usize = 4_000;
/// Console errors told at most.
const ERRORS: usize = 10;

/// What there was before.
struct Before {
    seen: Arc<Snapshot>,
    log: u64,
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
        let watched = causes(&act.kind) && self.watch(&frame, deadline);
        let did = match self.perform(act, deadline) {
            Err(error) if error.is_blocked_by_dialog() && self.opened(&before) => Did::default(),
            outcome => outcome?,
        };
        let settled =
            if causes(&act.kind) { self.settle(&before, &frame, watched, deadline) } else { "done".to_owned() };
        tracing::debug!(target: "cdpilot::page", settled, took = ?began.elapsed(), "acted");
        self.tell(act, &before, did, settled, deadline)
    }

    fn before(&self) -> Before {
        let seen = self.supervisor.snapshot();
        let top = seen.page(self.target.as_str()).and_then(|page| page.top_frame.clone());
        let document = top.as_ref().and_then(|top| seen.document_of(top)).unwrap_or_default();
        Before { log: self.supervisor.log().last(), seen, top, document }
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

    fn watch(&self, frame: &Option<FrameId>, deadline: Deadline) -> bool {
        let look = deadline.within(LOOK);
        frame.as_ref().is_some_and(|frame| self.call::<u8>(frame, "watch", &json!({}), look).is_ok())
    }

    /// Waits for what it caused. Gives the reason why that counts as over.
    fn settle(&self, before: &Before, frame: &Option<FrameId>, watched: bool, deadline: Deadline) -> String {
        let loading = deadline.within(LOADING);
        // The page's answer to this comes after all that the action set off at once.
        let rest = frame.as_ref().filter(|_| watched).map(|frame| {
            let args = json!({ "quiet": millis(QUIET), "most": millis(RESTLESS) });
            self.call::<Rest>(frame, "quiet", &args, deadline.within(LOOK)).map(|(_, done)| done.result)
        });
        let Ok(now) = self.supervisor.caught_up(deadline) else { return "the supervisor ended".to_owned() };
        let target = self.target.as_str();
        if now.page(target).is_none() {
            return "the tab closed".to_owned();
        }
        if self.opened(before) {
            return "a dialog opened".to_owned();
        }
        let moved = |s: &Snapshot| {
            let document = before.top.as_ref().and_then(|top| s.document_of(top)).unwrap_or_default();
            document != before.document
        };
        if now.is_loading(target) || moved(&now) {
            let over = |s: &Snapshot| s.page(target).is_none() || self.opened_in(before, s) || !s.is_loading(target);
            let loaded = self.supervisor.wait_until(loading, over);
            return match loaded {
                Some(s) if self.opened_in(before, &s) => "a dialog opened",
                Some(_) => "it navigated and has loaded",
                None => "it navigates and still loads",
            }
            .to_owned();
        }
        match rest {
            Some(Ok(rest)) if rest.changes == 0 => "nothing changed".to_owned(),
            Some(Ok(rest)) if rest.rest => "the page changed and has come to rest".to_owned(),
            Some(Ok(_)) => "the page goes on changing".to_owned(),
            Some(Err(Error::DocumentGone { .. })) => "its frame shows another document".to_owned(),
            _ => "done".to_owned(),
        }
    }

    fn opened_in(&self, before: &Before, now: &Snapshot) -> bool {
        let known = |dialog: &Dialog| before.seen.dialogs.iter().any(|old| old.id == dialog.id);
        now.dialogs_of(self.target.as_str()).any(|dialog| !known(dialog))
    }

    fn tell(
        &self,
        act: &Act,
        before: &Before,
        did: Did,
        settled: String,
        deadline: Deadline,
    ) -> Result<Outcome, Error> {
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
            settled: Some(settled),
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
