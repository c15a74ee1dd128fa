//! The compilation of a recording in the web UI, used in a real browser as a person would.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cdpilot::page::Act;
use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::server_ui_agent::Person;
use crate::support::agent_plan::{Do, model_of};
use crate::support::api::TestServer;

const PICTURE: &[u8] = include_bytes!("../../src/server/routes/white.png");
/// Markup, and a character that reverses what follows.
const HOSTILE: &str = "<img src=x onerror=\"window.attacked = 1\">\u{202e}evil";
const ROUTINE: &str = "# Workflow: Order a lamp

## Prerequisites
Starting URL: https://shop.test/

## Step 1: Fill in the order
Type Berlin into the field \"City\".

## Step 2: Place the order
**Keywords:** place-order
Press \"Place order\".

## Result
The number of the order.
";

fn events() -> Value {
    let event = |index: u64, kind: &str, element: Value, data: Value| {
        json!({ "event_index": index, "event_type": kind, "timestamp": 100.0 + index as f64, "tab": 1, "element": element, "data": data,
                "page": { "url": "https://shop.test/", "title": "Shop" } })
    };
    let field = json!({ "tag": "input", "role": "textbox", "name": "City", "label": "City", "selectors": ["#city"] });
    let order =
        json!({ "tag": "button", "role": "button", "name": "Place order", "test_id": "place-order", "selectors": [] });
    let help = json!({ "tag": "button", "role": "button", "name": HOSTILE, "selectors": [] });
    let click = || json!({ "button": "left", "count": 1 });
    json!([
        event(1, "page_view", Value::Null, json!({})),
        event(2, "input", field, json!({ "value": "Berlin", "source_count": 6 })),
        event(3, "click", help, click()),
        event(4, "click", order, click()),
    ])
}

/// A server with a model that follows plans, and a recording with screenshots that has this name.
fn recorded(plans: Vec<Vec<Do>>, name: &str) -> (Tasks, String) {
    let served = TestServer::with(|_, options| options.test_routes = true);
    let tasks = Tasks::of(served, model_of(plans));
    let keyframe =
        |index: u64| json!({ "event_index": index, "media_type": "image/png", "base64": STANDARD.encode(PICTURE) });
    let file = json!({ "format": "cdpilot-recording/v1", "recording": { "name": name, "intent_note": "Order a lamp." },
                       "events": events(), "keyframes": [keyframe(2), keyframe(4)] });
    let made = tasks.served.api.post("/recordings/import", &json!({ "format": "cdpilot", "content": file })).ok();
    (tasks, made["recording_id"].as_str().unwrap().to_owned())
}

fn submit(text: &str) -> Do {
    let arguments = json!({ "markdown": text, "step_events": { "1": [2], "2": [4] },
                            "left_out": [{ "events": [3], "why": format!("Help changed nothing. {HOSTILE}") }] });
    Do::Call("submit_routine", arguments)
}

fn looks() -> [Do; 2] {
    ["summary", "normalized_steps"].map(|command| Do::Call("trace_viewer", json!({ "command": command })))
}

/// Asks, submits a routine with a problem and one without, and revises it.
fn ordering() -> Vec<Do> {
    let question = json!({ "question": "Is the city the same each time?", "topic": "varying_value", "events": [2] });
    let mut plan = looks().to_vec();
    plan.extend([
        Do::Call("ask_user", question),
        submit(&ROUTINE.replace("Starting URL: https://shop.test/", "")),
        submit(ROUTINE),
        Do::Say("It orders a lamp to Berlin."),
        submit(&ROUTINE.replace("The number of the order.", "The number and the date of the order.")),
        Do::Say("It returns the date too."),
    ]);
    plan
}

