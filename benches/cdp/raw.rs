//! The reference: one thread, one connection, one loop, nothing else.
//!
//! Requests are formatted once, with an id of fixed width that is patched in place. Messages are cut
//! out of one large buffer without copying; an answer is recognised by its first bytes. It blocks in `read`,
//! or spins on a non-blocking descriptor.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;

use crate::Result;

enum Io {
    Tcp(TcpStream),
    Pipe { from: File, to: File },
}

/// A raw connection.
pub(crate) struct Raw {
    io: Io,
    buffer: Vec<u8>,
    /// The unused part of the buffer.
    ready: Range<usize>,
    /// Position up to which the end of a pipe message was searched.
    searched: usize,
    out: Vec<u8>,
    next_id: u64,
}

/// Ids have seven digits from here on.
const FIRST_ID: u64 = 1_000_000;
const ID_AT: usize = 6;
const ID_DIGITS: usize = 7;

/// A request whose id is still to be filled in.
#[derive(Clone)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    text_at: usize,
}

impl Raw {
    fn new(io: Io) -> Self {
        let buffer = vec![0; 1024 * 1024];
        Self { io, buffer, ready: 0..0, searched: 0, out: Vec::new(), next_id: FIRST_ID }
    }

    /// Connects to a WebSocket address.
    pub(crate) fn ws(address: &str) -> Result<Self> {
        let rest = address.strip_prefix("ws://").ok_or("not a ws:// address")?;
        let (host, path) = rest.split_once('/').ok_or("no path")?;
        let mut socket = TcpStream::connect(host)?;
        socket.set_nodelay(true)?;
        write!(
            socket,
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )?;
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            socket.read_exact(&mut byte)?;
            answer.push(byte[0]);
        }
        if !answer.starts_with(b"HTTP/1.1 101") {
            return Err("the handshake was refused".into());
        }
        Ok(Self::new(Io::Tcp(socket)))
    }

    /// Connects through the pipes of a browser.
    pub(crate) fn pipe(from: File, to: File) -> Result<Self> {
        for file in [&from, &to] {
            let _ = rustix::pipe::fcntl_setpipe_size(file, 1024 * 1024);
        }
        let raw = Self::new(Io::Pipe { from, to });
        raw.spin(false)?;
        Ok(raw)
    }

    /// Whether reads spin instead of blocking.
    pub(crate) fn spin(&self, spin: bool) -> Result<()> {
        match &self.io {
            Io::Tcp(socket) => socket.set_nonblocking(spin)?,
            Io::Pipe { from, to } => {
                rustix::io::ioctl_fionbio(from, spin)?;
                // Requests are small and the pipe is empty: a write never has to wait here.
                rustix::io::ioctl_fionbio(to, spin)?;
            }
        }
        Ok(())
    }

    /// Formats a request.
    pub(crate) fn request(&self, method: &str, params: &str, session: Option<&str>) -> Request {
        let session = session.map(|id| format!(r#","sessionId":"{id}""#)).unwrap_or_default();
        let text = format!(r#"{{"id":{FIRST_ID},"method":"{method}","params":{params}{session}}}"#);
        match self.io {
            Io::Pipe { .. } => Request { bytes: [text.as_bytes(), &[0]].concat(), text_at: 0 },
            Io::Tcp(_) => {
                let mut bytes = vec![0x81];
                match u16::try_from(text.len()) {
                    Ok(length @ ..126) => bytes.push(0x80 | length.to_be_bytes()[1]),
                    Ok(length) => {
                        bytes.push(0x80 | 126);
                        bytes.extend(length.to_be_bytes());
                    }
                    Err(_) => {
                        bytes.push(0x80 | 127);
                        bytes.extend((text.len() as u64).to_be_bytes());
                    }
                }
                // A key of zeros leaves the payload as it is, and the id can be patched in place.
                bytes.extend([0; 4]);
                let text_at = bytes.len();
                bytes.extend_from_slice(text.as_bytes());
                Request { bytes, text_at }
            }
        }
    }

    /// Queues a request; returns its id.
    pub(crate) fn queue(&mut self, request: &Request) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let at = self.out.len() + request.text_at + ID_AT;
        self.out.extend_from_slice(&request.bytes);
        let mut rest = id;
        for digit in self.out[at..at + ID_DIGITS].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        id
    }

    /// Writes what is queued.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.io {
            Io::Tcp(socket) => socket.write_all(&self.out)?,
            Io::Pipe { to, .. } => to.write_all(&self.out)?,
        }
        self.out.clear();
        Ok(())
    }

    pub(crate) fn send(&mut self, request: &Request) -> Result<u64> {
        let id = self.queue(request);
        self.flush()?;
        Ok(id)
    }

    /// The next message, if it is complete in the buffer.
    pub(crate) fn buffered(&mut self) -> Option<Range<usize>> {
        let bytes = &self.buffer[self.ready.clone()];
        let (start, end, used) = match self.io {
            Io::Pipe { .. } => {
                let Some(end) = memchr::memchr(0, &bytes[self.searched..]) else {
                    self.searched = bytes.len();
                    return None;
                };
                let end = self.searched + end;
                self.searched = 0;
                (0, end, end + 1)
            }
            Io::Tcp(_) => {
                let (head, length) = match *bytes.get(1)? {
                    126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
                    127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
                    short => (2, usize::from(short)),
                };
                if bytes.len() < head + length {
                    return None;
                }
                (head, head + length, head + length)
            }
        };
        let message = self.ready.start + start..self.ready.start + end;
        self.ready.start += used;
        Some(message)
    }

    /// Reads once more into the buffer.
    fn fill(&mut self) -> Result<()> {
        if self.ready.is_empty() {
            self.ready = 0..0;
        } else if self.buffer.len() - self.ready.end < 64 * 1024 {
            if self.ready.start > 0 {
                self.buffer.copy_within(self.ready.clone(), 0);
                self.ready = 0..self.ready.len();
            }
            if self.buffer.len() - self.ready.end < 64 * 1024 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            let room = &mut self.buffer[self.ready.end..];
            let read = match &mut self.io {
                Io::Tcp(socket) => socket.read(room),
                Io::Pipe { from, .. } => from.read(room),
            };
            match read {
                Ok(0) => return Err("the browser closed the connection".into()),
                Ok(n) => {
                    self.ready.end += n;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Result<Range<usize>> {
        loop {
            if let Some(message) = self.buffered() {
                return Ok(message);
            }
            self.fill()?;
        }
    }

    pub(crate) fn text(&self, message: Range<usize>) -> &[u8] {
        &self.buffer[message]
    }

    /// The id of a message that is an answer.
    pub(crate) fn id(&self, message: Range<usize>) -> Option<u64> {
        let text = self.buffer[message].strip_prefix(br#"{"id":"#)?;
        Some(text.iter().take_while(|b| b.is_ascii_digit()).fold(0, |id, b| id * 10 + u64::from(b - b'0')))
    }

    /// Reads until the answer to `id`.
    pub(crate) fn wait(&mut self, id: u64) -> Result<Range<usize>> {
        loop {
            let message = self.next()?;
            if self.id(message.clone()) == Some(id) {
                return Ok(message);
            }
        }
    }

    /// One call for the set-up: returns the text of the answer. Protocol errors are errors.
    pub(crate) fn call(&mut self, method: &str, params: &str, session: Option<&str>) -> Result<String> {
        let request = self.request(method, params, session);
        let id = self.send(&request)?;
        let answer = self.wait(id)?;
        let text = String::from_utf8_lossy(self.text(answer)).into_owned();
        if text.contains(r#""error":{"#) {
            return Err(format!("{method}: {text}").into());
        }
        Ok(text)
    }

    /// Keeps `depth` copies of a request under way until `count` are answered.
    pub(crate) fn pipeline(&mut self, request: &Request, depth: usize, count: usize) -> Result<()> {
        let (mut sent, mut done) = (0, 0);
        while sent < depth.min(count) {
            self.queue(request);
            sent += 1;
        }
        self.flush()?;
        while done < count {
            let mut message = Some(self.next()?);
            while let Some(range) = message {
                if self.id(range).is_some() {
                    done += 1;
                    if sent < count {
                        self.queue(request);
                        sent += 1;
                    }
                }
                message = self.buffered();
            }
            self.flush()?;
        }
        Ok(())
    }
}

/// The text between `key":"` and the next quote.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    let start = format!(r#""{key}":""#);
    let at = text.find(&start).ok_or("a field is missing")? + start.len();
    text[at..].split('"').next().ok_or_else(|| "a field is missing".into())
}
