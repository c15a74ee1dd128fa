//! One connection, as `http-in` sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;

use super::answer::Answer;
use super::encode::{self, Delivery};
use super::limits::Limits;
use super::request_reader::{Admit, Budget, ReceivedRequest, RequestReader, Step};
use super::wire::Wire;
use crate::sync::Cancel;

/// How long, and for how many bytes, a client that is refused may go on sending: until it has seen the answer.
const DRAIN_TIME: Duration = Duration::from_secs(2);
const DRAIN_BYTES: usize = 8 * 1024 * 1024;
/// Bytes read in one turn, so that one client does not hold up the others.
const TURN: usize = 256 * 1024;
/// Bytes read at once.
const PIECE: usize = 16 * 1024;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A connection.
pub(super) struct Connection {
    pub(super) wire: Arc<Wire>,
    reader: RequestReader,
    state: State,
    /// When the state began, or something last went forward in it.
    since: Instant,
    /// Since when the client is known to send nothing more: all that it sent was read.
    ended: Option<Instant>,
    /// Since when the system says so, with what was sent perhaps yet to be read.
    closed: Option<Instant>,
    /// What is to be sent, and how much of it was.
    out: Vec<u8>,
    at: usize,
}

enum State {
    /// Requests are read.
    Reading,
    /// Somebody answers a request.
    Busy(Cancel),
    /// An answer goes out; then the next request is read, or the connection ends.
    Sending { keep: bool },
    /// Everything is said; what the client still sends is read and dropped.
    Draining { left: usize },
}

/// What a connection needs next.
pub(super) enum NextStep {
    /// The system tells when there is more to do.
    Wait,
    /// There is more to do at once.
    Again,
    /// It is over.
    Close,
    /// A request is to be done.
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

    /// Goes on as far as bytes reach.
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

    /// Reads a piece into the reader. `None`: something came.
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

    /// While somebody answers: keeps what comes, and sees the client hang up.
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

    /// The system says that the client closed the connection, in `both` ways or its own.
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

    /// Answers instead of a worker, and ends the connection behind it.
    pub(super) fn refuse(&mut self, answer: &Answer) {
        self.out.drain(..self.at);
        self.at = 0;
        let head_only = self.reader.is_head_only();
        self.out.extend(encode::answer(answer, Delivery { keep: false, head_only }));
        self.enter(State::Sending { keep: false });
    }

    /// Comes back from who answered, with what the client has not taken yet.
    pub(super) fn finish_request(&mut self, bytes: Vec<u8>, at: usize, keep: bool) {
        (self.out, self.at) = (bytes, at);
        self.enter(State::Sending { keep });
    }

    /// Bytes of an answer that are not sent.
    pub(super) fn unsent(&self) -> usize {
        self.out.len() - self.at
    }

    /// Whether somebody answers a request of it.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state, State::Busy(_))
    }

    /// Whether an answer of it is going out.
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.state, State::Sending { .. })
    }

    /// Cancels the request that is being answered.
    pub(super) fn cancel(&self) {
        if let State::Busy(cancel) = &self.state {
            cancel.set();
        }
    }

    /// Since when nothing has been received, if it can be closed without a loss.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let idle = match self.state {
            State::Reading => self.reader.begun().is_none(),
            State::Draining { .. } => true,
            State::Busy(_) | State::Sending { .. } => false,
        };
        idle.then_some(self.since)
    }

    /// Since when a head is being read. Nothing shows yet that its client may use the server.
    pub(super) fn head_since(&self) -> Option<Instant> {
        if matches!(self.state, State::Reading) && !self.reader.is_reading_body() { self.reader.begun() } else { None }
    }

    /// Whether the client has received something that was not read yet.
    pub(super) fn has_unread_request(&self) -> bool {
        matches!(self.state, State::Reading) && self.wire.has_input()
    }

    /// When it has been waited for long enough.
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

    /// It has been waited for long enough. Whether the connection goes on, be it to say so.
    pub(super) fn expire(&mut self) -> bool {
        match self.state {
            State::Busy(_) => self.cancel(),
            State::Reading if self.reader.begun().is_some() => self.refuse(&Answer::failure(
                StatusCode::REQUEST_TIMEOUT,
                "TIMEOUT",
                "the request did not arrive in time; send its head, and then its body, within 10 seconds",
            )),
            _ => return false,
        }
        true
    }
}
