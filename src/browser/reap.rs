//! Cleanup after killed processes of this library: browsers and temporary profiles.
//!
//! When the owner ends, the pipe closes and the browser exits. The reaper process (`cdpilot-reaper`) kills a browser
//! that hangs and removes its temporary folder. On Linux every browser has such a folder: it is Chromium's `TMPDIR`,
//! and contains the profile if the browser has no permanent one. The rest is removed later:
//!
//! | leftover | left when | removed by |
//! |---|---|---|
//! | a browser that hangs, its reaper process | the reaper process was killed or stopped too | next start of the profile, any start, `doctor` |
//! | `cdpilot-browser-*` in the folder for temporary files | the reaper process was killed too | any start, `doctor` |
//! | `Singleton*` and the marker in the profile | always | next start of the profile, `doctor --fix` |
//! | suspended processes (`SIGSTOP`) of the server or its browser | they were stopped | `doctor --fix` and `browser start` resume them |
//! | `downloads/incoming-*` | always | next start of a browser, `doctor --fix` |
//!
//! Start times are ticks since boot, so changing the system clock proves nothing wrong. `make faults` sends signals at
//! random moments and checks this table.

use std::path::{Path, PathBuf};

#[cfg(unix)]
use {
    super::lock::Unowned,
    super::marker,
    super::orphan::{self, End},
    super::profile,
    crate::process::{list, poll_until},
    crate::sync::Deadline,
    std::time::Duration,
};

/// The result of [`reap`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reaped {
    /// Process ids of browsers that were ended.
    pub ended: Vec<u32>,
    /// Temporary profiles that were removed.
    pub removed: Vec<PathBuf>,
    /// Remaining temporary profiles without an owner.
    pub left: Vec<Leftover>,
}

/// A temporary profile without an owner that was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The profile folder or record that is left.
    pub folder: PathBuf,
    /// The reason, as part of a sentence.
    pub problem: String,
}

/// Ends browsers whose owners were killed, and removes temporary profiles without an owner. Every start of a browser
/// does a part of this.
///
/// Only ends what is proven to be started by this library: the marker in the profile names an owner that has ended and
/// a browser that runs; process ids only count together with the start time; and the browser's command line contains
/// the profile. Everything else is left alone and reported. Profiles younger than a minute without a running browser
/// are skipped unless their owner is proven to have ended and no process uses them: another process may be cleaning
/// them up. Does nothing on Windows, where a job object ends browsers with their owner.
#[must_use]
pub fn reap() -> Reaped {
    #[cfg(unix)]
    return profile::temp_roots().iter().fold(Reaped::default(), |report, root| in_root(root, None, report));
    #[cfg(not(unix))]
    Reaped::default()
}

/// Cleans up the temporary profiles of one folder. With a `limit`, at most that many and without waiting: a start must
/// not be delayed.
#[cfg(unix)]
pub(super) fn in_root(root: &Path, limit: Option<usize>, mut report: Reaped) -> Reaped {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let ours = entries.filter(|e| e.file_name().as_encoded_bytes().starts_with(profile::PREFIX.as_bytes()));
    let mut done = 0;
    for folder in ours.map(|entry| entry.path()) {
        if Some(done) == limit {
            break;
        }
        // Held to the end, to keep other processes from interfering.
        if let Some(unowned) = Unowned::of(&folder) {
            done += usize::from(clear(&folder, &unowned, limit.is_some(), &mut report));
        }
    }
    report
}

#[cfg(not(unix))]
pub(super) fn in_root(_root: &Path, _limit: Option<usize>, report: Reaped) -> Reaped {
    report
}

/// Cleans up one folder without an owner. Returns whether there was anything to do.
#[cfg(unix)]
fn clear(folder: &Path, unowned: &Unowned, is_start: bool, report: &mut Reaped) -> bool {
    /// How long a reaper process may take on a busy machine.
    const REAPER_TIME: Duration = Duration::from_secs(8);
    /// How long killed processes may take to vanish.
    const KILL_TIME: Duration = Duration::from_secs(8);
    /// The same during a start; the next start handles the rest.
    const SHORT_KILL_TIME: Duration = Duration::from_secs(2);
    let (dir, crashes) = match &unowned.profile {
        Some(dir) => (dir.clone(), profile::crashes_of(dir)),
        None => profile::inside(folder),
    };
    let mut left = |problem: String| report.left.push(Leftover { folder: folder.to_owned(), problem });
    let kill_time = Deadline::after(if is_start { SHORT_KILL_TIME } else { KILL_TIME });
    let mut ended = false;
    if let Some(record) = marker::read(&dir) {
        if orphan::is_reaper_running(&record, folder) {
            let patience = if is_start { Duration::ZERO } else { REAPER_TIME };
            let has_exited = orphan::wait_reaper(&record, folder, Deadline::after(patience));
            if is_start || has_exited {
                return false;
            }
        }
        match orphan::end(&record, &dir, &crashes, Duration::ZERO, kill_time) {
            End::Nothing => {}
            End::Stuck => {
                left(format!("its browser (process {}) was killed but still exists", record.browser.pid));
                return true;
            }
            End::Ended => {
                tracing::warn!(pid = record.browser.pid, "ended a browser whose owner was killed");
                report.ended.push(record.browser.pid);
                ended = true;
            }
        }
    }
    if !ended && !unowned.old && !unowned.owner_ended {
        return false;
    }
    // Threads of a killed process may continue for a moment after it counts as dead.
    let patience = if ended { kill_time } else { Deadline::after(Duration::ZERO) };
    // Processes that use the folder have its unique name on their command line.
    let users = || list::with_words(&[folder.as_os_str().as_encoded_bytes()]);
    poll_until(patience, || users().is_empty());
    let users = users();
    if !users.is_empty() && !ended && !unowned.old {
        return false; // its reaper process, or its browser, is ending
    }
    if !users.is_empty() {
        let users: Vec<String> = users.iter().map(u32::to_string).collect();
        left(format!("it may be in use by process {}, which is not proven to be started by cdpilot", users.join(", ")));
        return true;
    }
    match profile::remove(folder, patience) {
        Ok(()) => report.removed.push(folder.to_owned()),
        Err(problem) => left(format!("it cannot be removed: {problem}")),
    }
    true
}
