//! What happens, as Server-Sent Events.
//!
//! The id of an event is `<start>-<n>`: the name of the log, and the number of the event in it. A log ends with the server
//! or the profile. A client that comes back with the id of another log would otherwise wait for numbers that may never
//! come, or miss those before them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Map, Value, json};

use super::super::failure::Failure;
use super::super::http::{Answer, Event, EventSource, Next};
use super::super::types::EventsQuery;
use super::{Call, Reply};
use crate::supervisor::{Entry, EventKind, EventLog};
use crate::sync::Deadline;

/// Entries taken from the log at once.
const AT_ONCE: usize = 256;

pub(super) fn stream(call: &Call<'_>, query: EventsQuery) -> Result<Reply, Failure> {
    let profile = call.profile()?;
    let target = match &call.target {
        Some(_) => Some(call.tab_to_read()?.info.target_id),
        None => None,
    };
    let log = Arc::clone(profile.events());
    let start = profile.events_start().to_owned();
    // What a client has seen goes before what it first asked for: it comes back with the same address.
    let seen = call.request.headers.get("last-event-id").map(|id| id.to_str().unwrap_or("not text").trim());
    let from = match (seen.filter(|id| !id.is_empty()), query.since.as_deref()) {
        (Some(id), _) => after(id, &start, &log),
        (None, Some(since)) => match since.parse::<u64>() {
            Ok(number) => Some(number).filter(|number| *number <= log.last()),
            Err(_) if split(since).is_some() => after(since, &start, &log),
            Err(_) => {
                let problem =
                    "since is neither the id of an event (<start>-<n>) nor its number; 0 gives all that is kept";
                return Err(Failure::bad(problem));
            }
        },
        (None, None) => Some(log.last()),
    };
    let mut source = Stream { log, start, seq: 0, target, ready: VecDeque::new() };
    match from {
        Some(seq) => source.seq = seq,
        None => source.reset("other_start"),
    }
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

/// The number that an id has in a log; `None` when it is none of that log's.
fn after(id: &str, start: &str, log: &EventLog) -> Option<u64> {
    let (of, number) = split(id)?;
    (of == start && number <= log.last()).then_some(number)
}

/// The parts of `<start>-<n>`.
fn split(id: &str) -> Option<(&str, u64)> {
    let (start, number) = id.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let plain = !start.is_empty() && start.bytes().all(|b| b.is_ascii_alphanumeric());
    if digits && plain { Some((start, number.parse().ok()?)) } else { None }
}

struct Stream {
    log: Arc<EventLog>,
    /// Its name.
    start: String,
    /// The newest entry that was looked at.
    seq: u64,
    /// Only what is about this tab.
    target: Option<String>,
    ready: VecDeque<Event>,
}

impl Stream {
    /// Begins with everything that is kept, and says so.
    fn reset(&mut self, reason: &'static str) {
        let before = self.log.since(0, 1).lost;
        let ts = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let data = json!({ "seq": before, "ts": ts, "type": "reset", "reason": reason });
        let id = Some(id(&self.start, before));
        self.ready.push_back(Event { name: Some("reset".to_owned()), id, data: data.to_string() });
        self.seq = before;
    }
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
                self.reset("events_lost");
                continue;
            }
            for entry in &tail.entries {
                self.seq = entry.seq;
                let about = entry.target_id.as_ref().map(|target| target.as_str());
                if self.target.is_none() || about == self.target.as_deref() {
                    self.ready.push_back(event(&self.start, entry));
                }
            }
            // A log that grows by what others do must not hold up the look for a client that has gone.
            if self.ready.is_empty() && deadline.passed() {
                return Next::Nothing;
            }
        }
    }
}

fn id(start: &str, seq: u64) -> String {
    format!("{start}-{seq}")
}

