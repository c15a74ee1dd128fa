//! The reading role: its holder reads the stream, completes calls and dispatches events.
//!
//! The role is the lock on [`Reading`]. The reader thread takes it when the stream is readable and the role is free. A
//! caller that waits for its answer takes over the free role and reads the stream itself, so that a round trip on a
//! quiet connection wakes one thread instead of two. It spins briefly first, since waking a sleeping thread takes
//! longer than most answers. At most one thread holds the role, so at most one spins.
//!
//! # Locking
//! `Reading` is held while reading, which is its purpose; no thread waits for it, all use `try_lock`. While it is held,
//! the locks of `Pending`, `Slot`, `Subscribers` and the writer's queue are taken one at a time, each for a map or
//! queue operation.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Deserialize;

use super::connection::{Framing, Inner};
use super::covered::Covered;
use super::envelope::{self, Envelope};
use super::error::{CloseReason, Error, GoneReason};
use super::event::Event;
use super::oversized::{Oversized, SkippedMessage};
use super::pending::{Body, Entry, Outcome, Parked, Slot};
use super::pipe;
use super::poller::Poller;
use super::writer::SendError;
use super::ws::{self, Incoming};
use crate::sync::{Deadline, fault_point, on_panic};
use crate::text::replace_lone_surrogates;

/// Bytes read at a time.
const READ_CHUNK: usize = 128 * 1024;
/// Number of messages (and reads) handled before the reader checks its close signal.
const MESSAGES_PER_TURN: usize = 256;
/// Number of messages (and reads) that a caller handles after its own answer has arrived, and before it checks its
/// deadline again.
const MAX_EXTRA_MESSAGES: usize = 32;

/// Splits the stream into messages.
#[derive(Debug)]
pub(super) enum Decoder {
    Ws(Box<ws::Decoder>),
    #[cfg_attr(not(unix), allow(dead_code, reason = "pipes of browsers are inherited descriptors"))]
    Pipe(pipe::Decoder),
}

impl Decoder {
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        match self {
            Self::Ws(decoder) => decoder.next(input),
            Self::Pipe(decoder) => decoder.next(input),
        }
    }

    /// Frames that answer received ones.
    fn take_output(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Ws(decoder) => decoder.take_output(),
            Self::Pipe(_) => None,
        }
    }
}

/// State of the holder of the reading role.
#[derive(Debug)]
pub(super) struct Reading {
    decoder: Decoder,
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    /// Whether the last read did not fill the buffer, so that no more data was available.
    drained: bool,
    /// Why reading has ended.
    ended: Option<CloseReason>,
}

/// Pings sent by the reader thread.
#[derive(Default)]
struct Pings {
    /// Value of [`Inner::last_read`] when the first unanswered ping was sent.
    last_read: u64,
    unanswered: u32,
    last: Option<Instant>,
}

/// Result of a turn of reading.
enum TurnEnd {
    /// No more data is available.
    Dry,
    /// The limit of the turn was reached.
    More,
    /// The connection ended.
    Ended(CloseReason),
}

impl Reading {
    pub(super) fn new(decoder: Decoder, early: &[u8]) -> Self {
        let mut chunk = vec![0; READ_CHUNK.max(early.len())].into_boxed_slice();
        chunk[..early.len()].copy_from_slice(early);
        Self { decoder, chunk, start: 0, end: early.len(), drained: false, ended: None }
    }

    /// Whether bytes were read but not decoded yet.
    fn unhandled(&self) -> bool {
        self.start < self.end
    }

    /// Reads and handles messages. Nothing is read after the end: data after a broken frame must not be interpreted as
    /// messages, and the first reason is kept.
    fn pump(&mut self, inner: &Inner, turn: usize) -> TurnEnd {
        if self.ended.is_none() {
            match self.pump_on(inner, turn) {
                TurnEnd::Ended(reason) => self.ended = Some(reason),
                other => return other,
            }
        }
        self.ended.clone().map_or(TurnEnd::Dry, TurnEnd::Ended)
    }

