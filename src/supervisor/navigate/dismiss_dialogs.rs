//! Dismisses the dialogs of a page before it is navigated.
//!
//! Chromium closes the open dialog of a page when the page is navigated, and its script continues. If the script shows
//! another dialog before the server has responded, the new document waits for that dialog, and Chromium accepts no
//! answer to it. So dialogs are dismissed beforehand, and a script that opens one after another is terminated.

use std::sync::Arc;
use std::time::Duration;

use super::super::dialog_call::DialogAnswer;
use super::super::error::Error;
use super::super::handle::Supervisor;
use super::super::snapshot::{DialogType, View};
use super::super::state::Request;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Number of dialogs dismissed before their script is terminated, and in total.
const DIALOGS_BEFORE_END: usize = 3;
const MAX_DIALOGS: usize = 8;
/// Longest wait for an answer to take effect.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// Wait for the next dialog of the same script.
const NEXT_DIALOG_GRACE: Duration = Duration::from_millis(50);

/// The open native dialog of a page, unless it is `beforeunload`.
pub(super) fn dismissible_dialog(now: &View, target: &TargetId) -> Option<Arc<str>> {
    let mut here = now.dialogs_of(target.as_str());
    let native = here.find(|dialog| !dialog.bridged && dialog.kind != DialogType::BeforeUnload);
    native.map(|dialog| Arc::clone(&dialog.id))
}

impl Supervisor {
    /// Dismisses the dialogs of a page before it is navigated, as far as possible.
    pub(super) fn dismiss_dialogs(&self, target: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        for number in 0..MAX_DIALOGS {
            if number == DIALOGS_BEFORE_END && dismissible_dialog(&self.view(), target).is_some() {
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

    /// Dismisses the open dialog of a page. Returns whether it is closed now, by this or another client.
    pub(super) fn dismiss_one_dialog(&self, target: &TargetId, deadline: Deadline<'_>) -> bool {
        let Some(id) = dismissible_dialog(&self.view(), target) else { return false };
        let Err(problem) = self.respond(Some(&id), DialogAnswer::Dismiss, deadline.within(ANSWER_LIMIT)) else {
            return true;
        };
        let stays = dismissible_dialog(&self.view(), target).as_ref() == Some(&id);
        if stays {
            tracing::debug!(%problem, "cannot dismiss the dialog of a page before its navigation");
        }
        !stays
    }
}
