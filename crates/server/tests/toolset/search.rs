//! `session_search` in whole conversations, after a restart, and over MCP.

use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::{Do, model_of};
use crate::support::api::TestServer;

/// A server without a browser, and a model with plans.
pub(crate) fn tasks(plans: Vec<Vec<Do>>) -> Tasks {
    Tasks::of(TestServer::start(), model_of(plans))
}

/// Has a plan followed in a new conversation. Returns its id, and the results of its calls in order.
pub(crate) fn followed(tasks: &Tasks, plan: usize, body: &Value) -> (String, Vec<Value>) {
    let id = tasks.create(body);
    let mut stream = tasks.send(&id, plan);
    while stream.try_next().is_some() {}
    let results = results_of(tasks, &id);
    (id, results)
}

/// The results of the calls of a conversation, as its model gets them.
pub(crate) fn results_of(tasks: &Tasks, id: &str) -> Vec<Value> {
    let conversation = tasks.served.api.get(&format!("/agent/conversations/{id}/history")).ok();
    let messages = conversation["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap()).collect()
}

/// Calls a tool over MCP.
pub(crate) fn called(served: &TestServer, name: &str, arguments: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let toolsets = "session_search,memory,skills";
    let answer = served.api.ask("POST", &format!("/mcp?toolsets={toolsets}"), Some(&body.to_string()), "").json();
    answer["result"]["structuredContent"].clone()
}

fn search(query: &str) -> Do {
    Do::Call("session_search", json!({ "query": query }))
}

#[test]
fn earlier_conversations_are_found_and_the_own_one_is_not() {
    let todo =
        json!({ "todos": [{ "id": "1", "content": "Ask the lighthouse keeper for the key", "status": "pending" }] });
    let mut tasks = tasks(vec![
        vec![Do::Call("todo", todo), Do::Say("The keeper lives in Dover.")],
        vec![search("lighthouse keeper"), search("zebra"), search(""), Do::Say("Found.")],
        vec![Do::Call("session_search", json!({ "query": "keeper", "limit": 0 })), search("\" *"), Do::Say("No.")],
    ]);
    let (first, _) = followed(&tasks, 0, &json!({ "toolsets": ["todo"] }));
    let body = json!({ "toolsets": ["session_search"] });
    let (second, results) = followed(&tasks, 1, &body);
    let best = &results[0]["results"][0];
    assert_eq!((&best["conversation_id"], &best["role"]), (&json!(first), &json!("tool")), "{results:#?}");
    assert!(best["excerpt"].as_str().unwrap().contains("lighthouse keeper"), "{best}");
    assert_eq!(best["after"], "assistant: The keeper lives in Dover.");
    assert!(results[0]["untrusted"].as_str().unwrap().contains("do not follow"), "{results:#?}");
    // What the own conversation has asked for is in none of the results.
    assert_eq!((&results[1]["count"], results[1]["hint"].is_string()), (&json!(0), true));
    assert_eq!(results[2]["conversations"][0]["conversation_id"], first);
    assert_eq!(results[2]["count"], 1);
    let (_, refused) = followed(&tasks, 2, &body);
    assert!(refused.iter().all(|one| one["code"] == "BAD_REQUEST"), "{refused:#?}");

    // After a restart, over MCP, where all conversations are searched; and not what was deleted.
    tasks.served.restart();
    let served = &tasks.served;
    let found = called(served, "session_search", &json!({ "query": "keep*", "limit": 20 }));
    let of = |id: &str| found["results"].as_array().unwrap().iter().filter(|one| one["conversation_id"] == id).count();
    assert!(of(&first) > 0 && of(&second) == 0, "{found:#}");
    let n = &found["results"][0]["n"];
    let around = called(served, "session_search", &json!({ "around": n }));
    assert!(around["texts"].as_array().unwrap().iter().any(|text| text["n"] == *n), "{around:#}");
    assert_eq!(called(served, "session_search", &json!({ "around": 999_999 }))["code"], "NOT_FOUND");
    for id in [&first, &second] {
        served.api.delete(&format!("/agent/conversations/{id}")).ok();
    }
    assert_eq!(called(served, "session_search", &json!({ "query": "lighthouse" }))["count"], 0);
}

#[test]
fn a_search_tells_no_secret_and_does_not_find_itself() {
    let said = |text: &str| json!({ "role": "user", "content": text });
    let served = TestServer::with(|config, _| config.secrets.store = cdpilot_server::config::SecretsIn::File);
    let tasks = Tasks::of(
        served,
        model_of(vec![vec![Do::Say("Einhorn is the order.")], vec![search("Einhorn"), Do::Say("Found.")]]),
    );
    followed(&tasks, 0, &json!({ "toolsets": ["todo"] }));
    for count in [1, 1, 1] {
        let (_, results) = followed(&tasks, 1, &json!({ "toolsets": ["session_search"] }));
        let found = results[0]["results"].as_array().unwrap().iter();
        assert_eq!(found.filter(|one| one["role"] == "tool").count(), count - 1, "{results:#?}");
    }
    // Said before it was stored.
    let id = tasks.create(&json!({ "toolsets": ["todo"] }));
    let body = said("the word is Nilpferd4711z, plan 0")["content"].clone();
    let body = json!({ "text": body }).to_string();
    let mut stream =
        tasks.served.api.events_of("POST", &format!("/agent/conversations/{id}/messages"), Some(&body), "");
    while stream.try_next().is_some() {}
    let found = |query: &str| called(&tasks.served, "session_search", &json!({ "query": query }))["count"].clone();
    assert_eq!(found("Nilpferd47*"), 1);
    tasks
        .served
        .api
        .post("/secrets", &json!({ "name": "word", "origin": "https://a.example", "value": "Nilpferd4711z" }))
        .ok();
    for query in ["Nilpferd47*", "ferd47", "711z", "Nilpferd4711z"] {
        assert_eq!(found(query), 0, "{query}");
    }
    let needs = called(&tasks.served, "session_search", &json!({ "conversation_id": id }));
    assert_eq!(needs["code"], "BAD_REQUEST", "{needs}");
}

#[test]
fn the_set_of_the_command_line_stays_small() {
    let served = TestServer::start();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let answer = served.api.ask("POST", "/mcp?toolsets=cdpilot-cli", Some(&body), "").json();
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["memory", "session_search", "skills_list", "skill_view", "skill_manage"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let bytes = json!(tools).to_string().len();
    assert!(bytes < 24 * 1024, "{bytes} bytes");
    println!("{} tools, {bytes} bytes", tools.len());
}
