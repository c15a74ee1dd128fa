//! Routes for recordings without a browser: events, notes, files, the end of a recording.

use std::io::Read as _;

use cdpilot::sync::Deadline;
use cdpilot_server::config::Home;
use cdpilot_server::store::{NewRecording, NewRoutine, Opened, RecordingBegun, Store};
use serde_json::{Value, json};

use crate::support::api::{Api, TestServer};
use crate::support::soon;

const JPEG: &[u8] = &[0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 9, 0, 16, 1, 1, 0x11, 0, 0xff, 0xd9];

fn with_test_routes() -> TestServer {
    TestServer::with(|_, options| options.test_routes = true)
}

/// A click on a button.
fn click(index: u64, name: &str) -> Value {
    let element = json!({ "tag": "button", "role": "button", "name": name, "selectors": ["#save"] });
    json!({ "event_index": index, "event_type": "click", "timestamp": 100.0 + index as f64, "tab": 1, "element": element,
            "page": { "url": "https://shop.example/", "title": "Shop" }, "data": { "button": "left", "count": 1 } })
}

fn ingest(api: &Api, name: &str, events: &Value) -> String {
    let created = api.post("/recordings/ingest", &json!({ "name": name, "events": events })).ok();
    created["recording_id"].as_str().unwrap().to_owned()
}

/// Stores a recording that is active, as one is whose capture runs.
fn active(home: &Home, id: &str) -> Store {
    let Opened { store, .. } = Store::open(home, soon()).unwrap();
    let new = NewRecording {
        browser: Some("cdpilot".to_owned()),
        profile: Some("cdpilot".to_owned()),
        launch_mode: Some("dedicated_window".to_owned()),
        ..NewRecording::new(id)
    };
    assert!(matches!(store.begin_recording(new, soon()).unwrap(), RecordingBegun::Begun(_)));
    store
}

fn indexes(answer: &Value) -> Vec<u64> {
    answer["events"].as_array().unwrap().iter().map(|event| event["event_index"].as_u64().unwrap()).collect()
}

#[test]
fn ingest_is_for_tests_only() {
    let served = TestServer::start();
    let body = json!({ "name": "n", "events": [click(1, "Save")] });
    let refused = served.api.post("/recordings/ingest", &body).fails(404, "NOT_FOUND");
    assert!(refused["error"].as_str().unwrap().contains("CDPILOT_TEST_ROUTES"), "{refused}");
    served.api.post("/recordings/ingest", &json!({})).fails(404, "NOT_FOUND");
    assert_eq!(served.api.get("/recordings").ok(), json!({ "ok": true, "count": 0, "recordings": [] }));
}

#[test]
fn an_ingested_recording_is_stopped_and_read_in_pages() {
    let served = with_test_routes();
    let api = &served.api;
    let body = json!({ "name": " Order ", "intent_note": "Buy.", "events": [click(3, "c"), click(1, "a"), click(2, "b")],
                       "metadata": { "viewport": { "width": 800, "height": 600 }, "more": 1 } });
    let created = api.post("/recordings/ingest", &body).ok();
    let id = created["recording_id"].as_str().unwrap();
    let path = format!("/recordings/{id}");
    let wanted = json!({
        "recording_id": id, "name": "Order", "status": "stopped", "paused": false, "launch_mode": null, "profile": null,
        "start_url": "https://shop.example/", "viewport": { "width": 800, "height": 600 }, "started_at": 101.0,
        "stopped_at": 103.0, "stop_reason": "user", "event_count": 3, "gaps": 0, "intent_note": "Buy.",
        "compile": { "status": "none" }, "routine_ids": [],
    });
    assert_eq!(api.get(&path).ok()["recording"], wanted);
    assert_eq!(api.get("/recordings").ok()["recordings"], json!([wanted]));
    let page = |query: &str| indexes(&api.get(&format!("{path}/events{query}")).ok());
    assert_eq!(page(""), [1, 2, 3]);
    assert_eq!(page("?after=1&limit=1"), [2]);
    assert_eq!(page("?after=3"), [0; 0]);
    assert_eq!(page("?limit=1000000"), [1, 2, 3]);
    let first = api.get(&format!("{path}/events?limit=1")).ok()["events"][0].clone();
    assert_eq!([&first["element"]["name"], &first["by"]], [&json!("a"), &json!("person")]);
    assert!(first.get("keyframe").is_none());
    api.get(&format!("{path}/keyframes/1")).fails(404, "NOT_FOUND");
    api.get(&format!("{path}/keyframes/one")).fails(400, "BAD_REQUEST");
    assert_eq!(api.get(&format!("{path}/workflow-draft")).ok()["recording_id"], id);
    // Pausing is for active ones, stopping twice is not refused.
    api.post(&format!("{path}/pause"), &json!({})).fails(409, "CONFLICT");
    assert_eq!(api.post(&format!("{path}/stop"), &json!({})).ok()["recording"], wanted);
    let note = |note: &str| api.post(&format!("{path}/intent-note"), &json!({ "intent_note": note }));
    assert_eq!(note(" Buy one.\nThen stop. ").ok()["recording"]["intent_note"], "Buy one.\nThen stop.");
    note(&"x".repeat(10_001)).fails(400, "BAD_REQUEST");
    // Late events are refused.
    let late = api.post(&format!("{path}/events"), &json!({ "events": [click(9, "late")] })).fails(409, "CONFLICT");
    assert!(late["error"].as_str().unwrap().contains("stopped"), "{late}");
    assert_eq!(api.delete(&path).ok()["removed"], true);
    for (method, end) in
        [("GET", ""), ("GET", "/events"), ("GET", "/stream"), ("GET", "/workflow-draft"), ("DELETE", "")]
    {
        let gone = api.call(method, &format!("{path}{end}"), None).fails(404, "NOT_FOUND");
        assert!(gone["error"].as_str().unwrap().contains("GET /recordings lists them"), "{gone}");
    }
}

