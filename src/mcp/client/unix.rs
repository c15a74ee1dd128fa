//! A server's process on Unix: a process group of its own with a reaper in it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::Signal;

use super::process::Streams;
use crate::process::{Group, Reaper};
use crate::sync::Deadline;

/// What a killed process may take to vanish.
const KILL_TIME: Duration = Duration::from_secs(2);

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
const REAPER_NAME: &str = "cdpilot-mcp-guard";

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
    group: Group,
    reaper: Reaper,
    ended: bool,
}

impl Process {
    /// Starts it as the leader of a process group, so that one signal reaches what it starts: `npx` starts a shell that
    /// starts the server.
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Self, Streams)> {
        let mut child = command.process_group(0).spawn()?;
        let streams = Streams::of(&mut child);
        match reaped(&child).and_then(|reaped| Ok((reaped, streams?))) {
            Ok(((group, reaper), streams)) => {
                rustix::io::ioctl_fionbio(&streams.stdin, true)?;
                Ok((Self { child, group, reaper, ended: false }, streams))
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
        if !self.group.wait_leader(Deadline::after(patience)) {
            self.group.signal(Signal::TERM);
            self.group.wait_leader(Deadline::after(patience));
        }
        self.kill();
    }

    /// Kills the whole group, the reaper included, before the leader is reaped: until then the id is nobody else's.
    fn kill(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.group.signal(Signal::KILL);
        self.reaper.end(); // also should it have failed to join the group
        if self.group.wait_leader(Deadline::after(KILL_TIME)) {
            let _ = self.child.wait();
        } else {
            tracing::warn!(pid = self.pid(), "an MCP server does not end though it was killed");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The group that a server leads, and the reaper in it.
fn reaped(leader: &Child) -> io::Result<(Group, Reaper)> {
    let group = Group::led_by(leader)?;
    let reaper = Reaper::start(group.id(), REAPER_NAME, GUARD, &[group.id().to_string().as_ref()])?;
    Ok((group, reaper))
}
