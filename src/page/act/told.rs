//! What an action answers beside what it gives: what came of it.

use serde::Deserialize;

use super::super::see::SnapshotOptions;
use super::super::{Download, Error, Tab};
use super::settle::Before;
use super::{Act, Did, Outcome};
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{ConsoleLevel, Dialog, Kind as Noted, Page, Snapshot};
use crate::sync::Deadline;

/// Characters of a difference at most.
const DELTA: usize = 4_000;
/// Console errors told at most.
const ERRORS: usize = 10;

impl Tab {
    /// Adds what changed on the page, when that is asked for.
    pub(super) fn with_delta(
        &self,
        act: &Act,
        deadline: Deadline,
        run: impl FnOnce() -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        if !act.delta {
            return run();
        }
        let top = self.top()?;
        if self.shown_last(&self.document(&top, deadline)?).is_none() {
            // For something to compare with.
            self.snapshot(&folded(), deadline)?;
        }
        let mut told = run()?;
        if !told.blocked_by_dialog {
            told.delta = self.delta(deadline);
        }
        Ok(told)
    }

    pub(super) fn tell(&self, before: &Before, did: Did, settled: &str) -> Outcome {
        let now = self.supervisor.snapshot();
        let target = self.target.as_str();
        let was = before.seen.page(target);
        let page = now.page(target);
        let document = before.top.as_ref().and_then(|top| now.document_of(top)).unwrap_or_default();
        let pending: Vec<Dialog> = now.dialogs_of(target).cloned().collect();
        Outcome {
            target_id: Some(self.target.clone()),
            url: page.or(was).map(|page| page.url.to_string()).unwrap_or_default(),
            result: did.result,
            navigated: page.is_some()
                && (document != before.document || page.map(|page| &page.url) != was.map(|page| &page.url)),
            new_tabs: self.new_tabs(before, &now),
            downloads: self.downloads_since(before),
            console_errors: self.errors_since(before),
            blocked_by_dialog: !pending.is_empty(),
            pending_dialogs: pending,
            input: did.input,
            rescued: did.rescued,
            settled: Some(settled.to_owned()),
            ..Outcome::default()
        }
    }

    /// What changed since the last snapshot, which is taken again as it was taken then.
    fn delta(&self, deadline: Deadline) -> Option<String> {
        let top = self.top().ok()?;
        let doc = self.document(&top, deadline).ok()?;
        let mut options = self.shown_last(&doc).unwrap_or_else(folded);
        (options.diff, options.max_chars) = (true, DELTA);
        self.snapshot(&options, deadline).ok()?.snapshot
    }

    fn new_tabs(&self, before: &Before, now: &Snapshot) -> Vec<TargetId> {
        let new = now.pages.iter().filter(|page| before.seen.page(page.target_id.as_str()).is_none());
        // One that is opened with Control or the middle button has no opener.
        let is_from_here = |page: &&Page| page.opener.as_ref().map_or(!page.own, |opener| *opener == self.target);
        new.filter(is_from_here).map(|page| page.target_id.clone()).collect()
    }

    fn downloads_since(&self, before: &Before) -> Vec<Download> {
        let mut downloads = self.downloads();
        downloads.retain(|download| download.number > before.downloads);
        downloads
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

fn folded() -> SnapshotOptions {
    SnapshotOptions { fold: true, ..SnapshotOptions::default() }
}
