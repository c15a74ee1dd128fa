//! Values that were entered after the page had shown them.

use std::collections::{HashMap, HashSet};

use super::fills::{Field, Fill, Holds};
use super::text::{list, value_in};
use super::trace::Trace;
use super::{AmbiguityKind, Found};
use crate::record::{Element, Event, EventType};

/// Texts of elements from this length, in characters, may be cut; their HTML has more.
const MAYBE_CUT: usize = 190;

/// Lengths and first bytes of words that are distinguished.
const STARTS: usize = 64 * 256;

/// A value that is searched for.
struct Needle<'v> {
    value: &'v str,
    /// Where its first word begins in it.
    offset: usize,
    /// Whether it is one word without digits: a title contains many of those by chance.
    is_word: bool,
    /// Index of the event that showed it, if a person had not entered it before.
    shown: Option<u64>,
    /// Whether a person has entered it, also as part of another value.
    typed: bool,
}

/// The ambiguities, and the edits of their fields.
pub(super) fn find(trace: &Trace<'_>, fills: &[Fill<'_>], claimed: &HashSet<u64>) -> (Vec<Found>, HashSet<u64>) {
    let fields = || fills.iter().flat_map(|fill| fill.fields.iter()).filter(|field| is_text(field, claimed));
    let mut needles = Needles::default();
    for field in fields() {
        needles.add(field.value.trim());
    }
    needles.search(trace);
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut entered = HashSet::new();
    for fill in fills {
        let (mut events, mut values) = (Vec::new(), Vec::new());
        for field in fill.fields.iter().filter(|field| is_text(field, claimed)) {
            let first = field.events.first().copied().unwrap_or_default();
            let shown = needles.shown(field.value.trim()).filter(|shown| *shown < first);
            let Some(shown) = shown else { continue };
            values.push(value_in(&field.value, &field.label));
            events.push(shown);
            events.extend(&field.events);
            entered.extend(&field.events);
        }
        if values.is_empty() {
            continue;
        }
        let (values, is_one) = (list(&values), values.len() == 1);
        let position = *known.entry(values.clone()).or_insert(found.len());
        if let Some(earlier) = found.get_mut(position) {
            earlier.events.extend(events);
            continue;
        }
        let (was, it, this) =
            if is_one { ("was", "it was", "this value") } else { ("were", "they were", "these values") };
        found.push(Found {
            kind: AmbiguityKind::ComputedValue,
            events,
            problem: format!(
                "{values} {was} entered after the page had shown {this}, so {it} perhaps read from the page."
            ),
            question: format!(
                "You entered {values}: should each run read {this} from the page, or always enter the same?"
            ),
        });
    }
    (found, entered)
}

fn is_text(field: &Field<'_>, claimed: &HashSet<u64>) -> bool {
    let is_typed = matches!(field.holds, Holds::Text | Holds::Search);
    is_typed && !field.events.iter().any(|event| claimed.contains(event)) && is_distinct(field.value.trim())
}

/// Whether a value is long enough to be shown elsewhere by more than chance.
fn is_distinct(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3 || value.chars().count() >= 4
}

#[derive(Default)]
struct Needles<'v> {
    all: Vec<Needle<'v>>,
    by_value: HashMap<&'v str, usize>,
    /// Positions of needles by their first word.
    by_word: HashMap<&'v str, Vec<usize>>,
    /// By length and first byte of a word, whether a value begins with such a one: most words of a page are skipped
    /// without hashing them.
    starts: Vec<bool>,
}

impl<'v> Needles<'v> {
    fn add(&mut self, value: &'v str) {
        let Some((start, end)) = next_word(value, 0).filter(|_| !self.by_value.contains_key(value)) else { return };
        let Some(word) = value.get(start..end) else { return };
        let is_word = value.chars().all(char::is_alphabetic);
        self.by_value.insert(value, self.all.len());
        self.by_word.entry(word).or_default().push(self.all.len());
        self.starts.resize(STARTS, false);
        if let Some(start) = self.starts.get_mut(start_of(value, start, end)) {
            *start = true;
        }
        self.all.push(Needle { value, offset: start, is_word, shown: None, typed: false });
    }

    fn shown(&self, value: &str) -> Option<u64> {
        self.by_value.get(value).and_then(|at| self.all.get(*at)).and_then(|needle| needle.shown)
    }

    /// Notes which event showed each value first, and which values a person entered before.
    fn search(&mut self, trace: &Trace<'_>) {
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
        // The text of a field that is edited is what the person enters.
        if element.sensitive || matches!(event.event_type, EventType::Input | EventType::Change) {
            return;
        }
        if element.text != element.name {
            self.text(&element.text, &mut shows);
        }
        if element.tag == "input" {
            self.text(value_of(&element.html), &mut shows);
        } else if element.tag != "select" && (element.text.is_empty() || element.text.len() >= MAYBE_CUT) {
            for part in element.html.split('<') {
                let text = part.split_once('>').map_or("", |(_, text)| text);
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

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// The next run of letters and digits.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes().get(from..)?;
    let start = bytes.iter().position(|byte| is_word_byte(*byte))?;
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
    Some((from + start, from + start + length))
}

/// Whether a text has a value at a place, and not as part of a longer word or number.
fn is_at(text: &str, start: usize, value: &str) -> bool {
    if !text.get(start..).is_some_and(|rest| rest.starts_with(value)) {
        return false;
    }
    let bytes = text.as_bytes();
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let end = start + value.len();
    let is_part = |one: u8, beyond: u8| is_word_byte(one) || (matches!(one, b'.' | b',') && beyond.is_ascii_digit());
    let (first, last) = (byte(Some(start)), byte(end.checked_sub(1)));
    let before = is_word_byte(first) && is_part(byte(start.checked_sub(1)), byte(start.checked_sub(2)));
    let after = is_word_byte(last) && is_part(byte(Some(end)), byte(Some(end + 1)));
    !before && !after
}

/// The `value` attribute of an input.
fn value_of(html: &str) -> &str {
    let value = html.split_once(" value=\"").map(|(_, rest)| rest);
    value.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}
