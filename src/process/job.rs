//! Windows job objects: the system ends all processes in a job when its last handle closes, also when this process
//! ends.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::process::{Child, Command};
use std::time::Duration;

use win32job::ExtendedLimitInfo;
pub(crate) use win32job::Job;

use crate::sync::{Deadline, pause};

/// Starts a process inside its own job object. Dropping the job kills all processes in it.
///
/// The process joins a few milliseconds after it started.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Job)> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
    let mut child = command.spawn()?;
    if let Err(problem) = job.assign_process(child.as_raw_handle() as isize) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::Error::other(problem));
    }
    Ok((child, job))
}

/// Waits until a process has ended. Returns whether it has.
pub(crate) fn wait_ended(child: &mut Child, deadline: Deadline<'_>) -> bool {
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
