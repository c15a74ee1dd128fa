//! Reading a tab that waits for the first response of a server: until then Chromium holds back every command to the
//! page.

use std::time::Duration;

use super::super::Tab;
use super::super::error::Error;
use super::SnapshotOptions;
use crate::supervisor::{self, View};
use crate::sync::{Deadline, DelayLimit};

/// How long to wait for the document. Including the answer, this stays within two seconds.
const LOADING_LIMIT: Duration = Duration::from_millis(1500);
/// How long to wait for the first content of a document.
const EMPTY_LIMIT: Duration = Duration::from_millis(1500);
/// A document that is older and shows nothing is taken for empty.
const YOUNG: Duration = Duration::from_secs(10);

impl Tab {
    /// Reads the page; `None` when it is still waiting for a document.
    pub(in super::super) fn unless_loading<T>(
        &self,
        deadline: Deadline<'_>,
        read: impl Fn(Deadline<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let is_away = self.is_on_its_way();
        // Calls in progress when a navigation begins are held back too.
        let until = if is_away { deadline.within(LOADING_LIMIT) } else { deadline };
        let error = match read(until.delayed_at_most(&DelayLimit::new(LOADING_LIMIT))) {
            // Parts that were late may be missing.
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
        match read(deadline.delayed_at_most(&DelayLimit::new(LOADING_LIMIT))) {
            Err(error) if error.is_late() && self.is_on_its_way() => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Waits for the content of a document that shows nothing yet. Returns whether to read it again.
    pub(super) fn content_comes(
        &self,
        url: &str,
        options: &SnapshotOptions,
        deadline: Deadline<'_>,
    ) -> Result<bool, Error> {
        if url.starts_with("about:") || options.selector.is_some() || options.frame.is_some() {
            return Ok(false);
        }
        self.wait_content_of(Some(YOUNG), deadline.within(EMPTY_LIMIT))
    }

    /// Whether the page waits for another document, or for its first one.
    fn is_on_its_way(&self) -> bool {
        self.is_leaving(&self.supervisor.view())
    }

    fn is_leaving(&self, now: &View) -> bool {
        let Some(page) = now.page(self.target.as_str()) else { return false };
        let top = page.top_frame.as_ref().and_then(|top| now.frame(top.as_str()));
        page.is_arriving || top.map_or_else(|| page.awaits_frames(), |top| top.navigating)
    }
}

/// Whether more time, or the next document, may help.
fn may_be_early(error: &Error, deadline: Deadline<'_>) -> bool {
    match error {
        Error::Supervisor(supervisor::Error::PageBusy { left: Some(left), .. }) => *left <= deadline.left(),
        Error::Supervisor(supervisor::Error::FrameDetached { .. } | supervisor::Error::NoContext { .. }) => true,
        error => error.is_late(),
    }
}
