//! The forms of a recording: fields that were filled together, with their values.

use std::collections::HashMap;

use super::elements::{self, is_day, is_option, is_search};
use super::trace::{Seen, Trace};
use super::words::{self, line};
use crate::record::draft::facts;
use crate::record::{Container, Element, Event, EventType};

/// Kinds of content of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Typed text, or a date or number of a picker.
    Text,
    /// A search term.
    Search,
    /// A choice of a list that may differ in each run, a day of a calendar, the name of a file.
    Choice,
    /// A choice of a country or another place: a value of a form, or a filter.
    Place,
    /// A value that is not recorded.
    Secret,
}

/// A field that was filled.
pub(super) struct Field<'e> {
    pub(super) element: Option<&'e Element>,
    pub(super) label: String,
    /// The value after the last edit; empty if it is not known.
    pub(super) value: String,
    pub(super) holds: Holds,
    /// Its edits.
    pub(super) events: Vec<u64>,
}

/// Fields that were filled together: in one form, or without a form one after the other.
pub(super) struct Fill<'e> {
    pub(super) tab: u64,
    visit: usize,
    pub(super) form: Option<&'e Container>,
    pub(super) fields: Vec<Field<'e>>,
    by_key: HashMap<String, usize>,
    is_search: bool,
    /// Positions of the first and the last edit.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Position of the click or key after the last edit that may have ended it.
    pub(super) ended_by: Option<usize>,
}

impl Fill<'_> {
    /// Whether a field of a form may belong to it. Without a known form, a click on a button separates two of them.
    fn admits(&self, seen: &Seen<'_>, form: Option<&Container>, holds: Holds) -> bool {
        let is_same_form = form.is_some() && form == self.form;
        let is_alike = is_same_form || (self.ended_by.is_none() && (form.is_none() || self.form.is_none()));
        self.visit == seen.visit && self.is_search == (holds == Holds::Search) && is_alike
    }
}

#[derive(Default)]
struct Collector<'e> {
    fills: Vec<Fill<'e>>,
    /// Position of the fill that is open in a tab.
    open: HashMap<u64, usize>,
}

/// The forms of a recording in the order of their first edit.
pub(super) fn fills<'e>(trace: &Trace<'e>) -> Vec<Fill<'e>> {
    let mut collector = Collector::default();
    for (position, seen) in trace.0.iter().enumerate() {
        collector.event(trace, position, seen);
    }
    collector.fills
}

