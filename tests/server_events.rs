//! Events over HTTP.

use serde_json::json;

use crate::support::api::Served;

#[test]
fn what_happens_is_told_from_anywhere_on() {
    let Some(served) = Served::browsing() else { return };
    let api = &served.api;
    let mut all = api.events("/events", "");
    let target = served.show("<script>console.log('said')</script>");
    let (first, opened) = all.next_of("tab_opened");
    assert_eq!((opened["seq"].as_u64(), &opened["type"]), (Some(first), &json!("tab_opened")));
    assert!(opened["ts"].as_f64().unwrap() > 1e9 && opened["targetId"].is_string(), "{opened}");
    let (_, said) = all.next_of("console");
    assert_eq!((&said["text"], &said["level"], &said["targetId"]), (&json!("said"), &json!("log"), &json!(target)));

    let dialog = served.dialog("confirm('Sure?')");
    let (seq, opened) = all.next_of("dialog_opened");
    assert_eq!(
        (&opened["id"], &opened["message"], &opened["dialog"]["type"]),
        (&json!(dialog), &json!("Sure?"), &json!("confirm"))
    );
    api.post("/hooks/dialog", &json!({ "accept": true })).ok();
    let (_, closed) = all.next_of("dialog_closed");
    assert_eq!(
        (&closed["id"], &closed["closed_by"], &closed["accepted"]),
        (&json!(dialog), &json!("agent"), &json!(true))
    );

    // Whoever comes back sees what was missed, exactly once and in order.
    let mut again = api.events("/events", &format!("Last-Event-ID: {}\r\n", seq - 1));
    let (_, id, same) = again.next();
    assert_eq!((id, &same), (seq, &opened));
    let mut since = api.events(&format!("/events?since={}", seq - 1), "");
    assert_eq!(since.next().1, seq);
    let mut before = 0;
    let mut from_start = api.events("/events?since=0", "");
    while before < seq {
        let (_, id, _) = from_start.next();
        assert!(id > before, "{id} after {before}");
        before = id;
    }

    // Of one tab only, and over a restart of the browser.
    let other = served.open("/");
    let mut one = api.events(&format!("/events?targetId={other}&since=0"), "");
    assert_eq!(one.next().2["targetId"], json!(other));
    api.post("/stop", &json!({})).ok();
    served.open("/");
    let (again, _) = all.next_of("tab_opened");
    assert!(again > seq);
    api.get("/events?targetId=nobody").fails(404, "TAB_NOT_FOUND");
    api.get("/events?since=x").fails(400, "BAD_REQUEST");
}
