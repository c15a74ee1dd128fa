//! Incremental decoder for chunked bodies (RFC 9112, section 7.1).

/// Maximum length of a size line with its extensions.
const MAX_LINE: usize = 256;
/// Maximum size of all trailers, which are discarded.
const MAX_TRAILERS: usize = 4096;

/// State of the decoder.
#[derive(Debug)]
pub(super) struct Chunks {
    at: At,
    /// Whether the last byte was a carriage return, which only a line feed may follow.
    returned: bool,
    /// Bytes of the line so far, and of all trailers.
    line: usize,
    trailers: usize,
}

#[derive(Debug)]
enum At {
    Size { value: u64, digits: usize },
    Extension { value: u64 },
    Data { left: usize },
    Behind,
    Trailers,
}

/// Why a body is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkError {
    /// Its encoding is malformed.
    Malformed,
    /// It exceeds the limit.
    TooLarge,
}

/// Result of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkProgress {
    /// Consumed bytes of the input.
    pub(super) bytes: usize,
    /// Whether the body is complete.
    pub(super) ended: bool,
}

impl Chunks {
    pub(super) fn new() -> Self {
        Self { at: At::Size { value: 0, digits: 0 }, returned: false, line: 0, trailers: 0 }
    }

    /// Decodes more input. The content is appended to `body`, which never exceeds `most` bytes.
    pub(super) fn read(&mut self, input: &[u8], body: &mut Vec<u8>, most: usize) -> Result<ChunkProgress, ChunkError> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            if let At::Data { left } = &mut self.at {
                let take = (*left).min(input.len() - at);
                body.extend_from_slice(&input[at..at + take]);
                *left -= take;
                at += take;
                if *left == 0 {
                    self.at = At::Behind;
                }
                continue;
            }
            at += 1;
            if self.byte(byte, body.len(), most)? {
                return Ok(ChunkProgress { bytes: at, ended: true });
            }
        }
        Ok(ChunkProgress { bytes: at, ended: false })
    }

    /// Decodes one byte outside of data. Returns whether the body is complete.
    fn byte(&mut self, byte: u8, have: usize, most: usize) -> Result<bool, ChunkError> {
        if self.returned {
            self.returned = false;
            return if byte == b'\n' { self.line_end(have, most) } else { Err(ChunkError::Malformed) };
        }
        match (byte, &mut self.at) {
            (b'\r', At::Size { digits: 0, .. }) | (b'\n', _) => return Err(ChunkError::Malformed),
            (b'\r', _) => {
                self.returned = true;
                return Ok(false);
            }
            (_, At::Size { value, digits }) => match (char::from(byte).to_digit(16), byte) {
                (Some(digit), _) if *digits < 15 => {
                    *value = *value * 16 + u64::from(digit);
                    *digits += 1;
                }
                (Some(_), _) => return Err(ChunkError::TooLarge),
                (None, b';' | b' ' | b'\t') if *digits > 0 => self.at = At::Extension { value: *value },
                (None, _) => return Err(ChunkError::Malformed),
            },
            (_, At::Behind | At::Data { .. }) => return Err(ChunkError::Malformed),
            (_, At::Extension { .. } | At::Trailers) if byte == 0 => return Err(ChunkError::Malformed),
            (_, At::Extension { .. }) => {}
            (_, At::Trailers) => self.trailers += 1,
        }
        self.line += 1;
        let too_long = self.trailers > MAX_TRAILERS || self.line > MAX_LINE && !matches!(self.at, At::Trailers);
        if too_long { Err(ChunkError::Malformed) } else { Ok(false) }
    }

    fn line_end(&mut self, have: usize, most: usize) -> Result<bool, ChunkError> {
        let line = std::mem::take(&mut self.line);
        match self.at {
            At::Size { value, .. } | At::Extension { value } => {
                let size = usize::try_from(value).map_err(|_| ChunkError::TooLarge)?;
                if size > most.saturating_sub(have) {
                    return Err(ChunkError::TooLarge);
                }
                self.at = if size == 0 { At::Trailers } else { At::Data { left: size } };
            }
            At::Behind | At::Data { .. } => self.at = At::Size { value: 0, digits: 0 },
            At::Trailers => {
                self.trailers += 2;
                return Ok(line == 0);
            }
        }
        Ok(false)
    }
}
