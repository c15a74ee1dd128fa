//! `cdpilot mcp`, run as an MCP client runs it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use cdpilot::sync::{pause, spawn};
use cdpilot_server::config::{Config, Home, Running};
use cdpilot_server::server::{Server, ServerOptions};
use serde_json::{Value, json};

use crate::cli_run::{Program, has_browser, kill, processes_with};
use crate::support::chrome::soon;
use crate::support::mcp_process::McpProcess;

/// The program with a home below its folder for temporary files, any free ports, no window.
fn page(text: &str) -> Value {
    json!({ "url": format!("data:text/html,<title>{text}</title><button>{text}</button>") })
}

#[test]
fn its_own_browser_ends_with_stdin() {
    if !has_browser() {
        return;
    }
    let (program, home) = Program::at_home();
    let mut first = McpProcess::start(program.command(&["mcp"]));
    let hello = first.ask(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    assert_eq!(hello["result"]["serverInfo"]["name"], "cdpilot");
    assert!(hello["result"]["instructions"].as_str().unwrap().contains("browser_dialog"), "{hello}");
    first.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let before = first.tools(2);
    assert!(before.len() == 11 && !before.iter().any(|name| name == "browser_dialog"), "{before:?}");
    assert_eq!(first.call(3, "browser_navigate", page("Mine"))["title"], "Mine");
    first.next(|line| line["method"] == "notifications/tools/list_changed");
    let after = first.tools(4);
    assert!(after.len() == 12 && after.iter().any(|name| name == "browser_dialog"), "{after:?}");

    // A second one of the same home uses the same browser, and leaves it when a signal ends it.
    let mut second = McpProcess::start(program.command(&["mcp", "--toolsets", "browser_snapshot,browser_tabs"]));
    assert_eq!(second.tools(1), ["browser_snapshot", "browser_tabs"]);
    // It does not see the tabs of a connection that is open.
    let tabs = second.call(2, "browser_tabs", json!({ "action": "list" }));
    assert_eq!(tabs["tabs"], json!([]), "{tabs}");
    assert_eq!(second.call(3, "browser_snapshot", json!({ "target": "t1" }))["code"], "TAB_NOT_FOUND");
    kill(second.id(), "-TERM");
    assert_eq!(second.wait().code(), Some(0));
    assert!(first.call(5, "browser_snapshot", json!({}))["snapshot"].as_str().unwrap().contains("Mine"));

    // A call that would take long does not hold up the end for long.
    first.say(&json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {
        "name": "browser_wait", "arguments": { "text": "never", "timeout_ms": 110_000 } } }));
    first.end_input();
    assert_eq!(first.next(|line| line["id"] == 6)["error"]["code"], -32603);
    assert_eq!(first.wait().code(), Some(0));
    assert_eq!(Running::of(&home).unwrap(), None);
    let until = soon();
    while !processes_with(program.temp.path()).is_empty() {
        assert!(!until.passed(), "left: {:?}", processes_with(program.temp.path()));
        pause(Duration::from_millis(20));
    }
}