/// An entry as its line.
pub(super) fn event(start: &str, entry: &Entry) -> Event {
    let name = serde_json::to_value(entry.kind()).ok().and_then(|name| name.as_str().map(str::to_owned));
    let name = name.unwrap_or_default();
    let mut map = Map::new();
    let mut rest = match serde_json::to_value(&*entry.event) {
        Ok(Value::Object(rest)) => rest,
        _ => Map::new(),
    };
    match entry.kind() {
        // The element is written as everywhere; its own type and id come second to those of the event.
        EventKind::DialogOpened | EventKind::DialogClosed => {
            map.insert("dialog".to_owned(), Value::Object(rest.clone()));
        }
        EventKind::Console => rest = console(rest),
        EventKind::Download => rest = download(rest),
        _ => rest = rest.into_iter().map(|(key, value)| (camel(&key), value)).collect(),
    }
    map.extend(rest);
    map.insert("seq".to_owned(), entry.seq.into());
    map.insert("ts".to_owned(), json!(entry.ts));
    map.insert("type".to_owned(), name.clone().into());
    if let Some(target) = &entry.target_id {
        map.insert("targetId".to_owned(), target.as_str().into());
    }
    Event { name: Some(name), id: Some(id(start, entry.seq)), data: Value::Object(map).to_string() }
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
    use super::*;
    use crate::supervisor::{
        self, ConsoleEntry, ConsoleLevel, Dialog, DialogType, DownloadProgress, DownloadView, Happened,
    };

    fn navigated() -> supervisor::LogEvent {
        let url = "http://a.test/".into();
        supervisor::LogEvent::Navigated { frame_id: "F".into(), url, main: true, same_document: true }
    }

    fn sent(happened: supervisor::LogEvent) -> Value {
        let what = Happened { target_id: Some("T".into()), event: Arc::new(happened) };
        let event = event("a1", &Entry { seq: 7, ts: 1.5, what });
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!((event.name.as_deref(), event.id.as_deref()), (data["type"].as_str(), Some("a1-7")));
        assert_eq!((&data["seq"], &data["ts"], &data["targetId"]), (&json!(7), &json!(1.5), &json!("T")));
        data
    }

    #[test]
    fn ids_are_read_only_as_they_are_given() {
        for (id, parts) in [("a1-7", Some(("a1", 7))), ("0-0", Some(("0", 0)))] {
            assert_eq!(split(id), parts, "{id}");
        }
        for bad in ["", "7", "-", "-7", "a1-", "a1-+7", "a1-7-", "a-1-7", "a1--7", "a1-99999999999999999999", "a 1-7"] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_not_kept_any_more_is_reported_once() {
        let log = Arc::new(EventLog::default());
        log.append((0..10_050).map(|_| (1.0, Happened { target_id: None, event: Arc::new(navigated()) })));
        let mut stream = Stream { log, start: "a1".to_owned(), seq: 7, target: None, ready: VecDeque::new() };
        let mut ids = Vec::new();
        while let Next::Event(event) = stream.next(Deadline::after_millis(1)) {
            ids.push((event.name.unwrap(), event.id.unwrap()));
        }
        assert_eq!(ids[0], ("reset".to_owned(), "a1-50".to_owned()));
        assert_eq!(ids[1], ("navigated".to_owned(), "a1-51".to_owned()));
        assert_eq!((ids.len(), ids.iter().filter(|(name, _)| name == "reset").count()), (10_001, 1));
    }

    #[test]
    fn events_are_flat_and_named_as_elsewhere() {
        let dialog = Dialog {
            id: "d-1".into(),
            kind: DialogType::Alert,
            message: "m".into(),
            default_prompt: "".into(),
            opened_at: 1.0,
            frame_id: None,
            target_id: "T".into(),
            origin: "http://a.test".into(),
            bridged: false,
        };
        let opened = sent(supervisor::LogEvent::DialogOpened(dialog.clone()));
        assert_eq!((&opened["type"], &opened["message"]), (&json!("dialog_opened"), &json!("m")));
        assert_eq!(opened["dialog"], serde_json::to_value(&dialog).unwrap());
        let said = ConsoleEntry {
            level: ConsoleLevel::Log,
            text: "t".into(),
            timestamp: 1.0,
            target_id: "T".into(),
            frame_id: Some("F".into()),
            url: None,
            line: Some(0),
            column: Some(3),
            number: 1,
        };
        let said = sent(supervisor::LogEvent::Console(Arc::new(said)));
        assert_eq!((&said["line"], &said["column"], &said["frameId"]), (&json!(1), &json!(4), &json!("F")));
        let came = DownloadView {
            number: 1,
            target_id: "T".into(),
            opener: None,
            url: "http://a.test/f".into(),
            suggested_filename: "a".into(),
            state: DownloadProgress::InProgress,
            bytes: 0,
            total: None,
            file: None,
            started_at: 1.0,
        };
        let came = sent(supervisor::LogEvent::Download(came));
        assert_eq!((&came["suggestedFilename"], &came["state"]), (&json!("a"), &json!("inProgress")));
        assert_eq!(sent(navigated())["sameDocument"], true);
    }
}
