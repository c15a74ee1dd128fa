//! Dialogs, and answers to those to come.

use std::time::Instant;

use super::{ArmedDialog, DialogOutcome, DialogReply, Error, Profile};
use crate::page::Outcome;
use crate::supervisor::{self, ArmedAnswer, ClosedDialog, Dialog, DialogAnswer, DialogMatch, Secrets, TargetId, View};
use crate::sync::Deadline;

impl Profile {
    /// The dialogs that wait and the last ones that closed, of a tab or of all. None when the browser does not run.
    /// Waits for nothing.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn dialogs(&self, wanted: Option<&str>) -> Result<(Vec<Dialog>, Vec<ClosedDialog>), Error> {
        let Ok(running) = self.running() else { return Ok((Vec::new(), Vec::new())) };
        let target = wanted.map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let now = running.view();
        let here = |page: &TargetId| target.as_ref().is_none_or(|target| target == page);
        let pending = now.dialogs.iter().filter(|dialog| here(&dialog.target_id)).cloned().collect();
        let recent = now.recent.iter().filter(|closed| here(&closed.dialog.target_id)).cloned().collect();
        Ok((pending, recent))
    }

    /// The answers that are armed for dialogs to come, of a tab or of all. None when the browser does not run. Waits for
    /// nothing.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn armed_dialogs(&self, wanted: Option<&str>) -> Result<Vec<ArmedDialog>, Error> {
        let Ok(running) = self.running() else { return Ok(Vec::new()) };
        let target = wanted.map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let (snapshot, now) = (running.view(), Instant::now());
        let tabs = self.book.lock().list(&snapshot.pages);
        let is_meant = |page: &Option<TargetId>| target.is_none() || page.is_none() || *page == target;
        let armed = snapshot.armed.iter().filter(|armed| armed.until > now && is_meant(&armed.when.target));
        let view = armed.map(|armed| {
            let page = armed.when.target.as_ref().map(ToString::to_string);
            let tab = tabs.iter().find(|tab| Some(&tab.target_id) == page.as_ref());
            ArmedDialog {
                tab_id: tab.map(|tab| tab.tab_id.clone()),
                target_id: page,
                accept: armed.accept,
                kind: armed.when.kind,
                expires_in_ms: u64::try_from(armed.until.duration_since(now).as_millis()).unwrap_or(u64::MAX),
            }
        });
        Ok(view.collect())
    }

    /// Takes back the answer that is armed for the next dialog of a tab, the current one by default. Returns how many there
    /// were.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn disarm_dialogs(&self, wanted: Option<&str>) -> Result<usize, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        let when = DialogMatch::any().on_page(target.clone());
        let count = running.view().armed_for(target.as_str()).filter(|armed| armed.when == when).count();
        running.supervisor().disarm_when(when)?;
        Ok(count)
    }

    /// Answers the dialog that is pending, of a tab or of any; when there is none, the next one of the tab or of the
    /// current one. An answer for later takes the place of the one before it, and waits two minutes at most.
    ///
    /// # Errors
    /// [`DialogNotFound`](supervisor::Error::DialogNotFound) for a dialog that is not pending and
    /// [`SeveralDialogs`](supervisor::Error::SeveralDialogs), within [`Error::Page`]; those of [`tab`](Self::tab).
    pub fn answer_dialog(&self, reply: DialogReply, deadline: Deadline) -> Result<DialogOutcome, Error> {
        let running = self.running()?;
        let target = reply.target.as_deref().map(|wanted| self.find(&running, Some(wanted), false)).transpose()?;
        let supervisor = running.supervisor();
        let answer = match reply.accept {
            true => DialogAnswer::Accept(reply.prompt_text),
            false => DialogAnswer::Dismiss,
        };
        let now = supervisor.view();
        if let Some(id) = reply.dialog_id.as_deref().or(the_one(&now, target.as_ref())?) {
            // With a tab named, a dialog of another one is not meant.
            if !pending(&now, target.as_ref()).any(|dialog| &*dialog.id == id) {
                let known = pending(&now, target.as_ref()).map(|dialog| dialog.id.to_string()).collect();
                return Err(supervisor::Error::DialogNotFound { id: id.chars().take(40).collect(), known }.into());
            }
            return Ok(DialogOutcome::Answered(supervisor.respond(Some(id), answer, deadline)?));
        }
        let time = reply.timeout.unwrap_or(ArmedAnswer::LIMIT).min(ArmedAnswer::LIMIT);
        let target = match target {
            Some(target) => target,
            None => self.find(&running, None, false)?,
        };
        let when = DialogMatch::any().on_page(target.clone());
        supervisor.arm_anew(ArmedAnswer::new(answer.clone()).when(when.clone()).within(time))?;
        // One that opened in between was too early for it.
        let now = supervisor.view();
        let Some(id) = the_one(&now, Some(&target))? else { return Ok(DialogOutcome::Armed(time)) };
        supervisor.disarm_when(when)?;
        Ok(DialogOutcome::Answered(supervisor.respond(Some(id), answer, deadline)?))
    }

    /// Answers the dialog that is pending as [`answer_dialog`](Self::answer_dialog) does, and waits for what its page does
    /// then; `redact` covers secrets in what it reports as changed.
    ///
    /// # Errors
    /// As [`answer_dialog`](Self::answer_dialog).
    pub fn answer_and_settle(
        &self,
        reply: DialogReply,
        redact: Option<&Secrets>,
        deadline: Deadline,
    ) -> Result<(DialogOutcome, Option<Outcome>), Error> {
        let running = self.running()?;
        let now = running.view();
        let wanted = reply.dialog_id.as_deref();
        let dialog = now.dialogs.iter().find(|dialog| wanted.is_none_or(|wanted| &*dialog.id == wanted));
        let Some(dialog) = dialog else { return Ok((self.answer_dialog(reply, deadline)?, None)) };
        let tab = running.tabs.tab(&dialog.target_id)?;
        let (answered, outcome) =
            tab.settle_after(dialog.frame_id.clone(), redact, deadline, || self.answer_dialog(reply, deadline))?;
        Ok((answered, Some(outcome)))
    }
}

/// The dialogs that wait on a page, or on any.
fn pending<'a>(now: &'a View, target: Option<&'a TargetId>) -> impl Iterator<Item = &'a Dialog> {
    now.dialogs.iter().filter(move |dialog| target.is_none_or(|target| *target == dialog.target_id))
}

/// The dialog that is meant where none is named.
fn the_one<'a>(now: &'a View, target: Option<&'a TargetId>) -> Result<Option<&'a str>, Error> {
    let ids: Vec<&str> = pending(now, target).map(|dialog| &*dialog.id).collect();
    match ids.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let candidates = several.iter().map(|id| (*id).to_owned()).collect();
            Err(supervisor::Error::SeveralDialogs { candidates }.into())
        }
    }
}
