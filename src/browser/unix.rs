//! Processes and pipes on Unix: a process group per browser with a reaper process in it, a pipe on descriptors 3 and 4,
//! and waits that do not reap before the group is handled.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::process::Plan;
use super::system;
use crate::sync::{Deadline, pause};

/// This side of the browser's pipe. Chromium exits when it is closed.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) from_browser: OwnedFd,
    pub(super) to_browser: OwnedFd,
}

/// Moves the pipe from standard input and output to descriptors 3 and 4, where Chromium expects it, then executes the
/// browser: process id and start time stay.
///
/// It first waits for a line, which is written when the reaper process is ready and the marker exists, so that the end
/// of this process can never leave a browser that neither knows. A shell reads no further than the end of the line; the
/// rest of the pipe is for the browser.
const MOVE_PIPE: &str = r#"read -r _ || exit 1
exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// The name of the reaper process on its command line.
pub(super) const REAPER_NAME: &str = "cdpilot-guard";

/// Ends the browser after this process if Chromium hangs and does not exit by itself. It waits for the end of its
/// input, which comes when this process ends, gives the browser a good second, then kills it, removes the temporary
/// profile, its mark last (repeatedly, while something still writes to it or creates it again), and kills the whole
/// group including itself. While it lives in the group, the group id cannot be reused.
///
/// It ignores the signals that the system sends to an orphaned group, and `USR2`, which it sends to the group itself:
/// that kills helpers that would keep writing into the profile. A zombie counts as ended, although in a container it
/// may take long until it is reaped; only Linux shows that, other systems have no such file. Shells differ in the
/// syntax of a signal to a group: dash accepts no `--` after `-9`.
const REAPER: &str = r#"trap '' HUP INT TERM USR2
read -r _
for t in 0.1 0.2 0.3 0.6; do
    kill -0 "$1" || break
    read -r s <"/proc/$1/stat" && case $s in *") Z "*) break ;; esac
    sleep $t
