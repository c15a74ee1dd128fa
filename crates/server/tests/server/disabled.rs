//! `browser.enabled: false`: every route that needs a browser gives the same answer.

use serde_json::{Value, json};

use crate::support::api::TestServer;

#[test]
fn with_the_browser_disabled_every_browser_route_gives_the_same_error() {
    let served = TestServer::with(|config, _| config.browser.enabled = false);
    let api = &served.api;
    let file = served.home.uploads().join("file");
    std::fs::write(&file, "x").unwrap();
    let body = |path: &str| match path {
        "/tabs/open" | "/navigate" => json!({ "url": "https://example.com" }),
        "/tabs/focus" => json!({ "targetId": "t1" }),
        "/tabs/label" => json!({ "targetId": "t1", "label": "a" }),
        "/cdp" => json!({ "method": "Browser.getVersion" }),
        "/act" => json!({ "kind": "click", "ref": "e1" }),
        "/hooks/dialog" => json!({ "accept": true }),
        "/hooks/file-chooser" => json!({ "paths": [file] }),
        "/cookies" => json!({ "cookies": [{ "name": "a", "value": "b", "url": "https://example.com" }] }),
        "/storage/local" | "/storage/session" => json!({ "items": { "a": "b" } }),
        "/cookies/import" => json!({ "text": "[]" }),
        "/routes" => json!({ "pattern": "*", "abort": true }),
        "/state/load" => json!({ "state": { "format": "cdpilot-state", "version": 1, "cookies": [], "origins": [] } }),
        "/find" => json!({ "locator": "text=x" }),
        "/get" => json!({ "what": "text", "ref": "e1" }),
        _ => json!({}),
    };
    // Independent routes: the server, the profiles, and data that needs no browser.
    let without = [
        "GET /",
        "GET /health",
        "GET /doctor",
        "GET /openapi.json",
        "GET /events",
        "GET /tabs",
        "GET /dialogs",
        "DELETE /mcp",
        "GET /recordings",
        "GET /sessions",
        "POST /sessions",
        "DELETE /sessions/{name}",
        "GET /profiles",
        "POST /profiles",
        "DELETE /profiles/{name}",
        "POST /profiles/{name}/reset",
        "POST /stop",
        "POST /mcp",
        "POST /ui/ticket",
        "POST /ui/secret",
    ];
    // Settings of models, secrets, conversations, routines and ids, whose runs start no browser that is disabled; recordings that
    // exist; files of the web UI.
    let beside = [
        "/api/config",
        "/agent/",
        "/browsers/",
        "/memory",
        "/recordings/",
        "/routines",
        "/secrets",
        "/skills",
        "/ui/{file}",
    ];
    let mut sentences = Vec::new();
    for (path, operations) in api.described()["paths"].as_object().unwrap() {
        if beside.iter().any(|begin| path.starts_with(begin)) {
            continue;
        }
        for method in operations.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            if without.contains(&format!("{method} {path}").as_str()) {
                continue;
            }
            let at = path.replace("{targetId}", "t1").replace("{id}", "r1");
            let response = match method.as_str() {
                "POST" => api.post(&at, &body(path)),
                _ => api.call(&method, &at, None),
            };
            let response = response.fails(503, "BROWSER_DISABLED");
            assert!(
                response["error"].as_str().unwrap().contains("Browser disabled in settings"),
                "{method} {path}: {response}"
            );
            sentences.push(response["error"].clone());
        }
    }
    assert!(sentences.len() > 25, "{}", sentences.len());
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    for path in ["/", "/tabs", "/dialogs"] {
        api.get(path).ok();
    }
    let named = api.get("/tabs").ok();
    assert_eq!((&named["running"], &named["tabs"]), (&json!(false), &Value::Array(Vec::new())));
}
