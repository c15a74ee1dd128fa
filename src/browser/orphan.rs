//! A browser whose owner has ended: the proof, and ending it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use super::marker::Record;
use super::platform::REAPER_NAME;
use crate::process::list::{self, ProcessHandle};
use crate::process::poll_until;
use crate::sync::Deadline;

/// The result of ending an orphan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// No process is proven to be started by this library.
    Nothing,
    /// The browser was ended.
    Ended,
    /// Its processes still exist although they were killed.
    Stuck,
}

/// Ends the rest of the browser in the marker of profile `dir`, after a `grace` period to end by itself. Its crash
/// handlers keep their files in `crashes`.
pub(super) fn end(record: &Record, dir: &Path, crashes: &Path, grace: Duration, deadline: Deadline<'_>) -> End {
    if family(record, dir).is_empty() {
        return End::Nothing;
    }
    poll_until(deadline.within(grace), || family(record, dir).is_empty());
    let has_exited = poll_until(deadline, || {
        let held: Vec<(u32, ProcessHandle)> =
            family(record, dir).into_iter().filter_map(|pid| Some((pid, ProcessHandle::of(pid)?))).collect();
        // Checked again after the handles were opened, they are the right processes.
        let family = family(record, dir);
        for (_, hold) in held.iter().filter(|(pid, _)| family.contains(pid)) {
            hold.kill();
        }
        family.is_empty()
    });
    if has_exited && no_crash_handlers(crashes, deadline) { End::Ended } else { End::Stuck }
}

/// Whether the browser's reaper process still runs (a suspended one does not): it ends the browser and removes its
/// `folder` within two seconds, or seven on a machine so busy that killed processes keep writing.
pub(super) fn is_reaper_running(record: &Record, folder: &Path) -> bool {
    let has = |command: &[u8], word: &[u8]| memchr::memmem::find(command, word).is_some();
    let folder = folder.as_os_str().as_bytes();
    let members = list::members(record.browser.pid);
    let works = |seen: &list::ProcessInfo| !seen.stopped && has(&seen.command, REAPER_NAME.as_bytes());
    members.iter().any(|(_, seen)| works(seen) && has(&seen.command, folder))
}

/// Resumes the suspended processes of a browser whose owner is running. Returns their ids.
pub(super) fn resume(record: &Record, dir: &Path) -> Vec<u32> {
    let leader = record.browser.pid;
    let ours = |seen: list::ProcessInfo| seen.started == record.browser.started && carries(&seen.command, dir);
    if !record.owner.runs() || !list::read(leader).is_some_and(ours) {
        return Vec::new(); // no owner, or an orphan, which is ended instead
    }
    resume_where(|| list::members(leader))
}

/// Resumes a suspended process. Returns whether there was one.
pub(super) fn resume_process(pid: u32) -> bool {
    !resume_where(|| list::read(pid).map(|seen| (pid, seen)).into_iter().collect()).is_empty()
}

fn resume_where(listed: impl Fn() -> Vec<(u32, list::ProcessInfo)>) -> Vec<u32> {
    let stopped = || listed().into_iter().filter(|(_, seen)| seen.stopped).map(|(pid, _)| pid);
    let held: Vec<(u32, ProcessHandle)> = stopped().filter_map(|pid| Some((pid, ProcessHandle::of(pid)?))).collect();
    // Checked again after the handles were opened, they are the right processes.
    let stopped: Vec<u32> = stopped().collect();
    held.iter().filter(|(pid, hold)| stopped.contains(pid) && hold.resume()).map(|(pid, _)| *pid).collect()
}

/// Waits for the reaper process to finish. Returns whether it has.
pub(super) fn wait_reaper(record: &Record, folder: &Path, deadline: Deadline<'_>) -> bool {
    poll_until(deadline, || !is_reaper_running(record, folder))
}

/// Kills the crash handlers that keep their files in a folder. Returns whether none is left.
fn no_crash_handlers(crashes: &Path, deadline: Deadline<'_>) -> bool {
    #[cfg(target_os = "linux")]
    return poll_until(deadline, || !super::crash_handlers::any_running(crashes, true));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (crashes, deadline);
        true // they end with their browser
    }
}

/// The processes proven to be started by this library: the owner in the marker has ended, and the browser in the marker
/// runs, with the start time of the marker, the profile on its command line, and as leader of its group. Then the whole
/// group belongs to it, the browser last: while it lives, its group id cannot be reused.
///
/// A browser that ended may leave helpers behind. Those still in its group with the profile on their command lines
/// count too, and so does its reaper process: as long as one of them lives, the group id stays.
fn family(record: &Record, dir: &Path) -> Vec<u32> {
    if record.owner.runs() {
        return Vec::new();
    }
    let leader = record.browser.pid;
    let members = || list::members(leader).into_iter();
    match list::read(leader) {
        Some(seen) if seen.started == record.browser.started && seen.group == leader && carries(&seen.command, dir) => {
            members().map(|(pid, _)| pid).filter(|pid| *pid != leader).chain([leader]).collect()
        }
        Some(_) => Vec::new(),
        None => {
            let ours = |command: &[u8]| carries(command, dir) || is_reaper(command, leader);
            members().filter(|(_, seen)| ours(&seen.command)).map(|(pid, _)| pid).collect()
        }
    }
}

/// Whether a command line is that of the reaper process of browser `leader`.
fn is_reaper(command: &[u8], leader: u32) -> bool {
    let leader = leader.to_string();
    // NUL bytes on Linux, spaces elsewhere.
    [b"\0", b" "].iter().any(|between| {
        let wanted = [&between[..], REAPER_NAME.as_bytes(), &between[..], leader.as_bytes(), &between[..]].concat();
        memchr::memmem::find(command, &wanted).is_some()
    })
}

/// Whether a command line contains the profile.
fn carries(command: &[u8], dir: &Path) -> bool {
    let wanted = [b"--user-data-dir=", dir.as_os_str().as_bytes()].concat();
    let ends = |at: usize| matches!(command.get(at + wanted.len()), None | Some(0 | b' '));
    memchr::memmem::find_iter(command, &wanted).any(ends)
}
