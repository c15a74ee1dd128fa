//! Which files may be uploaded by who speaks HTTP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Files;
use crate::control::Error;

/// What the names of folders begin with that the command line copies files into.
const COPIES: &str = "cli-";

impl Files {
    /// Removes the copies that the command line has made of files to upload, if they are older than `age`. No page can read
    /// them any more when no browser runs.
    pub(in crate::control) fn sweep_uploads(&self, age: Duration) {
        for entry in std::fs::read_dir(self.home.uploads()).into_iter().flatten().flatten() {
            let is_copy = entry.file_name().to_str().is_some_and(|name| name.starts_with(COPIES));
            let made = entry.metadata().ok().filter(std::fs::Metadata::is_dir).and_then(|facts| facts.modified().ok());
            let is_old = made.is_some_and(|made| made.elapsed().unwrap_or_default() >= age);
            if is_copy && is_old {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The file that a path leads to, when it may be uploaded: a plain file below `uploads/` or a folder of
    /// `browser.upload_roots`, after all links on the way are resolved, and without another name elsewhere. A relative
    /// path is one below `uploads/`.
    ///
    /// # Errors
    /// [`Error::PathRefused`].
    pub fn check_upload(&self, path: &Path) -> Result<PathBuf, Error> {
        let refuse = |why: String| Error::PathRefused { name: path.display().to_string(), why };
        let wanted = self.home.uploads().join(path);
        // Links are followed here and nowhere else: what is checked and handed on is where they lead.
        let file = wanted.canonicalize().map_err(|error| refuse(format!("it cannot be found: {error}")))?;
        let inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| file.starts_with(root));
        if !self.roots.iter().any(inside) {
            let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
            return Err(refuse(format!("files to upload must lie in {}; copy it there", roots.join(" or "))));
        }
        let facts = std::fs::symlink_metadata(&file).map_err(|error| refuse(error.to_string()))?;
        if !facts.is_file() {
            return Err(refuse("it is no plain file".to_owned()));
        }
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&facts) > 1 {
            return Err(refuse("it has another name elsewhere (a hard link); copy it".to_owned()));
        }
        Ok(file)
    }
}
