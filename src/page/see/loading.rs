//! Reading a tab that is on its way to a document whose server has not answered: Chromium holds back every command to the
//! page until then.

use std::time::Duration;

use super::super::Tab;
use super::super::error::Error;
use crate::ErrorKind;
use crate::supervisor::{self, View, with_navigation_limit};
use crate::sync::Deadline;

/// How long the document is waited for. With what an answer takes, it is there within two seconds.
const PATIENCE: Duration = Duration::from_millis(1500);

impl Tab {
    /// Reads the page; `None` when it is on its way to a document that does not come for the time being.
    pub(in super::super) fn unless_loading<T>(
        &self,
        deadline: Deadline,
        read: impl Fn(Deadline) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let is_away = self.is_on_its_way();
        // What is under way when a navigation begins is held back too.
        let until = if is_away { deadline.within(PATIENCE) } else { deadline };
        let error = match with_navigation_limit(PATIENCE, || read(until)) {
            // Parts that did not come in time may be missing.
            Ok(_) if is_away && until.passed() && !deadline.passed() => None,
            Err(error) if may_be_early(&error, deadline) => Some(error),
            outcome => return outcome.map(Some),
        };
        let arrives = || is_away && self.supervisor.wait_until(until, |now| !self.is_leaving(now)).is_some();
        if self.is_on_its_way() && !arrives() {
            return Ok(None);
        }
        if let Some(error) = error.filter(|_| deadline.passed()) {
            return Err(error);
        }
        match with_navigation_limit(PATIENCE, || read(deadline)) {
            Err(error) if error.kind() == ErrorKind::Timeout && self.is_on_its_way() => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Whether the page waits for another document, or for its first one.
    fn is_on_its_way(&self) -> bool {
        self.is_leaving(&self.supervisor.view())
    }

    fn is_leaving(&self, now: &View) -> bool {
        let Some(page) = now.page(self.target.as_str()) else { return false };
        let top = page.top_frame.as_ref().and_then(|top| now.frame(top.as_str()));
        page.is_arriving || top.is_none_or(|top| top.navigating)
    }
}

/// Whether more time, or the document to come, may help.
fn may_be_early(error: &Error, deadline: Deadline) -> bool {
    match error {
        Error::Supervisor(supervisor::Error::PageBusy { left, .. }) => *left <= deadline.left(),
        Error::Supervisor(supervisor::Error::FrameDetached { .. } | supervisor::Error::NoContext { .. }) => true,
        error => error.kind() == ErrorKind::Timeout,
    }
}
