//! The folder a browser keeps its state in: a person's own, or a temporary one that is removed.

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

/// Start of the names of our temporary folders.
pub(super) const PREFIX: &str = "cdpilot-browser-";
/// Longest path of a folder for temporary files: Chromium makes a socket in it, whose path has at most 107 bytes.
const LONGEST: usize = 60;
/// What the removal of a temporary profile may take, even when the caller's time is up.
const REMOVE_TIME: Duration = Duration::from_secs(1);

/// A profile folder in use by us.
#[derive(Debug)]
pub(super) struct Profile {
    dir: PathBuf,
    /// Whether the profile is temporary, and goes with the browser.
    is_temporary: bool,
    // A folder that goes with the browser: with its temporary files, and with a temporary profile. Field order: the
    // mark is released last.
    temp: Option<TempDir>,
    #[cfg(unix)]
    marker: Option<Marker>,
    _mark: Option<lock::Mark>,
}

impl Profile {
    /// Takes the given folder, or makes a temporary one where `executable` may reach it.
    pub(super) fn open(wish: Option<&Path>, executable: &Path) -> Result<Self, Error> {
        match wish {
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
        // A file of an earlier run would name a port that is somebody else's by now.
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
            Claim::Taken(_) => None, // nobody else knows the folder
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

    /// Writes down that the browser `pid` works here; before it begins to.
    #[cfg(unix)]
    pub(super) fn taken_by(&mut self, pid: u32, executable: &Path) -> std::io::Result<()> {
        self.marker.as_mut().map_or(Ok(()), |marker| marker.write(pid, executable))
    }

    /// The system ends the browser with us; nothing needs to be written down.
    #[cfg(not(unix))]
    pub(super) fn taken_by(&mut self, _pid: u32, _executable: &Path) -> std::io::Result<()> {
        Ok(())
    }

    /// The folder itself.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder to remove should we be killed: the one with the temporary files, and the temporary profile.
    pub(super) fn removable(&self) -> Option<&Path> {
        self.temp.as_ref().map(TempDir::path)
    }

    /// Where crash reports go: beside a temporary profile, else where Chrome has them on other systems.
    pub(super) fn crashes(&self) -> PathBuf {
        match self.removable().filter(|_| self.is_temporary) {
            Some(root) => inside(root).1,
            None => crashes_of(&self.dir),
        }
    }

    /// Environment variables for the browser. Temporary files go into a folder of ours, so that those that a killed
    /// browser leaves are removed too.
    pub(super) fn env(&self) -> Vec<(OsString, OsString)> {
        let mut env = Vec::new();
        if cfg!(target_os = "linux") {
            env.push((OsString::from("BREAKPAD_DUMP_LOCATION"), self.crashes().into_os_string()));
            if let Some(root) = self.removable().filter(|root| root.as_os_str().len() <= LONGEST) {
                env.push((OsString::from("TMPDIR"), root.join("tmp").into_os_string()));
            }
        }
        env
    }

    /// Who holds the profile, by its lock.
    pub(super) fn holder(&self) -> Option<Holder> {
        lock::live_holder(&self.dir).or_else(|| lock::holder(&self.dir))
    }

    /// Tidies up behind the browser `pid`, all of whose processes are gone: removes a temporary
    /// profile, and from a person's own the locks of a browser that was killed.
    pub(super) fn close(&mut self, pid: u32, deadline: Deadline) -> Result<(), Error> {
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

    /// Clears up behind owners that were killed before they could do it, where our own temporary
    /// profiles are.
    pub(super) fn sweep(&self, executable: &Path) {
        /// At most so many at a time.
        const AT_ONCE: usize = 4;
        for left in reap::in_root(&temp_root(executable), Some(AT_ONCE), reap::Reaped::default()).left {
            tracing::debug!("the temporary profile {} is left: {}", left.folder.display(), left.problem);
        }
    }
}

/// Who works in a profile folder at the moment, by Chromium's lock in it; of a lock that was left behind by a browser
/// of this machine that is gone, nobody.
#[must_use]
pub fn holder_of(folder: &Path) -> Option<Holder> {
    lock::live_holder(folder)
}

/// Removes Chromium's lock from a profile folder when the browser that it names is one of this machine and gone.
/// Whether there was one.
pub fn clear_stale_lock(folder: &Path) -> bool {
    let stale = lock::live_holder(folder).is_none() && lock::holder(folder).is_some();
    if stale {
        lock::clear_stale(folder);
    }
    stale
}

/// Ends the last browser of a profile, should its owner have been killed and the browser hang, and removes the locks that
/// it left. Nothing happens to a browser whose owner lives, or that is not proven to be one of ours. Whether there was
/// something to do. Does nothing on Windows, where a job object ends browsers with their owner.
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

/// Resumes the suspended processes (`SIGSTOP`) of the browser that one of our processes runs on a profile. Their ids.
/// Those of a browser whose owner was killed are left to [`recover`]. Does nothing on Windows.
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

/// Whether a process is suspended (`SIGSTOP`, Ctrl-Z). Never on Windows.
#[must_use]
pub fn is_suspended(pid: u32) -> bool {
    #[cfg(unix)]
    return super::system::look(pid).is_some_and(|seen| seen.stopped);
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}

/// Resumes a suspended process. Whether there was one.
pub fn resume_process(pid: u32) -> bool {
    #[cfg(unix)]
    return orphan::resume_process(pid);
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}

/// Ends the browser of a profile's last owner, should that owner have been killed and the browser
/// hang. One that is ending gets the time to write its state.
#[cfg(unix)]
fn finish(dir: &Path, left: &Record) -> orphan::End {
    const GRACE: Duration = Duration::from_millis(1500);
    const IN_ALL: Duration = Duration::from_secs(4);
    let end = orphan::end(left, dir, &crashes_of(dir), GRACE, Deadline::after(IN_ALL));
    tracing::debug!(?end, pid = left.browser.pid, "the profile's last browser");
    end
}

/// The holder when another of us has laid claim to the profile, and its browser not yet.
#[cfg(unix)]
fn starting(record: Option<Record>) -> Holder {
    let owner = record.filter(|record| record.owner.runs()).map(|record| record.owner.pid);
    Holder { owner, ..Holder::default() }
}

/// The profile in one of our temporary folders, and the place of its crash reports.
pub(super) fn inside(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("profile"), folder.join("crashes"))
}

/// The place of the crash reports of a profile that is not ours to remove.
pub(super) fn crashes_of(dir: &Path) -> PathBuf {
    dir.join("Crash Reports")
}

/// Removes a folder. A file that somebody writes while it is being removed makes it fail; then again.
pub(super) fn remove(path: &Path, deadline: Deadline) -> std::io::Result<()> {
    loop {
        match remove_once(path) {
            Ok(()) => return Ok(()),
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(problem) if deadline.passed() => return Err(problem),
            Err(_) => pause(Duration::from_millis(20)),
        }
    }
}

/// The mark goes last: should we be killed meanwhile, the rest still says whose it was.
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

/// Makes a folder that only we may look into; one that exists stays as it is.
fn make_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// The absolute path: the browser has its own idea of a working folder. Not the canonical one on
/// Windows, whose `\\?\` form Chromium does not take.
fn absolute(dir: &Path) -> std::io::Result<PathBuf> {
    if cfg!(windows) { std::path::absolute(dir) } else { dir.canonicalize() }
}

/// A folder for the temporary files of a browser whose profile is elsewhere. Only on Linux, where Chromium leaves files
/// there when it is killed; and only where its path is short enough.
fn scratch(root: &Path, profile: &Path) -> Result<Option<(TempDir, lock::Mark)>, Error> {
    /// What [`tempfile`] appends to the prefix.
    const RANDOM: usize = 6;
    if !cfg!(target_os = "linux") || root.as_os_str().len() + 1 + PREFIX.len() + RANDOM > LONGEST {
        return Ok(None);
    }
    let failed = |e: std::io::Error| Error::Profile { path: root.to_owned(), problem: e.to_string() };
    marked(root, Some(profile)).map(Some).map_err(failed)
}

/// A temporary folder of ours, marked as in use, with a place for temporary files.
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

/// Where temporary profiles are made. A snap sees a `/tmp` of its own, but its folder under the home is
/// the same for it and for us.
fn temp_root(executable: &Path) -> PathBuf {
    match snap_root().filter(|_| is_snap(executable)) {
        Some(folder) if make_private(&folder).is_ok() => folder,
        _ => std::env::temp_dir(),
    }
}

fn snap_root() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join("snap/chromium/common"))
}

/// All places where temporary profiles may be.
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
