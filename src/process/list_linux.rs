//! Processes from `/proc` on Linux, and signals that cannot reach the wrong process.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// What is known of a process that runs. Its number alone says little: numbers are used again.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its process group.
    pub(crate) group: u32,
    /// When it was started: the id of this boot of the system, and the clock ticks since.
    pub(crate) started: String,
    /// Its arguments, separated by zeros or, where it has written over them, by spaces.
    pub(crate) command: Vec<u8>,
    /// Whether it is suspended by a signal (`SIGSTOP`, Ctrl-Z).
    pub(crate) stopped: bool,
}

/// Looks at a process. `None` when there is none of this number, or only a zombie.
pub(crate) fn look(pid: u32) -> Option<Seen> {
    let process = Path::new("/proc").join(pid.to_string());
    seen(&process, &stat(&process)?)
}

/// The processes of a group that are more than zombies.
pub(crate) fn members(group: u32) -> Vec<(u32, Seen)> {
    let with = |process: PathBuf| {
        let stat = stat(&process).filter(|stat| stat.group == group)?;
        Some((number(&process)?, seen(&process, &stat)?))
    };
    processes().filter_map(with).collect()
}

/// Processes whose command line has one of the words in it.
pub(crate) fn with_words(words: &[&[u8]]) -> Vec<u32> {
    let has = |process: &PathBuf| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        words.iter().any(|word| memchr::memmem::find(&line, word).is_some())
    };
    processes().filter(has).filter_map(|process| number(&process)).collect()
}

/// Folders of all processes that can be seen.
pub(crate) fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)).map(|e| e.path())
}

/// The id of a process, by its folder.
pub(crate) fn number(process: &Path) -> Option<u32> {
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
    // The name is the second field and may hold anything; what follows its last bracket is the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    if matches!(field(3), Some("Z" | "X" | "x") | None) {
        return None;
    }
    let stopped = field(3) == Some("T");
    Some(Stat { stopped, group: field(5)?.parse().ok()?, ticks: field(22)?.parse().ok()? })
}

fn seen(process: &Path, stat: &Stat) -> Option<Seen> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let command = std::fs::read(process.join("cmdline")).ok()?;
    Some(Seen { group: stat.group, started: format!("{}/{}", boot.trim(), stat.ticks), command, stopped: stat.stopped })
}

/// A handle of one process (pidfd), valid even after its id is reused.
#[derive(Debug)]
pub(crate) struct Hold(OwnedFd);

impl Hold {
    /// Takes hold of a process. Whether it is the right one has to be looked at after this. `None` on
    /// kernels that have no such handles, too: there nothing is killed.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Self)
    }

    /// Kills it.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.0, signal);
    }

    /// Lets it go on after it was suspended. Whether that worked.
    pub(crate) fn resume(&self) -> bool {
        pidfd_send_signal(&self.0, Signal::CONT).is_ok()
    }
}

/// Whether a process of the group is more than a zombie.
pub(crate) fn any_alive_in_group(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get().unsigned_abs();
    processes().any(|process| stat(&process).is_some_and(|stat| stat.group == group))
}
