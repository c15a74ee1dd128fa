//! Serialises answers and events.

use std::io::Write as _;

use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, REFERRER_POLICY, TRANSFER_ENCODING, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, StatusCode};

use super::answer::{Answer, Body, Event};

/// Headers that only the engine sets.
const OWN: [HeaderName; 3] = [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING];
/// Headers of every answer, unless the handler set them.
const COMMON: [(HeaderName, &str); 3] =
    [(X_CONTENT_TYPE_OPTIONS, "nosniff"), (CACHE_CONTROL, "no-store"), (REFERRER_POLICY, "no-referrer")];

/// How an answer is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    /// The connection stays open afterwards.
    pub(super) keep: bool,
    /// The request was HEAD: everything but the body.
    pub(super) head_only: bool,
}

/// A complete answer. An event stream ends with the connection.
pub(super) fn answer(answer: &Answer, delivery: Delivery) -> Vec<u8> {
    let (length, body): (_, &[u8]) = match &answer.body {
        Body::Bytes(bytes) => (Some(bytes.len()), bytes),
        Body::Events(_) => (None, &[]),
    };
    let mut out = head(answer.status, &answer.headers, length, delivery.keep);
    if !delivery.head_only && has_content(answer.status) {
        out.extend_from_slice(body);
    }
    out
}

fn head(status: StatusCode, headers: &[(HeaderName, HeaderValue)], length: Option<usize>, keep: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(512 + length.unwrap_or(0));
    // Writing to a vector does not fail.
    let _ = write!(out, "HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("Unknown"));
    for (name, value) in headers.iter().filter(|(name, _)| !OWN.contains(name)) {
        line(&mut out, name, value.as_bytes());
    }
    for (name, value) in COMMON.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name)) {
        line(&mut out, name, value.as_bytes());
    }
    if let Some(length) = length.filter(|_| has_content(status)) {
        line(&mut out, &CONTENT_LENGTH, length.to_string().as_bytes());
    }
    line(&mut out, &CONNECTION, if keep { b"keep-alive" } else { b"close" });
    out.extend_from_slice(b"\r\n");
    out
}

fn line(out: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// Answers with some statuses have no body (RFC 9112, section 6.3).
fn has_content(status: StatusCode) -> bool {
    !(status.is_informational() || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED)
}

/// A comment, used as keepalive.
pub(super) const COMMENT: &[u8] = b":\n\n";

/// An event as in the HTML specification (section 9.2.6): each line of data is a `data:` line.
pub(super) fn event(event: &Event) -> Vec<u8> {
    let mut out = Vec::with_capacity(event.data.len() + 64);
    let mut field = |name: &str, value: &str| {
        for part in [name, ": ", value, "\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    };
    let clean = |text: &str| text.replace(['\r', '\n', '\0'], "");
    if let Some(name) = &event.name {
        field("event", &clean(name));
    }
    if let Some(id) = &event.id {
        field("id", &clean(id));
    }
    event.data.replace("\r\n", "\n").split(['\r', '\n']).for_each(|line| field("data", line));
    out.push(b'\n');
    out
}
