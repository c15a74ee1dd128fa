//! Lines of a stream, of a length that is bounded.

/// Bytes of a line at most.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// Puts lines together from what is read.
#[derive(Debug)]
pub(super) struct Lines {
    begun: Vec<u8>,
    too_long: bool,
    longest: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::of(LONGEST)
    }
}

impl Lines {
    /// Lines of so many bytes at most.
    pub(super) fn of(longest: usize) -> Self {
        Self { begun: Vec::new(), too_long: false, longest }
    }

    /// Takes what was read, and hands on each line that it ends: `None` for one that was too long. A line that the end of
    /// the stream cuts off is no line.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut line: impl FnMut(Option<&[u8]>)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (end, rest) = bytes.split_at(at);
            self.push(end);
            line((!self.too_long).then_some(self.begun.as_slice()));
            self.begun.clear();
            self.begun.shrink_to(64 * 1024);
            self.too_long = false;
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.push(bytes);
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.too_long || self.begun.len() + bytes.len() > self.longest {
            self.too_long = true;
            self.begun = Vec::new();
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
            lines.take(part.as_bytes(), |line| seen.push(line.map(|line| String::from_utf8_lossy(line).into_owned())));
        }
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(seen, [line("one"), line("two"), None, line(""), line("12345"), None]);
    }
}
