//! Entry point for property tests and fuzzers; not a stable interface.

use cdpilot::code::Code;
use http::StatusCode;

use super::answer::Answer;
use super::limits::Limits;
use super::request_reader::{Budget, RequestReader, Step};

/// Maximum size of a body, small enough for short inputs to exceed it.
pub const BODY_BYTES: usize = 80;
/// Maximum size of a head.
pub const HEAD_BYTES: usize = 300;

/// A parsed request or refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A complete request.
    Request {
        /// The method.
        method: String,
        /// The path.
        path: String,
        /// The query's pairs.
        query: Vec<(String, String)>,
        /// The headers, in order of first appearance.
        headers: Vec<(String, Vec<u8>)>,
        /// The body.
        body: Vec<u8>,
    },
    /// A refusal with this status. Nothing is parsed after it.
    Refused(u16),
}

/// Parses the requests in these pieces of input. A head with `x-refused` is not admitted.
#[must_use]
pub fn requests(pieces: &[&[u8]]) -> Vec<Asked> {
    let limits = Limits { head_bytes: HEAD_BYTES, body_bytes: BODY_BYTES, ..Limits::default() };
    let budget = Budget::new(usize::MAX);
    let mut reader = RequestReader::new(([127, 0, 0, 1], 1).into(), &limits, &budget);
    let mut asked = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() && reader.room() > 0 {
            let (now, later) = rest.split_at(reader.room().min(rest.len()));
            reader.feed(now);
            rest = later;
            loop {
                let step = reader.step(&mut |head| match head.headers.contains_key("x-refused") {
                    true => Err(Answer::failure(StatusCode::FORBIDDEN, Code::ForbiddenHost, "refused")),
                    false => Ok(None),
                });
                match step {
                    Step::More => break,
                    Step::Continue => {} // depends on how the input is split
                    Step::Ready(request) => {
                        let head = request.head;
                        let headers = head.headers.iter();
                        asked.push(Asked::Request {
                            method: head.method.to_string(),
                            path: head.path,
                            query: head.query,
                            headers: headers
                                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                                .collect(),
                            body: request.body,
                        });
                    }
                    Step::Refused(answer) => {
                        asked.push(Asked::Refused(answer.status.as_u16()));
                        return asked;
                    }
                }
            }
        }
    }
    asked
}
