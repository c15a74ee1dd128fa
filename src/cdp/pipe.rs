//! The framing of `--remote-debugging-pipe`: each message is JSON text and a NUL byte.

use bytes::Bytes;

use super::error::CloseReason;
use super::ws::Incoming;

/// Cuts what comes off a pipe into messages.
#[derive(Debug)]
pub(super) struct Decoder {
    partial: Vec<u8>,
    limit: usize,
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), limit }
    }

    /// The next message in `input`, which moves past what was used.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        let (piece, found) = match memchr::memchr(0, input) {
            Some(end) => (&input[..end], true),
            None => (*input, false),
        };
        *input = &input[piece.len() + usize::from(found)..];
        if self.partial.len() + piece.len() > self.limit {
            return Err(CloseReason::TooLarge);
        }
        if found && self.partial.is_empty() {
            return Ok(Some(Incoming::Message(Bytes::copy_from_slice(piece))));
        }
        self.partial.extend_from_slice(piece);
        Ok(found.then(|| Incoming::Message(std::mem::take(&mut self.partial).into())))
    }
}

/// Ends a message that was encoded in place.
pub(super) fn frame(mut text: Vec<u8>, head: usize) -> Vec<u8> {
    text.push(0);
    text.drain(..head);
    text
}
