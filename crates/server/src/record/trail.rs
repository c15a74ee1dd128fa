//! What the agent of a conversation did, as events of a recording, without a recorder.
//!
//! Actions are described by the script that describes elements for recordings; what followed from them is in the event log of the
//! browser. The events of a conversation are stored as they come, and become a recording on request.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::capture::{dialog_data, frame_path, stored_address};
use super::event::{Actor, Element, Event, EventType, PageShown};
use crate::control::{ActionDone, ActionElement};
use cdpilot::page::{ActKind, FieldValue};
use cdpilot::supervisor::{Entry, LogEvent, TargetId};

/// Most events of a conversation.
const MOST_TRAIL: u64 = 5_000;
/// Longest title of a page, in characters.
const MOST_TITLE: usize = 200;
/// Longest text that is stored of what was typed, in characters.
const MOST_TYPED: usize = 20_000;
/// Address of an empty document.
const BLANK: &str = "about:blank";

/// What a call of a tool did besides actions.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrailCall<'c> {
    /// Whether it opens addresses by itself: then navigations do not follow from the action before.
    pub opens: bool,
    /// The text that it has given a prompt.
    pub prompt: Option<&'c str>,
    /// The kind of its navigation, if it goes through the history.
    pub history: Option<EventType>,
}

/// The events of a conversation so far, as far as later ones depend on them.
#[derive(Debug, Default)]
pub struct Trail {
    next: u64,
    /// Number and address of each tab, by its target.
    tabs: BTreeMap<String, (u64, PageShown)>,
    /// The last action, and the number of its tab.
    last: Option<u64>,
}

impl Trail {
    /// The trail of a conversation with these events.
    #[must_use]
    pub fn after(events: &[Event]) -> Self {
        let mut trail = Self { next: events.last().map_or(1, |event| event.event_index + 1), ..Self::default() };
        for event in events {
            let target = event.data.get("target_id").and_then(Value::as_str);
            if let (EventType::TabCreated, Some(target)) = (event.event_type, target) {
                trail.tabs.insert(target.to_owned(), (event.tab, event.page.clone()));
            }
            if is_action(event.event_type) {
                trail.last = Some(event.event_index);
            }
        }
        trail
    }

    /// Whether a tab has events.
    #[must_use]
    pub fn knows(&self, target: &TargetId) -> bool {
        self.tabs.contains_key(target.as_str())
    }

    /// The events of a call: of its actions, and of what the log of the browser says of the tabs of the conversation, in the order of time.
    #[must_use]
    pub fn add(&mut self, actions: Vec<ActionDone>, log: &[Entry], call: TrailCall<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        let mut log = log.iter().peekable();
        for action in actions {
            while let Some(entry) = log.next_if(|entry| entry.ts < action.at) {
                self.entry(entry, call, &mut events);
            }
            self.action(&action, &mut events);
        }
        for entry in log {
            self.entry(entry, call, &mut events);
        }
        events
    }

    /// Something that was done and is not noted.
    #[must_use]
    pub fn gap(&mut self, why: &str) -> Option<Event> {
        let target = self.tabs.iter().min_by_key(|(_, (tab, _))| *tab).map(|(target, _)| target.clone())?;
        let mut events = Vec::new();
        self.event(&target, EventType::Gap, super::now(), json!({ "count": 1, "why": why }), &mut events);
        events.pop().map(|event| Event { tab: 0, page: PageShown::default(), ..event })
    }

    /// An event of a tab; the tab is new if it is not known.
    fn event(&mut self, target: &str, kind: EventType, at: f64, data: Value, events: &mut Vec<Event>) -> Option<u64> {
        if self.next > MOST_TRAIL {
            return None;
        }
        let count = self.tabs.len() as u64;
        let (tab, page) = self.tabs.entry(target.to_owned()).or_insert((count + 1, PageShown::default())).clone();
        let is_new = tab > count;
        if is_new && kind != EventType::TabCreated {
            let data = json!({ "url": page.url, "target_id": target });
            self.event(target, EventType::TabCreated, at, data, events);
        }
        let index = self.next;
        self.next += 1;
        events.push(Event {
            event_index: index,
            event_type: kind,
            timestamp: at,
            by: Actor::Agent,
            tab,
            frame: Vec::new(),
            page,
            element: None,
            data: object(data),
            keyframe: None,
            keyframe_after: None,
        });
        Some(index)
    }

