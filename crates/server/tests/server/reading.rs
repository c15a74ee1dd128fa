//! Requests that the control server refuses before it uses a browser, with the codes of the contract.

use serde_json::json;

use crate::support::api::TestServer;

#[test]
fn unknown_fields_are_refused_by_name() {
    let served = TestServer::start();
    let api = &served.api;
    let response = api.get("/snapshot?formt=ai").fails(400, "UNKNOWN_FIELD");
    let error = response["error"].as_str().unwrap();
    assert!(error.contains("formt") && error.contains("did you mean format?"), "{error}");
    let response = api.post("/tabs/open", &json!({ "url": "about:blank", "lable": "x" })).fails(400, "UNKNOWN_FIELD");
    assert!(response["error"].as_str().unwrap().contains("lable"), "{response}");
    let nested = json!({ "viewport": { "width": 1, "height": 1, "widht": 2 } });
    let response = api.post("/emulate", &nested).fails(400, "UNKNOWN_FIELD");
    assert!(response["error"].as_str().unwrap().contains("viewport.widht"), "{response}");
    api.post("/start?headless=true", &json!({})).fails(400, "UNKNOWN_FIELD");
    api.get("/health?x=1").fails(400, "UNKNOWN_FIELD");
    api.get("/profiles?profile=cdpilot").fails(400, "UNKNOWN_FIELD");
    let response = api.act(&json!({ "kind": "clik" })).fails(400, "UNKNOWN_KIND");
    assert!(response["error"].as_str().unwrap().contains("click"), "{response}");
    api.act(&json!({ "kind": "click", "reff": "e1" })).fails(400, "UNKNOWN_FIELD");
    let response = api.get("/tabs?profile=cdpilto").fails(404, "PROFILE_NOT_FOUND");
    assert!(response["error"].as_str().unwrap().contains("cdpilot"), "{response}");
}

#[test]
fn invalid_values_are_refused_with_their_path() {
    let served = TestServer::start();
    let api = &served.api;
    let response = api.call("POST", "/navigate", Some("{\n  \"url\": \n}")).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("line 3"), "{response}");
    api.call("POST", "/navigate", Some("[]")).fails(400, "BAD_REQUEST");
    let response = api.post("/navigate", &json!({})).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("url"), "{response}");
    let wrong = json!({ "cookies": [{ "name": "a", "value": "b", "url": "x" }, { "name": 1 }] });
    let response = api.post("/cookies", &wrong).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("cookies[1].name"), "{response}");
    api.post("/navigate", &json!({ "url": "about:blank", "waitUntil": "idle" })).fails(400, "BAD_REQUEST");
    api.post("/navigate", &json!({ "url": "about:blank", "timeoutMs": "1" })).fails(400, "BAD_REQUEST");
    api.post("/navigate", &json!({ "url": "about:blank", "targetId": 1 })).fails(400, "BAD_REQUEST");
    api.get("/snapshot?limit=-1").fails(400, "BAD_REQUEST");
    api.get("/snapshot?interactive=yes").fails(400, "BAD_REQUEST");
    api.get("/snapshot?limit=1&limit=2").fails(400, "BAD_REQUEST");
    api.get("/console?level=loud").fails(400, "BAD_REQUEST");
    let both = api.post("/tabs/open?profile=a", &json!({ "url": "about:blank", "profile": "b" }));
    both.fails(400, "BAD_REQUEST");
}

#[test]
fn missing_objects_are_reported_with_the_existing_ones() {
    let served = TestServer::start();
    let api = &served.api;
    let response = api.get("/snapshto").fails(404, "NOT_FOUND");
    assert!(response["error"].as_str().unwrap().contains("/snapshot"), "{response}");
    for nothing in ["/tabs/", "/tabs/a/b", "//", "/requests//body", "/Tabs", "/tabs%2Fopen"] {
        api.get(nothing).fails(404, "NOT_FOUND");
    }
    let allowed = |response: &crate::support::api::ApiResponse| {
        let line =
            response.head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("allow: ").map(str::to_owned));
        line.unwrap_or_default()
    };
    let response = api.call("POST", "/snapshot", Some("{}"));
    assert_eq!(allowed(&response), "get, head");
    response.fails(405, "METHOD_NOT_ALLOWED");
    let response = api.call("PUT", "/cookies", Some("{}"));
    assert_eq!(allowed(&response), "get, post, delete, head");
    response.fails(405, "METHOD_NOT_ALLOWED");
    let response = api.call("PATCH", "/act", Some("{}"));
    assert_eq!(allowed(&response), "post");
    let error = response.fails(405, "METHOD_NOT_ALLOWED")["error"].to_string();
    assert!(error.contains("/act does not support PATCH; supported methods: POST"), "{error}");
    // A fixed path is not taken for a tab of that name.
    let response = api.delete("/tabs/open");
    assert_eq!(allowed(&response), "post");
    response.fails(405, "METHOD_NOT_ALLOWED");
    api.get("/tabs/open").fails(405, "METHOD_NOT_ALLOWED");
}