#[test]
fn invalid_events_are_refused_with_their_place() {
    let served = with_test_routes();
    let api = &served.api;
    let refused = |events: Value, part: &str| {
        let response = api.post("/recordings/ingest", &json!({ "name": "n", "events": events }));
        assert_eq!(response.status, 400, "{}", response.text);
        assert!(response.text.contains(part), "{part}: {}", response.text);
    };
    refused(json!([]), "events");
    refused(json!([click(0, "a")]), "events[0].event_index");
    refused(json!([click(1, "a"), click(1, "b")]), "given twice");
    refused(json!([{ "event_index": 1, "event_type": "jump", "timestamp": 1 }]), "events[0].event_type");
    let mut wrong = click(1, "a");
    wrong["elemnt"] = json!({});
    refused(json!([wrong]), "elemnt");
    let mut script = click(1, "a");
    script["page"]["url"] = json!("javascript:alert(1)");
    refused(json!([script]), "events[0].page.url");
    for name in ["a\u{202e}b", "a\nb", &"x".repeat(201)] {
        api.post("/recordings/ingest", &json!({ "name": name, "events": [click(1, "a")] })).fails(400, "BAD_REQUEST");
    }
    assert_eq!(api.get("/recordings").ok()["count"], 0);
}

#[test]
fn what_sensitive_fields_and_stored_secrets_hold_is_not_stored() {
    let served = with_test_routes();
    let api = &served.api;
    let secret = json!({ "name": "shop", "origin": "https://shop.example", "value": "kestrel-4711" });
    api.post("/secrets", &secret).ok();
    let mut typed = click(1, "Password");
    typed["event_type"] = json!("input");
    typed["data"] = json!({ "value": "hunter-2-hunter", "source_count": 3 });
    typed["element"]["sensitive"] = json!(true);
    typed["element"]["html"] = json!("<input value=hunter-2-hunter>");
    let echoed = click(2, "Welcome kestrel-4711");
    let body = json!({ "name": "n", "intent_note": "with kestrel-4711", "events": [typed, echoed] });
    let id = api.post("/recordings/ingest", &body).ok()["recording_id"].as_str().unwrap().to_owned();
    let events = api.get(&format!("/recordings/{id}/events")).ok();
    assert_eq!(events["events"][0]["data"], json!({ "value": null, "source_count": 3 }));
    for file in ["", "-wal"] {
        let path = format!("{}{file}", served.home.database().display());
        let bytes = std::fs::read(path).unwrap_or_default();
        for word in ["hunter-2-hunter", "kestrel-4711"] {
            assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word} in {file:?}");
        }
    }
}

