//! The name of a profile's event log, and cleanup after the end of its supervisors.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossbeam_channel::Receiver;

use super::Error;
use cdpilot::supervisor::{self, Phase, Supervisor};
use cdpilot::sync::{Deadline, Thread, on_panic, spawn};

/// Length of one wait; the end of a supervisor ends it early.
const TURN: Duration = Duration::from_secs(60);
/// How long cleanup after a browser that ended by itself may take.
const TIDYING: Duration = Duration::from_secs(5);

/// A random name for a new log, 16 hex digits; unique even after a quick restart or a clock change.
pub(super) fn new_start() -> String {
    let mut bytes = [0; 8];
    let start = match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_be_bytes(bytes),
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            u64::try_from(now).unwrap_or_default() ^ (u64::from(std::process::id()) << 40)
        }
    };
    format!("{start:016x}")
}

/// Starts the thread that cleans up after a browser that ends by itself. The channel closes when the supervisor has
/// ended and the cleanup is done.
pub(super) fn watch_end(profile: &str, supervisor: &Arc<Supervisor>) -> Result<(Thread, Receiver<()>), Error> {
    let supervisor = Arc::clone(supervisor);
    let (working, over) = crossbeam_channel::bounded::<()>(0);
    let thread = spawn(format!("ctl-end-{profile}"), move || {
        // Without this thread, the end of the browser would not be noticed.
        let _guard = on_panic(|| supervisor.stop(Deadline::after(TIDYING)));
        let has_ended = |phase: &Phase| matches!(phase, Phase::Ended(_));
        while supervisor.wait_until(Deadline::after(TURN), |now| has_ended(&now.phase)).is_none() {}
        // Does nothing if it is being stopped already.
        supervisor.stop(Deadline::after(TIDYING));
        drop(working);
    });
    let thread = thread.map_err(|problem| supervisor::Error::System { problem: problem.to_string() })?;
    Ok((thread, over))
}