#[test]
fn query_booleans_are_true_1_or_a_bare_name() {
    let served = TestServer::start();
    for query in
        ["interactive", "interactive=", "interactive=1", "interactive=true", "interactive=false", "interactive=0"]
    {
        // Read, and refused later: no browser runs.
        served.api.get(&format!("/snapshot?{query}")).fails(503, "BROWSER_NOT_RUNNING");
    }
}

#[test]
fn without_a_browser_only_independent_routes_succeed() {
    let served = TestServer::start();
    let api = &served.api;
    assert_eq!(api.get("/health").ok(), json!({ "ok": true, "status": "ok" }));
    let status = api.get("/").ok();
    assert_eq!((&status["running"], &status["tabs"], &status["pendingDialogs"]), (&json!(false), &json!(0), &json!(0)));
    assert_eq!((&status["pid"], &status["version"]), (&json!(null), &json!(env!("CARGO_PKG_VERSION"))));
    assert_eq!(api.get("/tabs").ok(), json!({ "ok": true, "running": false, "tabs": [] }));
    assert_eq!(api.get("/dialogs").ok(), json!({ "ok": true, "pending_dialogs": [], "recent_dialogs": [] }));
    assert_eq!(api.post("/stop", &json!({})).ok()["running"], false);
    for path in [
        "/snapshot",
        "/text",
        "/console",
        "/errors",
        "/requests",
        "/requests/r1/body",
        "/frames",
        "/cookies",
        "/storage/local",
    ] {
        api.get(path).fails(503, "BROWSER_NOT_RUNNING");
    }
    for (path, body) in [
        ("/screenshot", json!({})),
        ("/pdf", json!({})),
        ("/act", json!({ "kind": "press", "key": "a" })),
        ("/cdp", json!({ "method": "Page.reload" })),
        ("/tabs/focus", json!({ "targetId": "t1" })),
        ("/tabs/label", json!({ "targetId": "t1", "label": "x" })),
        ("/hooks/dialog", json!({ "accept": true })),
        ("/wait/download", json!({})),
        ("/emulate", json!({})),
        ("/highlight", json!({})),
    ] {
        api.post(path, &body).fails(503, "BROWSER_NOT_RUNNING");
    }
    api.delete("/tabs/t1").fails(503, "BROWSER_NOT_RUNNING");
}

#[test]
fn advice_is_in_the_terms_that_the_client_announces() {
    let served = TestServer::start();
    let error_of = |method: &str, path: &str, headers: &str| {
        served.api.ask(method, path, None, headers).json()["error"].as_str().unwrap().to_owned()
    };
    for (method, path, header, routes, commands) in [
        ("GET", "/snapshot", "", "start it with POST /start", "start it with `cdpilot start`"),
        ("GET", "/snapshot?profile=x", "", "POST /profiles creates one", "`cdpilot profiles create NAME` creates one"),
        ("GET", "/tabs", "X-Cdpilot-Session: two words\r\n", "X-Cdpilot-Session: ", "--session: "),
    ] {
        let of_client = |client: &str| error_of(method, path, &format!("{header}{client}"));
        let plain = of_client("");
        assert!(plain.contains(routes), "{plain}");
        assert_eq!(of_client("X-Cdpilot-Client: curl\r\n"), plain);
        assert_eq!(of_client("X-Cdpilot-Client: cli\r\n"), plain.replace(routes, commands));
    }
}

#[test]
fn a_missing_browser_is_reported() {
    let served = TestServer::with(|config, _| {
        config.browser.enabled = false;
        config.browser.evaluate_enabled = false;
    });
    let api = &served.api;
    assert_eq!(api.get("/").ok()["enabled"], false);
    api.post("/start", &json!({})).fails(503, "BROWSER_DISABLED");
    let response = api.post("/tabs/open", &json!({ "url": "about:blank" })).fails(503, "BROWSER_DISABLED");
    assert!(response["error"].as_str().unwrap().contains("Browser disabled in settings"), "{response}");
    let scripts = [
        json!({ "kind": "evaluate", "fn": "1" }),
        json!({ "kind": "wait", "fn": "1" }),
        json!({ "kind": "batch", "actions": [{ "kind": "batch", "actions": [{ "kind": "wait", "fn": "1" }] }] }),
    ];
    for script in scripts {
        api.act(&script).fails(403, "EVALUATE_DISABLED");
    }
    api.act(&json!({ "kind": "wait", "timeMs": 1 })).fails(503, "BROWSER_DISABLED");
}
