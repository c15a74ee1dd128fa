//! `cdpilot record`: events are printed as they come, recordings are found, noted, exported and imported.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_fake_server::{FakeServer, ReceivedRequest};
use crate::cli_run::Ran;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn recording(status: &str, reason: Option<&str>) -> Value {
    json!({ "recording_id": ID, "name": null, "status": status, "paused": false, "event_count": 2, "gaps": 0,
            "start_url": "https://shop.example/", "stop_reason": reason, "intent_note": "" })
}

fn click(index: u64, name: &str) -> Value {
    let container = json!({ "kind": "row", "title": "Harbour lease", "href": "" });
    let element = json!({ "tag": "button", "role": "button", "name": name, "container": container });
    json!({ "event_index": index, "event_type": "click", "timestamp": 1, "by": "person", "tab": 1, "element": element,
            "page": { "url": "https://shop.example/", "title": "Shop" }, "data": { "button": "left", "count": 1 } })
}

fn typed(index: u64, value: &str) -> Value {
    let mut event = click(index, "City");
    event["event_type"] = json!("input");
    event["element"] = json!({ "tag": "input", "role": "textbox", "name": "City" });
    event["data"] = json!({ "value": value });
    event
}

/// The stream of a recording: events, and its end unless it goes on.
fn stream(events: &[Value], end: Option<&str>) -> String {
    let item = |(n, event): (usize, &Value)| format!("event: recording_event\nid: {}\ndata: {event}\n\n", n + 1);
    let items: String = events.iter().enumerate().map(item).collect();
    let complete = end.map_or_else(String::new, |reason| {
        let data = json!({ "recording_id": ID, "recording": recording("stopped", Some(reason)) });
        format!("event: complete\ndata: {data}\n\n")
    });
    format!("event: connected\ndata: {{}}\n\n{items}{complete}")
}

fn started() -> (u16, String) {
    (200, json!({ "ok": true, "recording_id": ID, "recording": recording("active", None), "notes": [] }).to_string())
}

