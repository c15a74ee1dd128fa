//! A browser of ours whose owner is gone: the proof that it is one, and its end.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use super::marker::Record;
use super::platform::GUARD_NAME;
use crate::process::list::{self, Hold};
use crate::process::poll_until;
use crate::sync::Deadline;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// There was nothing that is proven to be ours.
    Nothing,
    /// It was there and is gone now.
    Ended,
    /// It is still there although it was killed.
    Stuck,
}

/// Ends what is left of the browser that the marker in the profile `dir` tells of, after it had a
/// `grace` to end by itself. Its crash handlers keep their files in `crashes`.
pub(super) fn end(record: &Record, dir: &Path, crashes: &Path, grace: Duration, deadline: Deadline) -> End {
    if family(record, dir).is_empty() {
        return End::Nothing;
    }
    poll_until(deadline.within(grace), || family(record, dir).is_empty());
    let gone = poll_until(deadline, || {
        let held: Vec<(u32, Hold)> =
            family(record, dir).into_iter().filter_map(|pid| Some((pid, Hold::of(pid)?))).collect();
        // Looked at again after the handles were taken, they are the right ones.
        let family = family(record, dir);
        for (_, hold) in held.iter().filter(|(pid, _)| family.contains(pid)) {
            hold.kill();
        }
        family.is_empty()
    });
    if gone && no_crash_handlers(crashes, deadline) { End::Ended } else { End::Stuck }
}

/// Whether the browser's guard still works (a suspended one does not), which ends it and removes its `folder`: within two seconds,
/// seven when the machine is so busy that killed processes go on writing.
pub(super) fn is_guarded(record: &Record, folder: &Path) -> bool {
    let has = |command: &[u8], word: &[u8]| memchr::memmem::find(command, word).is_some();
    let folder = folder.as_os_str().as_bytes();
    let members = list::members(record.browser.pid);
    let works = |seen: &list::Seen| !seen.stopped && has(&seen.command, GUARD_NAME.as_bytes());
    members.iter().any(|(_, seen)| works(seen) && has(&seen.command, folder))
}

/// Resumes the suspended processes of a browser of ours whose owner runs. Their ids.
pub(super) fn resume(record: &Record, dir: &Path) -> Vec<u32> {
    let leader = record.browser.pid;
    let ours = |seen: list::Seen| seen.started == record.browser.started && carries(&seen.command, dir);
    if !record.owner.runs() || !list::look(leader).is_some_and(ours) {
        return Vec::new(); // nobody's, or an orphan, which is ended
    }
    resume_where(|| list::members(leader))
}

/// Resumes a suspended process. Whether there was one.
pub(super) fn resume_process(pid: u32) -> bool {
    !resume_where(|| list::look(pid).map(|seen| (pid, seen)).into_iter().collect()).is_empty()
}

fn resume_where(listed: impl Fn() -> Vec<(u32, list::Seen)>) -> Vec<u32> {
    let stopped = || listed().into_iter().filter(|(_, seen)| seen.stopped).map(|(pid, _)| pid);
    let held: Vec<(u32, Hold)> = stopped().filter_map(|pid| Some((pid, Hold::of(pid)?))).collect();
    // Looked at again after the handles were taken, they are the right ones.
    let stopped: Vec<u32> = stopped().collect();
    held.iter().filter(|(pid, hold)| stopped.contains(pid) && hold.resume()).map(|(pid, _)| *pid).collect()
}

/// Waits for the guard to be through. Whether it is.
pub(super) fn wait_guard(record: &Record, folder: &Path, deadline: Deadline) -> bool {
    poll_until(deadline, || !is_guarded(record, folder))
}

/// Kills the crash handlers that keep their files in a folder of ours. Whether none is left.
fn no_crash_handlers(crashes: &Path, deadline: Deadline) -> bool {
    #[cfg(target_os = "linux")]
    return poll_until(deadline, || !super::crash_handlers::any_running(crashes, true));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (crashes, deadline);
        true // they see the end of their browser and leave
    }
}

/// The processes that are proven to be ours: the owner in the marker does not run any more, and the
/// browser in the marker does, started when the marker says, with our profile on its command line and
/// leading its group. Then the whole group is its family, the browser last: while it lives, the id of
/// the group cannot become anybody else's.
///
/// A browser that ended may leave helpers behind. Those still in its group with our profile on their
/// command lines are ours too, and so is its guard: as long as one of them lives, the id of the group stays.
fn family(record: &Record, dir: &Path) -> Vec<u32> {
    if record.owner.runs() {
        return Vec::new();
    }
    let leader = record.browser.pid;
    let members = || list::members(leader).into_iter();
    match list::look(leader) {
        Some(seen) if seen.started == record.browser.started && seen.group == leader && carries(&seen.command, dir) => {
            members().map(|(pid, _)| pid).filter(|pid| *pid != leader).chain([leader]).collect()
        }
        Some(_) => Vec::new(),
        None => {
            let ours = |command: &[u8]| carries(command, dir) || is_guard(command, leader);
            members().filter(|(_, seen)| ours(&seen.command)).map(|(pid, _)| pid).collect()
        }
    }
}

/// Whether a command line is that of the guard of the browser `leader`.
fn is_guard(command: &[u8], leader: u32) -> bool {
    let leader = leader.to_string();
    // Zeros on Linux, spaces elsewhere.
    [b"\0", b" "].iter().any(|between| {
        let wanted = [&between[..], GUARD_NAME.as_bytes(), &between[..], leader.as_bytes(), &between[..]].concat();
        memchr::memmem::find(command, &wanted).is_some()
    })
}

/// Whether a command line names the profile.
fn carries(command: &[u8], dir: &Path) -> bool {
    let wanted = [b"--user-data-dir=", dir.as_os_str().as_bytes()].concat();
    let ends = |at: usize| matches!(command.get(at + wanted.len()), None | Some(0 | b' '));
    memchr::memmem::find_iter(command, &wanted).any(ends)
}
