//! Checks of files that clients want to upload.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Files;
use crate::control::Error;

/// Prefix of the folders into which the CLI copies files.
const COPIES: &str = "cli-";

impl Files {
    /// Deletes the CLI's copies of files to upload that are older than `age`. Without a running browser, no page reads them
    /// any more.
    pub(in crate::control) fn sweep_uploads(&self, age: Duration) {
        if !self.of_home {
            return;
        }
        for entry in std::fs::read_dir(&self.folders.uploads).into_iter().flatten().flatten() {
            let is_copy = entry.file_name().to_str().is_some_and(|name| name.starts_with(COPIES));
            let made = entry.metadata().ok().filter(std::fs::Metadata::is_dir).and_then(|facts| facts.modified().ok());
            let is_old = made.is_some_and(|made| made.elapsed().unwrap_or_default() >= age);
            if is_copy && is_old {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Resolves a path to what may be uploaded: a regular file or a folder below `uploads/` or a folder of
    /// `browser.upload_roots`, after resolving all links, and without further hard links. A relative path is relative to
    /// `uploads/`.
    ///
    /// # Errors
    /// [`Error::PathRefused`].
    pub fn check_upload(&self, path: &Path) -> Result<PathBuf, Error> {
        let refuse = |why: String| Error::PathRefused { name: path.display().to_string(), why };
        let wanted = self.folders.uploads.join(path);
        // Links are resolved only here; the resolved path is checked and passed on.
        let file = wanted.canonicalize().map_err(|error| refuse(format!("file not found: {error}")))?;
        let inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| file.starts_with(root));
        if !self.roots.iter().any(inside) {
            let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
            return Err(refuse(format!("files to upload must be in {}; copy the file there", roots.join(" or "))));
        }
        let facts = std::fs::symlink_metadata(&file).map_err(|error| refuse(error.to_string()))?;
        if !facts.is_file() && !facts.is_dir() {
            return Err(refuse("it is neither a regular file nor a folder".to_owned()));
        }
        if facts.is_dir() {
            if self.roots.iter().any(|root| root.canonicalize().is_ok_and(|root| file == root)) {
                return Err(refuse("name a folder or file in it, not all of it".to_owned()));
            }
            cdpilot::page::upload_folder_files(&file).map_err(refuse)?;
        }
        #[cfg(unix)]
        if facts.is_file() && self.of_home && std::os::unix::fs::MetadataExt::nlink(&facts) > 1 {
            return Err(refuse("it has several hard links; upload a copy".to_owned()));
        }
        Ok(file)
    }
}
