//! State shared by all calls of a supervisor: running scripts of callers, the time of each session's last answer, and
//! pages with CPU throttling.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::cdp::protocol::target::TargetId;
use crate::cdp::{RawReply, Reply};

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
    /// The latest answers of sessions, newest last.
    answers: Vec<Answers>,
    /// Probes without an answer of calls that have ended, one for each session, newest last.
    silent: Vec<Probe>,
}

/// An empty script, sent to see whether a page responds.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) session: Arc<str>,
    pub(super) sent: Instant,
    pub(super) reply: Reply<RawReply>,
}

/// The latest answers of a session.
#[derive(Debug)]
struct Answers {
    session: Arc<str>,
    /// Time of the last one.
    last: Option<Instant>,
    /// The last one, if it was to a script and nothing was started there since.
    script: Option<ScriptAnswer>,
    /// Number of scripts whose value was requested as JSON.
    by_value: u64,
    /// Whether the time of scripts is measured there.
    is_measured: bool,
}

#[derive(Debug)]
struct ScriptAnswer {
    at: Instant,
    /// Number of events that the connection had received when the script was sent.
    events: u64,
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
    until: Instant,
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
    /// Keeps a probe of a call that has ended without an answer to it: it shows the next call since when the page has not
    /// paused.
    pub(super) fn keep_probe(&self, probe: Probe) {
        let mut inner = self.inner.lock();
        match inner.silent.iter_mut().find(|kept| kept.session == probe.session) {
            Some(kept) if kept.sent <= probe.sent => {}
            Some(kept) => *kept = probe,
            None => {
                if inner.silent.len() >= MAX_SESSIONS {
                    inner.silent.remove(0);
                }
                inner.silent.push(probe);
            }
        }
    }

    /// The probe kept for a session.
    pub(super) fn kept_probe(&self, session: &str) -> Option<Probe> {
        let mut inner = self.inner.lock();
        let at = inner.silent.iter().position(|kept| *kept.session == *session)?;
        Some(inner.silent.remove(at))
    }

    /// Registers a script of a caller, which may run until its deadline.
    pub(super) fn running(&self, session: &Arc<str>, until: Instant) -> Running<'_> {
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

    /// Records an answer of a session; `script`: to a script, before which the connection had received that many events.
    pub(super) fn answered(&self, session: &Arc<str>, script: Option<u64>) {
        let now = Instant::now();
        self.inner.lock().update(session, |answers| {
            answers.last = Some(now);
            answers.script = script.map(|events| ScriptAnswer { at: now, events });
        });
    }

    /// Notes that the time of scripts is measured on a session from now on. Returns whether that is new.
    pub(super) fn measure(&self, session: &Arc<str>) -> bool {
        let mut is_new = false;
        self.inner.lock().update(session, |answers| is_new = !std::mem::replace(&mut answers.is_measured, true));
        is_new
    }

    /// Something was started on a session that may block it, without waiting for it.
    pub(super) fn started(&self, session: &Arc<str>) {
        let mut inner = self.inner.lock();
        if let Some(answers) = inner.answers.iter_mut().find(|answers| answers.session == *session) {
            answers.script = None;
        }
    }

    /// Whether a session answered within [`RECENT_ANSWER`].
    pub(super) fn answered_lately(&self, session: &Arc<str>) -> bool {
        let inner = self.inner.lock();
        inner.of(session).and_then(|answers| answers.last).is_some_and(|last| last.elapsed() < RECENT_ANSWER)
    }

    /// Whether a session ran a script a moment ago, nothing has happened since, and no other script of a caller runs
    /// there: then what the script `own` waits for is most likely itself.
    pub(super) fn is_idle(&self, session: &Arc<str>, own: u64, events: u64) -> bool {
        let inner = self.inner.lock();
        let is_recent = |answer: &ScriptAnswer| answer.events == events && answer.at.elapsed() < RECENT_ANSWER;
        inner.of(session).and_then(|answers| answers.script.as_ref()).is_some_and(is_recent)
            && inner.scripts.iter().all(|script| script.session != *session || script.number == own)
    }

    /// A script whose value is requested as JSON begins on a session. Returns how many there were, this one included.
    pub(super) fn begin_by_value(&self, session: &Arc<str>) -> u64 {
        let mut number = 0;
        self.inner.lock().update(session, |answers| {
            answers.by_value += 1;
            number = answers.by_value;
        });
        number
    }

    /// Whether that script was the last one on its session, and none runs there.
    pub(super) fn is_last_by_value(&self, session: &Arc<str>, number: u64) -> bool {
        let inner = self.inner.lock();
        inner.of(session).is_some_and(|answers| answers.by_value == number)
            && inner.scripts.iter().all(|script| script.session != *session)
    }

    /// Until when scripts of callers may block a session. For a call that is a script itself (`own`), only earlier
    /// scripts count: later ones do not run yet.
    pub(super) fn busy(&self, session: &Arc<str>, own: Option<u64>) -> Option<Instant> {
        let inner = self.inner.lock();
        let before = |script: &&Script| own.is_none_or(|own| script.number < own);
        let here = inner.scripts.iter().filter(|s| s.session == *session && s.until > Instant::now());
        here.filter(before).map(|script| script.until).max()
    }
}

impl Inner {
    fn of(&self, session: &Arc<str>) -> Option<&Answers> {
        self.answers.iter().find(|answers| answers.session == *session)
    }

    /// Changes the entry of a session, which becomes the newest.
    fn update(&mut self, session: &Arc<str>, change: impl FnOnce(&mut Answers)) {
        let mut answers = match self.answers.iter().position(|answers| answers.session == *session) {
            Some(index) => self.answers.remove(index),
            None => {
                if self.answers.len() >= MAX_SESSIONS {
                    self.answers.remove(0);
                }
                Answers { session: Arc::clone(session), last: None, script: None, by_value: 0, is_measured: false }
            }
        };
        change(&mut answers);
        self.answers.push(answers);
    }
}

impl Running<'_> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
