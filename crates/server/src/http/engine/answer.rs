//! Answers and event streams.

use std::fmt;

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};

use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// An answer. The engine adds `Content-Length`, `Connection` and the headers common to all answers.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Headers beside the engine's own.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Body,
}

/// Body of an answer.
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Server-Sent Events until the source ends, the client disconnects or the server stops.
    Events(Box<dyn EventSource>),
}

impl Answer {
    /// An answer of bytes of a media type.
    #[must_use]
    pub fn bytes(status: StatusCode, media_type: &'static str, bytes: Vec<u8>) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static(media_type))];
        Self { status, headers, body: Body::Bytes(bytes) }
    }

    /// A JSON answer. A value that cannot be serialised results in 500 `INTERNAL`.
    #[must_use]
    pub fn json(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(bytes) => Self::bytes(status, "application/json", bytes),
            Err(_) => Self::bytes(
                StatusCode::INTERNAL_SERVER_ERROR,
                "application/json",
                br#"{"ok":false,"error":"the answer cannot be serialised as JSON","code":"INTERNAL"}"#.to_vec(),
            ),
        }
    }

    /// An HTML page.
    #[must_use]
    pub fn html(text: impl Into<String>) -> Self {
        Self::bytes(StatusCode::OK, "text/html; charset=utf-8", text.into().into_bytes())
    }

    /// A failure: `{"ok": false, "error", "code"}`.
    #[must_use]
    pub fn failure(status: StatusCode, code: Code, error: impl fmt::Display) -> Self {
        Self::json(status, &json!({"ok": false, "error": error.to_string(), "code": code}))
    }

    /// A failure with `details`.
    #[must_use]
    pub fn failure_with(status: StatusCode, code: Code, error: impl fmt::Display, details: &Value) -> Self {
        Self::json(status, &json!({"ok": false, "error": error.to_string(), "code": code, "details": details}))
    }

    /// 503 `BUSY` with `Retry-After: 1`.
    #[must_use]
    pub fn busy(error: impl fmt::Display) -> Self {
        Self::failure(StatusCode::SERVICE_UNAVAILABLE, Code::Busy, error)
            .with(http::header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// A stream of events.
    #[must_use]
    pub fn events(source: impl EventSource + 'static) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))];
        Self { status: StatusCode::OK, headers, body: Body::Events(Box::new(source)) }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Events(_) => f.write_str("Events"),
        }
    }
}

/// Source of the events of a stream.
pub trait EventSource: Send {
    /// The next event, [`Next::Nothing`] if there is none by the deadline, or [`Next::End`].
    ///
    /// Called repeatedly with short deadlines (at most half a second), to check the client between calls. Runs on the
    /// stream's own thread; the deadline is cancelled when the client disconnects.
    fn next(&mut self, deadline: Deadline<'_>) -> Next;
}

/// Result of [`EventSource::next`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An event.
    Event(Event),
    /// None by the deadline.
    Nothing,
    /// The stream is over.
    End,
}

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name (`event:`). Line breaks in it are left out.
    pub name: Option<String>,
    /// The id that a reconnecting client sends as `Last-Event-ID` (`id:`). Line breaks and NULs in it are left out.
    pub id: Option<String>,
    /// Its data (`data:`), any text.
    pub data: String,
}
