//! Values of a run in place of recorded ones, by what the text of a step says.

use std::collections::BTreeMap;

use crate::routine::{PlaceholderKind, Routine, Step, placeholders};

/// What a recorded text is in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filled {
    /// This text: placeholders of secrets and of values that are read from pages stay in it.
    Text(String),
    /// The text of the step does not contain it.
    Missing,
    /// The text of the step contains it in ways that differ in this run.
    Unclear,
}

/// The text of a step, in parts.
#[derive(Debug)]
pub(super) struct StepText {
    parts: Vec<Part>,
    /// Sensitive placeholders in order, as they are typed.
    sensitive: Vec<String>,
    /// Placeholders whose recorded value is not known, as they are now.
    unknown: Vec<String>,
}

/// A part of a text: what it was when it was recorded, and what it is in a run.
#[derive(Debug)]
struct Part {
    recorded: Vec<char>,
    now: String,
    is_placeholder: bool,
}

impl StepText {
    /// The instructions of a step. `recorded` and `given`: values of its inputs that are not sensitive.
    pub(super) fn of(
        routine: &Routine,
        step: &Step,
        recorded: &BTreeMap<String, String>,
        given: &BTreeMap<String, String>,
    ) -> Self {
        let texts: Vec<&str> = step.instructions.iter().map(|one| one.text.as_str()).collect();
        let text = texts.join("\n");
        let mut new = Self { parts: Vec::new(), sensitive: Vec::new(), unknown: Vec::new() };
        let mut from = 0;
        for found in placeholders(&text) {
            new.literal(text.get(from..found.range.start).unwrap_or_default());
            let written = text.get(found.range.clone()).unwrap_or_default();
            from = found.range.end;
            match found.kind {
                PlaceholderKind::Input(name) => {
                    let input = routine.input(&name);
                    if let Some(input) = input.filter(|input| input.sensitive) {
                        let secret = input.secret.as_ref().filter(|_| !given.contains_key(&name)).unwrap_or(&name);
                        new.sensitive.push(format!("{{{{secret:{secret}}}}}"));
                        new.break_here();
                        continue;
                    }
                    let now = given.get(&name).cloned().unwrap_or_default();
                    match recorded.get(&name) {
                        Some(was) => new.parts.push(Part { recorded: folded(was), now, is_placeholder: true }),
                        None => {
                            new.unknown.push(now);
                            new.break_here();
                        }
                    }
                }
                PlaceholderKind::Secret(_) => {
                    new.sensitive.push(written.to_owned());
                    new.break_here();
                }
                PlaceholderKind::Value { .. } => {
                    new.unknown.push(written.to_owned());
                    new.break_here();
                }
                PlaceholderKind::Malformed => new.literal(written),
            }
        }
        new.literal(text.get(from..).unwrap_or_default());
        new
    }

