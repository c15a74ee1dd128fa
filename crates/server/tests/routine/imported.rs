//! A flow of the Recorder of Chrome DevTools becomes a routine that runs without a model.

use std::sync::Arc;

use cdpilot_server::config::Confirm;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::replay_fast::{STYLE, compiled, event, run};
use crate::support::agent_plan::model_of_shared;
use crate::support::api::TestServer;

const TEXT: &str = "
## Inputs
- customer (default Ada)

## Step 1: Fill in the filter
Type {{customer}} into Customer and set Status to due.

## Step 2: Show them
Press Show.

## Step 3: Pay in the frame
Press Stamp.
";

#[test]
fn a_flow_of_devtools_is_run_without_a_model() {
    let Some(served) = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never) else { return };
    let site = &served.site;
    let form = "<title>Invoices</title><form action=/found><label>Customer <input name=customer></label> \
        <label>Status <select name=status><option value=all>All<option value=due>Due</select></label> \
        <button>Show</button></form><button hidden>Show</button>";
    site.page("/", &format!("{STYLE}{form}"));
    site.page("/found", &format!("{STYLE}<title>Found</title><iframe src=/stamp></iframe>"));
    site.page("/stamp", "<button onclick=\"this.append('!'), fetch('/stamped')\">Stamp</button>");
    let plans = Arc::new(Mutex::new(vec![Vec::new()]));
    let model = model_of_shared(&plans);
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    let api = &served.api;
    api.post("/api/config/llm", &models).ok();
    let start = site.url("a", "/");
    let found = site.url("a", "/found?customer=Ada&status=due");
    // As the Recorder of a browser writes it.
    let selectors = |name: &str, css: &str| {
        json!([[format!("aria/{name}")], [css], [format!("pierce/{css}")], [format!("text/{name}")]])
    };
    let flow = json!({ "title": "Show invoices", "steps": [
        { "type": "setViewport", "width": 1280, "height": 720, "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": false },
        { "type": "navigate", "url": start, "assertedEvents": [{ "type": "navigation", "url": start, "title": "Invoices" }] },
        { "type": "click", "target": "main", "selectors": selectors("Customer", "input"), "offsetX": 5, "offsetY": 5 },
        { "type": "change", "target": "main", "value": "Ada", "selectors": selectors("Customer", "input") },
        { "type": "change", "target": "main", "value": "due", "selectors": selectors("Status", "select") },
        { "type": "click", "target": "main", "selectors": selectors("Show", "form > button"), "offsetX": 5, "offsetY": 5,
          "assertedEvents": [{ "type": "navigation", "url": found, "title": "Found" }] },
        { "type": "click", "target": "main", "frame": [0], "selectors": selectors("Stamp", "button"), "offsetX": 5, "offsetY": 5 },
    ] });
    let imported = api.post("/recordings/import", &json!({ "format": "devtools", "content": flow.to_string() })).ok();
    let id = imported["recording_id"].as_str().unwrap();
    let events = api.get(&format!("/recordings/{id}/events?limit=5000")).ok()["events"].as_array().unwrap().clone();
    let typed: Vec<&Value> = events.iter().filter(|event| event["event_type"] == "input").collect();
    let typed: Vec<u64> = typed.iter().map(|event| event["event_index"].as_u64().unwrap()).collect();
    let steps = json!({
        "1": typed, "2": [event(&events, "click", "\"Show\"")], "3": [event(&events, "click", "\"Stamp\"")],
    });
    let text = format!("# Workflow: Show\n\n## Prerequisites\nStarting URL: {start}\n{TEXT}");
    let routine = compiled(api, (&plans, &model), id, events.len() as u64, &text, &steps);
    let shown = api.get(&format!("/routines/{routine}")).ok();
    assert_eq!(shown["routine"]["fast_steps"], json!([1, 2, 3]), "{shown:#}");
    let report = run(api, &routine, &json!({ "model": "none", "login": "own", "inputs": { "customer": "Bo" } }));
    assert_eq!(report["status"], "done", "{report:#}");
    let sent = site.heads("a.localhost/found");
    assert!(sent.len() == 1 && sent[0].contains("/found?customer=Bo&status=due "), "{sent:?}");
    assert_eq!(site.heads("a.localhost/stamped").len(), 1);
    // Two elements with the name and the selector are not told apart.
    site.page("/", &format!("{STYLE}{form}{form}"));
    let report = run(api, &routine, &json!({ "model": "none", "login": "own" }));
    assert_eq!(report["code"], "TARGET_AMBIGUOUS", "{report:#}");
    assert_eq!(site.heads("a.localhost/found").len(), 1);
}
