//! MCP over HTTP: `POST /mcp`.

use std::io::{BufReader, Read as _};

use cdpilot::sync::pause;
use cdpilot_server::mcp::MODERN;
use serde_json::{Value, json};

use crate::support::api::{ApiResponse, TestServer};
use crate::support::chrome::soon;

fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    message(method, params)
}

fn post(served: &TestServer, headers: &str, body: &Value) -> ApiResponse {
    served.api.ask("POST", "/mcp", Some(&body.to_string()), headers)
}

/// The headers of a request that stands by itself.
fn headers(method: &str) -> String {
    format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\n")
}

#[test]
fn an_invalid_custom_toolset_leaves_the_others_usable() {
    let served = TestServer::with(|config, _| {
        for (name, parts) in [("a", ["b", "file"]), ("b", ["a", "todo"]), ("odd", ["fiel", "todo"])] {
            config.custom_toolsets.insert(name.to_owned(), parts.map(str::to_owned).to_vec());
        }
    });
    let list = |toolsets: &str| {
        let path = format!("/mcp?toolsets={toolsets}");
        let response = served.api.ask("POST", &path, Some(&message("tools/list", json!({})).to_string()), "");
        response.json()
    };
    let count = |response: &Value| response["result"]["tools"].as_array().map_or(0, Vec::len);
    for all in ["all", "*", "all,todo"] {
        assert!(count(&list(all)) > 20, "{all}: {}", list(all));
    }
    // What is asked for by name is still named when it is wrong.
    for (requested, part) in [("a", "a → b → a"), ("all,fiel", "file"), ("hermes-cli", "cdpilot-cli")] {
        let response = list(requested);
        assert!(
            response["error"]["message"].as_str().is_some_and(|error| error.contains(part)),
            "{requested}: {response}"
        );
    }
}

#[test]
fn the_initialize_revision_needs_no_session() {
    let served = TestServer::start();
    let hello = message("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    let response = served.api.post("/mcp", &hello);
    assert!(response.status == 200 && response.head.to_ascii_lowercase().contains("mcp-session-id: "), "{response:?}");
    assert_eq!(response.json()["result"]["protocolVersion"], "2025-11-25");
    let version = "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: nobody\r\n";
    for response in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "id": 5, "result": {} }),
    ] {
        let answer = post(&served, version, &response);
        assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{response}");
    }
    let list = post(&served, version, &message("tools/list", json!({}))).json();
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(11), "{list}");
    let call = message("tools/call", json!({ "name": "browser_click", "arguments": { "ref": "e1" } }));
    let refused = post(&served, "Accept: application/json, text/event-stream\r\n", &call);
    assert!(refused.head.contains("application/json"), "{}", refused.head);
    assert_eq!(refused.json()["result"]["structuredContent"]["code"], "BROWSER_NOT_RUNNING");
    assert_eq!(post(&served, "", &message("nothing", json!({}))).status, 200);
    let refused = post(&served, "MCP-Protocol-Version: 1999-01-01\r\n", &message("ping", json!({})));
    assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (400, Some(-32022)));
    let refused = served.api.ask("GET", "/mcp", None, "Accept: text/event-stream\r\n");
    assert!(refused.head.to_ascii_lowercase().contains("allow: post, delete"), "{}", refused.head);
    refused.fails(405, "METHOD_NOT_ALLOWED");
    served.api.delete("/mcp").fails(400, "BAD_REQUEST");
}

