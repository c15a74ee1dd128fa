//! The folders of a home.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;

/// The folder that holds everything cdpilot keeps: settings, token, profiles, files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `CDPILOT_HOME`, else `.cdpilot` below the person's own folder. It need not exist.
    ///
    /// # Errors
    /// [`Error::NoHome`].
    pub fn find() -> Result<Self, Error> {
        let set = std::env::var_os("CDPILOT_HOME").filter(|value| !value.is_empty());
        let root = set.map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".cdpilot")));
        root.map(Self::at).ok_or(Error::NoHome)
    }

    /// A home at a place. It need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// Makes the folder, for its owner alone (mode 0700), and the ones below it that everybody needs.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn prepare(&self) -> Result<(), Error> {
        private(&self.root)?;
        for folder in [self.profiles(), self.media(), self.downloads(), self.uploads(), self.traces(), self.run()] {
            private(&folder)?;
        }
        Ok(())
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `config.yaml`.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root.join("config.yaml")
    }

    /// The file with the token.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("cdpilot.db")
    }

    /// Where profiles of browsers lie, each in a folder with its name.
    #[must_use]
    pub fn profiles(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// Where screenshots and PDFs go.
    #[must_use]
    pub fn media(&self) -> PathBuf {
        self.root.join("media")
    }

    /// Where downloads go.
    #[must_use]
    pub fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// What may be uploaded.
    #[must_use]
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    /// Where traces go.
    #[must_use]
    pub fn traces(&self) -> PathBuf {
        self.root.join("traces")
    }

    /// Where it is written who serves this home.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }
}

/// A folder for its owner alone; what was there is taken back from others.
fn private(folder: &Path) -> Result<(), Error> {
    let failed = |problem: std::io::Error| Error::file("make", folder, &problem);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let now = fs::metadata(folder).map_err(failed)?.permissions().mode() & 0o777;
        if now & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(now & 0o700)).map_err(failed)?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(folder).map_err(failed)
}
