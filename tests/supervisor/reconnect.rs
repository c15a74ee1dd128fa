//! Lost connections: what is kept, what is reported, and how the supervisor continues.

use std::sync::Arc;
use std::time::Duration;

use cdpilot::browser::TransportKind;
use cdpilot::cdp::ConnectOptions;
use cdpilot::supervisor::{
    ClosedBy, Error, EventKind, FrameRef, Fulfilment, PageState, Pages, Phase, Reconnect, RouteAction, RouteRule,
    Supervisor, SupervisorOptions, View,
};
use cdpilot::sync::{Deadline, spawn};
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, launch, soon, top_of, until};
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;
use crate::support::site::Site;

/// A browser behind a proxy, and a supervisor that comes through it.
struct Far {
    supervisor: Supervisor,
    proxy: Proxy,
    site: Site,
    lease: Lease,
}

impl Far {
    fn with(options: SupervisorOptions) -> Option<Self> {
        Self::connected(options, &ConnectOptions::default())
    }

    fn connected(mut options: SupervisorOptions, connect: &ConnectOptions) -> Option<Self> {
        let lease = Lease::take_empty()?;
        let proxy = Proxy::of(lease.url());
        options.start_timeout = soon().left();
        let supervisor = Supervisor::attach(&proxy.url(), connect, options).unwrap();
        let site = Site::start();
        site.page("/", "<title>far away</title>");
        Some(Self { supervisor, proxy, site, lease })
    }

    fn new(name: &str) -> Option<Self> {
        Self::with(SupervisorOptions::task(name))
    }

    fn go(&self) {
        self.supervisor.navigate(&FrameRef::Top, &self.site.url("a", "/"), soon()).unwrap();
        let loaded = "document.readyState === 'complete' || new Promise(done => addEventListener('load', done))";
        self.supervisor.evaluate(&FrameRef::Top, loaded, soon()).unwrap();
    }

    fn back(&self, generation: u64) -> std::sync::Arc<View> {
        until(&self.supervisor, "another connection", |now| now.is_active() && now.generation == generation)
    }

    fn end(self) {
        self.supervisor.stop(soon());
        drop(self.proxy);
    }
}

fn eval_value(supervisor: &Supervisor, script: &str) -> serde_json::Value {
    supervisor.evaluate(&FrameRef::Top, script, soon()).unwrap().result.value
}

#[test]
fn reconnecting_restores_the_view() {
    let Some(far) = Far::new("again") else { return };
    let supervisor = &far.supervisor;
    let frames = format!("<iframe src='{}'></iframe><iframe name=local></iframe>", far.site.url("b", "/"));
    far.site.page("/frames", &frames);
    supervisor.navigate(&FrameRef::Top, &far.site.url("a", "/frames"), soon()).unwrap();
    eval_value(supervisor, "console.log('remembered'); window.kept = 41");
    let all = |now: &View| now.frames.len() == 3 && now.frames.iter().all(|f| f.session_id.is_some());
    let before = until(supervisor, "three frames", all);
    until(supervisor, "the console", |now| !now.console.is_empty());

    for round in 2..=3 {
        far.proxy.cut();
        let after = far.back(round);
        let after = if all(&after) { after } else { until(supervisor, "three frames again", all) };
        let ids = |now: &View| {
            let mut ids: Vec<String> = now.frames.iter().map(|f| f.frame_id.to_string()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&before), ids(&after));
        assert_eq!(before.pages[0].target_id, after.pages[0].target_id);
        assert!(after.pages[0].own, "it is still ours to close");
        assert_eq!(&*after.console[0].text, "remembered");
        assert_eq!(eval_value(supervisor, "kept"), 41, "the page has not noticed");
        for frame in after.frames.iter() {
            let id = FrameRef::Id(frame.frame_id.clone());
            assert_eq!(supervisor.evaluate(&id, "1 + 1", soon()).unwrap().value, 2);
        }
        supervisor.start_script(&FrameRef::Top, "window.said = confirm('still there?')").unwrap();
        until(supervisor, "a dialog", |now| !now.dialogs.is_empty());
        let closed = supervisor.respond(None, ACCEPT, soon()).unwrap();
        assert_eq!(eval_value(supervisor, "said"), true, "{closed:?}");
    }
    let kinds: Vec<EventKind> = supervisor.log().since(0, 1000).entries.iter().map(|e| e.kind()).collect();
    let response = |kind| kinds.iter().filter(|k| **k == kind).count();
    assert_eq!(
        (response(EventKind::Disconnected), response(EventKind::Reconnected), response(EventKind::TabOpened)),
        (2, 2, 1)
    );
    let target = supervisor.view().pages[0].target_id.clone();
    far.end();
    let _ = target;
}

