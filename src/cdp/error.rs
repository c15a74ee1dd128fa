//! Errors of a connection, grouped by what a caller can do.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::code::Code;

/// A failed connect, call or decode.
///
/// No variant contains the URL of the endpoint, which may contain a token.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The browser answered the call with an error object.
    /// See <https://www.jsonrpc.org/specification#error_object>.
    #[error("{method} failed: {message} (code {code}){}", detail(.data))]
    Protocol {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// The JSON-RPC error code; `-32000` for most errors of Chromium.
        code: i64,
        /// The browser's error text, as sent.
        message: String,
        /// Details, if the browser sent any.
        data: Option<String>,
    },
    /// A time limit was exceeded; `kind` says which.
    #[error("{method} timed out {} waiting for {kind}; allow more time, or check whether the page is blocked", waited(*.after))]
    Timeout {
        /// The kind of wait.
        kind: TimeoutKind,
        /// The command, or the operation.
        method: Cow<'static, str>,
        /// How long the call waited.
        after: Duration,
    },
    /// The connection has ended; all further calls on it fail.
    #[error("{method}: the connection is closed ({reason}); open a new connection")]
    Closed {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The session of the call is gone; the connection is not affected.
    #[error("{method}: the session is gone ({reason}); attach to the target again")]
    SessionGone {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// Why the session ended.
        reason: GoneReason,
    },
    /// The owner of the connection ended the wait because the answer is blocked.
    #[error("{method} was interrupted ({})", .causes.join(", "))]
    Interrupted {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// Ids of what blocks the answer, as given by the owner of the connection.
        causes: Vec<String>,
    },
    /// A message of the browser does not match the expected type.
    #[error(
        "{method}: invalid response at {path}: {problem}; the browser may be newer than this program, use a raw call"
    )]
    Decode {
        /// The command or event.
        method: Cow<'static, str>,
        /// JSON path of the invalid value; `.` for the whole message.
        path: String,
        /// What does not match there, and the expected type.
        problem: String,
    },
    /// The parameters cannot be serialised.
    #[error("{method}: the parameters cannot be written as JSON: {problem}")]
    Encode {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// What could not be serialised.
        problem: String,
    },
    /// The message is larger than Chromium accepts. Chromium closes the connection on such a message.
    #[error(
        "{method}: the message has {bytes} bytes, more than the {limit} that the browser accepts; send less at a time"
    )]
    TooLarge {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A message of the browser is larger than [`max_message`](super::ConnectOptions::max_message). It was skipped; the
    /// connection is not affected.
    #[error("{method}: the browser sent {bytes} bytes, more than the limit of {limit}; request less at a time")]
    AnswerTooLarge {
        /// The command or event.
        method: Cow<'static, str>,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The endpoint cannot be reached or does not support WebSocket.
    #[error("cannot connect to the CDP endpoint: {problem}; check the address, and that the browser is running")]
    Connect {
        /// The problem, without the URL.
        problem: String,
    },
    /// The URL is invalid or not supported by this build.
    #[error("invalid CDP address: {problem}")]
    Address {
        /// The problem, without the URL.
        problem: String,
    },
    /// The system refused a resource (a thread, a descriptor).
    #[error("{what}: {problem}")]
    System {
        /// What failed, as a clause: `cannot start a thread`.
        what: &'static str,
        /// The system's error message.
        problem: String,
    },
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Timeout { .. } => Code::Timeout,
            Self::Closed { .. } => Code::BrowserNotRunning,
            Self::Interrupted { .. } => Code::Interrupted,
            Self::System { .. } => Code::Internal,
            _ => Code::BrowserError,
        }
    }

    /// The command that the error concerns, if any.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Protocol { method, .. }
            | Self::Timeout { method, .. }
            | Self::Closed { method, .. }
            | Self::SessionGone { method, .. }
            | Self::Interrupted { method, .. }
            | Self::Decode { method, .. }
            | Self::Encode { method, .. }
            | Self::TooLarge { method, .. }
            | Self::AnswerTooLarge { method, .. } => Some(method),
            Self::Connect { .. } | Self::Address { .. } | Self::System { .. } => None,
        }
    }

    /// The code of a [`Error::Protocol`].
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Protocol { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether the whole connection is lost.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether a time limit was exceeded.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }
}

fn waited(after: Duration) -> String {
    match after.as_millis() {
        0 => "(no time left before the deadline)".to_owned(),
        millis => format!("after {millis} ms"),
    }
}

fn detail(data: &Option<String>) -> String {
    data.as_ref().map(|d| format!(": {d}")).unwrap_or_default()
}

/// The kind of wait that exceeded its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// Name resolution and TCP connect.
    Connect,
    /// The WebSocket (or TLS) handshake.
    Handshake,
    /// Passing the message to the system: the peer does not read.
    Send,
    /// The answer to a call.
    Reply,
    /// Attaching to a target.
    Attach,
    /// A condition on published state.
    Condition,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "the connection",
            Self::Handshake => "the handshake",
            Self::Send => "the message to be sent",
            Self::Reply => "the response",
            Self::Attach => "the target to be attached",
            Self::Condition => "the condition",
        })
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// It was closed on this side.
    Local,
    /// The peer closed it properly.
    Remote {
        /// The WebSocket close code, if any; RFC 6455 section 7.4.
        code: Option<u16>,
    },
    /// The peer violated the transport protocol.
    Protocol(String),
    /// A message was larger than the limit in [`ConnectOptions`](super::ConnectOptions).
    TooLarge,
    /// Reading or writing failed.
    Io(String),
    /// The peer did not answer two pings, sent an interval of `keepalive` apart.
    Silent,
    /// A thread of the connection panicked.
    Panicked,
    /// The WebDriver session of the browser has ended.
    SessionEnded,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("closed by this program"),
            Self::Remote { code: Some(code) } => write!(f, "closed by the browser with code {code}"),
            Self::Remote { code: None } => f.write_str("closed by the browser"),
            Self::Protocol(what) => write!(f, "transport protocol error: {what}"),
            Self::TooLarge => f.write_str("a message exceeded the size limit"),
            Self::Io(what) => write!(f, "I/O error: {what}"),
            Self::Silent => f.write_str("keepalive ping timed out"),
            Self::SessionEnded => {
                f.write_str("the WebDriver session has ended; a grid ends sessions that are idle or whose node fails")
            }
            Self::Panicked => f.write_str("internal error: a thread of the connection panicked; see the log"),
        }
    }
}

/// Why a session is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GoneReason {
    /// It was detached, or its target was closed.
    Detached,
    /// The renderer of its target crashed. Chromium does not answer commands that need the renderer.
    Crashed,
    /// The browser does not know the session.
    Unknown,
}

impl fmt::Display for GoneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Detached => "detached or closed",
            Self::Crashed => "the renderer crashed",
            Self::Unknown => "unknown to the browser",
        })
    }
}
