//! Every route responds in time, whatever a page does.

use std::io::Read as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use cdpilot_server::config::Config;

use crate::support::api::{ApiResponse, TestServer};
use crate::support::busy_machine;
use crate::support::share::share;
use crate::support::site::{Answer, Held};

/// Deadline of each operation.
const GIVEN: u64 = 1_500;
/// Additional time for a loaded machine.
const SLACK: Duration = crate::support::LIMIT;

/// Every route that uses a page or waits, with a sample request.
fn samples(target: &str) -> Vec<(&'static str, String, Option<Value>)> {
    let get = |path: &str| ("GET", path.to_owned(), None);
    let post = |path: &str, body: Value| ("POST", path.to_owned(), Some(body));
    let timed =
        |path: &str| ("GET", format!("{path}{}timeoutMs={GIVEN}", if path.contains('?') { '&' } else { '?' }), None);
    let act = |mut body: Value| {
        body["timeoutMs"] = GIVEN.into();
        ("POST", "/act".to_owned(), Some(body))
    };
    vec![
        get("/"),
        get("/health"),
        get("/doctor"),
        get("/openapi.json"),
        get("/profiles"),
        get("/tabs"),
        get("/dialogs"),
        get("/frames?full"),
        get("/console"),
        get("/errors"),
        get("/requests"),
        post("/start", json!({ "timeoutMs": GIVEN })),
        post("/tabs/label", json!({ "targetId": target, "label": "stuck" })),
        post("/tabs/focus", json!({ "targetId": target, "timeoutMs": GIVEN })),
        post("/ui/ticket", json!({})),
        timed("/snapshot"),
        timed("/snapshot?format=aria&labels"),
        timed("/text"),
        timed("/requests/r1/body"),
        timed("/cookies"),
        timed("/storage/local"),
        timed("/storage/session?key=a"),
        post("/screenshot", json!({ "timeoutMs": GIVEN })),
        post("/screenshot", json!({ "timeoutMs": GIVEN, "labels": true, "fullPage": true })),
        post("/pdf", json!({ "timeoutMs": GIVEN })),
        post("/highlight", json!({ "timeoutMs": GIVEN })),
        post("/cookies", json!({ "cookies": [], "timeoutMs": GIVEN })),
        post("/storage/local", json!({ "items": {}, "timeoutMs": GIVEN })),
        post("/emulate", json!({ "media": { "type": "print" }, "timeoutMs": GIVEN })),
        post("/cdp", json!({ "method": "Runtime.evaluate", "params": { "expression": "1" }, "timeoutMs": GIVEN })),
        post("/wait/download", json!({ "timeoutMs": GIVEN })),
        act(json!({ "kind": "click", "selector": "button" })),
        act(json!({ "kind": "type", "text": "x" })),
        act(json!({ "kind": "evaluate", "fn": "1" })),
        act(json!({ "kind": "wait", "text": "x" })),
        act(json!({ "kind": "scroll", "direction": "down" })),
        act(json!({ "kind": "resize", "width": 400, "height": 300 })),
        act(json!({ "kind": "batch", "actions": [{ "kind": "press", "key": "a" }] })),
    ]
}

fn ask(served: &TestServer, method: &str, path: &str, body: Option<&Value>) -> ApiResponse {
    served.api.call(method, path, body.map(ToString::to_string).as_deref())
}

/// Ends stuck scripts after this time, also of a page that has just loaded.
fn soon_rescued(config: &mut Config, ms: u64) {
    (config.browser.rescue_after_ms, config.browser.rescue_after_load_ms) = (ms, 0);
}

#[test]
fn every_route_responds_under_a_dialog() {
    let Some(served) = TestServer::browsing() else { return };
    let _alone = busy_machine();
    let target = served.show("<button>x</button>");
    served.api.post("/screenshot", &json!({})).ok();
    let dialog = served.dialog("alert('in the way')");
    for (method, path, body) in samples(&target) {
        let began = Instant::now();
        let response = ask(&served, method, &path, body.as_ref());
        let (took, value) = (began.elapsed(), response.json());
        assert!(took < Duration::from_secs(1) + SLACK, "{method} {path} took {took:?}");
        let ok = value["ok"] == true || path == "/openapi.json";
        let blocked = value["code"] == "BLOCKED_BY_DIALOG" && value["details"]["pending_dialogs"][0]["id"] == dialog;
        let nothing_came = matches!(value["code"].as_str(), Some("NOT_FOUND" | "TIMEOUT")) && !path.contains("act");
        assert!(ok || blocked || nothing_came, "{method} {path} {body:?}: {value}");
    }
    let now = served.api.get("/dialogs").ok();
    assert_eq!(now["pending_dialogs"][0]["id"], dialog, "nothing has answered it");
    // Closed first, so that the tab can be.
    served.api.delete(&format!("/tabs/{target}")).ok();
}

#[test]
fn every_route_responds_with_a_page_in_an_endless_script() {
    let Some(served) = TestServer::browsing_with(|config, _| soon_rescued(config, 200)) else { return };
    let _alone = busy_machine();
    let target = served.show("<button>x</button>");
    served.hang();
    for (method, path, body) in share(samples(&target), 10) {
        // Routes that call the page terminate its script; others leave it running.
        if path.contains("timeoutMs") || body.as_ref().is_some_and(|body| body["timeoutMs"].is_u64()) {
            served.hang();
        }
        let began = Instant::now();
        let response = ask(&served, method, &path, body.as_ref());
        let (took, value) = (began.elapsed(), response.json());
        assert!(took < Duration::from_millis(GIVEN) + SLACK, "{method} {path} took {took:?}");
        let is_ours = response.status < 500 || response.status == 504;
        assert!(is_ours && (value["ok"].is_boolean() || path == "/openapi.json"), "{method} {path}: {value}");
    }
}

