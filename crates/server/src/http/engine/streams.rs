//! Event streams, one thread each.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mio::Token;
use parking_lot::Mutex;

use super::answer::{Answer, EventSource, Next};
use super::encode;
use super::shared::{Outcome, Phase, Shared};
use super::wire::Wire;
use cdpilot::sync::{Cancel, Deadline, Thread, spawn};

/// How long to wait for a source before checking the client.
const SLICE: Duration = Duration::from_millis(250);

/// An event stream to send.
pub(super) struct Stream {
    pub(super) token: Token,
    pub(super) wire: Arc<Wire>,
    pub(super) cancel: Cancel,
    pub(super) source: Box<dyn EventSource>,
    /// The head of the answer.
    pub(super) start: Vec<u8>,
}

/// The streams of a server.
#[derive(Debug, Default)]
pub(super) struct Streams {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    threads: Vec<Option<Thread>>,
    /// Streams that requests in progress may still start.
    reserved: usize,
}

/// The right to start a stream.
#[derive(Debug)]
pub(super) struct Reservation<'s>(&'s Streams);

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.0.slots.lock().reserved -= 1;
    }
}

fn busy(most: usize) -> Answer {
    Answer::busy(format_args!("the limit of {most} event streams is reached; close one"))
}

impl Streams {
    /// Reserves a stream before a request is handled. Returns a refusal if there are too many.
    pub(super) fn reserve(&self, most: usize) -> Result<Reservation<'_>, Answer> {
        let mut slots = self.slots.lock();
        if slots.running() + slots.reserved >= most {
            return Err(busy(most));
        }
        slots.reserved += 1;
        Ok(Reservation(self))
    }

    /// Sends a stream on its own thread. Returns a refusal if there are too many, unless it was reserved.
    pub(super) fn start(
        &self,
        stream: Stream,
        reservation: Option<Reservation<'_>>,
        shared: &Arc<Shared>,
    ) -> Result<(), Answer> {
        let most = shared.limits.streams;
        let mut slots = self.slots.lock();
        let is_full = reservation.is_none() && slots.running() + slots.reserved >= most;
        if is_full || shared.phase() > Phase::Serving {
            drop(slots);
            return Err(busy(most));
        }
        let free = slots.threads.iter().position(|slot| slot.as_ref().is_none_or(Thread::is_finished));
        let at = free.unwrap_or(slots.threads.len());
        let counted = shared.count_thread();
        let known = Arc::clone(shared);
        let thread = spawn(format!("http-sse-{at}"), move || {
            let _counted = counted;
            run(stream, &known);
        });
        let Ok(thread) = thread else {
            drop(slots);
            return Err(busy(most));
        };
        if at == slots.threads.len() {
            slots.threads.push(None);
        }
        slots.threads[at] = Some(thread);
        // Outside the lock: a reservation takes it when it is dropped.
        drop(slots);
        drop(reservation);
        Ok(())
    }

    /// Takes the threads, to be joined.
    pub(super) fn threads(&self) -> Vec<Thread> {
        self.slots.lock().threads.drain(..).flatten().collect()
    }
}

impl Slots {
    fn running(&self) -> usize {
        self.threads.iter().flatten().filter(|thread| !thread.is_finished()).count()
    }
}

fn run(stream: Stream, shared: &Shared) {
    let Stream { token, wire, cancel, mut source, start } = stream;
    let line = Line { wire: &wire, cancel: &cancel, shared };
    let sent = catch_unwind(AssertUnwindSafe(|| send(&line, &start, &mut *source)));
    // Drop the source before the connection is returned.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(source)));
    let outcome = match (sent, dropped) {
        (Ok(Ok(())), Ok(())) => Outcome::Answered { bytes: Vec::new(), at: 0, keep: false },
        _ => Outcome::Broken,
    };
    shared.give_back(token, outcome);
}

fn send(line: &Line<'_>, start: &[u8], source: &mut dyn EventSource) -> io::Result<()> {
    line.write(start)?;
    let every = line.shared.limits.comment_every;
    let mut comment = Deadline::after(every);
    while line.is_wanted() {
        match source.next(comment.within(SLICE).cancelled_by(line.cancel)) {
            Next::Event(event) => line.write(&encode::event(&event))?,
            Next::Nothing if comment.passed() => line.write(encode::COMMENT)?,
            Next::Nothing => continue,
            Next::End => break,
        }
        comment = Deadline::after(every);
    }
    Ok(())
}

/// The output of a stream.
struct Line<'a> {
    wire: &'a Wire,
    cancel: &'a Cancel,
    shared: &'a Shared,
}

impl Line<'_> {
    /// Whether the client is connected and the server is running.
    fn is_wanted(&self) -> bool {
        !self.cancel.is_set() && !self.wire.is_abandoned() && self.shared.phase() == Phase::Serving
    }

    /// Writes all bytes, as long as the client keeps accepting some.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut at = 0;
        let mut write_deadline = Deadline::after(self.shared.limits.writing);
        loop {
            self.wire.forget_writable();
            let before = at;
            if self.wire.write_from(bytes, &mut at)? {
                return Ok(());
            }
            if at > before {
                write_deadline = Deadline::after(self.shared.limits.writing);
            }
            if write_deadline.passed() || !self.is_wanted() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.wire.wait_writable(write_deadline.within(SLICE))?;
        }
    }
}