#[test]
fn each_event_is_printed_once_with_what_it_came_to() {
    let server = FakeServer::new(|request: &ReceivedRequest| match request.method.as_str() {
        "POST" => started(),
        _ => {
            let events = [typed(1, "O"), typed(1, "Os"), typed(1, "Oslo"), click(2, "Sa\u{1b}ve"), typed(1, "Oslo")];
            (200, stream(&events, Some("window_closed")))
        }
    });
    let ran = server.program().run(&["record", "start", "shop.example", "--name", "Order", "--current-window"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let wanted = format!(
        "  1  input  textbox “City”: “Oslo”\n  2  click  button “Save” in row “Harbour lease”\n\
         stopped: the window was closed, 2 events; `cdpilot record show {ID}` shows it\n"
    );
    assert_eq!(ran.stdout, wanted);
    let requested = server.requested();
    let body = json!({ "start_url": "https://shop.example", "name": "Order", "launch_mode": "current_window" });
    assert_eq!((requested[0].url.as_str(), &requested[0].body), ("/recordings", &body));
    assert_eq!(requested[1].url, format!("/recordings/{ID}/stream"));

    let detached = server.program().run(&["record", "start", "--detach", "--profile", "work"]);
    assert!(detached.code == Some(0) && detached.stdout.contains("cdpilot record stop"), "{detached:?}");
    let requested = server.requested();
    assert_eq!((requested.len(), &requested[0].body), (1, &json!({ "profile": "work" })));
    // One object, at once.
    let answer = server.program().run(&["record", "start", "--conversation", "c", "--json"]).json();
    assert_eq!(answer["recording"]["status"], "active");
    assert_eq!(server.requested()[0].body, json!({ "conversation_id": "c" }));
    for wrong in [["start", "--conversation", "c", "https://a.test"].as_slice(), &["start", "two words"], &["note"]] {
        let ran = server.program().run(&[&["record"], wrong].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
    assert!(server.requested().is_empty());
}

#[test]
fn a_lost_browser_is_a_failure() {
    let server = FakeServer::new(|request: &ReceivedRequest| match request.method.as_str() {
        "POST" => started(),
        _ => (200, stream(&[click(1, "Save")], Some("browser_disconnected"))),
    });
    let ran = server.program().run(&["record", "start"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("stopped: the browser ended"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_recording_and_prints_the_rest() {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&is_stopped);
    let server = FakeServer::new(move |request: &ReceivedRequest| match request.url.as_str() {
        "/recordings" => started(),
        url if url.ends_with("/stop") => {
            stopped.store(true, Ordering::SeqCst);
            started()
        }
        // The connection is lost again and again, until the recording has ended.
        _ if stopped.load(Ordering::SeqCst) => (200, stream(&[click(1, "Save"), click(2, "Send")], Some("user"))),
        _ => (200, stream(&[click(1, "Save")], None)),
    });
    let child = server.program().command(&["record", "start"]).stdout(Stdio::piped()).spawn().unwrap();
    let until = crate::support::soon();
    while !server.requested().iter().any(|request| request.header("last-event-id") == Some("1")) {
        assert!(!until.passed());
        cdpilot::sync::pause(std::time::Duration::from_millis(20));
    }
    crate::cli_run::kill(child.id(), "-INT");
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("“Save”").count(), 1, "{said}");
    assert!(said.contains("“Send”") && said.contains("stopped, 2 events"), "{said}");
}

/// A recording of Chrome DevTools.
const DEVTOOLS: &str = r##"{ "title": "Lease", "steps": [
    { "type": "setViewport", "width": 800, "height": 600, "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": false },
    { "type": "navigate", "url": "https://shop.example/", "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/", "title": "Shop" }] },
    { "type": "click", "target": "main", "selectors": [["aria/Save"], ["#save"]], "offsetX": 1, "offsetY": 1 }
] }"##;

/// Runs a command with something on its stdin.
fn given(at: &AtHome, args: &[&str], text: &str) -> Ran {
    let mut child = at.program.command(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn recordings_are_imported_found_noted_exported_and_deleted() {
    let at = AtHome::new("");
    let run = |args: &[&str]| at.program.run(&[&["record"], args].concat());
    let empty = run(&["list"]);
    assert!(empty.code == Some(0) && empty.stderr.contains("cdpilot record start"), "{empty:?}");
    for args in [["stop"], ["pause"], ["resume"]] {
        let none = run(&args);
        assert!(none.code == Some(1) && none.stderr.contains("no recording is active"), "{none:?}");
    }
    let imported = given(&at, &["record", "import", "-"], DEVTOOLS);
    assert!(imported.code == Some(0) && imported.stdout.contains("Lease"), "{imported:?}");
    let listed = run(&["list", "--json"]).json();
    let (id, count) =
        (listed["recordings"][0]["recording_id"].as_str().unwrap(), &listed["recordings"][0]["event_count"]);
    let shown = run(&["show"]);
    assert!(shown.code == Some(0) && shown.stdout.contains("click  ") && shown.stdout.contains("“Save”"), "{shown:?}");
    assert_eq!(shown.stdout.lines().count() as u64, count.as_u64().unwrap(), "{shown:?}");
    let draft = run(&["show", "Lease", "--draft"]);
    assert!(draft.code == Some(0) && draft.stdout.contains("Save"), "{draft:?}");
    assert_eq!(run(&["note", "Buy it.", &id[..8]]).code, Some(0));
    assert_eq!(given(&at, &["record", "note", "-"], "Sell it.\n").code, Some(0));
    let noted = run(&["show", "--json"]).json();
    assert_eq!(noted["recording"]["intent_note"], "Sell it.");

    let folder = at.home.root().parent().unwrap();
    let (file, other) = (folder.join("lease.json"), folder.join("lease.devtools.json"));
    let written = run(&["export", "Lease", "--out", file.to_str().unwrap()]);
    assert!(written.code == Some(0) && written.stdout.contains("lease.json"), "{written:?}");
    let printed = run(&["export", id, "--format", "devtools"]);
    std::fs::write(&other, &printed.stdout).unwrap();
    for file in [&file, &other] {
        let again = run(&["import", file.to_str().unwrap(), "--json"]).json();
        assert_eq!(again["recording"]["name"], "Lease", "{again}");
    }
    // Three of that name now.
    let several = run(&["show", "Lease"]);
    assert!(several.code == Some(1) && several.stderr.contains("3 recordings are named"), "{several:?}");
    let wrong = given(&at, &["record", "import", "-"], "{\"format\": \"x\"}");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("content.format"), "{wrong:?}");
    assert_eq!(given(&at, &["record", "import", "-"], "{}").code, Some(2));
    assert_eq!(run(&["delete", id]).code, Some(2));
    assert_eq!(run(&["delete", id, "--yes"]).code, Some(0));
    let gone = run(&["show", id, "--json"]);
    assert_eq!((gone.code, gone.json()["code"].as_str()), (Some(1), Some("NOT_FOUND")), "{gone:?}");
    assert!(gone.json()["error"].as_str().unwrap().contains("cdpilot record list"), "{gone:?}");
}
