//! Official clients of the Model Context Protocol, over stdio and HTTP: the Python SDKs of both revisions and the inspector.

use std::process::{Command, Stdio};
use std::time::Duration;

use cdpilot::sync::spawn;
use crossbeam_channel::bounded;
use serde_json::Value;

use crate::cli_run::kill;
use crate::support::api::TestServer;
use crate::support::mcp_peers::Peers;

const PAGE: &str = "<title>Ours</title><main><button>Press</button></main>";

/// Runs a program to its end. The JSON that it prints.
fn run(mut command: Command) -> Value {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (send, ended) = bounded(1);
    let _waiter = spawn("peer-wait", move || drop(send.send(child.wait_with_output()))).unwrap();
    let output = ended.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| {
        kill(id, "-KILL");
        panic!("{command:?} did not end")
    });
    let output = output.unwrap();
    let response = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {response}\n{errors}");
    serde_json::from_str(&response).unwrap_or_else(|problem| panic!("{command:?}: {problem}: {response}\n{errors}"))
}

fn script(name: &str) -> String {
    format!("{}/tests/peers/{name}", testkit::root().display())
}

/// Ways to our server: `stdio PROGRAM ARG…` and `http URL TOKEN`.
fn ways(served: &TestServer) -> [Vec<String>; 2] {
    let home = format!("CDPILOT_HOME={}", served.home.root().display());
    let program = ["stdio", "env", &home, env!("CARGO_BIN_EXE_cdpilot"), "mcp"].map(str::to_owned).to_vec();
    let url = format!("http://{}/mcp", served.api.address);
    [program, vec!["http".to_owned(), url, served.api.token.clone()]]
}

/// What each client has to have seen.
fn check(response: &Value) {
    let tools: Vec<&str> = response["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(tools.len() >= 11 && tools.contains(&"browser_navigate"), "{tools:?}");
    assert_eq!(
        (&response["went"]["success"], &response["went"]["title"]),
        (&true.into(), &"Ours".into()),
        "{response}"
    );
    assert!(response["seen"]["snapshot"].as_str().unwrap().contains("button \"Press\""), "{response}");
    assert_eq!(response["images"], serde_json::json!(["image/png"]), "{response}");
}

#[test]
fn the_python_sdk_of_either_revision_drives_a_page() {
    let Some(peers) = Peers::find() else { return };
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", PAGE);
    let page = served.site.url("a", "/");
    for way in ways(&served) {
        let mut modern = Command::new(peers.python());
        modern.arg(script("client_modern.py")).arg(&page).args(&way);
        let response = run(modern);
        for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
            let response = &response[mode];
            check(response);
            assert_eq!((&response["version"], &response["server"]), (&version.into(), &"cdpilot".into()), "{response}");
            assert!(response["again"].as_array().unwrap().contains(&"browser_dialog".into()), "{response}");
            assert_eq!(
                (&response["wrong"][0], &response["wrong"][1]["code"]),
                (&true.into(), &"STALE_REF".into()),
                "{response}"
            );
        }
        let mut legacy = Command::new(peers.legacy_python());
        legacy.arg(script("client_legacy.py")).arg(&page).args(&way);
        let response = run(legacy);
        check(&response);
        assert_eq!(response["version"], "2025-11-25");
        assert!(response["instructions"].as_str().unwrap().contains("snapshot"), "{response}");
    }
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(peers) = Peers::find() else { return };
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", PAGE);
    let url = format!("url={}", served.site.url("a", "/"));
    for way in ways(&served) {
        let inspect = |requested: &[&str]| {
            let mut command = peers.run("mcp-inspector");
            // It keeps a catalogue in the person's home.
            command.env("HOME", served.home.root()).arg("--cli");
            match way[0].as_str() {
                "stdio" => command.args(&way[1..]),
                _ => command
                    .args([&way[1], "--transport", "http", "--header"])
                    .arg(format!("Authorization: Bearer {}", way[2])),
            };
            command.args(requested);
            run(command)
        };
        let listed = inspect(&["--method", "tools/list"]);
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"browser_snapshot"), "{names:?}");
        let navigation = inspect(&["--method", "tools/call", "--tool-name", "browser_navigate", "--tool-arg", &url]);
        assert_eq!(navigation["structuredContent"]["title"], "Ours", "{navigation}");
        // Each run is a connection of its own, which has no current tab yet.
        let of_tab = ["--tool-arg", "target=t1"];
        let shot = inspect(&[&["--method", "tools/call", "--tool-name", "browser_screenshot"], &of_tab[..]].concat());
        assert_eq!(shot["content"][1]["mimeType"], "image/png", "{shot}");
    }
}
