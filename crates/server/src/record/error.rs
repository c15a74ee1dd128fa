//! Errors of recordings.

use crate::{control, store};
use cdpilot::code::Code;

/// Errors of recordings.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// No recording has this id.
    #[error("there is no recording {id:?}")]
    NotFound {
        /// The id as given.
        id: String,
    },
    /// The event has no such screenshot.
    #[error("event {index} has no screenshot from {} it", if *.after { "after" } else { "before" })]
    NoKeyframe {
        /// Number of the event.
        index: u64,
        /// Whether the one from after the event was requested.
        after: bool,
    },
    /// The browser has an active recording.
    #[error("the browser has an active recording, {recording}")]
    Active {
        /// Its id.
        recording: String,
    },
    /// The state of the recording does not allow it.
    #[error("{problem}")]
    Conflict {
        /// The reason and what to do.
        problem: String,
    },
    /// A field is not valid.
    #[error("{problem}")]
    BadRequest {
        /// The reason and what to do.
        problem: String,
    },
    /// The browser cannot be recorded.
    #[error("cannot record: {problem}")]
    Unavailable {
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The server is stopping.
    #[error("the server is stopping; try again when it is running again")]
    Ending,
    /// The browser failed.
    #[error(transparent)]
    Control(#[from] control::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::NoKeyframe { .. } => Code::NotFound,
            Self::Active { .. } | Self::Conflict { .. } => Code::Conflict,
            Self::BadRequest { .. } => Code::BadRequest,
            Self::Unavailable { .. } => Code::BrowserError,
            Self::Ending => Code::Busy,
            Self::Control(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }

    pub(super) fn not_found(id: &str) -> Self {
        Self::NotFound { id: id.chars().take(80).collect() }
    }

    pub(super) fn conflict(problem: impl Into<String>) -> Self {
        Self::Conflict { problem: problem.into() }
    }

    pub(super) fn bad(problem: impl Into<String>) -> Self {
        Self::BadRequest { problem: problem.into() }
    }
}
