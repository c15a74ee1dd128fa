//! Making a lost connection again, on a thread of its own: the supervisor goes on answering meanwhile.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::options::Reconnect;
use crate::browser::Redial;
use crate::cdp::Connection;
use crate::sync::{Deadline, Thread, spawn};

/// How often it is looked whether a browser of ours has ended meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// How the tries went.
pub(super) enum Dialed {
    /// There is a connection again.
    Connected(Connection),
    /// All tries failed; the last one's problem.
    GaveUp(String),
}

/// Tries under way. Dropping it ends them.
pub(super) struct Dialing {
    pub(super) outcome: Receiver<Dialed>,
    cancel: Option<Sender<()>>,
    thread: Option<Thread>,
}

impl Dialing {
    /// Starts trying. `tried` counts those that failed before this.
    pub(super) fn start(task: &str, redial: Redial, how: Reconnect, tried: u32) -> std::io::Result<Self> {
        let (outcome_in, outcome) = crossbeam_channel::bounded(1);
        let (cancel, cancelled) = crossbeam_channel::bounded(0);
        let thread = spawn(format!("sup-dial-{task}"), move || {
            if let Some(dialed) = dial(&redial, how, tried, &cancelled) {
                let _ = outcome_in.try_send(dialed);
            }
        })?;
        Ok(Self { outcome, cancel: Some(cancel), thread: Some(thread) })
    }
}

impl Drop for Dialing {
    fn drop(&mut self) {
        drop(self.cancel.take());
        if let Some(thread) = self.thread.take()
            && !thread.is_finished()
            && self.outcome.is_empty()
        {
            // In the middle of a try, which ends within its own limit and then finds nobody.
            std::mem::forget(thread);
        }
    }
}

/// Tries until one succeeds, none is left, or nobody waits any more (`None`).
fn dial(redial: &Redial, how: Reconnect, tried: u32, cancelled: &Receiver<()>) -> Option<Dialed> {
    let mut problem = "the connection was lost again each time".to_owned();
    for tried in tried..how.tries {
        let until = Deadline::after(how.pause(tried));
        loop {
            if cancelled.recv_deadline(until.within(LOOK).instant()) == Err(RecvTimeoutError::Disconnected) {
                return None;
            }
            // The connection may end a moment before the process does.
            if redial.browser_has_ended() {
                return Some(Dialed::GaveUp("the browser has ended".to_owned()));
            }
            if until.passed() {
                break;
            }
        }
        match redial.connect(Deadline::after(how.try_timeout)) {
            Ok((connection, _)) => return Some(Dialed::Connected(connection)),
            Err(error) => {
                tracing::debug!(tried, %error, "no connection yet");
                problem = error.to_string();
            }
        }
    }
    Some(Dialed::GaveUp(problem))
}
