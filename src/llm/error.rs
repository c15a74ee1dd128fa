//! What can go wrong with a model.

use crate::code::Code;
use std::path::PathBuf;
use std::time::Duration;

/// What can go wrong with a model. No text has a key in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `llm.json` cannot be read.
    #[error("cannot read {}: {problem}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// `llm.json` is not as it has to be.
    #[error("{} is wrong at {at}: {problem}; see docs/configuration.md", .path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where in it.
        at: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no model of that name.
    #[error("there is no model {name:?}; llm.json has {}", listed(.known))]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// No model is set up.
    #[error("no model is set up; write llm.json into the home folder, see docs/configuration.md")]
    None,
    /// The variable that is to hold a key does not.
    #[error("{variable} is not set, and the model {model:?} needs the key in it")]
    NoKey {
        /// The environment variable.
        variable: String,
        /// The model's alias.
        model: String,
    },
    /// The endpoint could not be reached.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
        /// Its host.
        host: String,
        /// Why.
        problem: String,
    },
    /// The endpoint refused.
    #[error("{host} refused with status {status}: {problem}")]
    Refused {
        /// Its host.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        problem: String,
    },
    /// What came back is no answer.
    #[error("{host} answered what cannot be used: {problem}")]
    Malformed {
        /// Its host.
        host: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The deadline came first.
    #[error("{host} did not answer within {} ms", .after.as_millis())]
    Timeout {
        /// Its host.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// Nobody waits any more.
    #[error("the request was given up")]
    Cancelled,
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Timeout { .. } => Code::Timeout,
            Self::Cancelled => Code::Cancelled,
            Self::Unknown { .. } => Code::NotFound,
            _ => Code::ModelError,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
