//! `cdpilot supervise` as another program drives it: lines in, lines out.
#![cfg(unix)]

use std::time::Instant;

use serde_json::{Value, json};

use crate::cli_run::{Program, has_browser, kill, lease_with_page};
use crate::support::share::share;

/// A page with a frame in a process of its own: Chromium isolates sandboxed frames.
const PAGE: &str = "data:text/html,<title>outer</title>\
    <iframe sandbox='allow-scripts allow-modals' srcdoc='<title>inner</title><p>hello'></iframe>";

fn code(answer: &Value) -> &str {
    assert_eq!(answer["ok"], false, "{answer}");
    answer["code"].as_str().unwrap()
}

#[test]
fn supervise_runs_from_hello_to_quit() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let (mut session, ready) = program.supervise(&["--launch"]);
    assert!(ready["browser"].as_str().unwrap().starts_with("Chrome/"), "{ready}");
    assert_eq!((&ready["launched"], &ready["policy"]), (&json!(true), &json!("must_respond")));
    assert_eq!(ready["pages"].as_array().unwrap().len(), 1);

    let sum = session.ask("eval top 1 + 1");
    assert_eq!((&sum["ok"], &sum["result"], &sum["resultType"]), (&json!(true), &json!(2), &json!("number")), "{sum}");
    assert_eq!(session.ask(&format!("navigate {PAGE}"))["ok"], true);

    // The frame, by its id and by the beginning of it. It has loaded then: a document that comes into any
    // frame closes an open dialog.
    let inner = loop {
        let frames = session.ask("frames")["frame_tree"].clone();
        let inner = frames["children"].as_array().unwrap().iter().find(|frame| frame["url"] == "about:srcdoc");
        if let Some(inner) = inner {
            break inner.clone();
        }
    };
    assert_eq!(inner["is_oopif"], true, "{inner}");
    let id = inner["frame_id"].as_str().unwrap();
    let loaded = "new Promise(done => setInterval(() => document.title && done(document.title), 10))";
    for id in [id, &id[..12]] {
        assert_eq!(session.ask(&format!("eval {id} {loaded}"))["result"], "inner");
    }
    assert_eq!(code(&session.ask("eval 0000 1")), "FRAME_NOT_FOUND");

    // A prompt: seen, in the way, answered with a text, and the page has it.
    let script = "setTimeout(() => { window.name2 = prompt('Your name?', 'nobody') }); 'later'";
    let opened = session.ask_for(&format!("eval top {script}"), "dialog_opened");
    assert_eq!((&opened["data"]["id"], &opened["data"]["type"]), (&json!("d-1"), &json!("prompt")), "{opened}");
    let refused = session.ask("eval top document.title");
    assert_eq!(code(&refused), "BLOCKED_BY_DIALOG");
    assert_eq!(refused["pending_dialogs"][0]["message"], "Your name?");
    let shot = session.ask("snapshot");
    assert_eq!(shot["pending_dialogs"][0]["default_prompt"], "nobody", "{shot}");
    let closed = session.ask("accept d-1 Ada Lovelace");
    assert_eq!(closed["dialog"]["closed_by"], "agent", "{closed}");
    assert_eq!(session.ask("eval top window.name2")["result"], "Ada Lovelace");
    assert_eq!(code(&session.ask("accept")), "NO_DIALOG");

    // A script that opens the dialog itself has done its work; one that was armed is answered at once.
    let caused = session.ask(&format!("eval {id} window.sure = confirm('Sure?')"));
    assert_eq!((&caused["ok"], &caused["blockedByDialog"]), (&json!(true), &json!(true)), "{caused}");
    assert_eq!(session.ask("dismiss")["dialog"]["accepted"], false);
    assert_eq!(session.ask(&format!("eval {id} window.sure"))["result"], false);
    assert_eq!(session.ask("arm accept Grace")["ok"], true);
    let closed = session.ask_for("eval top setTimeout(() => { window.name3 = prompt('And you?') })", "dialog_closed");
    assert_eq!(closed["data"]["closed_by"], "armed");
    assert_eq!(session.ask("eval top window.name3")["result"], "Grace");

    let spilled = session.ask_for("eval top console.error('spilled', 1)", "console");
    assert_eq!(spilled["data"]["text"], "spilled 1");
    let shot = session.ask("snapshot");
    assert_eq!(shot["pages"][0]["url"], PAGE, "{shot}");
    assert_eq!(shot["recent_dialogs"].as_array().unwrap().len(), 3);
    assert_eq!(shot["console"][0]["level"], "error");

    assert_eq!(code(&session.ask("eval top nonsense(")), "SCRIPT_ERROR");
    assert_eq!(code(&session.ask("fly away")), "BAD_REQUEST");
    assert!(session.ask("help")["commands"].as_array().unwrap().len() > 5);
    assert_eq!(session.ask("quit")["ok"], true);
    let (exit, rest) = session.wait();
    assert_eq!(exit, Some(0));
    assert_eq!(rest.last().unwrap()["type"], "ended", "{rest:?}");
    program.assert_nothing_left();
}

