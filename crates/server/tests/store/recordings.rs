//! Recordings with their events and screenshots in the database.

use cdpilot::code::Code;
use cdpilot_server::store::{
    Image, NewRecording, NewRecordingEvent, NewRoutine, RecordingBegun, RecordingChange, RecordingEnd,
    RecordingPicture, RecordingStatus, StopReason, StoredRecording,
};
use serde_json::{Value, json};

use crate::store_files::{Database, soon};

fn begin(at: &Database, id: &str, browser: &str) -> RecordingBegun {
    let new = NewRecording { browser: Some(browser.to_owned()), ..NewRecording::new(id) };
    at.store().begin_recording(new, soon()).unwrap()
}

fn recording(at: &Database, id: &str) -> StoredRecording {
    at.store().recording(id, soon()).unwrap().unwrap()
}

fn event(index: u64, kind: &'static str, more: &Value) -> NewRecordingEvent {
    let body = json!({ "event_index": index, "event_type": kind, "timestamp": 100.0 + index as f64, "data": more });
    NewRecordingEvent { index, kind, body }
}

fn picture(index: u64, after: bool, byte: u8) -> RecordingPicture {
    RecordingPicture { index, after, image: Image { media_type: "image/jpeg".to_owned(), bytes: vec![byte] } }
}

fn closing(index: u64, at: f64) -> NewRecordingEvent {
    let kind = "recording_stopped";
    NewRecordingEvent { index, kind, body: json!({ "event_index": index, "event_type": kind, "timestamp": at }) }
}

fn end(reason: StopReason) -> RecordingEnd {
    RecordingEnd { status: RecordingStatus::Stopped, reason: Some(reason), closing: Some(closing) }
}

/// Numbers and contents of the events.
fn events(at: &Database, id: &str) -> Vec<(u64, Value)> {
    let all = at.store().recording_events(id, 0, usize::MAX, soon()).unwrap();
    assert!(all.iter().all(|event| event.body["event_index"] == event.index), "{all:?}");
    all.into_iter().map(|event| (event.index, event.body["data"].clone())).collect()
}

