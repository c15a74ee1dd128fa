//! Building the answer of an action from what changed since its start.

use std::time::Duration;

use super::super::{Download, Error, Tab};
use super::settle::Before;
use super::{Act, OpenedChooser, OpenedTab, Outcome, Performed, Settled};
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{
    ClosedBy, ClosedDialog, ConsoleEntry, ConsoleLevel, Dialog, EventKind as Noted, LogEvent, PageView, Secrets, View,
};
use crate::sync::Deadline;

/// Maximum length of the changed lines, in characters.
const MAX_CHANGES: usize = 4_000;
/// How long a new tab may take to start its navigation: milliseconds on a machine that is not overloaded.
const NEW_TAB_URL: Duration = Duration::from_secs(2);
/// How long to wait for the document of a new tab after that, so that its title can be reported.
const NEW_TAB_TITLE: Duration = Duration::from_millis(700);
/// Maximum number of console errors and file choosers in an answer.
const MAX_ENTRIES: usize = 10;

impl Tab {
    /// With `delta`: adds the changes of the page.
    pub(super) fn with_delta(
        &self,
        act: &Act,
        deadline: Deadline<'_>,
        run: impl FnOnce() -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        if !act.delta {
            return run();
        }
        self.arrived(deadline)?;
        let redact = act.redact.as_ref();
        // Keeps the text before the action, to compare with: what is known may be old.
        self.keep_page_now(redact, deadline)?;
        let mut outcome = run()?;
        if !outcome.blocked_by_dialog {
            outcome.changes = self.changes(MAX_CHANGES, redact, deadline).ok();
        }
        Ok(outcome)
    }

    /// The lines that changed, if an earlier text of the document is known.
    pub(super) fn changes_since(
        &self,
        before: &Before,
        redact: Option<&Secrets>,
        deadline: Deadline<'_>,
    ) -> Option<String> {
        let top = self.top().ok()?;
        let is_new = self.supervisor.view().document_of(&top).is_none_or(|now| now != before.document);
        let doc = self.document(&top, deadline).ok()?;
        if is_new || self.is_page_kept(&doc, redact) { self.changes(MAX_CHANGES, redact, deadline).ok() } else { None }
    }

    pub(super) fn build_outcome(&self, before: &Before, performed: Performed, settled: Settled) -> Outcome {
        let now = self.supervisor.view();
        let target = self.target.as_str();
        let was = before.seen.page(target);
        let page = now.page(target);
        let document = before.top.as_ref().and_then(|top| now.document_of(top)).unwrap_or_default();
        let pending: Vec<Dialog> = now.dialogs_of(target).cloned().collect();
        let shows_another = page.is_some() && document != before.document;
        let status = before.top.as_ref().filter(|_| shows_another);
        let failed_load = self.supervisor.failed_document(&self.target).filter(|_| shows_another);
        let url = failed_load.as_ref().map(|failed| &failed.url).or(page.or(was).map(|page| &page.url));
        Outcome {
            target_id: Some(self.target.clone()),
            url: url.map(ToString::to_string).unwrap_or_default(),
            failed_load: failed_load.clone(),
            result: performed.result,
            hint: performed.hint,
            navigated: shows_another || (page.is_some() && page.map(|page| &page.url) != was.map(|page| &page.url)),
            status: status.and_then(|top| self.supervisor.document_status(&self.target, top, before.requests)),
            new_tabs: self.new_tabs(before, &now),
            blocked_popups: self.blocked_popups(before),
            downloads: self.downloads_since(before),
            console_errors: self.errors_since(before),
            file_choosers: self.choosers_since(before),
            answered_dialogs: self.answered_since(before, &now),
            blocked_by_dialog: !pending.is_empty(),
            pending_dialogs: pending,
            input: performed.input,
            rescued: performed.rescued,
            settled,
            element: performed.element,
            ..Outcome::default()
        }
    }

