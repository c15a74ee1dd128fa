//! Changes `config.yaml` atomically, one process at a time.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::failure::Failure;
use super::yaml;
use crate::config::{Config, Home};
use crate::sync::{Deadline, pause};

/// How long to wait for another process that holds the lock.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
/// Polling interval for the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Changes the settings of a home: `change` gets the present settings and returns the new ones. Unchanged settings are not
/// written.
///
/// # Errors
/// Those of `change`; `CONFLICT` when the file cannot be edited without losing something, in which case it stays unchanged;
/// the file cannot be read or written.
pub(super) fn change<T>(
    home: &Home,
    change: impl FnOnce(&Config) -> Result<(Config, T), Failure>,
) -> Result<T, Failure> {
    home.prepare()?;
    let _turn = turn(home)?;
    let shown = home.config();
    // Writes to the target of a symbolic link.
    let path = fs::canonicalize(&shown).unwrap_or_else(|_| shown.clone());
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => None,
        Err(problem) => return Err(failed("read", &shown, &problem)),
    };
    let before = text.as_deref().unwrap_or_default();
    let now = Config::parse(before, &shown)?;
    let (wanted, told) = change(&now)?;
    if wanted != now {
        let new = yaml::changed(before, &now, &wanted, &shown).map_err(|why| {
            let hint = "the file is unchanged; edit it by hand (docs/configuration.md describes its keys)";
            Failure::new("CONFLICT", format!("cannot change {}: {why}; {hint}", shown.display()))
        })?;
        write(&path, &new).map_err(|problem| failed("write", &shown, &problem))?;
    }
    Ok(told)
}

fn failed(doing: &str, path: &Path, problem: &io::Error) -> Failure {
    Failure::internal(format!("cannot {doing} {}: {problem}", path.display()))
}

/// Replaces the file atomically, keeping its permissions. A new file is readable by its owner only.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new().prefix(".config-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|problem| problem.error)?;
    Ok(())
}

/// Takes the lock for changing the settings; it is held until the file is closed.
fn turn(home: &Home) -> Result<File, Failure> {
    let path: PathBuf = home.run().join("config.lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(|problem| failed("open", &path, &problem))?;
    let deadline = Deadline::after(LOCK_LIMIT);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if !deadline.passed() => pause(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new("CONFLICT", "another command is changing the settings; try again"));
            }
            Err(TryLockError::Error(problem)) => return Err(failed("lock", &path, &problem)),
        }
    }
}
