//! Dialogs of every type in every kind of frame. The page verifies the effect of each answer.

use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::supervisor::DialogAnswer::{self, Dismiss};
use cdpilot::supervisor::{ClosedBy, DialogType, FrameRef};
use serde_json::{Value, json};

use crate::support::chrome::{ACCEPT, Task, soon, text};
use crate::support::site::Site;

/// A script that opens a dialog, the answers to try, and the results in the page.
type Case = (&'static str, DialogType, &'static str, DialogAnswer, Value);

fn cases() -> [Case; 10] {
    let none = || json!("undefined");
    [
        ("alert('hello')", DialogType::Alert, "", ACCEPT, none()),
        ("alert('hello')", DialogType::Alert, "", Dismiss, none()),
        ("confirm('hello')", DialogType::Confirm, "", ACCEPT, json!(true)),
        ("confirm('hello')", DialogType::Confirm, "", Dismiss, json!(false)),
        ("prompt('hello', 'before')", DialogType::Prompt, "before", text("after"), json!("after")),
        ("prompt('hello')", DialogType::Prompt, "", text("äß \"'\\ 日本 🦀"), json!("äß \"'\\ 日本 🦀")),
        ("prompt('hello', 'before')", DialogType::Prompt, "before", text(""), json!("")),
        ("prompt('hello', 'before')", DialogType::Prompt, "before", ACCEPT, json!("before")),
        ("prompt('hello')", DialogType::Prompt, "", ACCEPT, json!("")),
        ("prompt('hello', 'before')", DialogType::Prompt, "before", Dismiss, Value::Null),
    ]
}

/// Goes through all cases in one frame.
fn every_case_in(task: &Task, frame: &FrameId, origin: &str) {
    for (script, kind, default, answer, expected) in cases() {
        let accepts = answer != Dismiss;
        task.run_in(frame, &format!("window.got = 'nothing'; window.got = {script}"));
        let dialog = task.dialog();
        assert_eq!((dialog.kind, &*dialog.message, &*dialog.default_prompt), (kind, "hello", default), "{script}");
        assert_eq!((dialog.frame_id.as_ref(), &dialog.target_id), (Some(frame), &task.target()), "{script}");
        assert_eq!(&*dialog.origin, origin, "{script}");
        let closed = task.respond(Some(&dialog.id), answer, soon()).unwrap();
        assert_eq!(
            (&closed.dialog, closed.closed_by, closed.accepted),
            (&dialog, ClosedBy::Agent, accepts),
            "{script}"
        );
        assert!(closed.closed_at >= closed.dialog.opened_at);
        let now = task.view();
        assert!(now.dialogs.is_empty(), "gone from what is pending");
        assert_eq!(now.recent.last(), Some(&closed));
        let got = task.eval_in(frame, "typeof window.got === 'undefined' ? 'undefined' : window.got");
        assert_eq!(got, expected, "{script}");
    }
    assert_eq!(task.view().recent.len(), cases().len());
}

/// Three nested sites, each with an additional frame of its own process.
fn nested(site: &Site) -> String {
    site.page("/", "<iframe src='@a/same'></iframe><iframe src='@b/one'></iframe>");
    site.page("/same", "same");
    site.page("/one", "<iframe src='@c/two'></iframe><iframe src='@b/same?b'></iframe>");
    site.page("/two", "two");
    site.url("a", "/")
}

#[test]
fn every_dialog_of_the_main_frame_is_answered() {
    let Some(task) = Task::leased("main-frame") else { return };
    task.go(&nested(&task.site));
    let top = task.top();
    every_case_in(&task, &top, task.site.url("a", "").as_str());
}

#[test]
fn every_dialog_of_a_frame_in_the_same_process_is_answered() {
    let Some(task) = Task::leased("same-process") else { return };
    task.go(&nested(&task.site));
    let frame = task.frame("/same");
    assert!(!frame.is_oopif);
    every_case_in(&task, &frame.frame_id, task.site.url("a", "").as_str());
}

#[test]
fn every_dialog_of_a_frame_in_another_process_is_answered() {
    let Some(task) = Task::leased("other-process") else { return };
    task.go(&nested(&task.site));
    let frame = task.frame("/one");
    assert!(frame.is_oopif);
    every_case_in(&task, &frame.frame_id, task.site.url("b", "").as_str());
}

#[test]
fn every_dialog_of_a_frame_two_processes_down_is_answered() {
    let Some(task) = Task::leased("two-down") else { return };
    task.go(&nested(&task.site));
    let (outer, inner) = (task.frame("/one"), task.frame("/two"));
    assert!(inner.is_oopif && inner.session_id != outer.session_id);
    every_case_in(&task, &inner.frame_id, task.site.url("c", "").as_str());
}