    /// Pages that this one opened since.
    fn opened<'a>(&'a self, before: &'a Before, now: &'a View) -> impl Iterator<Item = &'a PageView> {
        let new = now.pages.iter().filter(|page| before.seen.page(page.target_id.as_str()).is_none());
        // A page opened with Control or the middle button has no opener.
        new.filter(|page| page.opener.as_ref().map_or(!page.own, |opener| *opener == self.target))
    }

    /// Waits until URL and title of new tabs are known, or what was opened is a download.
    pub(super) fn wait_for_opened(&self, before: &Before, deadline: Deadline<'_>) {
        let is_known = |now: &View, page: &PageView| {
            let has_dialog = now.dialogs_of(page.target_id.as_str()).next().is_some();
            let saves = || now.downloads.iter().any(|download| download.target_id == page.target_id);
            has_dialog || (!page.is_arriving && !page.title.is_empty()) || saves()
        };
        let known = |now: &View| self.opened(before, now).all(|page| is_known(now, page));
        let has_address = |page: &PageView| !page.is_arriving || !page.url.is_empty();
        let addressed = |now: &View| self.opened(before, now).all(has_address);
        if !known(&self.supervisor.view()) {
            // Chromium reports the requested URL at once, whatever the server does.
            self.supervisor.wait_until(deadline.within(NEW_TAB_URL), addressed);
            self.supervisor.wait_until(deadline.within(NEW_TAB_TITLE), known);
        }
    }

    fn new_tabs(&self, before: &Before, now: &View) -> Vec<OpenedTab> {
        let opened = self.opened(before, now).map(|page| OpenedTab {
            target_id: page.target_id.clone(),
            tab_id: self.options.tab_names.as_ref().and_then(|names| names.of(&page.target_id, now)),
            url: page.url.to_string(),
            title: page.title.to_string(),
        });
        opened.collect()
    }

    fn blocked_popups(&self, before: &Before) -> usize {
        let tail = self.supervisor.log().since(before.log, 1000);
        let is_from_here = |opener: &Option<TargetId>| opener.as_ref().is_none_or(|opener| *opener == self.target);
        tail.entries.iter().filter(|e| e.kind() == Noted::PopupBlocked && is_from_here(&e.target_id)).count()
    }

    fn downloads_since(&self, before: &Before) -> Vec<Download> {
        let mut downloads = self.downloads();
        downloads.retain(|download| download.number > before.downloads);
        downloads
    }

    /// Dialogs that opened since and were answered automatically.
    fn answered_since(&self, before: &Before, now: &View) -> Vec<ClosedDialog> {
        let was_there = |id: &str| {
            before.seen.recent.iter().any(|old| *old.dialog.id == *id)
                || before.seen.dialogs.iter().any(|old| *old.id == *id)
        };
        let answered = now.recent.iter().filter(|closed| {
            matches!(closed.closed_by, ClosedBy::Armed | ClosedBy::AutoPolicy)
                && closed.dialog.target_id == self.target
                && !was_there(&closed.dialog.id)
        });
        answered.cloned().collect()
    }

    fn choosers_since(&self, before: &Before) -> Vec<OpenedChooser> {
        let tail = self.supervisor.log().since(before.log, 1000);
        let ours = tail.entries.iter().filter(|entry| entry.target_id.as_ref() == Some(&self.target));
        let opened = ours.filter_map(|entry| match &*entry.event {
            LogEvent::FileChooser { files, problem, .. } => {
                Some(OpenedChooser { files: files.clone(), problem: problem.clone() })
            }
            _ => None,
        });
        opened.take(MAX_ENTRIES).collect()
    }

    /// The number of file choosers that opened since and get files.
    pub(super) fn files_given_since(&self, before: &Before) -> usize {
        self.choosers_since(before).iter().filter(|opened| !opened.files.is_empty() && opened.problem.is_none()).count()
    }

    fn errors_since(&self, before: &Before) -> Vec<String> {
        let is_error = |entry: &ConsoleEntry| matches!(entry.level, ConsoleLevel::Error | ConsoleLevel::Exception);
        let tail = self.supervisor.log().since(before.log, 1000);
        let ours = tail.entries.iter().filter(|entry| entry.target_id.as_ref() == Some(&self.target));
        let errors = ours.filter_map(|entry| match &*entry.event {
            LogEvent::Console(entry) if is_error(entry) => Some(entry.text.to_string()),
            _ => None,
        });
        errors.take(MAX_ENTRIES).collect()
    }
}
