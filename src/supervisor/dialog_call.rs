//! Answering dialogs on request.

use std::sync::Arc;
use std::time::Duration;

use super::dialog_policy::{ArmedAnswer, DialogMatch, DialogPolicy, DialogRule};
use super::error::Error;
use super::handle::Supervisor;
use super::snapshot::ClosedDialog;
use super::state::Request;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Time limit for the supervisor's thread to apply a setting.
const SETTING: Duration = Duration::from_secs(5);

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK. A prompt gets this text, or its own default text when there is none.
    Accept(Option<String>),
    /// Dismisses the dialog (Cancel).
    Dismiss,
}

impl DialogAnswer {
    pub(super) fn parts(self) -> (bool, Option<String>) {
        match self {
            Self::Accept(text) => (true, text),
            Self::Dismiss => (false, None),
        }
    }
}

impl Supervisor {
    /// Answers a dialog: the one with this id, or the only open one. Returns its record.
    ///
    /// # Errors
    /// [`Error::NoDialog`], [`Error::SeveralDialogs`], [`Error::DialogNotFound`],
    /// [`Error::DialogGone`] when it was answered by another client or a policy, [`Error::Cdp`], [`Error::Timeout`],
    /// [`Error::NotActive`]. After an error other than the last the dialog is as it was.
    pub fn respond(
        &self,
        dialog: Option<&str>,
        answer: DialogAnswer,
        deadline: Deadline<'_>,
    ) -> Result<ClosedDialog, Error> {
        let (accept, text) = answer.parts();
        let id = dialog.map(str::to_owned);
        self.ask("answering the dialog", deadline, |reply| Request::Respond { id, accept, text, reply })
    }

    /// Arms an answer for the next dialog of the task, regardless of the policy. It expires after `time`, at most two
    /// minutes. Answers armed earlier are used first.
    ///
    /// # Errors
    /// As [`arm_when`](Self::arm_when).
    pub fn arm(&self, answer: DialogAnswer, time: Duration) -> Result<(), Error> {
        self.arm_when(ArmedAnswer::new(answer).within(time))
    }

    /// Arms an answer for future dialogs, regardless of the policy. Of several that match, the oldest is used.
    ///
    /// # Errors
    /// [`Error::TooManyArmed`], [`Error::NotActive`], [`Error::Timeout`].
    pub fn arm_when(&self, armed: ArmedAnswer) -> Result<(), Error> {
        // Waits for confirmation, so that a dialog opened afterwards finds the answer armed.
        self.ask("arming the dialog answer", Deadline::after(SETTING), |reply| Request::Arm {
            armed,
            anew: false,
            reply,
        })
    }

    /// Arms an answer that replaces those armed for the same dialogs.
    ///
    /// # Errors
    /// As [`arm_when`](Self::arm_when).
    pub fn arm_anew(&self, armed: ArmedAnswer) -> Result<(), Error> {
        self.ask("arming the dialog answer", Deadline::after(SETTING), |reply| Request::Arm {
            armed,
            anew: true,
            reply,
        })
    }

    /// Announces which client acts on a page until [`end_acting`](Self::end_acting), if any client has armed an answer:
    /// the answer of another client is not used meanwhile. Returns whether it was announced.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn begin_acting(&self, page: &TargetId, client: Option<&str>, deadline: Deadline<'_>) -> bool {
        let is_armed = self.view().armed.iter().any(|armed| armed.when.client.is_some());
        is_armed && self.tell_acting(page, Some(client.map(Arc::from)), deadline)
    }

    /// Ends what [`begin_acting`](Self::begin_acting) began.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn end_acting(&self, page: &TargetId) {
        self.tell_acting(page, None, Deadline::after(SETTING));
    }

    fn tell_acting(&self, page: &TargetId, client: Option<Option<Arc<str>>>, deadline: Deadline<'_>) -> bool {
        let page = page.clone();
        self.ask("telling who acts", deadline, |reply| Request::Acting { page, client, reply }).is_ok()
    }

    /// Disarms all answers.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn disarm(&self) -> Result<(), Error> {
        self.ask("disarming dialog answers", Deadline::after(SETTING), |reply| Request::Disarm { when: None, reply })
    }

    /// Disarms the answers for these dialogs.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn disarm_when(&self, when: DialogMatch) -> Result<(), Error> {
        self.ask("disarming dialog answers", Deadline::after(SETTING), |reply| Request::Disarm {
            when: Some(when),
            reply,
        })
    }

    /// Sets the policy for future dialogs. Open dialogs are not affected.
    ///
    /// # Errors
    /// [`Error::NotActive`], [`Error::Timeout`].
    pub fn set_policy(&self, policy: DialogPolicy, rules: Vec<DialogRule>) -> Result<(), Error> {
        self.ask("setting the dialog policy", Deadline::after(SETTING), |reply| Request::Policy {
            policy,
            rules,
            reply,
        })
    }
}
