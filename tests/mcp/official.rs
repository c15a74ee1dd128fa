//! Official clients of the Model Context Protocol, over stdio and HTTP: the Python SDKs of both eras and the inspector.

use std::process::{Command, Stdio};
use std::time::Duration;

use cdpilot::sync::spawn;
use crossbeam_channel::bounded;
use serde_json::Value;

use crate::cli_run::kill;
use crate::support::api::Served;
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
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {told}\n{errors}");
    serde_json::from_str(&told).unwrap_or_else(|problem| panic!("{command:?}: {problem}: {told}\n{errors}"))
}

fn script(name: &str) -> String {
    format!("{}/tests/peers/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Ways to our server: `stdio PROGRAM ARG…` and `http URL TOKEN`.
fn ways(served: &Served) -> [Vec<String>; 2] {
    let home = format!("CDPILOT_HOME={}", served.home.root().display());
    let program = ["stdio", "env", &home, env!("CARGO_BIN_EXE_cdpilot"), "mcp"].map(str::to_owned).to_vec();
    let url = format!("http://{}/mcp", served.api.address);
    [program, vec!["http".to_owned(), url, served.api.token.clone()]]
}

/// What each client has to have seen.
fn check(told: &Value) {
    let tools: Vec<&str> = told["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(tools.len() >= 11 && tools.contains(&"browser_navigate"), "{tools:?}");
    assert_eq!((&told["went"]["success"], &told["went"]["title"]), (&true.into(), &"Ours".into()), "{told}");
    assert!(told["seen"]["snapshot"].as_str().unwrap().contains("button \"Press\""), "{told}");
    assert_eq!(told["images"], serde_json::json!(["image/png"]), "{told}");
}

#[test]
fn the_python_sdk_of_either_revision_drives_a_page() {
    let Some(peers) = Peers::find() else { return };
    let Some(served) = Served::browsing() else { return };
    served.site.page("/", PAGE);
    let page = served.site.url("a", "/");
    for way in ways(&served) {
        let mut modern = Command::new(peers.python());
        modern.arg(script("client_modern.py")).arg(&page).args(&way);
        let told = run(modern);
        for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
            let told = &told[mode];
            check(told);
            assert_eq!((&told["version"], &told["server"]), (&version.into(), &"cdpilot".into()), "{told}");
            assert!(told["again"].as_array().unwrap().contains(&"browser_dialog".into()), "{told}");
            assert_eq!((&told["wrong"][0], &told["wrong"][1]["code"]), (&true.into(), &"STALE_REF".into()), "{told}");
        }
        let mut legacy = Command::new(peers.legacy_python());
        legacy.arg(script("client_legacy.py")).arg(&page).args(&way);
        let told = run(legacy);
        check(&told);
        assert_eq!(told["version"], "2025-11-25");
        assert!(told["instructions"].as_str().unwrap().contains("snapshot"), "{told}");
    }
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(peers) = Peers::find() else { return };
    let Some(served) = Served::browsing() else { return };
    served.site.page("/", PAGE);
    let url = format!("url={}", served.site.url("a", "/"));
    for way in ways(&served) {
        let inspect = |asked: &[&str]| {
            let mut command = peers.run("mcp-inspector");
            // It keeps a catalogue in the person's home.
            command.env("HOME", served.home.root()).arg("--cli");
            match way[0].as_str() {
                "stdio" => command.args(&way[1..]),
                _ => command
                    .args([&way[1], "--transport", "http", "--header"])
                    .arg(format!("Authorization: Bearer {}", way[2])),
            };
            command.args(asked);
            run(command)
        };
        let listed = inspect(&["--method", "tools/list"]);
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"browser_snapshot"), "{names:?}");
        let went = inspect(&["--method", "tools/call", "--tool-name", "browser_navigate", "--tool-arg", &url]);
        assert_eq!(went["structuredContent"]["title"], "Ours", "{went}");
        // Each run is a connection of its own, which has no current tab yet.
        let of_tab = ["--tool-arg", "target=t1"];
        let shot = inspect(&[&["--method", "tools/call", "--tool-name", "browser_screenshot"], &of_tab[..]].concat());
        assert_eq!(shot["content"][1]["mimeType"], "image/png", "{shot}");
    }
}