#[test]
fn a_browser_has_one_active_recording() {
    let at = Database::new();
    let begun = std::thread::scope(|scope| {
        let at = &at;
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || begin(at, &format!("r{n}"), "cdpilot"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let won: Vec<&StoredRecording> = begun
        .iter()
        .filter_map(|begun| match begun {
            RecordingBegun::Begun(recording) => Some(&**recording),
            RecordingBegun::Busy { .. } => None,
        })
        .collect();
    assert_eq!(won.len(), 1, "{begun:?}");
    let id = won[0].id.clone();
    assert!(begun.iter().all(|begun| !matches!(begun, RecordingBegun::Busy { recording } if *recording != id)));
    assert_eq!(at.store().recordings(10, soon()).unwrap().len(), 1);
    // Another browser, and the same one afterwards.
    assert!(matches!(begin(&at, "other", "work"), RecordingBegun::Begun(_)));
    at.store().end_recording(&id, end(StopReason::User), soon()).unwrap();
    assert!(matches!(begin(&at, "next", "cdpilot"), RecordingBegun::Begun(_)));
    let same_id = NewRecording { browser: Some("third".to_owned()), ..NewRecording::new("next") };
    assert_eq!(at.store().begin_recording(same_id, soon()).unwrap_err().kind(), Code::Conflict);
}

#[test]
fn a_capture_replaces_its_events_and_counts_gaps() {
    let at = Database::new();
    begin(&at, "r", "b");
    let write = |all, pictures| at.store().write_recording("r", all, pictures, soon());
    write(vec![event(1, "input", &json!("H")), event(2, "gap", &json!(2))], vec![picture(1, false, 1)]).unwrap();
    write(vec![event(1, "input", &json!("Hello")), event(3, "gap", &json!(3))], vec![picture(1, false, 2)]).unwrap();
    write(vec![event(2, "click", &json!("now known"))], vec![picture(1, true, 3)]).unwrap();
    let wanted = [(1, json!("Hello")), (2, json!("now known")), (3, json!(3))];
    assert_eq!(events(&at, "r"), wanted);
    let now = recording(&at, "r");
    assert_eq!((now.event_count, now.gaps, now.revision), (3, 1, 8));
    // Each change is seen by those who follow, the last one of an event only; a screenshot is one.
    let changes = at.store().recording_changes("r", 2, 10, soon()).unwrap();
    let changes: Vec<(u64, u64)> = changes.iter().map(|event| (event.revision, event.index)).collect();
    assert_eq!(changes, [(5, 3), (7, 2), (8, 1)]);
    let first = at.store().recording_events("r", 0, 1, soon()).unwrap().remove(0);
    assert!(first.has_before && first.has_after);
    let image = |after| at.store().recording_picture("r", 1, after, soon()).unwrap().unwrap().bytes;
    assert_eq!((image(false), image(true)), (vec![2], vec![3]));
    assert_eq!(at.store().recording_picture("r", 2, false, soon()).unwrap(), None);
    // A batch is stored as a whole or not at all.
    let deep = (0..200).fold(json!(1), |inside, _| json!([inside]));
    assert!(write(vec![event(4, "click", &json!(1)), event(5, "click", &deep)], Vec::new()).is_err());
    assert_eq!(recording(&at, "r").event_count, 3);
    // Late events are refused, and so are those of a recording that was deleted.
    at.store().end_recording("r", end(StopReason::User), soon()).unwrap();
    assert_eq!(write(vec![event(9, "click", &json!(1))], Vec::new()).unwrap_err().kind(), Code::Conflict);
    assert!(at.store().delete_recording("r", soon()).unwrap());
    assert_eq!(write(vec![event(9, "click", &json!(1))], Vec::new()).unwrap_err().kind(), Code::NotFound);
}

#[test]
fn events_of_other_programs_keep_their_numbers_until_the_capture_needs_them() {
    let at = Database::new();
    begin(&at, "r", "b");
    let store = at.store();
    let append = |all| store.append_recording_events("r", all, 10, soon());
    store.write_recording("r", vec![event(1, "click", &json!("a"))], Vec::new(), soon()).unwrap();
    let taken = append(vec![event(2, "click", &json!("x")), event(1, "click", &json!("y"))]).unwrap_err();
    assert_eq!(taken.kind(), Code::Conflict);
    assert!(taken.to_string().contains("event_index 1 already"), "{taken}");
    // Nothing of a refused request is stored.
    assert_eq!(events(&at, "r").len(), 1);
    append(vec![event(2, "click", &json!("x")), event(3, "gap", &json!("y"))]).unwrap();
    store.write_recording("r", vec![event(2, "click", &json!("b"))], Vec::new(), soon()).unwrap();
    store
        .write_recording("r", vec![event(2, "click", &json!("B")), event(3, "click", &json!("c"))], Vec::new(), soon())
        .unwrap();
    assert_eq!(events(&at, "r"), [(1, json!("a")), (2, json!("B")), (3, json!("c")), (4, json!("x")), (5, json!("y"))]);
    assert_eq!((recording(&at, "r").event_count, recording(&at, "r").gaps), (5, 1));
    let many = (20..26).map(|index| event(index, "click", &json!(1))).collect();
    assert_eq!(append(many).unwrap_err().kind(), Code::Conflict);
}

#[test]
fn recordings_end_once_with_a_last_event() {
    let mut at = Database::new();
    begin(&at, "r", "b");
    at.store().write_recording("r", vec![event(1, "click", &json!(1))], Vec::new(), soon()).unwrap();
    let change = |change| at.store().change_recording("r", change, soon());
    let paused =
        change(RecordingChange { paused: Some(true), viewport: Some((800, 600)), ..Default::default() }).unwrap();
    assert!(paused.paused && paused.viewport == Some((800, 600)) && paused.stopped_at.is_none());
    let ended = at.store().end_recording("r", end(StopReason::WindowClosed), soon()).unwrap();
    assert_eq!((ended.status, ended.stop_reason), (RecordingStatus::Stopped, Some(StopReason::WindowClosed)));
    assert!(!ended.paused && ended.stopped_at.is_some_and(|at| at >= ended.started_at) && ended.event_count == 2);
    // The second end changes nothing.
    assert_eq!(at.store().end_recording("r", end(StopReason::User), soon()).unwrap(), ended);
    assert!(
        at.store()
            .change_recording("r", RecordingChange { paused: Some(false), ..Default::default() }, soon())
            .is_err()
    );
    let noted = RecordingChange { intent_note: Some("Buy".to_owned()), ..Default::default() };
    assert_eq!(at.store().change_recording("r", noted, soon()).unwrap().intent_note, "Buy");

    // What a crash has left: the time of the last event, and no second last event.
    begin(&at, "cut", "b");
    at.store().write_recording("cut", vec![event(1, "click", &json!(1))], Vec::new(), soon()).unwrap();
    begin(&at, "closed", "c");
    at.store().write_recording("closed", vec![event(1, "recording_stopped", &json!(1))], Vec::new(), soon()).unwrap();
    begin(&at, "empty", "d");
    at.reopen().unwrap();
    let mut recovered = at.store().recover_recordings(end(StopReason::ServerEnded), soon()).unwrap();
    recovered.sort();
    assert_eq!(recovered, ["closed", "cut", "empty"]);
    for (id, count) in [("cut", 2), ("closed", 1), ("empty", 1)] {
        let now = recording(&at, id);
        assert_eq!((now.status, now.stop_reason), (RecordingStatus::Stopped, Some(StopReason::ServerEnded)), "{id}");
        assert_eq!((now.event_count, now.stopped_at), (count, Some(now.started_at)), "{id}");
    }
    assert!(at.store().recover_recordings(end(StopReason::ServerEnded), soon()).unwrap().is_empty());
}

#[test]
fn deleting_removes_events_and_screenshots_and_leaves_routines() {
    let at = Database::new();
    let store = at.store();
    let new = NewRecording { name: Some("n".to_owned()), started_at: Some(7.0), ..NewRecording::new("r") };
    let twice = vec![event(1, "click", &json!(1)), event(1, "click", &json!(2))];
    assert_eq!(store.add_recording(new.clone(), twice, Vec::new(), 9.0, soon()).unwrap_err().kind(), Code::Conflict);
    let all = vec![event(1, "click", &json!(1))];
    let added = store.add_recording(new, all, vec![picture(1, false, 1)], 9.0, soon()).unwrap();
    assert_eq!((added.started_at, added.stopped_at, added.event_count), (7.0, Some(9.0), 1));
    let routine = |id: &str, recording: &str| NewRoutine {
        id: id.to_owned(),
        name: id.to_owned(),
        markdown: "# Workflow: x".to_owned(),
        recording: Some(recording.to_owned()),
        defaults: json!({}),
        step_events: Value::Null,
    };
    assert!(store.create_routine(routine("first", "r"), soon()).unwrap().source_present);
    assert!(!store.create_routine(routine("other", "elsewhere"), soon()).unwrap().source_present);
    store.create_routine(routine("second", "r"), soon()).unwrap();
    assert_eq!(recording(&at, "r").routines, ["first", "second"]);
    assert!(store.delete_recording("r", soon()).unwrap() && !store.delete_recording("r", soon()).unwrap());
    assert!(events(&at, "r").is_empty() && store.recording_pictures("r", soon()).unwrap().is_empty());
    let routine = store.routine("first", soon()).unwrap().unwrap();
    assert_eq!((routine.recording.as_deref(), routine.source_present), (Some("r"), false));
}
