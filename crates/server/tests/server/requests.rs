//! Network requests in detail over HTTP: headers, timing, bodies, archives.

use std::fs;

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::har_peer;
use crate::support::site::Answer;

/// A page whose requests carry secrets, and one more request of each kind.
fn visited() -> Option<TestServer> {
    let served = TestServer::browsing()?;
    let site = &served.site;
    site.put("/", Answer::html("<title>page</title>").header("Set-Cookie", "session=hunter2222; HttpOnly"));
    site.put(
        "/old",
        Answer::html("")
            .status("302 Found")
            .header("Location", "/new?token=abcdef123456")
            .header("Set-Cookie", "leg=one1; Path=/"),
    );
    site.put("/new", Answer::html("{\"password\": \"correcthorse1\"}").kind("application/json").header("X-Leg", "two"));
    site.put("/bytes", Answer::bytes("application/octet-stream", vec![0, 255, 1, 254]));
    served.open("/");
    served.api.eval(
        "fetch('/old', { headers: { Authorization: 'Bearer verysecret1', 'X-Plain': 'seen' } }).then(r => r.text())",
    );
    served.api.eval("fetch('/posted?x=1&y=%C3%A9', { method: 'POST', body: new URLSearchParams({ user: 'ada', password: 'lovelace9' }) }).then(r => r.text())");
    served.api.eval("fetch('/bytes').then(r => r.arrayBuffer()).then(() => 1)");
    // Wire headers are reported by separate events, sometimes late.
    let whole = |response: &Value| {
        let all = response["requests"].as_array().unwrap();
        let leg = |part: &str| all.iter().find(|request| request["url"].as_str().unwrap().contains(part));
        let has = |request: Option<&Value>, side: &str, name: &str| {
            request.is_some_and(|request| header(request, side, name).is_some() && request["durationMs"].is_number())
        };
        has(leg("/old"), "responseHeaders", "set-cookie")
            && has(leg("/new"), "requestHeaders", "cookie")
            && has(leg("/posted"), "requestHeaders", "cookie")
            && has(leg("/bytes"), "requestHeaders", "cookie")
    };
    served.api.until("headers of all", "/requests?headers", whole);
    Some(served)
}

fn header(request: &Value, side: &str, name: &str) -> Option<String> {
    let all = request[side].as_array()?;
    let found = all.iter().find(|header| header["name"].as_str().unwrap().eq_ignore_ascii_case(name))?;
    Some(found["value"].as_str().unwrap().to_owned())
}

fn one<'a>(response: &'a Value, part: &str) -> &'a Value {
    let all = response["requests"].as_array().unwrap();
    all.iter()
        .find(|request| request["url"].as_str().unwrap().contains(part))
        .unwrap_or_else(|| panic!("{part} in {response:#}"))
}

