//! Back and forward through where a page has been.

use std::time::Instant;

use super::error::Error;
use super::frame_call::LOOK;
use super::guard::Watch;
use super::handle::Supervisor;
use super::log::{Entry, LogEvent};
use super::route::FrameRef;
use super::value::Done;
use crate::cdp::protocol::page::NavigateToHistoryEntry;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// Entries of the log that are looked through at once.
const MANY: usize = 1000;

impl Supervisor {
    /// Sends a page back (-1) or forward (1) through its history, or farther. Returns when it shows that document; loading
    /// goes on. `None` when its history does not reach so far, and then nothing happens. Dialogs are as with
    /// [`navigate`](Self::navigate).
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub fn travel(&self, page: &FrameRef, by: i64, deadline: Deadline) -> Result<Option<Done<()>>, Error> {
        let began = Instant::now();
        let route = self.route_at_once(page, deadline)?;
        if let (Some(_), Some(frame)) = (route.context, &route.frame) {
            return Err(self.not_a_frame_command(NavigateToHistoryEntry::METHOD, frame));
        }
        let history = match self.history(page, deadline) {
            // The page is leaving already, and a dialog keeps it.
            Err(error) if !self.put_one_away(&route.target, deadline) => return Err(error),
            Err(_) => self.history(page, deadline)?,
            Ok(history) => history,
        };
        let wanted = i64::try_from(history.current).ok().and_then(|now| now.checked_add(by));
        let Some(wanted) = wanted.and_then(|index| usize::try_from(index).ok()) else { return Ok(None) };
        let Some(entry) = history.entries.get(wanted) else { return Ok(None) };
        let (blocked, log, before) = (self.last_blocked(&route), self.log().last(), self.view());
        let mut watch = Watch::new(self, &route, NavigateToHistoryEntry::METHOD.into(), deadline);
        watch.free_first(deadline)?;
        self.leave(&route, &mut watch, &NavigateToHistoryEntry::new(entry.id), deadline)?;
        // The document may be another one, the same one elsewhere, or one that was kept: each of these is told of. The
        // history itself names the entry that is on its way.
        let target = route.target.as_str();
        let mut seen = log;
        loop {
            let tail = self.log().wait_since(seen, MANY, deadline.within(watch.patience().min(LOOK)));
            seen = tail.entries.last().map_or(seen, |entry| entry.seq);
            let went = |entry: &Entry| {
                let is_main = matches!(*entry.event, LogEvent::Navigated { main: true, .. });
                is_main && entry.target_id.as_ref() == Some(&route.target)
            };
            if tail.lost > 0 || tail.entries.iter().any(went) {
                break;
            }
            self.blocked_since(&route, blocked)?;
            self.asks_to_leave::<NavigateToHistoryEntry>(&before, target)?;
            if !self.view().is_active() {
                return Err(self.not_active());
            }
            if deadline.passed() {
                return Err(Error::NoDocument { after: began.elapsed() }.or_cancelled());
            }
            self.look_past_dialogs(&mut watch, &route, deadline)?;
        }
        let _ = self.caught_up(deadline);
        self.blocked_since(&route, blocked)?;
        Ok(Some(watch.answered(())))
    }
}
