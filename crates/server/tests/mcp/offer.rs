//! Answers to requests of the Model Context Protocol, in both protocol revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use cdpilot::ErrorKind;
use cdpilot::sync::{Cancel, Deadline};
use cdpilot_server::mcp::server::{Peer, ToolServer};
use cdpilot_server::mcp::{LEGACY, MODERN, Message};
use cdpilot_server::tools::toolsets::{Enabled, Toolsets};
use cdpilot_server::tools::{Outcome, Registry, Session, Source, Tool, ToolError};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::test_home::{TestHome, overrides};
use crate::support::tool_home::ToolHome;
use crate::support::tool_workspace::no_scope;

/// Those that are offered by default.
const DEFAULT: [&str; 12] = [
    "browser_click",
    "browser_dialog",
    "browser_evaluate",
    "browser_fill",
    "browser_navigate",
    "browser_press",
    "browser_screenshot",
    "browser_select",
    "browser_snapshot",
    "browser_tabs",
    "browser_type",
    "browser_wait",
];

fn offer(tooled: &ToolHome) -> ToolServer {
    let enabled = Enabled::new(vec!["cdpilot-mcp".to_owned()]);
    ToolServer::new(Arc::clone(&tooled.registry), tooled.toolsets(), enabled, no_scope())
}

fn ask(offer: &ToolServer, message: Value) -> Option<Value> {
    let Ok(Message::Request(request)) = Message::of(message) else { panic!("no request") };
    let response = Mutex::new(Vec::new());
    offer.answer(
        &request,
        &Peer { notify: &|value| response.lock().push(value), cancel: &Cancel::new(), session: &Session::default() },
    )
}

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn both_protocol_revisions_are_supported() {
    let tooled = ToolHome::of(TestHome::without_browser("", overrides(None)));
    let offer = offer(&tooled);
    for (requested, given) in [(LEGACY, LEGACY), ("2025-06-18", "2025-06-18"), ("1999-01-01", LEGACY)] {
        let hello = json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": { "protocolVersion": requested, "capabilities": {} } });
        let response = ask(&offer, hello).unwrap();
        assert_eq!((&response["id"], &response["result"]["protocolVersion"]), (&json!("a"), &json!(given)));
        assert_eq!(response["result"]["serverInfo"]["name"], "cdpilot");
    }
    assert_eq!(ask(&offer, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })), None);
    assert_eq!(ask(&offer, json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })).unwrap()["result"], json!({}));
    let found = ask(&offer, modern("server/discover", json!({}))).unwrap();
    assert_eq!(
        (&found["result"]["resultType"], &found["result"]["supportedVersions"][0]),
        (&json!("complete"), &json!(MODERN))
    );
    let list = ask(&offer, modern("tools/list", json!({}))).unwrap();
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["resultType"] == "complete");
    let list = ask(&offer, json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).unwrap();
    assert!(list["result"].get("ttlMs").is_none() && list["result"].get("resultType").is_none());

    let mut other = modern("tools/list", json!({}));
    other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let refused = ask(&offer, other).unwrap();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["supported"][0]),
        (&json!(-32022), &json!(MODERN))
    );
    for (request, code) in [
        (modern("initialize", json!({})), -32601),
        (modern("nothing", json!({})), -32601),
        (modern("tools/call", json!({ "name": "nothing" })), -32602),
        (modern("tools/call", json!({ "name": "browser_click", "arguments": [] })), -32602),
        (modern("tools/list", json!({ "cursor": "x" })), -32602),
    ] {
        assert_eq!(ask(&offer, request.clone()).unwrap()["error"]["code"], code, "{request}");
    }
    let refused =
        ask(&offer, modern("tools/call", json!({ "name": "browser_click", "arguments": { "ref": "e1" } }))).unwrap();
    assert_eq!(
        (&refused["result"]["isError"], &refused["result"]["structuredContent"]["code"]),
        (&json!(true), &json!("BROWSER_NOT_RUNNING"))
    );
}

#[test]
fn the_default_tools_are_few_and_small() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.started();
    let list = ask(&offer(&tooled), json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, DEFAULT, "in an order that stays");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        for union in ["anyOf", "oneOf", "allOf"] {
            assert!(tool["inputSchema"].get(union).is_none(), "{tool}");
        }
        assert!(!tool["inputSchema"].to_string().contains("null"), "{tool}");
    }
    let bytes = list.to_string().len();
    println!("tools/list: {} tools, {bytes} bytes", tools.len());
    assert!(bytes <= 8192, "{bytes} bytes");
}

/// Tools that come from elsewhere when they are asked for, or never do.
struct Elsewhere {
    toolset: &'static str,
    registry: Arc<Registry>,
    fails: bool,
}

impl Source for Elsewhere {
    fn toolset(&self) -> &str {
        self.toolset
    }

    fn load(&self, _: Deadline<'_>) -> Result<(), ToolError> {
        if self.fails {
            return Err(ToolError::new(ErrorKind::Timeout, "it does not come"));
        }
        let tool = Tool::of("there_is", "Is there.", |_, _: BTreeMap<String, String>| Ok(Outcome::default()));
        self.registry
            .register(self.toolset, tool)
            .map_err(|problem| ToolError::new(ErrorKind::Internal, problem.to_string()))
    }
}

#[test]
fn tools_of_mcp_servers_are_listed_when_enabled() {
    let ask_for = |toolsets: &[&str], message: Value| {
        let registry = Arc::new(Registry::new());
        for (toolset, fails) in [("mcp-there", false), ("mcp-broken", true)] {
            registry.add_source(Arc::new(Elsewhere { toolset, registry: Arc::clone(&registry), fails }));
        }
        let toolsets = toolsets.iter().copied();
        let enabled = Enabled::new(toolsets);
        let sets = Toolsets::new(Arc::clone(&registry), BTreeMap::new());
        ask(&ToolServer::new(registry, sets, enabled, no_scope()), message).unwrap()
    };
    // What does not come costs nobody else a tool.
    let list = ask_for(&["mcp-broken", "mcp-there"], modern("tools/list", json!({})));
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(1), "{list}");
    // Who looks often starts nothing by it.
    let mut as_it_is = modern("tools/list", json!({}));
    as_it_is["params"]["_meta"]["cdpilot/asItIs"] = json!(true);
    assert_eq!(ask_for(&["mcp-there"], as_it_is)["result"]["tools"], json!([]));
    // A call need not have been preceded by a list.
    let call = modern("tools/call", json!({ "name": "there_is" }));
    assert_eq!(ask_for(&["mcp-there"], call.clone())["result"]["isError"], false);
    let missing = ask_for(&["mcp-broken"], call);
    assert_eq!(missing["result"]["structuredContent"]["code"], "TIMEOUT", "{missing}");
    let unknown = modern("tools/call", json!({ "name": "there_is_not" }));
    assert_eq!(ask_for(&["mcp-there"], unknown)["error"]["code"], -32602);
}
