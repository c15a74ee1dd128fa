//! What can be wrong with settings, each with the way out.

use std::path::PathBuf;

/// Settings or files of the home that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no place for a home.
    #[error("there is no home folder; set CDPILOT_HOME to a folder of your own")]
    NoHome,
    /// A file or folder could not be read or made.
    #[error("cannot {doing} {}: {problem}", path.display())]
    File {
        /// `read`, `make`, …
        doing: &'static str,
        /// Which one.
        path: PathBuf,
        /// The system's sentence.
        problem: String,
    },
    /// `config.yaml` is no YAML, or a value is of the wrong kind.
    #[error("{} is wrong at {at}: {problem}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The key, or line and column.
        at: String,
        /// What is wrong.
        problem: String,
    },
    /// A key that does not exist.
    #[error("{} has the unknown key {key}{}; known there: {known}", path.display(), meant(nearest.as_deref()))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key, with the keys around it.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
        /// What is known at that place.
        known: String,
    },
    /// The token's file holds no token.
    #[error("{} holds no token of at least 64 hex digits; delete it, and a new one is made", path.display())]
    BadToken {
        /// The file.
        path: PathBuf,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

impl Error {
    pub(super) fn file(doing: &'static str, path: impl Into<PathBuf>, problem: &std::io::Error) -> Self {
        Self::File { doing, path: path.into(), problem: problem.to_string() }
    }
}
