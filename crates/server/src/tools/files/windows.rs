//! Opens and replaces files on Windows, by paths whose links were already resolved.

use std::fs::{self, File, Metadata};
use std::io::Write as _;
use std::os::windows::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use super::workspace::{Refusal, Stamp};

fn regular(metadata: &Metadata) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_symlink_file() || kind.is_symlink_dir() => Err(Refusal::Link),
        () if kind.is_dir() => Err(Refusal::Folder),
        () if kind.is_file() => Ok(()),
        () => Err(Refusal::Special),
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let changed = i64::try_from(metadata.last_write_time()).unwrap_or_default();
    Stamp { file: (0, metadata.creation_time()), bytes: metadata.len(), changed: (changed, 0) }
}

/// Opens a regular file and returns its stamp.
pub(super) fn open(root: &Path, relative: &Path) -> Result<(File, Stamp), Refusal> {
    let path = root.join(relative);
    regular(&fs::symlink_metadata(&path)?)?;
    let file = File::open(&path)?;
    let metadata = file.metadata()?;
    regular(&metadata)?;
    Ok((file, stamp(&metadata)))
}

/// Whether the path refers to the file of this stamp; always false, since hard links are not detected on Windows.
pub(super) fn same(_path: &Path, _stamp: &Stamp) -> bool {
    false
}

/// Atomically creates or replaces a file; creates missing folders. With `known`, fails with `Changed` unless the
/// current file has this stamp. Returns whether the file existed.
pub(super) fn replace(root: &Path, relative: &Path, bytes: &[u8], known: Option<&Stamp>) -> Result<bool, Refusal> {
    let path = root.join(relative);
    let folder = path.parent().ok_or(Refusal::Folder)?;
    fs::create_dir_all(folder)?;
    if !fs::canonicalize(folder)?.starts_with(root) {
        return Err(Refusal::Link);
    }
    let current = || match fs::symlink_metadata(&path) {
        Ok(metadata) => regular(&metadata).map(|()| Some(metadata)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    };
    let before = current()?;
    let mut beside = tempfile::Builder::new().prefix(".cdpilot-").suffix(".tmp").tempfile_in(folder)?;
    beside.write_all(bytes)?;
    beside.as_file().sync_data()?;
    if current()?.as_ref().map(stamp) != known.cloned().or_else(|| before.as_ref().map(stamp)) {
        return Err(Refusal::Changed);
    }
    beside.persist(&path).map_err(|problem| Refusal::Io(problem.error))?;
    Ok(before.is_some())
}
