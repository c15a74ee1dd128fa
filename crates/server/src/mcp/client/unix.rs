//! A server's process on Unix: its own process group with a reaper process in it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::Signal;

use super::process::Streams;
use cdpilot::process::{Group, Reaper};
use cdpilot::sync::Deadline;

/// How long killed processes may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(2);

/// Inherited environment variables. All others must be in the settings of the server.
const PASSED_ON: [&str; 10] = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// Whether a server inherits a variable.
pub(super) fn is_passed_on(name: &str) -> bool {
    PASSED_ON.contains(&name) || name.starts_with("LC_")
}

/// The program as an executable name.
pub(super) fn program(command: &str) -> std::ffi::OsString {
    command.into()
}

/// Name of the reaper process on its command line.
const REAPER_NAME: &str = "cdpilot-mcp-reaper";

/// Ends the server if cdpilot ends without doing so. The reaper waits for the end of its stdin, which closes when
/// cdpilot ends for any reason; the server then has two seconds to end, and the rest of its group another half after
/// SIGTERM. While the reaper lives in the group, the group id cannot be reused. Signals are given with `-s`, since some
/// shells do not accept `--` after `-15` or `-TERM`.
const REAPER: &str = r#"trap '' HUP INT TERM
read -r _
for t in 0.1 0.2 0.3 0.4 1; do
    kill -0 "$1" || break
    sleep $t
done
kill -s TERM -- "-$1"
sleep 0.5
kill -s KILL -- "-$1" || kill -9 "-$1""#;

/// A server's process and its descendants. It has to be [ended](Self::end); dropping it kills them.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Group,
    reaper: Reaper,
    ended: bool,
}

impl Process {
    /// Starts the server as leader of a process group, so that signals reach its descendants: `npx` starts a shell,
    /// which starts the server.
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

    /// Waits for the process, whose stdin is closed, to end; then sends SIGTERM, then kills the group. Each of the two
    /// waits takes at most `patience`.
    pub(super) fn end(&mut self, patience: Duration) {
        if !self.group.wait_leader(Deadline::after(patience)) {
            self.group.signal(Signal::TERM);
            self.group.wait_leader(Deadline::after(patience));
        }
        self.kill();
    }

    /// Kills the group including the reaper, before the leader is reaped: until then the group id cannot be reused.
    fn kill(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.group.signal(Signal::KILL);
        self.reaper.end(); // in case it could not join the group
        if self.group.wait_leader(Deadline::after(KILL_TIME)) {
            let _ = self.child.wait();
        } else {
            tracing::warn!(pid = self.pid(), "an MCP server did not end although it was killed");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The server's process group with its reaper process.
fn reaped(leader: &Child) -> io::Result<(Group, Reaper)> {
    let group = Group::led_by(leader)?;
    let reaper = Reaper::start(group.id(), REAPER_NAME, REAPER, &[group.id().to_string().as_ref()])?;
    Ok((group, reaper))
}
