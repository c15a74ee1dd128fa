//! Calls under a dialog: calls that cannot be answered fail at once, others continue.

use std::time::Instant;

use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::FrameRef;
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, blocking, soon};

/// Far longer than a test takes: a call that ends at its deadline fails the test.
fn far() -> Deadline<'static> {
    Deadline::after_secs(600)
}

#[test]
fn a_waiting_call_ends_when_a_dialog_opens() {
    let Some(task) = Task::leased("waiting") else { return };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let outcome = task.evaluate(&FrameRef::Top, "console.log('called'), new Promise(() => {})", far());
            (blocking(outcome), Instant::now())
        });
        task.until("the call", |now| !now.console.is_empty());
        task.run("alert('in the way')");
        let dialog = task.dialog();
        let seen = Instant::now();
        let (ids, ended) = waiting.join().unwrap();
        assert_eq!(ids, [&*dialog.id]);
        assert!(ended.saturating_duration_since(seen) < crate::support::LIMIT);
    });
    task.answer(Dismiss);
    assert_eq!(task.eval("1 + 1"), 2);
}

#[test]
fn a_call_that_opens_a_dialog_reports_it() {
    let Some(task) = Task::leased("itself") else { return };
    task.site.page("/", "<iframe src='@a/inner'></iframe><iframe src='@b/inner?b'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));
    let frames = [task.top(), task.frame("/inner").frame_id, task.frame("/inner?b").frame_id];
    for (number, frame) in (1..).zip(frames) {
        let outcome = task.evaluate(&FrameRef::Id(frame.clone()), "window.got = confirm('go on?')", far());
        assert_eq!(blocking(outcome), [format!("d-{number}")]);
        let dialog = task.dialog();
        assert_eq!(dialog.frame_id, Some(frame.clone()), "it is in the view when the call ends");
        task.answer(ACCEPT);
        assert_eq!(task.eval_in(&frame, "window.got"), true, "the script went on behind the answer");
    }
}

#[test]
fn a_call_under_a_dialog_is_not_sent() {
    let Some(task) = Task::leased("not-sent") else { return };
    task.eval("window.n = 0");
    task.run("alert('closed for now')");
    let dialog = task.dialog();
    let before = task.connection().counters();
    for method in ["Runtime.evaluate", "Page.captureScreenshot", "DOM.getDocument", "Page.getFrameTree"] {
        let began = Instant::now();
        let params = json!({ "expression": "window.n++" });
        let error = task.call_raw(&FrameRef::Top, method, &params, far()).unwrap_err();
        assert!(error.is_blocked_by_dialog(), "{method}: {error:?}");
        assert!(error.to_string().contains(&*dialog.id), "{error}");
        assert!(began.elapsed() < crate::support::LIMIT, "{method}");
    }
    assert!(task.screenshot(&FrameRef::Top, far()).unwrap_err().is_blocked_by_dialog());
    assert_eq!(task.connection().counters().in_flight, before.in_flight);
    task.answer(Dismiss);
    assert_eq!(task.eval("window.n"), 0);
}

#[test]
fn commands_answered_by_the_browser_work_under_a_dialog() {
    let Some(task) = Task::leased("browser-side") else { return };
    task.run("alert('the page stands still')");
    task.dialog();
    let history = task.call_raw(&FrameRef::Top, "Page.getNavigationHistory", &json!({}), soon()).unwrap();
    assert_eq!(history.value().unwrap()["entries"][0]["url"], "about:blank");
    let info = task.call_raw(&FrameRef::Top, "Target.getTargetInfo", &json!({}), soon()).unwrap();
    assert_eq!(info.value().unwrap()["targetInfo"]["targetId"], task.target().as_str());
    let second = task.open_page("about:blank", None, soon()).unwrap();
    assert_eq!(task.evaluate(&FrameRef::TopOf(second.clone()), "6 * 7", soon()).unwrap().value, 42);
    task.close_page(&second, soon()).unwrap();
    assert_eq!(task.view().dialogs.len(), 1);
    task.answer(Dismiss);
}

#[test]
fn frames_of_other_processes_work_under_a_dialog() {
    let Some(task) = Task::leased("beside") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe><iframe src='@c/inner?c'></iframe>");
    task.site.page("/inner", "<title>inner</title>");
    task.go(&task.site.url("a", "/"));
    let (top, b, c) = (task.top(), task.frame("/inner").frame_id, task.frame("/inner?c").frame_id);
    for (asks, others) in [(&top, [&b, &c]), (&b, [&top, &c])] {
        task.run_in(asks, "alert('only here')");
        assert_eq!(task.dialog().frame_id.as_ref(), Some(asks));
        for other in others {
            assert_eq!(task.eval_in(other, "1 + 1"), 2);
        }
        let error = task.evaluate(&FrameRef::Id(asks.clone()), "1 + 1", far()).unwrap_err();
        assert!(error.is_blocked_by_dialog(), "{error:?}");
        task.answer(Dismiss);
        assert_eq!(task.eval_in(asks, "1 + 1"), 2);
    }
}

#[test]
fn an_endless_call_of_another_frame_ends_under_a_dialog() {
    let Some(task) = Task::leased("grace") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));
    let (top, inner) = (task.top(), task.frame("/inner").frame_id);
    task.run_in(&inner, "alert('elsewhere')");
    let dialog = task.dialog();
    let outcome = task.evaluate(&FrameRef::Id(top), "new Promise(() => {})", far());
    assert_eq!(blocking(outcome), [&*dialog.id], "it cannot be told whether it would ever end");
    task.answer(Dismiss);
}

#[test]
fn a_script_can_be_started_without_waiting() {
    let Some(task) = Task::leased("started") else { return };
    task.site.page("/", "<iframe src='@a/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));
    let frame = task.frame("/inner").frame_id;
    task.run_in(&frame, "window.who = 'inner'; window.got = confirm(who)");
    assert_eq!(task.dialog().frame_id, Some(frame.clone()));
    task.answer(ACCEPT);
    assert_eq!(task.eval_in(&frame, "[window.who, window.got]"), json!(["inner", true]));
    assert_eq!(task.eval("typeof window.who"), "undefined");
}
