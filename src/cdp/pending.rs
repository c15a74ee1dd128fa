//! Pending calls.
//!
//! One table per connection, behind one lock that is held for map operations only. Closing replaces the table by the
//! reason, so that no call can be added after the others were failed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use crossbeam_channel::Sender;
use parking_lot::{Condvar, Mutex};

use super::answered_by_browser;
use super::error::{CloseReason, Error, GoneReason};
use super::reply::Answer;
use crate::sync::Deadline;

/// A message, and the range of its result.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) message: Bytes,
    pub(super) range: Range<usize>,
}

pub(super) type Outcome = Result<Body, Error>;

/// Receives the outcome of one call for the waiting thread.
#[derive(Debug, Default)]
pub(super) struct Slot {
    done: AtomicBool,
    inner: Mutex<SlotInner>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct SlotInner {
    outcome: Option<Outcome>,
    parked: bool,
    leading: bool,
}

/// Result of a parked wait.
pub(super) enum Parked {
    Done(Outcome),
    TimedOut,
}

impl Slot {
    /// Stores the outcome. Returns whether the waiter holds the reading role and must be woken there.
    fn fill(&self, outcome: Outcome) -> bool {
        let (parked, leading) = {
            let mut inner = self.inner.lock();
            inner.outcome = Some(outcome);
            self.done.store(true, Ordering::Release);
            (inner.parked, inner.leading)
        };
        if parked {
            self.ready.notify_one();
        }
        leading
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    pub(super) fn take(&self) -> Option<Outcome> {
        if !self.is_done() {
            return None;
        }
        self.inner.lock().outcome.take()
    }

    /// Sets whether the waiter reads the transport itself. Returns false if the outcome has already arrived.
    pub(super) fn set_leading(&self, leading: bool) -> bool {
        let mut inner = self.inner.lock();
        inner.leading = leading;
        inner.outcome.is_none()
    }

    pub(super) fn park(&self, deadline: Deadline<'_>) -> Parked {
        let mut inner = self.inner.lock();
        inner.parked = true;
        loop {
            if let Some(outcome) = inner.outcome.take() {
                inner.parked = false;
                return Parked::Done(outcome);
            }
            if self.ready.wait_until(&mut inner, deadline.instant()).timed_out() {
                inner.parked = false;
                return inner.outcome.take().map_or(Parked::TimedOut, Parked::Done);
            }
        }
    }
}

/// The receiver of the outcome.
#[derive(Debug, Clone)]
pub(super) enum ReplyTo {
    /// A thread that waits, now or later.
    Slot(Arc<Slot>),
    /// A channel; the owner receives answers as messages and never waits.
    Inbox { inbox: Sender<Answer>, tag: u64 },
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) method: Cow<'static, str>,
    pub(super) session: Option<Arc<str>>,
    pub(super) to: ReplyTo,
    /// Whether an interruption of its session ends the wait.
    pub(super) interruptible: bool,
}

#[derive(Debug)]
enum State {
    Open(Open),
    Closed(CloseReason),
}

#[derive(Debug, Default)]
struct Open {
    calls: HashMap<u64, Entry>,
    /// Live sessions, and the parent session that each was attached through.
    parents: HashMap<Arc<str>, Option<Arc<str>>>,
    crashed: HashSet<Arc<str>>,
}

/// The table. `lagging` counts answers dropped because an inbox was full.
#[derive(Debug)]
pub(super) struct Pending {
    state: Mutex<State>,
    next_id: AtomicU64,
    in_flight: AtomicUsize,
    /// Number of events received so far; recorded in answers to an inbox for their order.
    pub(super) events: AtomicU64,
    pub(super) late: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) lost_answers: AtomicU64,
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            state: Mutex::new(State::Open(Open::default())),
            next_id: AtomicU64::new(1),
            in_flight: AtomicUsize::new(0),
            events: AtomicU64::new(0),
            late: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            lost_answers: AtomicU64::new(0),
        }
    }
}

