//! Steps of Chrome DevTools: both ways.

use serde_json::{Value, json};

use super::super::draft::draft;
use super::super::event::{Event, EventType};
use super::*;

fn recording(steps: Value) -> String {
    json!({ "title": "Order", "steps": steps }).to_string()
}

fn imported(steps: Value) -> Imported {
    import(&recording(steps)).unwrap()
}

fn refusal(steps: Value) -> String {
    import(&recording(steps)).unwrap_err().to_string()
}

/// Type and data of the events.
fn facts(events: &[Event]) -> Vec<(&str, Value)> {
    events.iter().map(|event| (event.event_type.as_str(), Value::Object(event.data.clone()))).collect()
}

const SAVE: [[&str; 1]; 3] = [["aria/Save[role=\"button\"]"], ["#save"], ["text/Save"]];

/// One of each step, as the Recorder panel writes them.
fn all_steps() -> Value {
    json!([
        { "type": "setViewport", "width": 1200, "height": 800, "deviceScaleFactor": 1, "isMobile": false,
          "hasTouch": false, "isLandscape": false },
        { "type": "navigate", "url": "https://shop.example/",
          "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/", "title": "Shop" }] },
        { "type": "emulateNetworkConditions", "download": 1, "upload": 1, "latency": 9, "target": "main" },
        { "type": "click", "target": "main", "selectors": SAVE, "offsetX": 10, "offsetY": 5, "button": "secondary" },
        { "type": "doubleClick", "target": "main", "selectors": SAVE, "offsetX": 10, "offsetY": 5 },
        { "type": "hover", "target": "main", "selectors": SAVE },
        { "type": "change", "target": "main", "selectors": [["aria/Name"], ["#name"]], "value": "Ada" },
        { "type": "keyDown", "target": "main", "key": "Enter",
          "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/2", "title": "Two" }] },
        { "type": "keyUp", "target": "main", "key": "Enter" },
        { "type": "scroll", "target": "main", "x": 0, "y": 700 },
        { "type": "scroll", "target": "main", "selectors": ["#list"], "y": 40 },
        { "type": "waitForElement", "selectors": ["#done"], "count": 1 },
        { "type": "waitForExpression", "expression": "fetch('https://evil.example')" },
        { "type": "customStep", "name": "lighthouse", "parameters": {} },
        { "type": "waitForURL", "url": "shop.example" },
        { "type": "close", "target": "main" },
    ])
}

#[test]
fn every_type_of_step_is_an_event_or_a_note() {
    let all = imported(all_steps());
    let expected = [
        ("recording_started", json!({ "viewport": { "width": 1200, "height": 800 } })),
        ("tab_navigated", json!({ "url": "https://shop.example/" })),
        ("click", json!({ "button": "right", "count": 1, "modifiers": [], "offset": { "x": 10.0, "y": 5.0 } })),
        ("click", json!({ "button": "left", "count": 2, "modifiers": [], "offset": { "x": 10.0, "y": 5.0 } })),
        ("hover", json!({})),
        ("input", json!({ "value": "Ada", "source_count": 1 })),
        ("keydown", json!({ "key": "Enter", "modifiers": [] })),
        ("tab_navigated", json!({ "url": "https://shop.example/2", "caused_by": 7 })),
        ("scroll", json!({ "x": 0.0, "y": 700.0 })),
        ("scroll", json!({ "x": 0.0, "y": 40.0 })),
        ("tab_closed", json!({})),
    ];
    assert_eq!(facts(&all.events), expected);
    let notes = [
        "Step 3, emulateNetworkConditions, slows the network down: it is not recorded",
        "Step 12, waitForElement, waits for an element: it is not recorded",
        "Step 13, waitForExpression, waits until a script returns true: it is not recorded",
        "Step 14, customStep, belongs to another program: it is not recorded",
        "Step 15, waitForURL, waits for an address: it is not recorded",
    ];
    assert_eq!(all.notes, notes);
    assert_eq!(all.name, "Order");
    let indexes: Vec<u64> = all.events.iter().map(|event| event.event_index).collect();
    assert_eq!(indexes, (1..=11).collect::<Vec<u64>>());
    assert!(all.events.iter().all(|event| event.timestamp == 0.0));
}

