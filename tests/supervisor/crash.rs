//! Pages that crash, hang or are removed. Each test has its own browser.
#![allow(clippy::print_stdout)] // figures, for whoever asks with --nocapture

use std::time::Instant;

use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::cdp::protocol::target::DetachFromTarget;
use cdpilot::cdp::{self, GoneReason};
use cdpilot::supervisor::{ClosedBy, Error, EventKind, FrameRef, PageState, Pages, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{Task, soon, until};
use crate::support::lease::Lease;

fn gone(outcome: Result<impl std::fmt::Debug, Error>) -> GoneReason {
    match outcome {
        Err(Error::Cdp(cdp::Error::SessionGone { reason, .. })) => reason,
        other => panic!("{other:?}"),
    }
}

/// Runs `end` while a call waits in a frame, and returns how that call ended; it has to end at once.
fn while_waiting(task: &Task, frame: &FrameRef, end: impl FnOnce()) -> Result<(), Error> {
    let mark = format!("waiting {}", task.log().last());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let script = format!("console.log('{mark}'), new Promise(() => {{}})");
            let outcome = task.evaluate(frame, &script, Deadline::after_secs(600)).map(drop);
            (outcome, Instant::now())
        });
        task.until("the call", |now| now.console.iter().any(|entry| *entry.text == mark));
        end();
        let began = Instant::now();
        let (outcome, ended) = waiting.join().unwrap();
        assert!(ended.saturating_duration_since(began) < crate::support::LIMIT);
        outcome
    })
}

/// Crashes the renderer behind a frame without waiting for an answer, which never comes.
fn crash(task: &Task, frame: &FrameId) {
    let session = task.view().frame(frame.as_str()).and_then(|f| f.session_id.clone()).unwrap();
    drop(task.connection().session(session).send_raw("Page.crash", &json!({})).unwrap());
}

fn state(task: &Task) -> PageState {
    task.view().pages[0].state
}

#[test]
fn a_crashed_page_fails_its_calls_and_can_be_reloaded() {
    let Some(task) = Task::leased("crash") else { return };
    task.site.page("/", "<title>alive</title><iframe src='@a/leaf'></iframe>");
    task.site.page("/leaf", "leaf");
    for round in 0..2 {
        task.go(&task.site.url("a", "/"));
        task.frame("/leaf");
        let top = task.top();
        let outcome = while_waiting(&task, &FrameRef::Top, || crash(&task, &top));
        assert_eq!(gone(outcome), GoneReason::Crashed, "{round}");
        task.until("the crash", |now| now.pages[0].state == PageState::Crashed);
        let began = Instant::now();
        assert_eq!(gone(task.evaluate(&FrameRef::Top, "1", soon())), GoneReason::Crashed);
        assert!(began.elapsed() < crate::support::LIMIT);
        task.call_raw(&FrameRef::Top, "Page.getNavigationHistory", &json!({}), soon()).unwrap();
        task.call_raw(&FrameRef::Top, "Page.reload", &json!({}), soon()).unwrap();
        task.until("it is back", |now| now.pages[0].state == PageState::Ready);
        let leaf = task.frame("/leaf");
        assert_eq!(task.eval("document.title"), "alive");
        assert_eq!(task.eval_in(&leaf.frame_id, "document.body.textContent"), "leaf");
        assert_eq!(task.view().frames.len(), 2);
    }
    let crashes = task.log().since(0, 1000).entries.into_iter().filter(|entry| entry.kind() == EventKind::Crashed);
    assert_eq!(crashes.count(), 2);
}

#[test]
fn a_crashed_page_can_navigate_or_be_closed() {
    let Some(task) = Task::leased("crash-away") else { return };
    task.site.page("/", "<title>elsewhere</title>");
    crash(&task, &task.top());
    task.until("the crash", |now| now.pages[0].state == PageState::Crashed);
    task.go(&task.site.url("b", "/"));
    assert_eq!((task.eval("document.title"), state(&task)), (json!("elsewhere"), PageState::Ready));
    let second = task.open_page("about:blank", None, soon()).unwrap();
    let top = task.view().page(second.as_str()).unwrap().top_frame.clone().unwrap();
    crash(&task, &top);
    task.until("the second crash", |now| now.page(second.as_str()).unwrap().state == PageState::Crashed);
    task.close_page(&second, soon()).unwrap();
    assert_eq!(task.eval("document.title"), "elsewhere");
}

