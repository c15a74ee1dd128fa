//! Errors of WebDriver servers.

use std::fmt;
use std::time::Duration;

/// What a WebDriver server did wrong. Redacted: no variant contains an address, a session id, or the value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebDriverProblem {
    /// It cannot be reached.
    Unreachable {
        /// The message of the operating system.
        problem: String,
    },
    /// It did not answer in time.
    Timeout {
        /// How long it was given.
        after: Duration,
    },
    /// It answers, but not like a WebDriver server.
    Answer {
        /// The HTTP status; `None` when it does not speak HTTP.
        status: Option<u16>,
        /// The answer, as part of a sentence.
        problem: String,
    },
    /// It refused the request with an error of the protocol: <https://www.w3.org/TR/webdriver2/#errors>.
    Refused {
        /// The error code, such as `session not created`.
        code: String,
        /// Its message, at most 400 characters.
        message: String,
    },
}

impl WebDriverProblem {
    /// What happened, without advice.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Unreachable { problem } | Self::Answer { problem, .. } => problem.clone(),
            Self::Timeout { after } => format!("no answer within {} ms", after.as_millis()),
            Self::Refused { code, message } => {
                let text = message.strip_prefix(code.as_str()).unwrap_or(message).trim_start_matches([':', ' ']);
                if text.is_empty() { code.clone() } else { format!("{code}: {text}") }
            }
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "check the address and that the server runs",
            Self::Timeout { .. } => "a grid may have no free slot, raise the session timeout or try later",
            Self::Answer { status, .. } => match status {
                Some(401 | 403 | 407) => "check user, password, token and headers",
                Some(404 | 405) => "check the path: grids listen at the root or at /wd/hub",
                Some(429 | 500..) => "the server or a proxy in front of it failed, see its log",
                _ => "check that the address is that of a WebDriver server",
            },
            Self::Refused { code, .. } => match code.as_str() {
                "session not created" => {
                    "check that it has a free slot and a browser that matches the requested capabilities"
                }
                "invalid argument" => "check the extra capabilities",
                "invalid session id" => "the session has ended, attach again",
                _ => "see its log",
            },
        }
    }
}

impl fmt::Display for WebDriverProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.advice())
    }
}
