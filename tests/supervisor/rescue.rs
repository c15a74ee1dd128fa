//! Pages that are stuck in a script, and unresponsive pages.

use std::time::{Duration, Instant};

use cdpilot::browser::TransportKind;
use cdpilot::cdp;
use cdpilot::supervisor::{Error, EventKind, FrameRef, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{Task, blocking, launch, soon, soon_rescued};
use crate::support::renderers;
use crate::support::share::share;

fn task(name: &str) -> Option<Task> {
    Task::leased_with(soon_rescued(SupervisorOptions::task(name)))
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

fn shown(name: &str, options: SupervisorOptions) -> Option<Task> {
    let task = Task::leased_with(options)?;
    show(&task, &format!("<title>{name}</title>"));
    Some(task)
}

/// The page runs a loop for so long, and is `done` then.
fn work(task: &Task, ms: u64) {
    let before = task.view().console.len();
    let script = format!(
        "setTimeout(() => {{ console.log('works'); const end = performance.now() + {ms}; while (performance.now() < end); window.done = 1 }})"
    );
    task.start_script(&FrameRef::Top, &script).unwrap();
    task.until("the loop", |now| now.console.len() > before);
}

#[test]
fn a_call_waits_until_its_deadline_for_a_busy_page_and_says_since_when_it_is_busy() {
    let Some(task) = shown("waits", SupervisorOptions::task("waits")) else { return };
    let top = FrameRef::Top;
    loop_in(&task, &top);
    let mut before = Duration::ZERO;
    for _ in 0..3 {
        let began = Instant::now();
        let refused = task.evaluate(&top, "1", Deadline::after_millis(300)).unwrap_err();
        let Error::PageBusy { busy, left: None, .. } = &refused else { panic!("{refused}") };
        assert_eq!(refused.code(), "PAGE_BUSY");
        assert!(began.elapsed() >= Duration::from_millis(290), "it has its time");
        assert!(*busy >= before + Duration::from_millis(250), "{busy:?} after {before:?}: the time counts over calls");
        before = *busy;
    }
    assert_eq!(rescues(&task), 0, "the default is ten seconds");
    let began = Instant::now();
    let rescue = task.rescue(&top, soon()).unwrap();
    assert!(rescue.busy.is_some_and(|busy| busy >= before), "{rescue:?} after {:?}", began.elapsed());
    let got = task.evaluate(&top, "kept", soon()).unwrap();
    assert_eq!((&got.value, got.rescued), (&json!("kept"), false));
    assert_eq!(task.rescue(&top, soon()).unwrap().busy, None, "a page that responds is left alone");
    assert_eq!(rescues(&task), 1);
}

#[test]
fn the_time_of_a_stuck_script_counts_over_several_calls() {
    let options =
        SupervisorOptions::task("counts").rescue_after(Duration::from_secs(1)).rescue_after_load(Duration::ZERO);
    let Some(task) = shown("counts", options) else { return };
    loop_in(&task, &FrameRef::Top);
    let calls = (1..60).map(|_| task.evaluate(&FrameRef::Top, "kept", Deadline::after_millis(400)));
    let got: Vec<_> = calls.take_while(Result::is_err).collect();
    assert!(got.len() >= 2 && got.len() < 59, "{got:?}");
    assert_eq!(rescues(&task), 1);
    // A script that ends between two calls is not part of the next one.
    work(&task, 600);
    task.evaluate(&FrameRef::Top, "1", Deadline::after_millis(200)).unwrap_err();
    task.eval("done");
    work(&task, 600);
    task.evaluate(&FrameRef::Top, "1", soon()).unwrap();
    assert_eq!(rescues(&task), 1);
}

/// Applications start up while their document loads, and just after.
#[test]
fn a_page_that_starts_up_is_not_rescued() {
    let after = Duration::from_millis(300);
    let options = SupervisorOptions::task("starts").rescue_after(after).rescue_after_load(Duration::ZERO);
    let Some(task) = shown("starts", options) else { return };
    let works = "const end = performance.now() + 1500; while (performance.now() < end);";
    task.site.page("/loads", &format!("<script>{works}</script><p id=p>there"));
    task.navigate(&FrameRef::Top, &task.site.url("a", "/loads"), soon()).unwrap();
    let waits = "document.readyState === 'complete' || new Promise(done => addEventListener('load', done))";
    assert!(!task.evaluate(&FrameRef::Top, waits, soon()).unwrap().rescued);
    assert_eq!(task.eval("p.textContent"), "there");
    drop(task);
    let options = SupervisorOptions::task("starts-late").rescue_after(after);
    let Some(task) = shown("starts-late", options) else { return };
    task.site.page("/late", &format!("<script>onload = () => setTimeout(() => {{ {works} window.up = 1 }})</script>"));
    task.navigate(&FrameRef::Top, &task.site.url("a", "/late"), soon()).unwrap();
    task.eval(waits);
    let up = "new Promise(done => { const look = () => window.up ? done(up) : setTimeout(look, 20); look() })";
    let got = task.evaluate(&FrameRef::Top, up, soon()).unwrap();
    assert_eq!((&got.value, got.rescued), (&json!(1), false));
    assert_eq!(rescues(&task), 0);
}

#[test]
fn a_slow_server_is_not_a_stuck_page() {
    let after = Duration::from_secs(4); // a busy machine has its time too
    let options = soon_rescued(SupervisorOptions::task("slow")).rescue_after(after);
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
    let options = soon_rescued(SupervisorOptions::task("stopped"));
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
