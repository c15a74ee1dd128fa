//! Ids of elements that hold for one snapshot or screenshot only and must not be written into a routine.

use super::model::{Place, Routine};
use super::problem::{Problems, quoted};

/// Words before a ref such as `e12` that say that it is one.
const REF_WORDS: &[&str] =
    &["element", "elements", "element_id", "elementid", "element-id", "element id", "ref", "node"];
/// Words before an id of a screenshot, such as `yswq38`.
const ID_WORDS: &[&str] = &["element_id", "elementid", "element-id"];
/// The length of such an id.
const ID_LENGTH: usize = 6;

pub(super) fn check(routine: &Routine, problems: &mut Problems) {
    for (i, line) in routine.source.iter().enumerate() {
        let is_checked =
            matches!(line.place, Place::Title(_) | Place::Instruction(_) | Place::Reasoning(_) | Place::Result);
        let Some(found) = is_checked.then(|| find(&line.text)).flatten() else { continue };
        let message = format!(
            "{} is an element id of one snapshot and is not valid in later ones; write the role and the visible label of \
             the element",
            quoted(found)
        );
        problems.add(i + 1, "ELEMENT_ID", message);
    }
}

/// The first element id in a line.
fn find(line: &str) -> Option<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find(is_word) {
        let begin = from + at;
        let rest = line.get(begin..)?;
        let end = begin + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (before, word, after) = (line.get(..begin)?, line.get(begin..end)?, line.get(end..)?);
        let is_written_as_ref = || marked(before, after) || named(before, REF_WORDS);
        if (is_ref(word) && is_written_as_ref()) || (is_id(word) && named(before, ID_WORDS)) {
            return Some(word);
        }
        from = end;
    }
    None
}

fn is_ref(word: &str) -> bool {
    word.strip_prefix('e')
        .is_some_and(|digits| (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_id(word: &str) -> bool {
    word.len() == ID_LENGTH && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// `@e12` and `[e12]`, but neither `me@e12.example` nor `list[e12]` nor a link `[e12](…)`.
fn marked(before: &str, after: &str) -> bool {
    let stands_alone = |text: &str| !text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'));
    let continues = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    if let Some(before) = before.strip_suffix('@') {
        return stands_alone(before) && !continues && !after.starts_with(['@', '-']);
    }
    let bracket = before.strip_suffix('[').is_some_and(stands_alone);
    bracket && after.strip_prefix(']').is_some_and(|rest| !rest.starts_with('('))
}

/// Whether the text ends with one of the words and then only blanks, quotes, `:`, `=`.
fn named(before: &str, words: &[&str]) -> bool {
    let before = before.trim_end_matches([' ', '"', '\'', '`', ':', '=', '*', '“', '[', '@', '(']);
    let before = before.to_lowercase();
    let ends = |word: &&str| {
        before.strip_suffix(*word).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    words.iter().any(ends)
}
