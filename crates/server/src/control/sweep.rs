//! Periodic cleanup: idle tabs and old screenshots.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender};

use super::Error;
use super::profiles::Profiles;
use super::shared::Shared;
use cdpilot::supervisor;
use cdpilot::sync::{Deadline, Thread, spawn};

/// Interval of the check for idle tabs.
const TABS: Duration = Duration::from_secs(60);
/// Old screenshots are deleted every this many checks: hourly.
const FILES_EVERY: u32 = 60;
/// Time limit for closing tabs.
const CLOSING: Duration = Duration::from_secs(30);

/// The cleanup thread. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Sweeper {
    // Field order: closing the channel ends the thread, which is joined then.
    _stop: Sender<()>,
    _thread: Thread,
}

impl Sweeper {
    /// Starts the thread, which deletes old screenshots immediately.
    pub(super) fn start(shared: Arc<Shared>, profiles: &Arc<Profiles>) -> Result<Self, Error> {
        let profiles: Weak<Profiles> = Arc::downgrade(profiles);
        let (stop, stopped) = crossbeam_channel::bounded::<()>(0);
        let thread = spawn("ctl-sweep", move || {
            let mut turn = 0_u32;
            loop {
                if turn.is_multiple_of(FILES_EVERY) {
                    turn_of(|| shared.files.sweep(Duration::ZERO));
                }
                turn = turn.wrapping_add(1);
                if stopped.recv_timeout(TABS) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                let Some(profiles) = profiles.upgrade() else { break };
                turn_of(|| profiles.sweep(Duration::ZERO, Deadline::after(CLOSING)));
            }
        });
        let thread = thread.map_err(|problem| supervisor::Error::System { problem: problem.to_string() })?;
        Ok(Self { _stop: stop, _thread: thread })
    }
}

/// Runs one cleanup. A panic, which the panic hook reports, ends only this run.
fn turn_of(turn: impl FnOnce() -> usize) {
    let _ = catch_unwind(AssertUnwindSafe(turn));
}

impl Profiles {
    /// Closes idle tabs, as if `ahead` had passed. Returns how many.
    pub(super) fn sweep(&self, ahead: Duration, deadline: Deadline<'_>) -> usize {
        self.all().iter().map(|profile| profile.sweep(ahead, deadline)).sum()
    }
}
