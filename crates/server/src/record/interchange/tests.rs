//! Files of recordings: round trips and refusals.

use serde_json::{Value, json};

use super::*;

/// The smallest JPEG header that says its sides.
pub(super) fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xff, 0xc0, 0, 11, 8];
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend([1, 1, 0x11, 0, 0xff, 0xd9]);
    bytes
}

pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn event(index: u64) -> Value {
    json!({
        "event_index": index,
        "event_type": "click",
        "timestamp": 1_700_000_000.5,
        "by": "agent",
        "tab": 1,
        "frame": [{ "index": 0, "name": "pay", "url": "https://pay.example/" }],
        "page": { "url": "https://shop.example/", "title": "Shop" },
        "element": {
            "tag": "button", "role": "button", "name": "Save", "text": "Save", "label": "", "test_id": "save",
            "selectors": ["#save"], "html": "<button id=save>Save</button>",
            "box": { "x": 1.5, "y": 2.0, "width": 30.0, "height": 20.0 },
            "container": { "kind": "row", "title": "Lease", "href": "/leases/1" }, "sensitive": false,
        },
        "data": { "button": "left", "count": 1, "modifiers": [] },
    })
}

pub(super) fn picture(index: u64, after: bool, media_type: &str, bytes: &[u8]) -> Value {
    json!({ "event_index": index, "after": after, "media_type": media_type, "base64": STANDARD.encode(bytes) })
}

pub(super) fn file() -> Value {
    json!({
        "format": FORMAT,
        "recording": { "name": "Leases", "start_url": "https://shop.example/" },
        "events": [event(1), event(2), event(5)],
        "keyframes": [
            picture(1, false, "image/jpeg", &jpeg(960, 540)),
            picture(1, true, "image/png", &png(960, 540)),
        ],
    })
}

fn refusal(file: &Value) -> String {
    import(&file.to_string()).unwrap_err().to_string()
}

/// The refusal of a file with one part replaced.
pub(super) fn refusal_with(pointer: &str, value: Value) -> String {
    let mut file = file();
    *file.pointer_mut(pointer).unwrap() = value;
    refusal(&file)
}

#[test]
fn an_exported_recording_comes_back() {
    let first = import(&file().to_string()).unwrap();
    let recording = json!({
        "recording_id": "r1", "browser_id": "secret-id", "name": "Leases", "status": "stopped", "paused": false,
        "launch_mode": "dedicated_window", "profile": "work", "start_url": "https://shop.example/",
        "viewport": { "width": 1280, "height": 720 }, "started_at": 1.5, "stopped_at": 2.5, "stop_reason": "user",
        "event_count": 3, "gaps": 0, "intent_note": "note", "compile": { "status": "none" }, "routine_ids": ["x"],
    });
    let text = export(&recording, &first.events, &first.keyframes).unwrap();
    assert!(!text.contains("browser_id") && !text.contains("secret-id") && !text.contains("routine_ids"), "{text}");
    assert_eq!(export(&recording, &first.events, &first.keyframes).unwrap(), text, "the same bytes");
    let again = import(&text).unwrap();
    assert_eq!(again.events, first.events);
    assert_eq!(again.keyframes, first.keyframes);
    assert_eq!(again.notes, Vec::<String>::new());
    assert_eq!(again.recording.viewport, Some(Viewport { width: 1280, height: 720 }));
    assert_eq!(again.recording.intent_note.as_deref(), Some("note"));
    assert_eq!((again.recording.started_at, again.recording.stopped_at), (Some(1.5), Some(2.5)));
}

#[test]
fn every_type_of_event_comes_back() {
    let types = [
        "recording_started",
        "recording_stopped",
        "tab_created",
        "tab_activated",
        "tab_ready",
        "tab_navigated",
        "tab_back",
        "tab_forward",
        "tab_closed",
        "page_view",
        "click",
        "input",
        "change",
        "keydown",
        "submit",
        "focus",
        "scroll",
        "hover",
        "drag",
        "file_chosen",
        "dialog",
        "download",
        "gap",
    ];
    let events: Vec<Value> = (1..)
        .zip(types)
        .map(|(index, kind)| json!({ "event_index": index, "event_type": kind, "timestamp": 0 }))
        .collect();
    let first = import(&json!({ "format": FORMAT, "events": events }).to_string()).unwrap();
    assert_eq!(first.events.len(), types.len());
    let text = export(&json!({}), &first.events, &[]).unwrap();
    assert_eq!(import(&text).unwrap().events, first.events);
}

