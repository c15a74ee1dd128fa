//! Following the events of a recording as they are written.

use std::collections::VecDeque;
use std::sync::Arc;

use super::sink::{self, Shared};
use super::{Error, Event, STORE};
use crate::store::{RecordingStatus, StoredRecording, StoredRecordingEvent};
use cdpilot::sync::Deadline;

/// How many events are read at once.
const AT_ONCE: usize = 200;

/// What comes next in a recording.
#[derive(Debug)]
#[non_exhaustive]
pub enum Followed {
    /// An event was written, or written again with other content.
    Event {
        /// Number of the change, for following from there.
        change: u64,
        /// The event.
        event: Box<Event>,
    },
    /// Nothing until the deadline.
    Nothing,
    /// The recording has ended, and all its events were returned.
    Ended(Box<StoredRecording>),
    /// The recording was deleted.
    Deleted,
}

/// Follows a recording.
pub struct Follower {
    shared: Arc<Shared>,
    id: String,
    /// Number of the last change that was read.
    after: u64,
    ready: VecDeque<StoredRecordingEvent>,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("id", &self.id).field("after", &self.after).finish_non_exhaustive()
    }
}

impl Follower {
    pub(super) fn new(shared: Arc<Shared>, id: &str, after: u64) -> Self {
        Self { shared, id: id.to_owned(), after, ready: VecDeque::new() }
    }

    /// What comes next; waits for it until the deadline.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn next(&mut self, deadline: Deadline<'_>) -> Result<Followed, Error> {
        loop {
            if let Some(stored) = self.ready.pop_front() {
                let change = stored.revision;
                return Ok(Followed::Event { change, event: Box::new(sink::event(&self.id, stored)?) });
            }
            let (seen, store) = (self.shared.changes.last(), &self.shared.store);
            // Its state first: nothing is written after its end.
            let Some(recording) = store.recording(&self.id, Deadline::after(STORE))? else {
                return Ok(Followed::Deleted);
            };
            let changes = store.recording_changes(&self.id, self.after, AT_ONCE, Deadline::after(STORE))?;
            if let Some(last) = changes.last() {
                self.after = last.revision;
                self.ready = changes.into();
            } else if recording.status != RecordingStatus::Active {
                return Ok(Followed::Ended(Box::new(recording)));
            } else if !self.shared.changes.wait(seen, deadline) {
                return Ok(Followed::Nothing);
            }
        }
    }
}
