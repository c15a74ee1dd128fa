//! Labels that begin a line of a step: `**Keywords:**`, `**Reasoning:**`, `If shown:`, `For each`, `Read <name>:`.

use super::headings::after_word;
use super::model::InstructionKind;
use super::names::is_name;
use super::problem::quoted;

/// A line that begins with a bold label, or is meant to.
pub(super) struct Label<'t> {
    /// The text behind the label.
    pub(super) rest: &'t str,
    /// Written exactly as the grammar has it.
    pub(super) is_exact: bool,
    /// Written with emphasis, so that it cannot be meant as part of a sentence.
    pub(super) is_bold: bool,
}

/// The label of this name in a line. `name` is `Keywords` or `Reasoning`.
pub(super) fn label<'t>(line: &'t str, name: &str) -> Option<Label<'t>> {
    let text = without_mark(line.trim_start());
    let inner = text.trim_start_matches(['*', '_']);
    let singular = name.trim_end_matches('s');
    let after = after_word(inner, name).or_else(|| after_word(inner, singular))?;
    let rest = after.trim_start_matches(['*', '_', ' ']).strip_prefix(':')?;
    let rest = rest.trim_start_matches(['*', '_']).trim();
    let is_exact = line.strip_prefix("**").is_some_and(|line| line == format!("{name}:** {rest}"));
    Some(Label { rest, is_exact, is_bold: inner.len() < text.len() })
}

/// The text without the mark of a list item (`- `, `* `, `+ `, `1. `, `1) `).
pub(super) fn without_mark(text: &str) -> &str {
    item(text).unwrap_or(text)
}

/// What stands behind the mark of a list item.
fn item(text: &str) -> Option<&str> {
    let marked = text.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then(|| rest.strip_prefix(['.', ')'])).flatten()
    })?;
    marked.starts_with([' ', '\t']).then(|| marked.trim_start())
}

/// Whether the line is a list item that is not nested.
pub(super) fn is_item(line: &str) -> bool {
    item(line).or_else(|| line.strip_prefix(' ').and_then(item)).is_some()
}

/// How a line of an instruction begins.
pub(super) fn kind(line: &str) -> InstructionKind {
    let text = without_mark(line.trim_start());
    if text.starts_with("If shown:") {
        InstructionKind::IfShown
    } else if text.strip_prefix("For each").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
        InstructionKind::ForEach
    } else if let Some(name) = read_name(text) {
        InstructionKind::Read { name: name.to_owned() }
    } else {
        InstructionKind::Plain
    }
}

fn read_name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("Read ")?.split_once(':')?;
    is_name(name).then_some(name)
}

/// What an instruction says behind its beginning.
pub(super) fn body<'t>(text: &'t str, kind: &InstructionKind) -> &'t str {
    let text = without_mark(text.trim_start());
    match kind {
        InstructionKind::Plain | InstructionKind::ForEach => text,
        InstructionKind::IfShown | InstructionKind::Read { .. } => {
            text.split_once(':').map_or(text, |(_, body)| body).trim()
        }
    }
}

/// How a line that begins a paragraph should begin, if it is nearly one of the special beginnings.
pub(super) fn misspelled(line: &str) -> Option<String> {
    if kind(line) != InstructionKind::Plain {
        return None;
    }
    let text = without_mark(line.trim_start());
    let plain = text.trim_start_matches(['*', '_']);
    if let Some(rest) = after_word(plain, "if shown") {
        return Some(format!("If shown: {}", sentence(rest)));
    }
    if let Some(rest) = after_word(plain, "for each") {
        return Some(format!("For each {}", sentence(rest)));
    }
    let rest = after_word(plain, "read").filter(|rest| rest.starts_with(char::is_whitespace))?;
    let (name, rest) = rest.split_once(':')?;
    let name = name.trim().trim_matches(['<', '>', '*', '_', '`', '"', '{', '}']).trim();
    is_name(name).then(|| format!("Read {name}: {}", sentence(rest)))
}

fn sentence(text: &str) -> &str {
    text.trim_start_matches(['*', '_', ':', ',', ' ']).trim_end()
}

/// The sentence about a label that is written in another way.
pub(super) fn shape_message(line: &str, wanted: &str) -> String {
    format!("{} is not recognised; write {}", quoted(line.trim()), quoted(wanted))
}
