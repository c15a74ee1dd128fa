//! What the calls of a supervisor know of each other: which scripts of callers run.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::sync::Deadline;

/// Shared by all calls. Its lock is held for a map operation only.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    scripts: Vec<Script>,
    next: u64,
}

#[derive(Debug)]
struct Script {
    number: u64,
    session: Arc<str>,
    until: Deadline,
}

/// A script of a caller, while it runs.
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
    /// A script of a caller begins; it may run until its deadline.
    pub(super) fn running(&self, session: &Arc<str>, until: Deadline) -> Running<'_> {
        let mut inner = self.inner.lock();
        inner.next += 1;
        let number = inner.next;
        inner.scripts.push(Script { number, session: Arc::clone(session), until });
        Running { liveness: self, number }
    }

    /// Until when scripts of callers may hold a session. For a call that is a script itself (`own`) those
    /// before it count: those behind it do not run yet.
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