#[test]
fn every_dialog_of_a_frame_inside_another_process_is_answered() {
    let Some(task) = Task::leased("inside-other") else { return };
    task.go(&nested(&task.site));
    let (outer, inner) = (task.frame("/one"), task.frame("/same?b"));
    assert!(!inner.is_oopif && inner.session_id == outer.session_id);
    every_case_in(&task, &inner.frame_id, task.site.url("b", "").as_str());
}

#[test]
fn a_dialog_called_through_the_window_of_a_frame_is_seen() {
    let Some(task) = Task::leased("content-window") else { return };
    task.go(&nested(&task.site));
    let frame = task.frame("/same");
    task.run("document.querySelector('iframe').contentWindow.alert('through the window')");
    let dialog = task.dialog();
    assert_eq!((&*dialog.message, dialog.frame_id), ("through the window", Some(frame.frame_id)));
    task.answer(Dismiss);
    assert_eq!(task.eval("1 + 1"), 2);
}

#[test]
fn a_page_with_a_dialog_during_load_continues_after_the_answer() {
    let Some(task) = Task::leased("loading") else { return };
    task.site.page(
        "/",
        "<script>let got = [confirm('first')]</script><p id=between>\
         <script>got.push(prompt('second', 'x'), !!document.querySelector('#between'))</script><p id=end>",
    );
    task.site.page("/outer", "<iframe src='@b/'></iframe>");
    for (path, within) in [("/", None), ("/outer", Some("/"))] {
        task.navigate(&FrameRef::Top, &task.site.url("a", path), soon()).unwrap();
        let first = task.dialog_saying("first");
        task.respond(Some(&first.id), ACCEPT, soon()).unwrap();
        let second = task.dialog_saying("second");
        task.respond(Some(&second.id), text("y"), soon()).unwrap();
        let frame = match within {
            None => task.top(),
            Some(_) => task.frame(&task.site.url("b", "/")).frame_id,
        };
        assert_eq!(first.frame_id.as_ref(), Some(&frame));
        task.loaded(&FrameRef::Id(frame.clone()));
        let seen = task.eval_in(&frame, "[...got, document.readyState, !!document.querySelector('#end')]");
        assert_eq!(seen, json!([true, "y", true, "complete", true]));
    }
}

#[test]
fn consecutive_dialogs_are_distinguished() {
    let Some(task) = Task::leased("row") else { return };
    task.go(&nested(&task.site));
    let frame = task.frame("/one");
    for frame in [task.top(), frame.frame_id] {
        task.run_in(
            &frame,
            "window.got = []; for (let i = 0; i < 12; i++) \
             got.push(i % 3 == 0 ? String(alert(i)) : i % 3 == 1 ? confirm(i) : prompt(i, 'p' + i))",
        );
        let mut ids = Vec::new();
        for i in 0..12 {
            let dialog = task.dialog_saying(&i.to_string());
            let answer = if i % 2 == 0 { text(&format!("t{i}")) } else { Dismiss };
            task.respond(Some(&dialog.id), answer, soon()).unwrap();
            ids.push(dialog.id);
        }
        ids.dedup();
        assert_eq!(ids.len(), 12);
        let got = task.eval_in(&frame, "got");
        assert_eq!(
            got,
            json!([
                "undefined",
                false,
                "t2",
                "undefined",
                true,
                null,
                "undefined",
                false,
                "t8",
                "undefined",
                true,
                null
            ])
        );
    }
    let now = task.view();
    assert_eq!(now.recent.len(), 20, "the last twenty are shown");
    assert_eq!((&*now.recent[0].dialog.id, &*now.recent[19].dialog.id), ("d-5", "d-24"));
}

#[test]
fn a_beforeunload_dialog_keeps_or_leaves_the_page() {
    let Some(task) = Task::leased("leaving") else { return };
    task.site.page("/next", "next");
    for place in ["top", "/same", "/one"] {
        task.go(&nested(&task.site));
        let frame = if place == "top" { task.top() } else { task.frame(place).frame_id };
        let guard = "onbeforeunload = event => { event.preventDefault(); return 'stay' }";
        task.eval_in(&frame, guard); // counts as a click, without which Chromium does not ask
        for (answer, path) in [(Dismiss, "/"), (ACCEPT, "/next")] {
            std::thread::scope(|scope| {
                let leaving = scope.spawn(|| task.navigate(&FrameRef::Top, &task.site.url("a", "/next"), soon()));
                let dialog = task.dialog();
                assert_eq!(dialog.kind, DialogType::BeforeUnload, "{place}");
                let closed = task.respond(Some(&dialog.id), answer.clone(), soon()).unwrap();
                assert_eq!((closed.accepted, closed.closed_by), (answer == ACCEPT, ClosedBy::Agent), "{place}");
                let response = leaving.join().unwrap().unwrap_err();
                assert!(response.is_blocked_by_dialog(), "{place}: {response}");
            });
            task.until(path, |now| now.pages[0].url.ends_with(path));
            assert_eq!(task.eval("location.pathname"), path, "{place}");
        }
    }
}
