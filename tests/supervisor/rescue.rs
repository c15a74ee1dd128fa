//! Pages that are stuck in a script, and unresponsive pages.

use std::time::{Duration, Instant};

use cdpilot::browser::TransportKind;
use cdpilot::cdp;
use cdpilot::supervisor::{Error, EventKind, FrameRef, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{Task, blocking, launch, soon};
use crate::support::renderers;
use crate::support::share::share;

/// The default. A shorter one would take a busy machine for a stuck page.
const AFTER: Duration = Duration::from_secs(1);

fn task(name: &str) -> Option<Task> {
    Task::leased_with(SupervisorOptions::task(name).rescue_after(AFTER))
}

fn show(task: &Task, html: &str) {
    task.site.page("/", html);
    task.go(&task.site.url("a", "/"));
    task.eval("window.kept = 'kept'");
}

/// The page runs a loop without an end.
fn loop_in(task: &Task, frame: &FrameRef) {
    let before = task.view().console.len();
    task.start_script(frame, "setTimeout(() => { console.log('stuck'); while (true); })").unwrap();
    task.until("the loop", |now| now.console.len() > before);
}

fn rescues(task: &Task) -> usize {
    task.caught_up(soon()).unwrap();
    task.log().since(0, 10_000).entries.iter().filter(|entry| entry.kind() == EventKind::Rescued).count()
}

#[test]
fn a_page_stuck_in_a_script_is_rescued_and_keeps_its_document() {
    let Some(task) = task("freed") else { return };
    show(&task, "<title>stuck</title>");
    let top = FrameRef::Top;
    loop_in(&task, &top);
    let got = task.evaluate(&top, "kept", soon()).unwrap();
    assert_eq!((&got.value, got.rescued), (&json!("kept"), true));
    assert_eq!(rescues(&task), 1);
    let again = task.evaluate(&top, "kept", soon()).unwrap();
    assert!(!again.rescued, "once is enough");

    for operation in share(["screenshot", "raw command", "navigate", "reload"], 2) {
        loop_in(&task, &top);
        match operation {
            "screenshot" => {
                assert!(task.screenshot(&top, soon()).unwrap().rescued);
                assert_eq!(task.eval("kept"), "kept");
            }
            "raw command" => {
                assert!(task.call_raw(&top, "DOM.getDocument", &json!({}), soon()).unwrap().rescued);
                assert_eq!(task.eval("kept"), "kept");
            }
            "navigate" => {
                let navigation = task.navigate(&top, &task.site.url("a", "/?next"), soon()).unwrap();
                assert!(navigation.rescued && task.view().pages[0].url.ends_with("?next"));
                assert_eq!(task.eval("typeof kept"), "undefined");
            }
            _ => {
                assert!(task.reload(&top, soon()).unwrap().rescued);
                task.eval("1");
            }
        }
    }
}

#[test]
fn a_stuck_frame_is_rescued_without_affecting_others() {
    let Some(task) = task("frame-freed") else { return };
    task.site.page("/inner", "inner");
    show(&task, &format!("<iframe src='{}'></iframe>", task.site.url("b", "/inner")));
    let inner = FrameRef::Id(task.frame("/inner").frame_id);
    loop_in(&task, &inner);
    let other = task.evaluate(&FrameRef::Top, "kept", soon()).unwrap();
    assert_eq!((&other.value, other.rescued), (&json!("kept"), false));
    let got = task.evaluate(&inner, "location.pathname", soon()).unwrap();
    assert_eq!((&got.value, got.rescued), (&json!("/inner"), true));
}

#[test]
fn a_script_of_a_caller_runs_until_its_deadline_and_others_get_page_busy() {
    let Some(task) = task("busy") else { return };
    show(&task, "busy");
    let top = FrameRef::Top;
    let script = "console.log('running'); const end = Date.now() + 4000; while (Date.now() < end); 'all of it'";
    std::thread::scope(|scope| {
        let long = scope.spawn(|| task.evaluate(&top, script, soon()));
        task.until("it runs", |now| !now.console.is_empty());
        let refused = task.evaluate(&top, "1", Deadline::after_secs(5)).unwrap_err();
        assert!(matches!(refused, Error::PageBusy { .. }), "{refused}");
        let refused = task.screenshot(&top, Deadline::after_secs(5)).unwrap_err();
        assert!(matches!(refused, Error::PageBusy { .. }), "{refused}");
        let got = long.join().unwrap().unwrap();
        assert_eq!((&got.value, got.rescued), (&json!("all of it"), false));
    });
    assert_eq!(rescues(&task), 0);
}

#[test]
fn an_endless_script_is_terminated_at_its_deadline() {
    let Some(task) = task("own") else { return };
    show(&task, "own");
    let began = Instant::now();
    let ended = task.evaluate(&FrameRef::Top, "while (true);", Deadline::after_secs(1)).unwrap_err();
    println!("ended after {:?}", began.elapsed());
    assert!(matches!(ended, Error::ScriptTimeout { .. }), "{ended}");
    let next = task.evaluate(&FrameRef::Top, "kept", soon()).unwrap();
    assert_eq!((&next.value, next.rescued), (&json!("kept"), false));
    // Waiting for a promise is no loop: nothing is ended.
    let late = task.evaluate(&FrameRef::Top, "new Promise(() => 0)", Deadline::after_secs(1)).unwrap_err();
    assert!(matches!(&late, Error::Cdp(error) if error.is_timeout()), "{late}");
}

#[test]
fn a_slow_server_is_not_a_stuck_page() {
    let after = Duration::from_secs(4); // a busy machine has its time too
    let options = SupervisorOptions::task("slow").rescue_after(after);
    let Some(task) = Task::leased_with(options) else { return };
    show(&task, "slow");
    let held = crate::support::site::Held::default();
    let slow = crate::support::site::Answer::html("slow at last").held_by(&held);
    task.site.put("/slow", slow);
    std::thread::scope(|scope| {
        let going = scope.spawn(|| task.navigate(&FrameRef::Top, &task.site.url("a", "/slow"), soon()));
        // Longer than it takes to free a page.
        let waiting = format!("new Promise(done => setTimeout(() => done(kept), {}))", 2 * after.as_millis());
        assert_eq!(task.eval(&waiting), "kept");
        held.release();
        assert!(!going.join().unwrap().unwrap().rescued);
    });
    // Chromium delays commands that follow the start of a navigation. There is no script to terminate then either.
    let held = crate::support::site::Held::default();
    task.site.put("/slower", crate::support::site::Answer::html("<script>n = 1</script>").held_by(&held));
    task.run("location.href = '/slower'");
    task.site.wait_requested("a.localhost/slower", 1);
    let late = task.evaluate(&FrameRef::Top, "1", Deadline::after(after + after / 2)).unwrap_err();
    assert!(matches!(late, Error::Navigating { .. }), "{late}");
    held.release();
    task.until("it is there", |now| now.pages[0].url.ends_with("/slower"));
    task.loaded(&FrameRef::Top);
    assert_eq!(task.eval("n"), 1);
    assert_eq!(rescues(&task), 0);
}

#[test]
fn a_page_waiting_for_its_server_navigates_elsewhere_at_once() {
    let Some(task) = task("elsewhere") else { return };
    show(&task, "here");
    let held = crate::support::site::Held::default();
    task.site.put("/silent", crate::support::site::Answer::html("at last").held_by(&held));
    task.site.page("/other", "other");
    let silent = task.site.url("a", "/silent");
    let late = task.navigate(&FrameRef::Top, &silent, Deadline::after_secs(2)).unwrap_err();
    assert_eq!(late.code(), "TIMEOUT", "{late}");
    let navigation = task.navigate(&FrameRef::Top, &task.site.url("a", "/other"), Deadline::after_secs(10));
    assert!(!navigation.expect("the silent server holds the page").rescued);
    task.loaded(&FrameRef::Top);
    assert_eq!(task.eval("document.body.textContent"), "other");
    // The same where the page has set out by itself, and where it is loaded again.
    task.run("location.href = '/silent'");
    task.site.wait_requested("a.localhost/silent", 2);
    task.reload(&FrameRef::Top, Deadline::after_secs(10)).expect("the silent server holds the page");
    assert_eq!(rescues(&task), 0);
    held.release();
}

#[test]
fn a_dialog_of_a_page_in_the_same_process_is_reported_not_rescued() {
    let Some(task) = task("siblings") else { return };
    show(&task, "siblings");
    task.run("window.other = open(location.href)");
    let now = task.until("the popup", |now| now.pages.len() == 2);
    let popup = FrameRef::TopOf(now.pages[1].target_id.clone());
    task.loaded(&popup);
    task.start_script(&popup, "window.said = confirm('wait')").unwrap();
    let dialog = task.dialog();
    match task.evaluate(&FrameRef::Top, "1 + 1", soon()) {
        Ok(got) => assert_eq!((&got.value, got.rescued), (&json!(2), false)),
        refused => assert_eq!(blocking(refused), [dialog.id.to_string()]),
    }
    task.answer(crate::support::chrome::ACCEPT);
    assert_eq!(task.evaluate(&popup, "said", soon()).unwrap().value, true);
    assert_eq!(rescues(&task), 0);
}

#[test]
fn a_page_with_a_suspended_renderer_is_revived_only_on_request() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let pid = browser.pid().unwrap();
    let url = browser.endpoint().unwrap().url();
    let options = SupervisorOptions::task("stopped").rescue_after(AFTER);
    let task = Task::attach(&url, options);
    show(&task, "<title>stopped</title>");
    let png = task.screenshot(&FrameRef::Top, soon()).unwrap().result;
    let renderers = renderers::of(pid);
    renderers.iter().for_each(|renderer| renderers::signal(*renderer, rustix::process::Signal::STOP));
    let refused = task.evaluate(&FrameRef::Top, "1", Deadline::after_secs(3)).unwrap_err();
    assert!(matches!(refused, Error::Unresponsive { tried: true, .. }), "{refused}");
    // Nothing was lost, and known data is available.
    let now = task.view();
    assert_eq!(&*now.pages[0].title, "stopped");
    assert_eq!(task.last_picture(&now.pages[0].target_id).unwrap().png[..], png[..]);
    assert_eq!(task.target_info(&FrameRef::Top, soon()).unwrap().title, "stopped");
    task.cookies(&FrameRef::Top, &[], soon()).unwrap();
    task.history(&FrameRef::Top, soon()).unwrap();
    match task.revive(&FrameRef::Top, soon()) {
        Ok(()) => assert_eq!(task.eval("typeof kept"), "undefined"),
        Err(refused) => {
            println!("not revived: {refused}");
            assert!(matches!(refused, Error::Unresponsive { .. }), "{refused}");
            renderers.iter().for_each(|renderer| renderers::signal(*renderer, rustix::process::Signal::CONT));
        }
    }
    drop(task);
    browser.close(soon()).unwrap();
}

#[test]
fn a_crashed_page_is_revived() {
    let Some(task) = task("crashed") else { return };
    show(&task, "<title>crashed</title>");
    task.revive(&FrameRef::Top, soon()).unwrap();
    assert_eq!(task.eval("typeof kept"), "undefined");
    let top = FrameRef::Top;
    let crash = task.call_raw(&top, "Page.crash", &json!({}), soon()).unwrap_err();
    assert!(matches!(&crash, Error::Cdp(cdp::Error::SessionGone { .. })), "{crash}");
    let refused = task.evaluate(&top, "1", soon()).unwrap_err();
    assert!(matches!(&refused, Error::Cdp(cdp::Error::SessionGone { .. })), "{refused}");
    task.reload(&top, soon()).unwrap();
    task.loaded(&top);
    assert_eq!(task.eval("document.title"), "crashed");
}
