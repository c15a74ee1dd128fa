//! Events that other programs send: checked, and without what is never stored.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::interchange::{MAX_NAME, Notes, Viewport, check_event, is_invisible};
use super::{Error, Event};
use cdpilot::redact::Secrets;

/// Events of one request.
pub(super) const MOST_AT_ONCE: usize = 5_000;
/// Length of an intent note, in characters.
const MOST_NOTE: usize = 10_000;

/// Facts of a recording that another program made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Metadata {
    /// Where it began. Default: the first address in its events.
    pub start_url: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Size of the viewport, in CSS pixels.
    pub viewport: Option<Viewport>,
}

/// Checks events, and removes what sensitive fields held.
pub(super) fn checked(mut events: Vec<Event>, most: usize) -> Result<Vec<Event>, Error> {
    if events.is_empty() || events.len() > most {
        return Err(Error::bad(format!("events: give 1 to {most} events, not {}", events.len())));
    }
    let (mut numbers, mut notes) = (HashSet::new(), Notes::default());
    for (at, event) in events.iter_mut().enumerate() {
        let place = format!("events[{at}]");
        check_event(&place, event, &mut notes).map_err(|problem| Error::bad(problem.to_string()))?;
        if !numbers.insert(event.event_index) {
            return Err(Error::bad(format!("{place}.event_index: {} is given twice", event.event_index)));
        }
        forget_secrets(event);
    }
    events.sort_by_key(|event| event.event_index);
    Ok(events)
}

/// Removes what a sensitive field held and what was pressed in it, and covers tokens in addresses.
pub(super) fn forget_secrets(event: &mut Event) {
    let covers = Secrets::default();
    let cover = |url: &mut String| *url = covers.cover(url).into_owned();
    cover(&mut event.page.url);
    event.frame.iter_mut().for_each(|frame| cover(&mut frame.url));
    if let Some(Value::String(url)) = event.data.get_mut("url") {
        cover(url);
    }
    if let Some(container) = event.element.as_mut().and_then(|element| element.container.as_mut()) {
        cover(&mut container.href);
    }
    let Some(element) = event.element.as_mut().filter(|element| element.sensitive) else { return };
    element.text.clear();
    element.html.clear();
    for name in ["value", "key", "prompt_text"] {
        if let Some(value) = event.data.get_mut(name) {
            *value = Value::Null;
        }
    }
    if let Some(values) = event.data.get_mut("values") {
        *values = Value::Array(Vec::new());
    }
}

/// A name as it is stored; `None` if it is empty.
pub(super) fn name(name: Option<&str>) -> Result<Option<String>, Error> {
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else { return Ok(None) };
    if name.chars().count() > MAX_NAME || name.chars().any(is_invisible) {
        let problem = format!("name: give at most {MAX_NAME} characters, without line breaks and invisible characters");
        return Err(Error::bad(problem));
    }
    Ok(Some(name.to_owned()))
}

/// An intent note as it is stored.
pub(super) fn note(note: &str) -> Result<String, Error> {
    if note.chars().count() > MOST_NOTE {
        return Err(Error::bad(format!("intent_note: give at most {MOST_NOTE} characters")));
    }
    Ok(note.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(index: u64, data: Value, sensitive: bool) -> Event {
        let element = json!({ "tag": "input", "text": "t", "html": "<input value=hunter2>", "sensitive": sensitive });
        let event =
            json!({ "event_index": index, "event_type": "input", "timestamp": 1.0, "element": element, "data": data });
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn what_a_sensitive_field_held_is_forgotten() {
        let data = json!({ "value": "hunter2", "key": "h", "values": [{ "value": "hunter2" }], "source_count": 7 });
        let kept = checked(vec![event(2, data.clone(), false), event(1, data.clone(), true)], 2).unwrap();
        assert_eq!(kept[0].event_index, 1);
        assert!(!serde_json::to_string(&kept[0]).unwrap().contains("hunter2"));
        assert_eq!(Value::Object(kept[0].data.clone())["source_count"], 7);
        assert_eq!(Value::Object(kept[1].data.clone()), data);
    }

    #[test]
    fn numbers_are_from_1_and_given_once() {
        let refused = |events: Vec<Event>| checked(events, 2).unwrap_err().to_string();
        let plain = |index| event(index, json!({}), false);
        assert!(refused(Vec::new()).contains("1 to 2"));
        assert!(refused(vec![plain(1), plain(2), plain(3)]).contains("not 3"));
        assert!(refused(vec![plain(0)]).contains("events[0].event_index"));
        assert!(refused(vec![plain(7), plain(7)]).contains("7 is given twice"));
        let late = Event { timestamp: f64::NAN, ..plain(1) };
        assert!(refused(vec![late]).contains("events[0].timestamp"));
    }

    #[test]
    fn names_do_not_hide_anything() {
        assert_eq!(name(Some(" Buy a ticket ")).unwrap().as_deref(), Some("Buy a ticket"));
        assert_eq!(name(Some("تذكرة")).unwrap().as_deref(), Some("تذكرة"));
        assert_eq!((name(None).unwrap(), name(Some(" ")).unwrap()), (None, None));
        for bad in ["a\nb", "a\u{202e}b", "a\u{2066}b", "a\u{0}b"] {
            assert!(name(Some(bad)).is_err(), "{bad:?}");
        }
        assert!(name(Some(&"x".repeat(201))).is_err());
    }
}
