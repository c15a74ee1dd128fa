//! The reading role: whoever holds it reads the stream, completes calls and hands events on.
//!
//! The role is the lock on [`Reading`]. The reader thread takes it when the stream is readable and
//! nobody else has it. A caller that waits for its answer takes it over if it is free: it reads the
//! stream itself, so that a quiet round trip wakes one thread, not two, and it spins for a moment
//! first, since waking a sleeping thread costs more than the browser needs for most answers. At most
//! one thread holds the role, so at most one spins.
//!
//! # Locking
//! `Reading` is held while reading (that is its meaning); nobody waits for it, everybody uses
//! `try_lock`. Under it the locks of `Pending`, `Slot`, `Subscribers` and the writer's queue are taken
//! one at a time, each for a map or queue operation.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Deserialize;

use super::connect::Latency;
use super::connection::{Framing, Inner};
use super::envelope::{self, Envelope};
use super::error::{CloseReason, Error, GoneReason};
use super::event::Event;
use super::pending::{Body, Entry, Outcome, Parked, Slot};
use super::pipe;
use super::poller::Poller;
use super::writer::SendError;
use super::ws::{self, Incoming};
use crate::sync::Deadline;

/// Bytes read at a time.
const CHUNK: usize = 128 * 1024;
/// Messages handled before the reader looks at its close signal again.
const TURN: usize = 256;
/// Messages a caller still handles for others once its own answer is there.
const COURTESY: usize = 32;

/// Cuts the stream into messages.
#[derive(Debug)]
pub(super) enum Decoder {
    Ws(ws::Decoder),
    Pipe(pipe::Decoder),
}

impl Decoder {
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        match self {
            Self::Ws(decoder) => decoder.next(input),
            Self::Pipe(decoder) => decoder.next(input),
        }
    }
}

/// What the holder of the reading role works on.
#[derive(Debug)]
pub(super) struct Reading {
    decoder: Decoder,
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    /// The last read did not fill the chunk, so there was no more at that moment.
    drained: bool,
}

/// How a turn of reading ended.
enum Pumped {
    /// Nothing more to read now.
    Dry,
    /// The turn was over first.
    More,
    /// The connection ended.
    Ended(CloseReason),
}

impl Reading {
    pub(super) fn new(decoder: Decoder, early: &[u8]) -> Self {
        let mut chunk = vec![0; CHUNK.max(early.len())].into_boxed_slice();
        chunk[..early.len()].copy_from_slice(early);
        Self { decoder, chunk, start: 0, end: early.len(), drained: false }
    }

    fn pump(&mut self, inner: &Inner, turn: usize) -> Pumped {
        let mut handled = 0;
        loop {
            while self.start < self.end {
                if handled >= turn {
                    return Pumped::More;
                }
                let mut input = &self.chunk[self.start..self.end];
                let next = self.decoder.next(&mut input);
                self.start = self.end - input.len();
                match next {
                    Ok(Some(incoming)) => {
                        handled += 1;
                        if let Err(reason) = inner.take(incoming) {
                            return Pumped::Ended(reason);
                        }
                    }
                    Ok(None) => {}
                    Err(reason) => return Pumped::Ended(reason),
                }
            }
            if std::mem::take(&mut self.drained) {
                return Pumped::Dry;
            }
            match inner.stream.read(&mut self.chunk) {
                Ok(0) => return Pumped::Ended(CloseReason::Remote { code: None }),
                Ok(n) => {
                    (self.start, self.end) = (0, n);
                    self.drained = n < self.chunk.len();
                    inner.heard();
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Pumped::Dry,
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => {
                    return Pumped::Ended(CloseReason::Remote { code: None });
                }
                Err(e) => return Pumped::Ended(CloseReason::Io(e.kind().to_string())),
            }
        }
    }
}

impl Inner {
    /// The reader thread.
    pub(super) fn read_loop(&self) {
        let mut busy = true; // bytes that came with the handshake
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
            if busy || ready.read {
                busy = false;
                // Whoever holds the role otherwise arms the poller on leaving.
                let pumped = self.reading.try_lock().map(|mut reading| reading.pump(self, TURN));
                match pumped {
                    None => {}
                    Some(Pumped::Dry) => self.poller.arm(&self.stream),
                    Some(Pumped::More) => busy = true,
                    Some(Pumped::Ended(reason)) => return self.end(reason),
                }
            } else if !ready.write
                && let Err(reason) = self.keep_alive()
            {
                return self.end(reason);
            }
        }
    }

