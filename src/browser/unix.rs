//! A browser's processes on Unix: a process group with a reaper process in it, and a pipe on descriptors 3 and 4.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::Duration;

use rustix::process::Signal;

#[cfg(target_os = "linux")]
use super::crash_handlers;
use super::process::Plan;
use crate::process::{Group, Reaper, list, poll_until};
use crate::sync::Deadline;

/// This side of the browser's pipe. Chromium exits when it is closed.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) from_browser: OwnedFd,
    pub(super) to_browser: OwnedFd,
}

/// Moves the pipe from standard input and output to descriptors 3 and 4, where Chromium expects it, then executes the
/// browser: process id and start time stay.
///
/// The script first waits for a line, which is written when the reaper process is ready and the marker exists, so that
/// a crash of this process never leaves a browser unknown to both. A shell reads no further than the end of the line;
/// the rest of the pipe is for the browser.
const MOVE_PIPE: &str = r#"read -r _ || exit 1
exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// The name of the reaper process on its command line.
pub(super) const REAPER_NAME: &str = "cdpilot-reaper";

/// Ends the browser if Chromium hangs and does not exit after this process has ended. The script waits for the end of
/// its stdin, which closes when this process ends, gives the browser a little over a second, then kills it, removes the
/// temporary profile, its mark last (repeatedly, while a process still writes to it or creates it again), and kills the
/// whole group including itself. While it lives in the group, the group id cannot be reused.
///
/// It ignores the signals that the system sends to an orphaned group, and `USR2`, which it sends to the group itself to
/// kill helpers that would keep writing to the profile. A zombie counts as ended, although in a container it may take
/// long until it is reaped; this can be seen only on Linux. Shells differ in the syntax of a signal to a group: dash
/// accepts no `--` after `-9`.
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
    group: Group,
    reaper: Reaper,
    /// Where the crash handlers store their files; identifies them, since they leave the group.
    #[cfg(target_os = "linux")]
    crashes: std::path::PathBuf,
}

impl ProcessGroup {
    fn of(child: &Child, plan: &Plan<'_>) -> io::Result<Self> {
        let group = Group::led_by(child)?;
        let leader = group.id().to_string();
        let removable = plan.removable.unwrap_or("".as_ref());
        let reaper = Reaper::start(group.id(), REAPER_NAME, REAPER, &[leader.as_ref(), removable.as_os_str()])?;
        Ok(Self {
            group,
            reaper,
            #[cfg(target_os = "linux")]
            crashes: plan.crashes.to_owned(),
        })
    }

    /// Waits until the browser has ended, without reaping it. Returns whether it has.
    pub(super) fn wait_ended(&self, _child: &mut Child, deadline: Deadline<'_>) -> bool {
        self.group.wait_leader(deadline)
    }

    /// Sends SIGTERM to the browser. Only before it is reaped.
    pub(super) fn terminate(&self) {
        self.group.signal_leader(Signal::TERM);
    }

    /// Kills the renderers. Only before the browser is reaped.
    pub(super) fn kill_renderers(&self) -> usize {
        let leader = self.group.id().unsigned_abs();
        let renderers = || {
            let is_renderer = |command: &[u8]| memchr::memmem::find(command, b"--type=renderer").is_some();
            let members = list::members(leader).into_iter();
            members.filter(move |(_, seen)| is_renderer(&seen.command)).map(|(pid, _)| pid)
        };
        let held: Vec<(u32, list::ProcessHandle)> =
            renderers().filter_map(|pid| Some((pid, list::ProcessHandle::of(pid)?))).collect();
        // Checked again after the handles were opened: ids may have been reused.
        let renderers: Vec<u32> = renderers().collect();
        held.iter().filter(|(pid, _)| renderers.contains(pid)).map(|(_, hold)| hold.kill()).count()
    }

    /// Kills the whole group, including the reaper process. Only before the browser is reaped.
    pub(super) fn kill(&mut self) {
        self.group.signal(Signal::KILL);
        self.reaper.end(); // in case it could not join the group
    }

    /// Waits until no process of the group is left; called after the browser was reaped. Returns whether that is so.
    pub(super) fn wait_gone(&self, deadline: Deadline<'_>) -> bool {
        /// How long crash handlers may take to end after the browser before they are killed.
        #[cfg(target_os = "linux")]
        const PATIENCE: Duration = Duration::from_millis(500);
        #[cfg(target_os = "linux")]
        let patience = Deadline::after(PATIENCE.min(deadline.left() / 2));
        poll_until(deadline, || {
            #[cfg(target_os = "linux")]
            if crash_handlers::any_running(&self.crashes, patience.passed()) {
                return false;
            }
            self.group.is_empty()
        })
    }
}
