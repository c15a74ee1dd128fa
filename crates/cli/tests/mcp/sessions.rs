//! Each connection over MCP has a current tab of its own.

use serde_json::{Value, json};

use crate::cli_run::Program;
use crate::support::api::TestServer;
use crate::support::mcp_process::McpProcess;
use crate::support::site::Site;

fn title(response: &Value) -> &str {
    response["title"].as_str().unwrap_or_else(|| panic!("{response}"))
}

#[test]
fn each_connection_over_stdio_has_its_own_tab() {
    let Some(program) = Program::at_home().0.leasing() else { return };
    let site = Site::start();
    for name in ["one", "two"] {
        site.page(&format!("/{name}"), &format!("<title>{name}</title><button>{name}</button>"));
    }
    // The first one serves the home itself, the second one goes to its server.
    let (mut first, mut second) = (McpProcess::start(program.command(&["mcp"])), None::<McpProcess>);
    first.call(1, "browser_navigate", json!({ "url": site.url("a", "/one") }));
    let second = second.insert(McpProcess::start(program.command(&["mcp"])));
    let none = second.call(1, "browser_snapshot", json!({}));
    assert_eq!((&none["success"], &none["code"]), (&json!(false), &json!("TAB_NOT_FOUND")), "{none}");
    let advice = none["error"].as_str().unwrap();
    assert!(advice.contains("browser_navigate") && advice.contains("browser_tabs"), "{advice}");
    let tabs = second.call(2, "browser_tabs", json!({ "action": "list" }));
    assert!(tabs["tabs"].as_array().unwrap().iter().all(|tab| tab["active"] == false), "{tabs}");
    assert_eq!(title(&second.call(3, "browser_navigate", json!({ "url": site.url("a", "/two") }))), "two");
    // Both go on where they were.
    for (connection, name) in [(&mut first, "one"), (second, "two")] {
        let seen = connection.call(8, "browser_snapshot", json!({}));
        assert!(seen["snapshot"].as_str().unwrap().contains(&format!("button \"{name}\"")), "{seen}");
        let tabs = connection.call(9, "browser_tabs", json!({ "action": "list" }));
        let active: Vec<&Value> = tabs["tabs"].as_array().unwrap().iter().filter(|tab| tab["active"] == true).collect();
        assert!(active.len() == 1 && title(active[0]) == name, "{tabs}");
    }
}

#[test]
fn http_clients_are_distinguished_by_session() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/one", "<title>one</title>");
    served.site.page("/two", "<title>two</title>");
    let ask = |session: &str, method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        served.api.ask("POST", "/mcp", Some(&body), session)
    };
    let hello = || {
        let response = ask("", "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
        let line = response.head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        format!("{}\r\n", line.unwrap_or_else(|| panic!("{}", response.head)))
    };
    let (first, second) = (hello(), hello());
    assert_ne!(first, second);
    let call = |session: &str, name: &str, arguments: Value| {
        let response = ask(session, "tools/call", json!({ "name": name, "arguments": arguments })).json();
        response["result"]["structuredContent"].clone()
    };
    let open =
        |session: &str, path: &str| call(session, "browser_navigate", json!({ "url": served.site.url("a", path) }));
    assert_eq!(title(&open(&first, "/one")), "one");
    assert_eq!(call(&second, "browser_snapshot", json!({}))["code"], "TAB_NOT_FOUND");
    assert_eq!(title(&open(&second, "/two")), "two");
    let shown =
        |session: &str| call(session, "browser_evaluate", json!({ "script": "document.title" }))["result"].clone();
    assert_eq!((shown(&first), shown(&second)), (json!("one"), json!("two")));
    // Without a session it is the one that the CLI and the other routes have.
    let listed = served.api.get("/tabs").ok();
    let active = listed["tabs"].as_array().unwrap().iter().find(|tab| tab["active"] == true).unwrap();
    assert_eq!(shown(""), active["title"]);
    let bad = ask(&format!("Mcp-Session-Id: {}\r\n", "x".repeat(200)), "ping", json!({}));
    assert_eq!((bad.status, bad.json()["error"]["code"].as_i64()), (400, Some(-32600)), "{}", bad.text);
}
