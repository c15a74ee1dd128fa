//! Commands on Windows: a job object each, which the system ends with us.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use parking_lot::Mutex;

use super::job::Ended;
use crate::process::job::{self, Job};

/// A command and whatever it started.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// `None` when it was closed, which ends everything in it.
    job: Mutex<Option<Job>>,
}

/// What comes out of it.
pub(super) type Output = PipeReader;

/// Starts a command in a folder, in a job of its own.
pub(super) fn start(
    command: &str,
    folder: &Path,
    variables: Vec<(OsString, OsString)>,
    input: bool,
) -> io::Result<(Child, ProcessTree, Output)> {
    let (output, written) = io::pipe()?;
    let (child, job) = job::spawn(
        Command::new("cmd")
            .arg("/C")
            .raw_arg(command)
            .env_clear()
            .envs(variables)
            .current_dir(folder)
            .stdin(if input { Stdio::piped() } else { Stdio::null() })
            .stdout(written.try_clone()?)
            .stderr(written),
    )?;
    Ok((child, ProcessTree { job: Mutex::new(Some(job)) }, output))
}

impl ProcessTree {
    /// There is no gentle signal for programs of the command line; the end follows.
    pub(super) fn terminate(&self) {}

    /// Ends all of it.
    pub(super) fn kill(&self) {
        drop(self.job.lock().take());
    }

    /// Whether anything runs still; the system does not tell it simply.
    pub(super) fn is_alive(&self) -> Option<bool> {
        None
    }

    /// Ends what is left.
    pub(super) fn clear(&self, _time: Duration) {
        self.kill();
    }
}

/// How a process ended.
pub(super) fn ended(status: ExitStatus) -> Ended {
    Ended::Code(status.code().unwrap_or(-1))
}
