//! The workspace folder; resolves and checks paths.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::super::ToolError;
use super::system;
use crate::config::Home;
use cdpilot::code::Code;

/// Maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;
/// Virtual file systems, never accessible.
#[cfg(unix)]
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];
/// An exception: plain files in memory.
#[cfg(unix)]
const MEMORY: &str = "/dev/shm";

/// Why a file operation was refused or failed.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The system call failed.
    Io(io::Error),
    /// It is neither a regular file nor a folder.
    Special,
    /// It is a folder.
    Folder,
    /// A link was created on the path in the meantime.
    Link,
    /// Another program changed the file in the meantime.
    Changed,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Identity, size and change time of a file when it was read; differs once the file was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) file: (u64, u64),
    pub(super) bytes: u64,
    pub(super) changed: (i64, i64),
}

/// The folder that file and terminal tools work in.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Workspace {
    root: Arc<Path>,
    home: Home,
}

/// A path in the workspace with all links resolved. It need not exist.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Place {
    /// The workspace folder.
    pub(super) root: PathBuf,
    /// Path below the workspace; empty for the workspace itself.
    pub(super) relative: PathBuf,
}

impl Place {
    /// The path as shown to models: relative, `.` for the workspace itself.
    #[must_use]
    pub(in crate::tools) fn shown(&self) -> String {
        if self.relative.as_os_str().is_empty() { ".".to_owned() } else { slashed(&self.relative) }
    }

    /// The path below the workspace.
    pub(in crate::tools) fn below_root(&self) -> &Path {
        &self.relative
    }

    /// The absolute path.
    #[must_use]
    pub(in crate::tools) fn full(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// The error for a refused or failed operation; `doing` is its verb.
    pub(super) fn failed(&self, doing: &str, refusal: &Refusal) -> ToolError {
        let name = self.shown();
        let (code, message) = match refusal {
            Refusal::Special => {
                (Code::PathRefused, format!("{name} is not a regular file; only regular files can be opened"))
            }
            Refusal::Folder => (Code::BadRequest, format!("{name} is a folder; pass a file path")),
            Refusal::Link => (Code::PathRefused, format!("{name} is a link that leads outside the workspace")),
            Refusal::Changed => {
                (Code::Conflict, format!("{name} was changed by another program; call read_file again"))
            }
            Refusal::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => {
                    (Code::NotFound, format!("{name} does not exist in the workspace; list files with search_files"))
                }
                io::ErrorKind::NotADirectory => (Code::NotFound, format!("a parent of {name} is a file, not a folder")),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    (Code::PathRefused, format!("permission denied: cannot {doing} {name}"))
                }
                _ => (Code::Internal, format!("cannot {doing} {name}: {error}")),
            },
        };
        ToolError::new(code, message)
    }
}

/// Paths that are refused inside the workspace: the cdpilot home and virtual file systems.
pub(super) struct Kept {
    home: Option<PathBuf>,
}

impl Kept {
    /// Whether a resolved path is refused.
    pub(super) fn holds(&self, full: &Path) -> bool {
        #[cfg(unix)]
        if SYSTEM.iter().any(|folder| full.starts_with(folder)) && !full.starts_with(MEMORY) {
            return true;
        }
        self.home.as_ref().is_some_and(|home| full.starts_with(home))
    }
}

impl Workspace {
    /// Creates a workspace. The home is excluded from it, unless the workspace is a folder below the home.
    #[must_use]
    pub(in crate::tools) fn new(root: &Path, home: &Home) -> Self {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        Self { root: root.into(), home: home.clone() }
    }

