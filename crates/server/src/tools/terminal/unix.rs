//! Commands on Unix: each runs in its own process group, led by a reaper process that ends the group if cdpilot dies.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;

use super::job::Ended;
use cdpilot::process::{Group, Reaper};
use cdpilot::sync::{Deadline, pause};

/// Name of the reaper process on its command line.
const REAPER_NAME: &str = "cdpilot-terminal-reaper";
/// Environment variable that marks the processes of one command, including those that left the process group.
const MARK: &str = "TERMINAL_COMMAND_ID";
/// The reaper leads the group: the group exists before the command starts, and its id stays reserved until the reaper
/// is released. When its stdin closes, cdpilot has ended: the reaper ends the group, and on Linux all marked processes.
const REAPER: &str = r#"trap '' HUP INT TERM
read -r _
kill -TERM -- "-$$"
sleep 0.5
for e in $(grep -lsaF -- "$1" /proc/[0-9]*/environ); do
    p=${e%/environ}
    kill -9 "${p##*/}"
done
kill -9 -- "-$$""#;

/// A command and its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    group: Group,
    /// `None` once released; the group id may be reused by another group then.
    reaper: Mutex<Option<Reaper>>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    mark: String,
}

/// Combined stdout and stderr of a command.
pub(super) type Output = PipeReader;

/// Starts a command in a folder, in its own process group.
pub(super) fn start(
    command: &str,
    folder: &Path,
    variables: Vec<(OsString, OsString)>,
    input: bool,
) -> io::Result<(Child, ProcessTree, Output)> {
    let mark = format!("{MARK}={:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let mut reaper = Reaper::start(0, REAPER_NAME, REAPER, &[mark.as_ref()])?;
    let started = || -> io::Result<(Child, Group, Output)> {
        let group = Group::led_by(reaper.child())?;
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
            .process_group(group.id())
            .spawn()?;
        Ok((child, group, output))
    };
    match started() {
        Ok((child, group, output)) => {
            Ok((child, ProcessTree { group, reaper: Mutex::new(Some(reaper)), mark }, output))
        }
        Err(problem) => {
            reaper.end();
            Err(problem)
        }
    }
}

impl ProcessTree {
    /// Sends SIGTERM to all processes.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGKILL to all processes.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        {
            let reaper = self.reaper.lock();
            if reaper.is_some() {
                self.group.signal(signal);
            }
        }
        #[cfg(target_os = "linux")]
        linux::signal_marked(&self.mark, signal);
    }

    /// Whether a process other than the reaper is running; `None` where this cannot be determined.
    pub(super) fn is_alive(&self) -> Option<bool> {
        #[cfg(target_os = "linux")]
        return Some(linux::any_alive(self.group.id(), &self.mark));
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Kills the remaining processes and waits up to `time` until they have ended.
    pub(super) fn clear(&self, time: Duration) {
        self.kill();
        let deadline = Deadline::after(time);
        // Processes may be created while others are killed.
        while self.is_alive() == Some(true) && !deadline.passed() {
            pause(Duration::from_millis(2));
            self.kill();
        }
        let reaper = self.reaper.lock().take();
        if let Some(mut reaper) = reaper {
            reaper.end();
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

#[cfg(target_os = "linux")]
mod linux {
    //! Process inspection through `/proc`.

    use std::path::Path;

    use rustix::process::Signal;

    use cdpilot::process::list::{ProcessHandle, number, processes};

    fn is_marked(process: &Path, mark: &str) -> bool {
        let variables = std::fs::read(process.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    }

    /// Sends a signal to all marked processes. Takes a process handle, then checks the mark again: the process id may
    /// have been reused.
    pub(super) fn signal_marked(mark: &str, signal: Signal) {
        for process in processes().filter(|process| is_marked(process, mark)) {
            if let Some(hold) = number(&process).and_then(ProcessHandle::of)
                && is_marked(&process, mark)
            {
                hold.signal(signal);
            }
        }
    }

    /// Whether a marked process or a process of the group other than its leader is running.
    pub(super) fn any_alive(group: i32, mark: &str) -> bool {
        let leader = group.to_string();
        processes().any(|process| {
            if process.file_name().is_some_and(|name| *name == *leader.as_str()) {
                return false;
            }
            let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
            // The process name may contain anything; state, parent and group follow it.
            let Some((_, rest)) = stat.rsplit_once(')') else { return false };
            let mut fields = rest.split_whitespace();
            let is_running = fields.next().is_some_and(|state| !matches!(state, "Z" | "X" | "x"));
            is_running && (fields.nth(1) == Some(&leader) || is_marked(&process, mark))
        })
    }
}
