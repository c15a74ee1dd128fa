//! Free disk space: a browser does not report that a disk is full.

use std::path::Path;

/// A file system with less than this many free bytes counts as full.
const FULL_BELOW: u64 = 1 << 20;

/// Size and free space of a file system, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskSpace {
    /// The size of the file system.
    pub total: u64,
    /// Space available to this user.
    pub free: u64,
}

/// The space of the file system of a folder. `None` when the folder does not exist, and on Windows.
#[must_use]
pub fn disk_space(folder: &Path) -> Option<DiskSpace> {
    std::fs::metadata(folder).ok().filter(std::fs::Metadata::is_dir)?;
    #[cfg(unix)]
    {
        let stat = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        Some(DiskSpace { total: bytes(stat.f_blocks), free: bytes(stat.f_bavail) })
    }
    #[cfg(not(unix))]
    None
}

/// Whether the file system of a folder is full.
#[must_use]
pub fn is_disk_full(folder: &Path) -> bool {
    disk_space(folder).is_some_and(|space| space.free < FULL_BELOW)
}
