//! The folder a browser keeps its state in: a person's own, or a temporary one that is removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::{Error, Holder, lock};
use crate::sync::{Deadline, pause};

/// Start of the names of our temporary folders.
const PREFIX: &str = "cdpilot-browser-";
/// What the removal of a temporary profile may take, even when the caller's time is up.
const REMOVE_TIME: Duration = Duration::from_secs(1);

/// A profile folder in use by us.
#[derive(Debug)]
pub(super) struct Profile {
    dir: PathBuf,
    // `None` for a folder that is not ours to remove. Field order: the mark is released last.
    temp: Option<TempDir>,
    _mark: Option<lock::Mark>,
}

impl Profile {
    /// Takes the given folder, or makes a temporary one where `executable` may reach it.
    pub(super) fn open(wish: Option<&Path>, executable: &Path) -> Result<Self, Error> {
        match wish {
            Some(dir) => Self::given(dir),
            None => Self::temporary(&temp_root(executable)),
        }
    }

    fn given(dir: &Path) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::Profile { path: dir.to_owned(), problem: e.to_string() };
        make_private(dir).map_err(failed)?;
        let dir = absolute(dir).map_err(failed)?;
        if let Some(holder) = lock::live_holder(&dir) {
            return Err(Error::ProfileInUse { path: dir, holder });
        }
        // A file of an earlier run would name a port that is somebody else's by now.
        let _ = std::fs::remove_file(dir.join(super::ready::PORT_FILE));
        Ok(Self { dir, temp: None, _mark: None })
    }

    fn temporary(root: &Path) -> Result<Self, Error> {
        let failed = |e: std::io::Error| Error::Profile { path: root.to_owned(), problem: e.to_string() };
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let temp = builder.tempdir_in(root).map_err(failed)?;
        let mark = lock::mark(temp.path()).map_err(failed)?;
        let dir = temp.path().join("profile");
        make_private(&dir).map_err(failed)?;
        make_private(&temp.path().join("tmp")).map_err(failed)?;
        Ok(Self { dir, temp: Some(temp), _mark: Some(mark) })
    }

    /// The folder itself.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder to remove should we be killed: the one that holds the temporary profile.
    pub(super) fn removable(&self) -> Option<&Path> {
        self.temp.as_ref().map(TempDir::path)
    }

    /// Where crash reports go: beside a temporary profile, else where Chrome has them on other systems.
    pub(super) fn crashes(&self) -> PathBuf {
        match self.removable() {
            Some(root) => root.join("crashes"),
            None => self.dir.join("Crash Reports"),
        }
    }

    /// Environment variables for the browser. Crash reports and temporary files go where the profile is,
    /// so that a killed browser leaves nothing behind either.
    pub(super) fn env(&self) -> Vec<(OsString, OsString)> {
        /// Chromium makes a socket there, and a socket's path has at most 107 bytes.
        const LONGEST: usize = 60;
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
        lock::holder(&self.dir)
    }

    /// Tidies up behind the browser `pid`, all of whose processes are gone: removes a temporary
    /// profile, and from a person's own the locks of a browser that was killed.
    pub(super) fn close(&mut self, pid: u32, deadline: Deadline) -> Result<(), Error> {
        let Some(temp) = self.temp.take() else {
            lock::clear(&self.dir, pid);
            return Ok(());
        };
        let path = temp.keep();
        let deadline = if deadline.left() < REMOVE_TIME { Deadline::after(REMOVE_TIME) } else { deadline };
        remove(&path, deadline).map_err(|e| Error::ProfileLeft { path, problem: e.to_string() })
    }

    /// Removes temporary profiles whose owner was killed before it could remove them.
    pub(super) fn sweep(&self) {
        /// At most so many at a time: a start is no time for cleaning house.
        const AT_ONCE: usize = 4;
        let Some(root) = self.temp.as_ref().and_then(|temp| temp.path().parent()) else { return };
        let Ok(entries) = std::fs::read_dir(root) else { return };
        let ours = entries.flatten().filter(|e| e.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        for folder in ours.map(|entry| entry.path()).filter(|folder| lock::abandoned(folder)).take(AT_ONCE) {
            tracing::debug!("removing the temporary profile {}, its owner is gone", folder.display());
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Removes a folder. A file that somebody writes while it is being removed makes it fail; then again.
fn remove(path: &Path, deadline: Deadline) -> std::io::Result<()> {
    loop {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return Ok(()),
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(problem) if deadline.passed() => return Err(problem),
            Err(_) => pause(Duration::from_millis(20)),
        }
    }
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

/// Where temporary profiles are made. A snap sees a `/tmp` of its own, but its folder under the home is
/// the same for it and for us.
fn temp_root(executable: &Path) -> PathBuf {
    let common =
        is_snap(executable).then(|| std::env::home_dir().map(|home| home.join("snap/chromium/common"))).flatten();
    match common {
        Some(folder) if make_private(&folder).is_ok() => folder,
        _ => std::env::temp_dir(),
    }
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