#[test]
fn a_crashed_frame_does_not_affect_its_page() {
    let Some(task) = Task::leased("crash-frame") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));
    let inner = task.frame("/inner").frame_id;
    let process = process_of(&task, &inner);
    task.run_in(&inner, "confirm('lost with its renderer')");
    let dialog = task.dialog();
    kill(process); // its thread stands still under the dialog, so no command crashes it
    let now = task.until("the record", |now| !now.recent.is_empty());
    assert_eq!(now.recent[0].dialog.id, dialog.id);
    assert!(matches!(now.recent[0].closed_by, ClosedBy::Lost | ClosedBy::Remote), "{:?}", now.recent[0]);
    assert!(now.dialogs.is_empty());
    assert_eq!((task.eval("1 + 1"), state(&task)), (json!(2), PageState::Ready));
    task.eval("document.querySelector('iframe').src += '?again'");
    let again = task.frame("/inner?again");
    assert_eq!(task.eval_in(&again.frame_id, "1 + 1"), 2);
}

/// Renderers and the processor time each has taken, in clock ticks.
fn renderers(task: &Task) -> Vec<(i64, u64)> {
    let response =
        task.connection().call_raw("SystemInfo.getProcessInfo", &json!({}), soon()).unwrap().value().unwrap();
    let all = response["processInfo"].as_array().unwrap().iter().filter(|process| process["type"] == "renderer");
    let pids = all.map(|process| process["id"].as_i64().unwrap());
    let ticks = |pid: i64| -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut rest = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        Some(rest.next()?.parse::<u64>().ok()? + rest.next()?.parse::<u64>().ok()?)
    };
    pids.filter_map(|pid| Some((pid, ticks(pid)?))).collect()
}

/// The process that runs a frame: the one that works while the frame does.
fn process_of(task: &Task, frame: &FrameId) -> i64 {
    let before = renderers(task);
    task.eval_in(frame, "let sum = 0; for (let i = 0; i < 500000000; i++) sum += i & 3; sum");
    let then = |pid: i64| before.iter().find(|(before, _)| *before == pid).map_or(0, |(_, then)| *then);
    renderers(task).into_iter().max_by_key(|(pid, now)| now - then(*pid)).unwrap().0
}

