//! What earlier processes of ours left behind when they were killed: browsers and temporary profiles.

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

/// What [`reap`] did and found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reaped {
    /// Browsers that were ended, by their process ids.
    pub ended: Vec<u32>,
    /// Temporary profiles that were removed.
    pub removed: Vec<PathBuf>,
    /// Temporary profiles without an owner that are still there.
    pub left: Vec<Leftover>,
}

/// A temporary profile without an owner that is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The folder.
    pub folder: PathBuf,
    /// Why it is left.
    pub problem: String,
}

/// Ends browsers whose owners were killed, and removes temporary profiles that nobody owns any more.
/// Every start of a browser does some of this by the way.
///
/// Only what is proven to be ours is ended: the marker in the profile names an owner that does not run
/// any more, and a browser that does; process ids count only together with the time the process was
/// started; and the browser's command line names the profile. Everything else is left alone and told.
/// Profiles younger than a minute without a running browser are passed over when their owner is not proven to have
/// ended, or something still uses them: somebody may be clearing them up. Does nothing on Windows, where a job object ends browsers with their owner.
#[must_use]
pub fn reap() -> Reaped {
    #[cfg(unix)]
    return profile::temp_roots().iter().fold(Reaped::default(), |report, root| in_root(root, None, report));
    #[cfg(not(unix))]
    Reaped::default()
}

/// Does it for the temporary profiles in one folder. With a `limit` for so many at most, and not waiting
/// for anything: a start is no time for cleaning house.
#[cfg(unix)]
pub(super) fn in_root(root: &Path, limit: Option<usize>, mut report: Reaped) -> Reaped {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let ours = entries.filter(|e| e.file_name().as_encoded_bytes().starts_with(profile::PREFIX.as_bytes()));
    let mut done = 0;
    for folder in ours.map(|entry| entry.path()) {
        if Some(done) == limit {
            break;
        }
        // Held until we are through: two of us would be in each other's way.
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

/// Clears up one folder that nobody owns. Whether there was something to do.
#[cfg(unix)]
fn clear(folder: &Path, unowned: &Unowned, hurry: bool, report: &mut Reaped) -> bool {
    /// What a guard may take on a busy machine.
    const GUARD_TIME: Duration = Duration::from_secs(8);
    /// What killed processes may take to vanish.
    const KILL_TIME: Duration = Duration::from_secs(8);
    /// The same when it is done by the way; what is not gone then is seen to by the next start.
    const SHORT_KILL_TIME: Duration = Duration::from_secs(2);
    let (dir, crashes) = match &unowned.profile {
        Some(dir) => (dir.clone(), profile::crashes_of(dir)),
        None => profile::inside(folder),
    };
    let mut left = |problem: String| report.left.push(Leftover { folder: folder.to_owned(), problem });
    let kill_time = Deadline::after(if hurry { SHORT_KILL_TIME } else { KILL_TIME });
    let mut ended = false;
    if let Some(record) = marker::read(&dir) {
        if orphan::is_guarded(&record, folder) {
            let patience = if hurry { Duration::ZERO } else { GUARD_TIME };
            let gone = orphan::wait_guard(&record, folder, Deadline::after(patience));
            if hurry || gone {
                return false;
            }
        }
        match orphan::end(&record, &dir, &crashes, Duration::ZERO, kill_time) {
            End::Nothing => {}
            End::Stuck => {
                left(format!("its browser (process {}) was killed and is still there", record.browser.pid));
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
    // Threads of a killed process may work on for a moment after it counts as dead.
    let patience = if ended { kill_time } else { Deadline::after(Duration::ZERO) };
    // Whoever works in there has the folder's name, which is ours alone, on its command line.
    let users = || list::with_words(&[folder.as_os_str().as_encoded_bytes()]);
    poll_until(patience, || users().is_empty());
    let users = users();
    if !users.is_empty() && !ended && !unowned.old {
        return false; // its guard, or its browser, is ending
    }
    if !users.is_empty() {
        let users: Vec<String> = users.iter().map(u32::to_string).collect();
        left(format!("it may be in use by process {}, which is not proven to be ours", users.join(", ")));
        return true;
    }
    match profile::remove(folder, patience) {
        Ok(()) => report.removed.push(folder.to_owned()),
        Err(problem) => left(format!("it cannot be removed: {problem}")),
    }
    true
}
