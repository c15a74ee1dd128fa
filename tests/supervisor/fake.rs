//! Rare orders of frame events, with a fake browser.

use std::time::{Duration, Instant};

use cdpilot::supervisor::{Error, EventKind, Frame, FrameRef, PageState, Pages, SupervisorOptions, View};
use serde_json::{Value, json};

use crate::support::chrome::{soon, until};
use crate::support::fake_cdp::{Action, Fake, Gate};
use crate::support::fake_pages::{
    PAGE, SESSION, attached, browser, folded, frame, supervise, supervise_with, tell, tree,
};

/// A frame of the page appears in its process.
fn frame_attached(fake: &Fake, id: &str, parent: &str) {
    tell(fake, "Page.frameAttached", json!({ "frameId": id, "parentFrameId": parent }));
}

/// A frame of the page shows a document.
fn navigated(fake: &Fake, session: &str, id: &str, parent: Option<&str>, path: &str) {
    fake.emit(Some(session), "Page.frameNavigated", json!({ "frame": frame(id, parent, path), "type": "Navigation" }));
}

/// A frame gets its own process.
fn own_process(fake: &Fake, session: &str, id: &str, parent: &str) {
    let path = format!("/{id}");
    fake.on("Page.getFrameTree").in_session(session).reply(tree(&frame(id, Some(parent), &path), &[]));
    tell(fake, "Target.attachedToTarget", attached(session, id, "iframe", Some(parent)));
}

fn target_detached(fake: &Fake, session: &str, id: &str) {
    tell(fake, "Target.detachedFromTarget", json!({ "sessionId": session, "targetId": id }));
}

fn frame_detached(fake: &Fake, id: &str, reason: &str) {
    tell(fake, "Page.frameDetached", json!({ "frameId": id, "reason": reason }));
}

fn get<'a>(now: &'a View, id: &str) -> Option<&'a Frame> {
    now.frame(id)
}

#[test]
fn attaching_pipelines_all_commands_and_resumes_last() {
    let fake = browser();
    let supervisor = supervise(&fake);
    // The page is ready before the last message has arrived here.
    fake.wait("the resumption", |log| {
        log.requests.iter().any(|request| request.method == "Runtime.runIfWaitingForDebugger")
    });
    let sent = fake.log(|log| {
        let here = log.requests.iter().filter(|request| request.session.as_deref() == Some(SESSION));
        here.map(|request| request.method.clone()).collect::<Vec<_>>()
    });
    let expected = [
        "Page.enable",
        "Runtime.enable",
        "Target.setAutoAttach",
        "Page.getFrameTree",
        "Runtime.runIfWaitingForDebugger",
    ];
    assert_eq!(sent[..5], expected);
    let now = supervisor.view();
    assert_eq!((now.pages[0].target_id.as_str(), now.pages[0].state), (PAGE, PageState::Ready));
    assert_eq!(&*get(&now, PAGE).unwrap().url, "http://fake.test/");
}

#[test]
fn a_call_to_a_page_of_a_browser_that_is_ending_is_told_so() {
    let fake = browser();
    let supervisor = supervise(&fake);
    fake.emit(None, "Target.detachedFromTarget", json!({ "sessionId": SESSION, "targetId": PAGE }));
    until(&supervisor, "no page", |now| now.pages.is_empty());
    std::thread::scope(|scope| {
        scope.spawn(|| supervisor.stop(soon()));
        let began = Instant::now();
        let ended = supervisor.evaluate(&FrameRef::Id(PAGE.into()), "1", soon()).unwrap_err();
        // It waits a second for the end.
        assert!(matches!(ended, Error::NotActive { .. }) || began.elapsed() >= Duration::from_secs(1), "{ended}");
    });
}

