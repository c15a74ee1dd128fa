//! Lists and menus that were opened and left as they were.

use std::collections::{HashMap, HashSet};

use super::elements::{self, is_option, opens_popup, role};
use super::text::quoted;
use super::trace::{Seen, Trace};
use super::words::line;
use super::{AmbiguityKind, Found};
use crate::record::draft::facts;
use crate::record::{Element, EventType};

/// The uses of one list.
struct Touched<'e> {
    element: &'e Element,
    /// Events that opened it, or chose a value in it.
    events: Vec<u64>,
    /// Values that were chosen, in order.
    chosen: Vec<(String, String)>,
    /// The value at first, if the page said it.
    initial: Option<String>,
    is_changed: bool,
    /// Positions of the first and the last choice.
    span: Option<(usize, usize)>,
}

/// The ambiguities: one for each list.
pub(super) fn find(trace: &Trace<'_>, claimed: &HashSet<u64>) -> Vec<Found> {
    let mut order: Vec<Touched<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // Number of actions before each position that use the filtered page.
    let mut uses = Vec::with_capacity(trace.0.len());
    let mut count = 0_usize;
    for (position, seen) in trace.0.iter().enumerate() {
        uses.push(count);
        count += usize::from(is_use(seen));
        let Some(element) = seen.event.element.as_ref().filter(|element| is_list(element)) else { continue };
        let Some(key) = elements::key(seen.event).filter(|_| !claimed.contains(&seen.event.event_index)) else {
            continue;
        };
        let at = *known.entry(key).or_insert(order.len());
        if at == order.len() {
            let (events, chosen) = (Vec::new(), Vec::new());
            order.push(Touched { element, events, chosen, initial: initial(element), is_changed: false, span: None });
        }
        if let Some(touched) = order.get_mut(at) {
            touched.event(trace, position, seen);
        }
    }
    let is_used = |touched: &Touched<'_>| touched.span.is_some_and(|(first, last)| uses.get(first) < uses.get(last));
    order.into_iter().filter(|touched| touched.is_left(is_used(touched))).map(found).collect()
}

fn found(touched: Touched<'_>) -> Found {
    let label = elements::label(touched.element);
    let name = if label.trim().is_empty() { elements::name(touched.element) } else { label };
    let name =
        if name.trim().is_empty() { "a list without a name".to_owned() } else { format!("the list {}", quoted(name)) };
    let left = match touched.chosen.last() {
        Some((_, label)) if !label.trim().is_empty() => format!("set back to {}", quoted(label)),
        Some(_) => "set back to its first value".to_owned(),
        None => "left as it was".to_owned(),
    };
    Found {
        kind: AmbiguityKind::FilterTouched,
        events: touched.events,
        problem: format!("The person opened {name}, and it was {left}; nothing shows whether its value matters."),
        question: format!(
            "You opened {name} and it was {left}: should each run make sure of that value, or ignore the list?"
        ),
    }
}

/// Whether an element is a list or menu of choices. A field for a search has suggestions, which are no filter.
fn is_list(element: &Element) -> bool {
    match role(element) {
        "combobox" | "listbox" => element.tag != "textarea" && !elements::is_search(element),
        _ => element.tag == "select" || opens_popup(element),
    }
}

/// Whether an event uses the filtered page, so that the filter had an effect.
fn is_use(seen: &Seen<'_>) -> bool {
    let element = seen.event.element.as_ref();
    match seen.event.event_type {
        EventType::Click => !element.is_some_and(|element| is_list(element) || is_option(element)),
        EventType::Submit | EventType::FileChosen | EventType::Drag => true,
        _ => false,
    }
}

impl Touched<'_> {
    fn event(&mut self, trace: &Trace<'_>, position: usize, seen: &Seen<'_>) {
        let event = seen.event;
        match event.event_type {
            EventType::Change => {
                let choices = facts::choices(event).unwrap_or_default();
                let values: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
                let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
                self.chosen.push((values.join("\u{1f}"), labels.join(", ")));
                self.events.push(event.event_index);
                self.span = Some((self.span.map_or(position, |(first, _)| first), position));
            }
            EventType::Input => self.is_changed = true,
            EventType::Click => self.opened(trace, seen),
            EventType::Keydown => match facts::text(event, "key") {
                Some("Tab" | "Escape") | None => {}
                Some("Enter") if self.element.tag == "input" => self.is_changed = true,
                _ => self.opened(trace, seen),
            },
            EventType::Focus if !is_passed(trace, position, seen) => self.events.push(event.event_index),
            _ => {}
        }
    }

    fn opened(&mut self, trace: &Trace<'_>, seen: &Seen<'_>) {
        match after_opening(trace, seen, self.element) {
            After::Chosen => self.is_changed = true,
            After::ChosenAgain(option) => self.events.extend([seen.event.event_index, option]),
            After::Left => self.events.push(seen.event.event_index),
            After::Unknown => {}
        }
    }

    /// Whether the list was touched and has the value that it had at first.
    fn is_left(&self, is_used: bool) -> bool {
        let is_back = match self.chosen.as_slice() {
            [] => true,
            [.., (last, _)] if is_used || last.is_empty() => false,
            [(last, _)] => self.initial.as_ref() == Some(last),
            // A list that says nothing else shows its first option at first; scripts may have chosen another one, but then
            // the first one would hardly be chosen last.
            [.., (last, _)] => self.initial.as_deref().or(first_option(self.element).as_deref()) == Some(last),
        };
        !self.is_changed && is_back && !self.events.is_empty()
    }
}

