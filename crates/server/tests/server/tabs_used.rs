//! Which tab is current, and results for tabs that are loading.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::site::{Answer, Held};

/// Answers that do not wait for the server of a page are there by then, on a busy machine too. They may take a minute.
const AT_ONCE: Duration = Duration::from_secs(100);

fn current(served: &TestServer) -> Value {
    let tabs = served.api.get("/tabs").ok()["tabs"].take();
    tabs.as_array().unwrap().iter().find(|tab| tab["active"] == true).map_or(Value::Null, |tab| tab["tabId"].clone())
}

#[test]
fn reads_keep_the_current_tab_and_actions_change_it() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>page</title><input id=field><p>text</p>");
    let first = served.open("/");
    served.open("/");
    let api = &served.api;
    assert_eq!(current(&served), "t2");
    for read in ["snapshot", "text", "console", "errors", "requests", "dialogs", "frames", "cookies", "storage/local"] {
        api.get(&format!("/{read}?targetId=t1")).ok();
        assert_eq!(current(&served), "t2", "{read}");
    }
    assert_eq!(api.post("/screenshot", &json!({ "targetId": "t1" })).ok()["targetId"], first);
    api.post("/pdf", &json!({ "targetId": "t1" })).ok();
    assert_eq!(current(&served), "t2");
    api.act(&json!({ "kind": "hover", "selector": "p", "targetId": "t1" })).ok();
    assert_eq!(current(&served), "t1");
    api.post("/tabs/focus", &json!({ "targetId": "t2" })).ok();
    assert_eq!(current(&served), "t2");
}

#[test]
fn after_a_close_no_other_tab_is_current() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>page</title><a href='/' target=pop>open</a>");
    let api = &served.api;
    for _ in 0..4 {
        served.open("/");
    }
    // By the route, by an action, and in a batch.
    for (tab, way) in [("t2", "route"), ("t3", "action"), ("t4", "batch")] {
        api.post("/tabs/focus", &json!({ "targetId": tab })).ok();
        match way {
            "route" => api.delete("/tabs/t2").ok(),
            "action" => api.act(&json!({ "kind": "close" })).ok(),
            _ => api.act(&json!({ "kind": "batch", "actions": [{ "kind": "close" }] })).ok(),
        };
        assert_eq!(current(&served), Value::Null, "{way}");
        api.get("/frames").fails(409, "TAB_GONE");
    }
    api.post("/tabs/focus", &json!({ "targetId": "t1" })).ok();
    // One that closes itself is gone, and no other is taken for it.
    api.act(&json!({ "kind": "click", "selector": "a" })).ok();
    let tabs = api.until("the popup", "/tabs", |response| response["tabs"].as_array().unwrap().len() == 2);
    let popup = tabs["tabs"][1]["tabId"].as_str().unwrap();
    api.post("/tabs/focus", &json!({ "targetId": popup })).ok();
    served.run("window.close()");
    api.until("the end of the tab", "/tabs", |response| response["tabs"].as_array().unwrap().len() == 1);
    api.get("/text").fails(409, "TAB_GONE");
    // The end of another tab than the current one makes no difference.
    api.post("/tabs/focus", &json!({ "targetId": "t1" })).ok();
    let new = json!({ "url": served.site.url("a", "/"), "label": "behind", "background": true });
    api.post("/tabs/open", &new).ok();
    api.delete("/tabs/behind").ok();
    assert_eq!(current(&served), "t1");
}

#[test]
fn a_tab_waiting_for_its_server_is_reported_as_loading() {
    let Some(served) = TestServer::browsing() else { return };
    let held = Held::default();
    served.site.page("/", "<title>before</title><p>before</p>");
    served.site.put("/slow", Answer::html("<title>slow</title><p>slow</p>").held_by(&held));
    served.open("/");
    let api = &served.api;
    let slow = served.site.url("a", "/slow");
    let read = |target: &str| {
        for path in ["snapshot", "text"] {
            let began = Instant::now();
            let response = api.get(&format!("/{path}?timeoutMs=120000&targetId={target}")).ok();
            assert!(began.elapsed() < AT_ONCE, "{path} {target}: {:?}", began.elapsed());
            assert_eq!(response["loading"], true, "{response}");
            assert_eq!(
                (&response["snapshot"], &response["text"]).0.as_str().or(response["text"].as_str()),
                Some(""),
                "{response}"
            );
        }
    };
    // A tab that shows something else, a new one, and one that a page opened.
    api.post("/navigate", &json!({ "url": slow, "waitUntil": "none" })).ok();
    read("t1");
    let fails = api.post("/tabs/open", &json!({ "url": slow, "timeoutMs": 700 }));
    assert_ne!(fails.status, 200, "it takes longer: {}", fails.text);
    let tabs = api.get("/tabs").ok()["tabs"].take();
    for tab in tabs.as_array().unwrap().iter().skip(1) {
        read(tab["targetId"].as_str().unwrap());
    }
    held.release();
    let response = api.until("the page", "/text?targetId=t1", |response| response["text"] == "slow");
    assert!(response["loading"].is_null(), "{response}");
    assert_eq!(api.get("/snapshot?targetId=t1").ok()["title"], "slow");
}