#[test]
fn calls_wait_for_a_reconnect_and_those_under_way_fail() {
    let Some(far) = Far::new("calls") else { return };
    far.go();
    far.proxy.refuse(true);
    let pending = |far: &Far| {
        let supervisor = &far.supervisor;
        std::thread::scope(|scope| {
            let script = "console.log('under way'); new Promise(() => 0)";
            let call = scope.spawn(move || supervisor.evaluate(&FrameRef::Top, script, soon()));
            // The title is reported a moment after the load.
            let is_titled = |now: &View| now.pages.first().is_some_and(|page| &*page.title == "far away");
            until(supervisor, "it is under way", |now| !now.console.is_empty() && is_titled(now));
            far.proxy.cut();
            call.join().unwrap()
        })
    };
    let failed = pending(&far).unwrap_err();
    assert!(matches!(&failed, Error::Cdp(error) if error.is_closed()), "{failed}");
    // No connection to be had: an answer by the deadline.
    until(&far.supervisor, "it knows", |now| matches!(now.phase, Phase::Reconnecting(_)));
    let refused = far.supervisor.evaluate(&FrameRef::Top, "1", Deadline::after_millis(50)).unwrap_err();
    assert!(matches!(refused, Error::Reconnecting { .. }), "{refused}");
    let refused = far.supervisor.open_page("about:blank", None, Deadline::after_millis(50)).unwrap_err();
    assert!(matches!(refused, Error::Reconnecting { .. }), "{refused}");
    let refused = far.supervisor.respond(None, ACCEPT, soon()).unwrap_err();
    assert!(matches!(refused, Error::Reconnecting { .. }), "{refused}");
    // Known data is available meanwhile.
    let now = far.supervisor.view();
    assert_eq!((now.pages.len(), &*now.pages[0].title), (1, "far away"));
    assert_eq!(now.pages[0].state, PageState::Detached);
    far.proxy.refuse(false);
    assert_eq!(eval_value(&far.supervisor, "document.title"), "far away");
    far.end();
}

#[test]
fn a_page_that_crashed_before_a_reconnect_is_attached_when_it_is_back() {
    let Some(far) = Far::new("crashed") else { return };
    let supervisor = &far.supervisor;
    let crash = || {
        let session = top_of(&supervisor.view()).and_then(|top| top.session_id.clone()).unwrap();
        drop(supervisor.connection().session(session).send_raw("Page.crash", &json!({})).unwrap());
        until(supervisor, "the crash", |now| now.pages[0].state == PageState::Crashed);
    };
    let has_session = |now: &View| top_of(now).is_some_and(|top| top.session_id.is_some());
    let is_back = |now: &View| now.pages[0].state == PageState::Ready && has_session(now);
    // Loaded again after the reconnect.
    far.go();
    crash();
    far.proxy.cut();
    far.back(2);
    supervisor.reload(&FrameRef::Top, soon()).unwrap();
    let top = until(supervisor, "the page", is_back).pages[0].top_frame.clone().unwrap();
    let title = supervisor.evaluate(&FrameRef::Id(top), "document.title", soon()).unwrap();
    assert_eq!(title.result.value, "far away");
    // Loaded again by another program before the reconnect.
    crash();
    far.proxy.refuse(true);
    far.proxy.cut();
    until(supervisor, "it knows", |now| matches!(now.phase, Phase::Reconnecting(_)));
    let other = Task::second(far.lease.url(), "other", Pages::All);
    let page = FrameRef::TopOf(supervisor.view().pages[0].target_id.clone());
    other.reload(&page, soon()).unwrap();
    far.proxy.refuse(false);
    far.back(3);
    until(supervisor, "the page again", is_back);
    assert_eq!(eval_value(supervisor, "document.title"), "far away");
    other.stop(soon());
    far.end();
}

