//! Events as steps of Chrome DevTools.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::event::{Event, EventType};
use super::super::interchange::exported;
use super::{CUSTOM, MAIN, MODIFIERS, selectors};

/// A recording as JSON of the Recorder of Chrome DevTools. Values of sensitive fields are not in it.
#[must_use]
pub fn export(title: &str, events: &[Event]) -> Value {
    let mut sorted: Vec<&Event> = events.iter().collect();
    sorted.sort_by_key(|event| event.event_index);
    let mut export = Export::default();
    for event in sorted {
        export.event(event);
        if matters(event) {
            export.previous = Some(event);
        }
    }
    let title = if title.trim().is_empty() { "Recording" } else { title };
    json!({ "title": title, "steps": export.steps })
}

#[derive(Default)]
struct Export<'e> {
    steps: Vec<Value>,
    /// Position of the step of an event, by its index.
    made: BTreeMap<u64, usize>,
    /// Target of each tab: the first one is the main target, others are named by their first address.
    targets: BTreeMap<u64, String>,
    previous: Option<&'e Event>,
    /// Addresses that tabs were opened with, until their first navigation.
    opened: BTreeMap<u64, String>,
}

impl<'e> Export<'e> {
    fn event(&mut self, event: &'e Event) {
        match event.event_type {
            EventType::RecordingStarted => self.viewport(event),
            EventType::TabCreated => self.tab_created(event),
            EventType::TabNavigated | EventType::TabBack | EventType::TabForward => self.navigated(event),
            EventType::Click => self.click(event),
            EventType::Input | EventType::Change => self.change(event),
            EventType::Keydown => self.key(event),
            EventType::Hover => {
                if self.element_step(event, "hover", json!({})).is_none() {
                    self.custom(event);
                }
            }
            EventType::Scroll => self.scroll(event),
            EventType::TabClosed => {
                let step = self.step(event, "close");
                self.add(event, step);
            }
            // The target of the next step says which tab it is.
            EventType::TabActivated
            // Nothing is done.
            | EventType::TabReady
            | EventType::PageView
            | EventType::RecordingStopped
            | EventType::Focus => {}
            EventType::Submit => self.submit(event),
            EventType::Drag | EventType::FileChosen | EventType::Dialog | EventType::Download | EventType::Gap => {
                self.custom(event);
            }
        }
    }

    fn viewport(&mut self, event: &Event) {
        let side = |key: &str| event.data.get("viewport")?.get(key)?.as_f64().map(|side| side.round() as u64);
        if let Some((width, height)) = side("width").zip(side("height")) {
            self.steps.push(json!({
                "type": "setViewport",
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "isMobile": false,
                "hasTouch": false,
                "isLandscape": false,
            }));
        }
    }

    fn tab_created(&mut self, event: &Event) {
        let url = address(event);
        let is_blank = url.is_empty() || url.starts_with("about:");
        self.name_target(event.tab, if is_blank { "" } else { url });
        let is_opened = ["opener", "caused_by"].iter().any(|key| event.data.get(*key).is_some_and(|by| !by.is_null()));
        if !is_opened && !is_blank {
            self.opened.insert(event.tab, url.to_owned());
            self.navigate(event, url);
        }
    }

    /// The first tab is the main target. Others are named by the first address that they show.
    fn name_target(&mut self, tab: u64, url: &str) {
        if self.targets.is_empty() {
            self.targets.insert(tab, MAIN.to_owned());
        } else if !url.is_empty() {
            self.targets.entry(tab).or_insert_with(|| url.to_owned());
        }
    }

    fn navigated(&mut self, event: &Event) {
        let url = address(event);
        self.name_target(event.tab, url);
        let opened = self.opened.remove(&event.tab);
        let cause =
            event.data.get("caused_by").and_then(Value::as_u64).and_then(|cause| self.made.get(&cause)).copied();
        if let Some(position) = cause {
            self.made.insert(event.event_index, position);
            // The target of its steps says what another tab shows.
            if self.is_target_of(position, event.tab) {
                self.assert_navigation(position, url, &event.page.title);
            }
        } else if opened.as_deref() != Some(url) {
            self.navigate(event, url);
        }
    }

