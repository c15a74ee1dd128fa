//! Compiling recordings by models that follow a script: what is refused, and what a person gets.

use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::{Do, model_of};
use crate::support::api::{Events, TestServer};

/// Events of a recording, as another recorder sends them.
#[derive(Default)]
pub(crate) struct Trace {
    events: Vec<Value>,
    page: (String, String),
    tab: u64,
    frame: Value,
}

impl Trace {
    pub(crate) fn on(url: &str, title: &str) -> Self {
        let mut trace = Self { tab: 1, frame: json!([]), ..Self::default() };
        trace.page(url, title);
        trace.add("recording_started", &Value::Null, json!({}));
        trace.add("page_view", &Value::Null, json!({}));
        trace
    }

    /// The page that the next events are on.
    pub(crate) fn page(&mut self, url: &str, title: &str) -> &mut Self {
        self.page = (url.to_owned(), title.to_owned());
        self
    }

    /// The frames around the next events.
    pub(crate) fn frame(&mut self, path: &[(&str, &str)]) -> &mut Self {
        self.frame = path.iter().map(|(url, name)| json!({ "index": 0, "name": name, "url": url })).collect();
        self
    }

    /// The tab of the next events.
    pub(crate) fn tab(&mut self, number: u64) -> &mut Self {
        self.tab = number;
        self
    }

    pub(crate) fn add(&mut self, kind: &str, element: &Value, data: Value) -> &mut Self {
        let index = self.events.len() + 1;
        let mut event = json!({
            "event_index": index, "event_type": kind, "timestamp": 1_000.0 + index as f64, "tab": self.tab, "frame": self.frame,
            "page": { "url": self.page.0, "title": self.page.1 }, "data": data,
        });
        if !element.is_null() {
            event["element"] = element.clone();
        }
        self.events.push(event);
        self
    }

    pub(crate) fn click(&mut self, element: &Value) -> &mut Self {
        self.add("click", element, json!({ "button": "left", "count": 1, "modifiers": [] }))
    }

    pub(crate) fn input(&mut self, element: &Value, value: &str) -> &mut Self {
        self.add("input", element, json!({ "value": value, "source_count": value.len() }))
    }

    pub(crate) fn select(&mut self, element: &Value, value: &str, label: &str) -> &mut Self {
        self.add("change", element, json!({ "values": [{ "value": value, "label": label }] }))
    }

    /// A navigation that the event before has caused.
    pub(crate) fn navigated(&mut self, url: &str, title: &str) -> &mut Self {
        let cause = self.events.len();
        self.page(url, title);
        self.add("tab_navigated", &Value::Null, json!({ "url": url, "caused_by": cause }))
    }

    /// Its events, with the end of the recording.
    pub(crate) fn end(&mut self) -> Vec<Value> {
        self.add("recording_stopped", &Value::Null, json!({}));
        self.events.clone()
    }
}

/// An element; its HTML has an id or a name of this value.
pub(crate) fn element(role: &str, name: &str, id: &str) -> Value {
    let tag = match role {
        "button" => "button",
        "link" => "a",
        "combobox" => "select",
        _ => "input",
    };
    let (html, selectors) = match id {
        "" => (format!("<{tag}>{name}</{tag}>"), json!([])),
        id => (format!("<{tag} id=\"{id}\" data-kind=\"{role}\">{name}</{tag}>"), json!([format!("#{id}")])),
    };
    json!({ "tag": tag, "role": role, "name": name, "text": name, "html": html, "selectors": selectors })
}

pub(crate) fn within(mut element: Value, kind: &str, title: &str) -> Value {
    element["container"] = json!({ "kind": kind, "title": title, "href": "" });
    element
}

pub(crate) fn sensitive(name: &str) -> Value {
    json!({ "tag": "input", "role": "textbox", "name": name, "label": name, "selectors": ["#pw"], "sensitive": true })
}

/// A recorded task, and a model that compiles it.
pub(crate) struct Compiling {
    pub(crate) tasks: Tasks,
}

/// How a stream has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Ended {
    pub(crate) fn result(&self) -> &Value {
        assert_eq!(self.name, "complete", "{:#}", self.data);
        &self.data["result"]
    }
}

impl Compiling {
    pub(crate) fn new(plans: Vec<Vec<Do>>) -> Self {
        let served = TestServer::with(|_, options| options.test_routes = true);
        Self { tasks: Tasks::of(served, model_of(plans)) }
    }

    /// Stores a recording. The name selects the plan of the model.
    pub(crate) fn store(&self, plan: usize, note: &str, events: &[Value]) -> String {
        let body = json!({ "name": format!("Order plan {plan} today"), "intent_note": note, "events": events });
        let created = self.tasks.served.api.post("/recordings/ingest", &body).ok();
        created["recording_id"].as_str().unwrap().to_owned()
    }

    fn stream(&self, path: &str, body: &Value) -> Events {
        self.tasks.served.api.events_of("POST", path, Some(&body.to_string()), "")
    }

    pub(crate) fn begin(&self, id: &str, body: &Value) -> Events {
        self.stream(&format!("/recordings/{id}/compile"), body)
    }

