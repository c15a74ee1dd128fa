//! From the bytes of a connection to requests. No input or output: the same bytes give the same requests in whatever
//! pieces they come.

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

/// Empty lines before a request at most (RFC 9112, section 2.2, asks for patience with them).
const MAX_BLANK: u8 = 4;
/// Longest method, so that what is no HTTP at all is seen at once.
const MAX_METHOD: usize = 32;

/// Bytes of bodies that may be held, over all connections.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    held: AtomicUsize,
}

/// A part of the budget, given back when it is dropped.
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
    /// Holds this much in all, if there is so much left.
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

/// What came of the bytes so far.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing whole yet.
    More,
    /// The client waits for `100 Continue`; then step again.
    Continue,
    /// A request.
    Ready(Box<ReceivedRequest>),
    /// No request can come any more; the answer to it.
    Refused(Answer),
}

/// Decides on a head before its body is looked at: the bytes that the body may have, where they are not the usual ones.
pub(super) type Admit<'a> = dyn FnMut(&Head) -> Result<Option<usize>, Answer> + 'a;

/// A request that has arrived.
#[derive(Debug)]
pub(super) struct ReceivedRequest {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    pub(super) held: Reservation,
}

/// Reads the requests of one connection.
#[derive(Debug)]
pub(super) struct RequestReader {
    buffer: Vec<u8>,
    /// Bytes of the buffer in which no head ends.
    scanned: usize,
    blank: u8,
    /// The last head was of HEAD: its answer, a refusal too, has no body.
    head_only: bool,
    /// When the request at hand, or its body, began.
    begun: Option<Instant>,
    body: Option<Box<PartialBody>>,
    peer: SocketAddr,
    head_bytes: usize,
    body_bytes: usize,
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
    /// Bytes that the body may have.
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
            budget: Arc::clone(budget),
        }
    }

    /// How many bytes it takes now.
    pub(super) fn room(&self) -> usize {
        self.head_bytes.saturating_sub(self.buffer.len())
    }

    /// Takes bytes, no more than there is [`room`](Self::room) for.
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

    /// Whether the answer to the request at hand is to have no body.
    pub(super) fn is_head_only(&self) -> bool {
        self.head_only
    }

    /// Goes on as far as the bytes reach. `admit` decides on a head before its body is looked at.
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
                return Err("the request begins with empty lines");
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
                return Err("this is no HTTP request");
            }
        }
        let from = self.scanned;
        for at in memchr_iter(b'\n', &self.buffer[from..]).map(|at| at + from) {
            if at == 0 || self.buffer[at - 1] != b'\r' {
                return Err("lines must end with CR LF");
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
        if self.room() == 0 { Err("the request's head is too large") } else { Ok(None) }
    }

    /// What has to be true before a body is read.
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
        if !media.is_some_and(|media| media.eq_ignore_ascii_case("application/json")) {
            return Err(unsupported("a request body must be JSON and say so: Content-Type: application/json"));
        }
        if head.headers.contains_key(CONTENT_ENCODING) {
            return Err(unsupported("a request body must be sent as it is, without a Content-Encoding"));
        }
        Ok(held)
    }

    fn next_body(&mut self) -> Step {
        let Some(reading) = &mut self.body else { return Step::More };
        let most = reading.most;
        let ended = match (&mut reading.chunks, reading.head.framing) {
            (Some(chunks), _) => {
                let took = match chunks.read(&self.buffer, &mut reading.body, most) {
                    Ok(took) => took,
                    Err(ChunkError::Malformed) => return Step::Refused(bad("the chunks of the body are malformed")),
                    Err(ChunkError::TooLarge) => return Step::Refused(too_large(most)),
                };
                self.buffer.drain(..took.bytes);
                if !reading.held.grow(reading.body.len()) {
                    return Step::Refused(too_many());
                }
                took.ended
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
        "BODY_TOO_LARGE",
        format_args!("the request body is too large; at most {most} bytes are taken"),
    )
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A request that is malformed.
pub(super) fn bad(problem: &str) -> Answer {
    Answer::failure(StatusCode::BAD_REQUEST, "BAD_REQUEST", problem)
}

fn unsupported(problem: &str) -> Answer {
    Answer::failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", problem)
}

fn too_many() -> Answer {
    Answer::busy("the server holds too many request bodies; try again")
}