    fn navigate(&mut self, event: &Event, url: &str) {
        let mut step = self.step(event, "navigate");
        step["url"] = url.into();
        step["assertedEvents"] = json!([asserted(url, &event.page.title)]);
        self.add(event, step);
    }

    fn assert_navigation(&mut self, position: usize, url: &str, title: &str) {
        let Some(step) = self.steps.get_mut(position) else { return };
        let asserted = asserted(url, title);
        match step.get_mut("assertedEvents").and_then(Value::as_array_mut) {
            Some(events) => events.push(asserted),
            None => step["assertedEvents"] = json!([asserted]),
        }
    }

    fn is_target_of(&mut self, position: usize, tab: u64) -> bool {
        let target = self.target(tab);
        self.steps.get(position).and_then(|step| step.get("target")).and_then(Value::as_str) == Some(target.as_str())
    }

    fn click(&mut self, event: &Event) {
        let button = match event.data.get("button") {
            Some(Value::String(name)) if name == "right" => "secondary",
            Some(Value::String(name)) if name == "middle" => "auxiliary",
            _ => "primary",
        };
        let (x, y) = offset(event);
        let attributes = json!({
            "deviceType": "mouse",
            "button": button,
            "offsetX": x,
            "offsetY": y,
        });
        let is_double = event.data.get("count").and_then(Value::as_u64).is_some_and(|count| count >= 2);
        let kind = if is_double { "doubleClick" } else { "click" };
        let held = held(event);
        for key in &held {
            self.bare_key(event, "keyDown", key);
        }
        if self.element_step(event, kind, attributes).is_none() {
            self.custom(event);
        }
        for key in held.iter().rev() {
            self.bare_key(event, "keyUp", key);
        }
    }

