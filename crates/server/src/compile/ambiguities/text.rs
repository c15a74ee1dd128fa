//! Parts of sentences. Texts of pages are on one line, quoted and cut.

use crate::record::draft::facts;

/// The longest quoted text, in characters.
const QUOTED: usize = 80;
/// Things that one sentence lists.
const LISTED: usize = 6;

/// A text of a page in quotation marks, without quotation marks in it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", facts::short(text, QUOTED).replace('"', "'"))
}

/// `A`, `A and B`, `A, B and 3 more`.
pub(super) fn list(parts: &[String]) -> String {
    let more = parts.len().saturating_sub(LISTED);
    let shown = parts.get(..parts.len() - more).unwrap_or(parts);
    match (shown, more) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A value and its field: `"Ada" in "Name"`.
pub(super) fn value_in(value: &str, field: &str) -> String {
    if facts::short(field, QUOTED).is_empty() {
        quoted(value)
    } else {
        format!("{} in {}", quoted(value), quoted(field))
    }
}