#[test]
fn times_that_json_does_not_have_are_exported_as_unknown() {
    let mut imported = import(&file().to_string()).unwrap();
    imported.events[0].timestamp = f64::NAN;
    let text = export(&json!({}), &imported.events, &[]).unwrap();
    assert_eq!(import(&text).unwrap().events[0].timestamp, 0.0);
}

#[test]
fn paths_of_screenshots_are_not_taken_over() {
    let mut file = file();
    file["events"][0]["keyframe"] = "/etc/passwd".into();
    file["events"][0]["keyframe_after"] = "../../x".into();
    let event = &import(&file.to_string()).unwrap().events[0];
    assert_eq!((&event.keyframe, &event.keyframe_after), (&None, &None));
}

#[test]
fn errors_name_the_place_and_what_to_write() {
    let cases = [
        (
            "/events/2/element/box/width",
            json!("wide"),
            "events[2].element.box.width: expected a number, got a string; correct it",
        ),
        (
            "/events/1/event_index",
            json!(0),
            "events[1].event_index: 0 is not a valid event index; number the events from 1",
        ),
        (
            "/events/1/event_index",
            json!(1),
            "events[1].event_index: 1 follows 1; write the events in the order of event_index, each index once",
        ),
        (
            "/events/1/event_index",
            json!(9),
            "events[2].event_index: 5 follows 9; write the events in the order of event_index, each index once",
        ),
        (
            "/events/0/timestamp",
            json!(-1),
            "events[0].timestamp: -1 is not a valid time; write seconds since 1970, or 0 if the time is not known",
        ),
        (
            "/events/0/timestamp",
            json!(1e12),
            "events[0].timestamp: 1000000000000 is not a valid time; write seconds since 1970, or 0 if the time is not known",
        ),
        (
            "/events/0/tab",
            json!(20_000),
            "events[0].tab: 20000 is not a valid tab number; number the tabs from 1, at most 10000",
        ),
        (
            "/events/0/data",
            json!({ "caused_by": 1 }),
            "events[0].data.caused_by: not the index of an earlier event; write the event_index of an earlier event, below 1",
        ),
        (
            "/keyframes/0/event_index",
            json!(3),
            "keyframes[0].event_index: there is no event 3; write the event_index of an event of this file",
        ),
        (
            "/keyframes/1/after",
            json!(false),
            "keyframes[1]: event 1 has a screenshot from before it already; write one before and one after each event",
        ),
        ("/format", json!("x/v2"), "format: \"x/v2\" is not a known format; write \"cdpilot-recording/v1\""),
        (
            "/recording/name",
            json!("n".repeat(201)),
            "recording.name: the name has more than 200 characters; shorten it",
        ),
    ];
    for (pointer, value, message) in cases {
        assert_eq!(refusal_with(pointer, value), message);
    }
    let error = import(&refused("/events/2/element/box/width", json!("wide"))).unwrap_err();
    assert_eq!(error.place(), "events[2].element.box.width");
}

pub(super) fn refused(pointer: &str, value: Value) -> String {
    let mut file = file();
    *file.pointer_mut(pointer).unwrap() = value;
    file.to_string()
}

#[test]
fn unknown_and_missing_fields_are_refused() {
    let mut unknown = file();
    unknown["events"][0]["element"]["onclick"] = "x".into();
    let message = refusal(&unknown);
    assert!(message.starts_with("events[0].element.onclick: unknown field onclick; known fields: "), "{message}");
    assert!(message.ends_with("; remove it"), "{message}");
    let mut id = file();
    id["recording"]["browser_id"] = "x".into();
    assert!(refusal(&id).starts_with("recording.browser_id: unknown field browser_id"), "{}", refusal(&id));
    let mut missing = file();
    missing["events"][1].as_object_mut().unwrap().remove("event_type");
    assert_eq!(refusal(&missing), "events[1].event_type: the field is missing; add it");
    let mut kind = file();
    kind["events"][1]["event_type"] = "run_script".into();
    assert!(
        refusal(&kind).starts_with("events[1].event_type: \"run_script\" is not valid; use "),
        "{}",
        refusal(&kind)
    );
}

