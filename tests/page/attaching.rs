//! Pages whose frame tree is not known yet.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cdpilot::page::Tabs;
use cdpilot::supervisor::{PageState, PageView};
use cdpilot::sync::pause;
use serde_json::json;

use crate::support::chrome::{soon, until};
use crate::support::fake_cdp::{Action, Gate, Log};
use crate::support::fake_pages::{PAGE, attached, browser, frame, supervise, tree};

#[test]
fn a_call_on_a_page_that_is_being_attached_waits_for_its_frame_tree() {
    let fake = browser();
    let gate = Gate::default();
    let late = gate.clone();
    fake.on("Page.getFrameTree")
        .in_session("S2")
        .with(move |_| vec![Action::Late(late.clone(), vec![Action::Reply(tree(&frame("P2", None, "/"), &[]))])]);
    fake.on("Runtime.evaluate").reply(json!({ "result": { "type": "number", "value": 0 } }));
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    let mut popup = attached("S2", "P2", "page", None);
    popup["targetInfo"]["openerId"] = PAGE.into();
    fake.emit(None, "Target.attachedToTarget", popup);
    until(pages.supervisor(), "the popup", |now| now.page("P2").is_some());
    let tab = pages.tab(&"P2".into()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            pause(Duration::from_millis(200));
            gate.open();
        });
        let rescued = tab.responds(soon());
        assert!(rescued.is_ok(), "{rescued:?}");
    });
}

#[test]
fn a_page_that_crashes_while_it_is_attached_has_its_frames_once_it_is_back() {
    let fake = browser();
    fake.on("Page.getFrameTree").in_session("S2").never();
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    let mut popup = attached("S2", "P2", "page", None);
    popup["targetInfo"]["openerId"] = PAGE.into();
    fake.emit(None, "Target.attachedToTarget", popup);
    fake.wait("the attach", |log| asked_for_frames(log) == 1);
    fake.emit(Some("S2"), "Inspector.targetCrashed", json!({}));
    until(pages.supervisor(), "the crash", |now| now.page("P2").is_some_and(|page| page.state == PageState::Crashed));
    fake.on("Page.getFrameTree").in_session("S2").reply(tree(&frame("P2", None, "/"), &[]));
    fake.emit(Some("S2"), "Inspector.targetReloadedAfterCrash", json!({}));
    let back = |page: &PageView| page.state == PageState::Ready && page.top_frame.is_some();
    until(pages.supervisor(), "its frames", |now| now.page("P2").is_some_and(back));
    assert_eq!(fake.log(asked_for_frames), 2);
}

/// How often the frames of the popup were asked for.
fn asked_for_frames(log: &Log) -> usize {
    log.of("Page.getFrameTree").iter().filter(|asked| asked.session.as_deref() == Some("S2")).count()
}