fn kill(pid: i64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_dialog_of_a_crashed_page_is_lost() {
    let Some(task) = Task::leased("crash-dialog") else { return };
    task.site.page("/", "page");
    task.go(&task.site.url("a", "/"));
    let process = process_of(&task, &task.top());
    task.run("confirm('still there?')");
    let dialog = task.dialog();
    kill(process);
    let now = task.until("the record", |now| !now.recent.is_empty() && now.pages[0].state == PageState::Crashed);
    assert_eq!(now.recent[0].dialog.id, dialog.id);
    // Chromium reports that it is closed, and then the crash.
    assert!(matches!(now.recent[0].closed_by, ClosedBy::Lost | ClosedBy::Remote), "{:?}", now.recent[0]);
    assert!(now.dialogs.is_empty());
    assert!(matches!(task.respond(None, cdpilot::supervisor::DialogAnswer::Dismiss, soon()), Err(Error::NoDialog)));
    task.go(&task.site.url("a", "/?again"));
    task.run("window.got = confirm('and now?')");
    task.dialog_saying("and now?");
    task.answer(crate::support::chrome::ACCEPT);
    assert_eq!(task.eval("window.got"), true);
}

#[test]
fn a_call_ends_when_its_page_or_frame_is_removed() {
    // Its supervisor loses one page, which stays.
    let Some(lease) = Lease::take_empty() else { return };
    let url = lease.url().to_owned();
    let task = Task::attach(&url, SupervisorOptions::task("away"));
    let other = cdp::Connection::connect(&url, &cdp::ConnectOptions::default()).unwrap();
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));

    let inner = task.frame("/inner").frame_id;
    let outcome = while_waiting(&task, &FrameRef::Id(inner), || task.run("document.querySelector('iframe').remove()"));
    assert_eq!(gone(outcome), GoneReason::Detached);
    assert_eq!(task.eval("1"), 1);

    let second = task.open_page("about:blank", None, soon()).unwrap();
    let outcome = while_waiting(&task, &FrameRef::TopOf(second.clone()), || {
        task.close_page(&second, soon()).unwrap();
    });
    assert_eq!(gone(outcome), GoneReason::Detached);

    let third = task.open_page("about:blank", None, soon()).unwrap();
    let outcome = while_waiting(&task, &FrameRef::TopOf(third.clone()), || {
        other.call_raw("Target.closeTarget", &json!({ "targetId": third }), soon()).unwrap();
    });
    assert_eq!(gone(outcome), GoneReason::Detached);

    let session = task.view().frame(task.top().as_str()).unwrap().session_id.clone().unwrap();
    let outcome = while_waiting(&task, &FrameRef::Top, || {
        let mut detach = DetachFromTarget::new();
        detach.session_id = Some((&*session).into());
        task.connection().call(&detach, soon()).unwrap();
    });
    assert_eq!(gone(outcome), GoneReason::Detached);
    task.until("no page", |now| now.pages.is_empty() && now.frames.is_empty());
    assert!(matches!(task.evaluate(&FrameRef::Top, "1", soon()), Err(Error::NoPage)));
    drop(task);
}

#[test]
fn a_hanging_page_delays_no_other() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url().to_owned();
    let task = Task::attach(&url, SupervisorOptions::task("first"));
    task.site.page("/", "<title>fine</title>");
    task.go(&task.site.url("a", "/"));
    let hung = task.open_page(&task.site.url("b", "/"), None, soon()).unwrap();
    let page = FrameRef::TopOf(hung.clone());
    task.loaded(&page);
    task.start_script(&page, "console.log('stuck'); while (true);").unwrap();
    task.until("the loop", |now| !now.console.is_empty());

    let began = Instant::now();
    let all = Supervisor::attach(
        &url,
        &cdp::ConnectOptions::default(),
        SupervisorOptions::task("second").pages(Pages::All).start_timeout(soon().left()),
    )
    .unwrap();
    println!("the start beside a page that hangs took {:?}", began.elapsed());
    let of = |target: &str| all.view().page(target).map(|page| page.state);
    assert_eq!(of(hung.as_str()), Some(PageState::Unresponsive));
    let fine = task.target();
    assert_eq!(of(fine.as_str()), Some(PageState::Ready));
    assert_eq!(all.evaluate(&FrameRef::TopOf(fine.clone()), "document.title", soon()).unwrap().value, "fine");
    let outcome = all.evaluate(&page, "1", Deadline::after_millis(200));
    assert!(matches!(&outcome, Err(error) if error.is_unresponsive()), "{outcome:?}");
    let third = all.open_page("about:blank", None, soon()).unwrap();
    assert_eq!(all.evaluate(&FrameRef::TopOf(third), "6 * 7", soon()).unwrap().value, 42);

    task.call_raw(&page, "Runtime.terminateExecution", &json!({}), soon()).unwrap();
    until(&all, "it answers again", |now| now.page(hung.as_str()).is_some_and(|p| p.state == PageState::Ready));
    assert_eq!(all.evaluate(&page, "document.title", soon()).unwrap().value, "fine");
    let changes = all.log().since(0, 1000).entries.into_iter().filter(|e| e.kind() == EventKind::Responsiveness);
    assert_eq!(changes.count(), 2);
    all.stop(soon());
    drop((all, task));
}