#[test]
fn headers_must_match_the_body() {
    let served = TestServer::start();
    let named = |name: &str| headers("tools/call") + &format!("Mcp-Name: {name}\r\n");
    let call = modern("tools/call", json!({ "name": "browser_tabs", "arguments": { "action": "list" } }));
    let found = post(&served, &headers("server/discover"), &modern("server/discover", json!({})));
    assert_eq!((found.status, &found.json()["result"]["resultType"]), (200, &json!("complete")));
    for name in ["browser_tabs", "=?base64?YnJvd3Nlcl90YWJz?="] {
        let response = post(&served, &named(name), &call);
        assert_eq!(
            (response.status, response.json()["result"]["isError"].is_boolean()),
            (200, true),
            "{name}: {}",
            response.text
        );
    }
    let mut unsupported = call.clone();
    unsupported["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2199-01-01");
    let mut incapable = call.clone();
    incapable["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Value::Null;
    let version = format!("MCP-Protocol-Version: {MODERN}\r\n");
    for (headers, body, status, code) in [
        (String::new(), &call, 400, -32020),
        (version.clone(), &call, 400, -32020),
        (headers("tools/call"), &call, 400, -32020),
        (headers("tools/list"), &call, 400, -32020),
        (named("browser_click"), &call, 400, -32020),
        (named("=?base64?!?="), &call, 400, -32020),
        (named("browser_tabs") + "Mcp-Name: browser_tabs\r\n", &call, 400, -32020),
        (version + "Mcp-Method: ping\r\n", &message("ping", json!({})), 400, -32020),
        (named("browser_tabs"), &unsupported, 400, -32020),
        ("MCP-Protocol-Version: 2199-01-01\r\n".to_owned(), &unsupported, 400, -32022),
        (named("browser_tabs"), &incapable, 400, -32602),
        (headers("nothing"), &modern("nothing", json!({})), 404, -32601),
        (headers("ping"), &modern("ping", json!({})), 404, -32601),
        (named("nothing"), &modern("tools/call", json!({ "name": "nothing" })), 400, -32602),
        (headers("subscriptions/listen"), &modern("subscriptions/listen", json!({ "notifications": {} })), 406, -32600),
        (headers("x"), &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), 400, -32600),
    ] {
        let response = post(&served, &headers, body);
        let found = response.json();
        assert_eq!(
            (response.status, found["error"]["code"].as_i64()),
            (status, Some(code)),
            "{headers}{body}: {found}"
        );
        assert_eq!(found["id"], 1);
    }
    for (body, code) in [("{", -32700), ("[]", -32600), ("{}", -32600)] {
        let response = served.api.ask("POST", "/mcp", Some(body), "");
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (400, Some(code)), "{body}");
    }
}

#[test]
fn access_is_checked_by_host_origin_and_token() {
    let served = TestServer::start();
    let ping = message("ping", json!({})).to_string();
    let mut stranger = served.api.clone();
    stranger.token = "wrong".to_owned();
    stranger.ask("POST", "/mcp", Some(&ping), "").fails(401, "UNAUTHORIZED");
    served.api.ask("POST", "/mcp", Some(&ping), "Origin: http://evil.example\r\n").fails(403, "FORBIDDEN_ORIGIN");
    served.api.ask("POST", "/mcp?toolset=browser", Some(&ping), "").fails(400, "UNKNOWN_FIELD");
    assert_eq!(served.api.ask("POST", "/mcp", None, "").json()["error"]["code"], -32700);
    let list = |query: &str| {
        let response = served.api.post(&format!("/mcp?{query}"), &message("tools/list", json!({})));
        (response.status, response.json())
    };
    let (status, response) = list("toolsets=browser_tabs,browser_wait&profile=cdpilot");
    let names: Vec<&str> =
        response["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((status, names), (200, vec!["browser_tabs", "browser_wait"]));
    let (status, response) = list("toolsets=brwser_tabs");
    assert_eq!((status, &response["error"]["code"]), (400, &json!(-32602)));
    assert!(response["error"]["message"].as_str().unwrap().contains("\"browser_tabs\""), "{response}");
    let (status, response) = list("profile=nobody");
    assert_eq!((status, &response["error"]["code"]), (404, &json!(-32602)));
}

/// The next message of a stream.
fn event(lines: &mut impl std::io::BufRead) -> Option<Value> {
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return Some(serde_json::from_str(data).unwrap());
        }
    }
}

/// How many threads of this process do calls whose progress is followed.
fn followed() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.trim() == "mcp-call-http").count()
}

