//! Checks of events that come from outside.

use serde_json::{Map, Value};

use super::super::event::{Element, Event, EventType};
use super::error::ImportError;

/// The most events of a recording.
pub(in super::super) const MAX_EVENTS: usize = 20_000;
/// The longest name of a recording, in characters.
pub(in super::super) const MAX_NAME: usize = 200;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 16 << 10;
/// The longest name, label, title or selector, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// The longest text or HTML of an element, in bytes.
const MAX_CONTENT: usize = 64 << 10;
/// The most bytes of all strings of `data`.
const MAX_DATA: usize = 1 << 20;
const MAX_FRAMES: usize = 64;
const MAX_SELECTORS: usize = 64;
const MAX_TAB: u64 = 10_000;
/// The largest whole number that JSON keeps exactly.
const MAX_INDEX: u64 = (1 << 53) - 1;
/// The latest time, in the year 5138.
const MAX_TIME: f64 = 1e11;
const SCHEMES: [&str; 4] = ["http", "https", "file", "about"];
/// The most notes of one import.
pub(in super::super) const MAX_NOTES: usize = 200;

/// Whether a character cannot be seen: control, bidirectional and zero-width characters.
pub(in super::super) fn is_invisible(c: char) -> bool {
    let is_format = matches!(
        u32::from(c),
        0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb
            | 0xe0000..=0xe007f
    );
    is_format || c.is_control()
}

/// Replaces white space by blanks and removes invisible characters.
pub(in super::super) fn clean(text: &mut String) {
    if text.chars().any(|c| is_invisible(c) || (c.is_whitespace() && c != ' ')) {
        *text = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_invisible(*c)).collect();
    }
}

/// Changes and omissions of an import, in sentences.
#[derive(Debug, Default)]
pub(in super::super) struct Notes(Vec<String>);

impl Notes {
    pub(in super::super) fn add(&mut self, note: String) {
        match self.0.len() {
            MAX_NOTES => self.0.push("More notes are not listed".to_owned()),
            length if length > MAX_NOTES => {}
            _ => self.0.push(note),
        }
    }

    pub(in super::super) fn into_vec(self) -> Vec<String> {
        self.0
    }
}

/// Checks an event, and removes what may not be taken over: invisible characters of names, paths of screenshots, links
/// that a page may not open.
pub(in super::super) fn event(place: &str, event: &mut Event, notes: &mut Notes) -> Result<(), ImportError> {
    let at = |part: &str| format!("{place}.{part}");
    if event.event_index == 0 || event.event_index > MAX_INDEX {
        let problem = format!("{} is not a valid event index", event.event_index);
        return Err(ImportError::new(at("event_index"), problem, "number the events from 1"));
    }
    if !(0.0..=MAX_TIME).contains(&event.timestamp) {
        let problem = format!("{} is not a valid time", event.timestamp);
        return Err(ImportError::new(
            at("timestamp"),
            problem,
            "write seconds since 1970, or 0 if the time is not known",
        ));
    }
    if event.tab > MAX_TAB {
        let problem = format!("{} is not a valid tab number", event.tab);
        return Err(ImportError::new(at("tab"), problem, format!("number the tabs from 1, at most {MAX_TAB}")));
    }
    event.keyframe = None;
    event.keyframe_after = None;
    address(&at("page.url"), &event.page.url)?;
    name(&at("page.title"), &mut event.page.title)?;
    many(&at("frame"), event.frame.len(), MAX_FRAMES)?;
    for (index, frame) in event.frame.iter_mut().enumerate() {
        name(&at(&format!("frame[{index}].name")), &mut frame.name)?;
        link(&at(&format!("frame[{index}].url")), &mut frame.url, notes)?;
    }
    if let Some(element) = &mut event.element {
        check_element(&at("element"), element, notes)?;
    }
    data(&at("data"), event, notes)
}

fn check_element(place: &str, element: &mut Element, notes: &mut Notes) -> Result<(), ImportError> {
    let at = |part: &str| format!("{place}.{part}");
    name(&at("tag"), &mut element.tag)?;
    name(&at("role"), &mut element.role)?;
    name(&at("name"), &mut element.name)?;
    name(&at("label"), &mut element.label)?;
    name(&at("test_id"), &mut element.test_id)?;
    length(&at("text"), &element.text, MAX_CONTENT)?;
    length(&at("html"), &element.html, MAX_CONTENT)?;
    many(&at("selectors"), element.selectors.len(), MAX_SELECTORS)?;
    for (index, selector) in element.selectors.iter().enumerate() {
        length(&at(&format!("selectors[{index}]")), selector, MAX_TEXT)?;
    }
    if let Some(container) = &mut element.container {
        name(&at("container.kind"), &mut container.kind)?;
        name(&at("container.title"), &mut container.title)?;
        link(&at("container.href"), &mut container.href, notes)?;
    }
    Ok(())
}

