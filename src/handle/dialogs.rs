//! Dialogs of a page: `alert`, `confirm`, `prompt`, `beforeunload`.

use std::time::{Duration, Instant};

use super::page::Page;
use crate::page::Error;
use crate::supervisor::{ArmedAnswer, ClosedDialog, Dialog, DialogAnswer, DialogMatch};

impl Page {
    /// The dialogs that wait for an answer, oldest first. Waits for nothing.
    #[must_use]
    pub fn dialogs(&self) -> Vec<Dialog> {
        self.supervisor().view().dialogs_of(self.id().as_str()).cloned().collect()
    }

    /// Waits until a dialog is open; one that is open already counts.
    ///
    /// # Errors
    /// [`Error::Timeout`] when none opened in time.
    pub fn wait_dialog(&self) -> Result<Dialog, Error> {
        let began = Instant::now();
        let found = self.within(|tab, deadline| {
            let page = tab.target().as_str();
            let now = tab.supervisor().wait_until(deadline, |now| now.dialogs_of(page).next().is_some());
            now.and_then(|now| now.dialogs_of(page).next().cloned())
        });
        let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        found.ok_or_else(|| Error::Timeout { what: "a dialog".to_owned(), after_ms })
    }

    /// Answers the page's dialog that was opened last.
    ///
    /// # Errors
    /// [`Error::Supervisor`] with [`NoDialog`](crate::supervisor::Error::NoDialog), or with
    /// [`DialogGone`](crate::supervisor::Error::DialogGone) when somebody else was faster.
    pub fn answer_dialog(&self, answer: DialogAnswer) -> Result<ClosedDialog, Error> {
        let open = self.dialogs().pop().ok_or(crate::supervisor::Error::NoDialog)?;
        Ok(self.within(|tab, deadline| tab.supervisor().respond(Some(&open.id), answer, deadline))?)
    }

    /// Accepts the page's dialog: OK; a prompt gets its own default text.
    ///
    /// # Errors
    /// Those of [`answer_dialog`](Self::answer_dialog).
    pub fn accept_dialog(&self) -> Result<ClosedDialog, Error> {
        self.answer_dialog(DialogAnswer::Accept(None))
    }

    /// Dismisses the page's dialog: Cancel.
    ///
    /// # Errors
    /// Those of [`answer_dialog`](Self::answer_dialog).
    pub fn dismiss_dialog(&self) -> Result<ClosedDialog, Error> {
        self.answer_dialog(DialogAnswer::Dismiss)
    }

    /// Arms an answer for the next dialog of the page, whatever the policy says. It waits for that dialog for two minutes at
    /// most.
    ///
    /// # Errors
    /// [`Error::Supervisor`].
    pub fn answer_next_dialog(&self, answer: DialogAnswer) -> Result<(), Error> {
        let limit: Duration = ArmedAnswer::LIMIT;
        let armed = ArmedAnswer::new(answer).within(limit).when(DialogMatch::any().on_page(self.id().clone()));
        Ok(self.supervisor().arm_when(armed)?)
    }
}