#[test]
fn an_unanswered_attach_delays_nothing() {
    let fake = browser();
    let gate = Gate::default();
    fake.on("Page.enable").in_session("S2").late(&gate).reply(json!({}));
    fake.on("Page.getFrameTree").in_session("S2").reply(tree(&frame("P2", None, "/second"), &[]));
    fake.on("Target.setAutoAttach").times(1).with(|_| {
        let second = Action::event("Target.attachedToTarget", attached("S2", "P2", "page", None));
        let first = Action::event("Target.attachedToTarget", attached(SESSION, PAGE, "page", None));
        vec![second, first, Action::Reply(json!({}))]
    });
    let began = Instant::now();
    let supervisor = supervise_with(&fake, SupervisorOptions::task("stuck").pages(Pages::All));
    assert!(began.elapsed() >= Duration::from_secs(5) && began.elapsed() < crate::support::LIMIT);
    let state = |now: &View, page: &str| now.page(page).map(|page| page.state);
    let now = supervisor.view();
    assert_eq!((state(&now, "P2"), state(&now, PAGE)), (Some(PageState::Unresponsive), Some(PageState::Ready)));
    // Its dialogs are reported nevertheless.
    let dialog = crate::support::fake_pages::opening("P2", "alert", "why it hangs");
    fake.emit(Some("S2"), "Page.javascriptDialogOpening", dialog);
    until(&supervisor, "the dialog", |now| now.dialogs.len() == 1);
    gate.open();
    until(&supervisor, "it answers", |now| state(now, "P2") == Some(PageState::Ready));
    assert_eq!(
        supervisor.log().since(0, 100).entries.iter().filter(|e| e.kind() == EventKind::Responsiveness).count(),
        2
    );
}

#[test]
fn an_old_frame_tree_does_not_override_newer_events() {
    // The tree is requested, a frame navigates, and both are queued for the supervisor at the same time.
    for round in 0..20 {
        let fake = browser();
        fake.on("Page.getFrameTree").in_session(SESSION).with(|request| {
            let old = tree(&frame(PAGE, None, "/old"), &[frame("F", Some(PAGE), "/gone")]);
            let event = |method: &str, params: Value| Action::event_in(SESSION, method, params);
            vec![
                Action::Text(request.answer(&old)),
                event("Page.frameDetached", json!({ "frameId": "F", "reason": "remove" })),
                event("Page.frameNavigated", json!({ "frame": frame(PAGE, None, "/new"), "type": "Navigation" })),
                event("Page.frameAttached", json!({ "frameId": "G", "parentFrameId": PAGE })),
            ]
        });
        let supervisor = supervise(&fake);
        let now = until(&supervisor, "the new frame", |now| get(now, "G").is_some());
        assert!(get(&now, "F").is_none(), "{round}");
        let now = folded(&fake, &supervisor);
        assert_eq!((now.frames.len(), &*now.frames[0].origin), (2, "http://fake.test"), "{round}");
        assert_eq!(&*supervisor.view().frames[0].url, &*now.pages[0].url, "{round}");
    }
}

#[test]
fn a_child_frame_may_be_reported_before_its_parent() {
    let fake = browser();
    let supervisor = supervise(&fake);
    own_process(&fake, "S2", "CHILD", "PARENT");
    frame_attached(&fake, "PARENT", PAGE);
    navigated(&fake, SESSION, "PARENT", Some(PAGE), "/parent");
    until(&supervisor, "the child's address", |now| get(now, "CHILD").is_some_and(|f| f.url.ends_with("/CHILD")));
    let now = folded(&fake, &supervisor);
    let tree = now.frame_tree(PAGE);
    let ids: Vec<&str> = tree.children.iter().map(|frame| frame.frame_id.as_str()).collect();
    assert_eq!((ids, tree.truncated), (vec!["PARENT", "CHILD"], false));
    assert_eq!(tree.top.unwrap().frame_id.as_str(), PAGE);
}

#[test]
fn a_frame_is_removed_in_either_order_of_events() {
    for target_first in [true, false] {
        let fake = browser();
        let supervisor = supervise(&fake);
        frame_attached(&fake, "F", PAGE);
        own_process(&fake, "S2", "F", PAGE);
        until(&supervisor, "its process", |now| get(now, "F").is_some_and(|frame| frame.is_oopif));
        if target_first {
            target_detached(&fake, "S2", "F");
            frame_detached(&fake, "F", "remove");
        } else {
            frame_detached(&fake, "F", "remove");
            target_detached(&fake, "S2", "F");
        }
        let now = folded(&fake, &supervisor);
        assert!(get(&now, "F").is_none(), "target first: {target_first}");
    }
}

