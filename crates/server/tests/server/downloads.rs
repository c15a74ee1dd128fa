//! Downloads in action results and in events.

use serde_json::json;

use crate::support::api::TestServer;
use crate::support::site::{Answer, Held};

fn attachment(name: &str, bytes: Vec<u8>) -> Answer {
    let how = format!("attachment; filename=\"{name}\"");
    Answer::bytes("application/octet-stream", bytes).header("Content-Disposition", &how)
}

#[test]
fn an_action_reports_a_short_download_with_its_path() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.put("/file", attachment("report.bin", vec![7; 50_000]));
    served.show("<a href=/file>file</a><button onclick=\"const a = document.createElement('a'); a.href = '/file'; a.click()\">b</button>");
    let mut events = api.events("/events?since=0", "");
    let folder = served.home.downloads().canonicalize().unwrap();
    for (selector, name) in [("a", "report.bin"), ("button", "report (1).bin"), ("a", "report (2).bin")] {
        let response = api.act(&json!({ "kind": "click", "selector": selector })).ok();
        let path = folder.join(name);
        let wanted = json!([{
            "url": served.site.url("a", "/file"), "suggestedFilename": "report.bin", "path": path, "bytes": 50_000,
            "state": "completed",
        }]);
        assert_eq!(response["downloads"], wanted, "{selector}");
        assert_eq!(std::fs::read(&path).unwrap().len(), 50_000);
        let (_, began) = events.next_of("download");
        assert_eq!((&began["state"], began.get("path")), (&json!("inProgress"), None), "{began}");
        let (_, ended) = events.next_of("download");
        assert_eq!((&ended["state"], &ended["path"]), (&json!("completed"), &json!(path)), "{ended}");
        assert_eq!((&ended["bytes"], &ended["suggestedFilename"]), (&json!(50_000), &json!("report.bin")), "{ended}");
        // It can be awaited nevertheless.
        assert_eq!(api.post("/wait/download", &json!({})).ok()["download"]["path"], json!(path));
    }
}

#[test]
fn a_download_under_way_is_reported_without_path() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let held = Held::default();
    served.site.put("/large", attachment("large.bin", vec![1; 400_000]).half_held_by(&held));
    served.show("<a href=/large>file</a>");
    let mut events = api.events("/events?since=0", "");
    let response = api.act(&json!({ "kind": "click", "selector": "a" })).ok();
    let download = &response["downloads"][0];
    assert_eq!((&download["state"], download.get("path")), (&json!("inProgress"), None), "{response}");
    assert_eq!(events.next_of("download").1["state"], "inProgress");
    held.release();
    let ended = api.post("/wait/download", &json!({})).ok()["download"].clone();
    assert_eq!((&ended["state"], &ended["bytes"]), (&json!("completed"), &json!(400_000)), "{ended}");
    let event = events.next_of("download").1;
    assert_eq!((&event["state"], &event["path"]), (&ended["state"], &ended["path"]), "{event}");
}

#[test]
fn a_navigation_that_leads_to_a_download_reports_it() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.put("/file", attachment("report.bin", vec![7; 500]));
    served.show("<p>stays</p>");
    let folder = served.home.downloads().canonicalize().unwrap();
    let url = served.site.url("a", "/file");
    let gone = api.post("/navigate", &json!({ "url": url })).ok();
    assert_eq!((&gone["navigated"], &gone["downloads"][0]["path"]), (&json!(false), &json!(folder.join("report.bin"))));
    let opened = api.post("/tabs/open", &json!({ "url": url })).ok();
    assert_eq!(opened["downloads"][0]["path"], json!(folder.join("report (1).bin")), "{opened}");
    assert_eq!(opened["url"], "about:blank");
}
