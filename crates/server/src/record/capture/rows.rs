//! Reports and entries of the event log as events of the recording.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::{Actor, Event, EventType, FrameStep, PageShown};
use super::worker::BLANK;
use cdpilot::page::Report;
use cdpilot::redact::Secrets;
use cdpilot::supervisor::{ClosedBy, ClosedDialog, FrameId, View};

/// Most frames in the path of an event.
const DEEPEST: usize = 20;
/// Longest text of a dialog, address and title, in characters.
const MOST_TEXT: usize = 2_000;

/// The type of event that a report is; `None` for reports that are none.
pub(super) fn event_type(report: &Report) -> Option<EventType> {
    Some(match report.kind.as_str() {
        "page_view" => EventType::PageView,
        "click" => EventType::Click,
        "input" => EventType::Input,
        "change" => EventType::Change,
        "keydown" => EventType::Keydown,
        "submit" => EventType::Submit,
        "focus" => EventType::Focus,
        "scroll" => EventType::Scroll,
        "hover" => EventType::Hover,
        "drag" => EventType::Drag,
        "file_chosen" => EventType::FileChosen,
        "gap" => EventType::Gap,
        _ => return None,
    })
}

/// Whether an event is something that was done, which may cause a navigation.
pub(super) fn is_action(kind: EventType) -> bool {
    use EventType as T;
    matches!(kind, T::Click | T::Input | T::Change | T::Keydown | T::Submit | T::Drag | T::FileChosen | T::Hover)
}

/// Whether an event gets screenshots.
pub(super) fn has_pictures(kind: EventType) -> bool {
    use EventType as T;
    matches!(kind, T::Click | T::Change | T::Submit | T::Focus | T::Drag | T::FileChosen)
}

/// An event without element and data.
pub(super) fn event(index: u64, kind: EventType, at: f64, tab: u64, page: PageShown) -> Event {
    Event {
        event_index: index,
        event_type: kind,
        timestamp: at,
        by: Actor::Person,
        tab,
        frame: Vec::new(),
        page,
        element: None,
        data: Map::new(),
        keyframe: None,
        keyframe_after: None,
    }
}

/// The event of a report.
pub(super) fn reported(report: &Report, index: u64, kind: EventType, tab: u64, page: PageShown) -> Event {
    let mut event = event(index, kind, report.at / 1000.0, tab, page);
    event.element = report.element.clone().and_then(|element| {
        let read = serde_json::from_value(element);
        read.inspect_err(|problem| tracing::warn!(%problem, "an element of a report cannot be read")).ok()
    });
    if let Some(container) = event.element.as_mut().and_then(|element| element.container.as_mut()) {
        container.href = address(&container.href);
    }
    event.data = report.data.clone();
    event
}

/// An address as it is stored: tokens in it are covered.
pub(crate) fn address(url: &str) -> String {
    if is_new_tab(url) {
        return BLANK.to_owned();
    }
    let url: String = url.chars().take(MOST_TEXT).collect();
    Secrets::default().cover(&url).into_owned()
}

/// An address without the values of parameters: a form may send what was typed into a sensitive field in it.
pub(super) fn without_values(url: &str, parameters: &BTreeSet<String>) -> String {
    let mut out = String::with_capacity(url.len());
    for piece in url.split_inclusive(['?', '&', ';', '#']) {
        let (pair, end) = match piece.char_indices().next_back() {
            Some((at, c)) if "?&;#".contains(c) => piece.split_at(at),
            _ => (piece, ""),
        };
        let named = pair.split_once('=').filter(|(name, _)| {
            let name = name.replace('+', " ");
            parameters.contains(&*percent_encoding::percent_decode_str(&name).decode_utf8_lossy())
        });
        match named {
            Some((name, _)) => out.extend([name, "=", Secrets::COVER, end]),
            None => out.push_str(piece),
        }
    }
    out
}

/// Whether an address is that of the browser's page for new tabs, in which nothing is recorded.
pub(super) fn is_new_tab(url: &str) -> bool {
    ["chrome://newtab/", "chrome://new-tab-page", "chrome-search://"].iter().any(|own| url.starts_with(own))
}

/// A text of a page as it is stored.
pub(super) fn text(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}

/// The frames from the top document to a frame, without the top one.
pub(crate) fn path(view: &View, frame: &FrameId) -> Vec<FrameStep> {
    let mut path = Vec::new();
    let mut at = frame.clone();
    while path.len() < DEEPEST {
        let Some(here) = view.frame(at.as_str()) else { break };
        let Some(parent) = here.parent_frame_id.clone() else { break };
        let siblings =
            view.frames_of(here.target_id.as_str()).filter(|other| other.parent_frame_id.as_ref() == Some(&parent));
        let index = siblings.take_while(|other| other.frame_id != at).count();
        let index = u64::try_from(index).unwrap_or_default();
        path.push(FrameStep { index, name: text(&here.name), url: address(&here.url) });
        at = parent;
    }
    path.reverse();
    path
}

/// The facts of an answered dialog, and who answered it.
pub(crate) fn dialog(closed: &ClosedDialog, prompt: Option<String>) -> (Map<String, Value>, Actor) {
    let mut data = object(json!({
        "type": closed.dialog.kind.as_str(), "message": text(&closed.dialog.message), "accepted": closed.accepted,
    }));
    if let Some(prompt) = prompt.filter(|_| closed.accepted) {
        data.insert("prompt_text".to_owned(), json!(text(&prompt)));
    }
    let by = if closed.closed_by == ClosedBy::Remote { Actor::Person } else { Actor::Agent };
    (data, by)
}

/// The fields of an object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// What was done, for the line of text above a screenshot.
pub(super) fn in_words(event: &Event) -> String {
    let done = match event.event_type {
        EventType::Click if event.data.get("count").and_then(Value::as_u64) == Some(2) => "double-clicked",
        EventType::Click if event.data.get("button") == Some(&json!("right")) => "right-clicked",
        EventType::Click => "clicked",
        EventType::Change => "changed",
        EventType::Submit => "submitted",
        EventType::Focus => "focused",
        EventType::Drag => "dragged",
        EventType::FileChosen => "chose a file for",
        _ => event.event_type.as_str(),
    };
    let Some(element) = &event.element else { return done.to_owned() };
    let role = if element.role.is_empty() { &element.tag } else { &element.role };
    let name = if element.name.is_empty() { &element.text } else { &element.name };
    if name.is_empty() { format!("{done}: {role}") } else { format!("{done}: {role} \"{name}\"") }
}
