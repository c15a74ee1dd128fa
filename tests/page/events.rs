//! Protocol events of a page for embedders: over reconnects and process swaps, bounded, with losses reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cdpilot::cdp::{Capacity, ConnectOptions, RecvError};
use cdpilot::supervisor::{
    Error, EventFilter, PageEvent, PageEvents, Pages, Reconnect, Supervisor, SupervisorOptions, TargetId,
};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{Task, soon, until};
use crate::support::fake_cdp::{Action, Fake, Request};
use crate::support::fake_pages::{PAGE, SESSION, attached, browser, folded, frame, supervise, tell, tree};

const LOADED: &str = "Page.loadEventFired";

fn page() -> TargetId {
    PAGE.into()
}

fn loaded(fake: &Fake, session: &str, number: u32) {
    fake.emit(Some(session), LOADED, json!({ "timestamp": number }));
}

/// The next event: its generation and number; or how many were lost.
fn next(events: &PageEvents) -> Result<(u64, u64), u64> {
    match events.next(soon()).unwrap() {
        PageEvent::Event { generation, event } => {
            let params: serde_json::Value = serde_json::from_slice(event.params()).unwrap();
            Ok((generation, params["timestamp"].as_u64().unwrap()))
        }
        PageEvent::Lost { count } => Err(count),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_subscriber_receives_only_events_of_its_page() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let events = supervisor.subscribe(&page(), EventFilter::methods(&[LOADED]), soon()).unwrap();
    fake.on("Page.getFrameTree").in_session("F1").reply(tree(&frame("F", Some(PAGE), "/frame"), &[]));
    tell(&fake, "Target.attachedToTarget", attached("F1", "F", "iframe", Some(PAGE)));
    loaded(&fake, SESSION, 1);
    loaded(&fake, "another page", 2);
    loaded(&fake, "F1", 3);
    tell(&fake, "Page.domContentEventFired", json!({ "timestamp": 4 }));
    // The last event of a session comes in although the session is gone.
    loaded(&fake, "F1", 5);
    tell(&fake, "Target.detachedFromTarget", json!({ "sessionId": "F1", "targetId": "F" }));
    loaded(&fake, SESSION, 6);
    assert_eq!(
        [next(&events), next(&events), next(&events), next(&events)],
        [Ok((1, 1)), Ok((1, 3)), Ok((1, 5)), Ok((1, 6))]
    );
    folded(&fake, &supervisor);
    supervisor.caught_up(soon()).unwrap();
    assert_eq!(events.try_next().unwrap_err(), RecvError::Timeout);
    let error = supervisor.subscribe(&"X".into(), EventFilter::methods(&[LOADED]), soon()).unwrap_err();
    assert!(matches!(error, Error::PageNotFound { .. }), "{error}");
}

#[test]
fn a_full_queue_reports_the_loss() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let filter = EventFilter::methods(&[LOADED]).capacity(Capacity::of(3));
    let events = supervisor.subscribe(&page(), filter, soon()).unwrap();
    for number in 0..10 {
        loaded(&fake, SESSION, number);
    }
    folded(&fake, &supervisor);
    supervisor.caught_up(soon()).unwrap();
    assert_eq!(next(&events), Err(7));
    assert_eq!([next(&events), next(&events), next(&events)], [Ok((1, 7)), Ok((1, 8)), Ok((1, 9))]);
    loaded(&fake, SESSION, 10);
    assert_eq!(next(&events), Ok((1, 10)), "what is lost is told once");
}

#[test]
fn a_subscription_ends_with_its_page_or_supervisor() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let filter = || EventFilter::methods(&[LOADED]);
    let first = supervisor.subscribe(&page(), filter(), soon()).unwrap();
    loaded(&fake, SESSION, 1);
    supervisor.close_page(&page(), soon()).unwrap();
    assert_eq!(next(&first), Ok((1, 1)));
    assert_eq!(first.next(soon()).unwrap_err(), RecvError::Closed);

    let fake = browser();
    let supervisor = supervise(&fake);
    let second = supervisor.subscribe(&page(), filter(), soon()).unwrap();
    assert_eq!(second.next(Deadline::after_millis(1)).unwrap_err(), RecvError::Timeout);
    drop(supervisor);
    assert_eq!(second.next(soon()).unwrap_err(), RecvError::Closed);
}

#[test]
fn a_subscription_survives_a_reconnect() {
    let fake = Fake::start();
    fake.on("Browser.getVersion").reply(json!({
        "product": "Fake/1", "protocolVersion": "1.3", "revision": "r", "userAgent": "u", "jsVersion": "1"
    }));
    let round = Arc::new(AtomicUsize::new(0));
    fake.on("Target.setAutoAttach").with(move |request: &Request| {
        if request.session.is_some() {
            return vec![Action::Reply(json!({}))];
        }
        let session = format!("S{}", round.fetch_add(1, Ordering::Relaxed) + 1);
        vec![Action::event("Target.attachedToTarget", attached(&session, PAGE, "page", None)), Action::Reply(json!({}))]
    });
    fake.on("Page.getFrameTree").reply(tree(&frame(PAGE, None, "/"), &[]));
    fake.on("Target.getTargetInfo").reply(json!({ "targetInfo": attached("", PAGE, "page", None)["targetInfo"] }));
    let mut options = SupervisorOptions::task("events-again");
    options.pages = Pages::All;
    options.start_timeout = soon().left();
    options.reconnect = Reconnect::default();
    let supervisor = Supervisor::attach(&fake.address(), &ConnectOptions::default(), options).unwrap();
    until(&supervisor, "the page", |now| now.pages.len() == 1);
    let events = supervisor.subscribe(&page(), EventFilter::methods(&[LOADED]), soon()).unwrap();
    loaded(&fake, "S1", 1);
    assert_eq!(next(&events), Ok((1, 1)));
    fake.cut();
    until(&supervisor, "another connection", |now| now.generation == 2 && now.is_active());
    loaded(&fake, "S1", 2); // a session of the first connection means nothing here
    loaded(&fake, "S2", 3);
    assert_eq!(next(&events), Ok((2, 3)));
}

#[test]
fn a_frame_that_changes_process_stays_in_the_subscription() {
    let Some(task) = Task::leased("events-swap") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    let target = task.view().pages[0].target_id.clone();
    let events = task.subscribe(&target, EventFilter::methods(&["Page.frameNavigated"]), soon()).unwrap();
    let navigate = |host: &str| {
        let top = cdpilot::supervisor::FrameRef::TopOf(target.clone());
        task.navigate(&top, &task.site.url(host, "/"), soon()).unwrap();
    };
    navigate("a");
    navigate("c");
    let wanted = [task.site.url("a", "/"), task.site.url("c", "/"), task.site.url("b", "/inner")];
    let mut seen = Vec::new();
    while !wanted.iter().all(|url| seen.contains(url)) {
        let PageEvent::Event { event, .. } = events.next(soon()).unwrap() else { panic!("lost") };
        let params: serde_json::Value = serde_json::from_slice(event.params()).unwrap();
        seen.push(params["frame"]["url"].as_str().unwrap().to_owned());
    }
}
