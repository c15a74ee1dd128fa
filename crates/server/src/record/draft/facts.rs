//! Facts of an event, read leniently: `data` may come from another recorder.

use serde_json::Value;

use super::super::event::{Event, EventType, FrameStep};
use super::super::interchange::is_invisible;
use super::types::{Choice, DialogAnswer};

/// How an event takes part in a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It says what a page shows. It is no step and ends none.
    Passive,
    /// It follows from an action.
    Effect,
    /// It is an action, or ends one.
    Action,
}

pub(super) fn class(event: &Event) -> Class {
    match event.event_type {
        EventType::RecordingStarted
        | EventType::RecordingStopped
        | EventType::TabReady
        | EventType::PageView
        | EventType::Focus => Class::Passive,
        EventType::Dialog | EventType::Download | EventType::TabCreated => Class::Effect,
        EventType::TabNavigated | EventType::TabBack | EventType::TabForward | EventType::TabClosed
            if cause(event).is_some() =>
        {
            Class::Effect
        }
        _ => Class::Action,
    }
}

/// Index of the event that caused this one; `None` if it is not an earlier one.
pub(crate) fn cause(event: &Event) -> Option<u64> {
    event.data.get("caused_by").and_then(Value::as_u64).filter(|cause| *cause < event.event_index)
}

pub(crate) fn text<'e>(event: &'e Event, key: &str) -> Option<&'e str> {
    event.data.get(key).and_then(Value::as_str)
}

/// A finite number.
pub(super) fn number(event: &Event, key: &str) -> Option<f64> {
    event.data.get(key).and_then(Value::as_f64).filter(|number| number.is_finite())
}

/// The address that an event of a tab is about.
pub(crate) fn url(event: &Event) -> &str {
    text(event, "url").filter(|url| !url.is_empty()).unwrap_or(&event.page.url)
}

/// Width and height of the viewport.
pub(super) fn viewport(event: &Event) -> Option<(f64, f64)> {
    let viewport = event.data.get("viewport")?;
    let side = |key: &str| viewport.get(key).and_then(Value::as_f64).filter(|side| *side > 0.0);
    Some((side("width")?, side("height")?))
}

/// Keys that were held, in the order Control, Alt, Shift, Meta. They are given as names, as `{name: bool}`, or as the
/// bits of the DevTools protocol.
pub(super) fn modifiers(event: &Event) -> Vec<String> {
    let given = event.data.get("modifiers");
    let held = |bit: u64, names: &[&str]| match given {
        Some(Value::Number(bits)) => bits.as_u64().is_some_and(|bits| bits & bit != 0),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).any(|held| names.contains(&held.to_ascii_lowercase().as_str()))
        }
        Some(Value::Object(map)) => {
            map.iter().any(|(key, on)| on == true && names.contains(&key.to_ascii_lowercase().as_str()))
        }
        _ => false,
    };
    let known: [(u64, &str, &[&str]); 4] = [
        (2, "Control", &["control", "ctrl"]),
        (1, "Alt", &["alt"]),
        (8, "Shift", &["shift"]),
        (4, "Meta", &["meta", "command"]),
    ];
    known.into_iter().filter(|(bit, _, names)| held(*bit, names)).map(|(_, name, _)| name.to_owned()).collect()
}

/// Button of a click and how often it was pressed.
pub(super) fn click(event: &Event) -> (String, u64) {
    let button = match event.data.get("button") {
        Some(Value::Number(number)) if number.as_u64() == Some(1) => "middle",
        Some(Value::Number(number)) if number.as_u64() == Some(2) => "right",
        Some(Value::String(name)) if name == "middle" || name == "right" => name,
        _ => "left",
    };
    (button.to_owned(), event.data.get("count").and_then(Value::as_u64).unwrap_or(1).max(1))
}

