//! `/browsers`: ids that give access to a browser.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cdpilot::sync::pause;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;

fn registered(served: &TestServer, body: &Value) -> String {
    served.api.post("/browsers/register", body).ok()["browser_id"].as_str().unwrap().to_owned()
}

fn state(served: &TestServer, id: &str) -> (bool, bool) {
    let answer = served.api.get(&format!("/browsers/{id}/valid")).ok();
    (answer["valid"] == true, answer["expired"] == true)
}

#[test]
fn an_id_is_valid_until_it_is_replaced_removed_or_expired() {
    let mut served = TestServer::start();
    let first = served.api.post("/browsers/register", &json!({})).ok();
    let id = first["browser_id"].as_str().unwrap().to_owned();
    let day =
        first["expires_at"].as_f64().unwrap() - SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((86_000.0..86_401.0).contains(&day), "{day}");
    assert_eq!((state(&served, &id), state(&served, &id.to_uppercase())), ((true, false), (true, false)));
    assert_eq!(state(&served, "00000000-0000-4000-8000-000000000000"), (false, false));
    served.restart();
    assert_eq!(state(&served, &id), (true, false), "it outlives the server");

    let second = registered(&served, &json!({ "profile": "cdpilot" }));
    assert_eq!((state(&served, &id), state(&served, &second)), ((false, false), (true, false)), "one id per browser");
    served.api.post("/profiles", &json!({ "name": "other" })).ok();
    let other = registered(&served, &json!({ "profile": "other", "ttlHours": 0.000_000_1 }));
    assert_eq!((state(&served, &other), state(&served, &second)), ((false, true), (true, false)));

    served.api.delete(&format!("/browsers/{second}")).ok();
    assert_eq!(state(&served, &second), (false, false));
    let refused = served.api.delete(&format!("/browsers/{second}")).fails(404, "NOT_FOUND");
    assert!(!refused.to_string().contains(&second), "{refused}");
    for path in ["/profiles", "/", "/sessions"] {
        assert!(!served.api.get(path).ok().to_string().contains(&other), "{path}");
    }
    let database = std::fs::read(served.home.database()).unwrap();
    let log = std::fs::read(served.home.root().join("cdpilot.db-wal")).unwrap_or_default();
    for id in [&id, &second, &other] {
        let is_in = |bytes: &[u8]| bytes.windows(id.len()).any(|part| part == id.as_bytes());
        assert!(!is_in(&database) && !is_in(&log), "only a hash is stored");
    }
}

#[test]
fn wrong_registrations_are_refused() {
    let served = TestServer::start();
    for (body, status, code, text) in [
        (json!({ "profile": "nobody" }), 404, "PROFILE_NOT_FOUND", "nobody"),
        (json!({ "endpoint": "ftp://a.test" }), 400, "BAD_REQUEST", "endpoint"),
        (json!({ "endpoint": "ws://127.0.0.1:1", "profile": "cdpilot" }), 400, "BAD_REQUEST", "not both"),
        (json!({ "ttlHours": 0 }), 400, "BAD_REQUEST", "ttlHours"),
        (json!({ "ttlHours": 1e9 }), 400, "BAD_REQUEST", "ttlHours"),
        (json!({ "ttl": 1 }), 400, "UNKNOWN_FIELD", "ttl"),
    ] {
        let refused = served.api.post("/browsers/register", &body).fails(status, code);
        assert!(refused["error"].as_str().unwrap().contains(text), "{refused}");
    }
    let secret = "ws://127.0.0.1:1/devtools/browser/secret-of-a-test";
    let failed =
        served.api.post("/browsers/register", &json!({ "endpoint": secret })).fails(503, "BROWSER_NOT_RUNNING");
    assert!(!failed.to_string().contains("secret-of-a-test"), "{failed}");
    assert_eq!(served.api.get("/profiles").ok()["profiles"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_registered_endpoint_is_attached_and_in_no_list() {
    let served = TestServer::start();
    let Some(lease) = Lease::take() else { return };
    let endpoint = lease.url();
    let id = registered(&served, &json!({ "endpoint": endpoint }));
    assert_eq!(state(&served, &id), (true, false));
    let profiles = served.api.get("/profiles").ok();
    assert_eq!(profiles["profiles"].as_array().map(Vec::len), Some(1), "{profiles}");
    assert_eq!(served.api.get("/").ok()["running"], false, "the server's own browser was not started");
    let unknown = served.api.get("/tabs?profile=endpoint").fails(404, "PROFILE_NOT_FOUND");
    assert!(!unknown.to_string().contains("endpoint-"), "{unknown}");
    // The same browser again: the earlier id ends, and nothing else is attached.
    let again = registered(&served, &json!({ "endpoint": endpoint }));
    assert_eq!((state(&served, &id), state(&served, &again)), ((false, false), (true, false)));
}

#[test]
fn a_browser_at_an_endpoint_is_detached_when_nothing_needs_it() {
    let Some(lease) = Lease::take() else { return };
    let endpoint = lease.url();
    let (served, proxy) = (TestServer::start(), Proxy::of(endpoint));
    let models = json!({ "models": { "one": { "model": "m", "base_url": "http://127.0.0.1:1" } } });
    served.api.post("/api/config/llm", &models).ok();
    let id = registered(&served, &json!({ "endpoint": proxy.url() }));
    assert_eq!(proxy.connections(), 1);
    let created = served.api.post("/agent/conversations", &json!({ "browser_id": id })).ok();
    served.api.delete(&format!("/browsers/{id}")).ok();
    assert_eq!(proxy.connections(), 1, "the conversation needs it");

    served.api.delete(&format!("/agent/conversations/{}", created["conversation_id"].as_str().unwrap())).ok();
    let id = registered(&served, &json!({ "endpoint": proxy.url() }));
    served.api.delete(&format!("/browsers/{id}")).ok();
    let deadline = soon();
    while proxy.connections() > 0 {
        assert!(!deadline.passed(), "it is still attached");
        pause(Duration::from_millis(10));
    }
}

#[test]
fn errors_about_paths_do_not_repeat_ids() {
    let served = TestServer::start();
    let id = "5b1c2f0e-6d1a-4b6e-9d57-secret";
    for (method, path, status, code) in [
        ("POST", format!("/browsers/{id}/valid"), 405, "METHOD_NOT_ALLOWED"),
        ("GET", format!("/browsers/{id}"), 405, "METHOD_NOT_ALLOWED"),
        ("GET", format!("/browsers/{id}/x"), 404, "NOT_FOUND"),
        ("GET", format!("/browsers/register/{id}/x"), 404, "NOT_FOUND"),
        ("GET", format!("/%62rowsers/{id}/x"), 404, "NOT_FOUND"),
        ("GET", format!("/Browsers/{id}/valid"), 404, "NOT_FOUND"),
        ("GET", format!("/browser/{id}/valid"), 404, "NOT_FOUND"),
        ("GET", format!("/api/browsers/{id}"), 404, "NOT_FOUND"),
    ] {
        let body = (method == "POST").then_some("{}");
        let refused = served.api.ask(method, &path, body, "").fails(status, code);
        assert!(!refused.to_string().contains("secret"), "{method} {path}: {refused}");
    }
    let refused = served.api.get(&format!("/browsers/{id}")).fails(405, "METHOD_NOT_ALLOWED");
    assert!(refused["error"].as_str().unwrap().starts_with("/browsers/:id does not support GET"), "{refused}");
    let refused = served.api.get("/tabz").fails(404, "NOT_FOUND");
    assert!(refused["error"].as_str().unwrap().contains("/tabz"), "other paths are shown: {refused}");
}
