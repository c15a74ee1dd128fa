//! Dialogs of a page that is to be sent elsewhere.
//!
//! Chromium closes the dialog that a page shows when the page is sent elsewhere, and the script goes on. Should it show
//! another one before the server has answered, the new document waits for that dialog, and Chromium takes no answer to it
//! any more. So dialogs are put away before, and a script that shows one after another is ended.

use std::sync::Arc;
use std::time::Duration;

use super::super::dialog_call::DialogAnswer;
use super::super::error::Error;
use super::super::handle::Supervisor;
use super::super::snapshot::{DialogType, Snapshot};
use super::super::state::Request;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Dialogs that are put away before the script that shows them is ended, and in all.
const DIALOGS_BEFORE_END: usize = 3;
const MAX_DIALOGS: usize = 8;
/// What an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// How long it is waited for the next dialog of the same script.
const NEXT_DIALOG_GRACE: Duration = Duration::from_millis(50);

/// A dialog of a page that keeps it from leaving, and that can be answered: not the question whether it may leave.
pub(super) fn dismissible_dialog(now: &Snapshot, target: &TargetId) -> Option<Arc<str>> {
    let mut here = now.dialogs_of(target.as_str());
    let native = here.find(|dialog| !dialog.bridged && dialog.kind != DialogType::BeforeUnload);
    native.map(|dialog| Arc::clone(&dialog.id))
}

impl Supervisor {
    /// Puts away what a page shows before it leaves, as far as it can be answered.
    pub(super) fn dismiss_dialogs(&self, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        for number in 0..MAX_DIALOGS {
            if number == DIALOGS_BEFORE_END && dismissible_dialog(&self.snapshot(), target).is_some() {
                self.ask("terminating the script", deadline, |reply| Request::EndScripts {
                    target: target.clone(),
                    reply,
                })?;
            }
            if !self.dismiss_one_dialog(target, deadline) {
                break;
            }
            self.wait_until(deadline.within(NEXT_DIALOG_GRACE), |now| dismissible_dialog(now, target).is_some());
        }
        Ok(())
    }

    /// Puts away the dialog that a page shows, if it shows one. Whether it did so, or somebody else.
    pub(super) fn dismiss_one_dialog(&self, target: &TargetId, deadline: Deadline) -> bool {
        let Some(id) = dismissible_dialog(&self.snapshot(), target) else { return false };
        let Err(problem) = self.respond(Some(&id), DialogAnswer::Dismiss, deadline.within(ANSWER_LIMIT)) else {
            return true;
        };
        let stays = dismissible_dialog(&self.snapshot(), target).as_ref() == Some(&id);
        if stays {
            tracing::debug!(%problem, "a dialog of a page that leaves cannot be put away");
        }
        !stays
    }
}
