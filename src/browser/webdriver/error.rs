//! What can go wrong with a WebDriver server.

use std::fmt;
use std::time::Duration;

/// What a WebDriver server did wrong. Redacted: no variant holds an address, a session id, or the value
/// of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebDriverProblem {
    /// Nobody answers there.
    Unreachable {
        /// The system's sentence.
        problem: String,
    },
    /// It did not answer in time.
    Timeout {
        /// How long was waited.
        after: Duration,
    },
    /// It answers, but not as a WebDriver server does.
    Answer {
        /// The HTTP status; `None` when it does not speak HTTP.
        status: Option<u16>,
        /// What came instead.
        problem: String,
    },
    /// It refuses: <https://www.w3.org/TR/webdriver2/#errors>.
    Refused {
        /// The error code, as `session not created`.
        code: String,
        /// Its sentence, at most 400 characters.
        message: String,
    },
}

impl fmt::Display for WebDriverProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { problem } => {
                write!(f, "{problem}; check the address and that the server runs")
            }
            Self::Timeout { after } => write!(
                f,
                "no answer within {} ms; a grid may have no free slot, raise the session timeout or try later",
                after.as_millis()
            ),
            Self::Answer { status, problem } => {
                let advice = match status {
                    Some(401 | 403 | 407) => "check user, password, token and headers",
                    Some(404 | 405) => "check the path: grids listen at the root or at /wd/hub",
                    Some(429 | 500..) => "the server or a proxy before it is in trouble, look at its log",
                    _ => "check that the address is that of a WebDriver server",
                };
                write!(f, "{problem}; {advice}")
            }
            Self::Refused { code, message } => {
                let advice = match code.as_str() {
                    "session not created" => {
                        "check that it has a free slot and a browser that fits the capabilities asked for"
                    }
                    "invalid argument" => "check the extra capabilities",
                    "invalid session id" => "the session has ended, attach again",
                    _ => "its log may tell more",
                };
                let told = message.strip_prefix(code.as_str()).unwrap_or(message).trim_start_matches([':', ' ']);
                if told.is_empty() { write!(f, "{code}; {advice}") } else { write!(f, "{code}: {told}; {advice}") }
            }
        }
    }
}
