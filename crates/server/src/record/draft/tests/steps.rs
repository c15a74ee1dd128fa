//! Single steps, gaps, order and size.

use serde_json::json;

use super::*;
use crate::record::draft::{Action, StepType, StepValue, WORKFLOW_VERSION};

#[test]
fn the_draft_has_the_shape_of_the_contract() {
    let mut trace = Trace::default();
    trace.click("button", "Save").element.as_mut().unwrap().container = within("row", "Harbour lease");
    let draft = draft("rec-9", Some("  Save\u{202e} the lease "), &trace.0);
    let value = serde_json::to_value(&draft).unwrap();
    assert_eq!(value["recording_id"], "rec-9");
    assert_eq!(value["normalized_step_count"], 1);
    assert_eq!(value["workflow"]["version"], WORKFLOW_VERSION);
    assert_eq!(value["workflow"]["goal"], "Save the lease");
    assert_eq!(value["workflow"]["steps"], value["normalized_steps"]);
    let step = &value["normalized_steps"][0];
    assert_eq!(step["id"], "step_001");
    assert_eq!(step["type"], "click");
    assert_eq!(step["description"], "Click button “Save” in row “Harbour lease”");
    assert_eq!(step["source_event_indexes"], json!([1]));
    assert_eq!(step["value"], json!({ "kind": "click", "button": "left", "count": 1, "modifiers": [] }));
    assert!(step["postcondition"].is_null());
    assert_eq!(step["target"]["element"]["container"]["title"], "Harbour lease");
    let again: Draft = serde_json::from_value(value).unwrap();
    assert_eq!(again, draft);
}

#[test]
fn a_recording_without_a_name_has_a_goal() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    let goal = trace.draft().workflow.goal;
    assert_eq!(goal, "Repeat the recorded steps on shop.example, which end with: Click button “Save”");
}

#[test]
fn clicks_differ_by_button_count_and_held_keys() {
    let mut trace = Trace::default();
    for data in [
        json!({ "button": "left", "count": 2 }),
        json!({ "button": "right", "count": 1 }),
        json!({ "button": "middle", "count": 1 }),
        json!({ "button": "left", "count": 1, "modifiers": ["Shift", "Control"] }),
        json!({ "button": 0, "count": 1, "modifiers": 2 }),
    ] {
        trace.add(EventType::Click, Some(element("link", "Row")), data);
    }
    let expected = [
        "Double-click link “Row”",
        "Right-click link “Row”",
        "Middle-click link “Row”",
        "Click link “Row” holding Control+Shift",
        "Click link “Row” holding Control",
    ];
    assert_eq!(trace.descriptions(), expected);
}

#[test]
fn events_without_a_time_stay_in_their_place() {
    let mut trace = Trace::default();
    for name in ["First", "Second", "Third"] {
        trace.click("button", name);
    }
    let expected = trace.descriptions();
    for time in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        trace.0[1].timestamp = time;
        assert_eq!(trace.descriptions(), expected, "{time}");
    }
}

#[test]
fn events_are_taken_in_the_order_of_their_index() {
    let mut trace = Trace::default();
    trace.click("link", "Orders");
    trace.navigated("https://shop.example/orders", Some(1));
    trace.click("button", "Pay");
    let expected = trace.draft();
    trace.0.reverse();
    assert_eq!(trace.draft(), expected);
}

#[test]
fn keys_pressed_again_and_again_are_one_step() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.key("ArrowDown", "listbox", "Cities");
    }
    trace.key("ArrowUp", "listbox", "Cities");
    trace.key("Enter", "listbox", "Cities");
    trace.key("Enter", "listbox", "Cities");
    let expected = [
        "Press ArrowDown 3 times in listbox “Cities”",
        "Press ArrowUp in listbox “Cities”",
        "Press Enter in listbox “Cities”",
        "Press Enter in listbox “Cities”",
    ];
    assert_eq!(trace.descriptions(), expected);
    assert_eq!(trace.steps()[0].source_event_indexes, [1, 2, 3]);
}

#[test]
fn shortcuts_are_named() {
    let mut trace = Trace::default();
    trace.add(EventType::Keydown, None, json!({ "key": "s", "modifiers": ["Control"] }));
    assert_eq!(trace.descriptions(), ["Press Control+s"]);
}

