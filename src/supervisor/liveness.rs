//! What the calls of a supervisor know of each other: when a session answered last, and which scripts
//! of callers run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::sync::Deadline;

/// A session that answered so long ago needs no probe ahead of a script.
const LATELY: Duration = Duration::from_millis(20);
/// Sessions remembered before old ones are forgotten.
const REMEMBERED: usize = 64;

/// Shared by all calls. Its lock is held for a map operation only.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    heard: HashMap<Arc<str>, Instant>,
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
    /// A session answered.
    pub(super) fn heard(&self, session: &Arc<str>) {
        let now = Instant::now();
        let mut inner = self.inner.lock();
        if inner.heard.len() >= REMEMBERED {
            inner.heard.retain(|_, at| now.duration_since(*at) < LATELY);
        }
        inner.heard.insert(Arc::clone(session), now);
    }

    /// A script was started that nobody waits for.
    pub(super) fn started(&self, session: &Arc<str>) {
        self.inner.lock().heard.remove(session);
    }

    pub(super) fn heard_lately(&self, session: &Arc<str>) -> bool {
        self.inner.lock().heard.get(session).is_some_and(|at| at.elapsed() < LATELY)
    }

    /// A script of a caller begins; it may run until its deadline.
    pub(super) fn running(&self, session: &Arc<str>, until: Deadline) -> Running<'_> {
        let mut inner = self.inner.lock();
        inner.heard.remove(session); // from now on it may be busy with this
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