fn fits(person: &Person) {
    for width in [1280, 420] {
        person.acts(Act::resize(width, 740));
        person.until(&format!("innerWidth === {width}"));
        assert_eq!(person.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
    }
    person.acts(Act::resize(1280, 800));
}

const VIEW: &str = "view-recordings";

#[test]
fn a_recording_is_compiled_answered_revised_and_saved_in_the_page() {
    let (tasks, id) = recorded(vec![ordering()], "Order by plan 0 now");
    let Some(person) = Person::at(&tasks.served) else { return };
    person.clicks("role=link[name=Recordings]");
    person.clicks("text=\"Order by plan 0 now\"");
    person.clicks("role=link[name=Compile] >> nth=0");
    person.sees(VIEW, "What the model can read");
    for part in ["4 events", "2 screenshots", "“Order a lamp.”", &tasks.model.url()] {
        person.sees(VIEW, part);
    }
    fits(&person);
    person.clicks("role=button[name=Compile]");
    // The question, with the event that it is about.
    person.sees(VIEW, "Is the city the same each time?");
    person.sees(VIEW, "Round 1 of 5");
    person.sees(VIEW, "input textbox “City”: “Berlin”");
    person.until("document.querySelector('.thumbnail img')?.naturalWidth === 8");
    person.until("document.activeElement.tagName === 'TEXTAREA'");
    person.clicks("role=button[name=\"Screenshot before event 2: enlarge\"]");
    person.until("document.querySelector('dialog.lightbox img')?.naturalWidth === 8");
    person.acts(Act::press("Escape"));
    person.until("!document.querySelector('dialog')");
    fits(&person);
    // What is written is kept until it is sent.
    person.types("label=\"Your answer\"", "Always Berlin");
    person.reloads();
    person.sees(VIEW, "Is the city the same each time?");
    assert_eq!(person.eval("document.querySelector('.calls textarea').value"), "Always Berlin");
    person.clicks("text=\"← All recordings\"");
    person.sees(VIEW, "Needs your answer");
    person.clicks("css=.calls a");
    person.clicks("label=\"Your answer\"");
    person.acts(Act::press("Control+Enter"));
    // The routine, beside what was recorded.
    person.sees(VIEW, "It orders a lamp to Berlin.");
    person.until("document.querySelectorAll('.markdown .step').length === 2");
    person.until("document.querySelector('.markdown .step:nth-of-type(2) .beside')?.textContent.includes('click button “Place order”')");
    assert_eq!(person.eval("document.querySelector('.keyword code').textContent"), "place-order");
    person.sees(VIEW, "Help changed nothing. <img src=x onerror=");
    assert_eq!(person.eval("document.getElementById('view-recordings').innerText.includes('\\u202e')"), false);
    person.clicks("text=\"Questions and answers (1)\"");
    person.sees(VIEW, "You: Always Berlin");
    person.clicks("text=\"What the model did\"");
    for part in ["Read the summary", "Read the derived steps, rows 1 to 20", "Is the city the same", "1 problem"] {
        person.sees(VIEW, part);
    }
    person.clicks("role=button[name=\"Plain text\"]");
    person.until("document.querySelector('.plain:not([hidden])')?.textContent.startsWith('# Workflow: Order a lamp')");
    fits(&person);
    person.types("label=\"What to change\"", "Return the date too.");
    person.clicks("role=button[name=Revise]");
    person.sees(VIEW, "It returns the date too.");
    person.sees(VIEW, "+The number and the date of the order.");
    assert_eq!(person.eval("document.querySelector('textarea').value"), "");
    // A name that is in use is a problem of the field.
    let other = json!({ "name": "lamp", "routine_markdown": ROUTINE });
    tasks.served.api.post("/routines", &other).ok();
    person.types("label=\"Name of the routine\"", "lamp");
    person.clicks("role=button[name=\"Save as routine\"]");
    person.until("document.querySelector('.wrong')?.textContent.includes('lamp') && document.activeElement.getAttribute('aria-invalid') === 'true'");
    person.types("label=\"Name of the routine\"", "lamps");
    person.clicks("role=button[name=\"Save as routine\"]");
    person.sees(VIEW, "The routine is saved");
    person.sees(VIEW, "Routine made from it");
    let made = tasks.served.api.get("/routines/lamps").ok()["routine"].clone();
    assert_eq!(made["source_recording_id"], id.as_str());
    assert!(made["routine_markdown"].as_str().unwrap().contains("and the date of the order"));
    fits(&person);
    person.clicks("role=link[name=\"Verify now\"]");
    person.sees("view-routines", "Made from the recording “Order by plan 0 now”");
    person.until("document.activeElement.textContent === 'Verify' && document.querySelector('.own-login').checked");
    person.clicks("css=#view-routines a[href^='#/recordings/']");
    person.sees(VIEW, "Routine made from it");
    assert_eq!(person.eval("window.attacked ?? 0"), 0);
}

#[test]
fn a_compilation_is_followed_after_a_reload_stopped_and_begun_again() {
    let mut hanging = looks().to_vec();
    hanging.push(Do::Call("draft", json!({ "command": "write", "markdown": ROUTINE })));
    hanging.push(Do::Hang);
    let (tasks, id) = recorded(vec![hanging], "Order by plan 0 now");
    let Some(person) = Person::at(&tasks.served) else { return };
    person.eval(&format!("location.hash = '#/recordings/{id}/events'; 1"));
    person.clicks("role=checkbox[name=\"Exclude event 3\"]");
    person.clicks("role=link[name=Compile] >> nth=0");
    person.sees(VIEW, "3 events");
    person.sees(VIEW, "without 1 excluded event");
    person.clicks("role=button[name=Compile]");
    for part in ["The model is compiling", "Write the draft", "Draft so far"] {
        person.sees(VIEW, part);
    }
    person.reloads();
    person.sees(VIEW, "Read the summary");
    person.sees(VIEW, "Write the draft");
    fits(&person);
    person.clicks("role=button[name=Stop]");
    person.sees(VIEW, "The compilation was stopped");
    person.sees(VIEW, "CANCELLED");
    person.sees(VIEW, "All messages:");
    person.clicks("text=\"The draft, which was kept\"");
    person.sees(VIEW, "Fill in the order");
    let state = tasks.served.api.get(&format!("/recordings/{id}/compile")).ok();
    assert_eq!(state["exclude"], json!([3]));
    fits(&person);
    person.clicks("role=button[name=\"Compile again\"]");
    person.sees(VIEW, "The model is compiling");
    person.clicks("role=button[name=Stop]");
    person.sees(VIEW, "The compilation was stopped");
    person.clicks("text=\"← All recordings\"");
    person.sees(VIEW, "Compilation stopped");
}

#[test]
fn a_model_that_submits_nothing_is_an_error_in_the_page() {
    let (tasks, id) = recorded(vec![vec![Do::Say("Nothing to do."); 5]], "Order by plan 0 now");
    let Some(person) = Person::at(&tasks.served) else { return };
    person.eval(&format!("location.hash = '#/recordings/{id}/compile'; 1"));
    person.clicks("role=button[name=Compile]");
    person.sees(VIEW, "The compilation has failed");
    person.sees(VIEW, "The model ended without submitting a routine; compile again, or use another model");
    person.until("document.querySelector('#view-recordings .path')?.textContent.includes('.json')");
    person.clicks("text=\"What the model did\"");
    person.sees(VIEW, "No routine was submitted; the model was reminded.");
}
