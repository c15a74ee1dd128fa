//! Parses the bytes of a connection into requests. Does no I/O: the result does not depend on how the bytes are split.

use cdpilot::code::Code;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{Method, StatusCode};
use memchr::memchr_iter;

use super::answer::Answer;
use super::chunks::{ChunkError, Chunks};
use super::head;
use super::limits::Limits;
use super::request::{Framing, Head};

/// Maximum number of empty lines before a request, which RFC 9112, section 2.2 asks to tolerate.
const MAX_BLANK: u8 = 4;
/// Maximum length of a method, to detect other protocols early.
const MAX_METHOD: usize = 32;

/// Limit for the bytes of all bodies in memory.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    held: AtomicUsize,
}

/// A part of the budget, released on drop.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0) })
    }

    fn none(self: &Arc<Self>) -> Reservation {
        Reservation { budget: Arc::clone(self), bytes: 0 }
    }
}

impl Reservation {
    /// Raises the reservation to `bytes`, if the budget allows it.
    fn grow(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let taken = self.budget.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, |held| {
            held.checked_add(more).filter(|held| *held <= self.budget.most)
        });
        if taken.is_ok() {
            self.bytes += more;
        }
        taken.is_ok()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// State after parsing the available bytes.
#[derive(Debug)]
pub(super) enum Step {
    /// Incomplete.
    More,
    /// The client waits for `100 Continue`; then step again.
    Continue,
    /// A request.
    Ready(Box<ReceivedRequest>),
    /// The request is refused with this answer; nothing more is parsed.
    Refused(Answer),
}

/// Admits a request by its head. Returns the maximum size of its body, if not the default.
pub(super) type Admit<'a> = dyn FnMut(&Head) -> Result<Option<usize>, Answer> + 'a;

/// A complete request.
#[derive(Debug)]
pub(super) struct ReceivedRequest {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    pub(super) held: Reservation,
}

/// Parser for the requests of one connection.
#[derive(Debug)]
pub(super) struct RequestReader {
    buffer: Vec<u8>,
    /// Bytes of the buffer already searched for the end of a head.
    scanned: usize,
    blank: u8,
    /// The last method was HEAD: its answer, also a refusal, has no body.
    head_only: bool,
    /// When the current head or body began to arrive.
    begun: Option<Instant>,
    body: Option<Box<PartialBody>>,
    peer: SocketAddr,
    head_bytes: usize,
    body_bytes: usize,
    any_media_type: bool,
    budget: Arc<Budget>,
}

/// A request whose body is being read.
#[derive(Debug)]
struct PartialBody {
    head: Head,
    body: Vec<u8>,
    chunks: Option<Chunks>,
    held: Reservation,
    sent_continue: bool,
    /// Maximum size of the body, in bytes.
    most: usize,
}

impl RequestReader {
    pub(super) fn new(peer: SocketAddr, limits: &Limits, budget: &Arc<Budget>) -> Self {
        Self {
            buffer: Vec::new(),
            scanned: 0,
            blank: 0,
            head_only: false,
            begun: None,
            body: None,
            peer,
            head_bytes: limits.head_bytes,
            body_bytes: limits.body_bytes,
            any_media_type: limits.any_media_type,
            budget: Arc::clone(budget),
        }
    }

    /// How many bytes can be added.
    pub(super) fn room(&self) -> usize {
        self.head_bytes.saturating_sub(self.buffer.len())
    }

    /// Adds bytes, at most as many as there is [`room`](Self::room) for.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// When the head, or the body, that is being read began; `None` between requests.
    pub(super) fn begun(&self) -> Option<Instant> {
        self.begun
    }

    /// Whether a head was admitted and its body is being read.
    pub(super) fn is_reading_body(&self) -> bool {
        self.body.is_some()
    }

    /// Whether the answer to the current request must not have a body.
    pub(super) fn is_head_only(&self) -> bool {
        self.head_only
    }

    /// Parses the available bytes. `admit` is called with a head before its body is parsed.
    pub(super) fn step(&mut self, admit: &mut Admit<'_>) -> Step {
        if self.body.is_none() {
            let head = match self.next_head() {
                Ok(Some(head)) => head,
                Ok(None) => return Step::More,
                Err(problem) => return Step::Refused(bad(problem)),
            };
            let admitted = admit(&head).and_then(|most| {
                let most = most.unwrap_or(self.body_bytes);
                Ok((self.check_body(&head, most)?, most))
            });
            let (held, most) = match admitted {
                Ok(admitted) => admitted,
                Err(answer) => return Step::Refused(answer),
            };
            self.begun = Some(Instant::now());
            let chunks = (head.framing == Framing::Chunked).then(Chunks::new);
            let sent_continue = !head.expects_continue;
            self.body = Some(Box::new(PartialBody { head, body: Vec::new(), chunks, held, sent_continue, most }));
        }
        self.next_body()
    }

