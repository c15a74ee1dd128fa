//! What captures write to, and the events that are stored.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use serde_json::{Map, Value};

use super::capture::{Sink, Written};
use super::{Actor, Error, Event, EventType, PageShown, STORE, now};
use crate::secrets::SecretStore;
use crate::store::{
    self, Image, NewRecordingEvent, RecordingEnd, RecordingPicture, RecordingStatus, StopReason, Store,
    StoredRecordingEvent,
};
use cdpilot::sync::Deadline;

/// Media type of the pictures of captures.
const JPEG: &str = "image/jpeg";

/// What captures share with the service. It holds no capture, so that a capture can outlive the service.
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) secrets: SecretStore,
    pub(super) changes: Changes,
    /// Recordings that ended by themselves, whose captures are not dropped yet.
    pub(super) ended: Mutex<HashSet<String>>,
}

impl Shared {
    /// Events as they are stored: without stored secrets, and without the paths of pictures, which [`event`] adds.
    pub(super) fn rows(&self, events: Vec<Event>) -> Result<Vec<NewRecordingEvent>, store::Error> {
        events.into_iter().map(|event| self.row(event)).collect()
    }

    fn row(&self, mut event: Event) -> Result<NewRecordingEvent, store::Error> {
        (event.keyframe, event.keyframe_after) = (None, None);
        let (index, kind) = (event.event_index, event.event_type.as_str());
        let mut body = body(&event)?;
        let secrets = self.secrets.covers();
        if !secrets.is_empty() {
            for part in ["page", "frame", "element", "data"] {
                cover(&mut body[part], &|text| secrets.cover(text).into_owned());
            }
        }
        Ok(NewRecordingEvent { index, kind, body })
    }

    /// Ends a recording, and informs those who follow it.
    pub(super) fn end(
        &self,
        id: &str,
        status: RecordingStatus,
        reason: Option<StopReason>,
    ) -> Result<(), store::Error> {
        let closing: fn(u64, f64) -> NewRecordingEvent = closing;
        let end = RecordingEnd { status, reason, closing: (status == RecordingStatus::Stopped).then_some(closing) };
        self.store.end_recording(id, end, Deadline::after(STORE))?;
        self.changes.publish();
        Ok(())
    }
}

/// Applies a function to all texts of a value.
fn cover(value: &mut Value, function: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = function(text),
        Value::Array(all) => all.iter_mut().for_each(|value| cover(value, function)),
        Value::Object(fields) => fields.values_mut().for_each(|value| cover(value, function)),
        _ => {}
    }
}

fn body(event: &Event) -> Result<Value, store::Error> {
    serde_json::to_value(event)
        .map_err(|problem| store::Error::Failed { problem: format!("an event cannot be serialised: {problem}") })
}

/// The last event of a recording.
pub(super) fn closing(index: u64, at: f64) -> NewRecordingEvent {
    let event_type = EventType::RecordingStopped;
    let event = Event {
        event_index: index,
        event_type,
        timestamp: at,
        by: Actor::Person,
        tab: 0,
        frame: Vec::new(),
        page: PageShown::default(),
        element: None,
        data: Map::new(),
        keyframe: None,
        keyframe_after: None,
    };
    NewRecordingEvent { index, kind: event_type.as_str(), body: body(&event).unwrap_or_default() }
}

/// A stored event, with the paths of its pictures.
pub(super) fn event(recording: &str, stored: StoredRecordingEvent) -> Result<Event, Error> {
    let read: Result<Event, _> = serde_json::from_value(stored.body);
    let mut event = read.map_err(|problem| store::Error::Failed {
        problem: format!("event {} of the recording cannot be read: {problem}", stored.index),
    })?;
    let path = |end: &str| format!("/recordings/{recording}/keyframes/{}{end}", stored.index);
    event.keyframe = stored.has_before.then(|| path(""));
    event.keyframe_after = stored.has_after.then(|| path("?after"));
    Ok(event)
}

/// The events of a recording, in order.
///
/// # Errors
/// [`Error::Store`].
pub fn stored_events(store: &Store, recording: &str) -> Result<Vec<Event>, Error> {
    let stored = store.recording_events(recording, 0, usize::MAX, Deadline::after(STORE))?;
    stored.into_iter().map(|stored| event(recording, stored)).collect()
}

/// The sink of one recording.
pub(super) struct RecordingSink {
    pub(super) shared: Arc<Shared>,
    pub(super) id: String,
}

impl Sink for RecordingSink {
    fn write(&self, batch: Written) -> Result<(), store::Error> {
        let rows = self.shared.rows(batch.events)?;
        let pictures = batch.pictures.into_iter().map(|picture| RecordingPicture {
            index: picture.event_index,
            after: picture.after,
            image: Image { media_type: JPEG.to_owned(), bytes: picture.jpeg },
        });
        self.shared.store.write_recording(&self.id, rows, pictures.collect(), Deadline::after(STORE))?;
        self.shared.changes.publish();
        Ok(())
    }

    fn ended(&self, reason: StopReason) {
        let ended = self.shared.end(&self.id, RecordingStatus::Stopped, Some(reason));
        if let Err(problem) = ended {
            // It is stopped at the next start of the server.
            tracing::warn!(recording = %self.id, %problem, "the end of a recording cannot be stored");
        }
        self.shared.ended.lock().insert(self.id.clone());
    }
}

/// Wakes those who wait for changes of recordings. The lock is held for a moment only.
#[derive(Debug, Default)]
pub(super) struct Changes {
    count: Mutex<u64>,
    grown: Condvar,
}

impl Changes {
    /// Number of the last change.
    pub(super) fn last(&self) -> u64 {
        *self.count.lock()
    }

    pub(super) fn publish(&self) {
        *self.count.lock() += 1;
        self.grown.notify_all();
    }

    /// Waits for a change after number `seen`, until the deadline. False without one.
    pub(super) fn wait(&self, seen: u64, deadline: Deadline<'_>) -> bool {
        let mut count = self.count.lock();
        while *count == seen {
            if deadline.passed() {
                return false;
            }
            self.grown.wait_until(&mut count, deadline.next_check());
        }
        true
    }
}

/// The time that recordings without one of their own have.
pub(super) fn times(events: &[Event]) -> (f64, f64) {
    let all = || events.iter().map(|event| event.timestamp).filter(|time| *time > 0.0);
    let first = all().reduce(f64::min).unwrap_or_else(now);
    (first, all().reduce(f64::max).unwrap_or(first))
}
