//! State shared by all calls of a supervisor: running scripts of callers, the time of each session's last answer, and
//! pages with CPU throttling.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// Shared by all calls. The lock is held for map operations only.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    scripts: Vec<Script>,
    next: u64,
    /// Pages with CPU throttling, and the factor.
    slowed: Vec<(TargetId, f64)>,
    /// Time of each session's last answer, newest last.
    answered: Vec<(Arc<str>, Instant)>,
}

/// Maximum number of sessions whose last answer is remembered.
const MAX_SESSIONS: usize = 16;
/// Maximum number of pages whose CPU throttling is remembered.
const MAX_SLOWED: usize = 256;
/// A session that answered within this time counts as responsive. Measured: the calls of one action are at most 3 ms
/// apart on a quiet machine.
const RECENT_ANSWER: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct Script {
    number: u64,
    session: Arc<str>,
    until: Deadline,
}

/// A running script of a caller.
#[derive(Debug)]
pub(super) struct Running<'a> {
    liveness: &'a Liveness,
    number: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.liveness.inner.lock().scripts.retain(|script| script.number != self.number);
    }
}

impl Liveness {
    /// Registers a script of a caller, which may run until its deadline.
    pub(super) fn running(&self, session: &Arc<str>, until: Deadline) -> Running<'_> {
        let mut inner = self.inner.lock();
        inner.next += 1;
        let number = inner.next;
        inner.scripts.push(Script { number, session: Arc::clone(session), until });
        Running { liveness: self, number }
    }

    /// Sets the factor of a page's CPU throttling (1: none).
    pub(super) fn slow(&self, page: &TargetId, times: f64) {
        let mut inner = self.inner.lock();
        inner.slowed.retain(|(slowed, _)| slowed != page);
        if times > 1.0 {
            if inner.slowed.len() >= MAX_SLOWED {
                inner.slowed.remove(0); // most likely a closed page
            }
            inner.slowed.push((page.clone(), times));
        }
    }

    /// The factor of a page's CPU throttling (1: none).
    pub(super) fn slowdown(&self, page: &TargetId) -> f64 {
        let inner = self.inner.lock();
        inner.slowed.iter().find(|(slowed, _)| slowed == page).map_or(1.0, |(_, times)| *times)
    }

    /// Records an answer of a session.
    pub(super) fn answered(&self, session: &Arc<str>) {
        let mut inner = self.inner.lock();
        inner.answered.retain(|(known, _)| known != session);
        if inner.answered.len() >= MAX_SESSIONS {
            inner.answered.remove(0);
        }
        inner.answered.push((Arc::clone(session), Instant::now()));
    }

    /// Whether a session answered within [`RECENT_ANSWER`].
    pub(super) fn answered_lately(&self, session: &Arc<str>) -> bool {
        let inner = self.inner.lock();
        inner.answered.iter().any(|(known, at)| known == session && at.elapsed() < RECENT_ANSWER)
    }

    /// Until when scripts of callers may block a session. For a call that is a script itself (`own`), only earlier
    /// scripts count: later ones do not run yet.
    pub(super) fn busy(&self, session: &Arc<str>, own: Option<u64>) -> Option<Deadline> {
        let inner = self.inner.lock();
        let before = |script: &&Script| own.is_none_or(|own| script.number < own);
        let here = inner.scripts.iter().filter(|s| s.session == *session && !s.until.passed());
        here.filter(before).map(|script| script.until).max()
    }
}

impl Running<'_> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