    /// Resolves a path with all links.
    ///
    /// # Errors
    /// `PATH_REFUSED` for a path outside the workspace, `BAD_REQUEST` for an invalid path, `NOT_FOUND` when the
    /// workspace does not exist.
    pub(in crate::tools) fn place(&self, path: &str) -> Result<Place, ToolError> {
        let root = self.real_root()?;
        let shown: String = path.chars().take(200).collect();
        let refused = |why: &str| ToolError::new(Code::PathRefused, format!("{shown:?} is refused: {why}"));
        if path.trim().is_empty() || path.contains('\0') || path.len() > MAX_PATH_BYTES {
            return Err(ToolError::new(
                Code::BadRequest,
                "path is empty or invalid; pass a path in the workspace, as src/main.rs",
            ));
        }
        let full = plain(&root.join(path)).ok_or_else(|| refused("it is not a valid file name"))?;
        let outside = || refused("it is outside the workspace; pass a path in the workspace");
        let (mut existing, mut missing): (PathBuf, Vec<OsString>) = (full, Vec::new());
        let real = loop {
            match fs::canonicalize(&existing) {
                Ok(real) => break real,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    let Some(name) = existing.file_name() else { return Err(outside()) };
                    missing.push(name.to_owned());
                    existing.pop();
                }
                // Without permission it is unknown whether the path is inside.
                Err(_) => return Err(refused("permission denied")),
            }
        };
        let relative = real.strip_prefix(&root).map_err(|_| outside())?;
        let relative: PathBuf = relative.iter().map(OsString::from).chain(missing.into_iter().rev()).collect();
        let place = Place { root, relative };
        if self.kept().holds(&place.full()) {
            if fs::canonicalize(self.home.root()).is_ok_and(|home| home == place.root) {
                // A server that a command started has its home as working directory.
                return Err(refused(
                    "the workspace is the cdpilot home; set tools.workspace in config.yaml to another folder",
                ));
            }
            return Err(refused("it is in the cdpilot home, which holds settings and secrets"));
        }
        Ok(place)
    }

    /// Whether a path is the home or in it, unless the workspace is a folder below the home and the path is in it.
    #[must_use]
    pub(in crate::tools) fn is_secret(&self, path: &Path) -> bool {
        let Some(full) = plain(path) else { return false };
        let real = fs::canonicalize(&full).unwrap_or(full);
        let Some(home) = fs::canonicalize(self.home.root()).ok().filter(|home| real.starts_with(home)) else {
            return false;
        };
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.to_path_buf());
        !(root != home && root.starts_with(&home) && real.starts_with(&root))
    }

    /// Whether a path is in the workspace with all that is below it: neither the home nor a folder around it.
    #[must_use]
    pub(in crate::tools) fn is_readable(&self, path: &Path) -> bool {
        let Some(place) = path.to_str().and_then(|path| self.place(path).ok()) else { return false };
        let full = place.full();
        !self.kept().home.is_some_and(|home| home.starts_with(&full))
    }

    /// An existing folder of the workspace; the workspace itself without a path.
    ///
    /// # Errors
    /// Those of [`place`](Self::place); `NOT_FOUND` when the folder does not exist.
    pub(in crate::tools) fn folder(&self, path: Option<&str>) -> Result<Place, ToolError> {
        let place = self.place(path.unwrap_or("."))?;
        if place.full().is_dir() {
            return Ok(place);
        }
        Err(ToolError::new(Code::NotFound, format!("folder {} does not exist in the workspace", place.shown())))
    }

    /// Opens a regular file without following links.
    pub(super) fn open(&self, place: &Place) -> Result<(File, Stamp), Refusal> {
        let (file, stamp) = system::open(&place.root, &place.relative)?;
        // A hard link to a file of the home.
        if self.home.secret_files().iter().any(|secret| system::same(secret, &stamp)) {
            return Err(Refusal::Special);
        }
        Ok((file, stamp))
    }

    /// Reads a file of at most `most` bytes.
    ///
    /// # Errors
    /// `TOO_LARGE` for a larger file, with its size; other errors of [`failed`](Place::failed).
    pub(in crate::tools) fn read(&self, place: &Place, most: u64) -> Result<Vec<u8>, ToolError> {
        self.read_stamped(place, most).map(|(bytes, _)| bytes)
    }

    /// Reads a file like [`read`](Self::read), and returns its stamp.
    pub(super) fn read_stamped(&self, place: &Place, most: u64) -> Result<(Vec<u8>, Stamp), ToolError> {
        let (file, stamp) = self.open(place).map_err(|refusal| place.failed("read", &refusal))?;
        let mut bytes = Vec::new();
        let read = file.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| place.failed("read", &Refusal::Io(error)))?;
        if bytes.len() as u64 > most {
            let message = format!(
                "{} has {} bytes; the limit is {most}. search_files searches files up to {} bytes",
                place.shown(),
                stamp.bytes,
                super::grep::LARGEST
            );
            return Err(ToolError::new(Code::TooLarge, message).with("bytes", stamp.bytes));
        }
        Ok((bytes, stamp))
    }

    /// The paths that are refused inside the workspace.
    pub(super) fn kept(&self) -> Kept {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (home, root) = (real(self.home.root()), real(&self.root));
        Kept { home: (root == home || !root.starts_with(&home)).then_some(home) }
    }

    /// The workspace folder with its links resolved.
    fn real_root(&self) -> Result<PathBuf, ToolError> {
        let real = fs::canonicalize(&self.root).ok().filter(|real| real.is_dir());
        real.ok_or_else(|| {
            let message = "the workspace folder does not exist; set tools.workspace in config.yaml";
            ToolError::new(Code::NotFound, message)
        })
    }
}

/// Removes `.` and `..` lexically. `None` for names with a colon on Windows (drives, alternate streams).
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(name) if cfg!(windows) && name.to_string_lossy().contains(':') => return None,
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// A path with `/` as separator, as shown to models.
pub(super) fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