    pub(crate) fn compile(&self, id: &str) -> Ended {
        to_end(&mut self.begin(id, &json!({})))
    }

    pub(crate) fn answer(&self, id: &str, text: &str) -> Ended {
        to_end(&mut self.stream(&format!("/recordings/{id}/compile/answer"), &json!({ "text": text })))
    }

    pub(crate) fn state(&self, id: &str) -> Value {
        self.tasks.served.api.get(&format!("/recordings/{id}/compile")).ok()
    }

    pub(crate) fn finalize(&self, id: &str, name: &str) -> Value {
        let body = json!({ "name": name });
        self.tasks.served.api.post(&format!("/recordings/{id}/compile/finalize"), &body).ok()
    }

    /// The codes of the problems of all refused submissions, in order.
    pub(crate) fn refusals(&self, id: &str) -> Vec<String> {
        let conversation = self.state(id)["conversation_id"].as_str().unwrap().to_owned();
        let path = format!("/agent/conversations/{conversation}/history");
        let history = self.tasks.served.api.get(&path).ok();
        let results = history["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        let results = results.filter_map(|message| serde_json::from_str::<Value>(message["content"].as_str()?).ok());
        let problems =
            results.filter(|result| result["success"] == false).map(|result| match result["problems"].as_array() {
                Some(all) => {
                    let codes: Vec<&str> = all.iter().map(|one| one["code"].as_str().unwrap()).collect();
                    codes.join(" ")
                }
                None => result["code"].as_str().unwrap().to_owned(),
            });
        problems.collect()
    }

    /// All results of tools as text.
    pub(crate) fn results(&self, id: &str) -> String {
        let conversation = self.state(id)["conversation_id"].as_str().unwrap().to_owned();
        let path = format!("/agent/conversations/{conversation}/history");
        self.tasks.served.api.get(&path).ok()["messages"].to_string()
    }
}

pub(crate) fn to_end(stream: &mut Events) -> Ended {
    while let Some((name, _, data)) = stream.try_next() {
        if matches!(name.as_str(), "complete" | "error") {
            assert!(stream.try_next().is_none(), "events after the end");
            return Ended { name, data };
        }
        assert!(matches!(name.as_str(), "connected" | "agent_event" | "usage_metrics"), "{name}");
    }
    panic!("the stream ended without a result");
}

pub(crate) fn look() -> Do {
    Do::Calls(vec![
        ("trace_viewer", json!({ "command": "summary" })),
        ("trace_viewer", json!({ "command": "normalized_steps" })),
    ])
}

pub(crate) fn submit(text: &str, step_events: Value) -> Do {
    Do::Call("submit_routine", json!({ "markdown": text, "step_events": step_events }))
}

pub(crate) fn submit_with(text: &str, step_events: Value, more: Value) -> Do {
    let mut arguments = json!({ "markdown": text, "step_events": step_events });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Do::Call("submit_routine", arguments)
}

pub(crate) fn ask(question: &str, topic: &str, events: &[u64]) -> Do {
    Do::Call("ask_user", json!({ "question": question, "topic": topic, "events": events }))
}

/// A routine that starts at an address, with steps.
pub(crate) fn routine(url: &str, more: &str, steps: &[&str]) -> String {
    let steps: Vec<String> =
        steps.iter().enumerate().map(|(at, step)| format!("## Step {}: {step}\n", at + 1)).collect();
    format!("# Workflow: Do it\n\n## Prerequisites\nStarting URL: {url}\n\n{more}{}", steps.join("\n"))
}

const STOCKS: &str = "https://stocks.example/screener";

/// Two filters that were chosen, and a tab that was clicked.
pub(crate) fn stocks() -> Vec<Value> {
    let mut trace = Trace::on(STOCKS, "Screener");
    trace.select(&element("combobox", "Market cap", "fs_cap"), "largeover", "Large (over $10bln)");
    trace.select(&element("combobox", "Country", "fs_geo"), "usa", "USA");
    trace.click(&element("button", "Apply filters", "apply_filters"));
    trace.navigated(&format!("{STOCKS}?cap=largeover&geo=usa"), "Screener");
    trace.end()
}

/// What is right for [`stocks`].
pub(crate) fn stocks_routine() -> String {
    routine(
        STOCKS,
        "",
        &[
            "Choose the filters\n**Keywords:** fs_cap\nSet Market cap to largeover (Large (over $10bln)) and Country to usa (USA).",
            "Apply them\n**Keywords:** apply_filters\nPress Apply filters.",
        ],
    )
}

#[test]
fn a_clear_recording_is_compiled_without_a_question() {
    let right = stocks_routine();
    let events = json!({ "1": [3, 4], "2": [5] });
    let plan = vec![
        // Without having looked.
        submit(&right, events.clone()),
        look(),
        Do::Call("trace_viewer", json!({ "command": "event_detail", "event": 3 })),
        Do::Call("trace_viewer", json!({ "command": "event_detail", "event": 99 })),
        Do::Call("trace_viewer", json!({ "command": "keyframe", "event": 3 })),
        Do::Call("trace_viewer", json!({ "command": "events", "start": 2, "count": 2 })),
        // Near misses: a token nobody recorded, one of two elements, the label without the value, steps in another order.
        submit(&right.replace("fs_cap", "market-cap"), events.clone()),
        submit(&right.replace("fs_cap", "Screener"), events.clone()),
        submit(&right.replace("fs_cap", "Market"), events.clone()),
        submit(&right.replace("fs_cap", "combobox"), events.clone()),
        submit(&right.replace("largeover (Large (over $10bln))", "Large (over $10bln)"), events.clone()),
        submit(&right, json!({ "1": [5], "2": [3, 4] })),
        submit(&right, json!({ "1": [3, 4], "2": [4, 5] })),
        submit(&right, json!({ "1": [3, 4] })),
        submit(&right, json!({ "1": [3, 4], "2": [5, 77] })),
        submit(&right.replace("Press Apply", "Enter {{city}}, press Apply"), events.clone()),
        submit(&right.replace("stocks.example", "other.example"), events.clone()),
        submit(&right.replace("## Step 2", "## Step 3"), events.clone()),
        Do::Call("draft", json!({ "command": "replace", "old": "## Step 3", "new": "## Step 2" })),
        Do::Call("draft", json!({ "command": "read" })),
        Do::Say("Done, I think."),
        Do::Call("submit_routine", json!({ "step_events": events })),
        Do::Say("Sets two filters and applies them."),
    ];
    let compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "", &stocks());
    let ended = compiling.compile(&id);
    let result = ended.result();
    assert_eq!(
        compiling.refusals(&id),
        [
            "CONFLICT",
            "NOT_FOUND",
            "NOT_FOUND",
            "KEYWORD_NOT_RECORDED",
            "KEYWORD_NOT_RECORDED",
            "KEYWORD_PART",
            "KEYWORD_NOT_UNIQUE",
            "OPTION_NOT_RECORDED",
            "KEYWORD_NOT_RECORDED EVENTS_ORDER OPTION_NOT_RECORDED OPTION_NOT_RECORDED KEYWORD_NOT_RECORDED",
            "EVENTS_TWICE OPTION_NOT_RECORDED",
            "EVENTS_MISSING STEP_NOT_RECORDED",
            "EVENTS_UNKNOWN",
            "INPUT_UNDECLARED",
            "URL_NOT_RECORDED",
            "STEP_NUMBER",
        ],
        "{}",
        compiling.results(&id)
    );
    assert_eq!(
        [&result["status"], &result["goal"], &result["step_count"]],
        [&json!("review"), &json!("Do it"), &json!(2)]
    );
    assert_eq!(result["routine_markdown"], stocks_routine());
    assert_eq!(result["step_events"], json!({ "1": [3, 4], "2": [5] }));
    assert_eq!(result["summary_message"], "Sets two filters and applies them.");
    assert_eq!(result["difference"], Value::Null);
    let results = compiling.results(&id);
    assert!(results.contains("fs_cap") && results.contains("untrusted page content"), "{results}");
    // The trace of it is a file that the answer names.
    let trace = std::fs::read_to_string(result["trace_path"].as_str().unwrap()).unwrap();
    assert!(trace.contains("Sets two filters") && trace.contains("submit_routine"), "{trace}");
    // It is no conversation of a person.
    let api = &compiling.tasks.served.api;
    assert_eq!(api.get("/agent/conversations").ok()["count"], 0);
    let all = api.get("/agent/conversations?all").ok();
    assert_eq!([&all["count"], &all["conversations"][0]["mode"]], [&json!(1), &json!("compile")]);
    let conversation = all["conversations"][0]["id"].as_str().unwrap();
    let path = format!("/agent/conversations/{conversation}");
    api.post(&format!("{path}/messages"), &json!({ "text": "Hello" })).fails(409, "CONFLICT");
    api.post("/agent/conversations", &json!({ "mode": "compile" })).fails(400, "BAD_REQUEST");
    // Saved as it was read, with its link and its events.
    let saved = compiling.finalize(&id, "Filters");
    let routine = &saved["routine"];
    assert_eq!(routine["routine_markdown"], stocks_routine());
    assert_eq!([&routine["source"], &routine["source_recording_id"]], [&json!("present"), &json!(id)]);
    assert_eq!(routine["trust"], "untried");
    assert_eq!(compiling.state(&id)["status"], "completed");
    let shown = api.get(&format!("/recordings/{id}")).ok();
    assert_eq!(shown["recording"]["routine_ids"], json!([saved["routine_id"]]));
    assert_eq!(shown["recording"]["compile"]["status"], "completed");
    let finalize = format!("/recordings/{id}/compile/finalize");
    api.post(&finalize, &json!({ "name": "Again" })).fails(409, "CONFLICT");
    api.delete(&format!("/recordings/{id}")).ok();
    assert_eq!(api.get("/agent/conversations?all").ok()["count"], 0);
    assert!(!std::path::Path::new(result["trace_path"].as_str().unwrap()).exists());
}
