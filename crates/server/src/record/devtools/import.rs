//! Steps of Chrome DevTools as events.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::event::{Actor, Element, Event, EventType, FrameStep, PageShown};
use super::super::interchange::{
    ImportError, MAX_EVENTS, MAX_NAME, Notes, address, check_depth, check_event, clean, many, object, parse, read_event,
};
use super::{CUSTOM, MAIN, MODIFIERS, selectors};

/// Types of steps that check or emulate something, and are not recorded.
const NOT_RECORDED: [(&str, &str); 5] = [
    ("emulateNetworkConditions", "slows the network down"),
    ("waitForElement", "waits for an element"),
    ("waitForExpression", "waits until a script returns true"),
    ("waitForURL", "waits for an address"),
    ("customStep", "belongs to another program"),
];
/// Schemes of pages of the browser itself, with which recordings of DevTools often begin.
const BROWSER_PAGES: [&str; 4] = ["chrome://", "edge://", "brave://", "devtools://"];

/// The longest side of a viewport, in CSS pixels.
const MAX_SIDE: f64 = 100_000.0;

/// A recording of Chrome DevTools, as events.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Its title.
    pub name: String,
    /// The events, numbered from 1. They have no time.
    pub events: Vec<Event>,
    /// Steps that are not recorded, and changes, in sentences. Steps are numbered from 1.
    pub notes: Vec<String>,
}

/// Reads a recording of Chrome DevTools, as untrusted text. Nothing of it runs.
///
/// # Errors
/// The first part that is not accepted.
pub fn import(content: &str) -> Result<Imported, ImportError> {
    read(&parse(content)?)
}

/// Reads a recording of Chrome DevTools that was parsed already, as untrusted content.
///
/// # Errors
/// The first part that is not accepted.
pub fn read(file: &Value) -> Result<Imported, ImportError> {
    check_depth(file)?;
    let Some(title) = file.get("title").and_then(Value::as_str) else {
        return Err(ImportError::new("title", "the title is missing", "import the JSON export of the Recorder panel"));
    };
    let Some(steps) = file.get("steps").and_then(Value::as_array) else {
        let advice = "import the JSON export of the Recorder panel";
        return Err(ImportError::new("steps", "the list of steps is missing", advice));
    };
    many("steps", steps.len(), MAX_EVENTS)?;
    let mut import = Import::default();
    for (position, step) in steps.iter().enumerate() {
        import.step(position, step)?;
        many("steps", import.events.len(), MAX_EVENTS)?;
    }
    let mut name = title.to_owned();
    clean(&mut name);
    let name = name.trim().chars().take(MAX_NAME).collect();
    Ok(Imported { name, events: import.events, notes: import.notes.into_vec() })
}

#[derive(Default)]
struct Import {
    events: Vec<Event>,
    notes: Notes,
    /// Number of each target.
    tabs: BTreeMap<String, u64>,
    /// Page of each tab.
    pages: BTreeMap<u64, PageShown>,
    /// Modifier keys that are down.
    held: Vec<&'static str>,
    /// Other keys that are down, with the index of the event of their press.
    down: BTreeMap<String, u64>,
}

/// A step and where it is in the file.
struct Step<'s> {
    /// From 1.
    number: usize,
    place: String,
    kind: &'s str,
    fields: &'s Map<String, Value>,
}

impl<'s> Step<'s> {
    fn text(&self, key: &str) -> Result<&'s str, ImportError> {
        self.fields.get(key).and_then(Value::as_str).ok_or_else(|| self.wrong(key, "a string"))
    }

    fn number(&self, key: &str) -> Result<Option<f64>, ImportError> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| self.wrong(key, "a number")),
        }
    }

    fn wrong(&self, key: &str, expected: &str) -> ImportError {
        let problem = if self.fields.contains_key(key) { "the value is not accepted" } else { "the field is missing" };
        ImportError::new(format!("{}.{key}", self.place), problem, format!("write {expected}"))
    }

    fn element(&self) -> Result<Element, ImportError> {
        let element = self.fields.get("selectors").and_then(selectors::element);
        element.ok_or_else(|| self.wrong("selectors", "a list of selectors, each a string or a list of strings"))
    }

    fn frame(&self) -> Result<Vec<FrameStep>, ImportError> {
        let Some(frame) = self.fields.get("frame").filter(|frame| !frame.is_null()) else { return Ok(Vec::new()) };
        let indexes: Option<Vec<u64>> = frame.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
        let indexes = indexes.ok_or_else(|| self.wrong("frame", "a list of whole numbers, 0 or more"))?;
        Ok(indexes.into_iter().map(|index| FrameStep { index, ..FrameStep::default() }).collect())
    }
}

