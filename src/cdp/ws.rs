//! The WebSocket framing (RFC 6455): handshake, a frame decoder and a frame encoder.
//!
//! The handshake and the header codec are tungstenite's. Its `WebSocket` is not used beyond that: it
//! reads and writes through one handle, and clears its whole read buffer at each look, which the
//! reading role of a waiting caller does many times per answer.

use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use tungstenite::http::{HeaderName, HeaderValue, Request};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tungstenite::{ClientHandshake, HandshakeError};

use super::error::{CloseReason, Error, TimeoutKind};
use super::stream::Stream;
use crate::sync::Deadline;

/// Bytes kept free in front of a payload for its header: two, eight for the length, four for the mask.
pub(super) const HEAD: usize = 14;

/// Greatest room made for a payload before its bytes are there: a header alone must not cost memory.
const EAGER: usize = 16 * 1024 * 1024;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A whole message.
    Message(Bytes),
    /// A ping; its payload goes back in a pong.
    Ping(Vec<u8>),
    /// A pong.
    Pong,
    /// The peer closes, with this code.
    Close(Option<u16>),
}

/// Puts frames together to messages. Text and Binary are taken alike: proxies send either.
#[derive(Debug)]
pub(super) struct Decoder {
    limit: usize,
    /// A header of which not all bytes have come yet.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The fragments of a message so far.
    fragments: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Frame {
    opcode: OpCode,
    fin: bool,
    length: usize,
    payload: Vec<u8>,
}

fn broken(what: &str) -> CloseReason {
    CloseReason::Protocol(what.to_owned())
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, head: Vec::new(), frame: None, fragments: None }
    }

    /// The next message or control frame in `input`, which moves past what was used.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        loop {
            if self.frame.is_none() && !self.read_header(input)? {
                return Ok(None);
            }
            let Some(mut frame) = self.frame.take() else { return Ok(None) };
            let take = (frame.length - frame.payload.len()).min(input.len());
            let (piece, rest) = input.split_at(take);
            *input = rest;
            if frame.payload.len() + take < frame.length {
                if frame.payload.capacity() == 0 {
                    frame.payload.reserve_exact(frame.length.min(EAGER));
                }
                frame.payload.extend_from_slice(piece);
                self.frame = Some(frame);
                return Ok(None);
            }
            frame.payload.extend_from_slice(piece);
            if let Some(incoming) = self.finish(frame)? {
                return Ok(Some(incoming));
            }
        }
    }

    fn read_header(&mut self, input: &mut &[u8]) -> Result<bool, CloseReason> {
        loop {
            let parsed = {
                let bytes: &[u8] = if self.head.is_empty() { input } else { &self.head };
                let mut cursor = Cursor::new(bytes);
                let parsed = FrameHeader::parse(&mut cursor).map_err(|_| broken("bad frame header"))?;
                parsed.map(|(header, length)| (header, length, cursor.position()))
            };
            let Some((header, length, used)) = parsed else {
                let Some((first, rest)) = input.split_first() else { return Ok(false) };
                self.head.push(*first);
                *input = rest;
                continue;
            };
            if self.head.is_empty() {
                *input = input.get(usize::try_from(used).unwrap_or(0)..).unwrap_or_default();
            } else {
                self.head.clear();
            }
            self.frame = Some(self.check(&header, length)?);
            return Ok(true);
        }
    }

    fn check(&self, header: &FrameHeader, length: u64) -> Result<Frame, CloseReason> {
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(broken("reserved bits set"));
        }
        if header.mask.is_some() {
            return Err(broken("masked frame from the peer"));
        }
        if let OpCode::Control(_) = header.opcode
            && (length > 125 || !header.is_final)
        {
            return Err(broken("control frame too long or in fragments"));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let so_far = self.fragments.as_ref().map_or(0, Vec::len);
        if length.saturating_add(so_far) > self.limit {
            return Err(CloseReason::TooLarge);
        }
        Ok(Frame { opcode: header.opcode, fin: header.is_final, length, payload: Vec::new() })
    }

    fn finish(&mut self, frame: Frame) -> Result<Option<Incoming>, CloseReason> {
        match frame.opcode {
            OpCode::Control(Control::Ping) => Ok(Some(Incoming::Ping(frame.payload))),
            OpCode::Control(Control::Pong) => Ok(Some(Incoming::Pong)),
            OpCode::Control(Control::Close) => {
                let code = frame.payload.first_chunk::<2>().map(|c| u16::from_be_bytes(*c));
                Ok(Some(Incoming::Close(code)))
            }
            OpCode::Data(Data::Text | Data::Binary) if self.fragments.is_some() => Err(broken("fragments interleaved")),
            OpCode::Data(Data::Text | Data::Binary) if frame.fin => Ok(Some(Incoming::Message(frame.payload.into()))),
            OpCode::Data(Data::Text | Data::Binary) => {
                self.fragments = Some(frame.payload);
                Ok(None)
            }
            OpCode::Data(Data::Continue) => {
                let mut whole = self.fragments.take().ok_or_else(|| broken("continuation of nothing"))?;
                whole.extend_from_slice(&frame.payload);
                if frame.fin {
                    return Ok(Some(Incoming::Message(whole.into())));
                }
                self.fragments = Some(whole);
                Ok(None)
            }
            OpCode::Data(Data::Reserved(_)) | OpCode::Control(Control::Reserved(_)) => Err(broken("unknown opcode")),
        }
    }
}

