//! The profile folder of a browser: a given one, or a temporary one that is removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

#[cfg(unix)]
use super::marker::{self, Claim, Marker, Record};
#[cfg(unix)]
use super::orphan;
use super::{Error, Holder, lock, reap};
use crate::sync::{Deadline, pause};

/// Prefix of temporary folders.
pub(super) const PREFIX: &str = "cdpilot-browser-";
/// Maximum length of a path for temporary files: Chromium creates a socket in it, whose path has at most 107 bytes.
const MAX_PATH: usize = 60;
/// Minimum time for the removal of a temporary profile, even after the caller's deadline.
const REMOVE_TIME: Duration = Duration::from_secs(1);

/// A profile folder in use by this process.
#[derive(Debug)]
pub(super) struct Profile {
    dir: PathBuf,
    /// Whether the profile is temporary and is removed with the browser.
    is_temporary: bool,
    // A folder that is removed with the browser: with its temporary files, and with a temporary profile. Field order:
    // the mark is released last.
    temp: Option<TempDir>,
    #[cfg(unix)]
    marker: Option<Marker>,
    _mark: Option<lock::Mark>,
}

impl Profile {
    /// Opens the given folder, or creates a temporary one that `executable` can access.
    pub(super) fn open(requested: Option<&Path>, executable: &Path) -> Result<Self, Error> {
        match requested {
            Some(dir) => Self::given(dir, &temp_root(executable)),
            None => Self::temporary(&temp_root(executable)),
        }
    }

    fn given(dir: &Path, root: &Path) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::Profile { path: dir.to_owned(), problem: e.to_string() };
        make_private(dir).map_err(failed)?;
        let dir = absolute(dir).map_err(failed)?;
        #[cfg(unix)]
        let marker = match Marker::claim(&dir).map_err(failed)? {
            Claim::Ours(marker, old) => {
                if let Some(old) = old {
                    finish(&dir, &old);
                }
                Some(marker)
            }
            Claim::Taken(record) => {
                let holder = lock::live_holder(&dir).unwrap_or_else(|| starting(record));
                return Err(Error::ProfileInUse { path: dir, holder });
            }
        };
        if let Some(holder) = lock::live_holder(&dir) {
            return Err(Error::ProfileInUse { path: dir, holder });
        }
        lock::clear_stale(&dir);
        // A file of an earlier run would name a port that may now be used by another program.
        let _ = std::fs::remove_file(dir.join(super::port_file::PORT_FILE));
        let (temp, mark) = scratch(root, &dir)?.unzip();
        Ok(Self {
            dir,
            is_temporary: false,
            temp,
            #[cfg(unix)]
            marker,
            _mark: mark,
        })
    }

    fn temporary(root: &Path) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::Profile { path: root.to_owned(), problem: e.to_string() };
        let (temp, mark) = marked(root, None).map_err(failed)?;
        let (dir, _) = inside(temp.path());
        make_private(&dir).map_err(failed)?;
        #[cfg(unix)]
        let marker = match Marker::claim(&dir).map_err(failed)? {
            Claim::Ours(marker, _) => Some(marker),
            Claim::Taken(_) => None, // cannot be: no other process knows the folder
        };
        Ok(Self {
            dir,
            is_temporary: true,
            temp: Some(temp),
            #[cfg(unix)]
            marker,
            _mark: Some(mark),
        })
    }

    /// Records that browser `pid` uses the profile, before the browser runs.
    #[cfg(unix)]
    pub(super) fn taken_by(&mut self, pid: u32, executable: &Path) -> std::io::Result<()> {
        self.marker.as_mut().map_or(Ok(()), |marker| marker.write(pid, executable))
    }

    /// Does nothing: the system ends the browser with this process.
    #[cfg(not(unix))]
    pub(super) fn taken_by(&mut self, _pid: u32, _executable: &Path) -> std::io::Result<()> {
        Ok(())
    }

    /// The profile folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder to remove if this process is killed: the one with the temporary files, and the temporary profile.
    pub(super) fn removable(&self) -> Option<&Path> {
        self.temp.as_ref().map(TempDir::path)
    }

    /// The folder of crash reports: beside a temporary profile, otherwise where Chrome has it on other systems.
    pub(super) fn crashes(&self) -> PathBuf {
        match self.removable().filter(|_| self.is_temporary) {
            Some(root) => inside(root).1,
            None => crashes_of(&self.dir),
        }
    }

    /// Environment variables of the browser. Temporary files go into a folder that is removed even after a kill.
    pub(super) fn env(&self) -> Vec<(OsString, OsString)> {
        let mut env = Vec::new();
        if cfg!(target_os = "linux") {
            env.push((OsString::from("BREAKPAD_DUMP_LOCATION"), self.crashes().into_os_string()));
            if let Some(root) = self.removable().filter(|root| root.as_os_str().len() <= MAX_PATH) {
                env.push((OsString::from("TMPDIR"), root.join("tmp").into_os_string()));
            }
        }
        env
    }

    /// The browser that uses the profile, by its lock.
    pub(super) fn holder(&self) -> Option<Holder> {
        lock::live_holder(&self.dir).or_else(|| lock::holder(&self.dir))
    }

    /// Cleans up after browser `pid`, all of whose processes have ended: removes a temporary profile, and the locks of
    /// a killed browser from a given one.
    pub(super) fn close(&mut self, pid: u32, deadline: Deadline<'_>) -> Result<(), Error> {
        if !self.is_temporary {
            lock::clear(&self.dir, pid);
            #[cfg(unix)]
            self.marker.take().into_iter().for_each(Marker::remove);
        }
        let Some(temp) = self.temp.take() else { return Ok(()) };
        let path = temp.keep();
        let deadline = if deadline.left() < REMOVE_TIME { Deadline::after(REMOVE_TIME) } else { deadline };
        remove(&path, deadline).map_err(|e| Error::ProfileLeft { path, problem: e.to_string() })
    }

    /// Cleans up after killed owners in the folder of temporary profiles.
    pub(super) fn sweep(&self, executable: &Path) {
        /// Maximum number at a time.
        const AT_ONCE: usize = 4;
        for left in reap::in_root(&temp_root(executable), Some(AT_ONCE), reap::Reaped::default()).left {
            tracing::debug!("the temporary profile {} is left: {}", left.folder.display(), left.problem);
        }
    }
}

