//! The WebSocket framing (RFC 6455): handshake, a frame decoder and a frame encoder.
//!
//! Both halves are separate values without a lock between them: the reading role owns the decoder,
//! every sender encodes by itself.

use std::time::Instant;

use ::http::Uri;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;

use super::error::{CloseReason, Error, TimeoutKind};
use super::http::{self, Blocking};
use super::oversized::Oversized;
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
    /// A message above the limit was skipped.
    Oversized(Oversized),
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
    /// The message above the limit that is being skipped.
    skipped: Option<Oversized>,
}

/// Opcodes, RFC 6455 section 5.2.
mod opcode {
    pub(super) const CONTINUE: u8 = 0;
    pub(super) const TEXT: u8 = 1;
    pub(super) const BINARY: u8 = 2;
    pub(super) const CLOSE: u8 = 8;
    pub(super) const PING: u8 = 9;
    pub(super) const PONG: u8 = 10;
}

#[derive(Debug)]
struct Frame {
    opcode: u8,
    fin: bool,
    length: usize,
    payload: Vec<u8>,
    /// Bytes of the payload that were skipped.
    skipped: usize,
}

fn broken(what: &str) -> CloseReason {
    CloseReason::Protocol(what.to_owned())
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, head: Vec::new(), frame: None, fragments: None, skipped: None }
    }

    /// The next message or control frame in `input`, which moves past what was used.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        loop {
            if self.frame.is_none() && !self.read_header(input)? {
                return Ok(None);
            }
            let Some(mut frame) = self.frame.take() else { return Ok(None) };
            let take = (frame.length - frame.payload.len() - frame.skipped).min(input.len());
            let (piece, rest) = input.split_at(take);
            *input = rest;
            if let Some(skipped) = self.skipped.as_mut().filter(|_| frame.opcode < opcode::CLOSE) {
                skipped.push(piece);
                frame.skipped += take;
                if frame.skipped < frame.length {
                    self.frame = Some(frame);
                    return Ok(None);
                }
                if let Some(incoming) = self.finish(frame)? {
                    return Ok(Some(incoming));
                }
                continue;
            }
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
        if self.head.is_empty()
            && let Some((frame, used)) = self.parse_header(input)?
        {
            *input = &input[used..];
            self.begin(frame)?;
            return Ok(true);
        }
        // The header lies across two reads: collect it byte by byte.
        while let Some((first, rest)) = input.split_first() {
            self.head.push(*first);
            *input = rest;
            let head = std::mem::take(&mut self.head);
            let parsed = self.parse_header(&head)?;
            if let Some((frame, _)) = parsed {
                self.begin(frame)?;
                return Ok(true);
            }
            self.head = head;
        }
        Ok(false)
    }

    /// A header and its length in bytes; `None` when it is not whole.
    fn parse_header(&self, bytes: &[u8]) -> Result<Option<(Frame, usize)>, CloseReason> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(broken("reserved bits set"));
        }
        if second & 0x80 != 0 {
            return Err(broken("masked frame from the peer"));
        }
        let (length, extra) = match second & 0x7f {
            126 => match rest.first_chunk::<2>() {
                Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 2),
                None => return Ok(None),
            },
            127 => match rest.first_chunk::<8>() {
                Some(bytes) => (u64::from_be_bytes(*bytes), 8),
                None => return Ok(None),
            },
            short => (u64::from(short), 0),
        };
        let (opcode, fin) = (first & 0x0f, first & 0x80 != 0);
        if opcode >= opcode::CLOSE && (length > 125 || !fin) {
            return Err(broken("control frame too long or in fragments"));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(Some((Frame { opcode, fin, length, payload: Vec::new(), skipped: 0 }, 2 + extra)))
    }

    /// Begins a frame, and to skip its message when it is above the limit.
    fn begin(&mut self, frame: Frame) -> Result<(), CloseReason> {
        let so_far = match &self.skipped {
            Some(skipped) => skipped.bytes(),
            None => self.fragments.as_ref().map_or(0, Vec::len),
        };
        let bytes = frame.length.saturating_add(so_far);
        // A control frame is no part of a message, also between fragments of one.
        if frame.opcode < opcode::CLOSE && bytes > self.limit {
            if Oversized::is_endless(bytes, self.limit) {
                return Err(CloseReason::TooLarge);
            }
            let fragments = self.fragments.as_mut().map(std::mem::take).unwrap_or_default();
            self.skipped.get_or_insert_with(|| Oversized::after(&fragments, self.limit));
        }
        self.frame = Some(frame);
        Ok(())
    }

    fn finish(&mut self, frame: Frame) -> Result<Option<Incoming>, CloseReason> {
        match frame.opcode {
            opcode::PING => Ok(Some(Incoming::Ping(frame.payload))),
            opcode::PONG => Ok(Some(Incoming::Pong)),
            opcode::CLOSE => {
                let code = frame.payload.first_chunk::<2>().map(|c| u16::from_be_bytes(*c));
                Ok(Some(Incoming::Close(code)))
            }
            opcode::TEXT | opcode::BINARY if self.fragments.is_some() => Err(broken("fragments interleaved")),
            opcode::CONTINUE if self.fragments.is_none() => Err(broken("continuation of nothing")),
            opcode::TEXT | opcode::BINARY | opcode::CONTINUE if self.skipped.is_some() => {
                self.fragments = (!frame.fin).then(Vec::new);
                Ok(self.skipped.take_if(|_| frame.fin).map(Incoming::Oversized))
            }
            opcode::TEXT | opcode::BINARY if frame.fin => Ok(Some(Incoming::Message(frame.payload.into()))),
            opcode::TEXT | opcode::BINARY => {
                self.fragments = Some(frame.payload);
                Ok(None)
            }
            opcode::CONTINUE => {
                let mut whole = self.fragments.take().unwrap_or_default();
                whole.extend_from_slice(&frame.payload);
                if frame.fin {
                    return Ok(Some(Incoming::Message(whole.into())));
                }
                self.fragments = Some(whole);
                Ok(None)
            }
            _ => Err(broken("unknown opcode")),
        }
    }
}

