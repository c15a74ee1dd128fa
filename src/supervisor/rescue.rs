//! Ending a script that holds a page, on request.

use std::time::Duration;

use super::call_watchdog::CallWatchdog;
use super::error::Error;
use super::handle::Supervisor;
use super::route::FrameRef;
use crate::sync::Deadline;

/// A page that answers within this time is not busy.
const RESPONDS: Duration = Duration::from_millis(250);

/// What came of [`Supervisor::rescue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescue {
    /// How long the page had not paused; `None` if it was not busy, so that nothing was ended.
    pub busy: Option<Duration>,
}

impl Supervisor {
    /// Ends the script that holds a page, whoever started it, at once; the document is kept. Nothing happens to a page
    /// that responds, or that waits for its server.
    ///
    /// # Errors
    /// [`Error::BlockedByDialog`] while the page shows a dialog, which holds it too; [`Error::Unresponsive`] when it does not
    /// respond afterwards either; [`Error::PageNotFound`], [`Error::Reconnecting`], [`Error::NotActive`].
    pub fn rescue(&self, page: &FrameRef, deadline: Deadline<'_>) -> Result<Rescue, Error> {
        let route = self.route_at_once(page, deadline)?;
        if let Some(dialog) = self.view().dialogs_of(route.target.as_str()).next() {
            return Err(Error::blocked_by_dialog("rescue", &dialog.id));
        }
        let busy = CallWatchdog::new(self, &route, "rescue".into(), deadline).end_all(RESPONDS, deadline)?;
        Ok(Rescue { busy })
    }
}
