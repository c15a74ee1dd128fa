//! Starting and ending a supervisor.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use cdpilot::browser::TransportKind;
use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::supervisor::{
    ClosedBy, Error, EventKind, FrameRef, PageState, Pages, Phase, Reconnect, Supervisor, SupervisorOptions,
};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{Task, launch, soon, until};
use crate::support::fake_cdp::Fake;
use crate::support::leaks::{Baseline, alone};
use crate::support::lease::Lease;
use crate::support::share::share;

#[test]
fn a_start_shows_one_ready_page_and_nothing_else() {
    let Some(task) = Task::leased("start") else { return };
    let now = task.view();
    assert!(now.is_active() && task.is_active());
    assert_eq!((now.dialogs.len(), now.recent.len(), now.console.len()), (0, 0, 0));
    let [page] = &*now.pages else { panic!("{:?}", now.pages) };
    assert_eq!((page.state, page.own, &*page.url), (PageState::Ready, true, "about:blank"));
    let tree = now.frame_tree(page.target_id.as_str());
    let top = tree.top.expect("the top frame is there");
    assert_eq!((&*top.url, top.is_oopif, tree.children.len(), tree.truncated), ("about:blank", false, 0, false));
    assert_eq!(Some(&top.frame_id), page.top_frame.as_ref());
    assert!(task.version() > 1);
    assert_eq!(task.log().since(0, 1).entries[0].kind(), EventKind::TabOpened);
    assert_eq!(task.task(), "start");
}

#[test]
fn supervision_works_over_every_transport() {
    for transport in share([TransportKind::Pipe, TransportKind::Port(0)], 1) {
        let Some(browser) = launch(transport) else { return };
        let task = Task::over(Supervisor::start(browser, SupervisorOptions::task("transport")).unwrap());
        task.site.page("/", "<title>hello</title>");
        task.go(&task.site.url("a", "/"));
        assert_eq!(task.eval("document.title"), "hello");
        assert_eq!(task.with_browser(|browser| browser.is_ours()), Some(true));
    }
}

#[test]
fn two_supervisors_of_one_browser_see_only_their_own_pages() {
    let Some(lease) = Lease::take() else { return };
    let [one, two] = ["one", "two"].map(|name| Task::attach(lease.url(), SupervisorOptions::task(name)));
    for task in [&one, &two] {
        task.site.page("/", &format!("<title>{}</title>", task.task()));
    }
    one.go(&one.site.url("a", "/"));
    two.go(&two.site.url("b", "/"));
    assert_eq!((one.eval("document.title"), two.eval("document.title")), (json!("one"), json!("two")));
    one.run("alert('for one')");
    let dialog = one.dialog();
    // Events that the second client receives now came after the dialog opened.
    two.eval("console.log('later')");
    let now = two.until("the message", |now| !now.console.is_empty());
    assert_eq!((now.dialogs.len(), now.pages.len()), (0, 1));
    assert_eq!(one.view().pages.len(), 1);
    one.respond(Some(&dialog.id), cdpilot::supervisor::DialogAnswer::Dismiss, soon()).unwrap();
    assert_eq!(two.view().recent.len(), 0);
    assert!(two.log().since(0, 1000).entries.iter().all(|entry| entry.kind() != EventKind::DialogOpened));
}

#[test]
fn two_concurrent_supervisors_do_not_interfere() {
    let Some(lease) = Lease::take() else { return };
    let [one, two] = ["left", "right"].map(|name| Task::attach(lease.url(), SupervisorOptions::task(name)));
    std::thread::scope(|scope| {
        for task in [&one, &two] {
            scope.spawn(|| {
                task.site.page("/", "<button onclick='n++'>more</button><script>let n = 0</script>");
                for round in 0..3 {
                    task.go(&task.site.url("a", &format!("/?{}-{round}", task.task())));
                    for _ in 0..20 {
                        task.eval("document.querySelector('button').click()");
                    }
                    let seen = task.eval("[n, location.search]");
                    assert_eq!(seen, json!([20, format!("?{}-{round}", task.task())]));
                }
            });
        }
    });
}

#[test]
fn a_missing_page_cannot_be_supervised() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let pages = Pages::Existing(TargetId::from("F00D"));
    let options = SupervisorOptions::task("nowhere").pages(pages).start_timeout(soon().left());
    let error = Supervisor::attach(url, &ConnectOptions::default(), options).unwrap_err();
    assert!(matches!(&error, Error::PageNotFound { target } if target == "F00D"), "{error:?}");
}

/// An error and everything behind it, in both the forms that are printed.
fn everything_of(error: &Error) -> String {
    let mut text = format!("{error} {error:?}");
    let mut behind = std::error::Error::source(error);
    while let Some(error) = behind {
        text += &format!(" {error} {error:?}");
        behind = error.source();
    }
    text
}

