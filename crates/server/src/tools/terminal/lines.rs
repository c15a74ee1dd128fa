//! Output of a command: its first and last lines, bounded in size; omitted lines are counted.

use std::collections::VecDeque;

/// Maximum size of the kept first lines (`HEAD`) and last lines (`TAIL`), in bytes.
const HEAD: usize = 64 << 10;
const TAIL: usize = 192 << 10;
/// Overhead counted for each line, so that empty lines are bounded too.
const EACH: usize = 32;
/// Maximum length of a line, in bytes; the rest of it is dropped.
const MAX_LINE_BYTES: usize = 8 << 10;

/// Output of a command.
#[derive(Debug, Default)]
pub(super) struct Lines {
    head: Vec<String>,
    head_bytes: usize,
    /// No more lines are added to the head.
    is_head_full: bool,
    tail: VecDeque<String>,
    tail_bytes: usize,
    total: usize,
    /// The unfinished last line, and the number of bytes dropped from it.
    open: Vec<u8>,
    cut: usize,
}

/// A range of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Index of the line after this range, from 0.
    pub(super) next: usize,
    /// Lines of the range that were dropped.
    pub(super) dropped: usize,
}

impl Lines {
    /// Appends output.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = MAX_LINE_BYTES.saturating_sub(self.open.len()).min(text.len());
            self.open.extend_from_slice(&text[..room]);
            self.cut += text.len() - room;
            if ends {
                self.end_line();
            }
        }
    }

    /// Ends the output; the unfinished line becomes complete.
    pub(super) fn finish(&mut self) {
        if !self.open.is_empty() {
            self.end_line();
        }
    }

    /// Number of lines written, including an unfinished last line.
    pub(super) fn total(&self) -> usize {
        self.total + usize::from(!self.open.is_empty())
    }

    fn end_line(&mut self) {
        let line = self.open_text();
        (self.open, self.cut) = (Vec::new(), 0);
        self.total += 1;
        let size = line.len() + EACH;
        if !self.is_head_full && self.head_bytes + size <= HEAD {
            self.head_bytes += size;
            self.head.push(line);
            return;
        }
        self.is_head_full = true;
        self.tail_bytes += size;
        self.tail.push_back(line);
        while self.tail_bytes > TAIL
            && let Some(dropped) = self.tail.pop_front()
        {
            self.tail_bytes -= dropped.len() + EACH;
        }
    }

    /// The unfinished line as a terminal shows it: a carriage return starts it again.
    fn open_text(&self) -> String {
        let line = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
        let line = line.rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
        let mut text = String::from_utf8_lossy(line).into_owned();
        if self.cut > 0 {
            text.push_str(&format!("… [{} bytes omitted]", self.cut));
        }
        text
    }

    /// Index of the first kept line of the tail.
    fn tail_from(&self) -> usize {
        self.total - self.tail.len()
    }

    fn line(&self, number: usize) -> Option<&str> {
        let line = self.head.get(number).or_else(|| self.tail.get(number.checked_sub(self.tail_from())?));
        line.map(String::as_str)
    }

    /// At most `most` lines from index `from` that have at most `chars` characters, but at least one line. Includes the
    /// unfinished last line.
    pub(super) fn part(&self, from: usize, most: usize, chars: usize) -> Part {
        let (mut text, mut used, mut next, mut dropped, mut given) = (String::new(), 0, from, 0, 0);
        while next < self.total && given < most {
            let Some(line) = self.line(next) else {
                dropped += 1;
                next += 1;
                continue;
            };
            let size = line.chars().count() + 1;
            if given > 0 && used + size > chars {
                return Part { text, next, dropped };
            }
            text.push_str(line);
            text.push('\n');
            used += size;
            given += 1;
            next += 1;
        }
        if next >= self.total && given < most {
            text.push_str(&self.open_text());
        }
        Part { text, next, dropped }
    }

    /// The whole output in at most `chars` characters: the first lines, and about twice as many of the last ones.
    pub(super) fn short(&self, chars: usize) -> String {
        let all: usize = self.head.iter().chain(&self.tail).map(|line| line.chars().count() + 1).sum();
        if all <= chars && self.tail_from() <= self.head.len() {
            return self.part(0, usize::MAX, usize::MAX).text;
        }
        let head = self.part(0, self.head.len(), chars / 3);
        let (mut last, mut used) = (self.total, 0);
        while last > head.next
            && let Some(line) = self.line(last - 1)
        {
            used += line.chars().count() + 1;
            if used > chars - chars / 3 && last < self.total {
                break;
            }
            last -= 1;
        }
        let left_out = last.saturating_sub(head.next);
        let tail = self.part(last, usize::MAX, usize::MAX).text;
        format!("{}[{left_out} lines omitted: {} to {last}]\n{tail}", head.text, head.next + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Lines {
        let mut lines = Lines::default();
        // In pieces, as they come.
        text.as_bytes().chunks(7).for_each(|piece| lines.take(piece));
        lines
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let lines = written("one\ntwo\r\n10%\r50%\r100%\nPassword: ");
        assert_eq!((lines.short(100), lines.total()), ("one\ntwo\n100%\nPassword: ".to_owned(), 4));
        assert_eq!(lines.part(1, 1, 100), Part { text: "two\n".into(), next: 2, dropped: 0 });
        assert_eq!(lines.part(1, 9, 5), Part { text: "two\n".into(), next: 2, dropped: 0 });
        assert_eq!(lines.part(3, 9, 100), Part { text: "Password: ".into(), next: 3, dropped: 0 });
        assert_eq!(written("").short(10), "");
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        let text: String = (1..=20).map(|number| format!("line {number}\n")).collect();
        let short = written(&text).short(60);
        assert_eq!(short, "line 1\nline 2\n[13 lines omitted: 3 to 15]\nline 16\nline 17\nline 18\nline 19\nline 20\n");
        // Empty lines have few characters and much overhead.
        let empty = written(&"\n".repeat(100_000)).short(9_000);
        assert!(empty.contains(" lines omitted: ") && empty.len() < 9_100, "{}", empty.len());
        let much: String = (1..=100_000).map(|number| format!("line {number}\n")).collect();
        let lines = written(&much);
        let short = lines.short(100);
        assert!(short.starts_with("line 1\n") && short.ends_with("line 100000\n"), "{short}");
        assert!(lines.head_bytes <= HEAD && lines.tail_bytes <= TAIL);
        let part = lines.part(lines.head.len(), 2, 1000);
        assert_eq!(part.dropped, lines.tail_from() - lines.head.len());
        assert!(part.text.starts_with(&format!("line {}\n", lines.tail_from() + 1)), "{part:?}");
    }

    #[test]
    fn one_endless_line_is_bounded() {
        let lines = written(&"x".repeat(100_000));
        assert!(lines.open.len() == MAX_LINE_BYTES && lines.short(50_000).ends_with("… [91808 bytes omitted]"));
    }
}
