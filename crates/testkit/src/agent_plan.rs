//! A model that follows plans of calls of the visual tools.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::streaming_model::{Script, StreamingModel};

/// What the model does next. Elements are those whose line in the last observations contains a text.
#[derive(Clone)]
pub enum Do {
    /// `tab` with an action and a URL.
    Tab(&'static str, String),
    /// `highlight`.
    Look,
    /// `element_interaction`: action, part of the line, text or value.
    Act(&'static str, &'static str, &'static str),
    /// `keyboard_input` with `submit`: part of the line, text.
    Enter(&'static str, &'static str),
    Dialog(&'static str, &'static str),
    /// A preview of a click and its confirmation in one answer.
    Unseen(&'static str),
    Help(&'static str),
    /// `request_host`.
    Host(String),
    /// Any tool. An argument `id:TEXT` is the id of the element whose line contains the text, `ref:TEXT` its ref in a snapshot.
    Call(&'static str, Value),
    /// Several calls in one answer.
    Calls(Vec<(&'static str, Value)>),
    /// Says nothing more.
    Hang,
    /// The final text; it ends with all texts of the last result.
    Say(&'static str),
}

/// The id of the element in the newest line that contains a text.
fn id_of(messages: &[Value], part: &str) -> String {
    let line = messages.iter().rev().find_map(|message| {
        let result: Value = serde_json::from_str(message["content"].as_str()?).ok()?;
        let text = result["observation"].as_str().unwrap_or_default().to_owned();
        text.lines().find(|line| line.contains("): ") && line.contains(part)).map(ToOwned::to_owned)
    });
    line.map_or_else(|| "none".to_owned(), |line| line.split('(').next().unwrap().to_owned())
}

/// The ref of the element in the newest line of a snapshot that contains a text; `A > B`: B, after a line with A.
fn ref_of(messages: &[Value], part: &str) -> String {
    let (before, part) = part.split_once(" > ").unwrap_or(("", part));
    let found = messages.iter().rev().find_map(|message| {
        let text = message["content"].as_str()?.replace("\\n", "\n").replace("\\\"", "\"");
        let after = text.lines().skip_while(|line| !line.contains(before));
        let line = { after }.find(|line| line.contains(part) && line.contains("[ref="))?;
        Some(line.split("[ref=").nth(1)?.split(']').next()?.to_owned())
    });
    found.unwrap_or_else(|| "none".to_owned())
}

/// Arguments with the ids and refs of the elements that they name.
fn with_ids(arguments: &Value, messages: &[Value]) -> Value {
    let mut arguments = arguments.clone();
    for value in arguments.as_object_mut().unwrap().values_mut() {
        if let Some(part) = value.as_str().and_then(|text| text.strip_prefix("ref:")) {
            *value = ref_of(messages, part).into();
            continue;
        }
        if let Some(part) = value.as_str().and_then(|text| text.strip_prefix("id:")) {
            *value = id_of(messages, part).into();
        }
    }
    arguments
}

/// The next step of a plan, in a stream of its own for each conversation: what was called is in the messages.
fn script(plan: &[Do], request: &Value) -> Script {
    let messages = request["messages"].as_array().unwrap();
    let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
    let call = |tool: &str, arguments: &Value| Script::stream().call(&format!("c{calls}"), tool, arguments).done();
    // A plan may go on behind a final text, after another message of the user.
    let answers = messages.iter().filter(|message| message["role"] == "assistant").count();
    match plan.get(answers).or_else(|| plan.get(calls)).expect("a step") {
        Do::Tab(action, url) if url.is_empty() => call("tab", &json!({ "action": action })),
        Do::Tab(action, url) => call("tab", &json!({ "action": action, "url": url })),
        Do::Look => call("highlight", &json!({ "element_type": "any" })),
        Do::Act(action, part, text) => {
            let field = match *action {
                "select" => "value",
                "keyboard_input" => "text",
                _ => "",
            };
            let mut arguments = json!({ "action": action });
            if !part.is_empty() {
                arguments["element_id"] = id_of(messages, part).into();
            }
            if !field.is_empty() {
                arguments[field] = (*text).into();
            }
            call("element_interaction", &arguments)
        }
        Do::Enter(part, text) => {
            let id = id_of(messages, part);
            let arguments = json!({ "action": "keyboard_input", "element_id": id, "text": text, "submit": true });
            call("element_interaction", &arguments)
        }
        Do::Dialog(action, text) => {
            let mut arguments = json!({ "dialog_action": action });
            if !text.is_empty() {
                arguments["prompt_text"] = (*text).into();
            }
            call("dialog", &arguments)
        }
        Do::Unseen(part) => {
            let function = |action: &str| {
                let arguments = json!({ "action": action, "element_id": id_of(messages, part) }).to_string();
                json!({ "name": "element_interaction", "arguments": arguments })
            };
            let both = json!([
                { "index": 0, "id": format!("a{calls}"), "type": "function", "function": function("click") },
                { "index": 1, "id": format!("b{calls}"), "type": "function", "function": function("confirm_click") },
            ]);
            Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": both } }] })).done()
        }
        Do::Call(tool, arguments) => call(tool, &with_ids(arguments, messages)),
        Do::Calls(all) => {
            let call = |(at, (tool, arguments)): (usize, &(&str, Value))| {
                let function = json!({ "name": tool, "arguments": arguments.to_string() });
                json!({ "index": at, "id": format!("{calls}x{at}"), "type": "function", "function": function })
            };
            let all: Vec<Value> = all.iter().enumerate().map(call).collect();
            Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": all } }] })).done()
        }
        Do::Hang => Script::stream().text("Hm").hang(),
        Do::Host(host) => call("request_host", &json!({ "host": host, "reason": "The task needs it." })),
        Do::Help(message) => call("please_help_me", &json!({ "message": message })),
        Do::Say(text) => Script::stream().text(text).done(),
    }
}

/// A model that follows a plan: the first message of a conversation contains `plan N`, or ends with its number.
pub fn model_of(plans: Vec<Vec<Do>>) -> StreamingModel {
    model_of_shared(&Arc::new(Mutex::new(plans)))
}

/// The same with plans that may be added while it is in use.
pub fn model_of_shared(plans: &Arc<Mutex<Vec<Vec<Do>>>>) -> StreamingModel {
    let plans = Arc::clone(plans);
    StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let first = messages.iter().find(|message| message["role"] == "user").unwrap();
        // The test of a model that was just saved.
        if first["content"].is_array() || first["content"].as_str().is_some_and(|text| text.contains("This is a test"))
        {
            return Script::stream().text("ok").done();
        }
        let text = first["content"].as_str().unwrap();
        let named = match text.rsplit_once("plan ") {
            Some((_, rest)) => rest.split_whitespace().next(),
            None => text.split_whitespace().last(),
        };
        let number: usize = named.unwrap().parse().unwrap();
        let plan = plans.lock()[number].clone();
        script(&plan, request)
    })
}
