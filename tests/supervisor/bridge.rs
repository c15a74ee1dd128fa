//! The dialog bridge as the supervisor runs it.

use std::time::Duration;

use cdpilot::cdp::ConnectOptions;
use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{
    BridgeLife, BridgeMode, BridgeReason, ClosedBy, DialogPolicy, DialogType, FrameRef, Supervisor, SupervisorOptions,
    View,
};
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, soon, text, until};
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;
use crate::support::share::rounds;
use crate::support::site::Answer;

fn bridged(name: &str) -> SupervisorOptions {
    SupervisorOptions::task(name).bridge(BridgeMode::Always)
}

fn life(now: &View, url: &str) -> BridgeLife {
    now.frames.iter().find(|frame| frame.url.ends_with(url)).map(|frame| frame.bridge.clone()).unwrap_or_default()
}

#[test]
fn the_bridge_returns_the_answer_and_opens_no_native_dialog() {
    let Some(task) = Task::leased_with(bridged("bridged")) else { return };
    let inner = format!("inner<iframe src='{}'></iframe>", task.site.url("c", "/innermost"));
    task.site.page("/innermost", "innermost");
    task.site.page("/inner", &inner);
    task.site.page("/", &format!("<iframe src='{}'></iframe>", task.site.url("b", "/inner")));
    task.go(&task.site.url("a", "/"));
    let frames = [task.top(), task.frame("/inner").frame_id, task.frame("/innermost").frame_id];
    assert_eq!(task.view().bridge.on, Some(BridgeReason::Asked));
    assert_eq!(life(&task.view(), "/inner"), BridgeLife::Installed);
    for frame in &frames {
        task.run_in(frame, "window.got = [prompt('who?', 'nobody'), confirm('sure?'), String(alert('done'))]");
        let requested = task.dialog_saying("who?");
        assert_eq!((requested.kind, &*requested.default_prompt), (DialogType::Prompt, "nobody"));
        assert_eq!((requested.bridged, requested.frame_id.as_ref()), (true, Some(frame)));
        let refused = task.evaluate(&FrameRef::Id(frame.clone()), "1", soon()).unwrap_err();
        assert!(refused.is_blocked_by_dialog(), "{refused}");
        let closed = task.answer(text("Ada — 愛"));
        assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::Agent, true));
        task.dialog_saying("sure?");
        task.answer(ACCEPT);
        task.dialog_saying("done");
        task.answer(Dismiss);
        assert_eq!(task.eval_in(frame, "got"), json!(["Ada — 愛", true, "undefined"]));
    }
    let now = task.view();
    assert!(now.recent.iter().all(|closed| closed.dialog.bridged));
    assert_eq!((now.bridge.calls, now.bridge.refused), (9, 0));
    assert_eq!(life(&now, "/innermost"), BridgeLife::Live);
}

#[test]
fn policies_armed_answers_and_watchdog_apply_to_bridged_dialogs() {
    let options = bridged("same").dialog_timeout(Duration::from_millis(300));
    let Some(task) = Task::leased_with(options) else { return };
    assert_eq!(task.eval("typeof prompt"), "function");
    task.arm(text("armed"), Duration::from_secs(60)).unwrap();
    assert_eq!(task.eval("prompt('?')"), "armed");
    task.run("window.got = prompt('anybody?', 'preset')");
    task.until("the watchdog", |now| now.recent.last().is_some_and(|closed| closed.closed_by == ClosedBy::Watchdog));
    assert_eq!(task.eval("got"), json!(null));
    task.set_policy(DialogPolicy::AutoAccept, Vec::new()).unwrap();
    assert_eq!(task.eval("[prompt('?', 'preset'), confirm('?')]"), json!(["preset", true]));
    task.set_policy(DialogPolicy::AutoDismiss, Vec::new()).unwrap();
    assert_eq!(task.eval("[prompt('?', 'preset'), confirm('?')]"), json!([null, false]));
    assert!(task.view().recent.iter().all(|closed| closed.dialog.bridged));
}

