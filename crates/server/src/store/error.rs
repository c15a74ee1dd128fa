//! Errors of the store.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Errors of the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A newer version of cdpilot wrote the database. Nothing was changed.
    #[error(
        "{} has format {found}, but this version of cdpilot knows formats up to {known}; install the newer version, or move the file to another folder",
        .path.display()
    )]
    NewerVersion {
        /// Path of the database.
        path: PathBuf,
        /// Format of the file.
        found: u32,
        /// Newest format that this version knows.
        known: u32,
    },
    /// The file of the database cannot be used.
    #[error("cannot use the database {}: {problem}", .path.display())]
    File {
        /// Path of the database.
        path: PathBuf,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The operation could not begin before its deadline, and nothing was written.
    #[error("the database is busy: {problem}; retry later")]
    Busy {
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The deadline has passed.
    #[error("the database did not finish within {} ms{}", .after.as_millis(), if *.unknown { UNKNOWN } else { "" })]
    Timeout {
        /// How long the operation waited.
        after: Duration,
        /// Whether it was being written: it may be committed later. Otherwise nothing was and will be written.
        unknown: bool,
    },
    /// The operation was cancelled.
    #[error("the operation on the database was cancelled{}", if *.unknown { UNKNOWN } else { "" })]
    Cancelled {
        /// Whether it was being written: it may be committed later. Otherwise nothing was and will be written.
        unknown: bool,
    },
    /// The thread that writes has ended.
    #[error("the database is closed; restart the server")]
    Closed,
    /// The disk is full. Nothing was written; writing works again once there is space.
    #[error("the disk of the database is full; free some space and retry")]
    DiskFull,
    /// There is no such conversation, message, question or open intent.
    #[error("there is no {what} {id:?}")]
    NotFound {
        /// Kind of the thing, such as `conversation`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The change does not fit what is stored. Nothing was written.
    #[error("cannot store the change: {problem}")]
    Conflict {
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The operation failed. Nothing was written.
    #[error("the database failed: {problem}")]
    Failed {
        /// The reason, as part of a sentence.
        problem: String,
    },
}

/// End of the messages about changes that may be committed later.
const UNKNOWN: &str = "; the change may still be written";

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Busy { .. } => Code::Busy,
            Self::Timeout { .. } => Code::Timeout,
            Self::Cancelled { .. } => Code::Cancelled,
            Self::NotFound { .. } => Code::NotFound,
            Self::Conflict { .. } => Code::Conflict,
            _ => Code::Internal,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    pub(super) fn conflict(problem: impl Into<String>) -> Self {
        Self::Conflict { problem: problem.into() }
    }

    pub(super) fn not_found(what: &'static str, id: impl Into<String>) -> Self {
        Self::NotFound { what, id: id.into() }
    }

    /// The error of a deadline that has passed, for an operation that began at `since`.
    pub(super) fn late(deadline: Deadline<'_>, since: Instant, unknown: bool) -> Self {
        if deadline.is_cancelled() {
            Self::Cancelled { unknown }
        } else {
            Self::Timeout { after: since.elapsed(), unknown }
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { problem: "another program has locked it".to_owned() }
            }
            // Only the caller knows since when it waited.
            Some(ErrorCode::OperationInterrupted) => Self::Timeout { after: Duration::ZERO, unknown: false },
            Some(ErrorCode::ConstraintViolation) => Self::Conflict { problem: error.to_string() },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Failed {
                problem: format!("the file is damaged ({error}); restart the server to begin a new one"),
            },
            _ => Self::Failed { problem: error.to_string() },
        }
    }
}

/// Whether SQLite reports that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether a query was interrupted, see [`limit`](super::readers::limit).
pub(super) fn is_interruption(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}
