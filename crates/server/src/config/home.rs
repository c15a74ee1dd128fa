//! The home folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::sync::{Deadline, pause};

use super::Error;

/// The folder with all files of cdpilot: settings, token, profiles, screenshots, downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `CDPILOT_HOME`, or `.cdpilot` in the user's home folder. It need not exist.
    ///
    /// # Errors
    /// [`Error::NoHome`].
    pub fn find() -> Result<Self, Error> {
        let set = std::env::var_os("CDPILOT_HOME").filter(|value| !value.is_empty());
        let root = set.map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".cdpilot")));
        root.map(Self::at).ok_or(Error::NoHome)
    }

    /// A home at a given path. It need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// Creates the folder for its owner only (mode 0700), and the folders below it that are always needed.
    ///
    /// # Errors
    /// [`Error::HomeIsFile`], [`Error::File`].
    pub fn prepare(&self) -> Result<(), Error> {
        if self.root.exists() && !self.root.is_dir() {
            return Err(Error::HomeIsFile { path: self.root.clone() });
        }
        private(&self.root)?;
        let pages = [self.profiles(), self.media(), self.downloads(), self.uploads(), self.traces()];
        for folder in pages.into_iter().chain([self.memory(), self.skills(), self.run()]) {
            private(&folder)?;
            self.check_owner(&folder).map_err(|problem| Error::file("use", &folder, &problem))?;
        }
        Ok(())
    }

    /// Reads a file that decides on behaviour or trust: settings, the token, the address of the server. In a home that
    /// others can write to, they may have created it.
    ///
    /// # Errors
    /// Those of reading; one when the file belongs to another user.
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        self.check_owner(path)?;
        fs::read_to_string(path)
    }

    /// Whether a file or folder, and the target of a link, belongs to this user or to the system. For root, also to the
    /// owner of the home, which may be a volume of a container.
    #[cfg(unix)]
    pub(crate) fn check_owner(&self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        let (link, target) = (fs::symlink_metadata(path)?, fs::metadata(path)?);
        if target.file_type().is_fifo() {
            return Err(io::Error::other("it is a pipe, which could block reading forever; delete it"));
        }
        let us = rustix::process::geteuid().as_raw();
        let of_home = fs::metadata(&self.root).map_or(us, |facts| facts.uid());
        let is_trusted = |owner: u32| owner == us || owner == 0 || us == 0 && owner == of_home;
        match [link.uid(), target.uid()].into_iter().find(|owner| !is_trusted(*owner)) {
            None => Ok(()),
            Some(other) => Err(io::Error::other(format!(
                "it belongs to another user ({other}), who may have created it; delete it, or take ownership with chown"
            ))),
        }
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(crate) fn check_owner(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// The folder itself, as an absolute path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Path of `config.yaml`, which need not exist.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root.join("config.yaml")
    }

    /// `tools.json`, which `cdpilot tools` writes.
    #[must_use]
    pub fn tools(&self) -> PathBuf {
        self.root.join("tools.json")
    }

    /// Path of the file with the access token.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// Path of the SQLite database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("cdpilot.db")
    }

    /// The files that no page and no tool may read, under any name: secrets, and what decides on behaviour.
    pub fn secret_files(&self) -> [PathBuf; 9] {
        let beside = |name: &str| self.root.join(name);
        let (log, index) = (beside("cdpilot.db-wal"), beside("cdpilot.db-shm"));
        let deciding =
            [self.config(), self.tools(), beside("profiles.json"), beside("llm.json"), beside("secrets.json")];
        let [config, tools, profiles, models, secrets] = deciding;
        [self.token(), config, tools, profiles, models, secrets, self.database(), log, index]
    }

    /// The folder of browser profiles, each in a folder with its name.
    #[must_use]
    pub fn profiles(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// The folder of screenshots and PDFs.
    #[must_use]
    pub fn media(&self) -> PathBuf {
        self.root.join("media")
    }

    /// The folder of downloads.
    #[must_use]
    pub fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    /// The folder of files that may be uploaded.
    #[must_use]
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    /// The folder of traces.
    #[must_use]
    pub fn traces(&self) -> PathBuf {
        self.root.join("traces")
    }

    /// The folder of what is kept for later conversations.
    #[must_use]
    pub fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }

    /// The folder of skills, each in a folder with its name.
    #[must_use]
    pub fn skills(&self) -> PathBuf {
        self.root.join("skills")
    }

    /// The folder with the address of the running server.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }
}

/// Replaces a file atomically; readable by its owner only.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// How often a lock is tried.
const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// Takes the lock of a file, which is created; it ends with the handle. All processes respect it. `None` when another one has it until
/// the deadline.
pub(crate) fn lock_file(path: &Path, deadline: Deadline<'_>) -> io::Result<Option<fs::File>> {
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) if deadline.passed() => return Ok(None),
            Err(fs::TryLockError::WouldBlock) => pause(LOCK_AGAIN),
            Err(fs::TryLockError::Error(problem)) => return Err(problem),
        }
    }
}

/// Creates a private folder, or makes an existing one private.
fn private(folder: &Path) -> Result<(), Error> {
    let failed = |problem: std::io::Error| Error::file("create", folder, &problem);
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