#[test]
fn pages_navigate_and_close_during_a_bridge_call() {
    let Some(task) = Task::leased_with(bridged("left")) else { return };
    task.site.page("/", "here");
    task.site.page("/frame", &format!("<iframe src='{}'></iframe>", task.site.url("b", "/")));
    for (host, path) in [("a", "/?same"), ("b", "/?other")] {
        task.go(&task.site.url("a", "/"));
        task.run("confirm('stay?')");
        let open = task.dialog();
        task.navigate(&FrameRef::Top, &task.site.url(host, path), soon()).unwrap();
        let now = task.until("its record", |now| now.recent.iter().any(|closed| closed.dialog.id == open.id));
        assert!(now.dialogs.is_empty());
        assert_eq!(task.eval("location.search"), path[1..]);
    }
    task.go(&task.site.url("a", "/frame"));
    let inner = task.frame("/").frame_id;
    let page = task.open_page(&task.site.url("a", "/"), None, soon()).unwrap();
    task.run_in(&inner, "confirm('in a frame')");
    task.dialog();
    task.close_page(&task.target(), soon()).unwrap();
    let now = task.until("its record", |now| now.dialogs.is_empty());
    assert!(now.page(page.as_str()).is_some(), "the browser is alive");
    let ids: Vec<_> = now.recent.iter().map(|closed| &closed.dialog.id).collect();
    assert_eq!(ids.len(), 3, "one record each: {ids:?}");
}

#[test]
fn beforeunload_dialogs_stay_native_with_the_bridge() {
    let Some(task) = Task::leased_with(bridged("leaving")) else { return };
    task.site.page("/", "here");
    task.go(&task.site.url("a", "/"));
    task.eval("onbeforeunload = event => event.preventDefault()");
    let refused = task.navigate(&FrameRef::Top, &task.site.url("a", "/?2"), soon()).unwrap_err();
    assert!(refused.is_blocked_by_dialog(), "{refused}");
    let requested = task.dialog();
    assert_eq!((requested.kind, requested.bridged), (DialogType::BeforeUnload, false));
    task.answer(ACCEPT);
    task.until("the next document", |now| now.pages[0].url.ends_with("?2"));
}

#[test]
fn where_the_bridge_cannot_work_dialogs_are_native_and_it_is_reported() {
    let Some(task) = Task::leased_with(bridged("fallback")) else { return };
    task.site.put("/", Answer::html("no requests").header("Permissions-Policy", "sync-xhr=()"));
    task.go(&task.site.url("a", "/"));
    task.run("window.got = prompt('native?', '')");
    let requested = task.dialog();
    assert!(!requested.bridged);
    assert_eq!(life(&task.view(), "/"), BridgeLife::Native);
    task.answer(text("yes"));
    assert_eq!(task.eval("got"), "yes");
}

#[test]
fn forged_bridge_requests_are_refused_without_delay() {
    let Some(task) = Task::leased_with(bridged("forged")) else { return };
    task.site.page("/", "hostile");
    task.go(&task.site.url("a", "/"));
    task.arm(ACCEPT, Duration::from_secs(60)).unwrap();
    let host = task.eval("confirm('show yourself'); performance.getEntriesByType('resource').at(-1).name");
    assert!(host.as_str().unwrap().contains(".invalid/"), "{host}");
    let many = rounds("CDPILOT_TEST_FORGED", 500, 3000);
    let script = format!(
        "Promise.all(Array.from({{ length: {many} }}, (_, i) =>
            fetch({host}, {{ method: 'POST', body: '0'.repeat(32) + '\\nq\\n' + i }}).then(() => 1, () => 0)))
            .then(all => all.reduce((a, b) => a + b))"
    );
    assert_eq!(task.eval(&script), 0, "none is answered");
    task.run("window.got = prompt('and now?')");
    assert_eq!(&*task.dialog().message, "and now?", "nothing was made up");
    task.answer(text("as before"));
    assert_eq!(task.eval("got"), "as before");
    let now = task.view();
    assert_eq!((now.bridge.calls, now.recent.len()), (2, 2));
    println!("{} of {many} were refused one by one", now.bridge.refused);
}

