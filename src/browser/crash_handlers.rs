//! Chromium's crash handlers on Linux.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::process::list::{ProcessHandle, number, processes};

/// Whether a crash handler that stores its files in `folder` is running; with `kill` such handlers are killed.
///
/// Chromium starts two of them. Each creates its own session, so no signal to the group reaches them; they end by
/// themselves shortly after the browser.
pub(super) fn any_running(folder: &Path, kill: bool) -> bool {
    let mut any = false;
    for process in processes().filter(|process| is_crash_handler(process, folder)) {
        any = true;
        // Checked again after the handle was opened: the id may have been reused.
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
