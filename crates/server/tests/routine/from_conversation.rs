//! What an agent did once in a conversation becomes a routine, without a recorder.

use std::sync::Arc;

use cdpilot_server::config::Confirm;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::replay_fast::{STYLE, compiled, event};
use crate::support::agent_plan::{Do, model_of_shared};
use crate::support::api::{Api, TestServer};
use crate::support::streaming_model::StreamingModel;

const TEXT: &str = "
## Inputs
- customer (default Ada)
- pass (sensitive)
- code (sensitive)

## Step 1: Fill in the form
Type {{customer}} into Customer and {{pass}} into Password and {{code}} into Code, set Status to Due (due), and check Old ones.

## Step 2: Show them
Press Show.

## Step 3: Archive it
Press Archive in the row Invoice 1002, and accept the question.
";

/// A conversation in which an agent has worked.
struct Worked {
    served: TestServer,
    plans: Arc<Mutex<Vec<Vec<Do>>>>,
    model: StreamingModel,
    id: String,
}

fn pages(served: &TestServer) {
    let form = "<title>Invoices</title><form action=/found method=post><label>Customer <input name=customer></label> \
        <label>Password <input type=password name=pass></label> <label>Code <input name=apikey></label> \
        <label>Status <select name=status><option value=all>All<option value=due>Due</select></label> \
        <label><input type=checkbox name=old> Old ones</label> <button>Show</button></form>";
    served.site.page("/", &format!("{STYLE}{form}"));
    let row = |n: u32| {
        let script = format!(
            "if (confirm('Archive {n}?')) fetch('/archive/{n}').then(() => {{ this.closest('tr').hidden = true }})"
        );
        format!("<tr><th>Invoice {n}</th><td><button data-n={n} onclick=\"{script}\">Archive</button></td></tr>")
    };
    let rows: String = [1001, 1002, 1003].map(row).concat();
    served.site.page("/found", &format!("{STYLE}<title>Found</title><table>{rows}</table>"));
}

impl Worked {
    fn new(toolsets: &Value, plan: impl FnOnce(&TestServer) -> Vec<Do>) -> Option<Self> {
        let served = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never)?;
        pages(&served);
        // The first plan is that of the compilation.
        let plans = Arc::new(Mutex::new(vec![Vec::new(), plan(&served)]));
        let model = model_of_shared(&plans);
        let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
        served.api.post("/api/config/llm", &models).ok();
        let body = json!({ "toolsets": toolsets, "guard": "off" });
        let id = served.api.post("/agent/conversations", &body).ok()["conversation_id"].as_str().unwrap().to_owned();
        let path = format!("/agent/conversations/{id}/messages");
        let mut stream = served.api.events_of("POST", &path, Some(&json!({ "text": "Follow plan 1" }).to_string()), "");
        let mut said = Vec::new();
        while let Some((name, _, data)) = stream.try_next() {
            said.push(data);
            if matches!(&*name, "complete" | "error") {
                break;
            }
        }
        assert_eq!(archived(&served), ["1002"], "{said:#?}");
        Some(Self { served, plans, model, id })
    }

    /// Makes a recording of it; its events.
    fn recorded(&self) -> (String, Vec<Value>) {
        let api = &self.served.api;
        let made = api.post(&format!("/agent/conversations/{}/recording", self.id), &json!({})).ok();
        assert_eq!(made["recording"]["status"], "stopped", "{made:#}");
        let id = made["recording_id"].as_str().unwrap().to_owned();
        let events = api.get(&format!("/recordings/{id}/events?limit=5000")).ok()["events"].as_array().unwrap().clone();
        assert!(events.iter().all(|event| event["by"] == "agent" || event["tab"] == 0), "{events:#?}");
        assert!(!json!(events).to_string().contains("hunter22"), "{events:#?}");
        (id, events)
    }

    /// Compiles the recording, and runs the routine without a model.
    fn repeats(&self) {
        let api = &self.served.api;
        let (id, events) = self.recorded();
        let kinds = ["input", "change"];
        let first = events.iter().filter(|event| kinds.contains(&event["event_type"].as_str().unwrap()));
        let first: Vec<u64> = first.map(|event| event["event_index"].as_u64().unwrap()).collect();
        assert_eq!(first.len(), 5, "{events:#?}");
        let steps = json!({
            "1": first, "2": [event(&events, "click", "\"Show\"")], "3": [event(&events, "click", "\"Archive\"")],
        });
        let start = self.served.site.url("a", "/");
        let text = format!("# Workflow: Archive\n\n## Prerequisites\nStarting URL: {start}\nFollow plan 2\n{TEXT}");
        let routine = compiled(api, (&self.plans, &self.model), &id, events.len() as u64, &text, &steps);
        let shown = api.get(&format!("/routines/{routine}")).ok();
        assert_eq!(shown["routine"]["fast_steps"], json!([1, 2, 3]), "{shown:#}");
        let requests = self.model.requests().len();
        let report = approving(
            api,
            &routine,
            &json!({ "model": "none", "login": "own", "inputs": { "pass": "hunter22", "code": "k-7" } }),
        );
        assert_eq!(report["status"], "done", "{report:#}");
        assert_eq!(self.model.requests().len(), requests);
        assert_eq!(archived(&self.served), ["1002", "1002"]);
    }
}

/// The archive requests of the site, in order.
fn archived(served: &TestServer) -> Vec<String> {
    let all = served.site.requested();
    all.iter().filter_map(|path| path.split_once("/archive/").map(|(_, n)| n.to_owned())).collect()
}

