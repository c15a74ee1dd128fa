//! Answering dialogs on request.

use std::time::{Duration, Instant};

use super::error::Error;
use super::handle::Supervisor;
use super::snapshot::ClosedDialog;
use super::state::Request;
use crate::sync::Deadline;

/// Greatest time an armed answer waits for its dialog.
const ARM_LIMIT: Duration = Duration::from_secs(120);

/// What to answer a dialog with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK. For a prompt with this text, or with an empty one when there is none.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}

impl DialogAnswer {
    fn parts(self) -> (bool, Option<String>) {
        match self {
            Self::Accept(text) => (true, text),
            Self::Dismiss => (false, None),
        }
    }
}

impl Supervisor {
    /// Answers a dialog: the one named, or the only one that is open. Returns its record.
    ///
    /// # Errors
    /// [`Error::NoDialog`], [`Error::SeveralDialogs`], [`Error::DialogNotFound`],
    /// [`Error::DialogGone`] when somebody else was faster, [`Error::Cdp`], [`Error::Timeout`],
    /// [`Error::NotActive`]. After an error other than the last the dialog is as it was.
    pub fn respond(
        &self,
        dialog: Option<&str>,
        answer: DialogAnswer,
        deadline: Deadline,
    ) -> Result<ClosedDialog, Error> {
        let (accept, text) = answer.parts();
        let id = dialog.map(str::to_owned);
        self.ask("answering the dialog", deadline, |reply| Request::Respond { id, accept, text, reply })
    }

    /// Arms an answer for the next dialog of the task, whatever its policy. It serves once, replaces
    /// one armed before, and is dropped after `time`, at most two minutes.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn arm(&self, answer: DialogAnswer, time: Duration) -> Result<(), Error> {
        let (accept, text) = answer.parts();
        let until = Instant::now() + time.min(ARM_LIMIT);
        // Waited for: a dialog that opens from now on finds the answer armed.
        self.ask("arming the answer", Deadline::after_secs(5), |reply| Request::Arm { accept, text, until, reply })
    }
}
