//! Processes as listed by `ps`, for systems without `/proc` and process handles.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A running process. The id alone is not enough: ids are reused.
#[derive(Debug)]
pub(crate) struct ProcessInfo {
    /// Its process group.
    pub(crate) group: u32,
    /// Start time, to the second.
    pub(crate) started: String,
    /// Arguments, separated by spaces.
    pub(crate) command: Vec<u8>,
    /// Whether it is suspended by a signal (`SIGSTOP`, Ctrl-Z).
    pub(crate) stopped: bool,
}

/// Reads the state of a process. `None` if there is no such process, or only a zombie.
pub(crate) fn read(pid: u32) -> Option<ProcessInfo> {
    listed(&["-p", &pid.to_string()]).pop().map(|(_, seen)| seen)
}

/// The processes of a group except zombies.
pub(crate) fn members(group: u32) -> Vec<(u32, ProcessInfo)> {
    listed(&["-ax"]).into_iter().filter(|(_, seen)| seen.group == group).collect()
}

/// Processes whose command line contains one of the words.
pub(crate) fn with_words(words: &[&[u8]]) -> Vec<u32> {
    let has = |seen: &ProcessInfo| words.iter().any(|word| memchr::memmem::find(&seen.command, word).is_some());
    listed(&["-ax"]).into_iter().filter(|(_, seen)| has(seen)).map(|(pid, _)| pid).collect()
}

/// Sets time zone and language, so that times always have the same format.
fn listed(which: &[&str]) -> Vec<(u32, ProcessInfo)> {
    let mut ps = Command::new("ps");
    ps.args(which).args(["-ww", "-o", "pid=,pgid=,stat=,lstart=,command="]);
    ps.env("LC_ALL", "C").env("TZ", "UTC0").stdin(Stdio::null()).stderr(Stdio::null());
    let output = ps.output().map(|output| output.stdout).unwrap_or_default();
    output.split(|byte| *byte == b'\n').filter_map(row).collect()
}

/// `pid group state Sun Nov 22 02:07:41 2026 command…`
fn row(line: &[u8]) -> Option<(u32, ProcessInfo)> {
    let mut rest = line;
    let mut word = || {
        let from = rest.iter().position(|byte| *byte != b' ')?;
        let tail = rest.get(from..)?;
        let (word, after) = tail.split_at(tail.iter().position(|byte| *byte == b' ').unwrap_or(tail.len()));
        rest = after;
        std::str::from_utf8(word).ok()
    };
    let (pid, group) = (word()?.parse().ok()?, word()?.parse().ok()?);
    let state = word()?;
    if state.starts_with('Z') {
        return None;
    }
    let stopped = state.starts_with('T');
    let started = [word()?, word()?, word()?, word()?, word()?].join(" ");
    Some((pid, ProcessInfo { group, started, command: rest.trim_ascii().to_vec(), stopped }))
}

/// A process by its id: these systems have no better handle. Verify its identity immediately before killing it.
#[derive(Debug)]
pub(crate) struct ProcessHandle(Pid);

impl ProcessHandle {
    /// Creates a handle.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(pid).ok()?).map(Self)
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&self) {
        let _ = kill_process(self.0, Signal::KILL);
    }

    /// Resumes it after it was suspended. Returns whether that worked.
    pub(crate) fn resume(&self) -> bool {
        kill_process(self.0, Signal::CONT).is_ok()
    }
}