#[test]
fn files_of_other_formats_are_named() {
    let devtools = json!({ "title": "x", "steps": [] });
    assert_eq!(refusal(&devtools), "format: this looks like a recording of Chrome DevTools; import it as devtools");
    assert_eq!(refusal(&json!({})), "format: the format is missing; write \"cdpilot-recording/v1\"");
    assert_eq!(refusal(&json!([])), "the file is not a JSON object; import the file as it was exported");
    let invalid = import("{\n  \"format\": x").unwrap_err().to_string();
    assert_eq!(invalid, "line 2, column 13 is not valid JSON; import the file as it was exported");
}

#[test]
fn only_addresses_that_a_run_may_open_are_accepted() {
    for url in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " java\nscript:alert(1)",
        "data:text/html,x",
        "chrome://gpu",
        "vbscript:x",
    ] {
        for pointer in ["/events/0/page/url", "/recording/start_url"] {
            let message = refusal_with(pointer, url.into());
            assert!(message.contains("are not imported; write an absolute address"), "{url}: {message}");
        }
        let message = refusal_with("/events/0/data", json!({ "url": url }));
        assert!(message.starts_with("events[0].data.url: "), "{message}");
    }
    assert!(refusal_with("/events/0/page/url", "/orders".into()).starts_with("events[0].page.url: not an absolute"));
    for url in ["http://a.example/", "https://a.example/", "file:///tmp/a.html", "about:blank", ""] {
        import(&refused("/events/0/page/url", url.into())).unwrap();
    }
}

#[test]
fn other_addresses_of_a_page_are_removed_and_noted() {
    let mut file = file();
    file["events"][0]["element"]["container"]["href"] = "javascript:void(0)".into();
    file["events"][0]["frame"][0]["url"] = "blob:https://a.example/1".into();
    file["events"][1]["event_type"] = "download".into();
    file["events"][1]["data"] = json!({ "url": "blob:https://a.example/2", "filename": "a\u{202e}fdp.exe" });
    let imported = import(&file.to_string()).unwrap();
    assert_eq!(imported.events[0].element.as_ref().unwrap().container.as_ref().unwrap().href, "");
    assert_eq!(imported.events[0].frame[0].url, "");
    assert_eq!(imported.events[1].data["url"], "");
    assert_eq!(imported.events[1].data["filename"], "afdp.exe");
    let expected = [
        "events[0].frame[0].url: an address with blob: was removed",
        "events[0].element.container.href: an address with javascript: was removed",
        "events[1].data.url: an address with blob: was removed",
    ];
    assert_eq!(imported.notes, expected);
}

#[test]
fn invisible_characters_are_removed_from_names() {
    let mut file = file();
    let name = "Sa\u{202e}ve\u{0}\u{200b}\nall\u{2066}";
    file["recording"]["name"] = name.into();
    for part in ["name", "label", "role", "test_id"] {
        file["events"][0]["element"][part] = name.into();
    }
    file["events"][0]["page"]["title"] = name.into();
    file["events"][1]["event_type"] = "file_chosen".into();
    file["events"][1]["data"] = json!({ "names": [name] });
    let imported = import(&file.to_string()).unwrap();
    let element = imported.events[0].element.as_ref().unwrap();
    for part in [&element.name, &element.label, &element.role, &element.test_id, &imported.events[0].page.title] {
        assert_eq!(part, "Save all");
    }
    assert_eq!(imported.recording.name.as_deref(), Some("Save all"));
    assert_eq!(imported.events[1].data["names"], json!(["Save all"]));
}

#[test]
fn values_of_sensitive_fields_are_not_taken_over() {
    let mut file = file();
    file["events"][0]["event_type"] = "input".into();
    file["events"][0]["element"]["sensitive"] = true.into();
    file["events"][0]["data"] = json!({ "value": "hunter2", "source_count": 7 });
    let imported = import(&file.to_string()).unwrap();
    assert_eq!(imported.events[0].data["value"], Value::Null);
    assert_eq!(imported.notes, ["events[0].data.value: the value of a sensitive field was removed"]);
}

#[test]
fn a_file_without_events_is_a_recording() {
    let imported = import(&json!({ "format": FORMAT, "events": [] }).to_string()).unwrap();
    assert_eq!((imported.events.len(), imported.recording), (0, Header::default()));
}
