//! Profile locks: Chromium's `SingletonLock`, and the mark on temporary folders.
//!
//! On Unix, Chromium keeps a symbolic link `SingletonLock` with the text `<host>-<pid>`, and `SingletonSocket`, a link
//! to a socket in a temporary folder. A second browser on the profile would open a window in the first one, so the lock
//! is checked before a start.

use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

use super::{Holder, port_file};
#[cfg(unix)]
use crate::process::list::{self, ProcessInfo};

const LOCK: &str = "SingletonLock";
/// The name of the mark in a temporary folder.
pub(super) const MARK: &str = "owner";

/// The browser that uses the profile, according to its lock.
pub(super) fn holder(dir: &Path) -> Option<Holder> {
    let text = std::fs::read_link(dir.join(LOCK)).ok()?;
    let (host, pid) = text.to_str()?.rsplit_once('-')?;
    let other_host = (host != this_host()).then(|| host.to_owned());
    Some(Holder { pid: pid.parse().ok(), other_host, ..Holder::default() })
}

/// The browser that uses the profile, with everything known about it, unless the lock is stale: left by a browser of
/// this host that has ended. A lock of another host cannot be checked and counts as held, as for Chromium.
pub(super) fn live_holder(dir: &Path) -> Option<Holder> {
    let holder = holder(dir)?;
    if holder.other_host.is_some() {
        return Some(holder);
    }
    described(holder, dir)
}

/// Removes a stale lock of this host. Only after [`live_holder`] returned `None`.
pub(super) fn clear_stale(dir: &Path) {
    if let Some(Holder { pid: Some(pid), other_host: None, .. }) = holder(dir) {
        tracing::debug!(pid, "removing a stale lock of the profile");
        clear(dir, pid);
    }
}

/// Removes the locks that browser `pid` of this host left behind, and the folder of its socket.
pub(super) fn clear(dir: &Path, pid: u32) {
    if !holder(dir).is_some_and(|holder| holder.pid == Some(pid) && holder.other_host.is_none()) {
        return;
    }
    let socket = std::fs::read_link(dir.join("SingletonSocket")).ok();
    if let Some(folder) = socket.as_deref().and_then(Path::parent)
        && folder.file_name().is_some_and(|name| name.to_string_lossy().contains("Chrom"))
    {
        for name in ["SingletonSocket", "SingletonCookie"] {
            let _ = std::fs::remove_file(folder.join(name));
        }
        let _ = std::fs::remove_dir(folder); // only when it is empty
    }
    for name in ["SingletonSocket", "SingletonCookie", LOCK] {
        let _ = std::fs::remove_file(dir.join(name));
    }
}

#[cfg(unix)]
fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn this_host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// The debugging port, from a file written by the browser that holds the lock, not an earlier one.
fn port(dir: &Path) -> Option<u16> {
    let (port, _) = port_file::read(dir)?;
    let since = std::fs::symlink_metadata(dir.join(LOCK)).and_then(|facts| facts.modified()).ok()?;
    let written = std::fs::metadata(dir.join(port_file::PORT_FILE)).and_then(|facts| facts.modified()).ok()?;
    (written >= since).then_some(port)
}

/// The holder with information about its process. `None` when the process has ended, is not a browser, or uses another
/// profile: process ids are reused.
#[cfg(unix)]
fn described(holder: Holder, dir: &Path) -> Option<Holder> {
    let pid = holder.pid?;
    let seen = list::read(pid)?;
    let line = String::from_utf8_lossy(&seen.command).to_ascii_lowercase();
    let is_browser = ["chrom", "brave", "edge", "user-data-dir"].iter().any(|word| line.contains(word));
    if !is_browser || works_elsewhere(&seen, dir) {
        return None;
    }
    let record = super::marker::read(dir).filter(|record| record.browser.pid == pid);
    let owner = record.filter(|record| record.owner.runs()).map(|record| record.owner.pid);
    Some(Holder { command: Some(program(&seen)), port: port(dir), owner, ..holder })
}