#[test]
fn invalid_settings_are_reported_before_serving() {
    let (program, home) = Program::at_home();
    let ran = program.run(&["mcp", "--toolsets", "browser,brwser_click"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("brwser_click") && ran.stderr.contains("\"browser_click\""), "{ran:?}");
    let ran = program.run(&["mcp", "--profile", "nobody"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");

    // A server that runs says the same, and its token is asked for.
    let server = serve(&home);
    let ran = program.run(&["mcp", "--toolsets", "browser,brwser_click"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("brwser_click") && ran.stderr.contains("\"browser_click\""), "{ran:?}");
    let ran = program.env("CDPILOT_TOKEN", "wrong").run(&["mcp"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
    server.stop(soon());
}

fn serve(home: &Home) -> Server {
    let mut options = ServerOptions::new(home.clone(), Config::of(home).unwrap());
    options.port = Some(0);
    Server::start(options).unwrap()
}

#[test]
fn an_invalid_llm_json_disables_only_tools_that_need_a_model() {
    let (program, home) = Program::at_home();
    std::fs::write(home.root().join("llm.json"), r#"{"models": {"one": {"modle": "m"}}}"#).unwrap();
    let mut spoken = McpProcess::start(program.command(&["mcp", "--toolsets", "browser,todo"]));
    let offered = spoken.tools(1);
    assert!(
        offered.iter().any(|name| name == "browser_navigate") && offered.iter().any(|name| name == "todo"),
        "{offered:?}"
    );
    assert!(!offered.iter().any(|name| name == "browser_vision"), "{offered:?}");
    let response = spoken.call(2, "browser_vision", json!({ "question": "What?" }));
    assert_eq!((&response["success"], &response["code"]), (&json!(false), &json!("TOOL_UNAVAILABLE")), "{response}");
    assert!(response["error"].as_str().unwrap().contains("did you mean model?"), "{response}");
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));
    let listed = program.run(&["tools", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let tools = listed.json()["tools"].clone();
    let vision = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "browser_vision").unwrap().clone();
    assert!(vision["why"].as_str().unwrap().contains("did you mean model?"), "{vision}");
    let server = serve(&home);
    assert_eq!(program.run(&["browser", "status"]).code, Some(0));
    server.stop(soon());
}

#[test]
fn calls_follow_the_current_server_of_the_home() {
    let (program, home) = Program::at_home();
    let server = serve(&home);
    let mut spoken = McpProcess::start(program.command(&["mcp"]));
    assert_eq!(spoken.tools(1).len(), 11);
    assert_eq!(Running::of(&home).unwrap().unwrap().pid, std::process::id());
    server.stop(soon());
    // Nobody serves it any more, so it does itself.
    assert_eq!(spoken.tools(2).len(), 11);
    assert_eq!(Running::of(&home).unwrap().unwrap().pid, spoken.id());
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));

    let first = serve(&home);
    let mut spoken = McpProcess::start(program.command(&["mcp"]));
    assert_eq!(spoken.tools(1).len(), 11);
    first.stop(soon());
    let second = serve(&home);
    assert_eq!(spoken.tools(2).len(), 11);
    assert_eq!(Running::of(&home).unwrap().unwrap().pid, std::process::id());
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));
    second.stop(soon());
}

#[test]
fn checking_for_tool_changes_starts_no_mcp_server() {
    let (program, home) = Program::at_home();
    let starts = program.temp.path().join("starts");
    let broken = format!("command: sh, args: [-c, 'echo x >> {}; exit 1']", starts.display());
    let config = format!(
        "mcp_servers: {{broken: {{{broken}}}}}\ntools: {{platforms: {{mcp: {{toolsets: [browser_tabs, mcp-broken]}}}}}}\n"
    );
    std::fs::write(home.config(), config).unwrap();
    let server = serve(&home);
    let mut spoken = McpProcess::start(program.command(&["mcp"]));
    spoken.ask(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    spoken.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(spoken.tools(2), ["browser_tabs"]);
    let count = || std::fs::read_to_string(&starts).unwrap().lines().count();
    let before = count();
    // It would be started again by now: it is looked for changes twice a second.
    pause(Duration::from_secs(3));
    assert_eq!(count(), before);
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));
    server.stop(soon());
}

#[test]
fn a_server_that_ends_during_a_call_fails_only_that_call() {
    let (program, _) = Program::at_home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = spawn("test-server", move || {
        for answers in [true, false] {
            let (mut socket, _) = listener.accept().unwrap();
            let (mut requested, mut piece) = (Vec::new(), [0; 4096]);
            while !requested.ends_with(b"}}") {
                let count = socket.read(&mut piece).unwrap();
                requested.extend_from_slice(&piece[..count]);
            }
            let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
            if answers {
                write!(socket, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
            }
        }
    });
    let mut spoken = McpProcess::start(program.command(&["mcp", "--url", &url]));
    let response = spoken.ask(1, "tools/call", json!({ "name": "browser_tabs", "arguments": {} }));
    assert!(response["error"]["message"].as_str().unwrap().contains("stopped before it answered"), "{response}");
    drop(server.unwrap());
    // Somebody said which server, so no other one is used.
    let response = spoken.ask(2, "tools/call", json!({ "name": "browser_tabs", "arguments": {} }));
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.contains("no server can be reached") && message.contains(&url), "{response}");
    assert_eq!(spoken.ask(3, "ping", json!({}))["result"], json!({}));
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));
}

#[test]
fn file_tools_use_the_working_directory() {
    let (program, home) = Program::at_home();
    let server = serve(&home);
    let folder = program.temp.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("note.txt"), "remember\n").unwrap();
    let mut command = program.command(&["mcp", "--toolsets", "file,todo,browser_tabs"]);
    let mut spoken = McpProcess::start({
        command.current_dir(&folder);
        command
    });
    let tools = ["browser_tabs", "patch", "read_file", "search_files", "todo", "write_file"];
    assert_eq!(spoken.tools(1), tools, "each of them once");
    let read = spoken.call(2, "read_file", json!({ "path": "note.txt" }));
    assert!(read.to_string().contains("remember"), "{read}");
    spoken.call(3, "write_file", json!({ "path": "new.txt", "content": "made\n" }));
    assert_eq!(std::fs::read_to_string(folder.join("new.txt")).unwrap(), "made\n");
    let outside = spoken.call(4, "read_file", json!({ "path": "../home/token" }));
    assert_eq!(outside["code"], "PATH_REFUSED", "{outside}");
    // The browser is that of the server.
    assert_eq!(spoken.call(5, "browser_tabs", json!({ "action": "list" }))["tabs"], json!([]));
    spoken.end_input();
    assert_eq!(spoken.wait().code(), Some(0));
    server.stop(soon());

    // A single command needs no server for it.
    let mut command = program.command(&["tool", "read_file", "{\"path\": \"note.txt\"}"]);
    let ran = command.current_dir(&folder).output().unwrap();
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("remember"), "{ran:?}");
    assert_eq!(Running::of(&home).unwrap(), None);
}
