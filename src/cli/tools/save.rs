//! Changes to the tools that are on: one at a time, whole or not at all.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::failure::Failure;
use crate::config::{Config, Home, Layers};
use crate::sync::{Deadline, pause};

/// How long another change is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the turn is asked for meanwhile.
const TURN: Duration = Duration::from_millis(10);

/// Changes which tools are on. `change` gets the settings that apply and returns the ones that are wanted. Nothing is
/// written when they stay the same, and never `config.yaml`.
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
    let (wanted, told) = change(&now)?;
    if wanted != now {
        layers.choose(home, &wanted)?;
    }
    Ok(told)
}

fn failed(doing: &str, path: &Path, problem: &io::Error) -> Failure {
    Failure::internal(format!("cannot {doing} {}: {problem}", path.display()))
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
