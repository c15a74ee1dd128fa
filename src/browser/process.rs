//! A browser process and its children: started here, always reaped here.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use super::Error;
use super::platform::{self, Pipes, ProcessGroup};
use super::stderr::{Log, Reader};
use crate::sync::Deadline;

/// Minimum time for a killed process to vanish, even after the caller's deadline.
const KILL_TIME: Duration = Duration::from_secs(2);

/// What to start.
pub(super) struct Plan<'a> {
    pub(super) executable: &'a Path,
    pub(super) args: &'a [OsString],
    pub(super) env: &'a [(OsString, OsString)],
    /// A folder to remove if this process is killed; on Windows nothing could do so.
    #[cfg_attr(windows, allow(dead_code))]
    pub(super) removable: Option<&'a Path>,
    /// Where the browser's crash handlers keep their files; identifies them on Linux.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(super) crashes: &'a Path,
}

/// The only owner of a browser process. Dropping it kills the whole process group and reaps the process.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    child: Child,
    family: ProcessGroup,
    status: Option<ExitStatus>,
    gone: bool,
    log: Arc<Log>,
    // Dropped last, so that output written while ending is not lost.
    _reader: Option<Reader>,
}

impl Process {
    /// Starts a browser. Returns this side of its pipe, if there is one. `note` receives its process id before it runs
    /// (on Windows a moment after); if that fails, nothing is started.
    pub(super) fn spawn(
        plan: &Plan<'_>,
        note: impl FnOnce(u32) -> io::Result<()>,
    ) -> Result<(Self, Option<Pipes>), Error> {
        let mut unwritten = None;
        let noted = |pid| {
            note(pid).inspect_err(|problem| {
                unwritten = Some(Error::system("cannot write the browser's marker into its profile", problem));
            })
        };
        let (mut child, family, pipes) = platform::spawn(plan, noted).map_err(|problem| {
            let path = plan.executable.to_owned();
            unwritten.take().unwrap_or_else(|| Error::Spawn { path, problem: problem.to_string() })
        })?;
        let stderr = child.stderr.take();
        let pid = child.id();
        let log = Arc::new(Log::default());
        let mut process = Self { pid, child, family, status: None, gone: false, log, _reader: None };
        if let Some(stderr) = stderr {
            process._reader = Some(Reader::start(pid, stderr, Arc::clone(&process.log))?);
        }
        Ok((process, pipes))
    }

    /// The process id, on Unix also the process group id.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Its standard error.
    pub(super) fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Waits until it has ended by itself. Returns whether it has.
    pub(super) fn wait_ended(&mut self, deadline: Deadline<'_>) -> bool {
        self.status.is_some() || self.family.wait_ended(&mut self.child, deadline)
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) {
        if self.status.is_none() {
            self.family.terminate();
        }
    }

    /// Kills the browser's renderers, which crashes their pages. Returns how many; 0 on Windows.
    pub(super) fn kill_renderers(&self) -> usize {
        if self.status.is_some() {
            return 0; // the id may have been reused
        }
        self.family.kill_renderers()
    }

    /// Kills the rest of the process group, reaps the process and waits until the group is gone.
    ///
    /// Kills in any case; after a passed deadline it still waits as long as a kill takes.
    pub(super) fn end(&mut self, deadline: Deadline<'_>) -> Result<ExitStatus, Error> {
        let deadline = if deadline.left() < KILL_TIME { Deadline::after(KILL_TIME) } else { deadline };
        let time = deadline.left();
        let stuck = Error::StillRunning { pid: self.pid, after: time };
        let status = match self.status {
            Some(status) => status,
            None => {
                // Before reaping: until then the ids cannot be reused.
                self.family.kill();
                if !self.family.wait_ended(&mut self.child, deadline) {
                    return Err(stuck);
                }
                let status = self.child.wait().map_err(|e| Error::system("cannot reap the browser", e))?;
                *self.status.insert(status)
            }
        };
        self.gone = self.gone || self.family.wait_gone(deadline);
        if self.gone { Ok(status) } else { Err(stuck) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.gone
            && let Err(problem) = self.end(Deadline::after(KILL_TIME))
        {
            tracing::warn!("{problem}");
        }
    }
}
