//! How many conversations run at the same time.

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex};

use cdpilot::sync::Deadline;

/// Maximum number of runs at the same time.
pub(super) const MOST_RUNS: usize = 16;

#[derive(Debug, Default)]
struct State {
    taken: usize,
    next: u64,
    waiting: VecDeque<u64>,
}

/// Places for runs, given in the order in which they were requested.
#[derive(Debug, Default)]
pub(super) struct Slots {
    state: Mutex<State>,
    freed: Condvar,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub(super) struct Slot<'s>(&'s Slots);

impl Slots {
    /// A place, waiting for it until the deadline. `queued` is called once before waiting.
    pub(super) fn take(&self, deadline: Deadline<'_>, queued: impl FnOnce()) -> Option<Slot<'_>> {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        // Leaves the queue in any case, also when `queued` panics.
        let _ticket = Ticket { slots: self, number };
        let is_next = |state: &State| state.taken < MOST_RUNS && state.waiting.front() == Some(&number);
        if !is_next(&state) {
            drop(state);
            queued();
            state = self.state.lock();
        }
        while !is_next(&state) {
            if deadline.passed() {
                drop(state);
                return None;
            }
            self.freed.wait_until(&mut state, deadline.next_check());
        }
        state.taken += 1;
        drop(state);
        Some(Slot(self))
    }
}

/// A place in the queue.
struct Ticket<'s> {
    slots: &'s Slots,
    number: u64,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.slots.state.lock().waiting.retain(|other| *other != self.number);
        self.slots.freed.notify_all();
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.state.lock().taken -= 1;
        self.0.freed.notify_all();
    }
}