impl<'e> Collector<'e> {
    fn event(&mut self, trace: &Trace<'e>, position: usize, seen: &Seen<'e>) {
        let event = seen.event;
        match event.event_type {
            EventType::Input | EventType::Change => {
                if let Some((holds, value)) = edited(event) {
                    let label = event.element.as_ref().map(elements::label).unwrap_or_default();
                    self.add(position, seen, elements::key(event), label, value, holds);
                }
            }
            EventType::FileChosen => {
                let names = facts::file_names(event);
                let label = event.element.as_ref().map(elements::label).unwrap_or_default();
                // A field reports the choice of a file once more as an edit.
                self.add(position, seen, elements::key(event), label, names.join(", "), Holds::Choice);
            }
            EventType::Click => self.click(trace, position, seen),
            EventType::Keydown if facts::text(event, "key") == Some("Enter") => self.end(position, seen),
            EventType::Submit => {
                self.open.remove(&event.tab);
            }
            EventType::Dialog => {
                let answer = facts::dialog(event);
                if let Some(text) = answer.prompt_text.filter(|text| answer.accepted && !text.trim().is_empty()) {
                    self.open.remove(&event.tab);
                    self.add(position, seen, None, &answer.message, text, Holds::Text);
                    self.open.remove(&event.tab);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, position: usize, seen: &Seen<'e>, key: Option<String>, label: &str, value: String, holds: Holds) {
        let event = seen.event;
        let form = event.element.as_ref().and_then(elements::form_of);
        let open = self.open.get(&event.tab).copied();
        let open = open.filter(|open| self.fills.get(*open).is_some_and(|fill| fill.admits(seen, form, holds)));
        let open = open.unwrap_or_else(|| {
            self.open.insert(event.tab, self.fills.len());
            self.fills.push(Fill {
                tab: event.tab,
                visit: seen.visit,
                form,
                fields: Vec::new(),
                by_key: HashMap::new(),
                is_search: holds == Holds::Search,
                first: position,
                last: position,
                ended_by: None,
            });
            self.fills.len() - 1
        });
        let Some(fill) = self.fills.get_mut(open) else { return };
        fill.form = fill.form.or(form);
        (fill.last, fill.ended_by) = (position, None);
        let known = key.as_ref().and_then(|key| fill.by_key.get(key)).copied();
        if let Some(field) = known.and_then(|known| fill.fields.get_mut(known)) {
            field.events.push(event.event_index);
            if holds == Holds::Secret || field.holds == Holds::Secret {
                field.holds = Holds::Secret;
                field.value.clear();
            } else if !value.contains("fakepath") {
                field.value = value;
            }
            return;
        }
        if let Some(key) = key {
            fill.by_key.insert(key, fill.fields.len());
        }
        let (element, label, events) = (event.element.as_ref(), label.to_owned(), vec![event.event_index]);
        fill.fields.push(Field { element, label, value, holds, events });
    }

    fn click(&mut self, trace: &Trace<'e>, position: usize, seen: &Seen<'e>) {
        let Some(element) = &seen.event.element else { return };
        let before = trace.get(seen.before).map(|before| before.event);
        if is_option(element) {
            // The choice of a suggestion completes the typed text.
            let typed = before.filter(|before| before.event_type == EventType::Input).and_then(elements::key);
            let fill = self.open.get(&seen.event.tab).and_then(|open| self.fills.get_mut(*open));
            if let Some((fill, typed)) = fill.zip(typed)
                && let Some(field) = fill.by_key.get(&typed).and_then(|at| fill.fields.get_mut(*at))
                && field.holds != Holds::Secret
                && !elements::name(element).is_empty()
            {
                elements::name(element).clone_into(&mut field.value);
                field.events.push(seen.event.event_index);
                fill.last = position;
            }
        } else if is_day(element) {
            // The field or button that opened the calendar names the date.
            let opener = before.and_then(|before| before.element.as_ref()).filter(|opener| !is_day(opener));
            let label = opener.map(elements::label).unwrap_or_default();
            self.add(position, seen, None, label, elements::name(element).to_owned(), Holds::Choice);
        } else if matches!(elements::role(element), "button" | "link" | "tab") && !elements::opens_popup(element) {
            self.end(position, seen);
        }
    }

    fn end(&mut self, position: usize, seen: &Seen<'e>) {
        if let Some(fill) = self.open.get(&seen.event.tab).and_then(|open| self.fills.get_mut(*open))
            && fill.visit == seen.visit
        {
            fill.ended_by = fill.ended_by.or(Some(position));
        }
    }
}

/// Kind and content of a field after an edit; `None` for settings of a page: checkboxes, sliders, most lists.
fn edited(event: &Event) -> Option<(Holds, String)> {
    let element = event.element.as_ref();
    let is_input = event.event_type == EventType::Input;
    let value = facts::value(event);
    if element.is_some_and(|element| element.sensitive) || (is_input && value.is_none()) {
        return Some((Holds::Secret, String::new()));
    }
    if let Some(choices) = facts::choices(event) {
        let label = line(element.map(elements::label).unwrap_or_default());
        let holds = match () {
            () if words::says(&label, words::SHOWN_AS) => return None,
            () if words::says(&label, words::VARYING_CHOICE) => Holds::Choice,
            () if words::says(&label, words::PLACE) => Holds::Place,
            () => return None,
        };
        let name = |choice: &crate::record::draft::Choice| {
            if choice.label.trim().is_empty() { choice.value.clone() } else { choice.label.clone() }
        };
        return Some((holds, choices.iter().map(name).collect::<Vec<_>>().join(", ")));
    }
    if element.is_some_and(|element| elements::role(element) == "slider" || element.html.contains("type=\"color\"")) {
        return None;
    }
    let holds = if element.is_some_and(is_search) { Holds::Search } else { Holds::Text };
    value.map(|value| (holds, value))
}