#[test]
fn hover_and_drag_are_kept() {
    let mut trace = Trace::default();
    trace.add(EventType::Hover, Some(element("menuitem", "More")), json!({}));
    let data = json!({ "from": { "x": 1, "y": 2 }, "to": { "role": "list", "name": "Done" } });
    trace.add(EventType::Drag, Some(element("listitem", "Task")), data.clone());
    let expected = ["Point at menuitem “More”", "Drag listitem “Task” to list “Done”"];
    assert_eq!(trace.descriptions(), expected);
    let steps = trace.steps();
    assert_eq!((steps[0].kind, steps[1].kind), (StepType::Hover, StepType::Drag));
    assert_eq!(steps[1].value, Some(StepValue::Drag { from: data["from"].clone(), to: data["to"].clone() }));
}

#[test]
fn chosen_files_are_a_step_of_their_own() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.click("button", "Upload");
    trace.add(EventType::FileChosen, Some(element("button", "Upload")), json!({ "names": ["a.pdf", "b.pdf"] }));
    trace.add(EventType::Change, Some(element("button", "Upload")), json!({ "value": "C:\\fakepath\\a.pdf" }));
    trace.input("Email", "ada@example.org");
    let expected = [
        "Enter “Ada” in textbox “Name”",
        "Choose files “a.pdf”, “b.pdf” in button “Upload”",
        "Enter “ada@example.org” in textbox “Email”",
    ];
    assert_eq!(trace.descriptions(), expected);
    assert_eq!(trace.steps()[1].source_event_indexes, [2, 3, 4]);
    let names = vec!["a.pdf".to_owned(), "b.pdf".to_owned()];
    assert_eq!(trace.steps()[1].value, Some(StepValue::Files { names }));
}

#[test]
fn a_run_of_scrolls_that_reveals_the_next_target_is_one_step() {
    let mut trace = Trace::default();
    for y in [300, 700, 900] {
        trace.add(EventType::Scroll, None, json!({ "x": 0, "y": y }));
    }
    trace.click("button", "Save").element.as_mut().unwrap().area = at(300.0);
    let steps = trace.steps();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].action, Action::ScrollToReveal);
    assert_eq!(steps[0].source_event_indexes, [1, 2, 3]);
    assert_eq!(steps[0].value, Some(StepValue::Scroll { x: 0.0, y: 900.0, direction: "down".to_owned() }));
}

#[test]
fn a_scroll_that_reveals_nothing_is_no_step() {
    // The target was in view before; there is no target; the target is on another page; the scroll came back.
    let mut trace = Trace::default();
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 200 }));
    trace.click("button", "Save").element.as_mut().unwrap().area = at(300.0);
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 3000 }));
    trace.navigated("https://news.example/", None);
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 3000 }));
    trace.click("button", "Other").page.url = "https://news.example/".to_owned();
    assert!(trace.steps().iter().all(|step| step.kind != StepType::Scroll), "{:?}", trace.descriptions());
}

#[test]
fn scrolling_up_is_measured_from_the_last_position() {
    let mut trace = Trace::default();
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 2000 }));
    trace.click("button", "Next").element.as_mut().unwrap().area = at(300.0);
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 0 }));
    trace.click("link", "Home").element.as_mut().unwrap().area = at(20.0);
    let expected = [
        "Scroll down until the next element is in view",
        "Click button “Next”",
        "Scroll up until the next element is in view",
        "Click link “Home”",
    ];
    assert_eq!(trace.descriptions(), expected);
}

#[test]
fn scrolls_of_a_container_are_kept() {
    let mut trace = Trace::default();
    trace.add(
        EventType::Scroll,
        Some(element("list", "Messages")),
        json!({ "container": "Messages", "x": 0, "y": 80 }),
    );
    trace.add(EventType::Scroll, Some(element("list", "Other")), json!({ "container": "Other", "x": 0, "y": 90 }));
    assert_eq!(trace.descriptions(), ["Scroll down in “Messages”", "Scroll down in “Other”"]);
    assert_eq!(trace.steps()[0].action, Action::ScrollContainer);
}