fn data(place: &str, event: &mut Event, notes: &mut Notes) -> Result<(), ImportError> {
    let total: usize = event.data.iter().map(|(key, value)| key.len() + size(value)).sum();
    if total > MAX_DATA {
        let problem = format!("the strings have {total} bytes, the limit is {MAX_DATA}");
        return Err(ImportError::new(place, problem, "shorten them"));
    }
    if let Some(cause) = event.data.get("caused_by").filter(|cause| !cause.is_null())
        && cause.as_u64().is_none_or(|cause| cause == 0 || cause >= event.event_index)
    {
        let advice = format!("write the event_index of an earlier event, below {}", event.event_index);
        return Err(ImportError::new(format!("{place}.caused_by"), "not the index of an earlier event", advice));
    }
    if let Some(Value::String(url)) = event.data.get_mut("url") {
        let place = format!("{place}.url");
        // What was downloaded is often generated by the page; a run opens the addresses of tabs.
        if event.event_type == EventType::Download { link(&place, url, notes)? } else { address(&place, url)? }
    }
    if event.element.as_ref().is_some_and(|element| element.sensitive) {
        remove_secret(place, &mut event.data, notes);
    }
    for key in ["names", "filename"] {
        match event.data.get_mut(key) {
            Some(Value::String(name)) => clean(name),
            Some(Value::Array(names)) => {
                for item in names {
                    if let Value::String(name) = item {
                        clean(name);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The value of a sensitive field is not taken over, even if another recorder wrote it down.
fn remove_secret(place: &str, data: &mut Map<String, Value>, notes: &mut Notes) {
    for key in ["value", "values"] {
        if let Some(value) = data.get_mut(key).filter(|value| !value.is_null()) {
            *value = Value::Null;
            notes.add(format!("{place}.{key}: the value of a sensitive field was removed"));
        }
    }
}

/// Bytes of all strings of a value.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + size(value)).sum(),
        _ => 0,
    }
}

/// The scheme of an absolute address.
fn scheme(url: &str) -> Option<String> {
    // As browsers do: they ignore invisible characters at the start, and line breaks and tabs everywhere.
    url::Url::parse(url).ok().map(|url| url.scheme().to_owned()).or_else(|| {
        let plain: String = url.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)).collect();
        let (scheme, _) = plain.split_once(':')?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        is_scheme.then(|| scheme.to_ascii_lowercase())
    })
}

/// Checks an address that a run may open.
pub(in super::super) fn address(place: &str, url: &str) -> Result<(), ImportError> {
    length(place, url, MAX_ADDRESS)?;
    if url.is_empty() {
        return Ok(());
    }
    let advice = "write an absolute address with http, https, file or about";
    match scheme(url) {
        Some(scheme) if SCHEMES.contains(&scheme.as_str()) => Ok(()),
        Some(scheme) => Err(ImportError::new(place, format!("addresses with {scheme}: are not imported"), advice)),
        None => Err(ImportError::new(place, "not an absolute address", advice)),
    }
}

/// Checks an address that only describes something. One that a run may not open is removed.
fn link(place: &str, url: &mut String, notes: &mut Notes) -> Result<(), ImportError> {
    length(place, url, MAX_ADDRESS)?;
    if let Some(scheme) = scheme(url).filter(|scheme| !SCHEMES.contains(&scheme.as_str())) {
        url.clear();
        notes.add(format!("{place}: an address with {scheme}: was removed"));
    }
    Ok(())
}

/// Checks a name and removes what cannot be seen in it.
fn name(place: &str, name: &mut String) -> Result<(), ImportError> {
    clean(name);
    length(place, name, MAX_TEXT)
}

pub(in super::super) fn length(place: &str, text: &str, longest: usize) -> Result<(), ImportError> {
    if text.len() > longest {
        let problem = format!("the text has {} bytes, the limit is {longest}", text.len());
        return Err(ImportError::new(place, problem, "shorten it"));
    }
    Ok(())
}

pub(in super::super) fn many(place: &str, count: usize, most: usize) -> Result<(), ImportError> {
    if count > most {
        let problem = format!("the list has {count} items, the limit is {most}");
        return Err(ImportError::new(place, problem, format!("write at most {most}")));
    }
    Ok(())
}
