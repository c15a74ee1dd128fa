//! Pages whose frame tree is not known yet.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cdpilot::page::{SnapshotOptions, Tabs};
use cdpilot::supervisor::{PageState, PageView, Supervisor, SupervisorOptions};
use cdpilot::sync::pause;
use serde_json::json;

use crate::support::chrome::{soon, until};
use crate::support::fake_cdp::{Action, Fake, Gate, Log};
use crate::support::fake_pages::{
    PAGE, attached, browser, closing, frame, opening, supervise, supervise_with, tell, tree,
};

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
    open_popup(&fake);
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
fn a_page_that_crashes_while_it_is_attached_is_set_up_again_once_it_is_back() {
    let fake = browser();
    fake.on("Page.getFrameTree").in_session("S2").never();
    let options = SupervisorOptions::task("fake").network(true);
    let pages = Tabs::new(Arc::new(supervise_with(&fake, options)));
    open_popup(&fake);
    let resumed = |log: &Log| set_up_with(log).last().is_some_and(|last| last == RESUME);
    fake.wait("the attach", resumed);
    fake.emit(Some("S2"), "Inspector.targetCrashed", json!({}));
    until(pages.supervisor(), "the crash", |now| now.page("P2").is_some_and(|page| page.state == PageState::Crashed));
    let tab = pages.tab(&"P2".into()).unwrap();
    for error in
        [tab.evaluate("1", None, soon()).unwrap_err(), tab.snapshot(&SnapshotOptions::default(), soon()).unwrap_err()]
    {
        assert!(error.to_string().contains("crashed"), "{error}");
    }
    come_back(&fake, pages.supervisor());
    // The page is ready with the answer about its frames; the last command may arrive after that. A refusal that precedes the crash
    // event may have repeated the attach as well; of those commands, the connection sends `Target.setAutoAttach` only.
    let resumptions = |sent: &[String]| sent.iter().filter(|method| *method == RESUME).count();
    fake.wait("the end of the second attach", |log| resumptions(&set_up_with(log)) == 2);
    let sent = fake.log(set_up_with);
    let first: Vec<&String> = sent.iter().take_while(|method| *method != RESUME).collect();
    let second = sent.iter().rposition(|method| method == first[0]).unwrap();
    let again: Vec<&String> = sent[second..].iter().take_while(|method| *method != RESUME).collect();
    assert_eq!(first, again, "{sent:?}");
    assert_eq!(first[0], "Network.enable", "{sent:?}");
}

#[test]
fn a_page_that_crashes_between_its_document_and_the_end_of_its_attach_is_set_up_again() {
    let fake = browser();
    fake.on("Runtime.enable").in_session("S2").never();
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    open_popup(&fake);
    fake.wait("the attach", |log| asked_for_frames(log) == 1);
    let shown = json!({ "frame": frame("P2", None, "/"), "type": "Navigation" });
    fake.emit(Some("S2"), "Page.frameNavigated", shown);
    until(pages.supervisor(), "its document", |now| now.page("P2").is_some_and(|page| page.top_frame.is_some()));
    fake.emit(Some("S2"), "Inspector.targetCrashed", json!({}));
    until(pages.supervisor(), "the crash", |now| now.page("P2").is_some_and(|page| page.state == PageState::Crashed));
    fake.on("Runtime.enable").in_session("S2").reply(json!({}));
    come_back(&fake, pages.supervisor());
    assert_eq!(fake.log(asked_for_frames), 2);
}

#[test]
fn a_page_that_had_crashed_before_its_attach_counts_as_crashed() {
    let fake = browser();
    for method in ["Page.enable", "Runtime.enable", "Page.getFrameTree"] {
        fake.on(method).in_session("S2").error(-32000, "Target crashed");
    }
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    open_popup(&fake);
    let attached = |page: &PageView| page.state != PageState::Attaching;
    let now = until(pages.supervisor(), "its attach", |now| now.page("P2").is_some_and(attached));
    assert_eq!(now.page("P2").unwrap().state, PageState::Crashed);
    for method in ["Page.enable", "Runtime.enable"] {
        fake.on(method).in_session("S2").reply(json!({}));
    }
    come_back(&fake, pages.supervisor());
}