    /// Called after a silent interval: a ping, or the end after three unanswered ones.
    fn keep_alive(&self) -> Result<(), CloseReason> {
        let (Some(interval), Framing::Ws) = (self.keepalive, self.framing) else { return Ok(()) };
        let silence = self.silence();
        if silence > interval * 3 {
            return Err(CloseReason::Silent);
        }
        if silence >= interval {
            self.control(ws::ping())?;
        }
        Ok(())
    }

    /// Waits for the outcome of a call, reading the stream itself when nobody else does.
    pub(super) fn await_slot(&self, slot: &Slot, sent: Instant, deadline: Deadline) -> Option<Outcome> {
        if let Some(outcome) = slot.take() {
            return Some(outcome);
        }
        if Poller::CAN_LEAD
            && !deadline.passed()
            && let Some(mut reading) = self.reading.try_lock()
        {
            self.poller.disarm(&self.stream);
            let end = if slot.set_leading(true) { self.lead(&mut reading, slot, sent, deadline) } else { None };
            slot.set_leading(false);
            // In this order. The interest is one-shot: armed under the lock, the reader thread could
            // wake, find the lock taken and sleep again for good. Armed behind it, the worst case is
            // one idle wake-up while the next caller leads; everybody who leaves arms.
            drop(reading);
            self.poller.arm(&self.stream);
            match end {
                None => {}
                Some(Pumped::Ended(reason)) => self.end(reason),
                Some(_) => {
                    self.handed_over.store(true, Ordering::Release);
                    self.poller.wake();
                }
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

    /// Reads until the outcome is there. Returns what the reader thread has to see to, if anything.
    fn lead(&self, reading: &mut Reading, slot: &Slot, sent: Instant, deadline: Deadline) -> Option<Pumped> {
        let mut spin_until = self.spin_budget().map(|budget| sent + budget);
        loop {
            match reading.pump(self, COURTESY) {
                Pumped::Ended(reason) => return Some(Pumped::Ended(reason)),
                Pumped::More if slot.is_done() || deadline.passed() => return Some(Pumped::More),
                Pumped::More => continue,
                Pumped::Dry => {}
            }
            if slot.is_done() {
                self.answered(sent.elapsed());
                return None;
            }
            if self.is_closed() {
                return None;
            }
            match spin_until {
                Some(until) if Instant::now() < until => std::hint::spin_loop(),
                _ => {
                    spin_until = None;
                    if deadline.passed() {
                        return None;
                    }
                    if let Err(e) = self.wait_leading(deadline) {
                        return Some(Pumped::Ended(CloseReason::Io(e.kind().to_string())));
                    }
                }
            }
        }
    }

    #[cfg(unix)]
    fn wait_leading(&self, deadline: Deadline) -> io::Result<()> {
        self.stream.wait_readable(&self.lead_wake, deadline)
    }

    #[cfg(not(unix))]
    fn wait_leading(&self, _deadline: Deadline) -> io::Result<()> {
        Ok(())
    }

    /// How long after sending to spin, if at all. Only for a call that is under way alone: with more
    /// in flight the processor is better left to the browser.
    fn spin_budget(&self) -> Option<Duration> {
        if !self.may_spin || self.pending.in_flight() > 1 {
            return None;
        }
        let usual = self.usual_answer.load(Ordering::Relaxed);
        let micros = match self.latency {
            Latency::Quiet => return None,
            Latency::Balanced if usual > SPIN_BALANCED => return None,
            Latency::Balanced => (usual * 2 + 20).min(SPIN_BALANCED),
            Latency::Low => SPIN_LOW,
        };
        Some(Duration::from_micros(u64::from(micros)))
    }

    /// Keeps a moving average of how long answers take, in microseconds.
    fn answered(&self, after: Duration) {
        let now = u32::try_from(after.as_micros()).unwrap_or(u32::MAX).min(100_000);
        let usual = self.usual_answer.load(Ordering::Relaxed);
        self.usual_answer.store((usual * 7 + now) / 8, Ordering::Relaxed);
    }

    /// Deals with one message.
    fn take(&self, incoming: Incoming) -> Result<(), CloseReason> {
        match incoming {
            Incoming::Message(message) => self.dispatch(&message),
            Incoming::Ping(payload) => self.control(ws::pong(&payload))?,
            Incoming::Pong => {}
            Incoming::Close(code) => {
                let _ = self.writer.post(ws::close(), &self.poller);
                return Err(CloseReason::Remote { code });
            }
        }
        Ok(())
    }

    /// Sends a control frame. When the peer does not read, it goes without.
    fn control(&self, frame: Vec<u8>) -> Result<(), CloseReason> {
        match self.writer.post(frame, &self.poller) {
            Err(SendError::Io(e)) => Err(CloseReason::Io(e.kind().to_string())),
            Ok(()) | Err(SendError::Timeout | SendError::Closed) => Ok(()),
        }
    }

    fn dispatch(&self, message: &Bytes) {
        let Some(envelope) = envelope::scan(message) else {
            self.garbage.fetch_add(1, Ordering::Relaxed);
            return;
        };
        match (envelope.id, &envelope.method) {
            (Some(id), None) => {
                // Whoever dispatches holds the reading role, so no leading caller has to be woken.
                let _ = self.pending.complete(id, |entry| outcome(entry, message, &envelope));
            }
            (None, Some(method)) => self.event(message, method, &envelope),
            _ => {
                self.garbage.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn event(&self, message: &Bytes, method: &str, envelope: &Envelope<'_>) {
        self.events.fetch_add(1, Ordering::Relaxed);
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
            Event::new(message, method, session.map(Arc::from), envelope.params.clone())
        });
    }
}

/// Longest spin in `balanced`, in microseconds.
const SPIN_BALANCED: u32 = 400;
/// Longest spin in `low`, in microseconds.
const SPIN_LOW: u32 = 5_000;

fn session_of(params: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: String,
    }
    serde_json::from_slice::<Params>(params).ok().map(|p| p.session_id)
}

fn outcome(entry: &Entry, message: &Bytes, envelope: &Envelope<'_>) -> Outcome {
    if let Some(range) = envelope.error.clone() {
        return Err(refusal(entry, &message[range]));
    }
    let range = envelope.result.clone().unwrap_or(0..0);
    Ok(Body { message: message.clone(), range })
}

/// <https://www.jsonrpc.org/specification#error_object>
fn refusal(entry: &Entry, error: &[u8]) -> Error {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Object<'a> {
        code: i64,
        #[serde(borrow)]
        message: Cow<'a, str>,
        data: Option<serde_json::Value>,
    }
    let object: Object<'_> = serde_json::from_slice(error).unwrap_or_default();
    let method = entry.method.clone();
    const SESSION_NOT_FOUND: i64 = -32001;
    if object.code == SESSION_NOT_FOUND && entry.session.is_some() {
        return Error::SessionGone { method, reason: GoneReason::Unknown };
    }
    Error::Protocol {
        method,
        code: object.code,
        message: object.message.into_owned(),
        data: object.data.map(|data| match data {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }),
    }
}