/// Runs a routine; typing secrets is approved.
fn approving(api: &Api, routine: &str, body: &Value) -> Value {
    let path = format!("/routines/{routine}/run");
    let mut stream = api.events_of("POST", &path, Some(&body.to_string()), "");
    let (_, connected) = stream.next_of("connected");
    let id = connected["conversation_id"].as_str().unwrap();
    while let Some((name, _, data)) = stream.try_next() {
        if name == "help_request" {
            let answer = json!({ "approval_id": data["approval_id"], "decision": "once" });
            api.post(&format!("/agent/conversations/{id}/answer"), &answer).ok();
        }
        if matches!(&*name, "complete" | "error") {
            break;
        }
    }
    api.get(&format!("/routines/{routine}/runs/{id}")).ok()
}

#[test]
fn work_with_the_visual_tools_is_repeated_without_a_model() {
    let plan = |served: &TestServer| {
        vec![
            Do::Tab("init", served.site.url("a", "/")),
            Do::Act("click", "nothing like this", ""),
            Do::Act("keyboard_input", "name=\"customer\"", "Ada"),
            Do::Act("keyboard_input", "type=\"password\"", "hunter22"),
            Do::Act("keyboard_input", "name=\"apikey\"", "k-hunter22"),
            Do::Act("select", "name=\"status\"", "Due"),
            Do::Act("click", "name=\"old\"", ""),
            Do::Act("click", ">Show<", ""),
            Do::Act("scroll", "", ""),
            Do::Act("click", "data-n=\"1002\"", ""),
            Do::Dialog("accept", ""),
            Do::Look,
            Do::Say("Archived."),
        ]
    };
    let Some(worked) = Worked::new(&json!(["visual"]), plan) else { return };
    let (_, events) = worked.recorded();
    let kinds: Vec<&str> = events.iter().map(|event| event["event_type"].as_str().unwrap()).collect();
    let wanted = [
        "tab_created",
        "tab_navigated",
        "input",
        "input",
        "input",
        "change",
        "change",
        "click",
        "tab_navigated",
        "click",
        "dialog",
    ];
    assert_eq!(kinds, wanted, "{events:#?}");
    let (shown, archive) = (&events[8], &events[9]);
    assert_eq!(shown["data"]["caused_by"], events[7]["event_index"], "{shown:#}");
    assert_eq!(events[1]["data"]["caused_by"], Value::Null, "{:#}", events[1]);
    for secret in &events[3..5] {
        assert_eq!(
            (&secret["data"]["value"], &secret["element"]["sensitive"]),
            (&Value::Null, &json!(true)),
            "{secret:#}"
        );
    }
    assert_eq!(archive["element"]["container"]["title"], "Invoice 1002", "{archive:#}");
    assert_eq!(events[5]["data"]["values"], json!([{ "value": "due", "label": "Due" }]));
    assert_eq!(events[6]["data"]["checked"], true);
    worked.repeats();
}

#[test]
fn work_with_the_browser_tools_is_repeated_without_a_model() {
    let plan = |served: &TestServer| {
        vec![
            Do::Call("browser_navigate", json!({ "url": served.site.url("a", "/") })),
            Do::Call("browser_click", json!({ "ref": "e9999" })),
            Do::Call("browser_type", json!({ "ref": "ref:textbox \"Customer\"", "text": "Ada" })),
            Do::Call("browser_type", json!({ "ref": "ref:textbox \"Password\"", "text": "hunter22" })),
            Do::Call("browser_type", json!({ "ref": "ref:textbox \"Code\"", "text": "k-hunter22" })),
            Do::Call("browser_select", json!({ "ref": "ref:combobox \"Status\"", "values": ["due"] })),
            Do::Call("browser_click", json!({ "ref": "ref:checkbox \"Old ones\"" })),
            Do::Call("browser_click", json!({ "ref": "ref:button \"Show\"" })),
            Do::Call("browser_snapshot", json!({ "full": true })),
            Do::Call("browser_click", json!({ "ref": "ref:Invoice 1002 > button \"Archive\"" })),
            Do::Call("browser_dialog", json!({ "action": "accept" })),
            Do::Call("browser_snapshot", json!({})),
            Do::Say("Archived."),
        ]
    };
    let Some(worked) = Worked::new(&json!(["browser"]), plan) else { return };
    worked.repeats();
}

#[test]
fn a_conversation_that_did_nothing_in_pages_becomes_no_recording() {
    let Some(served) = TestServer::browsing() else { return };
    let plans = Arc::new(Mutex::new(vec![vec![Do::Say("Hello.")], vec![Do::Hang]]));
    let model = model_of_shared(&plans);
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    let api = &served.api;
    api.post("/api/config/llm", &models).ok();
    let id = api.post("/agent/conversations", &json!({})).ok()["conversation_id"].as_str().unwrap().to_owned();
    let path = |end: &str| format!("/agent/conversations/{id}/{end}");
    let say = |plan: u32| json!({ "text": format!("Follow plan {plan}") }).to_string();
    let mut stream = api.events_of("POST", &path("messages"), Some(&say(0)), "");
    while stream.try_next().is_some_and(|(name, ..)| name != "complete") {}
    let refused = api.post(&path("recording"), &json!({})).fails(409, "CONFLICT");
    assert!(refused["error"].as_str().unwrap().contains("neither clicked nor filled in"), "{refused:#}");
    api.post("/agent/conversations/unknown/recording", &json!({})).fails(404, "NOT_FOUND");
    // One that works has not ended.
    let _working = api.events_of("POST", &path("messages"), Some(&say(1)), "");
    let refused = api.post(&path("recording"), &json!({})).fails(409, "CONFLICT");
    assert!(refused["error"].as_str().unwrap().contains("active"), "{refused:#}");
}
