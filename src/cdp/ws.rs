//! WebSocket (RFC 6455), implemented by tungstenite: handshake, framing, and the answers to pings and closes.
//!
//! Reading and sending share no state. The holder of the reading role owns the [`Decoder`], which receives bytes that
//! were already read; every sender encodes its own frame. Frames that tungstenite sends are collected and sent through
//! the shared write path.
//!
//! tungstenite cannot skip a message above the limit, so `Frames` reads the frame headers first and passes the frames
//! of such a message on without their payload.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::time::Instant;

use ::http::{HeaderName, HeaderValue, Request, Uri};
use bytes::Bytes;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::client::{ClientHandshake, generate_key};
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tungstenite::protocol::frame::{CloseFrame, Frame};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tungstenite::{HandshakeError, Message};

use super::error::{CloseReason, Error, TimeoutKind};
use super::http::{self, Blocking};
use super::oversized::Oversized;
use super::stream::Stream;
use crate::sync::Deadline;

/// Size of tungstenite's read buffer. It is cleared for every message, so a larger one makes small messages slower.
const READ_BUFFER: usize = 8 * 1024;
/// Messages up to this size are copied, so that keeping one does not keep the shared buffer.
const COPY: usize = 16 * 1024;
/// Maximum payload of a control frame, in bytes.
const MAX_CONTROL: usize = 125;

/// A received message or control frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A complete message.
    Message(Bytes),
    /// A message above the limit was skipped.
    Oversized(Oversized),
    /// A ping. Its pong is in [`Decoder::take_output`].
    Ping(Bytes),
    /// A pong.
    Pong,
    /// The peer closes, with this code. The answer is in [`Decoder::take_output`].
    Close(Option<u16>),
}

/// Assembles frames into messages. Text and binary frames are accepted alike: proxies send either.
#[derive(Debug)]
pub(super) struct Decoder {
    context: WebSocketContext,
    frames: Frames,
    output: Vec<u8>,
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit.max(MAX_CONTROL)));
        Self {
            context: WebSocketContext::new(Role::Client, Some(config)),
            frames: Frames { limit, ..Frames::default() },
            output: Vec::new(),
        }
    }

    /// The next message or control frame in `input`, which is advanced past the consumed bytes.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        let mut wire = Wire { frames: &mut self.frames, input, output: &mut self.output };
        let message = match self.context.read(&mut wire) {
            Ok(message) => message,
            Err(tungstenite::Error::Io(e)) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(_) if self.frames.endless => return Err(CloseReason::TooLarge),
            Err(e) => return Err(CloseReason::Protocol(e.to_string())),
        };
        let incoming = match message {
            Message::Text(_) | Message::Binary(_) => {
                let bytes = message.into_data();
                match self.frames.fragments.take() {
                    Some(whole) if whole.bytes() > whole.limit() => Incoming::Oversized(whole),
                    _ if bytes.len() <= COPY => Incoming::Message(Bytes::copy_from_slice(&bytes)),
                    _ => Incoming::Message(bytes),
                }
            }
            Message::Pong(_) | Message::Frame(_) => return Ok(Some(Incoming::Pong)),
            Message::Ping(payload) => Incoming::Ping(payload),
            Message::Close(frame) => Incoming::Close(frame.map(|frame| frame.code.into())),
        };
        if matches!(incoming, Incoming::Ping(_) | Incoming::Close(_)) {
            let mut wire = Wire { frames: &mut self.frames, input, output: &mut self.output };
            // Writing to memory does not fail.
            self.context.flush(&mut wire).map_err(|e| CloseReason::Protocol(e.to_string()))?;
        }
        Ok(Some(incoming))
    }

    /// Frames that answer received ones.
    pub(super) fn take_output(&mut self) -> Option<Vec<u8>> {
        (!self.output.is_empty()).then(|| std::mem::take(&mut self.output))
    }
}

