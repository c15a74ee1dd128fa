//! Navigating and closing a tab that shows a dialog.

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::share::{rounds, share};
use crate::support::site::Answer;

/// A page with a dialog of each kind.
const PAGE: &str = "<title>page</title><input id=i>";

fn messages(response: &Value) -> Vec<&str> {
    response
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(|one| one["message"].as_str())
        .collect()
}

#[test]
fn a_tab_with_a_dialog_navigates_only_with_dismiss_requested() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show(PAGE);
    served.site.page("/next", "<title>next</title><p>next");
    let to = |more: Value| {
        let mut to = json!({ "url": served.site.url("a", "/next") });
        to.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        to
    };
    let scripts = ["alert('first')", "confirm('first')", "prompt('first')", "alert('first'); confirm('second')"];
    for script in share(scripts, 2) {
        let dialog = served.dialog(script);
        for until in ["load", "none"] {
            let response = api.post("/navigate", &to(json!({ "waitUntil": until }))).fails(409, "BLOCKED_BY_DIALOG");
            assert_eq!(response["details"]["pending_dialogs"][0]["id"], dialog, "{response}");
            assert!(response["error"].as_str().unwrap().contains("dismissDialogs"), "{response}");
        }
        let response = api.post("/navigate", &to(json!({ "dismissDialogs": true }))).ok();
        assert_eq!(response["title"], "next", "{response}");
        let dismissed = &response["dismissed_dialogs"];
        assert_eq!(messages(dismissed)[0], "first", "{script}: {response}");
        assert_eq!((&dismissed[0]["id"], &dismissed[0]["accepted"]), (&json!(dialog), &json!(false)), "{response}");
        assert_eq!(response.get("pending_dialogs"), None, "{response}");
        served.show(PAGE);
    }
    // Where there is nothing to dismiss, nothing is reported.
    let response = api.post("/navigate", &to(json!({ "dismissDialogs": true }))).ok();
    assert_eq!((&response["title"], response.get("dismissed_dialogs")), (&json!("next"), None), "{response}");
}

#[test]
fn a_tab_with_a_dialog_can_be_closed() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.open("/");
    let scripts = ["alert('x')", "confirm('x')", "onbeforeunload = event => event.preventDefault(); alert('x')"];
    for script in share(scripts, 1) {
        let target = served.show(PAGE);
        served.dialog(script);
        api.act(&json!({ "kind": "click", "selector": "#i", "targetId": target })).fails(409, "BLOCKED_BY_DIALOG");
        let response = api.act(&json!({ "kind": "close", "targetId": target })).ok();
        assert_eq!((response.get("blockedByDialog"), response.get("pending_dialogs")), (None, None), "{response}");
        let tabs = api.get("/tabs").ok();
        assert!(tabs["tabs"].as_array().unwrap().iter().all(|tab| tab["targetId"] != target.as_str()), "{tabs}");
    }
    assert_eq!(api.get("/dialogs").ok()["pending_dialogs"], json!([]));
}

#[test]
fn an_armed_answer_is_for_the_current_tab_only() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let one = served.show(PAGE);
    let two = served.open("/");
    let eval =
        |target: &str, script: &str| api.act(&json!({ "kind": "evaluate", "fn": script, "targetId": target })).ok();
    // The second one is current when the answer is armed; the first one is used meanwhile.
    api.post("/tabs/focus", &json!({ "targetId": two })).ok();
    let armed = api.post("/hooks/dialog", &json!({ "accept": true, "promptText": "for two" })).ok();
    assert_eq!(armed["armed"], true, "{armed}");
    let blocked = eval(&one, "prompt('one')");
    assert_eq!(blocked["blockedByDialog"], true, "the answer was not for this tab: {blocked}");
    assert_eq!(eval(&two, "prompt('two')")["result"], "for two");
    api.post("/hooks/dialog", &json!({ "accept": false, "targetId": one })).ok();
}

#[test]
fn a_navigation_aborted_by_the_page_is_sent_again() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.page("/next", "<title>next</title>");
    for round in 0..rounds("CDPILOT_TEST_LEAVING", 3, 10) {
        // The page navigates by itself as soon as its dialog is closed, which replaces the requested navigation.
        served.show("<title>page</title><button onclick=\"location.href = '/own'; alert('leaving')\">x</button>");
        served.site.page("/own", "<title>own</title>");
        let response = api.act(&json!({ "kind": "click", "selector": "button" })).ok();
        assert_eq!(response["blockedByDialog"], true, "{response}");
        let to = json!({ "url": served.site.url("a", "/next"), "dismissDialogs": true });
        let response = api.post("/navigate", &to).ok();
        assert_eq!(response["title"], "next", "round {round}: {response}");
        assert_eq!(messages(&response["dismissed_dialogs"]), ["leaving"], "{response}");
    }
}

#[test]
fn a_response_without_document_is_not_requested_again() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show(PAGE);
    served.site.put("/nothing", Answer::html("").status("204 No Content"));
    let attachment = Answer::bytes("application/octet-stream", vec![1; 10]);
    served.site.put("/file", attachment.header("Content-Disposition", "attachment; filename=\"a.bin\""));
    for path in ["/nothing", "/file"] {
        for until in ["load", "none"] {
            let before = served.site.heads(&format!("a.localhost{path}")).len();
            let to = json!({ "url": served.site.url("a", path), "waitUntil": until });
            let response = api.post("/navigate", &to).json();
            served.site.wait_requested(&format!("a.localhost{path}"), before + 1);
            assert_eq!(api.eval("document.title"), "page", "{response}");
            assert_eq!(
                served.site.heads(&format!("a.localhost{path}")).len(),
                before + 1,
                "{path} {until}: {response}"
            );
        }
    }
}