    fn next_head(&mut self) -> Result<Option<Head>, &'static str> {
        self.head_only = false;
        while self.buffer.starts_with(b"\r\n") {
            self.buffer.drain(..2);
            self.scanned = 0;
            self.blank += 1;
            if self.blank > MAX_BLANK {
                return Err("the request starts with too many empty lines");
            }
        }
        if self.buffer.is_empty() {
            self.begun = None;
            return Ok(None);
        }
        let arrived = *self.begun.get_or_insert_with(Instant::now);
        if self.buffer != b"\r" {
            let method = self.buffer.iter().take(MAX_METHOD).take_while(|byte| **byte != b' ');
            let (length, good) = method.fold((0, true), |(n, good), byte| (n + 1, good && is_token(*byte)));
            if !good || length == 0 || length == MAX_METHOD {
                return Err("not an HTTP request");
            }
        }
        let from = self.scanned;
        for at in memchr_iter(b'\n', &self.buffer[from..]).map(|at| at + from) {
            if at == 0 || self.buffer[at - 1] != b'\r' {
                return Err("header lines must end with CR LF");
            }
            if self.buffer[..=at].ends_with(b"\r\n\r\n") {
                let head = head::parse(&self.buffer[..=at], self.peer, arrived);
                self.buffer.drain(..=at);
                (self.scanned, self.blank) = (0, 0);
                self.head_only = head.as_ref().is_ok_and(|head| head.method == Method::HEAD);
                return head.map(Some);
            }
        }
        self.scanned = self.buffer.len();
        if self.room() == 0 { Err("the request line and headers are too large") } else { Ok(None) }
    }

    /// Checks a request with a body before the body is read.
    fn check_body(&self, head: &Head, most: usize) -> Result<Reservation, Answer> {
        let mut held = self.budget.none();
        if !head.has_body() {
            return Ok(held);
        }
        if let Framing::Length(length) = head.framing {
            let length = usize::try_from(length).ok().filter(|length| *length <= most);
            let length = length.ok_or_else(|| too_large(most))?;
            if !held.grow(length) {
                return Err(too_many());
            }
        }
        let media = head.header(CONTENT_TYPE.as_str()).and_then(|value| value.split(';').next()).map(str::trim);
        if !self.any_media_type && !media.is_some_and(|media| media.eq_ignore_ascii_case("application/json")) {
            return Err(unsupported("the body must be JSON; send Content-Type: application/json"));
        }
        if head.headers.contains_key(CONTENT_ENCODING) {
            return Err(unsupported("Content-Encoding is not supported; send the body unencoded"));
        }
        Ok(held)
    }

    fn next_body(&mut self) -> Step {
        let Some(reading) = &mut self.body else { return Step::More };
        let most = reading.most;
        let ended = match (&mut reading.chunks, reading.head.framing) {
            (Some(chunks), _) => {
                let consumed = match chunks.read(&self.buffer, &mut reading.body, most) {
                    Ok(consumed) => consumed,
                    Err(ChunkError::Malformed) => {
                        return Step::Refused(bad("the chunked encoding of the body is malformed"));
                    }
                    Err(ChunkError::TooLarge) => return Step::Refused(too_large(most)),
                };
                self.buffer.drain(..consumed.bytes);
                if !reading.held.grow(reading.body.len()) {
                    return Step::Refused(too_many());
                }
                consumed.ended
            }
            (None, Framing::Length(length)) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let take = self.buffer.len().min(length - reading.body.len());
                reading.body.extend(self.buffer.drain(..take));
                reading.body.len() == length
            }
            (None, Framing::Chunked) => true,
        };
        if ended {
            let Some(reading) = self.body.take() else { return Step::More };
            self.begun = None;
            return Step::Ready(Box::new(ReceivedRequest {
                head: reading.head,
                body: reading.body,
                held: reading.held,
            }));
        }
        if !std::mem::replace(&mut reading.sent_continue, true) && reading.body.is_empty() {
            return Step::Continue;
        }
        Step::More
    }
}

fn too_large(most: usize) -> Answer {
    Answer::failure(
        StatusCode::PAYLOAD_TOO_LARGE,
        Code::BodyTooLarge,
        format_args!("the request body is too large; the maximum is {most} bytes"),
    )
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A request that is malformed.
pub(super) fn bad(problem: &str) -> Answer {
    Answer::failure(StatusCode::BAD_REQUEST, Code::BadRequest, problem)
}

fn unsupported(problem: &str) -> Answer {
    Answer::failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::UnsupportedMediaType, problem)
}

fn too_many() -> Answer {
    Answer::busy("the memory for request bodies is used up; try again")
}