#[test]
fn a_dialog_lost_by_a_reconnect_leaves_its_page_usable() {
    let Some(far) = Far::new("lost") else { return };
    for way in ["navigate", "reload", "close"] {
        let generation = far.supervisor.view().generation;
        let target = far.supervisor.open_page("about:blank", None, soon()).unwrap();
        let page = FrameRef::TopOf(target.clone());
        far.supervisor.navigate(&page, &far.site.url("a", "/"), soon()).unwrap();
        far.supervisor.evaluate(&page, "window.mark = 1", soon()).unwrap();
        far.supervisor.start_script(&page, "confirm('who will answer?')").unwrap();
        let dialog = until(&far.supervisor, "a dialog", |now| !now.dialogs.is_empty()).dialogs[0].clone();
        far.proxy.cut();
        let now = far.back(generation + 1);
        assert!(now.dialogs.is_empty());
        let closed = now.recent.last().unwrap();
        assert_eq!((closed.closed_by, &closed.dialog.id), (ClosedBy::Lost, &dialog.id));
        let known = now.page(target.as_str()).unwrap();
        assert_eq!((known.state, known.lost_dialog.as_ref()), (PageState::Wedged, Some(&dialog.id)));
        let refused = far.supervisor.evaluate(&page, "1", soon()).unwrap_err();
        assert!(matches!(&refused, Error::Wedged { dialog: lost, .. } if **lost == *dialog.id), "{refused}");
        for word in ["navigate", "reload", "close"] {
            assert!(refused.to_string().contains(word), "{refused}");
        }
        // Other pages work; cookies and history of this one are available.
        assert_eq!(eval_value(&far.supervisor, "2 * 3"), 6);
        far.supervisor.cookies(&page, &[], soon()).unwrap();
        let history = far.supervisor.history(&page, soon()).unwrap();
        assert_eq!(history.entries[history.current].url, far.site.url("a", "/"));
        match way {
            "navigate" => drop(far.supervisor.navigate(&page, &far.site.url("a", "/?2"), soon()).unwrap()),
            "reload" => drop(far.supervisor.reload(&page, soon()).unwrap()),
            _ => far.supervisor.close_page(&target, soon()).unwrap(),
        }
        if way != "close" {
            until(&far.supervisor, "it works again", |now| {
                now.page(target.as_str()).is_some_and(|page| page.state == PageState::Ready)
            });
            let got = far.supervisor.evaluate(&page, "typeof mark", soon()).unwrap();
            assert_eq!(got.value, "undefined", "another document");
            far.supervisor.close_page(&target, soon()).unwrap();
        }
        let records = far.supervisor.log().since(0, 10_000).entries;
        let closed = records.iter().filter(|e| {
            e.kind() == EventKind::DialogClosed && serde_json::to_string(&*e.event).unwrap().contains(&*dialog.id)
        });
        assert_eq!(closed.count(), 1, "one record for each dialog");
    }
    far.end();
}

#[test]
fn a_silent_connection_is_replaced() {
    let keepalive = Some(Duration::from_millis(300));
    let connect = ConnectOptions::new().keepalive(keepalive);
    let Some(far) = Far::connected(SupervisorOptions::task("silent"), &connect) else { return };
    far.go();
    far.proxy.silence(true);
    let late = far.supervisor.evaluate(&FrameRef::Top, "1", Deadline::after_millis(200)).unwrap_err();
    assert!(late.is_unresponsive(), "{late}");
    until(&far.supervisor, "it notices", |now| matches!(now.phase, Phase::Reconnecting(_)));
    far.proxy.cut();
    far.proxy.silence(false);
    assert_eq!(eval_value(&far.supervisor, "document.title"), "far away");
    far.end();
}

