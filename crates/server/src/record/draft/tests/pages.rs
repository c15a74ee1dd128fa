//! Navigations, tabs, dialogs and downloads.

use serde_json::json;

use super::*;
use crate::record::draft::{Action, StepType, StepValue, TabReason};

#[test]
fn a_navigation_that_an_action_caused_is_its_postcondition() {
    let mut trace = Trace::default();
    trace.click("link", "Orders");
    trace.navigated("https://shop.example/orders", Some(1));
    trace.add(EventType::PageView, None, json!({})).page.url = "https://shop.example/orders".to_owned();
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].source_event_indexes, [1]);
    let postcondition = serde_json::to_value(&steps[0].postcondition).unwrap();
    assert_eq!(postcondition, json!({ "kind": "url", "url": "https://shop.example/orders" }));
}

#[test]
fn the_last_of_several_redirects_is_the_postcondition() {
    let mut trace = Trace::default();
    trace.click("link", "Sign in");
    trace.navigated("https://login.example/", Some(1));
    trace.navigated("https://shop.example/start", Some(2));
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].postcondition, goes_to("https://shop.example/start"));
}

#[test]
fn a_navigation_without_a_known_cause_is_a_step() {
    for cause in [None, Some(99), Some(2)] {
        let mut trace = Trace::default();
        trace.click("link", "Orders");
        trace.navigated("https://news.example/", cause);
        assert_eq!(trace.descriptions(), ["Click link “Orders”", "Open https://news.example/"], "{cause:?}");
    }
}

#[test]
fn a_reload_is_a_step() {
    let mut trace = Trace::default();
    trace.navigated(SHOP, None);
    trace.click("button", "Refresh list");
    trace.navigated(SHOP, None);
    let steps = trace.steps();
    assert_eq!(steps[2].action, Action::Reload);
    assert_eq!(steps[2].description, "Reload https://shop.example/");
}

#[test]
fn back_and_forward_are_steps_unless_an_action_caused_them() {
    let mut trace = Trace::default();
    trace.of_tab(EventType::TabBack, 1, json!({ "url": "https://shop.example/list" }));
    trace.of_tab(EventType::TabForward, 1, json!({ "url": "https://shop.example/item" }));
    trace.click("button", "Back to the list");
    trace.of_tab(EventType::TabBack, 1, json!({ "url": "https://shop.example/list", "caused_by": 3 }));
    let steps = trace.steps();
    let expected = [
        "Go back to https://shop.example/list",
        "Go forward to https://shop.example/item",
        "Click button “Back to the list”",
    ];
    assert_eq!(trace.descriptions(), expected);
    assert_eq!((steps[0].action, steps[1].action), (Action::Back, Action::Forward));
    assert_eq!(steps[2].postcondition, goes_to("https://shop.example/list"));
}

#[test]
fn the_first_address_is_one_step_however_often_it_is_reported() {
    let mut trace = Trace::default();
    trace.of_tab(EventType::RecordingStarted, 0, json!({ "viewport": { "width": 800, "height": 600 } }));
    trace.of_tab(EventType::TabCreated, 1, json!({ "url": SHOP, "target_id": "T1" }));
    trace.of_tab(EventType::TabActivated, 1, json!({}));
    trace.navigated(SHOP, None);
    trace.add(EventType::TabReady, None, json!({}));
    trace.add(EventType::PageView, None, json!({}));
    trace.click("button", "Save");
    trace.of_tab(EventType::RecordingStopped, 0, json!({}));
    assert_eq!(trace.descriptions(), ["Open https://shop.example/", "Click button “Save”"]);
    assert_eq!(trace.steps()[0].source_event_indexes, [2, 3, 4]);
}

#[test]
fn a_tab_that_was_there_and_is_never_used_is_no_step() {
    let mut trace = Trace::default();
    trace.of_tab(EventType::TabCreated, 1, json!({ "url": SHOP }));
    trace.of_tab(EventType::TabCreated, 2, json!({ "url": "https://mail.example/" }));
    trace.click("button", "Save");
    trace.of_tab(EventType::TabClosed, 2, json!({}));
    assert_eq!(trace.descriptions(), ["Open https://shop.example/", "Click button “Save”"]);
}

#[test]
fn a_switch_to_a_tab_says_which_step_opened_it() {
    let mut trace = Trace::default();
    trace.click("link", "Invoice");
    trace.of_tab(EventType::TabCreated, 2, json!({ "url": "about:blank", "target_id": "T2", "opener": 1 }));
    trace.navigated("https://shop.example/invoice", None).tab = 2;
    let event = trace.of_tab(EventType::TabActivated, 2, json!({}));
    event.page = PageShown { url: "https://shop.example/invoice".to_owned(), title: "Invoice 7".to_owned() };
    trace.click("button", "Print").tab = 2;
    trace.of_tab(EventType::TabActivated, 1, json!({}));
    trace.click("button", "Next");
    let expected = [
        "Click link “Invoice”",
        "Switch to tab 2 “Invoice 7”, which step 1 opened",
        "Click button “Print”",
        "Switch back to tab 1 “Shop”",
        "Click button “Next”",
    ];
    assert_eq!(trace.descriptions(), expected);
    let steps = trace.steps();
    let opened = Effect::Tab { tab: 2, url: "https://shop.example/invoice".to_owned() };
    assert_eq!(steps[0].postcondition, Some(Postcondition::One(opened)));
    let expected = StepValue::Tab { tab: 2, why: TabReason::OpenedByStep, opened_by: Some("step_001".to_owned()) };
    assert_eq!(steps[1].value, Some(expected));
}