#[test]
fn an_active_recording_takes_events_is_followed_and_stops_once() {
    let served = with_test_routes();
    let api = &served.api;
    let store = active(&served.home, "r");
    assert_eq!(api.get("/recordings/r").ok()["recording"]["status"], "active");
    let mut stream = api.events("/recordings/r/stream", "");
    assert_eq!(stream.next().0, "connected");
    let add = |events: Value| api.post("/recordings/r/events", &json!({ "events": events }));
    assert_eq!(add(json!([click(1, "a"), click(2, "b")])).ok()["recording"]["event_count"], 2);
    for (change, index) in [("1", 1), ("2", 2)] {
        let (name, id, event) = stream.next();
        assert_eq!((name.as_str(), id.as_str(), &event["event_index"]), ("recording_event", change, &json!(index)));
    }
    // Each number once; nothing of a refused request is stored.
    let taken = add(json!([click(3, "c"), click(2, "b")])).fails(409, "CONFLICT");
    assert!(taken["error"].as_str().unwrap().contains("event_index 2"), "{taken}");
    assert_eq!(api.get("/recordings/r").ok()["recording"]["event_count"], 2);
    assert_eq!(api.post("/recordings/r/pause", &json!({})).ok()["recording"]["paused"], true);
    assert_eq!(api.post("/recordings/r/resume", &json!({})).ok()["recording"]["paused"], false);
    let stopped = api.post("/recordings/r/stop", &json!({})).ok()["recording"].clone();
    assert_eq!([&stopped["status"], &stopped["stop_reason"]], [&json!("stopped"), &json!("user")]);
    assert_eq!(api.post("/recordings/r/stop", &json!({})).ok()["recording"], stopped);
    add(json!([click(9, "late")])).fails(409, "CONFLICT");
    let last = stream.next();
    assert_eq!([&last.2["event_type"], &last.2["event_index"]], [&json!("recording_stopped"), &json!(3)]);
    let (name, _, complete) = stream.next();
    assert_eq!((name.as_str(), &complete["recording"]), ("complete", &stopped));
    // From a change on, and a change that never was.
    let mut rest = api.events("/recordings/r/stream", "Last-Event-ID: 2\r\n");
    assert_eq!((rest.next().0, rest.next().1, rest.next().0), ("connected".into(), "3".into(), "complete".into()));
    api.ask("GET", "/recordings/r/stream", None, "Last-Event-ID: 99\r\n").fails(400, "BAD_REQUEST");
    drop(store);
}

#[test]
fn a_recording_that_was_active_when_the_server_ended_is_stopped() {
    let mut served = TestServer::start();
    let home = served.home.clone();
    served.restart_after(|| drop(active(&home, "r")));
    let recording = served.api.get("/recordings/r").ok()["recording"].clone();
    assert_eq!([&recording["status"], &recording["stop_reason"]], [&json!("stopped"), &json!("server_ended")]);
    assert_eq!((&recording["event_count"], &recording["stopped_at"]), (&json!(1), &recording["started_at"]));
    let events = served.api.get("/recordings/r/events").ok();
    assert_eq!(events["events"][0]["event_type"], "recording_stopped");
}

#[test]
fn a_browser_with_an_active_recording_is_refused_before_anything_happens() {
    let served = TestServer::start();
    let api = &served.api;
    let both = json!({ "profile": "cdpilot", "conversation_id": "c" });
    for wrong in
        [both, json!({ "conversation_id": "c", "start_url": "https://a.test" }), json!({ "launch_mode": "tab" })]
    {
        let response = api.post("/recordings", &wrong);
        assert!(matches!(response.status, 400 | 404), "{wrong}: {}", response.text);
    }
    api.post("/recordings", &json!({ "name": "a\u{202e}b" })).fails(400, "BAD_REQUEST");
    api.post("/recordings", &json!({ "start_url": "shop.example" })).fails(400, "BAD_REQUEST");
    api.post("/recordings", &json!({ "profile": "nobody" })).fails(404, "PROFILE_NOT_FOUND");
    api.post("/recordings", &json!({ "conversation_id": "nobody" })).fails(404, "NOT_FOUND");
    api.post("/recordings", &json!({ "browser_id": "nobody" })).fails(400, "BAD_REQUEST");
    assert_eq!(api.get("/recordings").ok()["count"], 0);
    let store = active(&served.home, "r");
    let refused = api.post("/recordings", &json!({})).fails(409, "CONFLICT");
    assert_eq!(refused["details"], json!({ "recording_id": "r" }));
    assert!(refused["error"].as_str().unwrap().contains("POST /recordings/:id/stop"), "{refused}");
    drop(store);
    let disabled = TestServer::with(|config, _| config.browser.enabled = false);
    disabled.api.post("/recordings", &json!({})).fails(503, "BROWSER_DISABLED");
    assert_eq!(disabled.api.get("/recordings").ok()["count"], 0);
}

