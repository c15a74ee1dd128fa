//! Splits input into lines of bounded length.

/// One line, without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Text.
    Text(String),
    /// A line above the limit; it was skipped.
    TooLong,
    /// A line that is not UTF-8.
    NoText,
}

/// Assembles lines from chunks.
#[derive(Debug)]
pub(super) struct Lines {
    begun: Vec<u8>,
    too_long: bool,
    longest: usize,
}

impl Lines {
    /// Creates a splitter for lines of at most `longest` bytes.
    pub(super) fn of(longest: usize) -> Self {
        Self { begun: Vec::new(), too_long: false, longest }
    }

    /// Adds input and returns the completed lines.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            if self.too_long || self.begun.len() + text.len() > self.longest {
                self.too_long = true;
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(text);
            }
            if ends {
                lines.extend(self.end());
            }
        }
        lines
    }

    /// Ends the input. Returns the unfinished last line unless it is empty.
    pub(super) fn end(&mut self) -> Option<Line> {
        let bytes = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.too_long) {
            return Some(Line::TooLong);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(String::from_utf8(bytes).map_or(Line::NoText, Line::Text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let text = b"one\n\n  \r\ntwo\r\ntoo long a line\nfive5\n\xff\nlast";
        for size in [1, 2, 3, 7, text.len()] {
            let mut lines = Lines::of(5);
            let mut all: Vec<Line> = text.chunks(size).flat_map(|piece| lines.take(piece)).collect();
            all.extend(lines.end());
            let text = |text: &str| Line::Text(text.to_owned());
            let wanted = [text("one"), text("two\r"), Line::TooLong, text("five5"), Line::NoText, text("last")];
            assert_eq!(all, wanted, "in pieces of {size}");
        }
    }
}
