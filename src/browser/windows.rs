//! Processes on Windows: a job object per browser, which the system ends with this process.

use std::convert::Infallible;
use std::io::{self, Read};
use std::os::windows::io::AsRawHandle;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use win32job::{ExtendedLimitInfo, Job};

use super::process::Plan;
use crate::sync::{Deadline, pause};

/// Chromium's pipe needs inherited handles, which the standard library does not support, so there is none.
pub(super) type Pipes = Infallible;

/// Starts the browser in a job object that kills its processes when its last handle closes, as happens when this
/// process ends in any way.
pub(super) fn spawn(
    plan: &Plan<'_>,
    note: impl FnOnce(u32) -> io::Result<()>,
) -> io::Result<(Child, ProcessGroup, Option<Pipes>)> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
    let mut child = Command::new(plan.executable)
        .args(plan.args)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    // A few milliseconds after the start, long before Chromium starts its first helper process.
    let mut family = ProcessGroup { job: Some(job) };
    let joined = match &family.job {
        Some(job) => job.assign_process(child.as_raw_handle() as isize).map_err(io::Error::other),
        None => Ok(()),
    };
    if let Err(problem) = joined.and_then(|()| note(child.id())) {
        let _ = child.kill();
        let _ = child.wait();
        family.kill();
        return Err(problem);
    }
    Ok((child, family, None))
}

/// The browser's job object. `None` after it was closed, which kills everything in it.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    job: Option<Job>,
}

impl ProcessGroup {
    /// Waits until the browser has ended. Returns whether it has.
    pub(super) fn wait_ended(&self, child: &mut Child, deadline: Deadline) -> bool {
        loop {
            if !matches!(child.try_wait(), Ok(None)) {
                return true;
            }
            if deadline.passed() {
                return false;
            }
            pause(Duration::from_millis(10).min(deadline.left()));
        }
    }

    /// There is no gentle signal; use `Browser.close`.
    pub(super) fn terminate(&self) {}

    /// Renderers cannot be identified here.
    pub(super) fn kill_renderers(&self) -> usize {
        0
    }

    /// Kills everything in the job.
    pub(super) fn kill(&mut self) {
        self.job = None;
    }

    /// The system ends a job as a whole, so there is nothing to wait for.
    pub(super) fn wait_gone(&self, _deadline: Deadline) -> bool {
        self.job.is_none()
    }
}

/// Nothing can keep the other end open after the job has ended, so the end of the stream is sufficient.
#[derive(Debug)]
pub(super) struct Stop;

/// The other side of a [`Stop`].
pub(super) type Stopped = ();

pub(super) fn stop() -> io::Result<(Stop, Stopped)> {
    Ok((Stop, ()))
}

/// Passes on what is read, until the end of the stream.
pub(super) fn read_until_stopped(mut from: ChildStderr, _stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 8 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(&buffer[..read]),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
