//! State shared by the threads of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crossbeam_channel::Sender;
use mio::{Token, Waker};
use parking_lot::{Condvar, Mutex};

use super::Handler;
use super::limits::Limits;
use cdpilot::sync::Deadline;

/// Life-cycle phase of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Accepts requests.
    Serving,
    /// Accepts no new requests.
    Stopping,
    /// Running requests are cancelled.
    Cancelling,
    /// Remaining threads are abandoned.
    Leaving,
}

/// A connection returned by a worker.
#[derive(Debug)]
pub(super) struct Return {
    pub(super) token: Token,
    pub(super) outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Outcome {
    /// Answered; `bytes` from `at` on are still to be sent.
    Answered { bytes: Vec<u8>, at: usize, keep: bool },
    /// The client has disconnected.
    Broken,
}

/// Shared by all threads of a server.
pub(super) struct Shared {
    pub(super) handler: Arc<dyn Handler>,
    pub(super) limits: Limits,
    pub(super) returns: Sender<Return>,
    waker: Waker,
    phase: AtomicU8,
    /// Number of connections.
    pub(super) connections: AtomicUsize,
    /// Number of running threads.
    alive: Mutex<usize>,
    ended: Condvar,
    failure: Mutex<Failure>,
}

/// Whether `http-in` ended before the server was stopped.
#[derive(Default)]
enum Failure {
    #[default]
    None,
    /// It has not; call this when it does.
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

    /// Advances to a phase; never goes back.
    pub(super) fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.wake();
    }

    /// `http-in` ended although the server was not stopped: no request can be served.
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

    /// Returns a connection to `http-in`. The queue has a place for every connection.
    pub(super) fn give_back(&self, token: Token, outcome: Outcome) {
        if self.returns.try_send(Return { token, outcome }).is_ok() {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Err(problem) = self.waker.wake() {
            tracing::error!(%problem, "cannot wake the thread of all connections");
        }
    }

    /// Counts a thread as running until the returned value is dropped.
    pub(super) fn count_thread(self: &Arc<Self>) -> Counted {
        *self.alive.lock() += 1;
        Counted(Arc::clone(self))
    }

    /// Waits until all threads have ended. Returns whether they did by the deadline.
    pub(super) fn wait_ended(&self, deadline: Deadline<'_>) -> bool {
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