impl Import {
    fn step(&mut self, position: usize, step: &Value) -> Result<(), ImportError> {
        let place = format!("steps[{position}]");
        let Some(fields) = step.as_object() else {
            return Err(ImportError::new(place, "the step is not an object", "write an object with type"));
        };
        let step = Step { number: position + 1, place, kind: "", fields };
        let step = Step { kind: step.text("type")?, ..step };
        match step.kind {
            "setViewport" => self.viewport(&step),
            "navigate" => self.navigate(&step),
            "click" | "doubleClick" => self.click(&step),
            "hover" => self.on_element(&step, EventType::Hover, Map::new()).map(drop),
            "change" => self.change(&step),
            "keyDown" => self.key_down(&step),
            "keyUp" => self.key_up(&step),
            "scroll" => self.scroll(&step),
            "close" => {
                let tab = self.tab(&step)?;
                self.add(&step, tab, EventType::TabClosed, None, Map::new()).map(drop)
            }
            "customStep" if step.fields.get("name").and_then(Value::as_str).is_some_and(|n| n.starts_with(CUSTOM)) => {
                self.event(&step)
            }
            kind => {
                let Some((_, does)) = NOT_RECORDED.iter().find(|(known, _)| *known == kind) else {
                    let kind: String = kind.chars().take(40).collect();
                    let problem = format!("{kind:?} is not a known type of step");
                    return Err(ImportError::new(format!("{}.type", step.place), problem, "remove the step"));
                };
                self.notes.add(format!("Step {}, {kind}, {does}: it is not recorded", step.number));
                Ok(())
            }
        }
    }

    fn viewport(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let side = |key: &str| match step.number(key)?.map(f64::round) {
            Some(side) if (1.0..=MAX_SIDE).contains(&side) => Ok(side as u64),
            _ => Err(step.wrong(key, "a number of pixels, 1 or more")),
        };
        let (width, height) = (side("width")?, side("height")?);
        if !self.events.is_empty() {
            let number = step.number;
            self.notes.add(format!("Step {number}, setViewport, changes the viewport later: it is not recorded"));
            return Ok(());
        }
        let data = object([("viewport", json!({ "width": width, "height": height }))]);
        self.add(step, 0, EventType::RecordingStarted, None, data).map(drop)
    }

    fn navigate(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let url = step.text("url")?;
        if BROWSER_PAGES.iter().any(|scheme| url.starts_with(scheme)) {
            let number = step.number;
            self.notes.add(format!("Step {number}, navigate, opens a page of the browser itself: it is not recorded"));
            return Ok(());
        }
        address(&format!("{}.url", step.place), url)?;
        let tab = self.tab(step)?;
        self.shows(tab, url, "");
        let data = object([("url", url.into())]);
        let index = self.add(step, tab, EventType::TabNavigated, None, data)?;
        self.asserted(step, tab, index, Some(url))
    }

    fn click(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let button = match step.fields.get("button").and_then(Value::as_str) {
            Some("secondary") => "right",
            Some("auxiliary") => "middle",
            _ => "left",
        };
        if let Some(other @ ("back" | "forward")) = step.fields.get("button").and_then(Value::as_str) {
            let number = step.number;
            self.notes.add(format!("Step {number}, {}, uses the button {other}: it is recorded as left", step.kind));
        }
        let count = if step.kind == "doubleClick" { 2 } else { 1 };
        let held: Vec<Value> = self.held.iter().map(|key| (*key).into()).collect();
        let mut data = object([("button", button.into()), ("count", count.into()), ("modifiers", held.into())]);
        // From the corner of the element, which the file does not place on the page.
        if let Some((x, y)) = step.number("offsetX")?.zip(step.number("offsetY")?) {
            data.insert("offset".to_owned(), json!({ "x": x, "y": y }));
        }
        self.on_element(step, EventType::Click, data).map(drop)
    }

    fn change(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let value = step.text("value")?;
        let data = object([("value", value.into()), ("source_count", 1.into())]);
        self.on_element(step, EventType::Input, data).map(drop)
    }

    fn key_down(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let key = step.text("key")?;
        if let Some(modifier) = modifier(key) {
            if !self.held.contains(&modifier) {
                self.held.push(modifier);
            }
            return Ok(());
        }
        let held: Vec<Value> = self.held.iter().map(|key| (*key).into()).collect();
        let data = object([("key", key.into()), ("modifiers", held.into())]);
        let tab = self.tab(step)?;
        let index = self.add(step, tab, EventType::Keydown, None, data)?;
        self.down.insert(key.to_owned(), index);
        self.asserted(step, tab, index, None)
    }

    /// The end of a key press follows from its beginning. It may have the effect all the same.
    fn key_up(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let key = step.text("key")?;
        if let Some(modifier) = modifier(key) {
            self.held.retain(|held| *held != modifier);
            return Ok(());
        }
        let Some(index) = self.down.remove(key) else {
            let number = step.number;
            self.notes.add(format!("Step {number}, keyUp, releases a key that was not pressed: it is not recorded"));
            return Ok(());
        };
        let tab = self.tab(step)?;
        self.asserted(step, tab, index, None)
    }

    fn scroll(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let place = [("x", step.number("x")?), ("y", step.number("y")?)];
        let data = object(place.map(|(key, side)| (key, side.unwrap_or(0.0).into())));
        let has_selectors = step.fields.get("selectors").is_some_and(|selectors| !selectors.is_null());
        if has_selectors {
            return self.on_element(step, EventType::Scroll, data).map(drop);
        }
        let tab = self.tab(step)?;
        let index = self.add(step, tab, EventType::Scroll, None, data)?;
        self.asserted(step, tab, index, None)
    }

