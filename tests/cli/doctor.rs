//! `cdpilot doctor` with and without a server.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use crate::cli_browser_real::AtHome;
use crate::cli_run::has_browser;
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
