//! Commands on Windows: each runs in its own job object, which the system closes when cdpilot ends.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use parking_lot::Mutex;

use super::job::Ended;
use cdpilot::process::job::{self, Job};

/// A command and its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// `None` once closed; closing ends all processes in it.
    job: Mutex<Option<Job>>,
}

/// Combined stdout and stderr of a command.
pub(super) type Output = PipeReader;

/// Starts a command in a folder, in its own job object.
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
    /// Does nothing: console programs have no equivalent of SIGTERM. The caller kills them afterwards.
    pub(super) fn terminate(&self) {}

    /// Ends all processes.
    pub(super) fn kill(&self) {
        drop(self.job.lock().take());
    }

    /// Whether a process is running; always `None`, Windows offers no simple query.
    pub(super) fn is_alive(&self) -> Option<bool> {
        None
    }

    /// Ends the remaining processes.
    pub(super) fn clear(&self, _time: Duration) {
        self.kill();
    }
}

/// How a process ended.
pub(super) fn ended(status: ExitStatus) -> Ended {
    Ended::Code(status.code().unwrap_or(-1))
}
