//! Results of actions over HTTP.

use serde_json::json;

use crate::support::api::TestServer;
use crate::support::site::Answer;

#[test]
fn an_action_returns_status_notices_and_settled_token() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.put("/gone", Answer::html("<p role=alert>No such page</p>").status("404 Not Found"));
    let target = served.show(
        "<button id=b onclick=\"s.textContent = 'Saved'\">Save</button><p role=status id=s></p><a id=g href='/gone'>Gone</a>",
    );
    let saved = api.act(&json!({ "kind": "click", "selector": "#b", "delta": true })).ok();
    assert_eq!(
        (&saved["settled"], &saved["notices"]),
        (&json!("page_settled"), &json!([{ "kind": "status", "text": "Saved" }]))
    );
    assert!(saved["changes"].as_str().unwrap().contains("Saved") && saved.get("status").is_none(), "{saved}");
    let gone = api.act(&json!({ "kind": "click", "selector": "#g" })).ok();
    assert_eq!(
        (&gone["settled"], &gone["status"], &gone["navigated"]),
        (&json!("navigated"), &json!(404), &json!(true))
    );
    assert_eq!(gone["notices"][0], json!({ "kind": "alert", "text": "No such page" }));
    assert_eq!(api.act(&json!({ "kind": "wait", "timeMs": 1 })).ok()["settled"], "done");
    let nested = json!({ "kind": "batch", "actions": [{ "kind": "press", "key": "Shift" }] });
    let batch = api.act(&nested).ok();
    assert_eq!((&batch["settled"], &batch["results"][0]["settled"]), (&json!("no_change"), &json!("no_change")));
    // Strict, as far as addresses go: only people and models leave out schemes.
    api.post("/navigate", &json!({ "url": "localhost:1/x" })).fails(400, "BAD_REQUEST");
    assert_eq!(api.act(&json!({ "kind": "close", "targetId": target })).ok()["settled"], "done");
}
