//! What happens, as Server-Sent Events.

use std::collections::VecDeque;
use std::sync::Arc;

use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Map, Value, json};

use super::super::failure::Failure;
use super::super::http::{Answer, Event, EventSource, Next};
use super::super::types::EventsQuery;
use super::{Call, Reply};
use crate::supervisor::{Entry, EventLog, Kind};
use crate::sync::Deadline;

/// Entries taken from the log at once.
const AT_ONCE: usize = 256;

pub(super) fn stream(call: &Call<'_>, query: EventsQuery) -> Result<Reply, Failure> {
    let profile = call.profile()?;
    let target = match &call.target {
        Some(_) => Some(call.tab()?.info.target_id),
        None => None,
    };
    let log = Arc::clone(profile.events());
    // What a client has seen goes before what it first asked for: it comes back with the same address.
    let seen = call.request.header("last-event-id").and_then(|id| id.trim().parse().ok());
    let seq = seen.or(query.since).unwrap_or_else(|| log.last());
    let source = Stream { log, seq, target, ready: VecDeque::new() };
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

struct Stream {
    log: Arc<EventLog>,
    /// The newest entry that was looked at.
    seq: u64,
    /// Only what is about this tab.
    target: Option<String>,
    ready: VecDeque<Event>,
}

impl EventSource for Stream {
    fn next(&mut self, deadline: Deadline) -> Next {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Next::Event(event);
            }
            let tail = self.log.wait_since(self.seq, AT_ONCE, deadline);
            if tail.entries.is_empty() {
                let over = self.log.has_ended() && self.log.last() <= self.seq;
                return if over { Next::End } else { Next::Nothing };
            }
            if tail.lost > 0 {
                self.ready.push_back(lost(self.seq + tail.lost, tail.lost));
            }
            for entry in &tail.entries {
                self.seq = entry.seq;
                let about = entry.target_id.as_ref().map(|target| target.as_str());
                if self.target.is_none() || about == self.target.as_deref() {
                    self.ready.push_back(event(entry));
                }
            }
            // A log that grows by what others do must not hold up the look for a client that has gone.
            if self.ready.is_empty() && deadline.passed() {
                return Next::Nothing;
            }
        }
    }
}

/// Some entries are not kept any more.
fn lost(seq: u64, lost: u64) -> Event {
    let data = json!({ "seq": seq, "type": "resync", "lost": lost });
    Event { name: Some("resync".to_owned()), id: Some(seq.to_string()), data: data.to_string() }
}

/// An entry as its line.
pub(super) fn event(entry: &Entry) -> Event {
    let name = serde_json::to_value(entry.kind).ok().and_then(|name| name.as_str().map(str::to_owned));
    let name = name.unwrap_or_default();
    let mut map = Map::new();
    let mut rest = match serde_json::from_str(entry.data.get()) {
        Ok(Value::Object(rest)) => rest,
        _ => Map::new(),
    };
    match entry.kind {
        // The element is written as everywhere; its own type and id come second to those of the event.
        Kind::DialogOpened | Kind::DialogClosed => {
            map.insert("dialog".to_owned(), Value::Object(rest.clone()));
        }
        Kind::Console => rest = console(rest),
        Kind::Download => rest = download(rest),
        _ => rest = rest.into_iter().map(|(key, value)| (camel(&key), value)).collect(),
    }
    map.extend(rest);
    map.insert("seq".to_owned(), entry.seq.into());
    map.insert("ts".to_owned(), json!(entry.ts));
    map.insert("type".to_owned(), name.clone().into());
    if let Some(target) = &entry.target_id {
        map.insert("targetId".to_owned(), target.as_str().into());
    }
    Event { name: Some(name), id: Some(entry.seq.to_string()), data: Value::Object(map).to_string() }
}

/// As `GET /console` tells it: lines and columns from 1.
fn console(told: Map<String, Value>) -> Map<String, Value> {
    let one_more = |value: Value| value.as_i64().map_or(value, |number| (number + 1).into());
    let field = |(key, value): (String, Value)| match key.as_str() {
        "line" | "column" => (key, one_more(value)),
        _ => (camel(&key), value),
    };
    told.into_iter().map(field).collect()
}

/// As the `download` element.
fn download(told: Map<String, Value>) -> Map<String, Value> {
    let field = |(key, value): (String, Value)| match (key.as_str(), &value) {
        ("state", Value::String(state)) => (key, camel(state).into()),
        _ => (camel(&key), value),
    };
    told.into_iter().map(field).collect()
}

/// `frame_id` as `frameId`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn told(kind: Kind, data: &Value) -> Value {
        let data = to_raw_value(data).unwrap().into();
        let entry = Entry { seq: 7, ts: 1.5, kind, target_id: Some("T".into()), data };
        let event = event(&entry);
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!((event.name.as_deref(), event.id.as_deref()), (data["type"].as_str(), Some("7")));
        assert_eq!((&data["seq"], &data["ts"], &data["targetId"]), (&json!(7), &json!(1.5), &json!("T")));
        data
    }

    #[test]
    fn events_are_flat_and_named_as_elsewhere() {
        let dialog = json!({ "id": "d-1", "type": "alert", "message": "m", "default_prompt": "" });
        let opened = told(Kind::DialogOpened, &dialog);
        assert_eq!(
            (&opened["type"], &opened["message"], &opened["dialog"]),
            (&json!("dialog_opened"), &json!("m"), &dialog)
        );
        let said = told(Kind::Console, &json!({ "level": "log", "line": 0, "column": 3, "frame_id": "F" }));
        assert_eq!((&said["line"], &said["column"], &said["frameId"]), (&json!(1), &json!(4), &json!("F")));
        let came = told(Kind::Download, &json!({ "suggested_filename": "a", "state": "in_progress" }));
        assert_eq!((&came["suggestedFilename"], &came["state"]), (&json!("a"), &json!("inProgress")));
        assert_eq!(told(Kind::Navigated, &json!({ "same_document": true }))["sameDocument"], true);
    }
}