#[test]
fn json_commands_run_concurrently_and_return_their_id() {
    let Some(lease) = lease_with_page() else { return };
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url()]);
    // Three wait for a promise that the fourth fulfils.
    session.say(
        r#"{"cmd":"eval","frame":"top","script":"window.go = new Promise(go => window.fulfil = go); 0","id":"set"}"#,
    );
    session.next(|line| line["id"] == "set");
    for id in 1..=3 {
        session.say(
            &json!({ "cmd": "eval", "frame": "top", "script": format!("go.then(() => {id})"), "id": id }).to_string(),
        );
    }
    session.say(r#"{"cmd":"eval","frame":"top","script":"fulfil()","id":{"any":"thing"}}"#);
    // They may come in any order, but each with its own id.
    let mut seen = Vec::new();
    for _ in 0..4 {
        let line = session.next(|line| line["type"] == "result");
        if line["id"].is_number() {
            assert_eq!(line["id"], line["result"], "{line}");
        }
        seen.push(line["id"].to_string());
    }
    seen.sort_unstable();
    assert_eq!(seen, ["1", "2", "3", r#"{"any":"thing"}"#]);

    session.say(r#"{"cmd":"eval","frame":"top","script":"new Promise(() => 0)","id":9,"timeoutMs":200}"#);
    assert_eq!(code(&session.next(|line| line["id"] == 9)), "TIMEOUT");
    session.say(r#"{"cmd":"eval","frame":"top","id":10}"#);
    assert_eq!(code(&session.next(|line| line["id"] == 10)), "BAD_REQUEST");

    // Pages come and go.
    session.say(r#"{"cmd":"open","url":"about:blank","id":11}"#);
    let target = session.next(|line| line["id"] == 11)["targetId"].as_str().unwrap().to_owned();
    assert_eq!(session.ask(&format!("eval {target} location.href"))["result"], "about:blank");
    assert_eq!(session.ask(&format!("close {}", &target[..8]))["targetId"], target.as_str());
    assert_eq!(code(&session.ask(&format!("close {target}"))), "TAB_NOT_FOUND");
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

#[test]
fn commands_under_way_finish_after_the_end_of_stdin() {
    let Some(lease) = lease_with_page() else { return };
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url()]);
    session.say(&format!("navigate {PAGE}"));
    session.say("eval top new Promise(done => setTimeout(done, 300)).then(() => 6 * 7)");
    session.say("eval top document.title");
    session.end_input();
    let (exit, lines) = session.wait();
    assert_eq!(exit, Some(0));
    let results: Vec<_> =
        lines.iter().filter(|line| line["command"] == "eval").map(|line| line["result"].clone()).collect();
    assert_eq!(json!(results), json!([42, "outer"]), "in the order in which they were typed");
    program.assert_nothing_left();
}

#[test]
fn supervise_applies_dialog_policies() {
    let Some(lease) = lease_with_page() else { return };
    for (policy, answer) in [("auto_accept", "preset"), ("auto_dismiss", "null")] {
        let program = Program::new();
        let (mut session, ready) = program.supervise(&["--cdp-url", lease.url(), "--policy", policy]);
        assert_eq!(ready["policy"], policy);
        assert_eq!(session.ask("eval top String(prompt('?', 'preset'))")["result"], answer);
        session.end_input();
        assert_eq!(session.wait().0, Some(0));
    }
    let program = Program::new();
    let (mut session, _) = program.supervise(&["--cdp-url", lease.url(), "--dialog-timeout", "1"]);
    session.say("eval top alert('nobody cares')");
    assert_eq!(session.event("dialog_closed")["data"]["closed_by"], "watchdog");
}

#[test]
fn a_signal_ends_supervise_cleanly_under_a_dialog() {
    if !has_browser() {
        return;
    }
    for signal in share(["-TERM", "-INT"], 1) {
        let program = Program::new();
        let (mut session, _) = program.supervise(&["--launch"]);
        session.say("eval top new Promise(() => 0)");
        session.say(r#"{"cmd":"eval","frame":"top","script":"alert('open')"}"#);
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
    while !until.passed() && session.try_say("eval top console.error('anybody there?')") {}
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
    assert_eq!(visitor.ask(&format!("eval {page} document.title = 'visited'"))["ok"], true);
    assert_eq!(visitor.ask("quit")["ok"], true);
    assert_eq!(visitor.wait().0, Some(0));
    assert_eq!(owner.ask("eval top document.title")["result"], "visited");

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