#[test]
fn a_dialog_is_named_while_its_page_is_attached() {
    let fake = browser();
    fake.on("Page.getFrameTree").in_session("S2").never();
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    open_popup(&fake);
    until(pages.supervisor(), "the popup", |now| now.page("P2").is_some());
    let tab = pages.tab(&"P2".into()).unwrap();
    // One of the opener, in whose process the popup may be.
    tell(&fake, "Page.javascriptDialogOpening", opening(PAGE, "alert", "of the opener"));
    let of_opener = tab.responds(soon()).unwrap_err();
    assert!(of_opener.is_blocked_by_dialog(), "{of_opener}");
    tell(&fake, "Page.javascriptDialogClosed", closing(PAGE, true));
    fake.emit(Some("S2"), "Page.javascriptDialogOpening", opening("P2", "alert", "its own"));
    until(pages.supervisor(), "its dialog", |now| now.dialogs_of("P2").next().is_some());
    let own = tab.evaluate("1", None, soon()).unwrap_err();
    assert!(own.is_blocked_by_dialog(), "{own}");
}

#[test]
fn the_title_of_a_page_that_loads_during_its_attach_is_known() {
    let fake = browser();
    let gate = Gate::default();
    let late = gate.clone();
    fake.on("Page.getFrameTree")
        .in_session("S2")
        .with(move |_| vec![Action::Late(late.clone(), vec![Action::Reply(tree(&frame("P2", None, "/"), &[]))])]);
    let entry = json!({
        "id": 1, "url": "http://fake.test/", "userTypedURL": "http://fake.test/", "title": "loaded", "transitionType": "link"
    });
    fake.on("Page.getNavigationHistory").reply(json!({ "currentIndex": 0, "entries": [entry] }));
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    open_popup(&fake);
    fake.wait("the attach", |log| asked_for_frames(log) == 1);
    gate.open();
    until(pages.supervisor(), "its title", |now| now.page("P2").is_some_and(|page| &*page.title == "loaded"));
}

#[test]
fn a_page_with_its_initial_document_has_the_url_that_is_loaded() {
    let fake = browser();
    let mut initial = frame("P2", None, "/");
    initial["url"] = "".into();
    fake.on("Page.getFrameTree").in_session("S2").reply(tree(&initial, &[]));
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    open_popup(&fake);
    let ready = |page: &PageView| page.state == PageState::Ready;
    let now = until(pages.supervisor(), "its attach", |now| now.page("P2").is_some_and(ready));
    assert_eq!(&*now.page("P2").unwrap().url, "http://fake.test/");
}

fn open_popup(fake: &Fake) {
    let mut popup = attached("S2", "P2", "page", None);
    (popup["targetInfo"]["openerId"], popup["targetInfo"]["canAccessOpener"]) = (PAGE.into(), true.into());
    fake.emit(None, "Target.attachedToTarget", popup);
}

/// The last command of an attach.
const RESUME: &str = "Runtime.runIfWaitingForDebugger";

/// The popup gets a process again, and is attached.
fn come_back(fake: &Fake, supervisor: &Supervisor) {
    fake.on("Page.getFrameTree").in_session("S2").reply(tree(&frame("P2", None, "/"), &[]));
    fake.emit(Some("S2"), "Inspector.targetReloadedAfterCrash", json!({}));
    let back = |page: &PageView| page.state == PageState::Ready && page.top_frame.is_some();
    until(supervisor, "its frames", |now| now.page("P2").is_some_and(back));
}

/// The commands to the popup.
fn set_up_with(log: &Log) -> Vec<String> {
    let to_popup = log.requests.iter().filter(|request| request.session.as_deref() == Some("S2"));
    to_popup.map(|request| request.method.clone()).collect()
}

/// How often the frames of the popup were asked for.
fn asked_for_frames(log: &Log) -> usize {
    log.of("Page.getFrameTree").iter().filter(|asked| asked.session.as_deref() == Some("S2")).count()
}
