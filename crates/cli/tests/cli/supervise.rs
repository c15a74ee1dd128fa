//! `cdpilot supervise` as another program drives it: lines in, lines out.
#![cfg(unix)]

use std::time::Instant;

use serde_json::{Value, json};

use crate::cli_run::{Program, has_browser, kill, lease_with_page};
use crate::support::share::share;

/// A page with a frame in a process of its own: Chromium isolates sandboxed frames.
const PAGE: &str = "data:text/html,<title>outer</title>\
    <iframe sandbox='allow-scripts allow-modals' srcdoc='<title>inner</title><p>hello'></iframe>";

fn code(body: &Value) -> &str {
    assert_eq!(body["ok"], false, "{body}");
    body["code"].as_str().unwrap()
}

#[test]
fn supervise_runs_from_hello_to_the_end_of_its_input() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let (mut session, ready) = program.supervise(&["--launch"]);
    assert!(ready["browser"].as_str().unwrap().starts_with("Chrome/"), "{ready}");
    assert_eq!((&ready["launched"], &ready["policy"]), (&json!(true), &json!("must_respond")));
    assert_eq!(ready["pages"].as_array().unwrap().len(), 1);

    assert_eq!(session.evaluate("1 + 1")["result"], 2);
    assert_eq!(session.ask("POST", "/navigate", json!({ "url": PAGE }))["ok"], true);

    // The frame has loaded then: a document that comes into any frame closes an open dialog.
    let inner = loop {
        let frames = session.ask("GET", "/frames?full=true", Value::Null)["frame_tree"].clone();
        let inner = frames["children"].as_array().unwrap().iter().find(|frame| frame["url"] == "about:srcdoc");
        if let Some(inner) = inner {
            break inner.clone();
        }
    };
    assert_eq!(inner["is_oopif"], true, "{inner}");
    let in_frame = |script: &str| json!({ "kind": "evaluate", "fn": script, "frameId": inner["frame_id"] });
    let loaded = "new Promise(done => setInterval(() => document.title && done(document.title), 10))";
    assert_eq!(session.act(in_frame(loaded))["result"], "inner");

    // A prompt: seen, in the way, answered with a text, and the page has it.
    let script = "setTimeout(() => { window.name2 = prompt('Your name?', 'nobody') })";
    let opened = session.evaluate_for(script, "dialog_opened");
    assert_eq!((&opened["data"]["id"], &opened["data"]["type"]), (&json!("d-1"), &json!("prompt")), "{opened}");
    let refused = session.evaluate("document.title");
    assert_eq!(code(&refused), "BLOCKED_BY_DIALOG");
    assert_eq!(refused["details"]["pending_dialogs"][0]["message"], "Your name?");
    let dialogs = session.ask("GET", "/dialogs", Value::Null);
    assert_eq!(dialogs["pending_dialogs"][0]["default_prompt"], "nobody", "{dialogs}");
    let accept = json!({ "accept": true, "promptText": "Ada Lovelace" });
    let closed = session.ask("POST", "/hooks/dialog", accept);
    assert_eq!(closed["dialog"]["closed_by"], "agent", "{closed}");
    assert_eq!(session.evaluate("window.name2")["result"], "Ada Lovelace");

    // A script that opens the dialog itself has done its work; one that was armed is answered at once.
    let caused = session.act(in_frame("window.sure = confirm('Sure?')"));
    assert_eq!((&caused["ok"], &caused["blockedByDialog"]), (&json!(true), &json!(true)), "{caused}");
    assert_eq!(session.ask("POST", "/hooks/dialog", json!({ "accept": false }))["dialog"]["accepted"], false);
    assert_eq!(session.act(in_frame("window.sure"))["result"], false);
    assert_eq!(session.ask("POST", "/hooks/dialog", json!({ "accept": true, "promptText": "Grace" }))["armed"], true);
    let closed = session.evaluate_for("setTimeout(() => { window.name3 = prompt('And you?') })", "dialog_closed");
    assert_eq!(closed["data"]["closed_by"], "armed");
    assert_eq!(session.evaluate("window.name3")["result"], "Grace");

    let spilled = session.evaluate_for("console.error('spilled', 1)", "console");
    assert_eq!(spilled["data"]["text"], "spilled 1");
    let dialogs = session.ask("GET", "/dialogs", Value::Null);
    assert_eq!(dialogs["recent_dialogs"].as_array().unwrap().len(), 3);

    assert_eq!(code(&session.evaluate("nonsense(")), "SCRIPT_ERROR");
    session.end_input();
    let (exit, rest) = session.wait();
    assert_eq!(exit, Some(0));
    assert_eq!(rest.last().unwrap()["type"], "ended", "{rest:?}");
    program.assert_nothing_left();
}

