//! Memory of processes. Linux provides the proportional set size (PSS), which divides shared pages among processes, so that it
//! can be summed. Where it is unavailable, resident set sizes (RSS) are summed, which count shared pages several times.
//!
//! File-backed pages, such as the executable, are shared by all browsers on the machine: a browser's share of them changes when
//! another one starts or ends. So memory without them is reported too.

use std::io::ErrorKind;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

/// The least exact method used in this run.
static BASIS: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const PSS: u8 = 1;
const RSS: u8 = 2;

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    kib: u64,
    /// Without file-backed pages.
    own: Option<u64>,
    pss: bool,
}

impl Amount {
    /// In KiB.
    pub(super) fn kib(self) -> f64 {
        self.kib as f64
    }

    /// Without file-backed pages, in KiB.
    pub(super) fn own_kib(self) -> Option<f64> {
        self.own.map(|kib| kib as f64)
    }

    /// Growth since `before`, in KiB. `None` if the two were measured by different methods.
    pub(super) fn more_than(self, before: Self) -> Option<f64> {
        (self.pss == before.pss).then(|| self.kib() - before.kib())
    }

    /// Growth without file-backed pages.
    pub(super) fn own_more_than(self, before: Self) -> Option<f64> {
        Some(self.own_kib()? - before.own_kib()?).filter(|_| self.pss == before.pss)
    }
}

/// File below `/proc`, its field for the total, and its fields without file-backed pages.
const PSS_FIELDS: (&str, &str, [&str; 2]) = ("smaps_rollup", "Pss", ["Pss_Anon", "Pss_Shmem"]);
const RSS_FIELDS: (&str, &str, [&str; 2]) = ("status", "VmRSS", ["RssAnon", "RssShmem"]);

/// The method, for the report.
pub(super) fn basis() -> Option<&'static str> {
    match BASIS.load(Ordering::Relaxed) {
        PSS => Some("pss"),
        RSS => Some("rss"),
        _ => None,
    }
}

/// Total memory of these processes. Ended processes count as 0.
pub(super) fn of(processes: &[u32]) -> Option<Amount> {
    let add = |(file, whole, parts): (&str, &str, [&str; 2])| {
        let sum = |name: &str| processes.iter().map(|id| from_proc(*id, file, name)).sum::<Option<u64>>();
        Some((sum(whole)?, sum(parts[0]).zip(sum(parts[1])).map(|(anonymous, shared)| anonymous + shared)))
    };
    let amount = if cfg!(target_os = "linux") {
        // An unprivileged user may not read PSS of Chromium's sandboxed processes.
        let exact = add(PSS_FIELDS).map(|(kib, own)| Amount { kib, own, pss: true });
        exact.or_else(|| add(RSS_FIELDS).map(|(kib, own)| Amount { kib, own, pss: false }))?
    } else {
        Amount { kib: from_ps(processes)?, own: None, pss: false }
    };
    BASIS.fetch_max(if amount.pss { PSS } else { RSS }, Ordering::Relaxed);
    Some(amount)
}

/// Memory of this process.
pub(super) fn own() -> Option<Amount> {
    of(&[std::process::id()])
}

/// Number of threads of this process; Linux only.
pub(super) fn own_threads() -> Option<f64> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count() as f64)
}

/// Number of open file descriptors of this process; Linux only.
pub(super) fn own_files() -> Option<f64> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}

/// A field of a file below `/proc`, in KiB; 0 for an ended process.
fn from_proc(process: u32, file: &str, name: &str) -> Option<u64> {
    match std::fs::read_to_string(format!("/proc/{process}/{file}")) {
        Ok(text) if text.is_empty() => Some(0),
        Ok(text) => field(&text, name).or_else(|| ended(&text).then_some(0)),
        // Old kernels lack the file; an ended process has no folder either.
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            (!std::path::Path::new(&format!("/proc/{process}")).exists()).then_some(0)
        }
        Err(problem) if problem.raw_os_error() == Some(NO_SUCH_PROCESS) => Some(0),
        Err(_) => None,
    }
}

/// `ESRCH`.
const NO_SUCH_PROCESS: i32 = 3;

/// Whether a status is that of a zombie, which has no memory.
fn ended(status: &str) -> bool {
    status.lines().any(|line| line.starts_with("State:") && line.contains('Z'))
}

/// `Name:    123 kB`.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line?.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn from_ps(processes: &[u32]) -> Option<u64> {
    if !cfg!(unix) {
        return None;
    }
    let listed = Command::new("ps").args(["-A", "-o", "pid=,rss="]).output().ok()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.status.success().then(|| add(&text, processes))
}

/// Sums the second column of the rows whose first column is listed.
fn add(text: &str, processes: &[u32]) -> u64 {
    let row = |line: &str| {
        let (id, kib) = line.trim().split_once(char::is_whitespace)?;
        Some((id.parse::<u32>().ok()?, kib.trim().parse::<u64>().ok()?))
    };
    text.lines().filter_map(row).filter(|(id, _)| processes.contains(id)).map(|(_, kib)| kib).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systems_write_is_read() {
        let rollup =
            "55d0-7ffc ---p 00000000 00:00 0    [rollup]\nRss:    900 kB\nPss:            512 kB\nPss_Dirty: 7 kB\n";
        assert_eq!((field(rollup, "Pss"), field(rollup, "Rss")), (Some(512), Some(900)));
        assert_eq!(field(rollup, "Swap"), None);
        assert_eq!(add("    1   100\n   22 2000\n  333 5\nx y\n", &[1, 333]), 105);
        assert!(ended("Name:\tsh\nState:\tZ (zombie)\n") && !ended("State:\tS (sleeping)\n"));
    }

    #[test]
    fn amounts_of_one_kind_are_compared() {
        let amount = |kib, pss| Amount { kib, own: Some(kib / 2), pss };
        assert_eq!(amount(5, true).more_than(amount(7, true)), Some(-2.0));
        assert_eq!(amount(5, true).more_than(amount(7, false)), None);
        assert_eq!(amount(4, true).own_more_than(amount(8, true)), Some(-2.0));
        assert_eq!(amount(4, true).own_more_than(amount(8, false)), None);
    }

    #[test]
    fn our_own_memory_is_known() {
        if cfg!(unix) {
            assert!(own().unwrap().kib() > 100.0);
        }
        assert_eq!(of(&[u32::MAX]).map(Amount::kib), own().map(|_| 0.0), "nobody has that id");
    }
}