#[test]
fn a_failed_start_reveals_no_secret_of_the_url() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let silent = Fake::silent_handshake();
    let mute = Fake::start(); // shakes hands and says who it is, and attaches to nothing
    mute.on("Browser.getVersion").reply(json!({
        "protocolVersion": "1.3", "product": "Fake/1", "revision": "r", "userAgent": "u", "jsVersion": "1"
    }));
    mute.on("Target.setAutoAttach").never();
    mute.on("Target.createTarget").never();
    let connect = ConnectOptions::new().connect_timeout(Duration::from_millis(300));
    for port in [closed, silent.port(), mute.port()] {
        for (scheme, path) in [("ws", "/devtools/browser/hush-hush-3"), ("http", "")] {
            let address = format!("{scheme}://hush-hush-1:hush-hush-2@127.0.0.1:{port}{path}?token=hush-hush-4");
            let mut options = SupervisorOptions::task("secret");
            options.start_timeout = Duration::from_millis(300);
            let began = Instant::now();
            let error = Supervisor::attach(&address, &connect, options).unwrap_err();
            assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
            let text = everything_of(&error);
            assert!(!text.contains("hush-hush"), "{text}");
            if port == mute.port() && scheme == "ws" {
                assert!(matches!(error, Error::StartTimeout { .. }), "{error:?}");
            }
        }
    }
}

#[test]
fn a_failed_first_connection_is_not_retried() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("ws://127.0.0.1:{closed}/devtools/browser/x");
    let began = Instant::now();
    let error = Supervisor::attach(&address, &ConnectOptions::default(), SupervisorOptions::task("no")).unwrap_err();
    assert!(matches!(error, Error::Browser(_)), "{error:?}");
    assert!(began.elapsed() < crate::support::LIMIT);
}

#[test]
fn a_killed_browser_ends_the_supervisor_at_once() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let url = browser.endpoint().unwrap().url();
    let pid = rustix::process::Pid::from_raw(browser.pid().unwrap().cast_signed()).unwrap();
    let reconnect = Reconnect::default().tries(3);
    let options = SupervisorOptions::task("widow").reconnect(reconnect);
    let task = Task::attach(&url, options);
    let second = task.open_page("about:blank", None, soon()).unwrap();
    task.start_script(&FrameRef::TopOf(task.target()), "confirm('still there?')").unwrap();
    task.dialog();
    let log = task.log().clone();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let script = "console.log('called'), new Promise(() => {})";
            task.evaluate(&FrameRef::TopOf(second), script, Deadline::after_secs(600))
        });
        task.until("the call", |now| !now.console.is_empty());
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let began = Instant::now();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Cdp(_) | Error::NotActive { .. }), "{error:?}");
        assert!(began.elapsed() < crate::support::LIMIT);
    });
    let now = until(&task, "the end", |now| matches!(now.phase, Phase::Ended(_)));
    assert!(!task.is_active());
    let [closed] = &*now.recent else { panic!("{:?}", now.recent) };
    assert_eq!((closed.closed_by, closed.accepted, now.dialogs.len()), (ClosedBy::Lost, false, 0));
    let began = Instant::now();
    let error = task.evaluate(&FrameRef::Top, "1", soon()).unwrap_err();
    assert!(matches!(error, Error::NotActive { .. }), "{error:?}");
    let error = task.open_page("about:blank", None, soon()).unwrap_err();
    assert!(matches!(error, Error::NotActive { .. }), "{error:?}");
    assert!(task.wait_until(soon(), |now| !now.pages.is_empty() && now.is_active()).is_none());
    assert!(began.elapsed() < crate::support::LIMIT);
    let tail = log.wait_since(log.last(), 10, soon());
    assert!(tail.entries.is_empty() && log.has_ended());
    assert_eq!(log.since(log.last() - 1, 10).entries[0].kind(), EventKind::Ended);
}

#[test]
fn a_stopped_supervisor_leaks_nothing() {
    alone(module_path!(), "a_stopped_supervisor_leaks_nothing", || {
        let before = Baseline::now();
        let cases = [true, false].map(|stopped| [(stopped, TransportKind::Pipe), (stopped, TransportKind::Port(0))]);
        for (stopped, transport) in share(cases.into_iter().flatten(), 2) {
            let Some(browser) = launch(transport) else { return };
            let supervisor = Supervisor::start(browser, SupervisorOptions::task("leaks")).unwrap();
            supervisor.start_script(&FrameRef::Top, "alert('open at the end')").unwrap();
            until(&supervisor, "the dialog", |now| !now.dialogs.is_empty());
            if stopped {
                supervisor.stop(soon());
                assert!(!supervisor.is_active());
            }
            drop(supervisor);
            before.assert_back(soon());
        }
    });
}
