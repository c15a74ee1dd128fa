//! The folder that the browser downloads into, and such folders of killed processes.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// The prefix of its name.
const PREFIX: &str = "incoming-";
/// The file in it that its owner keeps locked.
const OWNER: &str = ".owner";
/// A folder without that file may be in creation, or its owner was killed at that moment. It is removed at this age,
/// and only when it is empty.
const MIN_AGE: Duration = Duration::from_secs(60);

/// A folder for downloads in progress. Dropping it removes it.
#[derive(Debug)]
pub(super) struct PartialFolder {
    // Field order: the folder is removed while it is locked.
    folder: TempDir,
    _owner: File,
}

impl PartialFolder {
    /// Creates one beside the downloads, so that moving a file is a rename.
    pub(super) fn make(root: &Path) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
            let path = folder.path().join(OWNER);
            let owner = match File::options().create_new(true).read(true).write(true).open(&path) {
                Ok(owner) => owner,
                // Another process has just removed it.
                Err(problem) if problem.kind() == io::ErrorKind::NotFound => continue,
                Err(problem) => return Err(problem),
            };
            owner.lock()?;
            if path.exists() {
                return Ok(Self { folder, _owner: owner });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether a path is a file in a folder for downloads in progress, also of another process: the browser saves downloads
/// where it was last configured to.
pub(super) fn is_incoming(file: &Path) -> bool {
    let plain = |part: Component<'_>| !matches!(part, Component::ParentDir | Component::CurDir);
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return false };
    let is_ours = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file());
    file.is_absolute()
        && file.components().all(plain)
        && name != OWNER
        && is_ours
        && fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir())
        && is_file(&folder.join(OWNER))
}

/// Removes the folders of downloads in progress of killed processes: those whose owner file is not locked. Returns
/// their paths.
pub fn clear_incoming(downloads: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(downloads).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    ours.map(|entry| entry.path()).filter(|folder| clear(folder)).collect()
}

fn clear(folder: &Path) -> bool {
    if !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
        return false;
    }
    match File::open(folder.join(OWNER)) {
        // Locked until the folder is removed.
        Ok(owner) => owner.try_lock().is_ok() && fs::remove_dir_all(folder).is_ok(),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
            let age = fs::metadata(folder).and_then(|facts| facts.modified()).ok().and_then(|at| at.elapsed().ok());
            age.is_some_and(|age| age > MIN_AGE) && fs::remove_dir(folder).is_ok()
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_an_owner_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let live = PartialFolder::make(root.path()).unwrap();
        let dead = root.path().join("incoming-dead");
        let persons = root.path().join("incoming-mail");
        for folder in [&dead, &persons] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "x").unwrap();
        }
        fs::write(dead.join(OWNER), "").unwrap();
        let young = root.path().join("incoming-young");
        fs::create_dir(&young).unwrap();
        assert_eq!(clear_incoming(root.path()), [dead]);
        assert!(live.path().exists() && persons.exists() && young.exists());
        let path = live.path().to_owned();
        drop(live);
        assert!(!path.exists());
    }
}