/// Tracks the frames of a stream, so that messages above the limit can be skipped, which tungstenite does not support:
/// it would end the connection. For a skipped frame, tungstenite receives the header with length zero, so that it still
/// validates everything else.
#[derive(Debug, Default)]
struct Frames {
    limit: usize,
    /// The received part of an incomplete header.
    header: Vec<u8>,
    /// Header bytes that tungstenite has not read yet.
    ready: Vec<u8>,
    /// Remaining bytes of the payload.
    left: usize,
    /// Whether the frame is part of the message in `fragments`.
    collected: bool,
    /// Whether the payload is skipped.
    skipped: bool,
    /// The beginning and end of a fragmented or oversized message.
    fragments: Option<Oversized>,
    /// Whether a message is too large even to be skipped.
    endless: bool,
}

/// The used fields of a frame header, RFC 6455 section 5.2.
struct Header {
    first: u8,
    masked: bool,
    payload: usize,
}

impl Header {
    const FIN: u8 = 0x80;
    const OPCODE: u8 = 0x0f;
    const TEXT: u8 = 1;
    const BINARY: u8 = 2;
    const CONTROL: u8 = 8;
    const MASKED: u8 = 0x80;

    /// `None` if it is incomplete. The mask is not part of it.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let [first, second, rest @ ..] = bytes else { return None };
        let length = match second & !Self::MASKED {
            126 => u64::from(u16::from_be_bytes(*rest.first_chunk()?)),
            127 => u64::from_be_bytes(*rest.first_chunk()?),
            short => u64::from(short),
        };
        let payload = usize::try_from(length).unwrap_or(usize::MAX);
        Some(Self { first: *first, masked: second & Self::MASKED != 0, payload })
    }

    fn opcode(&self) -> u8 {
        self.first & Self::OPCODE
    }
}

impl Frames {
    /// Reads the next header from `input`. Returns false if it is incomplete.
    fn begin(&mut self, input: &mut &[u8]) -> io::Result<bool> {
        let header = loop {
            let Some((byte, rest)) = input.split_first() else { return Ok(false) };
            *input = rest;
            self.header.push(*byte);
            if let Some(header) = Header::parse(&self.header) {
                break header;
            }
        };
        self.left = header.payload.saturating_add(if header.masked { 4 } else { 0 });
        (self.collected, self.skipped) = (false, false);
        self.ready.append(&mut self.header);
        if header.opcode() >= Header::CONTROL {
            return Ok(true); // a control frame, allowed between the fragments of a message
        }
        let before = self.fragments.as_ref().map_or(0, Oversized::bytes);
        let bytes = header.payload.saturating_add(before);
        self.skipped = bytes > self.limit;
        if self.skipped && Oversized::is_endless(bytes, self.limit) {
            self.endless = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.collected = self.skipped || self.fragments.is_some() || header.first & Header::FIN == 0;
        if self.collected {
            self.fragments.get_or_insert_with(|| Oversized::after(&[], self.limit));
        }
        // As binary, since the JSON parser validates UTF-8 anyway.
        if header.opcode() == Header::TEXT {
            self.ready[0] = header.first & !Header::OPCODE | Header::BINARY;
        }
        if self.skipped {
            self.ready.truncate(1);
            self.ready.push(if header.masked { Header::MASKED } else { 0 });
        }
        Ok(true)
    }

    /// Takes the next piece of the payload from `input`, at most `most` bytes.
    fn payload<'a>(&mut self, input: &mut &'a [u8], most: usize) -> &'a [u8] {
        let (piece, rest) = input.split_at(self.left.min(input.len()).min(most));
        *input = rest;
        self.left -= piece.len();
        if let Some(fragments) = self.fragments.as_mut().filter(|_| self.collected) {
            fragments.push(piece);
        }
        piece
    }
}

/// The stream that tungstenite reads: received bytes, one frame at a time, so that it never buffers more than one.
struct Wire<'a, 'b> {
    frames: &'a mut Frames,
    input: &'a mut &'b [u8],
    output: &'a mut Vec<u8>,
}

impl Read for Wire<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let frames = &mut *self.frames;
        if frames.ready.is_empty() && frames.left == 0 && !frames.begin(self.input)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if frames.skipped {
            frames.payload(self.input, usize::MAX);
            if frames.left > 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let head = frames.ready.len().min(buffer.len());
        buffer[..head].copy_from_slice(&frames.ready[..head]);
        frames.ready.drain(..head);
        if frames.skipped {
            return Ok(head);
        }
        let piece = frames.payload(self.input, buffer.len() - head);
        buffer[head..head + piece.len()].copy_from_slice(piece);
        match head + piece.len() {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            bytes => Ok(bytes),
        }
    }
}

