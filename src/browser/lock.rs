//! Who works in a profile: Chromium's `SingletonLock`, and the mark on our temporary folders.
//!
//! On Unix Chromium keeps a symbolic link `SingletonLock` whose text is `<host>-<pid>`, and
//! `SingletonSocket`, a link to a socket in a temporary folder of its own. Starting a second browser on
//! the profile would open a window in the first; so we look before we start.

use std::fs::File;
use std::io;
use std::path::Path;

use super::Holder;

/// Who holds the profile, if its lock names somebody.
pub(super) fn holder(dir: &Path) -> Option<Holder> {
    let text = std::fs::read_link(dir.join("SingletonLock")).ok()?;
    let (host, pid) = text.to_str()?.rsplit_once('-')?;
    let other_host = (host != this_host()).then(|| host.to_owned());
    Some(Holder { pid: pid.parse().ok(), other_host })
}

/// Who holds the profile, unless the lock was left behind by a browser of this host that is gone.
/// A lock of another host cannot be checked and counts as held, as it does for Chromium.
pub(super) fn live_holder(dir: &Path) -> Option<Holder> {
    holder(dir).filter(|holder| holder.other_host.is_some() || holder.pid.is_some_and(is_browser))
}

/// Removes the locks that the browser `pid` of this host left behind, and its socket's folder.
pub(super) fn clear(dir: &Path, pid: u32) {
    if holder(dir) != Some(Holder { pid: Some(pid), other_host: None }) {
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
    for name in ["SingletonSocket", "SingletonCookie", "SingletonLock"] {
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

/// Whether a process lives and may be a browser. Process ids are used again, so where the system tells,
/// its name is looked at too.
fn is_browser(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let alive = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
        if !alive {
            return false;
        }
    }
    match std::fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(line) => {
            let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
            ["chrom", "brave", "edge", "user-data-dir"].iter().any(|word| line.contains(word))
        }
        Err(_) => !cfg!(target_os = "linux"),
    }
}

/// The mark on a temporary folder in use.
#[derive(Debug)]
pub(super) struct Mark {
    _file: File,
}

/// Marks a temporary folder as in use. The mark ends with us, however we end: it is a lock on a file.
pub(super) fn mark(folder: &Path) -> io::Result<Mark> {
    let file = File::create(folder.join("owner"))?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    Ok(Mark { _file: file })
}

/// Whether a temporary folder belongs to our user and nobody holds its mark any more. Young
/// ones are left alone: their browser may still be ending.
#[cfg(unix)]
pub(super) fn abandoned(folder: &Path) -> bool {
    use rustix::fs::{FlockOperation, flock};
    const YOUNG: std::time::Duration = std::time::Duration::from_secs(60);
    let Ok(facts) = std::fs::symlink_metadata(folder) else { return false };
    let ours = std::os::unix::fs::MetadataExt::uid(&facts) == rustix::process::geteuid().as_raw();
    let old = facts.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > YOUNG);
    let free = |file: File| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    let unowned = match File::open(folder.join("owner")) {
        Ok(mark) => free(mark),
        Err(problem) => problem.kind() == io::ErrorKind::NotFound, // half removed
    };
    facts.is_dir() && ours && old && unowned
}

/// The system of marks is a Unix one; elsewhere nothing counts as abandoned.
#[cfg(not(unix))]
pub(super) fn abandoned(_folder: &Path) -> bool {
    false
}
