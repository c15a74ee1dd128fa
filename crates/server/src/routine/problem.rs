//! Problems of a text, and how messages quote what was written.

use std::fmt;

use serde::Serialize;

use super::text::hidden_name;

/// The most problems that one text reports. Later ones appear once the first are fixed.
pub const MAX_PROBLEMS: usize = 50;

/// The longest quotation of the text in a message, in characters.
const MAX_QUOTE: usize = 160;

/// A rule that a text breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Line of the normalised text, from 1.
    pub line: usize,
    /// Stable token of the rule, such as `STEP_NUMBER`.
    pub code: &'static str,
    /// Why the line is refused and what to write instead: one sentence without a final period.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ({})", self.line, self.message, self.code)
    }
}

/// Collects the problems of one text.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn add(&mut self, line: usize, code: &'static str, message: impl Into<String>) {
        self.0.push(Problem { line, code, message: message.into() });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems by line, each once, at most [`MAX_PROBLEMS`].
    pub(super) fn sorted(mut self) -> Vec<Problem> {
        self.0.sort_by(|a, b| (a.line, a.code, &a.message).cmp(&(b.line, b.code, &b.message)));
        self.0.dedup();
        self.0.truncate(MAX_PROBLEMS);
        self.0
    }
}

/// The text in backquotes, on one line, shortened, with hidden characters as their code points.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == MAX_QUOTE {
            shown.push('…');
            break;
        }
        match (c, hidden_name(c)) {
            ('\n' | '\t', _) => shown.push(' '),
            ('`', _) => shown.push('\''),
            (_, Some(name)) => shown.push_str(&name),
            (c, None) => shown.push(c),
        }
    }
    shown.push('`');
    shown
}