#[test]
fn selectors_describe_the_element() {
    let all = imported(json!([
        { "type": "click", "offsetX": 1, "offsetY": 1, "selectors": [
            ["aria/Save \"all\"[role=\"button\"]"], "#plain", ["my-host", "#inner"], ["xpath///*[@id=\"save\"]"],
            ["pierce/#save"], ["text/Save all"],
        ] },
        { "type": "click", "offsetX": 1, "offsetY": 1, "selectors": ["aria/[name=\"Close\"][role=\"link\"]"] },
    ]));
    let element = all.events[0].element.as_ref().unwrap();
    assert_eq!((element.name.as_str(), element.role.as_str()), ("Save \"all\"", "button"));
    assert_eq!(element.text, "Save all");
    let expected = ["#plain", "my-host >>> #inner", "xpath///*[@id=\"save\"]", "pierce/#save"];
    assert_eq!(element.selectors, expected);
    let element = all.events[1].element.as_ref().unwrap();
    assert_eq!((element.name.as_str(), element.role.as_str()), ("Close", "link"));
}

#[test]
fn frames_and_targets_are_kept() {
    let all = imported(json!([
        { "type": "navigate", "url": "https://shop.example/" },
        { "type": "click", "target": "main", "frame": [1, 0], "selectors": ["#pay"], "offsetX": 1, "offsetY": 1 },
        { "type": "click", "target": "https://bank.example/", "selectors": ["#ok"], "offsetX": 1, "offsetY": 1 },
        { "type": "close", "target": "https://bank.example/" },
        { "type": "click", "target": "main", "selectors": ["#next"], "offsetX": 1, "offsetY": 1 },
    ]));
    let tabs: Vec<(&str, u64)> = all.events.iter().map(|event| (event.event_type.as_str(), event.tab)).collect();
    let expected =
        [("tab_navigated", 1), ("click", 1), ("tab_created", 2), ("click", 2), ("tab_closed", 2), ("click", 1)];
    assert_eq!(tabs, expected);
    let frame: Vec<u64> = all.events[1].frame.iter().map(|frame| frame.index).collect();
    assert_eq!(frame, [1, 0]);
    assert_eq!(all.events[2].data["url"], "https://bank.example/");
    let shown: Vec<String> =
        draft("r", None, &all.events).normalized_steps.into_iter().map(|step| step.description).collect();
    let expected = [
        "Open https://shop.example/",
        "Click element `#pay` in frame 1",
        "Switch to tab 2, which step 2 opened",
        "Click element `#ok`",
        "Close tab 2",
        "Switch to tab 1, because tab 2 was closed",
        "Click element `#next`",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn held_keys_become_modifiers() {
    let all = imported(json!([
        { "type": "keyDown", "key": "Control" },
        { "type": "click", "selectors": ["#a"], "offsetX": 1, "offsetY": 1 },
        { "type": "keyDown", "key": "s" },
        { "type": "keyUp", "key": "s" },
        { "type": "keyUp", "key": "Control" },
        { "type": "click", "selectors": ["#b"], "offsetX": 1, "offsetY": 1 },
        { "type": "keyUp", "key": "x" },
    ]));
    let held: Vec<Value> = all.events.iter().map(|event| event.data["modifiers"].clone()).collect();
    assert_eq!(held, [json!(["Control"]), json!(["Control"]), json!([])]);
    assert_eq!(all.notes, ["Step 7, keyUp, releases a key that was not pressed: it is not recorded"]);
}

#[test]
fn pages_of_the_browser_itself_are_not_recorded() {
    let all = imported(json!([{ "type": "navigate", "url": "chrome://new-tab-page/" }]));
    assert_eq!(all.events, []);
    assert_eq!(all.notes, ["Step 1, navigate, opens a page of the browser itself: it is not recorded"]);
}

#[test]
fn a_redirect_is_what_followed_from_the_navigation() {
    let all = imported(json!([
        { "type": "navigate", "url": "http://shop.example/",
          "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/start", "title": "Shop" }] },
    ]));
    assert_eq!(
        all.events[1].data,
        *json!({ "url": "https://shop.example/start", "caused_by": 1 }).as_object().unwrap()
    );
    assert_eq!(draft("r", None, &all.events).normalized_step_count, 1);
}

#[test]
fn an_asserted_navigation_without_an_address_is_noted() {
    let all = imported(json!([
        { "type": "click", "selectors": ["#a"], "offsetX": 1, "offsetY": 1, "assertedEvents": [{ "type": "navigation" }] },
    ]));
    assert_eq!(all.events.len(), 1);
    assert_eq!(all.notes, ["Step 1, click: asserted event 1 says no address and is not recorded"]);
}

