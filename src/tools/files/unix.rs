//! Opening and replacing files on Unix: folder by folder below the workspace, following no link, so that none that is put
//! in the way meanwhile leads out.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::workspace::{Refusal, Stamp};

/// The folder of a file, and the file's name in it.
struct Spot<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
}

fn refusal(error: Errno) -> Refusal {
    // With O_NOFOLLOW, a link is one of these; the second on macOS and for folders.
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

/// A file and how it is. Nothing is opened that blocks or does something by being opened.
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

/// Fields of other widths on other systems.
#[allow(clippy::unnecessary_cast, clippy::cast_lossless, clippy::useless_conversion)]
fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        file: (stat.st_dev as u64, stat.st_ino as u64),
        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
        changed: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
    }
}

/// Whether a path leads to that file.
pub(super) fn same(path: &Path, stamp: &Stamp) -> bool {
    std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == stamp.file)
}

/// Puts a file in the place of what is there, whole or not at all; folders on the way are made. The permissions of what
/// was there are kept. With `known`, only as long as it is as it was then; whether it was there before.
pub(super) fn replace(root: &Path, relative: &Path, bytes: &[u8], known: Option<&Stamp>) -> Result<bool, Refusal> {
    let spot = spot(root, relative, known.is_none())?;
    let look = || match rustix::fs::statat(&spot.folder, spot.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => regular(&stat).map(|()| Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(refusal(error)),
    };
    let before = look()?;
    if before.is_some() {
        // Replacing needs the folder's permission alone; a file that is read-only is meant to stay.
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
        let now = look()?;
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