/// The browser that uses a profile folder, by Chromium's lock; `None` for a stale lock of this machine.
#[must_use]
pub fn holder_of(folder: &Path) -> Option<Holder> {
    lock::live_holder(folder)
}

/// Removes Chromium's lock from a profile folder if it is stale: of this machine, with a browser that has ended.
/// Returns whether there was one.
pub fn clear_stale_lock(folder: &Path) -> bool {
    let stale = lock::live_holder(folder).is_none() && lock::holder(folder).is_some();
    if stale {
        lock::clear_stale(folder);
    }
    stale
}

/// Ends the last browser of a profile if its owner was killed and the browser hangs, and removes its locks. Does
/// nothing to a browser whose owner is running, or that is not proven to be started by this library. Returns whether
/// there was anything to do. Does nothing on Windows, where a job object ends browsers with their owner.
pub fn recover(folder: &Path) -> bool {
    #[cfg(unix)]
    if let Ok(dir) = absolute(folder)
        && let Ok(Claim::Ours(marker, Some(left))) = Marker::claim(&dir)
    {
        if finish(&dir, &left) == orphan::End::Stuck {
            return true;
        }
        clear_stale_lock(&dir);
        marker.remove();
        return true;
    }
    #[cfg(not(unix))]
    let _ = folder;
    false
}

/// Resumes the suspended processes (`SIGSTOP`) of the browser of a profile, if a process of this library owns it.
/// Returns their ids. Use [`recover`] for a browser whose owner was killed. Does nothing on Windows.
pub fn resume(folder: &Path) -> Vec<u32> {
    #[cfg(unix)]
    if let Ok(dir) = absolute(folder)
        && let Some(record) = marker::read(&dir)
    {
        return orphan::resume(&record, &dir);
    }
    #[cfg(not(unix))]
    let _ = folder;
    Vec::new()
}

/// Whether a process is suspended (`SIGSTOP`, Ctrl-Z). Always false on Windows.
#[must_use]
pub fn is_suspended(pid: u32) -> bool {
    #[cfg(unix)]
    return crate::process::list::read(pid).is_some_and(|seen| seen.stopped);
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}

/// Resumes a suspended process. Returns whether there was one.
pub fn resume_process(pid: u32) -> bool {
    #[cfg(unix)]
    return orphan::resume_process(pid);
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}

