//! Commands on Windows: a job object each, which the system ends with us.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read as _};
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use win32job::{ExtendedLimitInfo, Job};

use super::job::Ended;

/// Read at once.
const BUFFER: usize = 16 << 10;

/// A command and whatever it started.
#[derive(Debug)]
pub(super) struct Family {
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
) -> io::Result<(Child, Family, Output)> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
    let (output, written) = io::pipe()?;
    let mut child = Command::new("cmd")
        .arg("/C")
        .raw_arg(command)
        .env_clear()
        .envs(variables)
        .current_dir(folder)
        .stdin(if input { Stdio::piped() } else { Stdio::null() })
        .stdout(written.try_clone()?)
        .stderr(written)
        .spawn()?;
    if let Err(problem) = job.assign_process(child.as_raw_handle() as isize) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::Error::other(problem));
    }
    Ok((child, Family { job: Mutex::new(Some(job)) }, output))
}

impl Family {
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

/// Nobody can write any more once the job has ended, so the end of the stream is stop enough.
#[derive(Debug)]
pub(super) struct Stop;
/// The other side of it.
pub(super) type Stopped = ();

pub(super) fn stop() -> io::Result<(Stop, Stopped)> {
    Ok((Stop, ()))
}

/// Hands on what is written, until nobody can write any more.
pub(super) fn read(mut output: Output, _stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
