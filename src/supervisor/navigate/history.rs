//! Back and forward navigation.

use std::time::Instant;

use super::super::call_watchdog::CallWatchdog;
use super::super::error::Error;
use super::super::handle::Supervisor;
use super::super::log::{Entry, LogEvent};
use super::super::route::FrameRef;
use super::super::value::Done;
use super::DIALOG_POLL_INTERVAL;
use crate::cdp::protocol::page::NavigateToHistoryEntry;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// Log entries read at a time.
const LOG_BATCH: usize = 1000;

impl Supervisor {
    /// Navigates a page by an offset in its history: -1 is back, 1 is forward. Returns when the document is committed;
    /// loading continues. `None` (and no navigation) when the history has no such entry. Dialogs are handled as with
    /// [`navigate`](Self::navigate).
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn navigate_history(
        &self,
        page: &FrameRef,
        by: i64,
        deadline: Deadline<'_>,
    ) -> Result<Option<Done<()>>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(NavigateToHistoryEntry::METHOD, frame));
        }
        let history = match self.history(page, deadline) {
            // The page is already being left, and a dialog blocks it.
            Err(error) if !self.dismiss_one_dialog(&route.target, deadline) => return Err(error),
            Err(_) => self.history(page, deadline)?,
            Ok(history) => history,
        };
        let target_index = i64::try_from(history.current).ok().and_then(|now| now.checked_add(by));
        let Some(target_index) = target_index.and_then(|index| usize::try_from(index).ok()) else { return Ok(None) };
        let Some(entry) = history.entries.get(target_index) else { return Ok(None) };
        let (blocked, log, before) = (self.last_blocked(&route), self.log().last(), self.view());
        let mut watch = CallWatchdog::new(self, &route, NavigateToHistoryEntry::METHOD.into(), deadline);
        watch.free_page(deadline)?;
        self.leave(&route, &mut watch, &NavigateToHistoryEntry::new(entry.id), deadline)?;
        // The document may be new, the same with another fragment, or restored from the back/forward cache: each is
        // reported. The history already names the entry that is being loaded.
        let target = route.target.as_str();
        let mut seen = log;
        loop {
            let tail = self.log().wait_since(
                seen,
                LOG_BATCH,
                deadline.within(watch.poll_interval().min(DIALOG_POLL_INTERVAL)),
            );
            seen = tail.entries.last().map_or(seen, |entry| entry.seq);
            let is_committed = |entry: &Entry| {
                let is_main = matches!(*entry.event, LogEvent::Navigated { main: true, .. });
                is_main && entry.target_id.as_ref() == Some(&route.target)
            };
            if tail.lost > 0 || tail.entries.iter().any(is_committed) {
                break;
            }
            self.blocked_since(&route, blocked)?;
            self.check_beforeunload::<NavigateToHistoryEntry>(&before, target)?;
            if !self.view().is_active() {
                return Err(self.not_active());
            }
            if deadline.passed() {
                return Err(Error::NoDocument { after: began.elapsed() }.or_cancelled(deadline));
            }
            self.check_unless_dialog(&mut watch, &route, deadline)?;
        }
        let _ = self.caught_up(deadline);
        self.blocked_since(&route, blocked)?;
        Ok(Some(watch.answered(())))
    }
}