#[cfg(not(unix))]
fn described(holder: Holder, dir: &Path) -> Option<Holder> {
    holder.pid.is_some().then(|| Holder { port: port(dir), ..holder })
}

/// Whether a process uses another existing profile, by its command line. In doubt, false.
#[cfg(unix)]
fn works_elsewhere(seen: &ProcessInfo, dir: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let mut args = seen.command.split(|byte| *byte == 0);
    let Some(named) = args.find_map(|arg| arg.strip_prefix(b"--user-data-dir=")) else { return false };
    let named = Path::new(std::ffi::OsStr::from_bytes(named));
    let other = named.is_absolute().then(|| named.canonicalize().ok()).flatten();
    other.is_some_and(|other| dir.canonicalize().is_ok_and(|dir| dir != other))
}

/// The program of a process. Not its arguments: they may contain passwords.
#[cfg(unix)]
fn program(seen: &ProcessInfo) -> String {
    let first = seen.command.split(|byte| *byte == 0).next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    first.split_once(" -").map_or(&*first, |(program, _)| program).to_owned()
}

/// The mark on a temporary folder in use.
#[derive(Debug)]
pub(super) struct Mark {
    _file: File,
}

/// The content of a mark: a later start can check whether the owner has ended, and which browser it had.
#[cfg(unix)]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Owner {
    #[serde(flatten)]
    process: super::marker::Who,
    /// The profile of the browser whose temporary files are in the folder, if it is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<PathBuf>,
}

/// Marks a temporary folder as in use, by the browser of `profile` if that is elsewhere. The mark ends with this
/// process in any case: it is a lock on a file.
pub(super) fn mark(folder: &Path, profile: Option<&Path>) -> io::Result<Mark> {
    let file = File::create(folder.join(MARK))?;
    // A process that cleans up may be checking it at this moment; that is brief.
    #[cfg(unix)]
    {
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        if let Some(process) = super::marker::Who::now(std::process::id()) {
            let owner = Owner { process, profile: profile.map(Path::to_owned) };
            serde_json::to_writer(&file, &owner)?;
        }
    }
    #[cfg(not(unix))]
    let _ = profile;
    Ok(Mark { _file: file })
}

/// A temporary folder of this user without an owner. This process owns it now.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Unowned {
    /// Whether it is so old that its reaper process has certainly ended.
    pub(super) old: bool,
    /// Whether its mark names an owner, which has ended.
    pub(super) owner_ended: bool,
    /// The profile of its browser, if it is elsewhere.
    pub(super) profile: Option<PathBuf>,
    _mark: Option<File>,
}

#[cfg(unix)]
impl Unowned {
    /// Checks a folder. `None` when it has an owner or belongs to another user.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        use rustix::fs::{FlockOperation, OFlags, flock};
        use std::io::Read as _;
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        /// Maximum size of a mark, in bytes.
        const MAX_SIZE: u64 = 16 * 1024;
        const YOUNG: std::time::Duration = std::time::Duration::from_secs(60);
        let facts = std::fs::symlink_metadata(folder).ok()?;
        if !facts.is_dir() || facts.uid() != rustix::process::geteuid().as_raw() {
            return None;
        }
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mark = match std::fs::OpenOptions::new().read(true).custom_flags(flags).open(folder.join(MARK)) {
            Ok(mark) => Some(mark),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => None, // partly removed
            Err(_) => return None,
        };
        if mark.as_ref().is_some_and(|mark| flock(mark, FlockOperation::NonBlockingLockExclusive).is_err()) {
            return None;
        }
        let old = facts.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > YOUNG);
        let owner = mark.as_ref().and_then(|mark| serde_json::from_reader::<_, Owner>(mark.take(MAX_SIZE)).ok());
        let owner_ended = owner.as_ref().is_some_and(|owner| !owner.process.runs());
        let profile = owner.and_then(|owner| owner.profile).filter(|profile| profile.is_absolute());
        Some(Self { old, owner_ended, profile, _mark: mark })
    }
}
