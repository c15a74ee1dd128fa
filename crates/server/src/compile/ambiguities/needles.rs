//! The search for values in the texts of pages: one pass over the texts for all values.

use std::collections::HashMap;

use super::trace::Trace;
use crate::record::{Element, Event, EventType};

/// Texts of elements from this length, in characters, may be cut; their HTML has more.
const MAYBE_CUT: usize = 190;

/// Lengths and first bytes of words that are distinguished.
const STARTS: usize = 64 * 256;

/// A value that is searched for.
struct Needle<'v> {
    value: &'v str,
    /// Where the word begins in it by which it is found.
    offset: usize,
    /// Whether it is one word without digits: a title contains many of those by chance.
    is_word: bool,
    /// Index of the event that showed it, if a person had not entered it before.
    shown: Option<u64>,
    /// Whether a person has entered it, also as part of another value.
    typed: bool,
}

/// Values, and the events whose pages show them.
#[derive(Default)]
pub(super) struct Needles<'v> {
    all: Vec<Needle<'v>>,
    by_value: HashMap<&'v str, usize>,
    /// Positions of needles by the word by which they are found.
    by_word: HashMap<&'v str, Vec<usize>>,
    /// By length and first byte of a word, whether a value is found by such a one: most words of a page are skipped
    /// without hashing them.
    starts: Vec<bool>,
}

impl<'v> Needles<'v> {
    /// Values without words are not searched for.
    pub(super) fn new(values: impl Iterator<Item = &'v str>) -> Self {
        let mut needles = Self { starts: vec![false; STARTS], ..Self::default() };
        let mut values: Vec<&str> = values.collect();
        values.sort_unstable();
        values.dedup();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for word in values.iter().flat_map(|value| words(value)).map(|(_, word)| word) {
            *counts.entry(word).or_default() += 1;
        }
        for value in values {
            // A word that few values have leads to few comparisons.
            let rarest = words(value).min_by_key(|(_, word)| counts.get(word));
            let Some((offset, word)) = rarest else { continue };
            if let Some(start) = needles.starts.get_mut(start_of(word, 0, word.len())) {
                *start = true;
            }
            needles.by_value.insert(value, needles.all.len());
            needles.by_word.entry(word).or_default().push(needles.all.len());
            let is_word = value.chars().all(char::is_alphabetic);
            needles.all.push(Needle { value, offset, is_word, shown: None, typed: false });
        }
        needles
    }

    /// Index of the event that showed a value first, if a person had not entered it before.
    pub(super) fn shown(&self, value: &str) -> Option<u64> {
        self.by_value.get(value).and_then(|at| self.all.get(*at)).and_then(|needle| needle.shown)
    }

    /// Notes which event showed each value first, and which values a person entered before.
    pub(super) fn search(&mut self, trace: &Trace<'_>) {
        if self.all.is_empty() {
            return;
        }
        let mut titles: HashMap<u64, &str> = HashMap::new();
        for seen in &trace.0 {
            let event = seen.event;
            let title = event.page.title.as_str();
            if titles.insert(event.tab, title) != Some(title) {
                self.text(title, &mut |needle| needle.is_shown(event, !needle.is_word));
            }
            if event.event_type == EventType::Input {
                let value = event.data.get("value").and_then(serde_json::Value::as_str).unwrap_or_default();
                self.text(value, &mut |needle| needle.typed = true);
            }
            if let Some(message) = event.data.get("message").and_then(serde_json::Value::as_str) {
                self.text(message, &mut |needle| needle.is_shown(event, true));
            }
            if let Some(element) = &event.element {
                self.element(event, element);
            }
        }
    }

    fn element(&mut self, event: &Event, element: &Element) {
        let mut shows = |needle: &mut Needle<'_>| needle.is_shown(event, true);
        self.text(&element.name, &mut shows);
        if let Some(container) = &element.container {
            self.text(&container.title, &mut shows);
        }
        // The text of a field that is edited was entered by the person.
        if element.sensitive || matches!(event.event_type, EventType::Input | EventType::Change) {
            return;
        }
        if element.text != element.name {
            self.text(&element.text, &mut shows);
        }
        if element.tag == "input" {
            self.text(value_of(&element.html), &mut shows);
        } else if element.tag != "select" && (element.text.is_empty() || element.text.len() >= MAYBE_CUT) {
            let mut html = element.html.as_str();
            while let Some(text) = next_text(&mut html) {
                self.text(text, &mut shows);
            }
        }
    }

    /// Calls a function for each value that a text contains as whole words.
    fn text(&mut self, text: &str, found: &mut dyn FnMut(&mut Needle<'_>)) {
        let mut at = 0;
        while let Some((start, end)) = next_word(text, at) {
            at = end;
            if self.starts.get(start_of(text, start, end)) != Some(&true) {
                continue;
            }
            let Some(needles) = text.get(start..end).and_then(|word| self.by_word.get(word)) else { continue };
            for at in needles {
                if let Some(needle) = self.all.get_mut(*at)
                    && start.checked_sub(needle.offset).is_some_and(|start| is_at(text, start, needle.value))
                {
                    found(needle);
                }
            }
        }
    }
}

impl Needle<'_> {
    fn is_shown(&mut self, event: &Event, counts: bool) {
        if counts && !self.typed && self.shown.is_none() {
            self.shown = Some(event.event_index);
        }
    }
}

/// Place of a word in the table of lengths and first bytes.
fn start_of(text: &str, start: usize, end: usize) -> usize {
    (end - start).min(63) * 256 + usize::from(text.as_bytes().get(start).copied().unwrap_or_default())
}

/// Whether a byte is part of a word, for each byte.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// The words of a text, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, end) = next_word(text, at)?;
        at = end;
        text.get(start..end).map(|word| (start, word))
    })
}

/// The next run of letters and digits. A loop over a table is fast also without optimisation.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let (bytes, length) = (text.as_bytes(), text.len());
    let mut start = from;
    while start < length && !WORD[bytes[start] as usize] {
        start += 1;
    }
    let mut end = start;
    while end < length && WORD[bytes[end] as usize] {
        end += 1;
    }
    (end > start).then_some((start, end))
}

/// Whether a text has a value at a place, and not as part of a longer word or number.
fn is_at(text: &str, start: usize, value: &str) -> bool {
    if !text.get(start..).is_some_and(|rest| rest.starts_with(value)) {
        return false;
    }
    let bytes = text.as_bytes();
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let end = start + value.len();
    let is_part = |one: u8, beyond: u8| WORD[one as usize] || (matches!(one, b'.' | b',') && beyond.is_ascii_digit());
    let (first, last) = (byte(Some(start)), byte(end.checked_sub(1)));
    let before = WORD[first as usize] && is_part(byte(start.checked_sub(1)), byte(start.checked_sub(2)));
    let after = WORD[last as usize] && is_part(byte(Some(end)), byte(Some(end + 1)));
    !before && !after
}

/// Takes the text before the next tag, and the tag, from HTML.
fn next_text<'h>(html: &mut &'h str) -> Option<&'h str> {
    if html.is_empty() {
        return None;
    }
    let tag = memchr::memchr(b'<', html.as_bytes()).unwrap_or(html.len());
    let (text, rest) = html.split_at_checked(tag)?;
    let end = memchr::memchr(b'>', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
    *html = rest.get(end..).unwrap_or_default();
    Some(text)
}

/// The `value` attribute of an input.
fn value_of(html: &str) -> &str {
    let value = html.split_once(" value=\"").map(|(_, rest)| rest);
    value.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}
