//! Following the events of a conversation.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Error;
use super::feed::{Entry, Next};
use super::live::Live;
use crate::store::{Store, StoredEvent};
use cdpilot::sync::Deadline;

/// How many stored events are read at a time.
const PAGE: usize = 200;

/// What a follower gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// A stored event.
    Event {
        /// Its id; ids of a conversation grow by one.
        id: u64,
        /// Its name, such as `agent_event`.
        event: String,
        /// Its data, as JSON text on one line.
        data: String,
    },
    /// A part of the answer that the model is writing; it is not stored.
    Delta {
        /// `{"text"}`, `{"reasoning"}`, or `{"reset": true}` when the parts since the last event are void, as JSON text on
        /// one line.
        data: String,
    },
    /// An error that could not be stored.
    Unstored {
        /// The body of an `error` event, as JSON text on one line.
        data: String,
    },
    /// Nothing happened until the deadline.
    Nothing,
    /// The run is finished, and all of its events were returned.
    End,
}

/// Follows a conversation: first the stored events after an id, each once, then those that are being stored.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    live: Arc<Live>,
    /// Id of the last event that was returned.
    after: u64,
    /// Number of the last entry of the feed that was considered.
    seen: u64,
    /// Whether stored events are to be read before the feed.
    is_behind: bool,
    /// Whether everything was read since the conversation was seen at rest.
    is_checked: bool,
    stored: VecDeque<StoredEvent>,
}

impl Follower {
    pub(super) fn new(store: Store, live: Arc<Live>, after: u64) -> Self {
        let seen = live.feed.last();
        Self { store, live, after, seen, is_behind: true, is_checked: false, stored: VecDeque::new() }
    }

    /// What comes next, waiting for it until the deadline. A live event is returned within milliseconds of its commit.
    ///
    /// # Errors
    /// [`Error::Store`] when stored events cannot be read; the next call tries again.
    pub fn next(&mut self, deadline: Deadline<'_>) -> Result<Followed, Error> {
        loop {
            if let Some(event) = self.stored.pop_front() {
                return Ok(self.event(event));
            }
            if self.is_behind {
                let reading = Deadline::after_secs(10);
                self.stored = self.store.events(&self.live.id, self.after, PAGE, reading)?.into();
                self.is_behind = !self.stored.is_empty();
                continue;
            }
            match self.live.feed.next(self.seen, deadline) {
                Next::Entry(number, Entry::Event(event)) => {
                    self.seen = number;
                    if self.after.checked_add(1) == Some(event.id) {
                        return Ok(self.event(StoredEvent::clone(&event)));
                    }
                    // Commits of two threads may be published in another order.
                    self.is_behind = event.id > self.after;
                }
                Next::Entry(number, Entry::Delta(data)) => {
                    self.seen = number;
                    return Ok(Followed::Delta { data: data.to_string() });
                }
                Next::Entry(number, Entry::Unstored(data)) => {
                    self.seen = number;
                    return Ok(Followed::Unstored { data: data.to_string() });
                }
                Next::Lost(number) => {
                    self.seen = number;
                    self.is_behind = true;
                }
                Next::Nothing => return Ok(Followed::Nothing),
                Next::AtRest if self.is_checked => return Ok(Followed::End),
                Next::AtRest => {
                    self.is_checked = true;
                    self.is_behind = true;
                }
            }
        }
    }

    fn event(&mut self, event: StoredEvent) -> Followed {
        self.after = event.id;
        self.is_checked = false;
        Followed::Event { id: event.id, event: event.event, data: event.data }
    }
}
