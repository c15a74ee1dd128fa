//! A socket read by one thread and written by another.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;

use mio::net::TcpStream;
use parking_lot::{Condvar, Mutex};

use cdpilot::sync::Deadline;

/// A non-blocking socket. `http-in` polls and reads it; workers write to it.
#[derive(Debug)]
pub(super) struct Wire {
    socket: TcpStream,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The socket may be writable again.
    writable: bool,
    /// The connection was abandoned.
    dead: bool,
}

impl Wire {
    pub(super) fn new(socket: TcpStream) -> Self {
        Self { socket, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Reads available bytes. `None` if there are none, `Some(0)` at the end.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        retry(|| (&self.socket).read(buffer))
    }

    /// Writes as much as the socket accepts. `None` if it accepts nothing.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match retry(|| (&self.socket).write(bytes))? {
            Some(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            wrote => Ok(wrote),
        }
    }

    /// Writes from `at` on as much as the socket accepts. Returns whether everything was written.
    pub(super) fn write_from(&self, bytes: &[u8], at: &mut usize) -> io::Result<bool> {
        while let Some(rest) = bytes.get(*at..).filter(|rest| !rest.is_empty()) {
            match self.write(rest)? {
                Some(wrote) => *at += wrote,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Resets the writable flag before a write.
    pub(super) fn forget_writable(&self) {
        self.state.lock().writable = false;
    }

    /// Waits until the socket may be writable or the deadline passes. Fails if the connection was abandoned.
    pub(super) fn wait_writable(&self, deadline: Deadline<'_>) -> io::Result<()> {
        let mut state = self.state.lock();
        while !state.writable && !state.dead {
            if self.changed.wait_until(&mut state, deadline.instant()).timed_out() {
                break;
            }
        }
        if state.dead { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// Signals that the socket may be writable.
    pub(super) fn tell_writable(&self) {
        self.state.lock().writable = true;
        self.changed.notify_all();
    }

    /// Abandons the connection: wakes a waiting writer with an error and closes the socket.
    pub(super) fn abandon(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        self.state.lock().dead = true;
        self.changed.notify_all();
    }

    /// Whether the connection was abandoned.
    pub(super) fn is_abandoned(&self) -> bool {
        self.state.lock().dead
    }

    /// Closes the sending side after the data already written.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }

    /// Whether there is data to read, or the end of it.
    pub(super) fn has_input(&self) -> bool {
        !matches!(self.socket.peek(&mut [0]), Err(problem) if problem.kind() == io::ErrorKind::WouldBlock)
    }
}

impl mio::event::Source for Wire {
    fn register(&mut self, registry: &mio::Registry, token: mio::Token, interests: mio::Interest) -> io::Result<()> {
        self.socket.register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &mio::Registry, token: mio::Token, interests: mio::Interest) -> io::Result<()> {
        self.socket.reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &mio::Registry) -> io::Result<()> {
        self.socket.deregister(registry)
    }
}

/// Repeats a call interrupted by signals; `None` if it would block.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match call() {
            Ok(count) => return Ok(Some(count)),
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(problem) => return Err(problem),
        }
    }
}
