//! Whatever holds up a conversation has a name within two seconds; what a person does while it is paused is told to the model.

use std::time::Duration;

use cdpilot::sync::pause;
use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::Do;
use crate::support::api::TestServer;
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

fn shown(tasks: &TestServer, id: &str) -> Value {
    tasks.api.get(&format!("/agent/conversations/{id}")).ok()["conversation"].clone()
}

/// Waits until a conversation is held up by something.
fn held_up(tasks: &TestServer, id: &str, state: &str) -> Value {
    let deadline = crate::support::soon();
    loop {
        let held_up = shown(tasks, id)["held_up"].clone();
        if held_up["state"] == state {
            assert!(held_up["help"].as_str().unwrap().len() > 20, "{held_up}");
            return held_up;
        }
        assert!(!deadline.passed(), "{state} was expected, not {held_up}");
        pause(Duration::from_millis(20)); // the state of a run is not pushed to those who ask for it
    }
}

fn configured(model: &StreamingModel) -> Option<TestServer> {
    let served = TestServer::browsing_with(|_, _| {})?;
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    Some(served)
}

#[test]
fn what_holds_up_a_conversation_is_named_with_what_helps() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<button>Delete</button>"));
    let plans = vec![
        vec![
            Do::Tab("init", site.url("a", "/")),
            Do::Act("click", ">Delete<", ""),
            Do::Act("confirm_click", "", ""),
            Do::Hang,
        ],
        vec![Do::Help("What now?")],
    ];
    let Some(tasks) = Tasks::new(plans) else { return };
    let served = &tasks.served;
    let id = tasks.create_as(&json!({}));
    assert!(shown(served, &id)["held_up"].is_null());
    let _stream = tasks.send(&id, 0);
    held_up(served, &id, "approval");
    let question = shown(served, &id)["question"]["id"].clone();
    let route = |end: &str| format!("/agent/conversations/{id}/{end}");
    served.api.post(&route("answer"), &json!({ "approval_id": question, "decision": "once" })).ok();
    // The endpoint says nothing more.
    let model = held_up(served, &id, "model");
    assert!(model["since"].as_f64().is_some(), "{model}");
    served.api.post(&route("pause"), &json!({})).ok();
    held_up(served, &id, "paused");
    served.api.post(&route("stop"), &json!({})).ok();
    assert!(shown(served, &id)["held_up"].is_null());
    let asking = tasks.create_as(&json!({}));
    let _stream = tasks.send(&asking, 1);
    held_up(served, &asking, "question");
}

#[test]
fn a_failing_model_and_a_busy_page_are_reported_as_events() {
    let site = Site::start();
    site.page("/", "<button>Go</button>");
    let url = site.url("a", "/");
    let model = StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        match calls {
            0 => Script::stream().call("c0", "browser_navigate", &json!({ "url": url })).done(),
            1 => Script::stream().call("c1", "browser_wait", &json!({ "text": "never", "timeout_ms": 60_000 })).done(),
            _ => Script::status(503, "", ""),
        }
    });
    let Some(served) = configured(&model) else { return };
    let body = json!({ "toolsets": ["browser"] });
    let id = served.api.post("/agent/conversations", &body).ok()["conversation_id"].as_str().unwrap().to_owned();
    let text = json!({ "text": "Go." }).to_string();
    let mut stream = served.api.events_of("POST", &format!("/agent/conversations/{id}/messages"), Some(&text), "");
    // The first call may take long, too.
    while !held_up(&served, &id, "tool")["help"].as_str().unwrap().contains("browser_wait") {}
    // The end of the tab ends the call, and the next request to the model fails.
    let tabs = served.api.get("/tabs").ok();
    let is_own = |tab: &&Value| tab["url"].as_str().unwrap().starts_with(&site.url("a", ""));
    let tab = tabs["tabs"].as_array().unwrap().iter().find(is_own).unwrap()["targetId"].clone();
    served.api.delete(&format!("/tabs/{}", tab.as_str().unwrap())).ok();
    let reported = loop {
        let (name, _, data) = stream.try_next().expect("an event");
        // On a busy machine, the page may not answer in time.
        if name == "agent_event" && data["held_up"].is_string() && data["held_up"] != "page_busy" {
            break data;
        }
    };
    assert_eq!(reported["held_up"], "model_failing", "{reported}");
    assert!(reported["text"].as_str().unwrap().contains("llm.json"), "{reported}");
    held_up(&served, &id, "model_failing");
    served.api.post(&format!("/agent/conversations/{id}/stop"), &json!({})).ok();
}

