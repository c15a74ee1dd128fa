//! Errors of conversations.

use std::path::PathBuf;

use crate::tools::toolsets::Problem;
use crate::{control, llm, store};
use cdpilot::code::Code;

/// Errors of conversations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No conversation has this id.
    #[error("there is no conversation {id:?}")]
    NotFound {
        /// The id as given.
        id: String,
    },
    /// No recording has this id.
    #[error("there is no recording {id:?}")]
    NoRecording {
        /// The id as given.
        id: String,
    },
    /// The conversation has no such image.
    #[error("the conversation has no image {n}, or it is no longer kept")]
    NoImage {
        /// The number as given.
        n: u64,
    },
    /// The state of the conversation does not allow it.
    #[error("{problem}")]
    Conflict {
        /// The reason and what to do.
        problem: String,
    },
    /// An argument is not valid.
    #[error("{problem}")]
    BadRequest {
        /// The reason and what to do.
        problem: String,
    },
    /// The message is to be a routine, and is none.
    #[error("the message is not a valid routine: {}", first(.problems))]
    Routine {
        /// What is wrong with it, by line.
        problems: Vec<crate::routine::Problem>,
    },
    /// The model is unknown, or `llm.json` is invalid.
    #[error(transparent)]
    Model(#[from] llm::Error),
    /// A toolset is unknown.
    #[error(transparent)]
    Toolset(#[from] Problem),
    /// The tools are not available.
    #[error("the tools are not available: {problem}")]
    Tools {
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A profile or a session is not available.
    #[error("{problem}")]
    Control {
        /// What kind of error it is.
        kind: Code,
        /// The reason and what to do.
        problem: String,
    },
    /// A prompt template does not render.
    #[error("the prompt template {} is invalid{}: {problem}", .file.display(), at(*.line))]
    Prompt {
        /// Path of the template.
        file: PathBuf,
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// The reason.
        problem: String,
    },
    /// The server is stopping.
    #[error("the server is stopping; try again when it is running again")]
    Ending,
    /// The system refused a thread.
    #[error("cannot start the conversation: {problem}")]
    Thread {
        /// The reason, as part of a sentence.
        problem: String,
    },
}

fn first(problems: &[crate::routine::Problem]) -> String {
    problems.first().map(ToString::to_string).unwrap_or_default()
}

fn at(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::NoRecording { .. } | Self::NoImage { .. } => Code::NotFound,
            Self::Conflict { .. } => Code::Conflict,
            Self::BadRequest { .. } | Self::Routine { .. } => Code::BadRequest,
            // The model and the toolset are arguments here.
            Self::Model(llm::Error::Unknown { .. } | llm::Error::None) => Code::BadRequest,
            Self::Model(error) => error.kind(),
            Self::Toolset(_) => Code::UnknownToolset,
            Self::Tools { .. } => Code::ToolUnavailable,
            Self::Store(error) => error.kind(),
            Self::Control { kind, .. } => *kind,
            Self::Prompt { .. } | Self::Thread { .. } => Code::Internal,
            Self::Ending => Code::Busy,
        }
    }

    pub(super) fn not_found(id: &str) -> Self {
        Self::NotFound { id: id.chars().take(80).collect() }
    }

    pub(super) fn conflict(problem: impl Into<String>) -> Self {
        Self::Conflict { problem: problem.into() }
    }

    pub(super) fn prompt(file: PathBuf, line: Option<usize>, problem: String) -> Self {
        Self::Prompt { file, line, problem }
    }
}

impl From<control::Error> for Error {
    fn from(error: control::Error) -> Self {
        Self::Control { kind: error.kind(), problem: error.to_string() }
    }
}
