//! Placeholders of stored secrets, `{{secret:NAME}}`: what a model writes instead of a secret. They are no secrets, although they look
//! like a label with a value.

use std::ops::Range;

const START: &str = "{{";
const END: &str = "}}";
/// Maximum length of a name, in bytes.
const LONGEST: usize = 64;

/// Whether a text consists of placeholders.
pub(super) fn is_only(text: &str) -> bool {
    let text = text.trim();
    let all = found(text);
    !all.is_empty() && all.iter().map(|range| range.len()).sum::<usize>() == text.len()
}

/// Redacts the parts of a text around its placeholders, and names in them that are secrets; `None` if there is nothing to redact.
pub(super) fn cover_around(text: &str, cover: impl Fn(&str) -> Option<String>) -> Option<String> {
    if !text.contains(START) {
        return cover(text);
    }
    let mut all = found(text);
    all.retain(|range| cover(name_in(&text[range.clone()])).is_none());
    let (mut out, mut from, mut is_changed) = (String::with_capacity(text.len()), 0, false);
    for range in all.into_iter().chain(std::iter::once(text.len()..text.len())) {
        let part = &text[from..range.start];
        let covered = cover(part);
        is_changed |= covered.is_some();
        out.push_str(covered.as_deref().unwrap_or(part));
        out.push_str(&text[range.clone()]);
        from = range.end;
    }
    is_changed.then_some(out)
}

/// The name in a placeholder.
fn name_in(placeholder: &str) -> &str {
    placeholder.split_once(':').map_or("", |(_, name)| name.trim_end_matches('}').trim())
}

/// The placeholders in a text.
fn found(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices(START).map(|(at, _)| at);
    let ends = |at: usize| {
        let inside = &text[at + START.len()..];
        let end = inside.find(END)?;
        let name = inside[..end].trim_start().strip_prefix("secret")?.trim_start().strip_prefix(':')?.trim();
        let is_name = !name.is_empty()
            && name.len() <= LONGEST
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        is_name.then_some(at..at + START.len() + end + END.len())
    };
    starts.filter_map(ends).collect()
}
