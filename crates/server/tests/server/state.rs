//! Login state over HTTP.

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::site::Answer;

#[test]
fn login_state_secrets_appear_only_in_the_state_file() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.put("/", Answer::html("<p>home</p>").header("Set-Cookie", "sid=s3cret-cookie; Path=/; HttpOnly"));
    api.post("/tabs/open", &json!({ "url": site.url("a", "/") })).ok();
    let fill = "localStorage.setItem('token', 's3cret-token'), sessionStorage.setItem('step', 's3cret-step'), 1";
    api.eval(fill);
    api.post("/state/save", &json!({ "origins": ["ftp://x"] })).fails(400, "BAD_REQUEST");
    let requested = site.requested().len();
    let tabs = api.get("/tabs").ok();

    let saved = api.post("/state/save", &json!({})).ok();
    assert_eq!((&saved["state"]["format"], &saved["state"]["version"]), (&json!("cdpilot-state"), &json!(1)));
    let origin = site.url("a", "");
    let report = saved["origins"].as_array().unwrap().iter().find(|response| response["origin"] == origin).unwrap();
    assert_eq!(
        (&report["localStorage"], &report["sessionStorage"], &report["databases"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(api.get("/tabs").ok(), tabs, "no tab was opened for it");
    assert_eq!(site.requested().len(), requested, "saved {:?}", site.requested());

    api.eval("localStorage.clear(), sessionStorage.clear(), 1");
    assert_eq!(site.requested().len(), requested, "evaluated {:?}", site.requested());
    api.delete("/cookies").ok();
    assert_eq!(site.requested().len(), requested, "deleted {:?}", site.requested());
    let loaded = api.post("/state/load", &json!({ "state": saved["state"] })).ok();
    assert_eq!(site.requested().len(), requested, "{:?} {:?}", site.requested(), site.heads("/"));
    let report = loaded["origins"].as_array().unwrap().iter().find(|response| response["origin"] == origin).unwrap();
    let wanted = json!({
        "origin": origin, "localStorage": 1, "sessionStorage": 1, "sessionRestore": "now", "databases": 0, "skipped": [],
    });
    assert_eq!((&loaded["cookies"], report), (&saved["cookies"], &wanted));
    // Chromium tells open pages of a change of their local storage a moment later.
    let shown = "new Promise(done => { const look = () => localStorage.token ? done(localStorage.token + sessionStorage.step) \
                 : setTimeout(look, 20); look(); })";
    assert_eq!(api.eval(shown), "s3cret-tokens3cret-step");
    api.post("/navigate", &json!({ "url": site.url("a", "/") })).ok();
    assert!(site.heads("a.localhost/").last().unwrap().contains("sid=s3cret-cookie"));

    // An invalid state is refused without quoting its content.
    let mut faulty = saved["state"].clone();
    faulty["cookies"][0]["httpOnly"] = json!("s3cret");
    let response = api.post("/state/load", &json!({ "state": faulty })).fails(400, "BAD_REQUEST");
    assert!(
        response["error"].as_str().unwrap().contains("cookies[0]") && !response.to_string().contains("s3cret"),
        "{response}"
    );
    faulty["version"] = json!(9);
    faulty["cookies"] = json!([]);
    let response = api.post("/state/load", &json!({ "state": faulty })).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("version 9"), "{response}");
    // Nor is it among the events.
    let mut events = api.events("/events?since=0", "");
    let mut seen = 0;
    api.eval("console.log('the end'), 1");
    loop {
        let (_, kind, data): (String, String, Value) = events.next();
        assert!(!data.to_string().contains("s3cret"), "{kind} {data}");
        seen += 1;
        if data.to_string().contains("the end") {
            break;
        }
    }
    assert!(seen > 3);
}

#[test]
fn only_the_login_state_route_accepts_large_bodies() {
    let served = TestServer::start();
    let api = &served.api;
    // An oversized body is refused before it is sent.
    let response = |path: &str, bytes: usize| {
        api.ask("POST", path, None, &format!("Content-Type: application/json\r\nContent-Length: {bytes}\r\n"))
    };
    response("/cookies", (1 << 20) + 1).fails(413, "BODY_TOO_LARGE");
    let refused = response("/state/load", (48 << 20) + 1).fails(413, "BODY_TOO_LARGE");
    assert!(refused["error"].as_str().unwrap().contains(&(48 << 20).to_string()), "{refused}");
    // Read, and then refused for its content.
    let body = format!(r#"{{"state":{{"x":"{}"}}}}"#, "y".repeat(2 << 20));
    let refused = api.call("POST", "/state/load", Some(&body)).fails(400, "BAD_REQUEST");
    assert!(refused["error"].as_str().unwrap().contains("neither a login state"), "{refused}");
    let described = &api.described()["paths"]["/state/load"]["post"]["requestBody"]["description"];
    assert_eq!(described, "At most 48 MiB.");
}
