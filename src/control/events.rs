//! One event log a profile: what its supervisors tell, one after the other, under numbers that only grow.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossbeam_channel::Receiver;
use serde_json::value::RawValue;

use super::Error;
use crate::supervisor::{self, EventLog, Kind, Supervisor, TargetId};
use crate::sync::{Deadline, Thread, fault_point, on_panic, spawn};

/// Entries that are copied at a time.
const AT_ONCE: usize = 512;
/// The end of a log wakes who waits; this is only how long one wait is.
const TURN: Duration = Duration::from_secs(60);
/// What tidying up behind a browser that has ended by itself may take.
const TIDYING: Duration = Duration::from_secs(5);

/// A name for a new log, 16 hex digits. Random, so that neither a quick restart nor a clock that was set gives one twice.
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

/// Starts the thread that copies a supervisor's log into the profile's. When that log ends, the tabs that were open
/// are told as closed, and what is left of a browser that ended by itself is tidied up; then the channel closes.
pub(super) fn pump(
    profile: &str,
    supervisor: &Arc<Supervisor>,
    to: &Arc<EventLog>,
) -> Result<(Thread, Receiver<()>), Error> {
    let (supervisor, to) = (Arc::clone(supervisor), Arc::clone(to));
    let (working, pumped) = crossbeam_channel::bounded::<()>(0);
    let thread = spawn(format!("ctl-events-{profile}"), move || {
        // A browser whose events nobody hears of is ended, so that the next start has them again.
        let _guard = on_panic(|| supervisor.stop(Deadline::after(TIDYING)));
        copy(&supervisor, &to);
        // Does nothing when somebody is stopping it at the moment.
        supervisor.stop(Deadline::after(TIDYING));
        drop(working);
    });
    let thread = thread.map_err(|problem| supervisor::Error::System { problem: problem.to_string() })?;
    Ok((thread, pumped))
}

fn copy(supervisor: &Supervisor, to: &EventLog) {
    let from = supervisor.log();
    let (mut seen, mut open) = (0, BTreeSet::new());
    loop {
        let ended = from.has_ended();
        let tail = from.wait_since(seen, AT_ONCE, Deadline::after(TURN));
        fault_point(format_args!("ctl-events-{}", supervisor.task()));
        let Some(last) = tail.entries.last() else {
            if ended {
                break;
            }
            continue;
        };
        seen = last.seq;
        for entry in &tail.entries {
            match (&entry.target_id, entry.kind) {
                (Some(target), Kind::TabOpened) => drop(open.insert(target.as_str().to_owned())),
                (Some(target), Kind::TabClosed) => drop(open.remove(target.as_str())),
                _ => {}
            }
        }
        to.append(tail.entries.into_iter().map(|entry| (entry.kind, entry.ts, entry.target_id, entry.data)));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let data: Arc<RawValue> = Arc::from(RawValue::NULL.to_owned());
    let data = RawValue::from_string(r#"{"reason":"the browser ended"}"#.to_owned()).map_or(data, Arc::from);
    to.append(open.into_iter().map(|tab| (Kind::TabClosed, now, Some(TargetId::from(&*tab)), Arc::clone(&data))));
}
