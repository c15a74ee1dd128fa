//! What happens in a conversation right now, for those who follow it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use serde_json::Value;

use crate::store::StoredEvent;
use cdpilot::sync::Deadline;

/// Maximum number of entries; a follower that is further behind reads the database.
const MAX_ENTRIES: usize = 512;

/// Something that happened.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// An event that was stored.
    Event(Arc<StoredEvent>),
    /// A part of the answer of the model, which is not stored.
    Delta(Arc<Value>),
    /// The body of an `error` event that could not be stored.
    Unstored(Arc<Value>),
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// An entry with its number.
    Entry(u64, Entry),
    /// Entries up to this number are gone.
    Lost(u64),
    /// Nothing until the deadline.
    Nothing,
    /// Nothing more: no run is in progress, and no question is open.
    AtRest,
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Entry>,
    /// Number of the newest entry.
    last: u64,
    at_rest: bool,
}

/// The newest events and parts of answers of a conversation. Its lock is held for a few operations in memory only.
#[derive(Debug, Default)]
pub(super) struct Feed {
    state: Mutex<State>,
    grown: Condvar,
}

impl Feed {
    pub(super) fn new(at_rest: bool) -> Self {
        Self { state: Mutex::new(State { at_rest, ..State::default() }), grown: Condvar::new() }
    }

    pub(super) fn publish(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut state = self.state.lock();
        for entry in entries {
            state.last += 1;
            state.entries.push_back(entry);
        }
        while state.entries.len() > MAX_ENTRIES {
            state.entries.pop_front();
        }
        drop(state);
        self.grown.notify_all();
    }

    /// Sets whether anything more can happen without a request.
    pub(super) fn set_at_rest(&self, at_rest: bool) {
        let mut state = self.state.lock();
        state.at_rest = at_rest;
        if at_rest {
            // A waiting follower reads the database.
            state.entries.retain(|entry| matches!(entry, Entry::Unstored(_)));
        }
        drop(state);
        self.grown.notify_all();
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.state.lock().at_rest
    }

    /// Number of the newest entry.
    pub(super) fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// The entry behind number `seen`, waiting for it until the deadline.
    pub(super) fn next(&self, seen: u64, deadline: Deadline<'_>) -> Next {
        let mut state = self.state.lock();
        loop {
            let gone = state.last - state.entries.len() as u64;
            if seen < gone {
                return Next::Lost(gone);
            }
            let entry = usize::try_from(seen - gone).ok().and_then(|at| state.entries.get(at));
            if let Some(entry) = entry {
                return Next::Entry(seen + 1, entry.clone());
            }
            if state.at_rest {
                return Next::AtRest;
            }
            if deadline.passed() {
                return Next::Nothing;
            }
            self.grown.wait_until(&mut state, deadline.next_check());
        }
    }
}