/// Makes a text frame of what lies in `text` behind its first [`HEAD`] bytes.
pub(super) fn frame(text: Vec<u8>) -> Vec<u8> {
    encode(text, OpCode::Data(Data::Text))
}

/// A pong that answers a ping.
pub(super) fn pong(payload: &[u8]) -> Vec<u8> {
    control(Control::Pong, payload)
}

/// A ping without payload.
pub(super) fn ping() -> Vec<u8> {
    control(Control::Ping, &[])
}

/// A close frame with code 1000.
pub(super) fn close() -> Vec<u8> {
    control(Control::Close, &1000u16.to_be_bytes())
}

fn control(opcode: Control, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD];
    bytes.extend_from_slice(payload);
    encode(bytes, OpCode::Control(opcode))
}

fn encode(mut bytes: Vec<u8>, opcode: OpCode) -> Vec<u8> {
    let mask = fastrand::u32(..).to_ne_bytes();
    let header = FrameHeader { opcode, mask: Some(mask), ..FrameHeader::default() };
    let length = bytes.len() - HEAD;
    let used = header.len(length as u64).min(HEAD);
    apply_mask(&mut bytes[HEAD..], mask);
    let start = HEAD - used;
    // Cannot fail: the slice has exactly the header's length.
    let _ = header.format(length as u64, &mut &mut bytes[start..HEAD]);
    bytes.drain(..start);
    bytes
}

/// Masks in place (RFC 6455 section 5.3), eight bytes at a time.
fn apply_mask(bytes: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Ok(word) = <[u8; 8]>::try_from(&*chunk) {
            chunk.copy_from_slice(&(u64::from_ne_bytes(word) ^ wide).to_ne_bytes());
        }
    }
    for (byte, key) in chunks.into_remainder().iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

/// The stream as the handshake sees it: blocking, with a deadline, and never reading past the end of
/// the response, so that a message sent right behind it is not lost.
struct HandshakeIo<'a> {
    stream: &'a Stream,
    deadline: Deadline,
    /// Read but not yet handed on.
    buffer: Vec<u8>,
    /// How much of the blank line that ends the response was seen.
    matched: usize,
    timed_out: bool,
}

impl HandshakeIo<'_> {
    fn pause(&mut self) -> io::Result<()> {
        if self.deadline.passed() {
            self.timed_out = true;
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Read for HandshakeIo<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        const END: &[u8] = b"\r\n\r\n";
        while self.buffer.is_empty() {
            self.pause()?;
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(0),
                Ok(n) => self.buffer.extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait_readable(self.stream, self.deadline)?,
                Err(e) => return Err(e),
            }
        }
        let mut taken = 0;
        for byte in &self.buffer {
            if taken == out.len() || self.matched == END.len() {
                break;
            }
            self.matched = if *byte == END[self.matched] { self.matched + 1 } else { usize::from(*byte == b'\r') };
            out[taken] = *byte;
            taken += 1;
        }
        self.buffer.drain(..taken);
        Ok(taken)
    }
}

#[cfg(unix)]
fn wait_readable(stream: &Stream, deadline: Deadline) -> io::Result<()> {
    let wake = super::poller::Wake::new()?;
    stream.wait_readable(&wake, deadline)
}

#[cfg(not(unix))]
fn wait_readable(_stream: &Stream, _deadline: Deadline) -> io::Result<()> {
    Ok(())
}

impl Write for HandshakeIo<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.pause()?;
            match self.stream.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.stream.wait_writable(self.deadline)?,
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shakes hands. Returns bytes that came behind the response.
pub(super) fn handshake(
    stream: &Arc<Stream>,
    address: &str,
    headers: &[(String, String)],
    deadline: Deadline,
) -> Result<Vec<u8>, Error> {
    let failed = |problem: String| Error::Connect { problem };
    let request = request(address, headers)?;
    let began = std::time::Instant::now();
    let io = HandshakeIo { stream, deadline, buffer: Vec::new(), matched: 0, timed_out: false };
    let handshake =
        ClientHandshake::start(io, request, None).map_err(|_| failed("the address makes no valid request".into()))?;
    match handshake.handshake() {
        Ok((socket, _response)) => Ok(socket.into_inner().buffer),
        Err(HandshakeError::Failure(error)) => {
            use tungstenite::Error as Ws;
            Err(match error {
                Ws::Io(e) if e.kind() == io::ErrorKind::TimedOut => Error::Timeout {
                    kind: TimeoutKind::Handshake,
                    method: "connect".into(),
                    after: began.elapsed(),
                },
                Ws::Io(e) => failed(format!("the handshake broke off ({})", e.kind())),
                Ws::Http(response) => failed(format!("the endpoint answered the handshake with HTTP status {}", response.status())),
                Ws::Protocol(e) => failed(format!("the endpoint does not speak WebSocket ({e})")),
                // Other variants may quote the address.
                _ => failed("the endpoint does not speak WebSocket".into()),
            })
        }
        Err(HandshakeError::Interrupted(_)) => Err(failed("the handshake was interrupted".into())),
    }
}

fn request(address: &str, headers: &[(String, String)]) -> Result<Request<()>, Error> {
    use tungstenite::client::IntoClientRequest as _;
    let bad = |problem: &str| Error::Address { problem: problem.to_owned() };
    let mut request = address.into_client_request().map_err(|_| bad("it is no valid ws:// or wss:// URL"))?;
    for (name, value) in headers {
        let name: HeaderName = name.parse().map_err(|_| bad("a header name is not valid"))?;
        let value: HeaderValue = value.parse().map_err(|_| bad("a header value is not valid"))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}
