//! A server's process on Windows: a job object per server, which the system closes when cdpilot ends.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};
use std::time::Duration;

use super::process::Streams;
use cdpilot::process::job::{self, Job};
use cdpilot::sync::Deadline;

/// How long killed processes may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(2);

/// Inherited environment variables. All others must be in the settings of the server.
const PASSED_ON: [&str; 22] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TZ",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Whether a server inherits a variable.
pub(super) fn is_passed_on(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    PASSED_ON.contains(&name.as_str()) || name.starts_with("LC_")
}

/// Resolves a program on the path: `npx` is the script `npx.cmd`, which is found only by its full name.
pub(super) fn program(command: &str) -> OsString {
    let is_bare = !command.contains(['/', '\\', '.']);
    let folders = std::env::var_os("PATH").filter(|_| is_bare).unwrap_or_default();
    let found = std::env::split_paths(&folders).find_map(|folder| {
        let files = ["exe", "cmd", "bat"].map(|kind| folder.join(format!("{command}.{kind}")));
        files.into_iter().find(|file| file.is_file())
    });
    found.map_or_else(|| command.into(), std::path::PathBuf::into_os_string)
}

/// A server's process and its descendants. It has to be [ended](Self::end); dropping it kills them.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// `None` once closed; closing kills all processes in it.
    job: Option<Job>,
}

impl Process {
    /// Starts the server inside a job object that kills its processes when its last handle closes, also when cdpilot
    /// ends.
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Self, Streams)> {
        let (mut child, job) = job::spawn(command)?;
        match Streams::of(&mut child) {
            Ok(streams) => Ok((Self { child, job: Some(job) }, streams)),
            Err(problem) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(problem)
            }
        }
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits up to `patience` for the process, whose stdin is closed, to end; then kills the job. Windows has no
    /// equivalent of SIGTERM.
    pub(super) fn end(&mut self, patience: Duration) {
        job::wait_ended(&mut self.child, Deadline::after(patience));
        self.kill();
    }

    fn kill(&mut self) {
        if self.job.take().is_some() && !job::wait_ended(&mut self.child, Deadline::after(KILL_TIME)) {
            tracing::warn!(pid = self.pid(), "an MCP server did not end although it was killed");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
