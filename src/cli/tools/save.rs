//! `config.yaml` changed: one change at a time, whole or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::failure::Failure;
use super::yaml;
use crate::config::{Config, Home};
use crate::sync::{Deadline, pause};

/// How long another change is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the turn is asked for meanwhile.
const TURN: Duration = Duration::from_millis(10);

/// Changes the settings of a home as `change` says, who sees them as they are and gives them as they are to be. Nothing is
/// written when they stay the same.
///
/// # Errors
/// What `change` says; `CONFLICT` when the text cannot be changed without losing something, then it is as it was; the
/// file cannot be read or written.
pub(super) fn change<T>(
    home: &Home,
    change: impl FnOnce(&Config) -> Result<(Config, T), Failure>,
) -> Result<T, Failure> {
    home.prepare()?;
    let _turn = turn(home)?;
    let shown = home.config();
    // A link stays a link: what it leads to is written.
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
            let hint = "it was left as it is; change it by hand, docs/configuration.md describes its keys";
            Failure::new("CONFLICT", format!("{} cannot be changed: {why}; {hint}", shown.display()))
        })?;
        write(&path, &new).map_err(|problem| failed("write", &shown, &problem))?;
    }
    Ok(told)
}

fn failed(doing: &str, path: &Path, problem: &io::Error) -> Failure {
    Failure::internal(format!("cannot {doing} {}: {problem}", path.display()))
}

/// Written whole beside it and put in its place. A new one is for its owner alone, an old one for whom it was.
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

/// The right to change them, which lasts as long as the file is open.
fn turn(home: &Home) -> Result<File, Failure> {
    let path: PathBuf = home.run().join("config.lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(|problem| failed("open", &path, &problem))?;
    let deadline = Deadline::after(PATIENCE);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if !deadline.passed() => pause(TURN),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new("CONFLICT", "another command changes the settings at the moment; try again"));
            }
            Err(TryLockError::Error(problem)) => return Err(failed("lock", &path, &problem)),
        }
    }
}
