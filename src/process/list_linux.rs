//! Processes in `/proc`, and signals by process handles, which cannot reach a wrong process.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A running process. The id alone is not enough: ids are reused.
#[derive(Debug)]
pub(crate) struct ProcessInfo {
    /// Its process group.
    pub(crate) group: u32,
    /// Start time: the boot id of the system, and the clock ticks since boot.
    pub(crate) started: String,
    /// Arguments, separated by NUL or, where the process has overwritten them, by spaces.
    pub(crate) command: Vec<u8>,
    /// Whether it is suspended by a signal (`SIGSTOP`, Ctrl-Z).
    pub(crate) stopped: bool,
}

/// Reads the state of a process. `None` if there is no such process, or only a zombie.
pub(crate) fn read(pid: u32) -> Option<ProcessInfo> {
    let process = Path::new("/proc").join(pid.to_string());
    seen(&process, &stat(&process)?)
}

/// The processes of a group except zombies.
pub(crate) fn members(group: u32) -> Vec<(u32, ProcessInfo)> {
    let with = |process: PathBuf| {
        let stat = stat(&process).filter(|stat| stat.group == group)?;
        Some((number(&process)?, seen(&process, &stat)?))
    };
    processes().filter_map(with).collect()
}

/// Processes whose command line contains one of the words.
pub(crate) fn with_words(words: &[&[u8]]) -> Vec<u32> {
    let has = |process: &PathBuf| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        words.iter().any(|word| memchr::memmem::find(&line, word).is_some())
    };
    processes().filter(has).filter_map(|process| number(&process)).collect()
}

/// Folders in `/proc` of all visible processes.
pub fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)).map(|e| e.path())
}

/// The process id of a folder in `/proc`.
pub fn number(process: &Path) -> Option<u32> {
    process.file_name()?.to_str()?.parse().ok()
}

/// The used fields of `/proc/<pid>/stat`.
struct Stat {
    stopped: bool,
    group: u32,
    ticks: u64,
}

fn stat(process: &Path) -> Option<Stat> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // The second field is the name in brackets and may contain anything; the third follows the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    if matches!(field(3), Some("Z" | "X" | "x") | None) {
        return None;
    }
    let stopped = field(3) == Some("T");
    Some(Stat { stopped, group: field(5)?.parse().ok()?, ticks: field(22)?.parse().ok()? })
}

fn seen(process: &Path, stat: &Stat) -> Option<ProcessInfo> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let command = std::fs::read(process.join("cmdline")).ok()?;
    Some(ProcessInfo {
        group: stat.group,
        started: format!("{}/{}", boot.trim(), stat.ticks),
        command,
        stopped: stat.stopped,
    })
}

/// A handle for one process, even if its id is reused later.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens a handle. Verify the identity of the process afterwards. `None` for an unknown process, and on kernels
    /// without process handles, where nothing is killed.
    pub fn of(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Self)
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.0, signal);
    }

    /// Resumes it after it was suspended. Returns whether that worked.
    pub(crate) fn resume(&self) -> bool {
        pidfd_send_signal(&self.0, Signal::CONT).is_ok()
    }
}

/// Whether the group has a process other than zombies.
pub(crate) fn any_alive_in_group(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get().unsigned_abs();
    processes().any(|process| stat(&process).is_some_and(|stat| stat.group == group))
}
