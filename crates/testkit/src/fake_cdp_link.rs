//! One connection of the fake browser: its writing half, shared by all threads that send, and a view of the socket for
//! tungstenite, whose own answers use the same half.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;

use super::fake_cdp_rules::{Action, Request};
use super::fake_cdp_wire::{self as wire, Frame};

pub struct Link {
    pub number: usize,
    out: Mutex<Out>,
    /// For ending it while another thread writes.
    end: End,
}

struct Out {
    way: Transport,
    /// While there is a buffer, output is collected in it.
    held: Option<Vec<u8>>,
}

enum Transport {
    Tcp(TcpStream),
    #[cfg(unix)]
    Pipe(Option<OwnedFd>),
}

enum End {
    Tcp(TcpStream),
    /// A pipe without data: closing its writing end wakes up waiting threads.
    #[cfg(unix)]
    Pipe {
        stop: OwnedFd,
        alive: Mutex<Option<OwnedFd>>,
    },
}

impl Link {
    pub fn tcp(socket: &TcpStream, number: usize) -> io::Result<Arc<Self>> {
        let out = Out { way: Transport::Tcp(socket.try_clone()?), held: None };
        Ok(Arc::new(Self { number, out: Mutex::new(out), end: End::Tcp(socket.try_clone()?) }))
    }

    #[cfg(unix)]
    pub fn pipe(to_client: OwnedFd) -> io::Result<Arc<Self>> {
        rustix::io::ioctl_fionbio(&to_client, true)?;
        let (stop, alive) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let end = End::Pipe { stop, alive: Mutex::new(Some(alive)) };
        let out = Out { way: Transport::Pipe(Some(to_client)), held: None };
        Ok(Arc::new(Self { number: 0, out: Mutex::new(out), end }))
    }

    /// Collects output from here on.
    pub fn hold(&self) {
        self.out.lock().held = Some(Vec::new());
    }

    /// Sends what was collected, in one write.
    pub fn release(&self) {
        let mut out = self.out.lock();
        if let Some(bytes) = out.held.take() {
            let _ = self.send(&mut out, &bytes);
        }
    }

    /// Sends raw bytes. A failure means that the connection has ended, which the reading half detects.
    pub fn raw(&self, bytes: &[u8]) {
        let mut out = self.out.lock();
        if let Some(held) = &mut out.held {
            held.extend_from_slice(bytes);
            return;
        }
        let _ = self.send(&mut out, bytes);
    }

    /// Sends a message in the framing of the connection.
    pub fn text(&self, text: &str) {
        self.raw(&self.framed(wire::TEXT, text.as_bytes()));
    }

    fn framed(&self, opcode: u8, payload: &[u8]) -> Vec<u8> {
        match &self.end {
            End::Tcp(_) => Frame::of(opcode).encode(payload),
            #[cfg(unix)]
            End::Pipe { .. } => [payload, b"\0"].concat(),
        }
    }

    fn send(&self, out: &mut Out, bytes: &[u8]) -> io::Result<()> {
        match &mut out.way {
            Transport::Tcp(socket) => socket.write_all(bytes),
            #[cfg(unix)]
            Transport::Pipe(fd) => match fd {
                Some(fd) => self.send_pipe(fd, bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }

    #[cfg(unix)]
    fn send_pipe(&self, fd: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
        use rustix::event::PollFlags;
        while !bytes.is_empty() {
            match rustix::io::write(fd, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::AGAIN) => {
                    if !self.wait_pipe(fd, PollFlags::OUT)? {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    /// Waits for a pipe. False when the connection was ended.
    #[cfg(unix)]
    pub fn wait_pipe(&self, fd: &OwnedFd, flags: rustix::event::PollFlags) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let End::Pipe { stop, .. } = &self.end else { return Ok(false) };
        let mut fds = [PollFd::new(fd, flags), PollFd::new(stop, PollFlags::IN)];
        loop {
            match poll(&mut fds, None) {
                Ok(_) => return Ok(fds[1].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Ends the connection without a close frame; a blocked write fails.
    pub fn cut(&self) {
        match &self.end {
            End::Tcp(socket) => {
                let _ = socket.shutdown(Shutdown::Both);
            }
            #[cfg(unix)]
            End::Pipe { alive, .. } => {
                drop(alive.lock().take());
                if let Transport::Pipe(fd) = &mut self.out.lock().way {
                    drop(fd.take());
                }
            }
        }
    }

    /// Performs an action on this connection.
    pub fn perform(self: &Arc<Self>, action: Action, request: Option<&Request>) {
        match (action, request) {
            (Action::Reply(result), Some(request)) => self.text(&request.answer(&result)),
            (Action::Error(code, message), Some(request)) => self.text(&request.refusal(code, &message)),
            (Action::Event { session, method, params }, _) => {
                self.text(&wire::event(session.as_deref(), &method, &params));
            }
            (Action::Text(text), _) => self.text(&text),
            (Action::Binary(bytes), _) => self.raw(&self.framed(wire::BINARY, &bytes)),
            (Action::Raw(bytes), _) => self.raw(&bytes),
            (Action::Ping(payload), _) => self.raw(&Frame::of(wire::PING).encode(&payload)),
            (Action::Close(code), _) => self.raw(&wire::close(code)),
            (Action::Cut, _) => self.cut(),
            (Action::Late(gate, actions), request) => {
                let (link, request) = (Arc::clone(self), request.cloned());
                gate.pass(move || {
                    for action in actions {
                        link.perform(action, request.as_ref());
                    }
                });
            }
            (action, _) => panic!("{action:?} cannot be done here"),
        }
    }
}

/// The socket as tungstenite sees it.
pub(crate) struct Io<'a> {
    pub read: &'a TcpStream,
    pub link: &'a Link,
}

impl Read for Io<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut socket = self.read;
        socket.read(buffer)
    }
}

impl Write for Io<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.link.raw(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
