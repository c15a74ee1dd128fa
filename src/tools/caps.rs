//! How much text a model is given at once.

/// A text that may have been cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped {
    /// Whole lines of it.
    pub text: String,
    /// Lines that were left out.
    pub left_out: usize,
}

impl Capped {
    /// The first lines of a text that have so many characters at most. A line that is longer than that by itself is
    /// cut within, so that there is something to read.
    #[must_use]
    pub fn of(text: &str, most: usize) -> Self {
        if text.chars().count() <= most {
            return Self { text: text.to_owned(), left_out: 0 };
        }
        let total = text.lines().count();
        let (mut kept, mut lines, mut chars) = (String::new(), 0, 0);
        for line in text.lines() {
            let more = line.chars().count() + 1;
            if chars + more > most {
                break;
            }
            kept.push_str(line);
            kept.push('\n');
            chars += more;
            lines += 1;
        }
        if lines == 0 {
            kept = text.lines().next().unwrap_or_default().chars().take(most).collect();
            return Self { text: kept, left_out: total };
        }
        Self { text: kept, left_out: total - lines }
    }

    /// The same of what follows the first `skipped` lines.
    #[must_use]
    pub fn after(text: &str, skipped: usize, most: usize) -> Self {
        let rest = text.split_inclusive('\n').take(skipped).map(str::len).sum::<usize>();
        Self::of(text.get(rest..).unwrap_or_default(), most)
    }

    /// The same, with a last line that says where the rest lies.
    #[must_use]
    pub fn noted(self, rest: &str) -> String {
        if self.left_out == 0 {
            return self.text;
        }
        let mut text = self.text;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let lines = if self.left_out == 1 { "line" } else { "lines" };
        text.push_str(&format!("[{} {lines} more: {rest}]", self.left_out));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Capped;

    #[test]
    fn texts_are_cut_at_whole_lines() {
        let cut = |text: &str, most| {
            let capped = Capped::of(text, most);
            (capped.text, capped.left_out)
        };
        assert_eq!(cut("one\ntwo\nthree", 100), ("one\ntwo\nthree".into(), 0));
        assert_eq!(cut("one\ntwo\nthree", 9), ("one\ntwo\n".into(), 1));
        assert_eq!(cut("one\ntwo\nthree", 5), ("one\n".into(), 2));
        assert_eq!(cut("ääää\nb", 3), ("äää".into(), 2));
        assert_eq!(Capped::of("one\ntwo", 5).noted("in a file"), "one\n[1 line more: in a file]");
        assert_eq!(Capped::after("one\ntwo\nthree", 1, 4), Capped { text: "two\n".into(), left_out: 1 });
        assert_eq!(Capped::after("one\ntwo", 9, 4), Capped { text: String::new(), left_out: 0 });
        assert_eq!(Capped::of("one", 5).noted("in a file"), "one");
    }
}