    /// What an action did, and on which element.
    fn action(&mut self, action: &ActionDone, events: &mut Vec<Event>) {
        let (at, target) = (action.at, action.target.as_str().to_owned());
        let known = action.elements.first();
        let mut add = |trail: &mut Self, kind: EventType, element: Option<&ActionElement>, data: Value| {
            if !trail.tabs.contains_key(&target) {
                trail.event(&target, EventType::TabCreated, at, json!({ "url": "", "target_id": target }), events);
            }
            let (was, now) = (trail.address_of(&target), stored_address(&action.url));
            if ![BLANK, "", &*now].contains(&&*was) {
                let why = "the tab shows another page than after the action before: a person may have used it";
                trail.event(&target, EventType::Gap, at, json!({ "count": null, "why": why }), events);
            }
            trail.shows(&target, &action.url, Some(&action.title));
            let Some(index) = trail.event(&target, kind, at, data, events) else { return };
            trail.last = Some(index);
            let Some((event, element)) = events.last_mut().zip(element) else { return };
            event.frame = frame_path(&action.view, &element.frame);
            event.element = described(&element.element);
            if event.element.as_ref().is_some_and(|element| element.sensitive) && event.data.contains_key("value") {
                event.data.insert("value".to_owned(), Value::Null);
            }
        };
        let set = |element: &ActionElement, given: Value| -> (EventType, Value) {
            match &element.held {
                Value::Object(held) if held.contains_key("source_count") => (EventType::Input, element.held.clone()),
                Value::Object(held) if !held.is_empty() => (EventType::Change, element.held.clone()),
                _ => match given {
                    Value::Bool(checked) => (EventType::Change, json!({ "checked": checked })),
                    given => (EventType::Input, json!({ "value": given, "source_count": 1 })),
                },
            }
        };
        match &action.act {
            ActKind::Click { double, button, modifiers, .. } => {
                // A click that ticks a box is the choice.
                let held = known.filter(|element| element.held.get("checked").is_some());
                match held {
                    Some(element) => add(self, EventType::Change, Some(element), element.held.clone()),
                    None => {
                        let data =
                            json!({ "button": button, "count": if *double { 2 } else { 1 }, "modifiers": modifiers });
                        add(self, EventType::Click, known, data);
                    }
                }
            }
            ActKind::Type { text, submit, .. } => {
                if let Some(element) = known {
                    let (kind, data) = set(element, typed(text).into());
                    add(self, kind, Some(element), data);
                }
                if *submit {
                    add(self, EventType::Keydown, known, json!({ "key": "Enter", "modifiers": [] }));
                }
            }
            ActKind::Fill { fields, submit } => {
                for (field, element) in fields.iter().zip(&action.elements) {
                    let given = match &field.value {
                        FieldValue::Flag(is_on) => json!(is_on),
                        other => json!(typed(other.as_text().unwrap_or_default())),
                    };
                    let (kind, data) = set(element, given);
                    add(self, kind, Some(element), data);
                }
                if *submit {
                    add(self, EventType::Keydown, action.elements.last(), json!({ "key": "Enter", "modifiers": [] }));
                }
            }
            ActKind::Check { .. } => add(self, EventType::Change, known, json!({ "checked": true })),
            ActKind::Uncheck { .. } => add(self, EventType::Change, known, json!({ "checked": false })),
            ActKind::Select { values, .. } => {
                let chosen: Vec<Value> = values.iter().map(|one| json!({ "value": one, "label": one })).collect();
                let held = known.map(|element| &element.held).filter(|held| held.get("values").is_some());
                let data = held.cloned().unwrap_or_else(|| json!({ "values": chosen }));
                add(self, EventType::Change, known, data);
            }
            ActKind::Press { key, repeat, .. } => {
                let mut parts: Vec<&str> = key.split('+').collect();
                let key = parts.pop().unwrap_or_default();
                let is_sensitive = known.is_some_and(|element| element.element["sensitive"] == true);
                if is_sensitive && key.chars().count() == 1 {
                    return;
                }
                for _ in 0..repeat.unwrap_or(1).clamp(1, 50) {
                    add(self, EventType::Keydown, known, json!({ "key": key, "modifiers": parts }));
                }
            }
            ActKind::Hover { .. } => add(self, EventType::Hover, known, json!({})),
            ActKind::Drag { .. } => {
                let place = |element: Option<&ActionElement>| {
                    let part = |name: &str| element.map(|one| one.element[name].clone()).unwrap_or_default();
                    json!({ "role": part("role"), "name": part("name") })
                };
                let data = json!({ "from": place(known), "to": place(action.elements.get(1)) });
                add(self, EventType::Drag, known, data);
            }
            // What only looks, scrolls or waits.
            _ => {}
        }
    }

