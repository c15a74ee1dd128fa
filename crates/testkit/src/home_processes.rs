//! The processes and files of one home, found by its own folder: for tests that send signals to them.

use std::fs;
use std::path::{Path, PathBuf};

use cdpilot::sync::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process};

/// The kind of a process of the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Server,
    Browser,
    Renderer,
    /// The shell process that ends a browser when its owner dies.
    Reaper,
    /// Another process of a browser.
    Helper,
    /// A command of the user.
    Command,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Browser => "browser",
            Self::Renderer => "renderer",
            Self::Reaper => "reaper",
            Self::Helper => "helper",
            Self::Command => "command",
        }
    }
}

/// One process; its start time distinguishes it from a later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    started: u64,
    pub group: u32,
    pub kind: Kind,
    pub stopped: bool,
    pub line: String,
}

impl Process {
    /// Sends a signal to it. Returns whether it existed.
    pub fn signal(&self, signal: Signal) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).unwrap();
        stat(self.pid).is_some_and(|stat| stat.started == self.started) && kill_process(pid, signal).is_ok()
    }

    pub fn same(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

struct Stat {
    group: u32,
    started: u64,
    stopped: bool,
}

/// `None` for a process that has ended, a zombie included.
fn stat(pid: u32) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(fields[0], "Z" | "X") {
        return None;
    }
    Some(Stat { group: fields[2].parse().ok()?, started: fields[19].parse().ok()?, stopped: fields[0] == "T" })
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}

/// All running processes with the folder in their arguments or environment, and the rest of their process
/// groups, without this process.
pub fn processes(folder: &Path) -> Vec<Process> {
    let word = folder.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<(u32, Stat, Vec<u8>, bool)> = ids
        .filter(|pid: &u32| *pid != std::process::id())
        .filter_map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let named = contains(&line, word)
                || fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| contains(&environ, word));
            Some((pid, stat(pid)?, line, named))
        })
        .collect();
    let own = stat(std::process::id()).map(|stat| stat.group);
    let groups: Vec<u32> =
        all.iter().filter(|(.., named)| *named).map(|(_, stat, ..)| stat.group).filter(|id| Some(*id) != own).collect();
    let ours = all.into_iter().filter(|(_, stat, _, named)| *named || groups.contains(&stat.group));
    ours.map(|(pid, stat, line, _)| {
        let kind = kind(pid, &stat, &line);
        let line = String::from_utf8_lossy(&line).replace('\0', " ").chars().take(160).collect();
        Process { pid, started: stat.started, group: stat.group, kind, stopped: stat.stopped, line }
    })
    .collect()
}

fn kind(pid: u32, stat: &Stat, line: &[u8]) -> Kind {
    let has = |word: &str| contains(line, word.as_bytes());
    let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
    if program.ends_with(b"/cdpilot") {
        return if has("serve") && !has("--stop") { Kind::Server } else { Kind::Command };
    }
    match () {
        () if has("cdpilot-reaper") => Kind::Reaper,
        () if has("--type=renderer") => Kind::Renderer,
        () if stat.group == pid && has("--user-data-dir=") => Kind::Browser,
        () => Kind::Helper,
    }
}

/// Files that a browser or server of the home leaves behind: temporary files and locks.
pub fn files(temp: &Path, home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temp).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut left: Vec<PathBuf> = entries.filter(|path| path != home && !path.ends_with("kept")).collect();
    for profile in fs::read_dir(home.join("profiles")).into_iter().flatten().flatten() {
        for name in ["SingletonLock", "SingletonSocket", "cdpilot-browser.json"] {
            for path in [profile.path().join(name), profile.path().join("user-data").join(name)] {
                left.extend(fs::symlink_metadata(&path).is_ok().then_some(path));
            }
        }
    }
    let server = home.join("run/server.json");
    left.extend(server.exists().then_some(server));
    left
}

/// Polls until a condition holds; returns the last value if it does not hold in time.
pub fn until<T>(deadline: Deadline<'_>, mut look: impl FnMut() -> T, holds: impl Fn(&T) -> bool) -> T {
    loop {
        let seen = look();
        if holds(&seen) || deadline.passed() {
            return seen;
        }
        pause(std::time::Duration::from_millis(10)); // nothing reports the end of processes that are not ours
    }
}