#[test]
fn wrong_steps_are_named_with_their_place() {
    for (steps, message) in [
        (
            json!([{ "type": "navigate", "url": "javascript:alert(1)" }]),
            "steps[0].url: addresses with javascript: are not imported; write an absolute address with http, https, file or about",
        ),
        (json!([{ "type": "close" }, { "type": "navigate" }]), "steps[1].url: the field is missing; write a string"),
        (
            json!([{ "type": "change", "selectors": ["#a"], "value": 5 }]),
            "steps[0].value: the value is not accepted; write a string",
        ),
        (
            json!([{ "type": "click" }]),
            "steps[0].selectors: the field is missing; write a list of selectors, each a string or a list of strings",
        ),
        (
            json!([{ "type": "hover", "selectors": [["#a", 3]] }]),
            "steps[0].selectors: the value is not accepted; write a list of selectors, each a string or a list of strings",
        ),
        (
            json!([{ "type": "hover", "selectors": ["#a"], "frame": ["x"] }]),
            "steps[0].frame: the value is not accepted; write a list of whole numbers, 0 or more",
        ),
        (
            json!([{ "type": "runScript", "code": "x" }]),
            "steps[0].type: \"runScript\" is not a known type of step; remove the step",
        ),
        (json!([{ "key": "x" }]), "steps[0].type: the field is missing; write a string"),
        (json!([7]), "steps[0]: the step is not an object; write an object with type"),
        (json!("x"), "steps: the list of steps is missing; import the JSON export of the Recorder panel"),
        (
            json!([{ "type": "click", "selectors": ["#a"], "assertedEvents": [{ "type": "navigation", "url": "data:text/html,x" }] }]),
            "steps[0].assertedEvents[0].url: addresses with data: are not imported; write an absolute address with http, https, file or about",
        ),
        (
            json!([{ "type": "customStep", "name": "cdpilot/dialog" }]),
            "steps[0].parameters: the field is missing; write an object, the event",
        ),
        (
            json!([{ "type": "customStep", "name": "cdpilot/x", "parameters": { "event_type": "tab_navigated", "timestamp": 0, "data": { "url": "javascript:1" } } }]),
            "steps[0].parameters.data.url: addresses with javascript: are not imported; write an absolute address with http, https, file or about",
        ),
        (
            json!([{ "type": "customStep", "name": "cdpilot/x", "parameters": { "event_type": "click", "timestamp": "x" } }]),
            "steps[0].parameters.timestamp: expected a number, got a string; correct it",
        ),
    ] {
        assert_eq!(refusal(steps), message);
    }
    assert!(import("{}").unwrap_err().to_string().starts_with("title: the title is missing"));
    let many = format!("{{\"title\":\"x\",\"steps\":[{}{{}}]}}", "{},".repeat(20_000));
    assert!(import(&many).unwrap_err().to_string().starts_with("steps: the list has 20001 items"));
}

#[test]
fn the_title_is_cleaned_and_cut() {
    let content = json!({ "title": format!("Or\u{202e}der {}", "x".repeat(500)), "steps": [] }).to_string();
    let name = import(&content).unwrap().name;
    assert!(name.starts_with("Order xxx") && name.chars().count() == 200, "{name}");
}

/// Exports events and imports them again.
fn round(events: &[Event]) -> (Value, Imported) {
    let exported = export("Order", events);
    let again = import(&exported.to_string()).unwrap();
    (exported, again)
}

#[test]
fn imported_steps_are_exported_as_they_were() {
    let first = imported(all_steps());
    let (exported, again) = round(&first.events);
    assert_eq!(facts(&again.events), facts(&first.events));
    assert_eq!(again.notes, Vec::<String>::new());
    for (one, other) in again.events.iter().zip(&first.events) {
        assert_eq!((&one.page, one.tab, &one.frame), (&other.page, other.tab, &other.frame));
        let parts =
            |event: &Event| event.element.as_ref().map(|e| (e.name.clone(), e.role.clone(), e.selectors.clone()));
        assert_eq!(parts(one), parts(other));
    }
    assert_eq!(exported["title"], "Order");
    assert_eq!(exported, export("Order", &again.events), "the same bytes");
}

#[test]
fn an_exported_click_has_what_the_format_requires() {
    let first = imported(json!([
        { "type": "navigate", "url": "https://shop.example/" },
        { "type": "click", "selectors": SAVE, "frame": [2], "offsetX": 10, "offsetY": 5,
          "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/2", "title": "" }] },
    ]));
    let expected = json!({
        "type": "click", "target": "main", "frame": [2], "selectors": SAVE, "deviceType": "mouse", "button": "primary",
        "offsetX": 10.0, "offsetY": 5.0,
        "assertedEvents": [{ "type": "navigation", "url": "https://shop.example/2", "title": "" }],
    });
    assert_eq!(export("x", &first.events)["steps"][1], expected);
}