    /// What followed.
    fn entry(&mut self, entry: &Entry, call: TrailCall<'_>, events: &mut Vec<Event>) {
        let Some(target) = entry.target_id.as_ref().map(|target| target.as_str().to_owned()) else { return };
        let cause = self.last.filter(|_| !call.opens);
        let caused = |mut data: Value| {
            if let (Some(cause), Some(fields)) = (cause, data.as_object_mut()) {
                fields.insert("caused_by".to_owned(), cause.into());
            }
            data
        };
        match &*entry.event {
            LogEvent::TabOpened { url, opener } if !self.tabs.contains_key(&target) => {
                let mut data = json!({ "url": stored_address(url), "target_id": target });
                if let Some((tab, _)) = opener.as_ref().and_then(|opener| self.tabs.get(opener.as_str())) {
                    data["opener"] = (*tab).into();
                }
                self.tabs.insert(target.clone(), (self.tabs.len() as u64 + 1, PageShown::default()));
                self.event(&target, EventType::TabCreated, entry.ts, caused(data), events);
            }
            LogEvent::Navigated { url, main: true, .. } => {
                let address = stored_address(url);
                if address == BLANK || address == self.address_of(&target) {
                    return;
                }
                self.shows(&target, url, None);
                let kind = call.history.filter(|_| call.opens).unwrap_or(EventType::TabNavigated);
                self.event(&target, kind, entry.ts, caused(json!({ "url": address })), events);
            }
            LogEvent::TabClosed { .. } if self.tabs.contains_key(&target) => {
                self.event(&target, EventType::TabClosed, entry.ts, caused(json!({})), events);
            }
            LogEvent::DialogClosed(closed) => {
                let (data, _) = dialog_data(closed, call.prompt.map(ToOwned::to_owned));
                self.event(&target, EventType::Dialog, entry.ts, Value::Object(data), events);
            }
            LogEvent::Download(download) => {
                let (url, name) = (stored_address(&download.url), &download.suggested_filename);
                let is_known = |event: &Event| {
                    event.event_type == EventType::Download
                        && event.data.get("url").and_then(Value::as_str) == Some(&*url)
                };
                if !events.iter().any(is_known) {
                    let data = caused(json!({ "url": url, "filename": &**name }));
                    self.event(&target, EventType::Download, entry.ts, data, events);
                }
            }
            _ => {}
        }
    }

    /// The address that a tab shows, as far as it is known.
    fn address_of(&self, target: &str) -> String {
        self.tabs.get(target).map(|(_, page)| page.url.clone()).unwrap_or_default()
    }

    fn shows(&mut self, target: &str, url: &str, title: Option<&str>) {
        if let Some((_, page)) = self.tabs.get_mut(target) {
            let title = title.unwrap_or_default().chars().take(MOST_TITLE).collect();
            *page = PageShown { url: stored_address(url), title };
        } else {
            let count = self.tabs.len() as u64;
            let page = PageShown { url: stored_address(url), title: String::new() };
            self.tabs.insert(target.to_owned(), (count + 1, page));
        }
    }
}

/// The element of a description, as recordings store it.
fn described(element: &Value) -> Option<Element> {
    let mut element: Element = serde_json::from_value(element.clone()).ok()?;
    if let Some(container) = element.container.as_mut() {
        container.href = stored_address(&container.href);
    }
    Some(element)
}

fn typed(text: &str) -> String {
    text.chars().take(MOST_TYPED).collect()
}

/// Whether an event is something that was done.
pub(super) fn is_action(kind: EventType) -> bool {
    use EventType as T;
    matches!(kind, T::Click | T::Input | T::Change | T::Keydown | T::Drag | T::FileChosen | T::Hover)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
