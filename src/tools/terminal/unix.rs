//! Commands on Unix: a process group each, whose leader is a guard that outlives us for as long as it takes to end it.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::job::Ended;
use crate::sync::{Deadline, pause};

/// How the guard is called, on its command line.
const GUARD_NAME: &str = "cdpilot-terminal-guard";
/// A variable that tells what belongs to one command, also when it left the group.
const MARK: &str = "TERMINAL_COMMAND_ID";
/// The guard leads the group, so that there is one before the command runs, and its id stays taken until we let go of
/// it. When its input ends, we have: it ends the group, and on Linux whatever carries the mark.
const GUARD: &str = r#"trap '' HUP INT TERM
read -r _
kill -TERM -- "-$$"
sleep 0.5
for e in $(grep -lsaF -- "$1" /proc/[0-9]*/environ); do
    p=${e%/environ}
    kill -9 "${p##*/}"
done
kill -9 -- "-$$""#;
/// Read at once.
const BUFFER: usize = 16 << 10;
/// Reads of what is there still, once it is over: a stray process may write for ever.
const LAST_READS: usize = 64;

/// A command and whatever it started.
#[derive(Debug)]
pub(super) struct Family {
    group: Pid,
    /// `None` once it is let go of: the group's id may be another's then.
    guard: Mutex<Option<Child>>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    mark: String,
    /// Its closing tells the guard that we have ended.
    _life: PipeWriter,
}

/// What comes out of it.
pub(super) type Output = PipeReader;

/// Starts a command in a folder, in a group of its own.
pub(super) fn start(
    command: &str,
    folder: &Path,
    variables: Vec<(OsString, OsString)>,
    input: bool,
) -> io::Result<(Child, Family, Output)> {
    let mark = format!("{MARK}={:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let (guard_reads, life) = io::pipe()?;
    let mut guard = Command::new("/bin/sh")
        .args(["-c", GUARD, GUARD_NAME, &mark])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(guard_reads)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let group = i32::try_from(guard.id()).ok().and_then(Pid::from_raw);
    let started = || -> io::Result<(Child, Pid, Output)> {
        let group = group.ok_or(io::ErrorKind::InvalidData)?;
        let (output, written) = io::pipe()?;
        let child = Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .envs(variables)
            .env(MARK, &mark[MARK.len() + 1..])
            .current_dir(folder)
            .stdin(if input { Stdio::piped() } else { Stdio::null() })
            .stdout(written.try_clone()?)
            .stderr(written)
            .process_group(group.as_raw_nonzero().get())
            .spawn()?;
        Ok((child, group, output))
    };
    match started() {
        Ok((child, group, output)) => {
            Ok((child, Family { group, guard: Mutex::new(Some(guard)), mark, _life: life }, output))
        }
        Err(problem) => {
            let _ = guard.kill();
            let _ = guard.wait();
            Err(problem)
        }
    }
}

impl Family {
    /// Asks all of it to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of it.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        {
            let guard = self.guard.lock();
            if guard.is_some() {
                let _ = kill_process_group(self.group, signal);
            }
        }
        #[cfg(target_os = "linux")]
        linux::signal_marked(&self.mark, signal);
    }

    /// Whether anything runs still, apart from the guard; `None` where that cannot be told.
    pub(super) fn is_alive(&self) -> Option<bool> {
        #[cfg(target_os = "linux")]
        return Some(linux::any_alive(self.group, &self.mark));
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Ends what is left, and waits until it is gone, so long at most.
    pub(super) fn clear(&self, time: Duration) {
        self.kill();
        let deadline = Deadline::after(time);
        // A process may be made while the others are killed.
        while self.is_alive() == Some(true) && !deadline.passed() {
            pause(Duration::from_millis(2));
            self.kill();
        }
        let guard = self.guard.lock().take();
        if let Some(mut guard) = guard {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// How a process ended.
pub(super) fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(name(signal.unwrap_or_default())),
    }
}

fn name(signal: i32) -> String {
    const NAMES: [(Signal, &str); 12] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
    ];
    let known = NAMES.iter().find(|(known, _)| known.as_raw() == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// Ends a reading when it is dropped.
pub(super) type Stop = PipeWriter;
/// The other side of it.
pub(super) type Stopped = PipeReader;

pub(super) fn stop() -> io::Result<(Stop, Stopped)> {
    io::pipe().map(|(stopped, stop)| (stop, stopped))
}

/// Hands on what is written, until nobody can write any more or the stop; what is there at the stop comes along.
pub(super) fn read(mut output: Output, stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER];
    let mut left = LAST_READS;
    loop {
        let mut fds = [PollFd::new(&output, PollFlags::IN), PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let (something, is_over) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
        if is_over {
            left -= 1;
        }
        if !something || left == 0 {
            return;
        }
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! What `/proc` tells.

    use std::path::{Path, PathBuf};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    fn processes() -> impl Iterator<Item = PathBuf> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)).map(|entry| entry.path())
    }

    fn is_marked(process: &Path, mark: &str) -> bool {
        let variables = std::fs::read(process.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    }

    /// Sends a signal to whatever carries the mark. A handle is taken first, and looked at again: its number may have
    /// become another's.
    pub(super) fn signal_marked(mark: &str, signal: Signal) {
        for process in processes().filter(|process| is_marked(process, mark)) {
            let number = process.file_name().and_then(|name| name.to_str()?.parse().ok());
            let handle = number.and_then(Pid::from_raw).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            if let Some(handle) = handle
                && is_marked(&process, mark)
            {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
    }

    /// Whether a process of the group that is not its leader runs, or one that carries the mark.
    pub(super) fn any_alive(group: Pid, mark: &str) -> bool {
        let leader = group.as_raw_nonzero().to_string();
        processes().any(|process| {
            if process.file_name().is_some_and(|name| *name == *leader.as_str()) {
                return false;
            }
            let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
            // The name before may hold anything; then come state, parent and group.
            let Some((_, rest)) = stat.rsplit_once(')') else { return false };
            let mut fields = rest.split_whitespace();
            let is_running = fields.next().is_some_and(|state| !matches!(state, "Z" | "X" | "x"));
            is_running && (fields.nth(1) == Some(&leader) || is_marked(&process, mark))
        })
    }
}