done
kill -9 "$1"
kill -s USR2 -- "-$1" || kill -USR2 "-$1"
[ -z "$2" ] || for t in 0.05 0.1 0.2 0.4 0.8 1.6 2 0; do for f in "$2"/*; do [ "$f" = "$2/owner" ] || rm -rf -- "$f"; done; rm -rf -- "$2" && sleep 0.05 && [ ! -e "$2" ] && break; sleep $t; done
kill -s KILL -- "-$1" || kill -9 "-$1""#;

/// Starts the browser as the leader of its own process group, so that Ctrl-C in the terminal only reaches this process
/// and one signal reaches the whole group.
///
/// `note` receives its process id before it runs; nothing is started when that fails.
pub(super) fn spawn(
    plan: &Plan<'_>,
    note: impl FnOnce(u32) -> io::Result<()>,
) -> io::Result<(Child, ProcessGroup, Option<Pipes>)> {
    // Both pipes are close-on-exec, so a child that another thread starts meanwhile inherits neither end, and the
    // browser inherits only the two it is given.
    let (browser_reads, mut to_browser) = io::pipe()?;
    let (from_browser, browser_writes) = io::pipe()?;
    let mut child = Command::new("/bin/sh")
        .args(["-c", MOVE_PIPE])
        .arg(plan.executable)
        .args(plan.args)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .stdin(browser_reads)
        .stdout(browser_writes)
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let family = ProcessGroup::of(&child, plan).and_then(|mut family| {
        match note(child.id()).and_then(|()| to_browser.write_all(b"\n")) {
            Ok(()) => Ok(family),
            Err(problem) => {
                family.kill();
                Err(problem)
            }
        }
    });
    let pipes = Pipes { from_browser: from_browser.into(), to_browser: to_browser.into() };
    match family {
        Ok(family) => Ok((child, family, Some(pipes))),
        Err(problem) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(problem)
        }
    }
}

/// The browser's process group. Its id is the browser's process id.
///
/// The id is reserved until the browser is reaped, dead or alive; after that no signal is sent.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Pid,
    guard: Child,
    /// Its closing notifies the reaper process that this process has ended.
    _life: PipeWriter,
    #[cfg(target_os = "linux")]
    handle: Option<OwnedFd>,
    /// Where the crash handlers keep their files: they leave the group, and are identified by this.
    #[cfg(target_os = "linux")]
    crashes: std::path::PathBuf,
}

impl ProcessGroup {
    fn of(child: &Child, plan: &Plan<'_>) -> io::Result<Self> {
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidData)?;
        let (input, life) = io::pipe()?;
        let guard = Command::new("/bin/sh")
            .args(["-c", REAPER, REAPER_NAME])
            .arg(raw.to_string())
            .arg(plan.removable.unwrap_or("".as_ref()))
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(raw)
            .spawn()?;
        Ok(Self {
            leader,
            guard,
            _life: life,
            // Old kernels and strict system call filters do not have them; then it polls.
            #[cfg(target_os = "linux")]
            handle: rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()).ok(),
            #[cfg(target_os = "linux")]
            crashes: plan.crashes.to_owned(),
        })
    }

    /// Waits until the browser has ended, without reaping it. Returns whether it has.
    pub(super) fn wait_ended(&self, _child: &mut Child, deadline: Deadline) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            return wait_readable(&[handle.as_fd()], Some(deadline)).is_ok_and(|ready| ready[0]);
        }
        poll_until(deadline, || self.has_ended())
    }

    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => true, // no longer a child: the system reaps it
        }
    }

    /// Asks the browser to end. Only before it is reaped.
    pub(super) fn terminate(&self) {
        let _ = rustix::process::kill_process(self.leader, Signal::TERM);
    }

    /// Kills the renderers. Only before the browser is reaped.
    pub(super) fn kill_renderers(&self) -> usize {
        let leader = self.leader.as_raw_nonzero().get().unsigned_abs();
        let renderers = || {
            let is_renderer = |command: &[u8]| memchr::memmem::find(command, b"--type=renderer").is_some();
            let members = system::members(leader).into_iter();
            members.filter(move |(_, seen)| is_renderer(&seen.command)).map(|(pid, _)| pid)
        };
        let held: Vec<(u32, system::ProcessHandle)> =
            renderers().filter_map(|pid| Some((pid, system::ProcessHandle::of(pid)?))).collect();
        // Checked again after the handles were opened, they are the right processes.
        let renderers: Vec<u32> = renderers().collect();
        held.iter().filter(|(pid, _)| renderers.contains(pid)).map(|(_, hold)| hold.kill()).count()
    }

    /// Kills the whole group, including the reaper process. Only before the browser is reaped.
    pub(super) fn kill(&mut self) {
        let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
        let _ = self.guard.kill(); // even if it failed to join the group
        let _ = self.guard.wait();
    }

    /// Waits until nothing of the group is left; called after the browser was reaped. Returns whether that is so.
    pub(super) fn wait_gone(&self, deadline: Deadline) -> bool {
        /// How long crash handlers may take to end after the browser before they are killed.
        #[cfg(target_os = "linux")]
        const PATIENCE: Duration = Duration::from_millis(500);
        #[cfg(target_os = "linux")]
        let patience = Deadline::after(PATIENCE.min(deadline.left() / 2));
        poll_until(deadline, || {
            #[cfg(target_os = "linux")]
            if system::any_crash_handler(&self.crashes, patience.passed()) {
                return false;
            }
            self.is_empty()
        })
    }

    fn is_empty(&self) -> bool {
        match rustix::process::test_kill_process_group(self.leader) {
            Err(Errno::SRCH) => true,
            // Orphans wait as zombies for the init process to reap them, which in a container may never happen. They
            // run nothing and hold nothing, so they do not count.
            #[cfg(target_os = "linux")]
            _ => !system::any_alive_in_group(self.leader),
            #[cfg(not(target_os = "linux"))]
            answer => answer.is_err(), // macOS refuses a group of zombies with EPERM
        }
    }
}

/// For changes without a signal: checks again after 1 ms, then less often, up to 20 ms.
pub(super) fn poll_until(deadline: Deadline, holds: impl Fn() -> bool) -> bool {
    let mut step = Duration::from_millis(1);
    loop {
        if holds() {
            return true;
        }
        if deadline.passed() {
            return false;
        }
        pause(step.min(deadline.left()));
        step = (step * 2).min(Duration::from_millis(20));
    }
}

/// Which of the descriptors are readable or closed.
fn wait_readable<const N: usize>(
    fds: &[std::os::fd::BorrowedFd<'_>; N],
    deadline: Option<Deadline>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    loop {
        let left = deadline.and_then(|deadline| Timespec::try_from(deadline.left()).ok());
        match poll(&mut polled, left.as_ref()) {
            Err(Errno::INTR) => {}
            Err(problem) => return Err(problem.into()),
            Ok(_) => return Ok(std::array::from_fn(|at| !polled[at].revents().is_empty())),
        }
    }
}

/// Ends a [`read_until_stopped`] when dropped.
#[derive(Debug)]
pub(super) struct Stop {
    _end: PipeWriter,
}

/// The other side of a [`Stop`].
pub(super) type Stopped = PipeReader;

pub(super) fn stop() -> io::Result<(Stop, Stopped)> {
    let (stopped, end) = io::pipe()?;
    Ok((Stop { _end: end }, stopped))
}

/// Passes on what is read, until the end of the stream or the stop. Data available at the stop is still read, within
/// limits: a stray process may write forever.
pub(super) fn read_until_stopped(mut from: ChildStderr, stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 8 * 1024];
    let mut reads_left = 16;
    while let Ok([something, stop]) = wait_readable(&[from.as_fd(), stopped.as_fd()], None) {
        if stop && (!something || reads_left == 0) {
            return;
        }
        reads_left -= u32::from(stop);
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(&buffer[..read]),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