#[test]
fn a_rescued_page_is_reported() {
    let Some(served) = TestServer::browsing_with(|config, _| soon_rescued(config, 1000)) else { return };
    served.show("<p>still here</p>");
    served.hang();
    let response = served.api.get("/text").ok();
    assert_eq!((response["text"].as_str().map(str::trim), &response["rescued"]), (Some("still here"), &json!(true)));
    assert_eq!(served.api.get("/text").ok().get("rescued"), None);
}

#[test]
fn a_busy_page_is_named_and_freed_on_request() {
    let Some(served) = TestServer::browsing() else { return };
    let target = served.show("<p>still here</p>");
    served.hang();
    let api = &served.api;
    for request in [json!({ "kind": "click", "selector": "p" }), json!({ "kind": "evaluate", "fn": "1" })] {
        let mut request = request;
        request["timeoutMs"] = json!(600);
        let refused = api.post("/act", &request).fails(409, "PAGE_BUSY");
        assert!(refused["details"]["busyMs"].as_u64().is_some_and(|ms| ms >= 300), "{refused}");
        let error = refused["error"].as_str().unwrap();
        assert!(error.contains("POST /rescue") && error.contains("rescue: true"), "{error}");
    }
    let freed = api.post("/rescue", &json!({ "targetId": target })).ok();
    assert!(freed["rescued"] == true && freed["busyMs"].as_u64() >= Some(600), "{freed}");
    let again = api.post("/rescue", &json!({})).ok();
    assert_eq!((&again["rescued"], &again["busyMs"]), (&json!(false), &Value::Null));
    served.hang();
    let text = api.get("/text?rescue=true&timeoutMs=20000").ok();
    assert_eq!((text["text"].as_str().map(str::trim), &text["rescued"]), (Some("still here"), &json!(true)));
    served.hang();
    let done = api.act(&json!({ "kind": "evaluate", "fn": "1 + 1", "rescue": true })).ok();
    assert_eq!((&done["result"], &done["rescued"]), (&json!(2), &json!(true)));
}

#[test]
fn a_loop_that_starts_after_an_answer_is_terminated() {
    let Some(served) = TestServer::browsing_with(|config, _| soon_rescued(config, 1000)) else { return };
    let api = &served.api;
    served.show("<p>still here</p><button onclick='setTimeout(() => { for (;;); })'>loop</button>");
    for delay in share([0, 1, 5, 15, 40], 2) {
        // The action itself may wait for the loop that it started.
        let script = format!("void setTimeout(() => {{ for (;;); }}, {delay})");
        api.act(&json!({ "kind": "evaluate", "fn": script, "timeoutMs": 60_000 })).ok();
        let response = api.get("/text?timeoutMs=60000").ok();
        assert!(response["text"].as_str().is_some_and(|text| text.contains("still here")), "{delay}: {response}");
    }
    api.act(&json!({ "kind": "click", "selector": "button", "timeoutMs": 60_000 })).ok();
    let raw = json!({ "method": "Runtime.evaluate", "params": { "expression": "1 + 1" }, "timeoutMs": 60_000 });
    assert_eq!(api.post("/cdp", &raw).ok()["result"]["result"]["value"], 2);
    let url = served.site.url("a", "/?next");
    api.act(&json!({ "kind": "evaluate", "fn": "void setTimeout(() => { for (;;); })", "timeoutMs": 60_000 })).ok();
    api.post("/navigate", &json!({ "url": url, "timeoutMs": 60_000 })).ok();
}

#[test]
fn control_routes_respond_with_all_action_threads_busy() {
    let Some(served) = TestServer::browsing_with(|_, options| {
        (options.limits.action_threads, options.limits.queue) = (2, 1);
    }) else {
        return;
    };
    let held = Held::default();
    served.site.put("/held", Answer::html("x").held_by(&held));
    served.show("<p>x</p>");
    let api = &served.api;
    let params = json!({ "expression": "fetch('/held?' + Math.random())", "awaitPromise": true });
    let raw = json!({ "method": "Runtime.evaluate", "params": params, "timeoutMs": 120_000 }).to_string();
    let mut waiting = Vec::new();
    for times in 1..=2 {
        waiting.push(api.send("POST", "/cdp", Some(&raw), ""));
        served.site.wait_requested("a.localhost/held", times);
    }
    // One more may wait until a thread is free.
    waiting.push(api.send("POST", "/cdp", Some(&raw), ""));
    for path in [
        "/",
        "/health",
        "/tabs",
        "/dialogs",
        "/frames",
        "/console",
        "/errors",
        "/requests",
        "/profiles",
        "/openapi.json",
    ] {
        assert_eq!(api.get(path).status, 200, "{path}");
    }
    api.act(&json!({ "kind": "close" })).fails(503, "BUSY");
    api.post("/hooks/dialog", &json!({ "accept": true })).ok();
    let mut events = api.events("/events?since=0", "");
    assert!(events.next().1.ends_with("-1"));
    // All of it ends with the browser.
    api.post("/stop", &json!({})).ok();
    for mut socket in waiting {
        let mut response = String::new();
        socket.read_to_string(&mut response).unwrap();
        assert!(response.contains("\"ok\":false"), "{response}");
    }
}
