//! Errors of models.

use cdpilot::code::Code;
use std::path::PathBuf;
use std::time::Duration;

/// How `llm.json` looks.
const EXAMPLE: &str = "for example {\"models\": {\"main\": {\"model\": \"NAME\", \"base_url\": \"https://api.example.com/v1\", \
    \"api_key_env\": \"MY_KEY\"}}}; `cdpilot models add` writes it, `cdpilot models test` tests it";

/// Errors of models. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `llm.json` cannot be read.
    #[error("cannot read {}: {problem}", .path.display())]
    File {
        /// Path of `llm.json`.
        path: PathBuf,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// `llm.json` cannot be written; the previous settings stay.
    #[error("cannot write {}: {problem}", .path.display())]
    NotSaved {
        /// Path of `llm.json`.
        path: PathBuf,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// `llm.json` is not JSON.
    #[error("{} is not valid JSON: {problem}; {EXAMPLE}", .path.display())]
    Syntax {
        /// Path of `llm.json`.
        path: PathBuf,
        /// The reason, with line and column.
        problem: String,
    },
    /// A field of `llm.json` is unknown or has a wrong value.
    #[error("{} is invalid at {at}: {problem}; {EXAMPLE}", .path.display())]
    Wrong {
        /// Path of `llm.json`.
        path: PathBuf,
        /// The path of the field.
        at: String,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// A new setting of the models is wrong.
    #[error("{at}: {problem}")]
    Setting {
        /// The path of the field.
        at: String,
        /// The reason and what to do.
        problem: String,
    },
    /// A new setting of the models does not exist.
    #[error("{at}: {problem}")]
    UnknownSetting {
        /// The path of the field.
        at: String,
        /// The known fields, and the most similar one.
        problem: String,
    },
    /// No model has this alias.
    #[error("{}; llm.json contains {}", unknown(.name, *.is_default), listed(.known))]
    Unknown {
        /// The alias as given.
        name: String,
        /// Whether it is the default of `llm.json`, not given by the caller.
        is_default: bool,
        /// All aliases of `llm.json`.
        known: Vec<String>,
    },
    /// No model is configured.
    #[error(
        "no model is configured; `cdpilot models add` asks for one and tests it (or write llm.json in the home folder, see docs/configuration.md)"
    )]
    None,
    /// The environment variable with the key is not set.
    #[error(
        "the model {model:?} needs its key in the environment variable {variable}, which is not set; a running server has the environment that it was started with"
    )]
    NoKey {
        /// Name of the environment variable, from `api_key_env`.
        variable: String,
        /// Alias of the model that needs it.
        model: String,
    },
    /// A field of a model in `llm.json` cannot be used.
    #[error("llm.json: {at} {problem}")]
    Unusable {
        /// The path of the field.
        at: String,
        /// The reason, as a predicate, and what to do. Does not contain the value.
        problem: String,
    },
    /// The endpoint cannot be reached.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
        /// Host of the endpoint, without port and path.
        host: String,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The endpoint refused the request.
    #[error("{host} refused with status {status}: {problem}")]
    Refused {
        /// Host of the endpoint, without port and path.
        host: String,
        /// The HTTP status of the answer.
        status: u16,
        /// The endpoint's error message, with secrets covered; untrusted.
        problem: String,
    },
    /// The endpoint returned an invalid response.
    #[error("{host} returned an invalid response: {problem}")]
    Malformed {
        /// Host of the endpoint, without port and path.
        host: String,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// The model said nothing and called nothing.
    #[error("{host} returned an empty answer{}", finished(.finish))]
    Empty {
        /// Host of the endpoint, without port and path.
        host: String,
        /// The finish reason, such as `length`; may be empty.
        finish: String,
    },
    /// The deadline has passed.
    #[error("{host} did not answer within {} ms", .after.as_millis())]
    Timeout {
        /// Host of the endpoint, without port and path.
        host: String,
        /// How long the request waited.
        after: Duration,
    },
    /// The thread that sent the request and read its answer ended with a defect of cdpilot.
    #[error("the answer of {host} could not be read: the thread that reads it panicked; the log has the reason")]
    Panicked {
        /// Host of the endpoint, without port and path.
        host: String,
    },
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
}

/// The finish reason of an answer that the endpoint has suppressed.
const FILTERED: &str = "content_filter";

impl Error {
    /// Whether the endpoint has suppressed the answer for its content.
    pub(super) fn is_filtered(&self) -> bool {
        matches!(self, Self::Empty { finish, .. } if finish == FILTERED)
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Timeout { .. } => Code::Timeout,
            Self::Cancelled => Code::Cancelled,
            Self::Unknown { .. } => Code::NotFound,
            Self::Setting { .. } => Code::BadRequest,
            Self::UnknownSetting { .. } => Code::UnknownField,
            Self::NotSaved { .. } | Self::Panicked { .. } => Code::Internal,
            _ => Code::ModelError,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }
}

fn finished(finish: &str) -> String {
    match finish {
        "length" => {
            "; it used all of its output tokens for reasoning, so raise max_output_tokens in llm.json".to_owned()
        }
        FILTERED => ": its content filter has refused it; word the task differently, or use another model".to_owned(),
        "" | "stop" => String::new(),
        other => format!(" ({other})"),
    }
}

fn unknown(name: &str, is_default: bool) -> String {
    if is_default { format!("the default model {name:?} does not exist") } else { format!("unknown model {name:?}") }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
