//! The state machine of one connection, run by `http-in`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;

use super::answer::Answer;
use super::encode::{self, Delivery};
use super::limits::Limits;
use super::request_reader::{Admit, Budget, ReceivedRequest, RequestReader, Step};
use super::wire::Wire;
use cdpilot::code::Code;
use cdpilot::sync::Cancel;

/// How long, and how many bytes, a refused client may continue to send until it has read the answer.
const DRAIN_TIME: Duration = Duration::from_secs(2);
const DRAIN_BYTES: usize = 8 * 1024 * 1024;
/// Bytes read in one turn, so that one client does not delay the others.
const TURN: usize = 256 * 1024;
/// Bytes read at once.
const PIECE: usize = 16 * 1024;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A connection.
pub(super) struct Connection {
    pub(super) wire: Arc<Wire>,
    reader: RequestReader,
    state: State,
    /// When the state began or last made progress.
    since: Instant,
    /// When the end of the client's data was read.
    ended: Option<Instant>,
    /// When the system reported that the client closed the connection; data may be left to read.
    closed: Option<Instant>,
    /// Bytes to send, and how many of them were sent.
    out: Vec<u8>,
    at: usize,
}

enum State {
    /// Reading requests.
    Reading,
    /// A worker handles a request.
    Busy(Cancel),
    /// Sending an answer; then the next request is read (`keep`), or the connection ends.
    Sending { keep: bool },
    /// The answer is sent; further data of the client is read and discarded.
    Draining { left: usize },
}

/// What a connection needs next.
pub(super) enum NextStep {
    /// Wait for an event of the socket.
    Wait,
    /// Continue in the next turn.
    Again,
    /// Close the connection.
    Close,
    /// Hand a request to a worker.
    Job { received: Box<ReceivedRequest>, cancel: Cancel, before: Vec<u8> },
}

impl Connection {
    pub(super) fn new(wire: Wire, peer: SocketAddr, limits: &Limits, budget: &Arc<Budget>) -> Self {
        Self {
            wire: Arc::new(wire),
            reader: RequestReader::new(peer, limits, budget),
            state: State::Reading,
            since: Instant::now(),
            ended: None,
            closed: None,
            out: Vec::new(),
            at: 0,
        }
    }

    /// Advances as far as possible without waiting.
    pub(super) fn advance_connection(&mut self, admit: &mut Admit<'_>) -> NextStep {
        let mut left = TURN;
        loop {
            let turn = match self.state {
                State::Reading => self.read_request(admit, &mut left),
                State::Busy(_) => self.watch(&mut left),
                State::Sending { keep } => self.send(keep),
                State::Draining { .. } => self.drain(&mut left),
            };
            if let Some(turn) = turn {
                return turn;
            }
        }
    }

    fn read_request(&mut self, admit: &mut Admit<'_>, left: &mut usize) -> Option<NextStep> {
        match self.reader.step(admit) {
            Step::More if self.ended.is_some() => Some(NextStep::Close),
            Step::More => self.fill(left),
            Step::Continue => {
                self.out.extend_from_slice(CONTINUE);
                match self.wire.write_from(&self.out, &mut self.at) {
                    Ok(true) => (self.out, self.at) = (Vec::new(), 0),
                    Ok(false) => {} // goes out before the answer
                    Err(_) => return Some(NextStep::Close),
                }
                None
            }
            Step::Refused(answer) => {
                self.refuse(&answer);
                None
            }
            Step::Ready(received) => {
                let cancel = Cancel::new();
                self.enter(State::Busy(cancel.clone()));
                let before = std::mem::take(&mut self.out).split_off(std::mem::take(&mut self.at));
                Some(NextStep::Job { received, cancel, before })
            }
        }
    }

    /// Reads bytes into the reader. `None`: progress was made.
    fn fill(&mut self, left: &mut usize) -> Option<NextStep> {
        if *left == 0 {
            return Some(NextStep::Again);
        }
        let mut piece = [0; PIECE];
        let size = self.reader.room().min(PIECE);
        match self.wire.read(&mut piece[..size]) {
            Ok(None) => Some(NextStep::Wait),
            Ok(Some(0)) if size > 0 => {
                self.ended = Some(Instant::now());
                None
            }
            Ok(Some(count)) => {
                self.reader.feed(&piece[..count]);
                *left = left.saturating_sub(count.max(1));
                None
            }
            Err(_) => Some(NextStep::Close),
        }
    }

    /// While a worker handles a request: buffers further data and detects a disconnect.
    fn watch(&mut self, left: &mut usize) -> Option<NextStep> {
        if self.ended.is_some() || self.reader.room() == 0 {
            return Some(NextStep::Wait);
        }
        match self.fill(left) {
            Some(NextStep::Close) => {
                self.ended = Some(Instant::now());
                self.cancel();
                self.wire.tell_writable();
                Some(NextStep::Wait)
            }
            turn => turn,
        }
    }

