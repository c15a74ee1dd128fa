//! Chromium's crash handlers on Linux.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::process::list::{ProcessHandle, number, processes};

/// Whether a crash handler that keeps its files in `folder` runs; with `kill` such are killed.
///
/// Chromium starts two of them. Each makes a session of its own, so no signal to the group reaches
/// them; they end by themselves a moment after the browser.
pub(super) fn any_running(folder: &Path, kill: bool) -> bool {
    let mut any = false;
    for process in processes().filter(|process| is_crash_handler(process, folder)) {
        any = true;
        // Looked at again after the handle was taken, it is the right one.
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
