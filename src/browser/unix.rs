//! A browser's processes on Unix: a process group with a reaper in it, and a pipe on descriptors 3 and 4.

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

/// Our ends of the browser's pipe. Chromium ends when they are closed.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) from_browser: OwnedFd,
    pub(super) to_browser: OwnedFd,
}

/// Moves the pipe from standard input and output to descriptors 3 and 4, where Chromium looks for it,
/// then becomes the browser: the process id stays, and so does the time the process was started.
///
/// First it waits for a line. It comes when the guard stands and the marker is written, so that there
/// is no moment at which our end would leave a browser that neither knows of. A shell reads no further
/// than the end of the line; what follows on the pipe is for the browser.
const MOVE_PIPE: &str = r#"read -r _ || exit 1
exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// How the guard is called, on its command line.
pub(super) const GUARD_NAME: &str = "cdpilot-guard";

/// Ends the browser after us, should Chromium not see to that itself because it hangs. It waits for the
/// end of its input, which comes when we end, gives the browser a good second, then kills it, removes
/// the temporary profile, its mark last (again, when something was still writing to it, or made it anew), and kills the whole group,
/// itself included. While it lives in the group, the group's id cannot become anybody else's.
///
/// It ignores what the system sends to a group whose parent is gone, and `USR2`, which it sends to the
/// group itself: for helpers that would go on writing into the profile it is deadly. A zombie has ended,
/// though in a container it may be long before somebody reaps it; only Linux tells, elsewhere there is
/// no such file. Shells differ in how a signal for a group is written: dash takes no `--` behind `-9`.
const GUARD: &str = r#"trap '' HUP INT TERM USR2
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

/// Starts the browser as the leader of a process group of its own, so that a Ctrl-C in the terminal is
/// ours to handle and one signal reaches the whole family.
///
/// `note` gets its process id before it runs; nothing is started when that fails.
pub(super) fn spawn(
    plan: &Plan<'_>,
    note: impl FnOnce(u32) -> io::Result<()>,
) -> io::Result<(Child, Family, Option<Pipes>)> {
    // Both pipes are close-on-exec, so a child that another thread starts meanwhile inherits none of
    // the ends, and the browser inherits only the two it is given.
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
    let family = Family::of(&child, plan).and_then(|mut family| {
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
/// The id is ours as long as the browser is not reaped, dead or alive; after that no signal goes there.
#[derive(Debug)]
pub(super) struct Family {
    group: Group,
    reaper: Reaper,
    /// Where the crash handlers keep their files: they leave the group, this tells them apart.
    #[cfg(target_os = "linux")]
    crashes: std::path::PathBuf,
}

impl Family {
    fn of(child: &Child, plan: &Plan<'_>) -> io::Result<Self> {
        let group = Group::led_by(child)?;
        let leader = group.id().to_string();
        let removable = plan.removable.unwrap_or("".as_ref());
        let reaper = Reaper::start(group.id(), GUARD_NAME, GUARD, &[leader.as_ref(), removable.as_os_str()])?;
        Ok(Self {
            group,
            reaper,
            #[cfg(target_os = "linux")]
            crashes: plan.crashes.to_owned(),
        })
    }

    /// Waits until the browser has ended, without reaping it. Whether it has.
    pub(super) fn wait_ended(&self, _child: &mut Child, deadline: Deadline) -> bool {
        self.group.wait_leader(deadline)
    }

    /// Asks the browser to end. Only before it is reaped.
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
        let held: Vec<(u32, list::Hold)> = renderers().filter_map(|pid| Some((pid, list::Hold::of(pid)?))).collect();
        // Looked at again after the handles were taken, they are the right ones.
        let renderers: Vec<u32> = renderers().collect();
        held.iter().filter(|(pid, _)| renderers.contains(pid)).map(|(_, hold)| hold.kill()).count()
    }

    /// Kills the whole group, the guard included. Only before the browser is reaped.
    pub(super) fn kill(&mut self) {
        self.group.signal(Signal::KILL);
        self.reaper.end(); // also should it have failed to join the group
    }

    /// Waits until nothing of the family is left; called after the browser was reaped. Whether it is so.
    pub(super) fn wait_gone(&self, deadline: Deadline) -> bool {
        /// Crash handlers end when the browser has ended; so long they may take before they are killed.
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
