//! Changes `tools.json` atomically, one process at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::failure::Failure;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause};
use cdpilot_server::config::{Config, Home, Layers};

/// How long to wait for another process that holds the lock.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
/// Polling interval for the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Changes which tools are on: `change` gets the settings in effect and returns the new ones. Unchanged settings are not
/// written, and `config.yaml` never is.
///
/// # Errors
/// Those of `change`; `CONFLICT` while another command changes them; a file cannot be read or written.
pub(super) fn change<T>(
    home: &Home,
    change: impl FnOnce(&Config) -> Result<(Config, T), Failure>,
) -> Result<T, Failure> {
    home.prepare()?;
    let _turn = turn(home)?;
    let mut layers = Layers::of(home)?;
    let now = layers.config();
    let (new, result) = change(&now)?;
    if new != now {
        layers.choose(home, &new)?;
    }
    Ok(result)
}

fn failed(doing: &str, path: &Path, problem: &io::Error) -> Failure {
    Failure::internal(format!("cannot {doing} {}: {problem}", path.display()))
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
                return Err(Failure::new(Code::Conflict, "another command is changing the settings; try again"));
            }
            Err(TryLockError::Error(problem)) => return Err(failed("lock", &path, &problem)),
        }
    }
}
