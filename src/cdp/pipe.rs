//! The framing of `--remote-debugging-pipe`: each message is JSON text followed by a NUL byte.

use bytes::Bytes;

use super::error::CloseReason;
use super::oversized::Oversized;
use super::ws::Incoming;

/// Splits pipe data into messages.
#[derive(Debug)]
pub(super) struct Decoder {
    partial: Vec<u8>,
    limit: usize,
    /// The oversized message that is being skipped.
    skipped: Option<Oversized>,
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), limit, skipped: None }
    }

    /// The next message in `input`, which is advanced past the consumed bytes.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<Incoming>, CloseReason> {
        let (piece, found) = match memchr::memchr(0, input) {
            Some(end) => (&input[..end], true),
            None => (*input, false),
        };
        *input = &input[piece.len() + usize::from(found)..];
        if self.skipped.is_none() && self.partial.len() + piece.len() > self.limit {
            self.skipped = Some(Oversized::after(&std::mem::take(&mut self.partial), self.limit));
        }
        if let Some(skipped) = &mut self.skipped {
            skipped.push(piece);
            if Oversized::is_endless(skipped.bytes(), self.limit) {
                return Err(CloseReason::TooLarge);
            }
            return Ok(self.skipped.take_if(|_| found).map(Incoming::Oversized));
        }
        if found && self.partial.is_empty() {
            return Ok(Some(Incoming::Message(Bytes::copy_from_slice(piece))));
        }
        self.partial.extend_from_slice(piece);
        Ok(found.then(|| Incoming::Message(std::mem::take(&mut self.partial).into())))
    }
}

/// Terminates a message.
pub(super) fn frame(mut text: Vec<u8>) -> Vec<u8> {
    text.push(0);
    text
}