    fn literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push(Part { recorded: folded(text), now: String::new(), is_placeholder: false });
        }
    }

    /// What stands here was not recorded: no text goes over it.
    fn break_here(&mut self) {
        self.parts.push(Part { recorded: vec!['\u{0}'], now: String::new(), is_placeholder: true });
    }

    /// Whether the inputs in the text have the values with which it was recorded.
    pub(super) fn is_as_recorded(&self) -> bool {
        let is_same = |part: &Part| !part.is_placeholder || part.recorded == folded(&part.now);
        self.unknown.is_empty() && self.sensitive.is_empty() && self.parts.iter().all(is_same)
    }

    /// The sensitive placeholder for the field at a position among `count` sensitive fields of the step.
    pub(super) fn sensitive(&self, at: usize, count: usize) -> Option<String> {
        match self.sensitive.as_slice() {
            [one] => Some(one.clone()),
            all if all.len() == count => all.get(at).cloned(),
            _ => None,
        }
    }

    /// The one placeholder whose recorded value is not known.
    pub(super) fn unknown(&self) -> Option<String> {
        match self.unknown.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    /// A typed or chosen text in this run.
    pub(super) fn value(&self, recorded: &str) -> Filled {
        self.find(recorded, false)
    }

    /// A name of an element in this run: as recorded, unless the text of the step contains it with an input. `None` if it is not
    /// clear what it is.
    pub(super) fn name(&self, recorded: &str) -> Option<String> {
        match self.find(recorded, true) {
            Filled::Text(text) => Some(text),
            Filled::Unclear => None,
            Filled::Missing => {
                let own = folded(recorded);
                let is_part = |part: &&Part| {
                    part.is_placeholder
                        && part.recorded != folded(&part.now)
                        && occurrences(&own, &part.recorded, true).next().is_some()
                };
                self.parts.iter().find(is_part).is_none().then(|| recorded.to_owned())
            }
        }
    }

    fn find(&self, recorded: &str, any_case: bool) -> Filled {
        let wanted = folded(recorded);
        if wanted.is_empty() {
            return Filled::Text(recorded.to_owned());
        }
        let whole: Vec<char> = self.parts.iter().flat_map(|part| part.recorded.iter().copied()).collect();
        let mut found: Option<String> = None;
        let mut is_unclear = false;
        for at in occurrences(&whole, &wanted, any_case) {
            match (self.between(at, at + wanted.len(), recorded), &found) {
                (None, _) => is_unclear = true,
                (Some(text), Some(other)) if text != *other => return Filled::Unclear,
                (Some(text), _) => found = Some(text),
            }
        }
        match found {
            Some(text) => Filled::Text(text),
            None if is_unclear => Filled::Unclear,
            None => Filled::Missing,
        }
    }

    /// What a run has in place of some recorded characters; `None` where an input is cut.
    fn between(&self, from: usize, to: usize, recorded: &str) -> Option<String> {
        let (mut at, mut text, mut has_placeholder) = (0, String::new(), false);
        for part in &self.parts {
            let (begin, end) = (at, at + part.recorded.len());
            at = end;
            if end <= from || begin >= to {
                continue;
            }
            let (first, last) = (from.max(begin), to.min(end));
            if !part.is_placeholder {
                text.extend(part.recorded.get(first - begin..last - begin)?);
                continue;
            }
            if first != begin || last != end {
                if part.recorded != folded(&part.now) {
                    return None;
                }
                text.extend(part.recorded.get(first - begin..last - begin)?);
                continue;
            }
            has_placeholder = true;
            text.push_str(&part.now);
        }
        // Without an input, as recorded: with its own blanks and case.
        Some(if has_placeholder { text } else { recorded.to_owned() })
    }
}

/// Characters of a text, with single blanks.
fn folded(text: &str) -> Vec<char> {
    let mut out = Vec::new();
    let mut was_blank = false;
    for c in text.trim_matches(|c: char| c.is_whitespace() && c != ' ').chars() {
        let is_blank = c.is_whitespace();
        if !is_blank {
            out.push(c);
        } else if !was_blank {
            out.push(' ');
        }
        was_blank = is_blank;
    }
    out
}

/// Where some characters occur, but not within a word or a number.
fn occurrences<'t>(whole: &'t [char], wanted: &'t [char], any_case: bool) -> impl Iterator<Item = usize> + 't {
    let wanted: &[char] = trimmed(wanted);
    let same = move |a: char, b: char| a == b || (any_case && a.to_lowercase().eq(b.to_lowercase()));
    whole.windows(wanted.len().max(1)).enumerate().filter_map(move |(at, window)| {
        let is_here = !wanted.is_empty() && window.iter().zip(wanted).all(|(a, b)| same(*a, *b));
        let before = at.checked_sub(1).and_then(|before| whole.get(before));
        let after = whole.get(at + wanted.len());
        let joins = |a: Option<&char>, b: Option<&char>| {
            a.zip(b).is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric())
        };
        (is_here && !joins(before, wanted.first()) && !joins(wanted.last(), after)).then_some(at)
    })
}

fn trimmed(text: &[char]) -> &[char] {
    let from = text.iter().position(|c| *c != ' ').unwrap_or(text.len());
    let to = text.iter().rposition(|c| *c != ' ').map_or(from, |at| at + 1);
    text.get(from..to).unwrap_or_default()
}