#[test]
fn headers_of_each_redirect_are_reported_without_secrets() {
    let Some(served) = visited() else { return };
    let api = &served.api;
    let response = api.get("/requests?headers").ok();
    let (old, new) = (one(&response, "/old"), one(&response, "/new"));
    assert_eq!(header(old, "requestHeaders", "authorization").unwrap(), "Bearer [secret]");
    assert_eq!(header(old, "requestHeaders", "x-plain").unwrap(), "seen");
    assert_eq!(header(old, "requestHeaders", "cookie").unwrap(), "session=[secret]");
    assert_eq!(header(old, "responseHeaders", "set-cookie").unwrap(), "leg=[secret]; Path=/");
    assert_eq!(header(new, "requestHeaders", "cookie").unwrap(), "session=[secret]; leg=[secret]");
    assert_eq!(header(new, "responseHeaders", "x-leg").unwrap(), "two");
    assert!(header(old, "responseHeaders", "x-leg").is_none());
    assert_eq!(
        (&old["status"], &new["status"], &new["mimeType"]),
        (&json!(302), &json!(200), &json!("application/json"))
    );
    assert_eq!((&new["protocol"], &new["remoteAddress"]), (&json!("http/1.1"), &json!("127.0.0.1")));
    assert!(new["timing"]["wait"].as_f64().is_some_and(|millis| millis >= 0.0), "{new}");
    let text = response.to_string();
    for secret in ["verysecret1", "hunter2222", "one1", "abcdef123456"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let raw = api.get("/requests?headers&raw").ok();
    assert_eq!(header(one(&raw, "/old"), "requestHeaders", "authorization").unwrap(), "Bearer verysecret1");
    assert_eq!(header(one(&raw, "/old"), "responseHeaders", "set-cookie").unwrap(), "leg=one1; Path=/");
    let plain = api.get("/requests").ok();
    assert!(
        plain["requests"].as_array().unwrap().iter().all(|request| request.get("requestHeaders").is_none()),
        "{plain}"
    );
}

#[test]
fn one_request_is_reported_in_full() {
    let Some(served) = visited() else { return };
    let api = &served.api;
    let listed = api.get("/requests").ok();
    let path = |part: &str| format!("/requests/{}", one(&listed, part)["id"].as_str().unwrap());
    let response = api.get(&format!("{}?body", path("/posted"))).ok()["request"].take();
    assert_eq!(response["postData"]["body"], "user=ada&password=[secret]");
    assert_eq!((&response["body"]["body"], &response["status"]), (&json!("no such page"), &json!(404)));
    let raw = api.get(&format!("{}?raw=true", path("/posted"))).ok()["request"].take();
    assert_eq!(raw["postData"]["body"], "user=ada&password=lovelace9");
    assert!(raw.get("body").is_none(), "{raw}");
    let response = api.get(&format!("{}?body", path("/new"))).ok()["request"].take();
    assert_eq!(response["body"]["body"], "{\"password\": \"[secret]\"}");
    assert!(response["timing"]["receive"].is_number() && response["wireBytes"].as_u64().unwrap() > 20, "{response}");
    let response = api.get(&format!("{}?body&maxBytes=3", path("/bytes"))).ok()["request"].take();
    assert_eq!(response["body"], json!({ "body": "AP8B", "base64": true, "bytes": 4, "truncated": true }));
    let response = api.get(&format!("{}?body", path("/old"))).ok()["request"].take();
    assert!(
        response["noBody"].as_str().unwrap().contains("redirected") && response.get("body").is_none(),
        "{response}"
    );
    api.get("/requests/r999999").fails(404, "NOT_FOUND");
    api.get("/requests/nothing").fails(404, "NOT_FOUND");
    api.get(&format!("{}?bodies", path("/old"))).fails(400, "UNKNOWN_FIELD");
}

/// The fields that HAR 1.2 requires, with the types that it says.
fn check_fields(archive: &Value) {
    let log = &archive["log"];
    assert_eq!(log["version"], "1.2");
    assert!(log["creator"]["name"].is_string() && log["creator"]["version"].is_string(), "{log}");
    let page = &log["pages"][0];
    assert!(page["id"].is_string() && page["title"].is_string() && page["pageTimings"].is_object(), "{page}");
    for entry in log["entries"].as_array().unwrap() {
        let date = entry["startedDateTime"].as_str().unwrap();
        assert!(date.len() == 24 && date.starts_with("20") && date.ends_with('Z') && &date[10..11] == "T", "{date}");
        assert!(entry["time"].as_f64().unwrap() >= 0.0 && entry["cache"].is_object(), "{entry}");
        let (requested, response) = (&entry["request"], &entry["response"]);
        for (part, texts) in
            [(requested, ["method", "url", "httpVersion"]), (response, ["statusText", "httpVersion", "redirectURL"])]
        {
            assert!(texts.iter().all(|name| part[*name].is_string()), "{part}");
            assert!(["cookies", "headers"].iter().all(|name| part[*name].is_array()), "{part}");
            assert!(["headersSize", "bodySize"].iter().all(|name| part[*name].is_i64()), "{part}");
        }
        assert!(requested["queryString"].is_array() && response["status"].is_u64(), "{entry}");
        assert!(response["content"]["size"].is_i64() && response["content"]["mimeType"].is_string(), "{response}");
        let timings = &entry["timings"];
        assert!(["send", "wait", "receive"].iter().all(|name| timings[*name].as_f64().unwrap() >= 0.0), "{timings}");
    }
}

#[test]
fn requests_are_exported_as_har() {
    let Some(served) = visited() else { return };
    let (api, site) = (&served.api, &served.site);
    let response = api.get("/requests/har?bodies").ok();
    let archive = &response["har"];
    check_fields(archive);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.har");
    fs::write(&file, archive.to_string()).unwrap();
    har_peer::check(&file).unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(response["entries"], entries.len());
    let entry =
        |part: &str| entries.iter().find(|entry| entry["request"]["url"].as_str().unwrap().contains(part)).unwrap();
    assert_eq!(entry("/new")["response"]["content"]["text"], "{\"password\": \"[secret]\"}");
    assert_eq!(entry("/bytes")["response"]["content"]["encoding"], "base64");
    assert_eq!(entry("/bytes")["response"]["content"]["text"], "AP8B/g==");
    assert_eq!(entry("/old")["response"]["redirectURL"], "/new?token=[secret]");
    assert_eq!(entry("/old")["response"]["cookies"][0], json!({ "name": "leg", "value": "[secret]", "path": "/" }));
    let posted = &entry("/posted")["request"];
    assert_eq!(posted["postData"]["text"], "user=ada&password=[secret]");
    assert_eq!(posted["queryString"], json!([{ "name": "x", "value": "1" }, { "name": "y", "value": "é" }]));
    let text = archive.to_string();
    for secret in ["verysecret1", "hunter2222", "abcdef123456", "lovelace9", "correcthorse1"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(api.get("/requests/har?bodies&raw").ok()["har"].to_string().contains("correcthorse1"));
    let without = api.get("/requests/har").ok();
    assert!(without["har"]["log"]["entries"][0]["response"]["content"].get("text").is_none(), "{without}");
    assert_eq!(without["bodiesLeftOut"], 0);
    // Of documents that were left there are no bodies any more.
    site.page("/elsewhere", "elsewhere");
    api.post("/navigate", &json!({ "url": site.url("b", "/elsewhere") })).ok();
    let later = api.get("/requests/har?bodies").ok();
    assert!(later["bodiesLeftOut"].as_u64().unwrap() >= 3, "{later}");
    let comment = later["har"]["log"]["comment"].as_str().unwrap();
    assert!(
        comment.contains(&format!("{} bodies", later["bodiesLeftOut"])) && comment.contains("WebSocket"),
        "{comment}"
    );
    fs::write(&file, later["har"].to_string()).unwrap();
    har_peer::check(&file).unwrap();
}
