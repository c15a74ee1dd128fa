//! Reconnecting, on a separate thread: the supervisor continues to handle requests meanwhile.
//!
//! The first attempt is made at once, the others after growing pauses. The CDP sessions of the lost connection must be
//! gone before the new one is used: as they end, Chromium dismisses the dialogs of their pages. That is waited for
//! within `OLD_CONNECTION_LIMIT`.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::options::Reconnect;
use crate::browser::Redial;
use crate::cdp::Connection;
use crate::cdp::protocol::target::{GetTargets, TargetId};
use crate::sync::{Deadline, Thread, fault_point, spawn};

/// Interval of checks whether a browser that we started has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum wait for the browser to drop the previous connection. Other clients may be attached to the same pages, which
/// cannot be distinguished.
const OLD_CONNECTION_LIMIT: Duration = Duration::from_secs(1);
/// Interval of these checks.
const TARGET_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Outcome of reconnecting.
pub(super) enum RedialOutcome {
    /// Reconnected.
    Connected(Connection),
    /// All attempts failed; the error of the last one.
    GaveUp(String),
}

/// Reconnecting in progress. Dropping it cancels the attempts.
pub(super) struct RedialAttempt {
    pub(super) outcome: Receiver<RedialOutcome>,
    cancel: Option<Sender<()>>,
    thread: Option<Thread>,
}

impl RedialAttempt {
    /// Starts reconnecting. `tried` counts earlier failed attempts, `pages` are the attached pages.
    pub(super) fn start(
        task: &str,
        redial: Redial,
        how: Reconnect,
        tried: u32,
        pages: Vec<TargetId>,
    ) -> std::io::Result<Self> {
        let (outcome_in, outcome) = crossbeam_channel::bounded(1);
        let (cancel, cancelled) = crossbeam_channel::bounded(0);
        let thread_name = format!("sup-dial-{task}");
        let thread = spawn(thread_name.clone(), move || {
            fault_point(format_args!("{thread_name}"));
            if let Some(dialed) = dial(&redial, how, tried, &pages, &cancelled) {
                let _ = outcome_in.try_send(dialed);
            }
        })?;
        Ok(Self { outcome, cancel: Some(cancel), thread: Some(thread) })
    }
}

impl Drop for RedialAttempt {
    fn drop(&mut self) {
        drop(self.cancel.take());
        if let Some(thread) = self.thread.take()
            && !thread.is_finished()
            && self.outcome.is_empty()
        {
            // An attempt is in progress; it ends within its own limit, and its result is dropped.
            std::mem::forget(thread);
        }
    }
}

/// Retries until an attempt succeeds, none is left, or the attempt is cancelled (`None`).
fn dial(
    redial: &Redial,
    how: Reconnect,
    tried: u32,
    pages: &[TargetId],
    cancelled: &Receiver<()>,
) -> Option<RedialOutcome> {
    let mut problem = "each new connection was lost again".to_owned();
    for tried in tried..how.tries {
        let until = Deadline::after(how.pause(tried));
        loop {
            if cancelled.recv_deadline(until.within(POLL_INTERVAL).instant()) == Err(RecvTimeoutError::Disconnected) {
                return None;
            }
            // The connection may end shortly before the process does.
            if redial.browser_has_ended() {
                return Some(RedialOutcome::GaveUp("the browser has ended".to_owned()));
            }
            if until.passed() {
                break;
            }
        }
        match redial.connect(Deadline::after(how.try_timeout)) {
            Ok((connection, _)) => {
                wait_for_detach(&connection, pages, cancelled);
                return Some(RedialOutcome::Connected(connection));
            }
            Err(error) => {
                tracing::debug!(tried, %error, "no connection yet");
                problem = error.to_string();
            }
        }
    }
    Some(RedialOutcome::GaveUp(problem))
}

/// Waits until the sessions of the previous connection are gone. When they end, Chromium 156 dismisses the dialog of
/// their page, even one that opened later and is reported on the new connection.
fn wait_for_detach(connection: &Connection, pages: &[TargetId], cancelled: &Receiver<()>) {
    let until = Deadline::after(OLD_CONNECTION_LIMIT);
    loop {
        let Ok(returned) = connection.call(&GetTargets::new(), until) else { return };
        let left = returned.target_infos.iter().any(|info| info.attached && pages.contains(&info.target_id));
        let is_cancelled = || {
            cancelled.recv_deadline(until.within(TARGET_POLL_INTERVAL).instant()) == Err(RecvTimeoutError::Disconnected)
        };
        if !left || is_cancelled() || until.passed() {
            return;
        }
    }
}
