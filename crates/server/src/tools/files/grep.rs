//! Search in the text of one file.

use std::fmt::Write as _;

use regex::Regex;

/// Maximum size of a searched file, in bytes.
pub(super) const LARGEST: u64 = 8 << 20;
/// Maximum length of a shown line, in characters.
const LINE: usize = 400;

/// Matches so far.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// Matching lines as `path:line: text`, context lines as `path-line- text`.
    pub(super) text: String,
    /// Number of matching lines.
    pub(super) lines: usize,
    /// Number of files with matches.
    pub(super) files: usize,
}

impl Matches {
    /// Adds the matching lines of a file, up to `most` lines and about `chars` characters in total. Returns whether a
    /// limit was reached, so that there may be more.
    pub(super) fn add(
        &mut self,
        path: &str,
        text: &str,
        pattern: &Regex,
        around: usize,
        most: usize,
        chars: usize,
    ) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let (mut shown, mut any) = (0, false);
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            if self.lines >= most || self.text.len() > chars {
                return true;
            }
            let from = at.saturating_sub(around).max(shown);
            if around > 0 && any && from > shown {
                self.text.push_str("--\n");
            }
            self.files += usize::from(!any);
            any = true;
            for (before, line) in lines.iter().enumerate().take(at).skip(from) {
                self.line(path, before, '-', line, None);
            }
            if at >= shown {
                let begins = pattern.find(line).map(|found| found.start());
                self.line(path, at, ':', line, begins);
                shown = at + 1;
            }
            self.lines += 1;
            // Context after the match, up to the next matching line.
            for (after, line) in lines.iter().enumerate().skip(at + 1).take(around) {
                if pattern.is_match(line) {
                    break;
                }
                self.line(path, after, '-', line, None);
                shown = after + 1;
            }
        }
        false
    }

    fn line(&mut self, path: &str, at: usize, sign: char, line: &str, begins: Option<usize>) {
        let _ = writeln!(self.text, "{path}{sign}{}{sign} {}", at + 1, cut(line, begins.unwrap_or(0)));
    }
}

/// Shortens a long line around the match.
fn cut(line: &str, begins: usize) -> String {
    if line.chars().count() <= LINE {
        return line.to_owned();
    }
    let before = line.get(..begins).map_or(0, |before| before.chars().count());
    let skipped = before.saturating_sub(LINE / 4);
    let kept: String = line.chars().skip(skipped).take(LINE).collect();
    let (start, end) = (if skipped > 0 { "…" } else { "" }, if line.ends_with(&kept) { "" } else { "…" });
    format!("{start}{kept}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_once_with_what_is_around() {
        let text = "a\nhit 1\nb\nc\nd\nhit 2\nhit 3\ne\n";
        let found = |around| {
            let mut found = Matches::default();
            assert!(!found.add("f", text, &Regex::new("hit").unwrap(), around, 10, 1000));
            (found.text, found.lines, found.files)
        };
        assert_eq!(found(0), ("f:2: hit 1\nf:6: hit 2\nf:7: hit 3\n".into(), 3, 1));
        let around = "f-1- a\nf:2: hit 1\nf-3- b\n--\nf-5- d\nf:6: hit 2\nf:7: hit 3\nf-8- e\n";
        assert_eq!(found(1), (around.into(), 3, 1));
        let long = format!("{}hit{}", "x".repeat(1000), "y".repeat(1000));
        let mut found = Matches::default();
        assert!(!found.add("f", &long, &Regex::new("hit").unwrap(), 0, 10, 1000));
        assert!(found.text.contains("xhity") && found.text.chars().count() < 450, "{}", found.text);
        let mut few = Matches::default();
        assert!(few.add("f", text, &Regex::new("hit").unwrap(), 0, 2, 1000));
        assert_eq!(few.lines, 2);
    }
}