#[test]
fn what_a_person_does_while_a_run_is_paused_is_told_to_the_model() {
    let site = Site::start();
    site.page(
        "/",
        &format!("{STYLE}<input aria-label=Name><input type=password aria-label=Password><button>Go</button>"),
    );
    site.page("/second", &format!("{STYLE}<h1>Second</h1><input aria-label=Name>"));
    let plan =
        vec![Do::Tab("init", site.url("a", "/")), Do::Tab("open", site.url("b", "/slow")), Do::Look, Do::Say("Done.")];
    let held = crate::support::site::Held::default();
    site.put("/slow", crate::support::site::Answer::html("slow").held_by(&held));
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let served = &tasks.served;
    let id = tasks.create_as(&json!({}));
    let mut stream = tasks.send(&id, 0);
    site.wait_requested("b.localhost/slow", 1);
    let route = |end: &str| format!("/agent/conversations/{id}/{end}");
    served.api.post(&route("pause"), &json!({})).ok();
    held.release();
    // It is paused only once the call in progress has ended.
    let first = loop {
        let tabs = served.api.get("/tabs").ok();
        let tabs = tabs["tabs"].as_array().unwrap().clone();
        let results = tasks.events(&id).iter().filter(|(_, data)| data["type"] == "ObservationEvent").count();
        if results == 2 {
            break tabs
                .iter()
                .find(|tab| {
                    tab["url"].as_str().unwrap().ends_with("localhost:".to_owned().as_str())
                        || tab["url"] == site.url("a", "/")
                })
                .unwrap()
                .clone();
        }
        pause(Duration::from_millis(20)); // events are stored by another thread
    };
    let target = first["targetId"].clone();
    for (label, text) in [("Name", "Ada"), ("Password", "hunter2hunter2")] {
        let body = json!({ "kind": "type", "locator": format!("label={label}"), "text": text, "targetId": target });
        served.api.post("/act", &body).ok();
    }
    let opened = served.api.post("/tabs/open", &json!({ "url": site.url("a", "/second") })).ok();
    served.api.delete(&format!("/tabs/{}", opened["targetId"].as_str().unwrap())).ok();
    served.api.post(&route("resume"), &json!({})).ok();
    while stream.try_next().is_some() {}
    let messages = tasks.model.requests().last().unwrap()["messages"].to_string();
    for part in
        ["While the run was paused", "the field \\\"Name\\\" was changed", "the field \\\"Password\\\" was changed"]
    {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    for secret in ["hunter2", "Ada"] {
        assert!(!messages.contains(secret), "{secret}: {messages}");
    }
}

/// The error of the last result, once there are so many results.
fn error_of_result(tasks: &TestServer, id: &str, count: usize) -> String {
    let deadline = crate::support::soon();
    loop {
        let events = tasks.api.get(&format!("/agent/conversations/{id}/events")).ok();
        let events = events["events"].as_array().unwrap().clone();
        let results: Vec<&Value> =
            events.iter().map(|event| &event["data"]).filter(|data| data["type"] == "ObservationEvent").collect();
        if results.len() >= count {
            return results.last().unwrap()["error"].as_str().unwrap_or_default().to_owned();
        }
        assert!(!deadline.passed(), "{count} results were expected: {results:#?}");
        pause(Duration::from_millis(20)); // events are stored by another thread
    }
}

#[test]
fn a_busy_page_has_a_name_and_a_crash_or_the_end_of_the_browser_ends_the_call() {
    let site = Site::start();
    site.page("/", "<h1>Here</h1>");
    let url = site.url("a", "/");
    let model = StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        let call = |name: &str, arguments: &Value| Script::stream().call(&format!("c{calls}"), name, arguments).done();
        match calls {
            0 | 2 => call("browser_navigate", &json!({ "url": url })),
            1 | 3 => call("browser_wait", &json!({ "text": "never", "timeout_ms": 60_000 })),
            _ => Script::stream().text("Done.").done(),
        }
    });
    let served = TestServer::browsing_with(|config, _| config.browser.rescue_after_ms = 60_000);
    let Some(served) = served else { return };
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    let body = json!({ "toolsets": ["browser"] });
    let id = served.api.post("/agent/conversations", &body).ok()["conversation_id"].as_str().unwrap().to_owned();
    let text = json!({ "text": "Go." }).to_string();
    let mut stream = served.api.events_of("POST", &format!("/agent/conversations/{id}/messages"), Some(&text), "");
    let waits = || while !held_up(&served, &id, "tool")["help"].as_str().unwrap().contains("browser_wait") {};
    let raw = |method: &str, params: Value| {
        let tabs = served.api.get("/tabs").ok();
        let is_own = |tab: &&Value| tab["url"].as_str().unwrap().starts_with(&site.url("a", ""));
        let target = tabs["tabs"].as_array().unwrap().iter().find(is_own).unwrap()["targetId"].clone();
        let body = json!({ "method": method, "params": params, "targetId": target, "timeoutMs": 2_000 });
        served.api.post("/cdp", &body)
    };
    waits();
    let busy = "setTimeout(() => { for (const until = Date.now() + 6000; Date.now() < until;); }); 1";
    raw("Runtime.evaluate", json!({ "expression": busy })).ok();
    held_up(&served, &id, "page_busy");
    // A page that crashes does not answer the command.
    raw("Page.crash", json!({}));
    let error = error_of_result(&served, &id, 2);
    assert!(error.contains("crash"), "{error}");
    waits();
    served.api.post("/stop", &json!({})).ok();
    let error = error_of_result(&served, &id, 4);
    assert!(error.to_lowercase().contains("browser"), "{error}");
    let mut last = String::new();
    while let Some((name, _, _)) = stream.try_next() {
        last = name;
    }
    assert_eq!(last, "complete");
}