impl Pending {
    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Number of pending calls.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Registers a call; must precede sending it, since the answer may arrive first.
    pub(super) fn insert(&self, id: u64, entry: Entry) -> Result<(), Error> {
        let mut state = self.state.lock();
        match &mut *state {
            State::Closed(reason) => Err(Error::Closed { method: entry.method, reason: reason.clone() }),
            State::Open(open) => {
                if let Some(session) = &entry.session
                    && open.crashed.contains(session)
                    && !answered_by_browser(&entry.method)
                {
                    return Err(Error::SessionGone { method: entry.method, reason: GoneReason::Crashed });
                }
                open.calls.insert(id, entry);
                self.in_flight.store(open.calls.len(), Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Removes a call from the table, however its wait ended.
    pub(super) fn remove(&self, id: u64) -> Option<Entry> {
        let mut state = self.state.lock();
        let State::Open(open) = &mut *state else { return None };
        let entry = open.calls.remove(&id);
        self.in_flight.store(open.calls.len(), Ordering::Relaxed);
        entry
    }

    /// Completes the call of a received id. Returns whether the leading caller must be woken.
    pub(super) fn complete(&self, id: u64, outcome: impl FnOnce(&Entry) -> Outcome) -> bool {
        match self.remove(id) {
            Some(entry) => {
                let outcome = outcome(&entry);
                self.deliver(entry, outcome)
            }
            None => {
                let counter =
                    if id != 0 && id < self.next_id.load(Ordering::Relaxed) { &self.late } else { &self.unknown };
                counter.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    fn deliver(&self, entry: Entry, outcome: Outcome) -> bool {
        match entry.to {
            ReplyTo::Slot(slot) => slot.fill(outcome),
            ReplyTo::Inbox { inbox, tag } => {
                if inbox.try_send(Answer::new(tag, self.events.load(Ordering::Relaxed), entry.method, outcome)).is_err()
                {
                    self.lost_answers.fetch_add(1, Ordering::Relaxed);
                }
                false
            }
        }
    }

    fn deliver_all(&self, entries: Vec<Entry>, error: impl Fn(Cow<'static, str>) -> Error) -> bool {
        let mut wake = false;
        for entry in entries {
            let outcome = Err(error(entry.method.clone()));
            wake |= self.deliver(entry, outcome);
        }
        wake
    }

    pub(super) fn attached(&self, session: &str, parent: Option<&Arc<str>>) {
        if let State::Open(open) = &mut *self.state.lock() {
            open.parents.insert(session.into(), parent.cloned());
        }
    }

    /// Fails the pending calls of a session and its child sessions: Chromium never answers calls that were pending at a
    /// detach.
    pub(super) fn detached(&self, session: &str) -> bool {
        let entries = {
            let mut state = self.state.lock();
            let State::Open(open) = &mut *state else { return false };
            let mut ended_sessions: HashSet<Arc<str>> = HashSet::from([Arc::from(session)]);
            loop {
                let before = ended_sessions.len();
                let children =
                    open.parents.iter().filter(|(_, p)| p.as_ref().is_some_and(|p| ended_sessions.contains(p)));
                let children: Vec<_> = children.map(|(child, _)| Arc::clone(child)).collect();
                ended_sessions.extend(children);
                if ended_sessions.len() == before {
                    break;
                }
            }
            open.parents.retain(|child, _| !ended_sessions.contains(child));
            open.crashed.retain(|s| !ended_sessions.contains(s));
            self.take_where(open, |entry| entry.session.as_ref().is_some_and(|s| ended_sessions.contains(s)))
        };
        self.deliver_all(entries, |method| Error::SessionGone { method, reason: GoneReason::Detached })
    }

    /// Fails the pending calls of a session whose renderer crashed, and further calls until it is loaded again.
    pub(super) fn crashed(&self, session: &Arc<str>) -> bool {
        let entries = {
            let mut state = self.state.lock();
            let State::Open(open) = &mut *state else { return false };
            open.crashed.insert(Arc::clone(session));
            self.take_where(open, |e| e.session.as_ref() == Some(session) && !answered_by_browser(&e.method))
        };
        self.deliver_all(entries, |method| Error::SessionGone { method, reason: GoneReason::Crashed })
    }

    pub(super) fn reloaded(&self, session: &str) {
        if let State::Open(open) = &mut *self.state.lock() {
            open.crashed.remove(session);
        }
    }

    /// Ends the waits of interruptible calls on these sessions.
    pub(super) fn interrupt(&self, sessions: &[Arc<str>], error: impl Fn(Cow<'static, str>) -> Error) -> bool {
        let entries = {
            let mut state = self.state.lock();
            let State::Open(open) = &mut *state else { return false };
            self.take_where(open, |e| e.interruptible && e.session.as_ref().is_some_and(|s| sessions.contains(s)))
        };
        self.deliver_all(entries, error)
    }

    fn take_where(&self, open: &mut Open, pick: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let ids: Vec<u64> = open.calls.iter().filter(|(_, e)| pick(e)).map(|(id, _)| *id).collect();
        let entries = ids.into_iter().filter_map(|id| open.calls.remove(&id)).collect();
        self.in_flight.store(open.calls.len(), Ordering::Relaxed);
        entries
    }

    /// Closes the table; the first reason is kept. Returns whether this call was the first.
    pub(super) fn close(&self, reason: CloseReason) -> bool {
        let old = {
            let mut state = self.state.lock();
            if matches!(*state, State::Closed(_)) {
                return false;
            }
            self.in_flight.store(0, Ordering::Relaxed);
            std::mem::replace(&mut *state, State::Closed(reason.clone()))
        };
        if let State::Open(open) = old {
            let entries = open.calls.into_values().collect();
            self.deliver_all(entries, |method| Error::Closed { method, reason: reason.clone() });
        }
        true
    }

    /// Why the connection ended, if it has.
    pub(super) fn closed(&self) -> Option<CloseReason> {
        match &*self.state.lock() {
            State::Open(_) => None,
            State::Closed(reason) => Some(reason.clone()),
        }
    }
}