#[test]
fn events_without_a_step_of_their_own_come_back_as_they_were() {
    let mut events = imported(json!([
        { "type": "navigate", "url": "https://shop.example/" },
        { "type": "hover", "selectors": SAVE }, { "type": "hover", "selectors": SAVE },
        { "type": "hover", "selectors": SAVE }, { "type": "hover", "selectors": SAVE },
        { "type": "hover", "selectors": SAVE }, { "type": "hover", "selectors": SAVE },
    ]))
    .events;
    let kinds = [
        (EventType::Dialog, json!({ "type": "confirm", "message": "Delete?", "accepted": true })),
        (EventType::Download, json!({ "url": "https://shop.example/a.csv", "filename": "a.csv" })),
        (EventType::FileChosen, json!({ "names": ["a.pdf"] })),
        (EventType::Drag, json!({ "from": { "x": 1 }, "to": { "name": "Done" } })),
        (EventType::Gap, json!({ "count": 2, "why": "closed" })),
        (EventType::Change, json!({ "values": [{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }] })),
    ];
    for (event, (kind, data)) in events.iter_mut().skip(1).zip(kinds) {
        event.event_type = kind;
        event.data = data.as_object().cloned().unwrap();
    }
    let (exported, again) = round(&events);
    let names: Vec<&str> =
        exported["steps"].as_array().unwrap()[1..].iter().map(|s| s["name"].as_str().unwrap()).collect();
    let expected =
        ["cdpilot/dialog", "cdpilot/download", "cdpilot/file_chosen", "cdpilot/drag", "cdpilot/gap", "cdpilot/change"];
    assert_eq!(names, expected);
    assert_eq!(facts(&again.events), facts(&events));
}

#[test]
fn a_secret_is_not_exported() {
    let mut events = imported(json!([{ "type": "change", "selectors": ["#pw"], "value": "hunter2" }])).events;
    events[0].element.as_mut().unwrap().sensitive = true;
    let (exported, again) = round(&events);
    assert!(!exported.to_string().contains("hunter2"), "{exported}");
    assert!(again.events[0].element.as_ref().unwrap().sensitive);
    assert_eq!(again.events[0].data["value"], Value::Null);
}

#[test]
fn a_checkbox_is_exported_as_one_click() {
    let click = json!({ "type": "click", "selectors": SAVE, "offsetX": 1, "offsetY": 1 });
    let mut events = imported(json!([click, click])).events;
    events[1].event_type = EventType::Change;
    events[1].data = json!({ "checked": true }).as_object().cloned().unwrap();
    let steps = |events: &[Event]| export("x", events)["steps"].as_array().unwrap().len();
    assert_eq!(steps(&events), 1, "the click is there already");
    assert_eq!(steps(&events[1..]), 1, "the state alone is exported as a click");
}

#[test]
fn a_submission_follows_from_the_click_before_it() {
    let click = json!({ "type": "click", "selectors": SAVE, "offsetX": 1, "offsetY": 1 });
    let mut events = imported(json!([click, click, click])).events;
    events[1].event_type = EventType::Submit;
    events[2].event_type = EventType::TabNavigated;
    events[2].data = json!({ "url": "https://shop.example/2", "caused_by": 2 }).as_object().cloned().unwrap();
    let exported = export("x", &events);
    assert_eq!(exported["steps"].as_array().unwrap().len(), 1);
    assert_eq!(exported["steps"][0]["assertedEvents"][0]["url"], "https://shop.example/2");
}

#[test]
fn a_tab_that_was_opened_with_an_address_is_one_navigation() {
    let step = json!({ "type": "navigate", "url": "https://shop.example/" });
    let mut events = imported(json!([step, step, step])).events;
    events[0].event_type = EventType::TabCreated;
    events[1].event_type = EventType::TabActivated;
    let exported = export("x", &events);
    assert_eq!(exported["steps"].as_array().unwrap().len(), 1, "{exported}");
}

#[test]
fn a_popup_is_the_target_of_its_steps() {
    let click = json!({ "type": "click", "selectors": SAVE, "offsetX": 1, "offsetY": 1 });
    let mut events = imported(json!([click, click, click, click])).events;
    events[1].event_type = EventType::TabCreated;
    events[1].data = json!({ "url": "about:blank", "opener": 1 }).as_object().cloned().unwrap();
    events[2].event_type = EventType::TabNavigated;
    events[2].data = json!({ "url": "https://bank.example/", "caused_by": 1 }).as_object().cloned().unwrap();
    events[1..].iter_mut().for_each(|event| event.tab = 2);
    let (exported, again) = round(&events);
    let targets: Vec<&str> =
        exported["steps"].as_array().unwrap().iter().map(|step| step["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["main", "https://bank.example/"]);
    let tabs: Vec<(&str, u64)> = again.events.iter().map(|event| (event.event_type.as_str(), event.tab)).collect();
    assert_eq!(tabs, [("click", 1), ("tab_created", 2), ("click", 2)]);
}
