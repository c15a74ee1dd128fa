//! What Linux tells about processes in `/proc`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Folders of all processes that can be seen.
fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)).map(|e| e.path())
}

/// Whether a process of the group is more than a zombie, from `/proc/<pid>/stat`.
pub(super) fn any_alive_in_group(group: Pid) -> bool {
    let group = group.as_raw_nonzero().to_string();
    processes().any(|process| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        // The name may hold anything; state, parent and group follow its last bracket.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let alive = !matches!(fields.next(), Some("Z" | "X" | "x") | None);
        alive && fields.nth(1) == Some(group.as_str())
    })
}

/// Whether a crash handler that keeps its files in `folder` runs; with `kill` such are killed.
///
/// Chromium starts two of them. Each makes a session of its own, so no signal to the group reaches
/// them; they end by themselves a moment after the browser.
pub(super) fn any_crash_handler(folder: &Path, kill: bool) -> bool {
    let mut any = false;
    for process in processes().filter(|process| is_crash_handler(process, folder)) {
        any = true;
        if kill {
            kill_crash_handler(&process, folder);
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

fn kill_crash_handler(process: &Path, folder: &Path) {
    let id = process.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    let Some(pid) = id.and_then(Pid::from_raw) else { return };
    // The handle stands for one process. Looked at again after it was opened, it is the right one.
    if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
        && is_crash_handler(process, folder)
    {
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}