#[test]
fn a_call_that_changes_the_tools_notifies_clients_without_a_stream() {
    let open = |meta: Value| {
        let arguments = json!({ "action": "open", "url": "about:blank" });
        message("tools/call", json!({ "name": "browser_tabs", "arguments": arguments, "_meta": meta })).to_string()
    };
    let both = "Accept: application/json, text/event-stream\r\n";
    for meta in [json!({}), json!({ "progressToken": 1 })] {
        let Some(served) = TestServer::browsing_with(|_, _| {}) else { return };
        let mut response = BufReader::new(served.api.send("POST", "/mcp", Some(&open(meta.clone())), both));
        let mut came = Vec::new();
        while let Some(one) = event(&mut response) {
            came.push(one);
        }
        let came: Vec<Value> = came.into_iter().filter(|one| one["method"] != "notifications/progress").collect();
        assert_eq!(came[0], json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }), "{came:?}");
        assert_eq!((&came[1]["id"], &came[1]["result"]["isError"], came.len()), (&json!(1), &json!(false), 2));
        // Nothing changes with the next one, and who takes no streams is sent none.
        let next = served.api.ask("POST", "/mcp", Some(&open(json!({}))), both);
        assert!(next.head.contains("application/json") && next.status == 200, "{}", next.head);
    }
    let Some(served) = TestServer::browsing_with(|_, _| {}) else { return };
    let plain = served.api.ask("POST", "/mcp", Some(&open(json!({}))), "Accept: application/json\r\n");
    assert_eq!(plain.json()["result"]["isError"], false);
}

#[test]
fn streams_deliver_notifications_and_a_disconnect_cancels() {
    let Some(served) = TestServer::browsing_with(|_, options| options.limits.action_threads = 1) else { return };
    let accept = "Accept: application/json, text/event-stream\r\n";
    let body = modern("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })).to_string();
    let wanted = headers("subscriptions/listen") + accept;
    let mut listening = BufReader::new(served.api.send("POST", "/mcp", Some(&body), &wanted));
    let first = event(&mut listening).unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    served.show("<button>Press</button>");
    let changed = event(&mut listening).unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    drop(listening);

    let called = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "t" } });
        message("tools/call", params).to_string()
    };
    let never = json!({ "text": "never", "timeout_ms": 110_000 });
    let quick = called("browser_snapshot", json!({}));
    let mut response = BufReader::new(served.api.send("POST", "/mcp", Some(&quick), accept));
    let answer = event(&mut response).unwrap();
    assert!(answer["result"]["structuredContent"]["snapshot"].as_str().unwrap().contains("Press"), "{answer}");
    assert_eq!(event(&mut response), None, "the answer is the last");

    // Followed as a stream: its thread goes with the client. The next one waits for it to say that it goes on.
    let mut following =
        BufReader::new(served.api.send("POST", "/mcp", Some(&called("browser_wait", never.clone())), accept));
    let progress = event(&mut following).unwrap();
    assert_eq!(
        (&progress["method"], &progress["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("t"))
    );
    drop(following);
    let until = soon();
    while cfg!(target_os = "linux") && followed() > 0 {
        assert!(!until.passed(), "the call goes on for nobody");
        pause(std::time::Duration::from_millis(20));
    }

    // With an answer as a whole, the only thread there is is free again for the next request.
    let waiting = served.api.send("POST", "/mcp", Some(&called("browser_wait", never)), "Accept: application/json\r\n");
    // Nothing says that it has begun; who hangs up before that is not worked for at all.
    pause(std::time::Duration::from_millis(300));
    drop(waiting);
    let mut next = served.api.send("POST", "/mcp", Some(&quick), "Accept: application/json\r\n");
    next.set_read_timeout(Some(crate::support::LIMIT)).unwrap();
    let mut text = String::new();
    next.read_to_string(&mut text).expect("the first call goes on for nobody");
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("Press"), "{text}");
}
