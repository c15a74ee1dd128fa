//! Processes in `/proc`, and signals that cannot reach a wrong process.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A running process. The id alone is not enough: ids are reused.
#[derive(Debug)]
pub(super) struct ProcessInfo {
    /// Its process group.
    pub(super) group: u32,
    /// The start time: id of the system's boot, and clock ticks since then.
    pub(super) started: String,
    /// The arguments, separated by zero bytes or, if the process has overwritten them, by spaces.
    pub(super) command: Vec<u8>,
    /// Whether it is suspended by a signal (`SIGSTOP`, Ctrl-Z).
    pub(super) stopped: bool,
}

/// Reads a process. `None` when there is none with this id, or only a zombie.
pub(super) fn read(pid: u32) -> Option<ProcessInfo> {
    let process = Path::new("/proc").join(pid.to_string());
    seen(&process, &stat(&process)?)
}

/// The processes of a group, without zombies.
pub(super) fn members(group: u32) -> Vec<(u32, ProcessInfo)> {
    let with = |process: PathBuf| {
        let stat = stat(&process).filter(|stat| stat.group == group)?;
        Some((number(&process)?, seen(&process, &stat)?))
    };
    processes().filter_map(with).collect()
}

/// Processes with one of the words in their command line.
pub(super) fn with_words(words: &[&[u8]]) -> Vec<u32> {
    let has = |process: &PathBuf| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        words.iter().any(|word| memchr::memmem::find(&line, word).is_some())
    };
    processes().filter(has).filter_map(|process| number(&process)).collect()
}

/// Folders of all visible processes.
fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)).map(|e| e.path())
}

fn number(process: &Path) -> Option<u32> {
    process.file_name()?.to_str()?.parse().ok()
}

/// The fields of `/proc/<pid>/stat` that matter here.
struct Stat {
    stopped: bool,
    group: u32,
    ticks: u64,
}

fn stat(process: &Path) -> Option<Stat> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name is the second field and may contain anything; the text after its last bracket starts with the third.
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
pub(super) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens a handle. The caller must check afterwards that it is the right process. `None` also on kernels without
    /// such handles: nothing is killed there.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Self)
    }

    /// Kills the process.
    pub(super) fn kill(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }

    /// Resumes the process. Returns whether that worked.
    pub(super) fn resume(&self) -> bool {
        pidfd_send_signal(&self.0, Signal::CONT).is_ok()
    }
}

/// Whether a process of the group is not a zombie.
pub(super) fn any_alive_in_group(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get().unsigned_abs();
    processes().any(|process| stat(&process).is_some_and(|stat| stat.group == group))
}

/// Whether a crash handler that keeps its files in `folder` is running; with `kill`, kills it.
///
/// Chromium starts two of them. Each has a session of its own, so no signal to the group reaches them; they end by
/// themselves a moment after the browser.
pub(super) fn any_crash_handler(folder: &Path, kill: bool) -> bool {
    let mut any = false;
    for process in processes().filter(|process| is_crash_handler(process, folder)) {
        any = true;
        // Checked again after the handle was opened, it is the right process.
        if kill
            && let Some(hold) = number(&process).and_then(ProcessHandle::of)
            && is_crash_handler(&process, folder)
        {
            hold.kill();
        }
    }
    any
}

fn is_crash_handler(process: &Path, folder: &Path) -> bool {
    // The short name first: it is cheap, and cut to 15 bytes.
    if std::fs::read(process.join("comm")).is_ok_and(|name| !name.starts_with(b"chrome_crashpad")) {
        return false;
    }
    let wanted = [b"--database=", folder.as_os_str().as_bytes()].concat();
    std::fs::read(process.join("cmdline")).is_ok_and(|line| line.split(|byte| *byte == 0).any(|arg| arg == wanted))
}