#[test]
fn pages_opened_and_closed_during_a_reconnect_are_synchronised() {
    let options = SupervisorOptions::task("meanwhile").pages(Pages::All);
    let Some(far) = Far::with(options) else { return };
    let gone = far.supervisor.open_page("about:blank#gone", None, soon()).unwrap();
    let other = far.lease.connect();
    let other = other.connection();
    far.proxy.refuse(true);
    far.proxy.cut();
    until(&far.supervisor, "it knows", |now| matches!(now.phase, Phase::Reconnecting(_)));
    other.call_raw("Target.closeTarget", &json!({ "targetId": gone }), soon()).unwrap();
    other.call_raw("Target.createTarget", &json!({ "url": "about:blank#new" }), soon()).unwrap();
    far.proxy.refuse(false);
    let now = far.back(2);
    assert!(now.page(gone.as_str()).is_none(), "it is gone");
    until(&far.supervisor, "the new one", |now| now.pages.iter().any(|page| page.url.ends_with("#new")));
    far.end();
}

#[test]
fn reconnecting_ends_after_the_last_try_with_one_event() {
    let pauses = Duration::from_millis(10);
    let reconnect = Reconnect::default().tries(3).pauses(pauses, pauses);
    let options = SupervisorOptions::task("giving-up").reconnect(reconnect);
    let Some(far) = Far::with(options) else { return };
    far.proxy.refuse(true);
    far.proxy.cut();
    let log = far.supervisor.log();
    while !log.has_ended() {
        let _ = log.wait_since(log.last(), 1, soon());
    }
    let now = far.supervisor.view();
    let Phase::Ended(reason) = &now.phase else { panic!("{:?}", now.phase) };
    assert!(reason.contains("lost"), "{reason}");
    let refused = far.supervisor.evaluate(&FrameRef::Top, "1", soon()).unwrap_err();
    assert!(matches!(refused, Error::NotActive { .. }), "{refused}");
    far.end();
}

#[test]
fn stopping_between_reconnect_tries_is_immediate() {
    let hour = Duration::from_secs(3600);
    let reconnect = Reconnect::default().pauses(hour, hour);
    let options = SupervisorOptions::task("stopped").reconnect(reconnect);
    let Some(far) = Far::with(options) else { return };
    far.proxy.refuse(true);
    far.proxy.cut();
    until(&far.supervisor, "it knows", |now| matches!(now.phase, Phase::Reconnecting(_)));
    let (done, stopped) = crossbeam_channel::bounded(1);
    let supervisor = far.supervisor;
    let thread = spawn("test-stop", move || {
        supervisor.stop(soon());
        done.send(()).unwrap();
    })
    .unwrap();
    stopped.recv_deadline(soon().instant()).expect("it hangs");
    drop((thread, far.proxy));
}

#[test]
fn a_launched_browser_that_ended_is_not_reconnected() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let hour = Duration::from_secs(3600);
    let reconnect = Reconnect::default().pauses(hour, hour);
    let options = SupervisorOptions::task("its-end").reconnect(reconnect).start_timeout(soon().left());
    let supervisor = Supervisor::start(browser, options).unwrap();
    drop(supervisor.connection().send_raw("Browser.close", &json!({})));
    let log = supervisor.log();
    let deadline = soon();
    while !log.has_ended() && !deadline.passed() {
        let _ = log.wait_since(log.last(), 1, deadline);
    }
    assert!(matches!(supervisor.view().phase, Phase::Ended(_)), "{:?}", supervisor.view().phase);
}

#[test]
fn routes_survive_a_reconnect() {
    let Some(far) = Far::new("routes-again") else { return };
    far.go();
    let made = Fulfilment::new(200, Vec::new(), "made up");
    far.supervisor.add_route(RouteRule::new("/made", RouteAction::Fulfil(Arc::new(made))), soon()).unwrap();
    let fetched = "fetch('/made').then(r => r.text())";
    assert_eq!(eval_value(&far.supervisor, fetched), "made up");
    far.proxy.cut();
    far.back(2);
    assert_eq!(eval_value(&far.supervisor, fetched), "made up");
    assert_eq!(far.supervisor.routes(soon()).unwrap()[0].hits, 2);
    far.end();
}
