//! Dialogs of a page that is to be sent elsewhere.
//!
//! Chromium closes the dialog that a page shows when the page is sent elsewhere, and the script goes on. Should it show
//! another one before the server has answered, the new document waits for that dialog, and Chromium takes no answer to it
//! any more. So dialogs are put away before, and a script that shows one after another is ended.

use std::sync::Arc;
use std::time::Duration;

use super::dialog_call::DialogAnswer;
use super::error::Error;
use super::handle::Supervisor;
use super::snapshot::{DialogType, View};
use super::state::Request;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Dialogs that are put away before the script that shows them is ended, and in all.
const DIALOGS: usize = 3;
const ALL: usize = 8;
/// What an answer may take.
const ANSWER: Duration = Duration::from_secs(1);
/// How long it is waited for the next dialog of the same script.
const NEXT: Duration = Duration::from_millis(50);

/// A dialog of a page that keeps it from leaving, and that can be answered: not the question whether it may leave.
pub(super) fn in_the_way(now: &View, target: &TargetId) -> Option<Arc<str>> {
    let mut here = now.dialogs_of(target.as_str());
    let native = here.find(|dialog| !dialog.bridged && dialog.kind != DialogType::BeforeUnload);
    native.map(|dialog| Arc::clone(&dialog.id))
}

impl Supervisor {
    /// Puts away what a page shows before it leaves, as far as it can be answered.
    pub(super) fn put_dialogs_away(&self, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        for number in 0..ALL {
            if number == DIALOGS && in_the_way(&self.view(), target).is_some() {
                self.ask("ending the script", deadline, |reply| Request::EndScripts { target: target.clone(), reply })?;
            }
            if !self.put_one_away(target, deadline) {
                break;
            }
            self.wait_until(deadline.within(NEXT), |now| in_the_way(now, target).is_some());
        }
        Ok(())
    }

    /// Puts away the dialog that a page shows, if it shows one. Whether it did so, or somebody else.
    pub(super) fn put_one_away(&self, target: &TargetId, deadline: Deadline) -> bool {
        let Some(id) = in_the_way(&self.view(), target) else { return false };
        let Err(problem) = self.respond(Some(&id), DialogAnswer::Dismiss, deadline.within(ANSWER)) else { return true };
        let stays = in_the_way(&self.view(), target).as_ref() == Some(&id);
        if stays {
            tracing::debug!(%problem, "a dialog of a page that leaves cannot be put away");
        }
        !stays
    }
}
