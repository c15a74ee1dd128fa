//! Line diffs.

use std::fmt;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// How long the search for the smallest diff may take; after that a larger one is used.
const TIME: Duration = Duration::from_millis(200);

/// Lines replaced by other lines.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the old text, from 0.
    pub at: usize,
    /// Lines of the earlier snapshot that are gone, in order.
    pub removed: Vec<String>,
    /// Lines that are new, in order.
    pub added: Vec<String>,
}

/// A diff. Displayed as lines that begin with `- ` and `+ `.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// The hunks, in the order of the text.
    pub hunks: Vec<Hunk>,
}

impl Diff {
    /// The diff of two texts.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let until = Instant::now() + TIME;
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(until));
        let mut hunks: Vec<Hunk> = Vec::new();
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let (from, to) = (op.old_range(), op.new_range());
            let at = from.start;
            let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
            let (removed, added) = (own(&old[from]), own(&new[to]));
            match hunks.last_mut().filter(|last| last.at + last.removed.len() == at) {
                Some(last) => {
                    last.removed.extend(removed);
                    last.added.extend(added);
                }
                None => hunks.push(Hunk { at, removed, added }),
            }
        }
        Self { hunks }
    }

    /// The same diff with the lines of the new text replaced, such as by ones with more details.
    pub(super) fn shown_with(mut self, lines: &[&str]) -> Self {
        let (mut added, mut removed) = (0, 0);
        for hunk in &mut self.hunks {
            let at = hunk.at + added - removed;
            added += hunk.added.len();
            removed += hunk.removed.len();
            for (line, shown) in hunk.added.iter_mut().zip(lines.get(at..).unwrap_or_default()) {
                (*shown).clone_into(line);
            }
        }
        self
    }

    /// Applies the diff to the old text. `None` if it does not match.
    #[must_use]
    pub fn apply(&self, old: &str) -> Option<String> {
        let old: Vec<&str> = old.lines().collect();
        let (mut new, mut at) = (Vec::new(), 0);
        for hunk in &self.hunks {
            new.extend(old.get(at..hunk.at)?);
            at = hunk.at + hunk.removed.len();
            if old.get(hunk.at..at)? != hunk.removed.as_slice() {
                return None;
            }
            new.extend(hunk.added.iter().map(String::as_str));
        }
        new.extend(old.get(at..)?);
        Some(new.join("\n"))
    }

    /// Whether the texts are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for hunk in &self.hunks {
            let gone = hunk.removed.iter().map(|line| ("- ", line));
            for (mark, line) in gone.chain(hunk.added.iter().map(|line| ("+ ", line))) {
                if !first {
                    f.write_str("\n")?;
                }
                first = false;
                write!(f, "{mark}{line}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_shown_as_the_other_text_has_them() {
        let diff = Diff::between("a\nb\nc\nd", "b\nx\nc\nd\ny").shown_with(&["B", "X", "C", "D", "Y"]);
        assert_eq!(diff.to_string(), "- a\n+ X\n+ Y");
    }
}