    /// An event that was exported as a custom step. Its tab and its page are those of the file.
    fn event(&mut self, step: &Step<'_>) -> Result<(), ImportError> {
        let Some(Value::Object(parameters)) = step.fields.get("parameters") else {
            return Err(step.wrong("parameters", "an object, the event"));
        };
        let tab = self.tab(step)?;
        let mut parameters = parameters.clone();
        let index = self.events.len() as u64 + 1;
        parameters.insert("event_index".to_owned(), index.into());
        let place = format!("{}.parameters", step.place);
        let mut event = read_event(&place, Value::Object(parameters), &mut self.notes)?;
        event.tab = if event.tab == 0 { 0 } else { tab };
        if event.page.url.is_empty() {
            event.page = self.pages.get(&tab).cloned().unwrap_or_default();
        }
        self.events.push(event);
        self.asserted(step, tab, index, None)
    }

    fn on_element(
        &mut self,
        step: &Step<'_>,
        event_type: EventType,
        data: Map<String, Value>,
    ) -> Result<u64, ImportError> {
        let element = step.element()?;
        let tab = self.tab(step)?;
        let index = self.add(step, tab, event_type, Some(element), data)?;
        self.asserted(step, tab, index, None)?;
        Ok(index)
    }

    /// Number of the tab of a step. A target that is used for the first time is a new tab.
    fn tab(&mut self, step: &Step<'_>) -> Result<u64, ImportError> {
        let target = match step.fields.get("target") {
            None | Some(Value::Null) => MAIN,
            Some(target) => target.as_str().ok_or_else(|| step.wrong("target", "a string"))?,
        };
        if let Some(tab) = self.tabs.get(target) {
            return Ok(*tab);
        }
        let tab = self.tabs.len() as u64 + 1;
        self.tabs.insert(target.to_owned(), tab);
        if target != MAIN {
            let url = if address("", target).is_ok() { target } else { "" };
            let mut data = object([("url", url.into())]);
            if let Some(last) = self.events.iter().rev().find(|event| event.tab != 0) {
                data.insert("opener".to_owned(), last.tab.into());
            }
            self.shows(tab, url, "");
            self.add(step, tab, EventType::TabCreated, None, data)?;
        }
        Ok(tab)
    }

    fn shows(&mut self, tab: u64, url: &str, title: &str) {
        self.pages.insert(tab, PageShown { url: url.to_owned(), title: title.to_owned() });
    }

    /// Navigations that followed from a step. The one to the address that was opened only says the title.
    fn asserted(&mut self, step: &Step<'_>, tab: u64, cause: u64, opened: Option<&str>) -> Result<(), ImportError> {
        let Some(list) = step.fields.get("assertedEvents").filter(|list| !list.is_null()) else { return Ok(()) };
        let list = list.as_array().ok_or_else(|| step.wrong("assertedEvents", "a list"))?;
        for (position, asserted) in list.iter().enumerate() {
            let text = |key: &str| asserted.get(key).and_then(Value::as_str).unwrap_or_default();
            let number = step.number;
            if text("type") != "navigation" || text("url").is_empty() {
                self.notes.add(format!(
                    "Step {number}, {}: asserted event {} says no address and is not recorded",
                    step.kind,
                    position + 1
                ));
                continue;
            }
            let url = text("url");
            address(&format!("{}.assertedEvents[{position}].url", step.place), url)?;
            let mut title = text("title").to_owned();
            clean(&mut title);
            self.shows(tab, url, &title);
            if opened == Some(url) {
                if let Some(event) = self.events.last_mut().filter(|event| event.event_index == cause) {
                    event.page.title = title;
                }
                continue;
            }
            let data = object([("url", url.into()), ("caused_by", cause.into())]);
            self.add(step, tab, EventType::TabNavigated, None, data)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        step: &Step<'_>,
        tab: u64,
        event_type: EventType,
        element: Option<Element>,
        data: Map<String, Value>,
    ) -> Result<u64, ImportError> {
        let event_index = self.events.len() as u64 + 1;
        let is_in_frame = element.is_some() || event_type == EventType::Scroll;
        let mut event = Event {
            event_index,
            event_type,
            timestamp: 0.0,
            by: Actor::Person,
            tab,
            frame: if is_in_frame { step.frame()? } else { Vec::new() },
            page: self.pages.get(&tab).cloned().unwrap_or_default(),
            element,
            data,
            keyframe: None,
            keyframe_after: None,
        };
        check_event(&step.place, &mut event, &mut self.notes)?;
        self.events.push(event);
        Ok(event_index)
    }
}

fn modifier(key: &str) -> Option<&'static str> {
    let plain = key.trim_end_matches("Left").trim_end_matches("Right");
    MODIFIERS.into_iter().find(|modifier| *modifier == plain)
}
