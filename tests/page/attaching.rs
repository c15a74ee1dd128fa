//! Pages whose frame tree is not known yet.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cdpilot::page::Tabs;
use cdpilot::sync::pause;
use serde_json::json;

use crate::support::chrome::{soon, until};
use crate::support::fake_cdp::{Action, Gate};
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
