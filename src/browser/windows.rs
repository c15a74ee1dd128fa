//! Processes on Windows: a job object per browser, which the system ends with this process.

use std::convert::Infallible;
use std::io;
use std::process::{Child, Command, Stdio};

use super::process::Plan;
use crate::process::job::{self, Job};
use crate::sync::Deadline;

/// Chromium's pipe needs inherited handles, which the standard library does not support, so there is none.
pub(super) type Pipes = Infallible;

/// Starts the browser in a job object that kills its processes when its last handle closes, as happens when this
/// process ends in any way.
pub(super) fn spawn(
    plan: &Plan<'_>,
    note: impl FnOnce(u32) -> io::Result<()>,
) -> io::Result<(Child, ProcessGroup, Option<Pipes>)> {
    // It joins the job long before Chromium starts its first helper process.
    let (mut child, job) = job::spawn(
        Command::new(plan.executable)
            .args(plan.args)
            .envs(plan.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped()),
    )?;
    if let Err(problem) = note(child.id()) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(problem);
    }
    Ok((child, ProcessGroup { job: Some(job) }, None))
}

/// The browser's job object. `None` after it was closed, which kills everything in it.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    job: Option<Job>,
}

impl ProcessGroup {
    /// Waits until the browser has ended. Returns whether it has.
    pub(super) fn wait_ended(&self, child: &mut Child, deadline: Deadline<'_>) -> bool {
        job::wait_ended(child, deadline)
    }

    /// Does nothing: Windows has no equivalent of SIGTERM. Use `Browser.close`.
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
    pub(super) fn wait_gone(&self, _deadline: Deadline<'_>) -> bool {
        self.job.is_none()
    }
}