#[test]
fn a_late_frame_tree_of_a_removed_frame_does_not_restore_it() {
    let fake = browser();
    fake.on("Page.getFrameTree").in_session("S2").with(|request| {
        vec![
            Action::event_in(SESSION, "Page.frameDetached", json!({ "frameId": "F", "reason": "remove" })),
            Action::Text(request.answer(&tree(&frame("F", Some(PAGE), "/F"), &[]))),
            Action::event_in(SESSION, "Target.detachedFromTarget", json!({ "sessionId": "S2", "targetId": "F" })),
            Action::event_in(SESSION, "Page.frameAttached", json!({ "frameId": "G", "parentFrameId": PAGE })),
        ]
    });
    let supervisor = supervise(&fake);
    frame_attached(&fake, "F", PAGE);
    tell(&fake, "Target.attachedToTarget", attached("S2", "F", "iframe", Some(PAGE)));
    let now = until(&supervisor, "the next frame", |now| get(now, "G").is_some());
    assert!(get(&now, "F").is_none(), "{now:#?}");
}

#[test]
fn a_frame_that_changes_process_stays() {
    for reason in ["swap", "remove"] {
        let fake = browser();
        let supervisor = supervise(&fake);
        frame_attached(&fake, "F", PAGE);
        own_process(&fake, "S2", "F", PAGE);
        until(&supervisor, "its tree", |now| get(now, "F").is_some_and(|frame| frame.url.ends_with("/F")));
        frame_detached(&fake, "F", reason); // some proxies say `remove` of a frame that moved
        let now = folded(&fake, &supervisor);
        let moved = get(&now, "F").expect(reason);
        assert_eq!((moved.session_id.as_deref(), moved.is_oopif), (Some("S2"), true), "{reason}");
        // And back: its target is detached and the parent's process reports it again.
        target_detached(&fake, "S2", "F");
        frame_attached(&fake, "F", PAGE);
        let now = folded(&fake, &supervisor);
        let back = get(&now, "F").unwrap();
        assert_eq!((back.session_id.as_deref(), back.is_oopif), (Some(SESSION), false), "{reason}");
        navigated(&fake, SESSION, "F", Some(PAGE), "/back");
        let now = folded(&fake, &supervisor);
        let back = get(&now, "F").unwrap();
        assert_eq!((back.session_id.as_deref(), back.is_oopif), (Some(SESSION), false), "{reason}");
        assert!(back.url.ends_with("/back"));
    }
}

#[test]
fn a_frame_without_session_for_a_moment_is_kept() {
    let fake = browser();
    let supervisor = supervise(&fake);
    frame_attached(&fake, "F", PAGE);
    own_process(&fake, "S2", "F", PAGE);
    frame_detached(&fake, "F", "swap");
    target_detached(&fake, "S2", "F");
    let now = folded(&fake, &supervisor);
    assert_eq!(get(&now, "F").expect("kept").session_id, None);
    let error = supervisor.evaluate(&FrameRef::Id("F".into()), "1", soon()).unwrap_err();
    assert!(error.to_string().contains("is detached"), "{error}");
    own_process(&fake, "S3", "F", PAGE);
    let now = until(&supervisor, "it is back", |now| get(now, "F").is_some_and(|frame| frame.session_id.is_some()));
    let back = get(&now, "F").unwrap();
    assert_eq!(
        (back.session_id.as_deref(), back.is_oopif, back.parent_frame_id.as_ref().map(|id| id.as_str())),
        (Some("S3"), true, Some(PAGE))
    );
    assert_eq!(now.frames.len(), 2);
}