    fn pump_on(&mut self, inner: &Inner, turn: usize) -> TurnEnd {
        let mut handled = 0;
        loop {
            while self.start < self.end {
                if handled >= turn {
                    return TurnEnd::More;
                }
                let mut input = &self.chunk[self.start..self.end];
                let next = self.decoder.next(&mut input);
                self.start = self.end - input.len();
                match next {
                    Ok(Some(incoming)) => {
                        handled += 1;
                        if let Some(frames) = self.decoder.take_output()
                            && let Err(reason) = inner.control(frames)
                        {
                            return TurnEnd::Ended(reason);
                        }
                        if let Err(reason) = inner.take(incoming) {
                            return TurnEnd::Ended(reason);
                        }
                    }
                    Ok(None) => {}
                    Err(reason) => return TurnEnd::Ended(reason),
                }
            }
            if std::mem::take(&mut self.drained) {
                return TurnEnd::Dry;
            }
            match inner.stream.read(&mut self.chunk) {
                Ok(0) => return TurnEnd::Ended(CloseReason::Remote { code: None }),
                Ok(n) => {
                    handled += 1; // a message may arrive in an unlimited number of pieces
                    (self.start, self.end) = (0, n);
                    self.drained = n < self.chunk.len();
                    inner.mark_read();
                    // An empty frame flushes the output of the stream.
                    if inner.stream.has_output()
                        && let Err(reason) = inner.control(Vec::new())
                    {
                        return TurnEnd::Ended(reason);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return TurnEnd::Dry,
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => {
                    return TurnEnd::Ended(CloseReason::Remote { code: None });
                }
                Err(e) => return TurnEnd::Ended(CloseReason::Io(e.kind().to_string())),
            }
        }
    }
}

impl Inner {
    /// The reader thread.
    pub(super) fn read_loop(&self) {
        let _guard = on_panic(|| self.end(CloseReason::Panicked));
        let mut busy = true; // bytes received with the handshake
        let mut pings = Pings::default();
        while !self.is_closed() {
            let limit = if busy { Duration::ZERO } else { self.keepalive.unwrap_or(Duration::from_secs(3600)) };
            let ready = match self.poller.wait(&self.stream, limit) {
                Ok(ready) => ready,
                Err(e) => return self.end(CloseReason::Io(e.kind().to_string())),
            };
            if ready.write
                && let Err(e) = self.writer.resume(&self.poller)
            {
                return self.end(CloseReason::Io(e.kind().to_string()));
            }
            busy |= self.handed_over.swap(false, Ordering::AcqRel);
            fault_point(format_args!("cdp-read"));
            if busy || ready.read {
                busy = false;
                // Another holder of the role arms the poller when it leaves.
                let pumped = self.reading.try_lock().map(|mut reading| reading.pump(self, MESSAGES_PER_TURN));
                match pumped {
                    None => {}
                    Some(TurnEnd::Dry) => self.poller.arm(&self.stream),
                    Some(TurnEnd::More) => busy = true,
                    Some(TurnEnd::Ended(reason)) => return self.end(reason),
                }
            } else if !ready.write
                && let Err(reason) = self.keep_alive(&mut pings)
            {
                return self.end(reason);
            }
        }
    }

    /// Called after an interval of silence: sends a ping, or ends the connection an interval after the second
    /// unanswered ping. Elapsed time alone is no proof: this process may have been suspended without sending a ping.
    fn keep_alive(&self, pings: &mut Pings) -> Result<(), CloseReason> {
        let (Some(interval), Framing::Ws) = (self.keepalive, self.framing) else { return Ok(()) };
        let last_read = self.last_read.load(Ordering::Relaxed);
        if pings.last_read != last_read {
            *pings = Pings { last_read, ..Pings::default() };
        }
        // The thread also wakes for other reasons; half an interval, since a wait may end slightly early.
        let just_pinged = pings.last.is_some_and(|last| last.elapsed() < interval / 2);
        if self.silence() < interval || just_pinged {
            return Ok(());
        }
        if pings.unanswered == 2 {
            return Err(CloseReason::Silent);
        }
        pings.unanswered += 1;
        pings.last = Some(Instant::now());
        self.control(ws::ping())
    }

    /// Waits for the outcome of a call, reading the stream itself when no other thread does.
    pub(super) fn await_slot(&self, slot: &Slot, sent: Instant, deadline: Deadline<'_>) -> Option<Outcome> {
        if let Some(outcome) = slot.take() {
            return Some(outcome);
        }
        if Poller::CAN_LEAD
            && !deadline.passed()
            && let Some(mut reading) = self.reading.try_lock()
        {
            // Otherwise the reader thread would not be armed again, and reading would stop.
            let _guard = on_panic(|| self.end(CloseReason::Panicked));
            self.poller.disarm(&self.stream);
            let end = if slot.set_leading(true) { self.lead(&mut reading, slot, sent, deadline) } else { None };
            slot.set_leading(false);
            // Even if this caller did not read: the reader thread may just have been turned away with data that the
            // previous caller left.
            let unhandled = reading.unhandled();
            // The order matters. The event is one-shot: if armed under the lock, the reader thread could wake, find the
            // lock taken and sleep forever. If armed after it, the worst case is one unneeded wake-up while the next
            // caller leads; every caller arms it again.
            drop(reading);
            self.poller.arm(&self.stream);
            match end {
                Some(TurnEnd::Ended(reason)) => self.end(reason),
                _ if unhandled => {
                    self.handed_over.store(true, Ordering::Release);
                    self.poller.wake();
                }
                _ => {}
            }
            if let Some(outcome) = slot.take() {
                return Some(outcome);
            }
        }
        match slot.park(deadline) {
            Parked::Done(outcome) => Some(outcome),
            Parked::TimedOut => None,
        }
    }

    /// Reads until the outcome arrives. Returns what is left for the reader thread, if anything.
    fn lead(&self, reading: &mut Reading, slot: &Slot, sent: Instant, deadline: Deadline<'_>) -> Option<TurnEnd> {
        fault_point(format_args!("cdp-lead"));
        let in_flight = self.pending.in_flight();
        let budget = self.spin.budget(in_flight);
        let mut spin_until = budget.map(|budget| sent + budget);
        // The answer to a single call cannot have arrived yet, so a caller that does not spin waits before the first
        // read.
        if in_flight <= 1
            && budget.is_none()
            && !reading.unhandled()
            && let Err(e) = self.wait_leading(deadline)
        {
            return Some(TurnEnd::Ended(CloseReason::Io(e.kind().to_string())));
        }
        loop {
            match reading.pump(self, MAX_EXTRA_MESSAGES) {
                TurnEnd::Ended(reason) => return Some(TurnEnd::Ended(reason)),
                TurnEnd::More if slot.is_done() || deadline.passed() => return Some(TurnEnd::More),
                TurnEnd::More => continue,
                TurnEnd::Dry => {}
            }
            if slot.is_done() {
                if in_flight <= 1 {
                    self.spin.answered(budget.is_some(), sent.elapsed());
                }
                return None;
            }
            if self.is_closed() {
                return None;
            }
            match spin_until {
                // Another runnable thread of this processor may be the browser.
                Some(until) if Instant::now() < until => std::thread::yield_now(),
                _ => {
                    spin_until = None;
                    if deadline.passed() {
                        return None;
                    }
                    if let Err(e) = self.wait_leading(deadline) {
                        return Some(TurnEnd::Ended(CloseReason::Io(e.kind().to_string())));
                    }
                }
            }
        }
    }

    #[cfg(unix)]
    fn wait_leading(&self, deadline: Deadline<'_>) -> io::Result<()> {
        self.stream.wait_readable(&self.lead_wake, deadline)
    }

    #[cfg(not(unix))]
    fn wait_leading(&self, _deadline: Deadline<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Handles one message.
    fn take(&self, incoming: Incoming) -> Result<(), CloseReason> {
        match incoming {
            Incoming::Message(message) => self.dispatch(&message),
            Incoming::Oversized(skipped) => self.skipped(&skipped),
            Incoming::Ping(_) | Incoming::Pong => {}
            Incoming::Close(code) => return Err(CloseReason::Remote { code }),
        }
        Ok(())
    }

    /// Sends a control frame; drops it if the peer does not read.
    fn control(&self, frame: Vec<u8>) -> Result<(), CloseReason> {
        match self.writer.post(frame, &self.poller) {
            Err(SendError::Io(e)) => Err(CloseReason::Io(e.kind().to_string())),
            Ok(()) | Err(SendError::Timeout | SendError::Closed) => Ok(()),
        }
    }

    fn dispatch(&self, message: &Bytes) {
        // Strings from pages may contain lone surrogates, which Rust strings cannot represent.
        let replaced = match replace_lone_surrogates(message) {
            Cow::Borrowed(_) => None,
            Cow::Owned(replaced) => Some(Bytes::from(replaced)),
        };
        let message = replaced.as_ref().unwrap_or(message);
        let Some(envelope) = envelope::scan(message) else {
            self.garbage.fetch_add(1, Ordering::Relaxed);
            return;
        };
        match (envelope.id, &envelope.method) {
            (Some(id), None) => {
                // The dispatching thread holds the reading role, so no leading caller has to be woken.
                let _ = self.pending.complete(id, |entry| outcome(entry, message, &envelope, &self.covered));
            }
            (None, Some(method)) => self.event(message, method, &envelope),
            _ => {
                self.garbage.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Handles an oversized message: its call fails; subscribers of its event receive the leading parameters.
    fn skipped(&self, skipped: &Oversized) {
        let (bytes, limit) = (skipped.bytes(), skipped.limit());
        match skipped.about() {
            Some(SkippedMessage::Answer(id)) => {
                tracing::warn!(bytes, limit, "a response exceeds the size limit; its call fails");
                let _ = self
                    .pending
                    .complete(id, |entry| Err(Error::AnswerTooLarge { method: entry.method.clone(), bytes, limit }));
            }
            Some(SkippedMessage::Event { method, session, params }) => {
                tracing::warn!(%method, bytes, limit, "an event exceeds the size limit; most of it is skipped");
                let number = self.pending.events.fetch_add(1, Ordering::Relaxed) + 1;
                let cut = || Event::cut(params, &method, session.as_deref().map(Arc::from), number, (bytes, limit));
                self.subscribers.offer(&method, session.as_deref(), cut);
            }
            None => {
                self.garbage.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn event(&self, message: &Bytes, method: &str, envelope: &Envelope<'_>) {
        let number = self.pending.events.fetch_add(1, Ordering::Relaxed) + 1;
        let session = envelope.session.as_deref();
        let params = envelope.params.clone().map_or(&b"{}"[..], |range| &message[range]);
        match method {
            "Target.attachedToTarget" => {
                if let Some(child) = session_of(params) {
                    self.pending.attached(&child, session.map(Arc::from).as_ref());
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(child) = session_of(params) {
                    self.pending.detached(&child);
                }
            }
            "Inspector.detached" => {
                if let Some(session) = session {
                    self.pending.detached(session);
                }
            }
            "Inspector.targetCrashed" => {
                if let Some(session) = session {
                    self.pending.crashed(&Arc::from(session));
                }
            }
            "Inspector.targetReloadedAfterCrash" => {
                if let Some(session) = session {
                    self.pending.reloaded(session);
                }
            }
            _ => {}
        }
        self.subscribers.offer(method, session, || {
            Event::new(message, method, session.map(Arc::from), envelope.params.clone(), number)
        });
    }
}

fn session_of(params: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: String,
    }
    serde_json::from_slice::<Params>(params).ok().map(|p| p.session_id)
}

fn outcome(entry: &Entry, message: &Bytes, envelope: &Envelope<'_>, covered: &Covered) -> Outcome {
    if let Some(range) = envelope.error.clone() {
        return Err(refusal(entry, &message[range], covered));
    }
    let range = envelope.result.clone().unwrap_or(0..0);
    Ok(Body { message: message.clone(), range })
}

/// <https://www.jsonrpc.org/specification#error_object>
fn refusal(entry: &Entry, error: &[u8], covered: &Covered) -> Error {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Object<'a> {
        code: i64,
        #[serde(borrow)]
        message: Cow<'a, str>,
        data: Option<serde_json::Value>,
    }
    let object: Object<'_> = serde_json::from_slice(error)
        .unwrap_or_else(|_| Object { message: String::from_utf8_lossy(error), ..Object::default() });
    let method = entry.method.clone();
    const SESSION_NOT_FOUND: i64 = -32001;
    if object.code == SESSION_NOT_FOUND && entry.session.is_some() {
        return Error::SessionGone { method, reason: GoneReason::Unknown };
    }
    Error::Protocol {
        method,
        code: object.code,
        message: covered.cover(object.message.into_owned()),
        data: object.data.map(|data| match data {
            serde_json::Value::String(text) => covered.cover(text),
            other => covered.cover(other.to_string()),
        }),
    }
}