/// Ends the browser of a profile's last owner if that owner was killed and the browser hangs. One that is ending gets
/// time to write its state.
#[cfg(unix)]
fn finish(dir: &Path, left: &Record) -> orphan::End {
    const GRACE: Duration = Duration::from_millis(1500);
    const IN_ALL: Duration = Duration::from_secs(4);
    let end = orphan::end(left, dir, &crashes_of(dir), GRACE, Deadline::after(IN_ALL));
    tracing::debug!(?end, pid = left.browser.pid, "the profile's last browser");
    end
}

/// The holder when another process of this library has claimed the profile, but its browser has not locked it yet.
#[cfg(unix)]
fn starting(record: Option<Record>) -> Holder {
    let owner = record.filter(|record| record.owner.runs()).map(|record| record.owner.pid);
    Holder { owner, ..Holder::default() }
}

/// The profile in a temporary folder, and the folder of its crash reports.
pub(super) fn inside(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("profile"), folder.join("crashes"))
}

/// The folder of crash reports of a given profile.
pub(super) fn crashes_of(dir: &Path) -> PathBuf {
    dir.join("Crash Reports")
}

/// Removes a folder. Retries if a file is written to it meanwhile.
pub(super) fn remove(path: &Path, deadline: Deadline<'_>) -> std::io::Result<()> {
    loop {
        match remove_once(path) {
            Ok(()) => return Ok(()),
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(problem) if deadline.passed() => return Err(problem),
            Err(_) => pause(Duration::from_millis(20)),
        }
    }
}

/// The mark is removed last: if this process is killed meanwhile, the rest is still identified.
fn remove_once(path: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == lock::MARK {
            continue;
        }
        let removed = if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())
        } else {
            std::fs::remove_file(entry.path())
        };
        removed
            .or_else(|problem| if problem.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(problem) })?;
    }
    std::fs::remove_dir_all(path)
}

/// Creates a folder that only this user can access; an existing one is not changed.
fn make_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// The absolute path: the browser has another working folder. Not the canonical path on Windows, whose `\\?\` form
/// Chromium does not accept.
fn absolute(dir: &Path) -> std::io::Result<PathBuf> {
    if cfg!(windows) { std::path::absolute(dir) } else { dir.canonicalize() }
}

/// A folder for temporary files of a browser with a given profile. Only on Linux, where a killed Chromium leaves files
/// there, and only if its path is short enough.
fn scratch(root: &Path, profile: &Path) -> Result<Option<(TempDir, lock::Mark)>, Error> {
    /// Length of the suffix that [`tempfile`] appends.
    const RANDOM: usize = 6;
    if !cfg!(target_os = "linux") || root.as_os_str().len() + 1 + PREFIX.len() + RANDOM > MAX_PATH {
        return Ok(None);
    }
    let failed = |e: std::io::Error| Error::Profile { path: root.to_owned(), problem: e.to_string() };
    marked(root, Some(profile)).map(Some).map_err(failed)
}

/// A temporary folder, marked as in use, with a folder for temporary files.
fn marked(root: &Path, profile: Option<&Path>) -> std::io::Result<(TempDir, lock::Mark)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let temp = builder.tempdir_in(root)?;
    let mark = lock::mark(temp.path(), profile)?;
    make_private(&temp.path().join("tmp"))?;
    Ok((temp, mark))
}

/// The folder for temporary profiles. A snap has its own `/tmp`, but its folder under the home is the same for it and
/// for this process.
fn temp_root(executable: &Path) -> PathBuf {
    match snap_root().filter(|_| is_snap(executable)) {
        Some(folder) if make_private(&folder).is_ok() => folder,
        _ => std::env::temp_dir(),
    }
}

fn snap_root() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join("snap/chromium/common"))
}

/// All folders that may contain temporary profiles.
#[cfg(unix)]
pub(super) fn temp_roots() -> Vec<PathBuf> {
    [Some(std::env::temp_dir()), snap_root().filter(|root| root.is_dir())].into_iter().flatten().collect()
}

/// Whether the executable is a snap, or a script that starts one.
fn is_snap(executable: &Path) -> bool {
    const SCRIPT: u64 = 16 * 1024;
    if executable.starts_with("/snap") {
        return true;
    }
    let small = std::fs::metadata(executable).is_ok_and(|facts| facts.len() < SCRIPT);
    small && std::fs::read_to_string(executable).is_ok_and(|text| text.contains("/snap/bin/chromium"))
}
