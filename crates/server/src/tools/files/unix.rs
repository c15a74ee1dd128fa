//! Opens and replaces files on Unix. Walks from the workspace folder by folder without following links, so that a link
//! created in the meantime cannot lead outside.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::workspace::{Refusal, Stamp};

/// The folder of a file and the file's name.
struct Spot<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
}

fn refusal(error: Errno) -> Refusal {
    // Errors for a link with O_NOFOLLOW; ENOTDIR on macOS and for folders.
    match error {
        Errno::LOOP | Errno::MLINK => Refusal::Link,
        error => Refusal::Io(error.into()),
    }
}

fn spot<'a>(root: &Path, relative: &'a Path, make: bool) -> Result<Spot<'a>, Refusal> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = relative.file_name().ok_or(Refusal::Folder)?;
    let mut folder = rustix::fs::openat(CWD, root, flags, Mode::empty()).map_err(refusal)?;
    for part in relative.parent().into_iter().flatten() {
        let opened = match rustix::fs::openat(&folder, part, flags, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(refusal(error)),
                }
                rustix::fs::openat(&folder, part, flags, Mode::empty())
            }
            opened => opened,
        };
        folder = opened.map_err(refusal)?;
    }
    Ok(Spot { folder, name })
}

/// Opens a regular file and returns its stamp. Never opens devices or pipes, which may block or have side effects.
pub(super) fn open(root: &Path, relative: &Path) -> Result<(File, Stamp), Refusal> {
    let spot = spot(root, relative, false)?;
    let stat = rustix::fs::statat(&spot.folder, spot.name, AtFlags::SYMLINK_NOFOLLOW).map_err(refusal)?;
    regular(&stat)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&spot.folder, spot.name, flags, Mode::empty()).map_err(refusal)?;
    let stat = rustix::fs::fstat(&file).map_err(refusal)?;
    regular(&stat)?;
    Ok((file.into(), stamp(&stat)))
}

fn regular(stat: &Stat) -> Result<(), Refusal> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Refusal::Folder),
        FileType::Symlink => Err(Refusal::Link),
        _ => Err(Refusal::Special),
    }
}

/// The widths of these fields differ between systems.
#[allow(clippy::unnecessary_cast, clippy::cast_lossless, clippy::useless_conversion)]
fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        file: (stat.st_dev as u64, stat.st_ino as u64),
        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
        changed: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
    }
}

/// Whether the path refers to the file of this stamp.
pub(super) fn same(path: &Path, stamp: &Stamp) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == stamp.file)
}

/// Atomically creates or replaces a file and keeps its permissions; creates missing folders. With `known`, fails with
/// `Changed` unless the current file has this stamp. Returns whether the file existed.
pub(super) fn replace(root: &Path, relative: &Path, bytes: &[u8], known: Option<&Stamp>) -> Result<bool, Refusal> {
    let spot = spot(root, relative, known.is_none())?;
    let current = || match rustix::fs::statat(&spot.folder, spot.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => regular(&stat).map(|()| Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(refusal(error)),
    };
    let before = current()?;
    if before.is_some() {
        // Renaming requires write permission for the folder only; a read-only file must stay.
        rustix::fs::accessat(&spot.folder, spot.name, Access::WRITE_OK, AtFlags::empty()).map_err(refusal)?;
    }
    let beside = format!(".cdpilot-{:016x}.tmp", fastrand::u64(..));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&spot.folder, &*beside, flags, Mode::from_raw_mode(0o666)).map_err(refusal)?;
    let written = || -> Result<(), Refusal> {
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(before) = &before {
            let mode = Mode::from_raw_mode(before.st_mode & 0o777);
            rustix::fs::fchmod(&file, mode).map_err(refusal)?;
        }
        file.sync_data()?;
        let now = current()?;
        if now.as_ref().map(stamp) != known.cloned().or_else(|| before.as_ref().map(stamp)) {
            return Err(Refusal::Changed);
        }
        rustix::fs::renameat(&spot.folder, &*beside, &spot.folder, spot.name).map_err(refusal)
    };
    match written() {
        Ok(()) => Ok(before.is_some()),
        Err(problem) => {
            let _ = rustix::fs::unlinkat(&spot.folder, &*beside, AtFlags::empty());
            Err(problem)
        }
    }
}