/// A browser behind a proxy that dismisses every native dialog after ten milliseconds.
fn dismissing(options: SupervisorOptions) -> Option<(Lease, Proxy, Task)> {
    let lease = Lease::take()?;
    let proxy = Proxy::of(lease.url());
    proxy.dismiss_dialogs(Duration::from_millis(10));
    let options = options.start_timeout(soon().left());
    let supervisor = Supervisor::attach(&proxy.url(), &ConnectOptions::default(), options).unwrap();
    let task = Task::over(supervisor);
    task.site.page("/", "behind a proxy");
    task.go(&task.site.url("a", "/"));
    Some((lease, proxy, task)) // dropped from the last to the first
}

#[test]
fn behind_a_proxy_that_dismisses_dialogs_every_answer_arrives() {
    let Some((_lease, proxy, task)) = dismissing(bridged("behind")) else { return };
    let many = rounds("CDPILOT_TEST_ANSWERS", 40, 200);
    let script = format!(
        "(async () => {{ const all = []; for (let i = 0; i < {many}; i++) {{
        all.push(prompt('question ' + i)); await 0 }} window.all = all }})()"
    );
    task.run(&script);
    for i in 0..many {
        task.dialog_saying(&format!("question {i}"));
        let closed = task.answer(text(&format!("answer {i}")));
        assert_eq!(closed.closed_by, ClosedBy::Agent);
    }
    let all = task.eval("all");
    let right = all.as_array().unwrap().iter().enumerate().filter(|(i, got)| **got == format!("answer {i}")).count();
    assert_eq!((right, proxy.dismissed()), (many, 0));
}

#[test]
fn a_dialog_dismissed_by_another_client_enables_the_bridge() {
    let Some((_lease, proxy, task)) = dismissing(SupervisorOptions::task("auto")) else { return };
    assert_eq!(task.view().bridge.on, None);
    task.run("window.first = prompt('the first is lost')");
    let now = task.until("the bridge", |now| {
        now.bridge.on == Some(BridgeReason::ClosedByOthers) && life(now, "/") == BridgeLife::Installed
    });
    assert_eq!((now.recent[0].closed_by, proxy.dismissed()), (ClosedBy::Remote, 1));
    assert_eq!(task.eval("first"), json!(null));
    task.run("window.second = prompt('the second is not')");
    task.dialog_saying("the second is not");
    task.answer(text("it arrives"));
    assert_eq!(task.eval("second"), "it arrives");
    // A page that comes later has it from the start.
    let page = FrameRef::TopOf(task.open_page(&task.site.url("b", "/"), None, soon()).unwrap());
    task.start_script(&page, "window.third = prompt('elsewhere')").unwrap();
    task.dialog_saying("elsewhere");
    task.answer(text("too"));
    assert_eq!(task.evaluate(&page, "third", soon()).unwrap().value, "too");
    assert_eq!(proxy.dismissed(), 1);
}

#[test]
fn the_bridge_is_never_enabled_when_disabled() {
    let options = SupervisorOptions::task("never").bridge(BridgeMode::Never);
    let Some((_lease, proxy, task)) = dismissing(options) else { return };
    task.run("window.all = [prompt('lost'), prompt('lost'), prompt('lost')]");
    until(&task, "three records", |now| now.recent.len() == 3);
    assert_eq!(task.eval("all"), json!([null, null, null]));
    assert_eq!((task.view().bridge.on, proxy.dismissed()), (None, 3));
}

#[test]
fn a_dialog_that_ends_with_its_page_does_not_enable_the_bridge() {
    let Some(task) = Task::leased("with-its-page") else { return };
    task.site.page("/", "here");
    for number in 0..5 {
        task.go(&task.site.url("a", &format!("/?{number}")));
        task.run("confirm('leave?')");
        task.dialog();
    }
    let page = task.open_page(&task.site.url("a", "/"), None, soon()).unwrap();
    task.start_script(&FrameRef::TopOf(page.clone()), "while (true) alert('for ever')").unwrap();
    task.until("an alert", |now| now.dialogs_of(page.as_str()).next().is_some());
    task.close_page(&page, soon()).unwrap();
    assert_eq!(task.view().bridge.on, None);
    assert!(task.view().recent.len() >= 5);
}
