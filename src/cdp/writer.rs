//! The write path, shared by all callers of a connection without a dedicated thread.
//!
//! A caller writes its frame itself if no other thread is writing; otherwise it puts the frame into a bounded queue for
//! the writing thread. Data that the system does not accept within a caller's deadline stays queued and is written by
//! the reader thread when there is room again.
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
use crate::sync::Deadline;

/// Maximum number of queued frames.
const MAX_FRAMES: usize = 1024;
/// Maximum total size of queued frames in bytes; a single larger frame is allowed.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Frames are joined into one write up to this size, in bytes.
const JOIN: usize = 64 * 1024;

/// Why a frame was not sent.
#[derive(Debug)]
pub(super) enum SendError {
    /// The peer did not read in time.
    Timeout,
    /// The connection has ended.
    Closed,
    /// Writing failed; the connection cannot be used any more.
    Io(io::Error),
}

#[derive(Debug, Default)]
struct Queue {
    /// The sealed rest of the data being written.
    rest: Vec<u8>,
    frames: VecDeque<Vec<u8>>,
    /// Size of all queued data, in bytes.
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

    /// The next data to write: the unfinished rest, or the next frames, joined while they are small.
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

/// Progress of a write.
enum Wrote {
    All,
    /// Written up to this position; the system accepts no more now.
    Part(usize),
}

impl Writer {
    pub(super) fn new(stream: Arc<Stream>) -> Self {
        Self { stream, queue: Mutex::default(), room: Condvar::new() }
    }

    /// Sends a frame, or queues it for the writing thread.
    pub(super) fn send(&self, frame: Vec<u8>, poller: &Poller, deadline: Deadline<'_>) -> Result<(), SendError> {
        {
            let mut queue = self.queue.lock();
            while !queue.closed && (queue.writing || !queue.is_empty()) && queue.full() {
                let timed_out = self.room.wait_until(&mut queue, deadline.next_check()).timed_out();
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
                // Nothing of the frame was sent: it can be dropped, the queue cannot.
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

    /// Sends a frame without ever waiting: for the reader's pongs and for owners that process events. Data that the
    /// system does not accept is written later by the reader thread.
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

    /// Continues writing the queue, without waiting: the socket has become writable.
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

    /// Closes the path: queued frames are dropped, waiting senders fail.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.rest.clear();
        queue.frames.clear();
        queue.bytes = 0;
        drop(queue);
        self.room.notify_all();
    }

    /// Writes until the queue is empty; then gives up the right to write.
    fn drain(&self, poller: &Poller, deadline: Option<Deadline<'_>>) -> io::Result<()> {
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

    /// Encrypts frames if needed. A failure gives up the right to write.
    fn seal(&self, frames: Vec<u8>) -> io::Result<Vec<u8>> {
        self.stream.seal(frames).inspect_err(|_| self.queue.lock().writing = false)
    }

    /// Leaves the rest of the data to the reader thread.
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

    fn write(&self, bytes: &[u8], deadline: Option<Deadline<'_>>) -> io::Result<Wrote> {
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
