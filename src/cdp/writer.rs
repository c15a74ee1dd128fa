//! The write path, shared by all callers of a connection without a thread of its own.
//!
//! A caller writes its frame itself when no other thread is writing; otherwise it leaves the frame in a
//! bounded queue for the writing thread. What the system does not take within a caller's
//! deadline stays queued and is written by the reader thread when there is room again.
//!
//! # Locking
//! One lock, held for queue operations only, never while writing. The right to write is the flag
//! `writing`; it has one holder at a time.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::poller::Poller;
use super::stream::Stream;
use crate::sync::{Cancel, Deadline};

/// Greatest number of frames waiting behind the one being written.
const MAX_FRAMES: usize = 1024;
/// Greatest sum of their sizes in bytes; one larger frame may wait alone.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Frames are joined to one write up to this size.
const JOIN: usize = 64 * 1024;

/// Why a frame was not handed to the system.
#[derive(Debug)]
pub(super) enum SendError {
    /// The peer did not read in time.
    Timeout,
    /// The connection has ended.
    Closed,
    /// Writing failed; the connection is of no use any more.
    Io(io::Error),
}

#[derive(Debug, Default)]
struct Queue {
    /// The rest of what was being written, sealed already.
    rest: Vec<u8>,
    frames: VecDeque<Vec<u8>>,
    /// Size of all of it.
    bytes: usize,
    writing: bool,
    closed: bool,
}

impl Queue {
    fn push(&mut self, frame: Vec<u8>) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
    }

    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.frames.is_empty()
    }

    /// What goes out next: the rest of what was begun, or the next frames, joined while they are small.
    fn pop(&mut self) -> Option<Batch> {
        if !self.rest.is_empty() {
            self.bytes = self.bytes.saturating_sub(self.rest.len());
            return Some(Batch::Sealed(std::mem::take(&mut self.rest)));
        }
        let mut batch = self.frames.pop_front()?;
        while let Some(next) = self.frames.front()
            && batch.len() + next.len() <= JOIN
        {
            batch.extend_from_slice(next);
            self.frames.pop_front();
        }
        self.bytes = self.bytes.saturating_sub(batch.len());
        Some(Batch::Frames(batch))
    }

    fn full(&self) -> bool {
        self.frames.len() >= MAX_FRAMES || self.bytes >= MAX_BYTES
    }
}

/// Bytes to write.
enum Batch {
    Frames(Vec<u8>),
    Sealed(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Writer {
    stream: Arc<Stream>,
    queue: Mutex<Queue>,
    room: Condvar,
}

/// How far a write came.
enum Wrote {
    All,
    /// Up to here; the system takes no more now.
    Part(usize),
}

impl Writer {
    pub(super) fn new(stream: Arc<Stream>) -> Self {
        Self { stream, queue: Mutex::default(), room: Condvar::new() }
    }

    /// Sends a frame, or queues it for the writing thread.
    pub(super) fn send(&self, frame: Vec<u8>, poller: &Poller, deadline: Deadline) -> Result<(), SendError> {
        {
            let mut queue = self.queue.lock();
            while !queue.closed && (queue.writing || !queue.is_empty()) && queue.full() {
                let timed_out = self.room.wait_until(&mut queue, Cancel::until(deadline).instant()).timed_out();
                if timed_out && deadline.passed() {
                    return Err(SendError::Timeout);
                }
            }
            if queue.closed {
                return Err(SendError::Closed);
            }
            if queue.writing || !queue.is_empty() {
                queue.push(frame);
                return Ok(());
            }
            queue.writing = true;
        }
        let frame = self.seal(frame).map_err(SendError::Io)?;
        match self.write(&frame, Some(deadline)) {
            Ok(Wrote::All) => self.drain(poller, Some(deadline)).map_err(SendError::Io),
            Ok(Wrote::Part(0)) if !self.stream.is_sealed() => {
                // Not a byte is out: the frame can be dropped, the queue cannot.
                self.drain(poller, None).map_err(SendError::Io)?;
                Err(SendError::Timeout)
            }
            Ok(Wrote::Part(done)) => {
                self.leave(frame[done..].to_vec(), poller);
                Err(SendError::Timeout)
            }
            Err(error) => {
                self.queue.lock().writing = false;
                Err(SendError::Io(error))
            }
        }
    }

    /// Sends a frame without ever waiting: for the reader's pongs and for owners that process events.
    /// What the system does not take is finished by the reader thread.
    pub(super) fn post(&self, frame: Vec<u8>, poller: &Poller) -> Result<(), SendError> {
        {
            let mut queue = self.queue.lock();
            if queue.closed {
                return Err(SendError::Closed);
            }
            if queue.full() {
                return Err(SendError::Timeout);
            }
            let idle = !queue.writing && queue.is_empty();
            queue.push(frame);
            if !idle {
                return Ok(());
            }
            queue.writing = true;
        }
        self.drain(poller, None).map_err(SendError::Io)
    }

    /// Goes on with what is queued, without waiting: the socket has become writable.
    pub(super) fn resume(&self, poller: &Poller) -> io::Result<()> {
        {
            let mut queue = self.queue.lock();
            if queue.writing || queue.is_empty() {
                return Ok(());
            }
            queue.writing = true;
        }
        self.drain(poller, None)
    }

    /// Ends the path: queued frames are dropped, waiting senders fail.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.rest.clear();
        queue.frames.clear();
        queue.bytes = 0;
        drop(queue);
        self.room.notify_all();
    }

    /// Writes the queue until it is empty; the right to write ends with it.
    fn drain(&self, poller: &Poller, deadline: Option<Deadline>) -> io::Result<()> {
        loop {
            let batch = {
                let mut queue = self.queue.lock();
                let Some(batch) = queue.pop() else {
                    queue.writing = false;
                    return Ok(());
                };
                batch
            };
            self.room.notify_all();
            let batch = match batch {
                Batch::Sealed(bytes) => bytes,
                Batch::Frames(bytes) => self.seal(bytes)?,
            };
            match self.write(&batch, deadline) {
                Ok(Wrote::All) => {}
                Ok(Wrote::Part(done)) => {
                    let rest = if done == 0 { batch } else { batch[done..].to_vec() };
                    self.leave(rest, poller);
                    return Ok(());
                }
                Err(error) => {
                    self.queue.lock().writing = false;
                    return Err(error);
                }
            }
        }
    }

    /// Makes of frames what goes over the wire. On failure the right to write ends.
    fn seal(&self, frames: Vec<u8>) -> io::Result<Vec<u8>> {
        self.stream.seal(frames).inspect_err(|_| self.queue.lock().writing = false)
    }

    /// Leaves the rest of what is being written for the reader thread to finish.
    fn leave(&self, rest: Vec<u8>, poller: &Poller) {
        let mut queue = self.queue.lock();
        if !queue.closed {
            queue.bytes += rest.len();
            queue.rest = rest;
        }
        queue.writing = false;
        drop(queue);
        poller.arm_write(&self.stream);
    }

    fn write(&self, bytes: &[u8], deadline: Option<Deadline>) -> io::Result<Wrote> {
        let mut done = 0;
        while done < bytes.len() {
            match self.stream.write(&bytes[done..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => match deadline {
                    Some(deadline) if !deadline.passed() => {
                        if self.queue.lock().closed {
                            return Err(io::ErrorKind::BrokenPipe.into());
                        }
                        self.stream.wait_writable(deadline)?;
                    }
                    _ => return Ok(Wrote::Part(done)),
                },
                Err(e) => return Err(e),
            }
        }
        Ok(Wrote::All)
    }
}
