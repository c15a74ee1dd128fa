//! Dialogs and armed answers.

use std::time::{Duration, Instant};

use super::{ArmedDialog, DialogOutcome, DialogReply, Error, Profile, TabInfo};
use cdpilot::page::Outcome;
use cdpilot::supervisor::{
    self, ArmedAnswer, ArmedDialogAnswer, ClosedDialog, Dialog, DialogAnswer, DialogMatch, LogEvent, Secrets, TargetId,
    View,
};
use cdpilot::sync::Deadline;

/// How long to wait until the owner of a new tab is known.
const OWNER: Duration = Duration::from_millis(300);
/// Log entries that are read at once.
const AT_ONCE: usize = 256;

/// A dialog opened or closed.
#[derive(Debug, Clone)]
pub(crate) struct DialogChange {
    /// When, in seconds since 1970.
    pub(crate) ts: f64,
    /// `opened` or `closed`.
    pub(crate) state: &'static str,
    /// The dialog, with its end when it is closed.
    pub(crate) dialog: serde_json::Value,
}

impl Profile {
    /// Pending and recently closed dialogs of a tab or of all tabs; none if the browser is not running. Does not wait.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn dialogs(&self, wanted: Option<&str>) -> Result<(Vec<Dialog>, Vec<ClosedDialog>), Error> {
        let Ok(running) = self.running() else { return Ok((Vec::new(), Vec::new())) };
        let target = wanted.map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let now = running.view();
        let here = |page: &TargetId| {
            target
                .as_ref()
                .map_or_else(|| self.sees(page, Deadline::after(OWNER)) == Some(true), |target| target == page)
        };
        let pending = now.dialogs.iter().filter(|dialog| here(&dialog.target_id)).cloned().collect();
        let recent = now.recent.iter().filter(|closed| here(&closed.dialog.target_id)).cloned().collect();
        Ok((pending, recent))
    }

    /// The dialogs of visible tabs that opened or closed after event `seen` of the log, which becomes the last one that was read.
    pub(crate) fn dialog_changes(&self, seen: &mut u64) -> Vec<DialogChange> {
        let mut changes = Vec::new();
        loop {
            let tail = self.events().since(*seen, AT_ONCE);
            let Some(last) = tail.entries.last() else { return changes };
            *seen = last.seq;
            for entry in &tail.entries {
                let (state, dialog) = match &*entry.event {
                    LogEvent::DialogOpened(dialog) => ("opened", serde_json::to_value(dialog)),
                    LogEvent::DialogClosed(closed) => ("closed", serde_json::to_value(closed)),
                    _ => continue,
                };
                let (Some(target), Ok(dialog)) = (&entry.target_id, dialog) else { continue };
                if self.sees(target, Deadline::after(OWNER)) == Some(true) {
                    changes.push(DialogChange { ts: entry.ts, state, dialog });
                }
            }
        }
    }

    /// Answers armed for future dialogs of a tab or of all tabs; none if the browser is not running. Does not wait.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn armed_dialogs(&self, wanted: Option<&str>) -> Result<Vec<ArmedDialog>, Error> {
        let Ok(running) = self.running() else { return Ok(Vec::new()) };
        let target = wanted.map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let (snapshot, now) = (running.view(), Instant::now());
        let tabs = self.core.tab_index.lock().list(&self.session, &snapshot.pages);
        let is_meant = |page: &Option<TargetId>| target.is_none() || page.is_none() || *page == target;
        let is_own = |client: Option<&str>| self.session.is_default() || client == self.session.actor();
        let armed = snapshot
            .armed
            .iter()
            .filter(|armed| armed.until > now && is_meant(&armed.when.target) && is_own(armed.when.client.as_deref()));
        Ok(armed.map(|armed| described(armed, &tabs)).collect())
    }

    /// Disarms the answer for the next dialog of a tab (default: the current tab). Returns how many were armed.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn disarm_dialogs(&self, wanted: Option<&str>) -> Result<usize, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        let when = DialogMatch::any().on_page(target.clone()).by(self.session.actor());
        let count = running.view().armed_for(target.as_str()).filter(|armed| armed.when == when).count();
        running.supervisor().disarm_when(when)?;
        Ok(count)
    }

    /// Pending dialogs of a page, or of all pages that the session sees.
    fn pending<'a>(&self, now: &'a View, target: Option<&'a TargetId>) -> impl Iterator<Item = &'a Dialog> {
        now.dialogs.iter().filter(move |dialog| {
            target.map_or_else(
                || self.sees(&dialog.target_id, Deadline::after(OWNER)) == Some(true),
                |target| *target == dialog.target_id,
            )
        })
    }

    /// The only pending dialog, used if none is named.
    fn only_dialog<'a>(&self, now: &'a View, target: Option<&'a TargetId>) -> Result<Option<&'a str>, Error> {
        let ids: Vec<&str> = self.pending(now, target).map(|dialog| &*dialog.id).collect();
        match ids.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => {
                let candidates = several.iter().map(|id| (*id).to_owned()).collect();
                Err(supervisor::Error::SeveralDialogs { candidates }.into())
            }
        }
    }

    /// Answers the pending dialog of a tab or of any tab. If there is none, arms the answer for the next dialog of the tab
    /// (default: the current tab). An armed answer replaces the previous one and expires after at most two minutes.
    ///
    /// # Errors
    /// [`DialogNotFound`](supervisor::Error::DialogNotFound) for a dialog that is not pending and
    /// [`SeveralDialogs`](supervisor::Error::SeveralDialogs), within [`Error::Page`]; those of [`tab`](Self::tab).
    pub fn answer_dialog(&self, reply: DialogReply, deadline: Deadline<'_>) -> Result<DialogOutcome, Error> {
        let running = self.running()?;
        let target = reply.target.as_deref().map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let supervisor = running.supervisor();
        let answer = match reply.accept {
            true => DialogAnswer::Accept(reply.prompt_text),
            false => DialogAnswer::Dismiss,
        };
        let now = supervisor.view();
        let wanted = match reply.dialog_id.as_deref() {
            Some(id) => Some(id),
            None => self.only_dialog(&now, target.as_ref())?,
        };
        if let Some(id) = wanted {
            // With a named tab, dialogs of other tabs are excluded.
            if !self.pending(&now, target.as_ref()).any(|dialog| &*dialog.id == id) {
                let known = self.pending(&now, target.as_ref()).map(|dialog| dialog.id.to_string()).collect();
                return Err(supervisor::Error::DialogNotFound { id: id.chars().take(40).collect(), known }.into());
            }
            return Ok(DialogOutcome::Answered(supervisor.respond(Some(id), answer, deadline)?));
        }
        let time = reply.timeout.unwrap_or(ArmedAnswer::LIMIT).min(ArmedAnswer::LIMIT);
        let target = match target {
            Some(target) => target,
            None => self.find(&running, None, false)?,
        };
        let when = DialogMatch::any().on_page(target.clone()).by(self.session.actor());
        let replaced = {
            let tabs = self.core.tab_index.lock().list(&self.session, &now.pages);
            now.armed_for(target.as_str()).find(|armed| armed.when == when).map(|armed| described(armed, &tabs))
        };
        supervisor.arm_anew(ArmedAnswer::new(answer.clone()).when(when.clone()).within(time))?;
        // One that opened in between was too early for it.
        let now = supervisor.view();
        let Some(id) = self.only_dialog(&now, Some(&target))? else {
            return Ok(DialogOutcome::Armed { time, replaced });
        };
        supervisor.disarm_when(when)?;
        Ok(DialogOutcome::Answered(supervisor.respond(Some(id), answer, deadline)?))
    }

    /// Answers the pending dialog like [`answer_dialog`](Self::answer_dialog), then waits until the page has settled; `redact`
    /// masks secrets in the reported changes.
    ///
    /// # Errors
    /// As [`answer_dialog`](Self::answer_dialog).
    pub fn answer_and_settle(
        &self,
        reply: DialogReply,
        redact: Option<&Secrets>,
        deadline: Deadline<'_>,
    ) -> Result<(DialogOutcome, Option<Outcome>), Error> {
        let running = self.running()?;
        let now = running.view();
        let wanted = reply.dialog_id.as_deref();
        let dialog = self.pending(&now, None).find(|dialog| wanted.is_none_or(|wanted| &*dialog.id == wanted));
        let Some(dialog) = dialog else { return Ok((self.answer_dialog(reply, deadline)?, None)) };
        let tab = running.tabs.tab(&dialog.target_id)?;
        let (answered, outcome) =
            tab.settle_after(dialog.frame_id.clone(), redact, deadline, || self.answer_dialog(reply, deadline))?;
        Ok((answered, Some(outcome)))
    }
}

/// An armed answer, with the tab id of its tab.
fn described(armed: &ArmedDialogAnswer, tabs: &[TabInfo]) -> ArmedDialog {
    let page = armed.when.target.as_ref().map(ToString::to_string);
    let left = armed.until.saturating_duration_since(Instant::now());
    ArmedDialog {
        tab_id: tabs.iter().find(|tab| Some(&tab.target_id) == page.as_ref()).map(|tab| tab.tab_id.clone()),
        target_id: page,
        accept: armed.accept,
        kind: armed.when.kind,
        expires_in_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
    }
}
