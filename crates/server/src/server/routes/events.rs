//! Events as Server-Sent Events.
//!
//! The id of an event is `<start>-<n>`: the name of the log and the number of the event in it. A log ends with the server
//! or the profile. The name keeps a reconnecting client from resuming at a number of another log, which would lose events
//! or wait for ever.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::{Call, Reply};
use crate::api::EventsQuery;
use crate::control::Profile;
use crate::http::{Answer, Event, EventSource, Next};
use crate::secrets::SecretStore;
use cdpilot::redact::ChangingSecrets;
use cdpilot::supervisor::{Entry, EventKind, EventLog};
use cdpilot::sync::Deadline;

/// Entries read from the log at once.
const AT_ONCE: usize = 256;
/// Age of an event in seconds up to which its tab may not be published yet.
const NEW: f64 = 2.0;
/// How long to wait until a new tab is published.
const PUBLISHED: Duration = Duration::from_millis(300);

pub(super) fn stream(call: &Call<'_>, query: EventsQuery) -> Result<Reply, ApiError> {
    let profile = call.profile()?;
    let target = match &call.target {
        Some(_) => Some(call.tab_to_read()?.info.target_id),
        None => None,
    };
    let log = Arc::clone(profile.events());
    let start = profile.events_start().to_owned();
    // `Last-Event-ID` takes precedence: a reconnecting client sends it with the original query.
    let seen = call.request.headers.get("last-event-id").map(|id| id.to_str().unwrap_or("not text").trim());
    let from = match (seen.filter(|id| !id.is_empty()), query.since.as_deref()) {
        (Some(id), _) => after(id, &start, &log),
        (None, Some(since)) => match since.parse::<u64>() {
            Ok(number) => Some(number).filter(|number| *number <= log.last()),
            Err(_) if split(since).is_some() => after(since, &start, &log),
            Err(_) => {
                let problem =
                    "since: expected an event id (<start>-<n>) or an event number; 0 returns all retained events";
                return Err(ApiError::bad(problem));
            }
        },
        (None, None) => Some(log.last()),
    };
    let profile = (!profile.session().is_default()).then_some(profile);
    let secrets = call.context.control.secret_store().clone();
    let mut source = Stream { log, start, seq: 0, target, profile, secrets, ready: VecDeque::new() };
    match from {
        Some(seq) => source.seq = seq,
        None => source.reset("other_start"),
    }
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

/// The number in an event id; `None` if it belongs to another log.
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
    /// Name of the log.
    start: String,
    /// Number of the last entry that was read.
    seq: u64,
    /// Send only events of this tab.
    target: Option<String>,
    /// For a session other than the default one: send only events of tabs that it sees.
    profile: Option<Profile>,
    /// Redacted in events.
    secrets: SecretStore,
    ready: VecDeque<Event>,
}

impl Stream {
    /// Whether the session sees what an event is about; `None` while that is not known.
    fn is_visible(&self, entry: &Entry, deadline: Deadline<'_>) -> Option<bool> {
        let (Some(profile), Some(target)) = (&self.profile, &entry.target_id) else { return Some(true) };
        // A tab is logged a moment before it is published, and until then its owner is unknown.
        let is_new = entry.kind() == EventKind::TabOpened && unix_now() - entry.ts < NEW;
        if is_new && !profile.wait_for_page(target, deadline.within(PUBLISHED)) {
            return None;
        }
        profile.sees(target, deadline)
    }

    /// Sends a `reset` event and starts again with all retained events.
    fn reset(&mut self, reason: &'static str) {
        let before = self.log.since(0, 1).lost;
        let ts = unix_now();
        let data = json!({ "seq": before, "ts": ts, "type": "reset", "reason": reason });
        let id = Some(id(&self.start, before));
        self.ready.push_back(Event { name: Some("reset".to_owned()), id, data: data.to_string() });
        self.seq = before;
    }
}