impl Write for Wire<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One text frame.
pub(super) fn frame(text: Vec<u8>) -> Vec<u8> {
    encode(Frame::message(text, OpCode::Data(Data::Text), true))
}

/// A ping without payload.
pub(super) fn ping() -> Vec<u8> {
    encode(Frame::ping(Bytes::new()))
}

/// A close frame with code 1000.
pub(super) fn close() -> Vec<u8> {
    encode(Frame::close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() })))
}

/// Masks a frame and writes it.
fn encode(mut frame: Frame) -> Vec<u8> {
    frame.header_mut().mask = Some(fastrand::u32(..).to_ne_bytes());
    let mut bytes = Vec::with_capacity(frame.len());
    let written = frame.format(&mut bytes);
    debug_assert!(written.is_ok(), "writing to memory does not fail");
    bytes
}

/// Performs the handshake (RFC 6455 section 4.1). Returns the bytes received after the response.
pub(super) fn handshake(
    stream: &Stream,
    uri: &Uri,
    headers: &[(String, String)],
    deadline: Deadline<'_>,
) -> Result<Vec<u8>, Error> {
    let request = request(uri, headers)?;
    let io = Blocking { stream, deadline, kind: TimeoutKind::Handshake, began: Instant::now() };
    let failed = RefCell::new(None);
    let wire = Upgrade { io, failed: &failed, line: 0, rest: Vec::new() };
    match tungstenite::client(request, wire) {
        Ok((socket, _)) => Ok(socket.into_inner().rest),
        Err(e) => Err(failed.take().unwrap_or_else(|| Error::Connect { problem: problem(&e) })),
    }
}

fn request(uri: &Uri, headers: &[(String, String)]) -> Result<Request<()>, Error> {
    let invalid = |problem: &str| Error::Address { problem: problem.to_owned() };
    let mut request = Request::builder()
        .uri(uri)
        .header("Host", http::host(uri))
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key())
        .body(())
        .map_err(|_| invalid("it is no valid URL"))?;
    for (name, value) in headers {
        let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) else {
            return Err(invalid("invalid name or value of a header"));
        };
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

fn problem<S: Read + Write>(error: &HandshakeError<ClientHandshake<S>>) -> String {
    use tungstenite::Error::{AttackAttempt, Capacity, Http, Protocol};
    let HandshakeError::Failure(error) = error else { return "the handshake was interrupted".to_owned() };
    match error {
        Http(response) => {
            return format!("the endpoint responded to the handshake with HTTP status {}", response.status().as_u16());
        }
        Protocol(ProtocolError::HandshakeIncomplete) => "the endpoint closed the connection during the handshake",
        Protocol(ProtocolError::HttparseError(_)) => "the endpoint does not speak HTTP",
        AttackAttempt | Capacity(_) => "the endpoint's handshake response is too long",
        _ => "the endpoint does not speak WebSocket",
    }
    .to_owned()
}

/// The stream during the handshake. It waits for data, and returns only the head of the response: tungstenite would
/// keep bytes after it.
struct Upgrade<'a> {
    io: Blocking<'a>,
    /// The error that ended the handshake.
    failed: &'a RefCell<Option<Error>>,
    /// Length of the current line, without its end.
    line: usize,
    rest: Vec<u8>,
}

impl Upgrade<'_> {
    fn broken(&self, error: Error) -> io::Error {
        self.failed.replace(Some(error));
        io::ErrorKind::Other.into()
    }
}

impl Read for Upgrade<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.io.read_some(buffer).map_err(|e| self.broken(e))?;
        for (at, byte) in buffer[..count].iter().enumerate() {
            match byte {
                b'\r' => {}
                b'\n' if self.line == 0 => {
                    self.rest = buffer[at + 1..count].to_vec();
                    return Ok(at + 1);
                }
                b'\n' => self.line = 0,
                _ => self.line += 1,
            }
        }
        Ok(count)
    }
}

impl Write for Upgrade<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.io.write_all(bytes).map_err(|e| self.broken(e))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
