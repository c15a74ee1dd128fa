//! CPU time of the processes of a worker: tests, what they start, and the browser that they lease.
//!
//! A process that nobody waited for, such as a renderer, is missing from what the system reports of its parent. A control group
//! counts all of them. Where none can be created (not on Linux, not as root), CPU time is not reported.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group; removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
}

impl Group {
    /// `None` where none can be created.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let parent = ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"];
        let parent = parent.iter().map(Path::new).find(|path| path.join("cgroup.procs").exists())?;
        let folder = parent.join(format!("testkit-{}-{name}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Self { folder };
        group.seconds().is_some().then_some(group)
    }

    /// The file that a process writes its id to, in order to be counted.
    pub(crate) fn entrance(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// CPU seconds so far.
    pub(crate) fn seconds(&self) -> Option<f64> {
        if let Ok(nanoseconds) = fs::read_to_string(self.folder.join("cpuacct.usage")) {
            return Some(nanoseconds.trim().parse::<f64>().ok()? / 1e9);
        }
        let stat = fs::read_to_string(self.folder.join("cpu.stat")).ok()?;
        let microseconds = stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(microseconds.trim().parse::<f64>().ok()? / 1e6)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Fails while a process is in it; an empty group costs nothing.
        let _ = fs::remove_dir(&self.folder);
    }
}