#[test]
fn files_lead_to_the_same_events() {
    let served = with_test_routes();
    let api = &served.api;
    let id = ingest(api, "Lease “2”", &json!([click(1, "Save"), click(2, "Close")]));
    let events = api.get(&format!("/recordings/{id}/events")).ok()["events"].clone();
    let exported = api.get(&format!("/recordings/{id}/export")).ok();
    assert_eq!([&exported["format"], &exported["filename"]], [&json!("cdpilot"), &json!("Lease--2.cdpilot.json")]);
    let mut content = exported["content"].clone();
    content["keyframes"] = json!([{ "event_index": 2, "media_type": "image/jpeg", "base64": base64(JPEG) }]);
    // As an object, and as its text.
    for content in [content.clone(), Value::String(content.to_string())] {
        let imported = api.post("/recordings/import", &json!({ "format": "cdpilot", "content": content })).ok();
        assert_eq!(
            [&imported["recording"]["name"], &imported["recording"]["status"]],
            [&json!("Lease “2”"), &json!("stopped")]
        );
        let copy = imported["recording_id"].as_str().unwrap();
        assert_ne!(copy, id);
        let mut again = api.get(&format!("/recordings/{copy}/events")).ok()["events"].clone();
        assert_eq!(again[1]["keyframe"], format!("/recordings/{copy}/keyframes/2"));
        again[1].as_object_mut().unwrap().remove("keyframe");
        assert_eq!(again, events);
        let picture = bytes_of(api, &format!("/recordings/{copy}/keyframes/2"));
        assert_eq!(picture, JPEG);
        api.get(&format!("/recordings/{copy}/keyframes/2?after")).fails(404, "NOT_FOUND");
        let export = api.get(&format!("/recordings/{copy}/export?format=cdpilot")).ok();
        assert_eq!(
            export["content"]["keyframes"],
            api.get(&format!("/recordings/{copy}/export")).ok()["content"]["keyframes"]
        );
    }
    let devtools = api.get(&format!("/recordings/{id}/export?format=devtools")).ok()["content"].clone();
    assert!(devtools["steps"].is_array() && devtools["title"] == "Lease “2”", "{devtools}");
    let imported = api.post("/recordings/import", &json!({ "format": "devtools", "content": devtools })).ok();
    assert_eq!(imported["recording"]["name"], "Lease “2”");
    for (format, content) in [("cdpilot", json!({ "format": "x" })), ("devtools", json!("{")), ("cdpilot", json!([]))] {
        let refused =
            api.post("/recordings/import", &json!({ "format": format, "content": content })).fails(400, "BAD_REQUEST");
        assert!(refused["error"].as_str().unwrap().starts_with("content"), "{refused}");
    }
    api.post("/recordings/import", &json!({ "format": "har", "content": {} })).fails(400, "BAD_REQUEST");
    api.get(&format!("/recordings/{id}/export?format=har")).fails(400, "BAD_REQUEST");
}

#[test]
fn a_routine_outlives_its_recording() {
    let served = with_test_routes();
    let api = &served.api;
    let id = ingest(api, "n", &json!([click(1, "Save")]));
    let new = NewRoutine {
        id: "routine".to_owned(),
        name: "made".to_owned(),
        markdown: crate::routine_texts::VALID.to_owned(),
        recording: Some(id.clone()),
        defaults: json!({}),
        step_events: Value::Null,
    };
    let Opened { store, .. } = Store::open(&served.home, soon()).unwrap();
    store.create_routine(new, Deadline::after_secs(60)).unwrap();
    let source = || api.get("/routines/made").ok()["routine"].clone();
    assert_eq!([&source()["source"], &source()["source_recording_id"]], [&json!("present"), &json!(id)]);
    assert_eq!(api.get(&format!("/recordings/{id}")).ok()["recording"]["routine_ids"], json!(["routine"]));
    api.delete(&format!("/recordings/{id}")).ok();
    assert_eq!([&source()["source"], &source()["source_recording_id"]], [&json!("deleted"), &json!(id)]);
    drop(store);
}

/// The body of an answer.
fn bytes_of(api: &Api, path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    api.send("GET", path, None, "").read_to_end(&mut bytes).unwrap();
    let head = bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 200 ") && bytes[..head].windows(10).any(|part| part == b"image/jpeg"));
    bytes.split_off(head + 4)
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
