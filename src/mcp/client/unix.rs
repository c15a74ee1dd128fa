//! A server's process on Unix: a process group of its own with a guard in it, and pipes whose ends are waited for
//! together with the wish to stop.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::process::Streams;
use crate::sync::{Deadline, pause};

/// What a killed process may take to vanish.
const KILL_TIME: Duration = Duration::from_secs(2);
/// What is still read after the wish to stop: a stray process may write for ever.
const LAST_READS: usize = 16;

/// Variables that a server gets of ours. Its settings name more; nothing else of ours is its business.
const PASSED_ON: [&str; 10] = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// Whether a server gets a variable of ours.
pub(super) fn is_passed_on(name: &str) -> bool {
    PASSED_ON.contains(&name) || name.starts_with("LC_")
}

/// A program as the system finds it.
pub(super) fn program(command: &str) -> std::ffi::OsString {
    command.into()
}

/// How the guard is called, on its command line.
const GUARD_NAME: &str = "cdpilot-mcp-guard";

/// Ends the server after us, should it not end by itself when its input does. It waits for the end of its own input, which
/// comes when we end, however that happens; then the server has two seconds, and what is left of its group another half
/// after being asked. (With a number or a bare name for the signal, some shells do not know `--`.) While the guard lives in the group, the group's id cannot become anybody else's.
const GUARD: &str = r#"trap '' HUP INT TERM
read -r _
for t in 0.1 0.2 0.3 0.4 1; do
    kill -0 "$1" || break
    sleep $t
done
kill -s TERM -- "-$1"
sleep 0.5
kill -s KILL -- "-$1" || kill -9 "-$1""#;

/// A server's process and whatever it started. It has to be [ended](Self::end); dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    leader: Pid,
    guard: Child,
    /// Its closing tells the guard that we have ended.
    _life: PipeWriter,
    ended: bool,
}

impl Process {
    /// Starts it as the leader of a process group, so that one signal reaches what it starts: `npx` starts a shell that
    /// starts the server.
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Self, Streams)> {
        let mut child = command.process_group(0).spawn()?;
        let streams = Streams::of(&mut child);
        match guarded(child.id()).and_then(|guard| Ok((guard, streams?))) {
            Ok(((leader, guard, life), streams)) => {
                rustix::io::ioctl_fionbio(&streams.stdin, true)?;
                Ok((Self { child, leader, guard, _life: life, ended: false }, streams))
            }
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

    /// Waits for its end, which the end of its input brings; then asks it to end, then kills it and whatever it started.
    /// Each of the two waits takes `patience` at most.
    pub(super) fn end(&mut self, patience: Duration) {
        if !self.wait_ended(Deadline::after(patience)) {
            let _ = rustix::process::kill_process_group(self.leader, Signal::TERM);
            self.wait_ended(Deadline::after(patience));
        }
        self.kill();
    }

    /// Kills the whole group, the guard included, before the leader is reaped: until then the id is nobody else's.
    fn kill(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
        let _ = self.guard.kill(); // also should it have failed to join the group
        let _ = self.guard.wait();
        if self.wait_ended(Deadline::after(KILL_TIME)) {
            let _ = self.child.wait();
        } else {
            tracing::warn!(pid = self.pid(), "an MCP server does not end though it was killed");
        }
    }

    fn wait_ended(&self, deadline: Deadline) -> bool {
        let mut step = Duration::from_millis(1);
        loop {
            if self.has_ended() {
                return true;
            }
            if deadline.passed() {
                return false;
            }
            pause(step.min(deadline.left()));
            step = (step * 2).min(Duration::from_millis(20));
        }
    }

    /// Whether it has, without reaping it.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => true, // not our child any more: the system reaps for us
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The group's id, its guard, and what keeps that one waiting.
fn guarded(leader: u32) -> io::Result<(Pid, Child, PipeWriter)> {
    let raw = i32::try_from(leader).map_err(io::Error::other)?;
    let leader = Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidData)?;
    let (input, life) = io::pipe()?;
    let guard = Command::new("/bin/sh")
        .args(["-c", GUARD, GUARD_NAME])
        .arg(raw.to_string())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(raw)
        .spawn()?;
    Ok((leader, guard, life))
}

/// Ends reading and writing when it is dropped.
#[derive(Debug)]
pub(super) struct Stop {
    _end: PipeWriter,
}

/// The other side of a [`Stop`].
#[derive(Debug)]
pub(super) struct Stopped(PipeReader);

pub(super) fn stop() -> io::Result<(Stop, Stopped)> {
    let (stopped, end) = io::pipe()?;
    Ok((Stop { _end: end }, Stopped(stopped)))
}

/// Which of the descriptors are ready for what they are asked, or closed.
fn wait_ready<const N: usize>(fds: [(BorrowedFd<'_>, PollFlags); N]) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|(fd, what)| PollFd::from_borrowed_fd(fd, what));
    loop {
        match poll(&mut polled, None) {
            Err(Errno::INTR) => {}
            Err(problem) => return Err(problem.into()),
            Ok(_) => return Ok(std::array::from_fn(|at| polled.get(at).is_some_and(|fd| !fd.revents().is_empty()))),
        }
    }
}

/// Hands on what is read, until the end of the stream or the stop. What is there at the stop is still taken along, within
/// reason.
pub(super) fn read_until_stopped(mut from: impl Read + AsFd, stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    let mut reads_left = LAST_READS;
    while let Ok([something, stop]) = wait_ready([(from.as_fd(), PollFlags::IN), (stopped.0.as_fd(), PollFlags::IN)]) {
        if stop && (!something || reads_left == 0) {
            return;
        }
        reads_left -= usize::from(stop);
        if !something {
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(buffer.get(..read).unwrap_or_default()),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes all of it, unless the stop comes first.
///
/// # Errors
/// Nobody reads any more, or the stop came.
pub(super) fn write_until_stopped(to: &mut ChildStdin, mut bytes: &[u8], stopped: &Stopped) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => {
                let [_, stop] = wait_ready([(to.as_fd(), PollFlags::OUT), (stopped.0.as_fd(), PollFlags::IN)])?;
                if stop {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(())
}