#[test]
fn an_action_in_another_tab_switches_to_it() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.click("button", "Other").tab = 2;
    trace.of_tab(EventType::TabClosed, 2, json!({}));
    trace.click("button", "Next");
    let expected = [
        "Click button “Save”",
        "Switch to tab 2 “Shop”",
        "Click button “Other”",
        "Close tab 2 “Shop”",
        "Switch to tab 1 “Shop”, because tab 2 was closed",
        "Click button “Next”",
    ];
    assert_eq!(trace.descriptions(), expected);
}

#[test]
fn activating_the_tab_in_use_is_no_step() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.of_tab(EventType::TabActivated, 1, json!({}));
    trace.click("button", "Next");
    assert_eq!(trace.steps().len(), 2);
}

#[test]
fn a_tab_opened_by_hand_is_one_step_with_its_address() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.of_tab(EventType::TabCreated, 2, json!({ "url": "chrome://newtab/" }));
    trace.of_tab(EventType::TabActivated, 2, json!({}));
    trace.navigated("https://news.example/", None).tab = 2;
    assert_eq!(trace.descriptions(), ["Click button “Save”", "Open https://news.example/ in a new tab, tab 2"]);
    assert_eq!(trace.steps()[1].source_event_indexes, [2, 3, 4]);
}

#[test]
fn a_tab_that_a_page_closes_is_a_postcondition() {
    let mut trace = Trace::default();
    trace.click("button", "Pay");
    trace.of_tab(EventType::TabCreated, 2, json!({ "url": "https://bank.example/", "opener": 1 }));
    trace.click("button", "Confirm").tab = 2;
    trace.of_tab(EventType::TabClosed, 2, json!({ "caused_by": 3 }));
    trace.click("button", "Continue");
    let steps = trace.steps();
    assert_eq!(steps[2].postcondition, Some(Postcondition::One(Effect::TabClosed { tab: 2 })));
    assert_eq!(steps[3].description, "Switch to tab 1 “Shop”, because tab 2 was closed");
}

#[test]
fn closing_the_window_at_the_end_is_no_step() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.of_tab(EventType::TabClosed, 1, json!({}));
    trace.of_tab(EventType::RecordingStopped, 0, json!({}));
    assert_eq!(trace.descriptions(), ["Click button “Save”"]);
}

#[test]
fn dialogs_are_postconditions_with_their_answers() {
    let mut trace = Trace::default();
    trace.click("button", "Delete");
    let dialog =
        |kind: &str, message: &str, accepted: bool| json!({ "type": kind, "message": message, "accepted": accepted });
    trace.add(EventType::Dialog, None, dialog("confirm", "Delete?", true));
    let mut named = dialog("prompt", "Why?", true);
    named["prompt_text"] = "old".into();
    trace.add(EventType::Dialog, None, named);
    trace.navigated("https://shop.example/list", Some(1));
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    let expected = json!({ "kind": "all", "of": [
        { "kind": "dialog", "dialog": "confirm", "message": "Delete?", "accepted": true },
        { "kind": "dialog", "dialog": "prompt", "message": "Why?", "accepted": true, "prompt_text": "old" },
        { "kind": "url", "url": "https://shop.example/list" },
    ]});
    assert_eq!(serde_json::to_value(&steps[0].postcondition).unwrap(), expected);
}

#[test]
fn a_dialog_between_click_and_submission_keeps_them_one_step() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.click("button", "Save");
    trace.add(EventType::Dialog, None, json!({ "type": "confirm", "message": "Save?", "accepted": true }));
    trace.submit();
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].source_event_indexes, [1, 2, 4]);
    assert!(matches!(&steps[0].postcondition, Some(Postcondition::One(Effect::Dialog(_)))));
}

#[test]
fn a_dialog_of_a_tab_without_an_action_is_a_step() {
    let mut trace = Trace::default();
    trace.add(EventType::Dialog, None, json!({ "type": "alert", "message": "Hello", "accepted": true }));
    assert_eq!(trace.descriptions(), ["Accept the alert dialog “Hello”"]);
}

#[test]
fn a_download_is_a_postcondition() {
    let mut trace = Trace::default();
    trace.click("link", "Export");
    trace.add(EventType::Download, None, json!({ "url": "https://shop.example/a.csv", "filename": "a.csv" }));
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    let expected = json!({ "kind": "download", "url": "https://shop.example/a.csv", "filename": "a.csv" });
    assert_eq!(serde_json::to_value(&steps[0].postcondition).unwrap(), expected);
}

#[test]
fn pages_alone_are_no_steps() {
    let mut trace = Trace::default();
    trace.of_tab(EventType::RecordingStarted, 0, json!({}));
    trace.add(EventType::PageView, None, json!({}));
    trace.add(EventType::TabReady, None, json!({}));
    trace.of_tab(EventType::RecordingStopped, 0, json!({}));
    let draft = trace.draft();
    assert_eq!(draft.normalized_step_count, 0);
    assert_eq!(draft.workflow.goal, "Nothing was recorded");
    assert_eq!(draft.workflow.warnings[0].code, "empty");
}

#[test]
fn back_in_a_popup_is_in_its_tab() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.of_tab(EventType::TabBack, 2, json!({ "url": "https://b.example/" }));
    let steps = trace.steps();
    assert_eq!((steps[1].kind, steps[2].action), (StepType::Tab, Action::Back));
    assert_eq!(steps[2].target.as_ref().unwrap().tab, 2);
}