/// Whether a click only moves the focus or presses its element: left, once, with no key held.
pub(super) fn is_plain_click(event: &Event) -> bool {
    event.event_type == EventType::Click && click(event) == ("left".to_owned(), 1) && modifiers(event).is_empty()
}

/// Whether a click selects the text of its element: left, at least three times.
pub(super) fn is_selecting_click(event: &Event) -> bool {
    let (button, count) = click(event);
    event.event_type == EventType::Click && button == "left" && count >= 3 && modifiers(event).is_empty()
}

/// Options that were chosen in a list.
pub(crate) fn choices(event: &Event) -> Option<Vec<Choice>> {
    let list = event.data.get("values")?.as_array()?;
    let part = |choice: &Value, key: &str| choice.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let choice = |one: &Value| match one.as_str() {
        Some(value) => Choice { value: value.to_owned(), label: String::new() },
        None => Choice { value: part(one, "value"), label: part(one, "label") },
    };
    Some(list.iter().map(choice).collect())
}

/// Text of a field. Numbers, as sliders may give them, become text.
pub(crate) fn value(event: &Event) -> Option<String> {
    match event.data.get("value")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

pub(crate) fn file_names(event: &Event) -> Vec<String> {
    let names = event.data.get("names").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(crate) fn dialog(event: &Event) -> DialogAnswer {
    DialogAnswer {
        dialog: text(event, "type").unwrap_or("alert").to_owned(),
        message: text(event, "message").unwrap_or_default().to_owned(),
        accepted: event.data.get("accepted").and_then(Value::as_bool).unwrap_or(false),
        prompt_text: text(event, "prompt_text").map(str::to_owned),
    }
}

/// Identifies the document of an event. Its fragment does not count.
pub(super) fn document(event: &Event) -> String {
    let mut key = format!("{}\u{1f}", event.tab);
    push_frames(&mut key, &event.frame);
    key.push_str(page(&event.page.url));
    key
}

/// An address without its fragment.
pub(crate) fn page(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

fn push_frames(key: &mut String, frames: &[FrameStep]) {
    for frame in frames {
        key.push_str(&format!("{}\u{1e}{}\u{1f}", frame.index, frame.name));
    }
    key.push('\u{1d}');
}

/// Identifies the element of an event: document, selectors, role, name, label and container. An element without name,
/// label, test id and selectors is identified by its place; `None` if that is not known either.
pub(crate) fn identity(event: &Event) -> Option<String> {
    let element = event.element.as_ref()?;
    let mut key = document(event);
    for part in [&element.role, &element.name, &element.label, &element.test_id].into_iter().chain(&element.selectors) {
        key.push('\u{1f}');
        key.push_str(part);
    }
    if let Some(container) = &element.container {
        key.push_str(&format!("\u{1d}{}\u{1f}{}\u{1f}{}", container.kind, container.title, container.href));
    }
    let named = [&element.name, &element.label, &element.test_id].into_iter().any(|part| !part.is_empty());
    if !named && element.selectors.is_empty() {
        let area = element.area?;
        key.push_str(&format!("\u{1d}{}\u{1f}{}\u{1f}{}\u{1f}{}", area.x, area.y, area.width, area.height));
        key.push_str(&element.tag);
    }
    Some(key)
}

/// Whether two events used the same element. Elements that cannot be identified are different ones.
pub(super) fn is_same_element(one: &Event, other: &Event) -> bool {
    let key = identity(one);
    key.is_some() && key == identity(other)
}

/// A text of a page for a sentence: on one line, without invisible characters, cut to `longest` characters.
pub(crate) fn short(text: &str, longest: usize) -> String {
    let mut short = String::new();
    let mut length = 0;
    for c in text.trim().chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if is_invisible(c) || (c == ' ' && short.ends_with(' ')) {
            continue;
        }
        if length == longest {
            short.truncate(short.trim_end().len());
            short.push('…');
            return short;
        }
        short.push(c);
        length += 1;
    }
    short.truncate(short.trim_end().len());
    short
}
