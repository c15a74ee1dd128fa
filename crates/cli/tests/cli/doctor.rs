//! `cdpilot doctor` with and without a server.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use crate::cli_browser_real::AtHome;
use crate::cli_run::{Program, has_browser};
use crate::support::api::Api;

/// Ids and statuses, in order.
fn results(response: &Value) -> Vec<(String, String)> {
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    response["checks"].as_array().unwrap().iter().map(|check| (text(check, "id"), text(check, "status"))).collect()
}

fn check<'a>(response: &'a Value, id: &str) -> &'a Value {
    response["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == id)
        .unwrap_or_else(|| panic!("{id}: {response}"))
}

/// A client of the server that serves a home.
fn api(at: &AtHome) -> Api {
    let running = at.running().unwrap();
    let token = fs::read_to_string(at.home.token()).unwrap();
    Api { address: ([127, 0, 0, 1], running.port).into(), token: token.trim().to_owned() }
}

#[test]
fn doctor_command_and_route_agree() {
    if !has_browser() {
        return;
    }
    let at = AtHome::new("");
    // Before there is a server, with its browser, and once the browser has stopped.
    let alone = at.run(&["doctor", "--json"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    for command in ["start", "stop"] {
        assert_eq!(at.run(&["browser", command]).code, Some(0));
        let ran = at.run(&["doctor", "--json"]);
        let (response, requested) = (ran.json(), api(&at).get("/doctor").ok());
        assert_eq!(results(&response), results(&requested), "after {command}");
        assert_eq!((ran.code, response["ok"].as_bool()), (Some(0), Some(true)), "after {command}: {response:#}");
        let server = check(&response, "server")["summary"].as_str().unwrap().to_owned();
        assert!(server.contains(&at.running().unwrap().url), "{server}");
    }
    let ids = |response: &Value| results(response).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(&alone.json()), ids(&api(&at).get("/doctor").ok()));
}

#[test]
fn the_configured_port_is_tested() {
    let at = AtHome::new("");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    fs::write(at.home.config(), format!("server: {{port: {port}}}\n")).unwrap();
    let response = at.run(&["doctor", "--json"]).json();
    let server = check(&response, "server");
    assert_eq!(server["status"], "warn", "{server}");
    assert!(server["summary"].as_str().unwrap().contains(&port.to_string()), "{server}");
    assert!(!response.to_string().contains("18791"), "{response}");
    #[cfg(target_os = "linux")]
    assert!(server["summary"].as_str().unwrap().contains(&format!("process {}", std::process::id())), "{server}");
    drop(taken);
    let response = at.run(&["doctor", "--json"]).json();
    let server = check(&response, "server");
    assert!(server["status"] == "pass" && server["summary"].as_str().unwrap().contains(&port.to_string()), "{server}");
}

#[test]
fn settings_that_cannot_work_are_not_valid() {
    for (text, status, words) in [
        ("server: {bind: 0.0.0.0}", "fail", "server.bind"),
        ("server: {bind: foo}", "fail", "not an IP address"),
        ("browser: {navigation: {allow: [':::']}}", "fail", "browser.navigation"),
        ("browser: {extra_args: [--remote-debugging-port=9333]}", "fail", "browser.extra_args"),
        ("browser: {cdp_url: foo}", "fail", "browser.cdp_url"),
        ("toolsets: [nope]", "warn", "toolsets: unknown toolset or tool \"nope\""),
        ("custom_toolsets: {a: [b], b: [a]}", "warn", "includes itself"),
        ("tools: {disabled: [browser_clik]}", "warn", "did you mean \"browser_click\"?"),
        ("tools: {platforms: {foo: {}}}", "warn", "tools.platforms.foo"),
        ("tools: {workspace: /nope}", "warn", "/nope is not a folder"),
    ] {
        let program = Program::new();
        let folder = program.temp.path().join("home");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("config.yaml"), format!("{text}\n")).unwrap();
        // Without an executable no browser is started.
        let program = program.env("CDPILOT_HOME", folder.to_str().unwrap()).env("CDPILOT_BROWSER", "/nope");
        let report = program.run(&["doctor", "--json"]).json();
        let config = check(&report, "config");
        assert_eq!(config["status"], status, "{text}: {config}");
        assert!(config["summary"].as_str().unwrap().contains(words), "{text}: {config}");
    }
}

#[test]
fn variables_that_only_a_server_reads_are_told_where_it_does_not_use_them() {
    let mut at = AtHome::new("");
    let warns =
        |at: &AtHome, command: &str| at.run(&["browser", command]).stderr.contains("CDPILOT_CDP_URL has no effect");
    assert!(!warns(&at, "status"), "the server gets the variables of the command that starts it");
    assert!(!warns(&at, "status"));
    at.set_env("CDPILOT_CDP_URL", "http://127.0.0.1:1");
    assert!(warns(&at, "status") && warns(&at, "tabs"));
    at.run(&["serve", "--stop"]);
    assert!(!warns(&at, "status"), "another server");
    assert!(!warns(&at, "status"));
}