/// The effect of opening a list, as the next action shows it.
enum After {
    Chosen,
    /// An option was clicked that was chosen already.
    ChosenAgain(u64),
    Left,
    Unknown,
}

fn after_opening(trace: &Trace<'_>, seen: &Seen<'_>, list: &Element) -> After {
    if list.tag == "select" {
        return After::Left;
    }
    let is_menu = opens_popup(list);
    let Some(next) = trace.get(seen.after).filter(|next| next.visit == seen.visit) else {
        return if is_menu { After::Unknown } else { After::Left };
    };
    let is_same = elements::key(next.event) == elements::key(seen.event);
    let key = facts::text(next.event, "key");
    match (next.event.event_type, &next.event.element) {
        (EventType::Keydown, _) if key == Some("Escape") => After::Left,
        (EventType::Click, _) if is_same => After::Left,
        (EventType::Click, Some(option)) if is_option(option) => {
            let held = [list.text.as_str(), &list.name].map(line);
            let option_name = line(elements::name(option));
            let is_held =
                !option_name.is_empty() && held.iter().any(|held| *held == option_name || is_end(held, &option_name));
            let is_single = matches!(role(option), "option" | "menuitemradio");
            if is_held && is_single { After::ChosenAgain(next.event.event_index) } else { After::Chosen }
        }
        (EventType::Click, Some(other)) if !is_menu => match role(other) {
            "link" | "button" | "tab" | "textbox" | "searchbox" | "combobox" => After::Left,
            _ => After::Chosen,
        },
        // Typing in an open list searches in it; arrow keys and Enter choose.
        (EventType::Input | EventType::Change | EventType::Keydown, _) if is_same => After::Chosen,
        (EventType::Input | EventType::Keydown, _) => After::Unknown,
        (EventType::Submit | EventType::Change, _) if !is_menu => After::Left,
        _ => After::Unknown,
    }
}

/// Whether a text ends with other words: `sort newest` with `newest`.
fn is_end(text: &str, end: &str) -> bool {
    text.strip_suffix(end).is_some_and(|rest| rest.ends_with(' '))
}

/// Whether the focus only passed a list on its way through a form.
fn is_passed(trace: &Trace<'_>, position: usize, seen: &Seen<'_>) -> bool {
    let is_tab = |event: &crate::record::Event| facts::text(event, "key") == Some("Tab");
    let next = trace.0.get(position + 1).map(|next| next.event);
    let fills = |seen: Option<&Seen<'_>>| {
        seen.is_some_and(|seen| {
            let is_enter = facts::text(seen.event, "key") == Some("Enter");
            matches!(seen.event.event_type, EventType::Input | EventType::Change | EventType::Submit) || is_enter
        })
    };
    next.is_some_and(is_tab) || fills(trace.get(seen.before)) || fills(trace.get(seen.after))
}

/// The value of the first option of a list.
fn first_option(element: &Element) -> Option<String> {
    element.html.split("<option").nth(1).and_then(value_of)
}

/// The value of an option, from its HTML after `<option`.
fn value_of(option: &str) -> Option<String> {
    let (tag, text) = option.split_once('>')?;
    let value = tag.split_once("value=\"").and_then(|(_, rest)| rest.split('"').next());
    Some(value.unwrap_or(text.split('<').next().unwrap_or_default().trim()).to_owned())
}

/// The value that the HTML of a list says is chosen.
fn initial(element: &Element) -> Option<String> {
    let is_selected = |option: &&str| {
        let tag = option.split('>').next().unwrap_or_default();
        tag.split_whitespace().any(|part| part == "selected" || part.starts_with("selected="))
    };
    element.html.split("<option").skip(1).find(is_selected).and_then(value_of)
}
