//! Splits a stream into lines of bounded length.

/// Maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Number of bytes kept of a longer line.
const BEGINNING: usize = 64;

/// Assembles lines from chunks.
#[derive(Debug)]
pub(super) struct Lines {
    begun: Vec<u8>,
    too_long: bool,
    longest: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::of(MAX_LINE_BYTES)
    }
}

impl Lines {
    /// Creates a splitter for lines of at most `longest` bytes.
    pub(super) fn of(longest: usize) -> Self {
        Self { begun: Vec::new(), too_long: false, longest }
    }

    /// Adds input and calls `line` for each completed line; an `Err` is the beginning of a line that was too long. An
    /// unfinished line at the end of the stream is dropped.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut line: impl FnMut(Result<&[u8], &[u8]>)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (end, rest) = bytes.split_at(at);
            self.push(end);
            line(if self.too_long { Err(&self.begun) } else { Ok(&self.begun) });
            self.begun.clear();
            self.begun.shrink_to(64 * 1024);
            self.too_long = false;
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.push(bytes);
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.too_long {
            return;
        }
        if self.begun.len() + bytes.len() > self.longest {
            self.too_long = true;
            self.begun.extend_from_slice(bytes.get(..BEGINNING.min(bytes.len())).unwrap_or_default());
            self.begun.truncate(BEGINNING);
            self.begun.shrink_to_fit();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_come_whole_and_long_ones_are_told_of() {
        let (mut lines, mut seen) = (Lines::of(5), Vec::new());
        for part in ["on", "e\ntw", "o\n", "much ", "too lo", "ng\n\n12345\n123456\nend"] {
            lines.take(part.as_bytes(), |line| {
                let text_of = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                seen.push(line.map(text_of).map_err(text_of));
            });
        }
        let ok = |text: &str| Ok(text.to_owned());
        let long = |text: &str| Err(text.to_owned());
        assert_eq!(seen, [ok("one"), ok("two"), long("much too lo"), ok(""), ok("12345"), long("123456")]);
    }
}