/// Makes a text frame of what lies in `text` behind its first [`HEAD`] bytes.
pub(super) fn frame(text: Vec<u8>) -> Vec<u8> {
    encode(text, opcode::TEXT)
}

/// A pong that answers a ping.
pub(super) fn pong(payload: &[u8]) -> Vec<u8> {
    control(opcode::PONG, payload)
}

/// A ping without payload.
pub(super) fn ping() -> Vec<u8> {
    control(opcode::PING, &[])
}

/// A close frame with code 1000.
pub(super) fn close() -> Vec<u8> {
    control(opcode::CLOSE, &1000u16.to_be_bytes())
}

fn control(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD];
    bytes.extend_from_slice(payload);
    encode(bytes, opcode)
}

/// Writes the header right in front of the payload and masks the payload where it lies.
fn encode(mut bytes: Vec<u8>, opcode: u8) -> Vec<u8> {
    const FIN: u8 = 0x80;
    const MASKED: u8 = 0x80;
    let length = bytes.len() - HEAD;
    let mask = fastrand::u32(..).to_ne_bytes();
    apply_mask(&mut bytes[HEAD..], mask);
    bytes[HEAD - 4..HEAD].copy_from_slice(&mask);
    let start = match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ 0..=125), _) => {
            bytes[HEAD - 5] = MASKED | short;
            HEAD - 6
        }
        (_, Ok(medium)) => {
            bytes[HEAD - 7] = MASKED | 126;
            bytes[HEAD - 6..HEAD - 4].copy_from_slice(&medium.to_be_bytes());
            HEAD - 8
        }
        _ => {
            bytes[HEAD - 13] = MASKED | 127;
            bytes[HEAD - 12..HEAD - 4].copy_from_slice(&(length as u64).to_be_bytes());
            0
        }
    };
    bytes[start] = FIN | opcode;
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

/// Shakes hands (RFC 6455 section 4.1). Returns bytes that came behind the response.
pub(super) fn handshake(
    stream: &Stream,
    uri: &Uri,
    headers: &[(String, String)],
    deadline: Deadline,
) -> Result<Vec<u8>, Error> {
    let failed = |problem: String| Error::Connect { problem };
    let mut nonce = [0; 16];
    fastrand::Rng::new().fill(&mut nonce);
    let key = BASE64_STANDARD.encode(nonce);
    let mut request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n",
        http::path(uri),
        http::host(uri),
    );
    http::push_headers(&mut request, headers)?;
    request.push_str("\r\n");
    let io = Blocking { stream, deadline, kind: TimeoutKind::Handshake, began: Instant::now() };
    io.write_all(request.as_bytes())?;
    let head = io.read_head()?;
    if head.status != 101 {
        return Err(failed(format!("the endpoint answered the handshake with HTTP status {}", head.status)));
    }
    let upgraded = head.header("upgrade").is_some_and(|u| u.eq_ignore_ascii_case("websocket"));
    if !upgraded || head.header("sec-websocket-accept") != Some(accept(&key).as_str()) {
        return Err(failed("the endpoint does not speak WebSocket".to_owned()));
    }
    Ok(head.rest)
}

/// The answer to a handshake's key, RFC 6455 section 4.2.2.
fn accept(key: &str) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(key.as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    BASE64_STANDARD.encode(hash.digest().bytes())
}
