//! Room on disks: browsers say little of a disk that is full.

use std::path::Path;

/// Below this, bytes, nothing of use can be written.
const LITTLE: u64 = 1 << 20;

/// Free bytes of the file system that a folder is on; `None` where the system does not tell.
#[must_use]
pub fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let told = rustix::fs::statvfs(folder).ok()?;
        Some(told.f_bavail * told.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Whether the file system that a folder is on is full.
#[must_use]
pub fn is_full(folder: &Path) -> bool {
    free_space(folder).is_some_and(|free| free < LITTLE)
}
