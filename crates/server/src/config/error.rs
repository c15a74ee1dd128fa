//! Errors of settings. Each message says what to do.

use std::path::PathBuf;

/// Settings or files of the home that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// No home folder is known.
    #[error("no home folder is known; set CDPILOT_HOME to a writable folder")]
    NoHome,
    /// `CDPILOT_HOME` names a file.
    #[error("CDPILOT_HOME is {}, which is a file; set it to a folder", path.display())]
    HomeIsFile {
        /// The path that `CDPILOT_HOME` has.
        path: PathBuf,
    },
    /// A file or folder could not be read or created.
    #[error("cannot {doing} {}: {problem}", path.display())]
    File {
        /// The failed operation, as a verb: `read`, `make`, …
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The message of the operating system.
        problem: String,
    },
    /// A file is not YAML or JSON.
    #[error("{} is not valid {format}: {problem}", path.display())]
    Syntax {
        /// Path of the file.
        path: PathBuf,
        /// The expected format: `YAML` or `JSON`.
        format: &'static str,
        /// What is wrong, with line and column.
        problem: String,
    },
    /// A value is invalid.
    #[error("{} is invalid at {at}: {problem}", path.display())]
    Wrong {
        /// Path of the file.
        path: PathBuf,
        /// The key with its path, such as `browser.tabs.max`.
        at: String,
        /// What is wrong with the value, and what is expected.
        problem: String,
    },
    /// A file has a key that does not exist.
    #[error("{} contains the unknown key {key}{}; known keys: {known}", path.display(), hint(nearest.as_deref()))]
    UnknownKey {
        /// Path of the file.
        path: PathBuf,
        /// The key, with its path.
        key: String,
        /// The most similar known key.
        nearest: Option<String>,
        /// The known keys, separated by commas.
        known: String,
    },
    /// The token file contains no token.
    #[error("{} contains no token of at least 64 hex digits; delete it, and a new one is created", path.display())]
    BadToken {
        /// Path of the file.
        path: PathBuf,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

impl Error {
    pub(super) fn file(doing: &'static str, path: impl Into<PathBuf>, problem: &std::io::Error) -> Self {
        Self::File { doing, path: path.into(), problem: problem.to_string() }
    }
}
