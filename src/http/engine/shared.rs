//! What the threads of a server know in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crossbeam_channel::Sender;
use mio::{Token, Waker};
use parking_lot::{Condvar, Mutex};

use super::Handler;
use super::limits::Limits;
use crate::sync::Deadline;

/// How far a server is on its way to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It serves.
    Serving,
    /// No new requests.
    Stopping,
    /// What is under way is cancelled.
    Cancelling,
    /// Nobody waits any more.
    Leaving,
}

/// What a connection comes back with from the side that answered.
#[derive(Debug)]
pub(super) struct Return {
    pub(super) token: Token,
    pub(super) outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Outcome {
    /// Answered, up to what the client has not taken yet: `bytes` from `at` on.
    Answered { bytes: Vec<u8>, at: usize, keep: bool },
    /// The client is gone.
    Broken,
}

/// Shared by all threads of a server.
pub(super) struct Shared {
    pub(super) handler: Arc<dyn Handler>,
    pub(super) limits: Limits,
    pub(super) returns: Sender<Return>,
    waker: Waker,
    phase: AtomicU8,
    /// Connections, for whoever wants to know.
    pub(super) connections: AtomicUsize,
    /// Threads.
    alive: Mutex<usize>,
    ended: Condvar,
    failure: Mutex<Failure>,
}

/// Whether `http-in` has ended before the server was stopped.
#[derive(Default)]
enum Failure {
    #[default]
    None,
    /// It has not; this is to be called when it does.
    Watched(Box<dyn FnOnce() + Send>),
    Failed,
}

impl Shared {
    pub(super) fn new(handler: Arc<dyn Handler>, limits: Limits, returns: Sender<Return>, waker: Waker) -> Self {
        Self {
            handler,
            limits,
            returns,
            waker,
            phase: AtomicU8::new(0),
            connections: AtomicUsize::new(0),
            alive: Mutex::new(0),
            ended: Condvar::new(),
            failure: Mutex::default(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Stopping,
            2 => Phase::Cancelling,
            _ => Phase::Leaving,
        }
    }

    /// Goes on to a phase; never back.
    pub(super) fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.wake();
    }

    /// `http-in` has ended although nobody stopped the server: nothing can be served any more.
    pub(super) fn fail(&self) {
        tracing::error!("the thread of all connections ended; the server cannot go on");
        self.advance(Phase::Cancelling);
        let before = std::mem::replace(&mut *self.failure.lock(), Failure::Failed);
        if let Failure::Watched(tell) = before {
            tell();
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(*self.failure.lock(), Failure::Failed)
    }

    /// Calls `tell` when the server fails, at once when it has.
    pub(super) fn when_failed(&self, tell: Box<dyn FnOnce() + Send>) {
        let mut failure = self.failure.lock();
        if matches!(*failure, Failure::Failed) {
            drop(failure);
            return tell();
        }
        *failure = Failure::Watched(tell);
    }

    /// Gives a connection back to `http-in`. The queue has a place for every connection.
    pub(super) fn give_back(&self, token: Token, outcome: Outcome) {
        if self.returns.try_send(Return { token, outcome }).is_ok() {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Err(problem) = self.waker.wake() {
            tracing::error!(%problem, "the thread of all connections could not be woken");
        }
    }

    /// Counts a thread until what is returned is dropped.
    pub(super) fn count_thread(self: &Arc<Self>) -> Counted {
        *self.alive.lock() += 1;
        Counted(Arc::clone(self))
    }

    /// Waits until no thread is left. Whether that came by the deadline.
    pub(super) fn wait_ended(&self, deadline: Deadline) -> bool {
        let mut alive = self.alive.lock();
        while *alive > 0 {
            if self.ended.wait_until(&mut alive, deadline.instant()).timed_out() {
                return *alive == 0;
            }
        }
        true
    }
}

/// A thread that is counted as alive.
pub(super) struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.alive.lock() -= 1;
        self.0.ended.notify_all();
    }
}