#[test]
fn a_second_attach_to_the_same_page_changes_nothing() {
    let fake = browser();
    let supervisor = supervise(&fake);
    fake.emit(None, "Target.attachedToTarget", attached("S9", PAGE, "page", None));
    let now = folded(&fake, &supervisor);
    assert_eq!((now.pages.len(), get(&now, PAGE).unwrap().session_id.as_deref()), (1, Some(SESSION)));
}

#[test]
fn unknown_messages_are_ignored() {
    let fake = browser();
    let supervisor = supervise(&fake);
    fake.garbage();
    for (session, method, params) in [
        (Some(SESSION), "Future.somethingHappened", json!({ "any": ["thing"] })),
        (Some(SESSION), "Page.frameAttached", json!({})),
        (Some(SESSION), "Page.frameAttached", json!({ "frameId": 7 })),
        (Some(SESSION), "Page.frameNavigated", json!({ "frame": "text" })),
        (Some(SESSION), "Page.javascriptDialogOpening", json!({ "message": 1 })),
        (Some(SESSION), "Page.frameDetached", json!({ "frameId": "never heard of", "reason": "a new one" })),
        (Some(SESSION), "Target.detachedFromTarget", json!({ "sessionId": "never heard of" })),
        (Some("unknown"), "Page.frameAttached", json!({ "frameId": "X", "parentFrameId": PAGE })),
        (Some("unknown"), "Inspector.targetCrashed", json!({})),
        (None, "Page.frameAttached", json!({ "frameId": "X", "parentFrameId": PAGE })),
        (None, "Target.attachedToTarget", json!([])),
        (Some(SESSION), "Target.attachedToTarget", attached("S8", "T8", "a_new_kind", None)),
    ] {
        fake.emit(session, method, params);
    }
    let now = folded(&fake, &supervisor);
    assert_eq!((now.frames.len(), now.pages.len(), now.dialogs.len()), (1, 1, 0));
    // A target of an unknown kind is let run.
    fake.wait("the resume", |log| {
        log.of("Runtime.runIfWaitingForDebugger").iter().any(|request| request.session.as_deref() == Some("S8"))
    });
}

#[test]
fn lost_events_cause_a_resync() {
    let fake = browser();
    let supervisor = supervise(&fake);
    frame_attached(&fake, "OLD", PAGE);
    own_process(&fake, "S2", "DEAD", PAGE);
    own_process(&fake, "S3", "BACK", PAGE);
    // Each change of many frames takes a while: the browser reports more than the supervisor observes.
    let many = 3_000;
    (0..many).for_each(|number| frame_attached(&fake, &format!("F{number}"), PAGE));
    until(&supervisor, "all frames", |now| now.frames.len() == 4 + many);
    // From now on the browser knows another frame, and two sessions less; the frame of one of them has
    // moved into the page's process.
    let now = [frame("NEW", Some(PAGE), "/new"), frame("BACK", Some(PAGE), "/back")];
    fake.on("Page.getFrameTree").in_session(SESSION).reply(tree(&frame(PAGE, None, "/now"), &now));
    for session in ["S2", "S3"] {
        fake.on("Page.getFrameTree").in_session(session).error(-32001, "Session with given id not found.");
    }
    let event = json!({
        "method": "Page.navigatedWithinDocument", "sessionId": SESSION,
        "params": { "frameId": "OLD", "url": "http://fake.test/old#x", "navigationType": "fragment" }
    });
    let event = event.to_string();
    // The log keeps only the newest entries: the resync is detected by the frame that it adds.
    let mut floods = 0;
    while get(&supervisor.view(), "NEW").is_none() {
        floods += 1;
        assert!(floods < 100, "the queue holds everything");
        for _ in 0..20_000 {
            fake.send_text(&event);
        }
    }
    let now = until(&supervisor, "the state as it is", |now| {
        let back = get(now, "BACK").is_some_and(|frame| frame.session_id.as_deref() == Some(SESSION));
        get(now, "NEW").is_some() && get(now, "DEAD").is_none() && back
    });
    assert!(get(&now, "OLD").is_none() && now.frames.len() == 3);
    assert!(supervisor.is_active(), "after {floods} floods");
}