impl EventSource for Stream {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
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
                let Some(is_visible) = self.is_visible(entry, deadline) else {
                    // Read again, rather than lost.
                    return self.ready.pop_front().map_or(Next::Nothing, Next::Event);
                };
                self.seq = entry.seq;
                let about = entry.target_id.as_ref().map(|target| target.as_str());
                if is_visible && (self.target.is_none() || about == self.target.as_deref()) {
                    self.ready.push_back(event(&self.start, entry, self.secrets.covers()));
                }
            }
            // Events that are filtered out must not delay the check for a disconnected client.
            if self.ready.is_empty() && deadline.passed() {
                return Next::Nothing;
            }
        }
    }
}

fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn id(start: &str, seq: u64) -> String {
    format!("{start}-{seq}")
}

/// A log entry as an event.
pub(super) fn event(start: &str, entry: &Entry, secrets: &ChangingSecrets) -> Event {
    let mut map = entry.event.fields();
    // The dialog has a field of its own, because `type` and `id` are those of the event.
    if matches!(entry.kind(), EventKind::DialogOpened | EventKind::DialogClosed) {
        map.insert("dialog".to_owned(), Value::Object(map.clone()));
    }
    if !secrets.is_empty() {
        secrets.cover_fields(&mut map);
    }
    let name = entry.kind().as_str();
    map.insert("seq".to_owned(), entry.seq.into());
    map.insert("ts".to_owned(), json!(entry.ts));
    map.insert("type".to_owned(), name.into());
    if let Some(target) = &entry.target_id {
        map.insert("targetId".to_owned(), target.as_str().into());
    }
    Event { name: Some(name.to_owned()), id: Some(id(start, entry.seq)), data: Value::Object(map).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdpilot::supervisor::{EventRecord, LogEvent};

    fn navigated() -> LogEvent {
        LogEvent::Navigated { frame_id: "F".into(), url: "http://a.test/".into(), main: true, same_document: true }
    }

    fn sent(happened: LogEvent) -> Value {
        let log = EventLog::default();
        let record = EventRecord::new(Some("T".into()), happened);
        log.append((0..7).map(|_| (1.5, record.clone())));
        let event = event("a1", &log.since(6, 1).entries[0], &ChangingSecrets::default());
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!((event.name.as_deref(), event.id.as_deref()), (data["type"].as_str(), Some("a1-7")));
        assert_eq!((&data["seq"], &data["ts"], &data["targetId"]), (&json!(7), &json!(1.5), &json!("T")));
        assert_described(&data);
        data
    }

    /// Every field of an event is in the schema of its kind, and every required one in the event.
    fn assert_described(data: &Value) {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
        let schema = crate::server::routes::event_schema(&mut generator);
        let kinds = schema["oneOf"].as_array().unwrap();
        let kind = kinds.iter().find(|kind| kind["title"] == data["type"]).unwrap_or_else(|| panic!("{data}"));
        let fields = kind["properties"].as_object().unwrap();
        let unknown: Vec<_> = data.as_object().unwrap().keys().filter(|name| !fields.contains_key(*name)).collect();
        let names = kind["required"].as_array().unwrap().iter().filter_map(Value::as_str);
        let missing: Vec<_> = names.filter(|name| data.get(*name).is_none()).collect();
        assert!(unknown.is_empty() && missing.is_empty(), "{data}: {unknown:?} not described, {missing:?} missing");
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
        log.append((0..10_050).map(|_| (1.0, EventRecord::new(None, navigated()))));
        let mut stream = Stream {
            log,
            start: "a1".to_owned(),
            seq: 7,
            target: None,
            profile: None,
            secrets: SecretStore::default(),
            ready: VecDeque::new(),
        };
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
        let all: Vec<Value> = LogEvent::examples().into_iter().map(sent).collect();
        let of = |kind: &str| all.iter().find(|data| data["type"] == kind).unwrap();
        let opened = of("dialog_opened");
        assert_eq!((&opened["message"], &opened["dialog"]["id"]), (&json!("m"), &json!("d-1")));
        assert_eq!(opened["dialog"]["type"], "alert");
        assert_eq!(of("dialog_closed")["dialog"]["closed_by"], "agent");
        let console = of("console");
        assert_eq!((&console["line"], &console["column"], &console["frameId"]), (&json!(1), &json!(4), &json!("F")));
        let download = of("download");
        assert_eq!((&download["suggestedFilename"], &download["state"]), (&json!("a"), &json!("inProgress")));
        assert_eq!(of("navigated")["sameDocument"], true);
    }
}
