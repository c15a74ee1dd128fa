//! What a client is answered.

use std::fmt;

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};

use crate::sync::Deadline;

/// An answer. The engine adds what belongs to the connection (`Content-Length`, `Connection`) and the headers
/// that every answer has.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Headers beside the engine's own.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What follows the headers.
    pub body: Body,
}

/// What follows the headers of an answer.
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Server-Sent Events until the source ends, the client goes or the server stops.
    Events(Box<dyn EventSource>),
}

impl Answer {
    /// An answer of bytes of a media type.
    #[must_use]
    pub fn bytes(status: StatusCode, media_type: &'static str, bytes: Vec<u8>) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static(media_type))];
        Self { status, headers, body: Body::Bytes(bytes) }
    }

    /// An answer of JSON. A value that cannot be written as JSON is answered as 500 `INTERNAL`.
    #[must_use]
    pub fn json(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(bytes) => Self::bytes(status, "application/json", bytes),
            Err(_) => Self::bytes(
                StatusCode::INTERNAL_SERVER_ERROR,
                "application/json",
                br#"{"ok":false,"error":"the answer could not be written as JSON","code":"INTERNAL"}"#.to_vec(),
            ),
        }
    }

    /// A page.
    #[must_use]
    pub fn html(text: impl Into<String>) -> Self {
        Self::bytes(StatusCode::OK, "text/html; charset=utf-8", text.into().into_bytes())
    }

    /// A failure: `{"ok": false, "error", "code"}`.
    #[must_use]
    pub fn failure(status: StatusCode, code: &str, error: impl fmt::Display) -> Self {
        Self::json(status, &json!({"ok": false, "error": error.to_string(), "code": code}))
    }

    /// A failure with `details`.
    #[must_use]
    pub fn failure_with(status: StatusCode, code: &str, error: impl fmt::Display, details: &Value) -> Self {
        Self::json(status, &json!({"ok": false, "error": error.to_string(), "code": code, "details": details}))
    }

    /// 503 `BUSY`, to be tried again in a second.
    #[must_use]
    pub fn busy(error: impl fmt::Display) -> Self {
        Self::failure(StatusCode::SERVICE_UNAVAILABLE, "BUSY", error)
            .with(http::header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// A stream of events.
    #[must_use]
    pub fn events(source: impl EventSource + 'static) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))];
        Self { status: StatusCode::OK, headers, body: Body::Events(Box::new(source)) }
    }

    /// This answer with one more header.
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

/// Where the events of a stream come from.
pub trait EventSource: Send {
    /// The next event, [`Next::Nothing`] when there is none by the deadline, [`Next::End`] when there will be
    /// none any more.
    ///
    /// It is called with short deadlines (half a second at most), again and again: between two calls the stream
    /// looks whether its client is still there. It runs on a thread of the stream's own, inside the request's
    /// [`Cancel::run`](crate::sync::Cancel::run).
    fn next(&mut self, deadline: Deadline) -> Next;
}

/// What an [`EventSource`] gives.
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
    /// What a client that comes back sends as `Last-Event-ID` (`id:`). Line breaks and NULs in it are left out.
    pub id: Option<String>,
    /// What it says (`data:`), any text.
    pub data: String,
}