#[test]
fn requests_run_concurrently_and_return_their_id() {
    let Some(lease) = lease_with_page() else { return };
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url()]);
    // Three wait for what the fourth does.
    for id in ["1", "2", "3", r#"{"any":"thing"}"#] {
        let body = match id.len() {
            1 => r#"{"kind":"wait","fn":"window.go"}"#,
            _ => r#"{"kind":"evaluate","fn":"window.go = true"}"#,
        };
        session.say(&format!(r#"{{"id":{id},"POST":"/act","body":{body}}}"#));
    }
    // They may come in any order, but each with its own id.
    let mut seen = Vec::new();
    for _ in 0..4 {
        let line = session.next(|line| line["type"] == "answer");
        assert_eq!(
            (&line["body"]["ok"], line["id"].is_object()),
            (&json!(true), line["body"]["result"] == true),
            "{line}"
        );
        seen.push(line["id"].to_string());
    }
    seen.sort_unstable();
    assert_eq!(seen, ["1", "2", "3", r#"{"any":"thing"}"#]);

    assert_eq!(code(&session.act(json!({ "kind": "wait", "fn": "false", "timeoutMs": 200 }))), "TIMEOUT");
    assert_eq!(code(&session.act(json!({ "kind": "evaluate" }))), "BAD_REQUEST");

    // Pages come and go.
    let opened = session.ask("POST", "/tabs/open", json!({ "url": "about:blank" }));
    let target = opened["targetId"].as_str().unwrap().to_owned();
    let href = json!({ "kind": "evaluate", "fn": "location.href", "targetId": target });
    assert_eq!(session.act(href.clone())["result"], "about:blank");
    assert_eq!(session.ask("DELETE", &format!("/tabs/{}", &target[..8]), Value::Null)["ok"], true);
    assert_eq!(code(&session.act(href)), "TAB_NOT_FOUND");
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

#[test]
fn requests_under_way_are_answered_after_the_end_of_stdin() {
    let Some(lease) = lease_with_page() else { return };
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url()]);
    assert_eq!(session.ask("POST", "/navigate", json!({ "url": PAGE }))["ok"], true);
    for script in ["new Promise(done => setTimeout(done, 300)).then(() => 6 * 7)", "document.title"] {
        session.send("POST", "/act", json!({ "kind": "evaluate", "fn": script }));
    }
    session.end_input();
    let (exit, lines) = session.wait();
    assert_eq!(exit, Some(0));
    let results: Vec<_> =
        lines.iter().filter(|line| line["type"] == "answer").map(|line| &line["body"]["result"]).collect();
    assert!(results.len() == 2 && results.contains(&&json!(42)) && results.contains(&&json!("outer")), "{lines:?}");
    program.assert_nothing_left();
}

#[test]
fn supervise_applies_dialog_policies() {
    let Some(lease) = lease_with_page() else { return };
    for (policy, answer) in [("auto_accept", "preset"), ("auto_dismiss", "null")] {
        let program = Program::new();
        let (mut session, ready) = program.supervise(&["--cdp-url", lease.url(), "--policy", policy]);
        assert_eq!(ready["policy"], policy);
        assert_eq!(session.evaluate("String(prompt('?', 'preset'))")["result"], answer);
        session.end_input();
        assert_eq!(session.wait().0, Some(0));
    }
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url(), "--dialog-timeout", "1"]);
    let closed = session.evaluate_for("alert('nobody cares')", "dialog_closed");
    assert_eq!(closed["data"]["closed_by"], "watchdog");
}

#[test]
fn a_signal_ends_supervise_cleanly_under_a_dialog() {
    if !has_browser() {
        return;
    }
    for signal in share(["-TERM", "-INT"], 1) {
        let program = Program::new();
        let (mut session, _) = program.supervise(&["--launch"]);
        session.send("POST", "/act", json!({ "kind": "wait", "fn": "false" }));
        session.send("POST", "/act", json!({ "kind": "evaluate", "fn": "alert('open')" }));
        session.event("dialog_opened");
        let began = Instant::now();
        kill(session.id(), signal);
        assert_eq!(session.wait().0, Some(0), "{signal}");
        assert!(began.elapsed() < crate::support::LIMIT, "{signal} took {:?}", began.elapsed());
        program.assert_nothing_left();
    }
}

#[test]
fn a_killed_supervise_leaves_no_browser() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let (session, _) = program.supervise(&["--launch"]);
    kill(session.id(), "-KILL");
    session.wait();
    let (_, processes) = program.left_behind(usize::MAX);
    assert!(processes.is_empty(), "{processes:?}");
}

#[test]
fn a_closed_stdout_ends_supervise() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--launch"]);
    session.close_output();
    let until = crate::support::soon();
    // The first line finds nobody; the reading thread of this test leaves with the line before.
    while !until.passed() && session.try_say(r#"{"GET":"/tabs"}"#) {}
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

#[test]
fn two_supervise_processes_share_a_browser() {
    if !has_browser() {
        return;
    }
    let (host, guest) = (Program::new(), Program::new());
    let (mut owner, ready) = host.supervise(&["--launch", "--port", "0"]);
    let port = ready["cdpPort"].as_u64().unwrap();
    let page = ready["pages"][0]["targetId"].as_str().unwrap().to_owned();
    let url = format!("http://127.0.0.1:{port}");

    let (mut visitor, seen) = guest.supervise(&["--cdp-url", &url]);
    assert_eq!((&seen["launched"], &seen["cdpPort"]), (&json!(false), &Value::Null), "{seen}");
    assert!(seen["pages"].as_array().unwrap().iter().any(|known| known["targetId"] == page.as_str()), "{seen}");
    let visit = json!({ "kind": "evaluate", "fn": "document.title = 'visited'", "targetId": page });
    assert_eq!(visitor.act(visit)["ok"], true);
    visitor.end_input();
    assert_eq!(visitor.wait().0, Some(0));
    assert_eq!(owner.evaluate("document.title")["result"], "visited");

    let (visitor, seen) = guest.supervise(&["--cdp-url", &url, "--target", &page]);
    assert_eq!(seen["pages"].as_array().unwrap().len(), 1);
    let missing = guest.run(&["supervise", "--json", "--cdp-url", &url, "--target", "none"]);
    assert_eq!((missing.code, &missing.json()["code"]), (Some(1), &json!("TAB_NOT_FOUND")), "{missing:?}");
    owner.end_input();
    assert_eq!(owner.wait().0, Some(0));
    let (exit, rest) = visitor.wait();
    assert_eq!(exit, Some(1), "the browser is gone: {rest:?}");
    host.assert_nothing_left();
}