    fn change(&mut self, event: &Event) {
        if event.element.as_ref().is_some_and(|element| element.sensitive) {
            return self.custom(event);
        }
        let value = match (event.data.get("value"), event.data.get("values")) {
            (Some(Value::String(text)), _) => Some(text.clone()),
            (Some(Value::Number(number)), _) => Some(number.to_string()),
            (_, Some(Value::Array(values))) => match values.as_slice() {
                [only] => only.get("value").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() && event.data.get("checked").is_some_and(Value::is_boolean) {
            // The click that changed it is the step.
            let is_clicked = self
                .previous
                .is_some_and(|previous| previous.event_type == EventType::Click && previous.element == event.element);
            if !is_clicked {
                self.click(event);
            }
            return;
        }
        let made = value.and_then(|value| self.element_step(event, "change", json!({ "value": value })));
        if made.is_none() {
            self.custom(event);
        }
    }

    fn key(&mut self, event: &Event) {
        let Some(key) = event.data.get("key").and_then(Value::as_str) else { return self.custom(event) };
        let held = held(event);
        for modifier in &held {
            self.bare_key(event, "keyDown", modifier);
        }
        let mut step = self.step(event, "keyDown");
        step["key"] = key.into();
        self.add(event, step);
        self.bare_key(event, "keyUp", key);
        for modifier in held.iter().rev() {
            self.bare_key(event, "keyUp", modifier);
        }
    }

    fn bare_key(&mut self, event: &Event, kind: &str, key: &str) {
        let mut step = self.step(event, kind);
        step["key"] = key.into();
        self.steps.push(step);
    }

    fn scroll(&mut self, event: &Event) {
        let mut step = self.step(event, "scroll");
        for key in ["x", "y"] {
            step[key] = event.data.get(key).filter(|side| side.is_number()).cloned().unwrap_or_else(|| 0.into());
        }
        if let Some(element) = &event.element {
            step["selectors"] = selectors::of(element).into();
        } else if event.data.get("container").is_some_and(|container| !container.is_null()) {
            return self.custom(event);
        }
        self.frame(event, &mut step);
        self.add(event, step);
    }

    /// A submission follows from the click or the Enter key before it.
    fn submit(&mut self, event: &Event) {
        let is_caused = self.previous.is_some_and(|previous| {
            previous.tab == event.tab && matches!(previous.event_type, EventType::Click | EventType::Keydown)
        });
        let cause = self.previous.filter(|_| is_caused).and_then(|previous| self.made.get(&previous.event_index));
        match cause.copied() {
            Some(position) => {
                self.made.insert(event.event_index, position);
            }
            None => self.custom(event),
        }
    }

    /// A step on an element; `None` if there is no selector for it.
    fn element_step(&mut self, event: &Event, kind: &str, attributes: Value) -> Option<()> {
        let selectors = event.element.as_ref().map(selectors::of).filter(|all| !all.is_empty())?;
        let mut step = self.step(event, kind);
        if let (Value::Object(step), Value::Object(attributes)) = (&mut step, attributes) {
            step.extend(attributes);
        }
        step["selectors"] = selectors.into();
        self.frame(event, &mut step);
        self.add(event, step);
        Some(())
    }

    /// An event for which the format has no step.
    fn custom(&mut self, event: &Event) {
        let Ok(Value::Object(mut parameters)) = exported(event) else { return };
        parameters.remove("event_index");
        if let Some(element) = parameters.get_mut("element").and_then(Value::as_object_mut) {
            element.remove("html");
        }
        // Indexes are those of this recording.
        if let Some(data) = parameters.get_mut("data").and_then(Value::as_object_mut) {
            data.remove("caused_by");
            if event.element.as_ref().is_some_and(|element| element.sensitive) {
                data.insert("value".to_owned(), Value::Null);
            }
        }
        let mut step = self.step(event, "customStep");
        step["name"] = format!("{CUSTOM}{}", event.event_type.as_str()).into();
        step["parameters"] = parameters.into();
        self.add(event, step);
    }

    fn step(&mut self, event: &Event, kind: &str) -> Value {
        json!({ "type": kind, "target": self.target(event.tab) })
    }

    fn target(&mut self, tab: u64) -> String {
        if tab == 0 {
            return MAIN.to_owned();
        }
        let is_first = self.targets.is_empty();
        self.targets.entry(tab).or_insert_with(|| if is_first { MAIN.to_owned() } else { format!("tab-{tab}") }).clone()
    }

    fn frame(&self, event: &Event, step: &mut Value) {
        if !event.frame.is_empty() {
            step["frame"] = event.frame.iter().map(|frame| frame.index).collect();
        }
    }

    fn add(&mut self, event: &Event, step: Value) {
        self.made.insert(event.event_index, self.steps.len());
        self.steps.push(step);
    }
}

/// Whether an event is an action, which others may follow from.
fn matters(event: &Event) -> bool {
    !matches!(
        event.event_type,
        EventType::RecordingStarted
            | EventType::TabCreated
            | EventType::TabActivated
            | EventType::TabReady
            | EventType::PageView
            | EventType::Focus
            | EventType::Dialog
            | EventType::Download
    )
}

fn address(event: &Event) -> &str {
    let url = event.data.get("url").and_then(Value::as_str).filter(|url| !url.is_empty());
    url.unwrap_or(&event.page.url)
}

fn asserted(url: &str, title: &str) -> Value {
    json!({ "type": "navigation", "url": url, "title": title })
}

/// Keys that were held.
fn held(event: &Event) -> Vec<&'static str> {
    let given = event.data.get("modifiers").and_then(Value::as_array);
    let names: Vec<&str> = given.into_iter().flatten().filter_map(Value::as_str).collect();
    MODIFIERS.into_iter().filter(|key| names.iter().any(|name| name.eq_ignore_ascii_case(key))).collect()
}

/// Where a click was, from the corner of its element: as imported, else the middle of the element.
fn offset(event: &Event) -> (f64, f64) {
    let given = |key: &str| event.data.get("offset")?.get(key)?.as_f64().filter(|side| side.is_finite());
    let half = |side: f64| if side.is_finite() && side > 2.0 { side / 2.0 } else { 1.0 };
    let area = event.element.as_ref().and_then(|element| element.area);
    let middle = area.map_or((1.0, 1.0), |area| (half(area.width), half(area.height)));
    given("x").zip(given("y")).unwrap_or(middle)
}