#[test]
fn a_popup_waiting_for_its_server_is_reported_as_loading() {
    let Some(served) = TestServer::browsing() else { return };
    let held = Held::default();
    served.site.page("/", "<a href='/slow' target=_blank>open</a>");
    served.site.put("/slow", Answer::html("<p>slow</p>").held_by(&held));
    served.open("/");
    let api = &served.api;
    served.run("document.querySelector('a').click()");
    api.until("the popup", "/tabs", |response| response["tabs"].as_array().unwrap().len() == 2);
    for path in ["snapshot", "text"] {
        let began = Instant::now();
        let response = api.get(&format!("/{path}?timeoutMs=120000&targetId=t2")).ok();
        assert!(began.elapsed() < AT_ONCE, "{path}: {:?}", began.elapsed());
        assert_eq!(response["loading"], true, "{path}: {response}");
    }
    held.release();
    api.until("the page", "/text?targetId=t2", |response| response["text"] == "slow");
}

#[test]
fn uploads_report_files_and_element() {
    let Some(served) = TestServer::browsing() else { return };
    served.show("<label>Your CV <input type=file></label>");
    let api = &served.api;
    let path = served.home.uploads().join("cv.pdf");
    std::fs::create_dir_all(served.home.uploads()).unwrap();
    std::fs::write(&path, "cv").unwrap();
    let seen = api.get("/snapshot").ok();
    let (reference, info) =
        seen["refs"].as_object().unwrap().iter().find(|(_, info)| info["role"] != "generic").unwrap();
    let response = api.post("/hooks/file-chooser", &json!({ "paths": [path], "ref": format!("@{reference}") })).ok();
    assert_eq!(
        (&response["armed"], &response["files"], &response["count"]),
        (&json!(false), &json!(["cv.pdf"]), &json!(1))
    );
    let element = json!({ "ref": reference, "role": info["role"], "name": info["name"], "files": 1 });
    assert_eq!(response["element"], element);
    assert_eq!(api.eval("document.querySelector('input').files[0].name"), "cv.pdf");
    let response = api.post("/hooks/file-chooser", &json!({ "paths": [path] })).ok();
    assert!(
        response["armed"] == true && response["files"][0] == "cv.pdf" && response["element"].is_null(),
        "{response}"
    );
}

#[test]
fn text_without_a_focused_element_is_an_error_with_advice() {
    let Some(served) = TestServer::browsing() else { return };
    served.show("<input id=field aria-label=Field><p>text</p>");
    let api = &served.api;
    for kind in ["type", "insertText"] {
        let response = api.act(&json!({ "kind": kind, "text": "lost" })).fails(409, "NOT_ACTIONABLE");
        let error = response["error"].as_str().unwrap();
        assert!(error.contains("no element has the focus") && error.contains("focus a field first"), "{error}");
    }
    assert_eq!(api.eval("document.body.innerText + field.value"), "text");
    api.eval("field.focus()");
    api.act(&json!({ "kind": "type", "text": "a" })).ok();
    api.act(&json!({ "kind": "insertText", "text": "b" })).ok();
    assert_eq!(api.eval("field.value"), "ab");
    // A page that is edited as a whole has no focused element, and takes text where its caret is.
    served.show("<body contenteditable><p>x</p>");
    api.act(&json!({ "kind": "type", "text": "lost" })).fails(409, "NOT_ACTIONABLE");
    api.eval("getSelection().selectAllChildren(document.body)");
    api.act(&json!({ "kind": "type", "text": "whole" })).ok();
    assert_eq!(api.eval("document.body.innerText.trim()"), "whole");
}

#[test]
fn a_prompt_accepted_without_text_returns_its_default() {
    let Some(served) = TestServer::browsing() else { return };
    served.show("<title>x</title>");
    let api = &served.api;
    let ask = "document.title = 'is ' + prompt('Name?', 'Ada')";
    for (answer, title) in [
        (json!({ "accept": true }), "is Ada"),
        (json!({ "accept": true, "promptText": "Bob" }), "is Bob"),
        (json!({ "accept": true, "promptText": "" }), "is "),
        (json!({ "accept": false }), "is null"),
    ] {
        served.dialog(ask);
        api.post("/hooks/dialog", &answer).ok();
        assert_eq!(api.eval("document.title").as_str().unwrap().trim_end(), title.trim_end(), "{answer}");
        // Armed before it opens.
        assert_eq!(api.post("/hooks/dialog", &answer).ok()["armed"], true);
        served.run(ask);
        api.until("the dialog", "/dialogs", |response| {
            response["recent_dialogs"].as_array().unwrap().last().is_some_and(|last| last["closed_by"] == "armed")
        });
        assert_eq!(api.eval("document.title").as_str().unwrap().trim_end(), title.trim_end(), "armed {answer}");
    }
}