    /// The client closed the connection, for writing or, with `both`, completely.
    pub(super) fn hung_up(&mut self, both: bool) {
        self.closed.get_or_insert_with(Instant::now);
        if both {
            self.cancel();
        }
    }

    fn send(&mut self, keep: bool) -> Option<NextStep> {
        let before = self.at;
        let wrote = self.wire.write_from(&self.out, &mut self.at);
        if self.at > before {
            self.since = Instant::now();
        }
        match wrote {
            Ok(false) => return Some(NextStep::Wait),
            Err(_) => return Some(NextStep::Close),
            Ok(true) => (self.out, self.at) = (Vec::new(), 0),
        }
        if keep {
            self.enter(State::Reading);
            return None;
        }
        if self.wire.finish().is_err() || self.ended.is_some() {
            return Some(NextStep::Close);
        }
        self.enter(State::Draining { left: DRAIN_BYTES });
        None
    }

    fn drain(&mut self, turn: &mut usize) -> Option<NextStep> {
        let State::Draining { left } = &mut self.state else { return Some(NextStep::Wait) };
        let mut piece = [0; PIECE];
        match self.wire.read(&mut piece) {
            Ok(None) => Some(NextStep::Wait),
            Ok(Some(0)) | Err(_) => Some(NextStep::Close),
            Ok(Some(count)) => {
                *left = left.saturating_sub(count);
                *turn = turn.saturating_sub(count);
                match (*left, *turn) {
                    (0, _) => Some(NextStep::Close),
                    (_, 0) => Some(NextStep::Again),
                    _ => None,
                }
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.since = Instant::now();
    }

    /// Sends a refusal and then ends the connection.
    pub(super) fn refuse(&mut self, answer: &Answer) {
        self.out.drain(..self.at);
        self.at = 0;
        let head_only = self.reader.is_head_only();
        self.out.extend(encode::answer(answer, Delivery { keep: false, head_only }));
        self.enter(State::Sending { keep: false });
    }

    /// Takes the connection back from a worker, with the unsent part of the answer.
    pub(super) fn finish_request(&mut self, bytes: Vec<u8>, at: usize, keep: bool) {
        (self.out, self.at) = (bytes, at);
        self.enter(State::Sending { keep });
    }

    /// Number of unsent bytes of an answer.
    pub(super) fn unsent(&self) -> usize {
        self.out.len() - self.at
    }

    /// Whether a worker handles a request.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state, State::Busy(_))
    }

    /// Whether an answer is being sent.
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.state, State::Sending { .. })
    }

    /// Cancels the request that a worker handles.
    pub(super) fn cancel(&self) {
        if let State::Busy(cancel) = &self.state {
            cancel.set();
        }
    }

    /// Since when it is idle; `None` if it must not be closed.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let idle = match self.state {
            State::Reading => self.reader.begun().is_none(),
            State::Draining { .. } => true,
            State::Busy(_) | State::Sending { .. } => false,
        };
        idle.then_some(self.since)
    }

    /// Since when a head is being read; its client is not authenticated yet.
    pub(super) fn head_since(&self) -> Option<Instant> {
        if matches!(self.state, State::Reading) && !self.reader.is_reading_body() { self.reader.begun() } else { None }
    }

    /// Whether the client has sent data that was not read yet.
    pub(super) fn has_unread_request(&self) -> bool {
        matches!(self.state, State::Reading) && self.wire.has_input()
    }

    /// When the current state times out.
    pub(super) fn expires(&self, limits: &Limits) -> Option<Instant> {
        match self.state {
            State::Reading => Some(match self.reader.begun() {
                Some(begun) => begun + limits.reading,
                None => self.since + limits.idle,
            }),
            State::Busy(ref cancel) if cancel.is_set() => None,
            State::Busy(_) => self.ended.or(self.closed).map(|closed| closed.max(self.since) + limits.hang_up),
            State::Sending { .. } => Some(self.since + limits.writing),
            State::Draining { .. } => Some(self.since + DRAIN_TIME),
        }
    }

    /// Handles a timeout. Returns whether the connection stays open, for example to send a refusal.
    pub(super) fn expire(&mut self) -> bool {
        match self.state {
            State::Busy(_) => self.cancel(),
            State::Reading if self.reader.begun().is_some() => self.refuse(&Answer::failure(
                StatusCode::REQUEST_TIMEOUT,
                Code::Timeout,
                "the request did not arrive in time; send the headers, and then the body, within 10 seconds each",
            )),
            _ => return false,
        }
        true
    }
}