#[test]
fn gaps_are_warnings() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.add(EventType::Gap, None, json!({ "count": 3, "why": "the page was closed" }));
    trace.input("Email", "ada@example.org");
    trace.add(EventType::Gap, None, json!({ "count": null, "why": "the renderer crashed" }));
    let draft = trace.draft();
    assert_eq!(draft.normalized_step_count, 2, "a gap ends the form");
    let warnings: Vec<_> =
        draft.workflow.warnings.iter().map(|warning| (warning.count, warning.message.as_str())).collect();
    let expected = [
        (Some(3), "3 events are missing after step_001: the page was closed"),
        (None, "An unknown number of events is missing after step_002: the renderer crashed"),
    ];
    assert_eq!(warnings, expected);
    assert_eq!(draft.workflow.warnings[0].event_index, Some(2));
}

#[test]
fn texts_of_pages_are_cut_and_cleaned_in_sentences() {
    let mut trace = Trace::default();
    trace.click("button", &format!("Save\n\u{202e}  now {}", "x".repeat(500)));
    let shown = trace.descriptions().remove(0);
    assert!(shown.starts_with("Click button “Save now xxx"), "{shown}");
    assert!(shown.chars().count() < 120 && shown.ends_with("…”"), "{shown}");
}

#[test]
fn elements_without_a_name_are_described_all_the_same() {
    let mut trace = Trace::default();
    trace.click("", "").element.as_mut().unwrap().tag = "a".to_owned();
    trace.click("button", "").element.as_mut().unwrap().selectors = vec!["#go".to_owned()];
    trace.0.last_mut().unwrap().frame =
        vec![crate::record::FrameStep { index: 2, name: String::new(), url: "https://ads.example/x".to_owned() }];
    trace.add(EventType::Click, None, json!({}));
    let expected = ["Click link without a name", "Click button `#go` in a frame of ads.example", "Click the page"];
    assert_eq!(trace.descriptions(), expected);
}

#[test]
fn data_of_unexpected_types_is_read_leniently() {
    for event_type in [EventType::Click, EventType::Input, EventType::Change, EventType::Keydown, EventType::Dialog] {
        let mut trace = Trace::default();
        let data = json!({
            "button": {}, "count": "x", "modifiers": 7.5, "value": [], "values": "x", "checked": 1, "key": 3,
            "names": 1, "x": "a", "caused_by": "me", "type": 4, "accepted": "yes",
        });
        trace.add(event_type, None, data);
        assert_eq!(trace.steps().len(), 1, "{event_type:?}");
    }
}

/// A trace of everyday work: forms, clicks with navigations, scrolls, keys.
fn work(rounds: usize) -> Trace {
    let mut trace = Trace::default();
    for round in 0..rounds {
        trace.click("textbox", "Name");
        trace.input("Name", &format!("Ada {round}"));
        trace.key("Tab", "textbox", "Name");
        trace.input("Email", "ada@example.org");
        trace.click("button", "Save");
        let click = trace.submit().event_index;
        trace.navigated(&format!("https://shop.example/{round}"), Some(click));
        trace.add(EventType::PageView, None, json!({}));
        trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 1500 }));
        trace.click("link", "Next").element.as_mut().unwrap().area = at(400.0);
    }
    trace
}

#[test]
fn the_same_events_give_the_same_bytes() {
    let trace = work(200);
    let bytes = serde_json::to_vec(&trace.draft()).unwrap();
    for _ in 0..3 {
        assert_eq!(serde_json::to_vec(&trace.draft()).unwrap(), bytes);
    }
}

#[test]
fn four_times_the_events_are_four_times_the_steps() {
    let (small, large) = (work(100), work(400));
    assert_eq!((small.0.len(), large.0.len()), (1_000, 4_000));
    let (few, many) = (small.draft(), large.draft());
    assert_eq!(few.normalized_step_count, 300);
    assert_eq!(many.normalized_step_count, 1_200);
    assert_eq!(many.workflow.inputs.len(), 800);
    assert_eq!(few.normalized_steps, many.normalized_steps[..300]);
}

#[test]
fn every_action_of_a_trace_is_in_one_step() {
    let trace = work(50);
    let mut seen: Vec<u64> = trace.steps().iter().flat_map(|step| step.source_event_indexes.clone()).collect();
    let ordered = seen.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ordered, "in order, each once");
    assert_eq!(seen.len(), trace.0.len() - 2 * 50, "all but page views and navigations that a step caused");
}
