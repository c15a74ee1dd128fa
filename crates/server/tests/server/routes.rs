//! The routes of the control server over HTTP, with a real browser.

use std::fs;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::site::Answer;

/// The ref in the line of a snapshot that holds `part`.
fn ref_of(seen: &Value, part: &str) -> String {
    let text = seen["snapshot"].as_str().unwrap();
    let line = text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in {text}"));
    line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
}

#[test]
fn tabs_are_opened_labelled_navigated_and_closed() {
    let Some(served) = TestServer::launching() else { return };
    let (api, site) = (&served.api, &served.site);
    site.page("/", "<title>One</title>");
    site.page("/two", "<title>Two</title>");
    site.put("/gone", Answer::html("<title>Gone</title>").status("410 Gone"));
    let open = json!({ "url": site.url("a", "/"), "label": "first" });
    let first = api.post("/tabs/open", &open).ok();
    assert_eq!((&first["label"], &first["active"], &first["type"]), (&json!("first"), &json!(true), &json!("page")));
    assert_eq!(first["url"], site.url("a", "/"));
    let status = api.get("/").ok();
    assert_eq!(
        (&status["running"], &status["tabs"]),
        (&json!(true), &json!(api.get("/tabs").ok()["tabs"].as_array().unwrap().len()))
    );
    assert!(status["pid"].is_u64() && status["cdpPort"].is_null(), "{status}");
    assert!(!status["cdpUrl"].to_string().contains("devtools/browser/"), "{status}");

    let behind = api.post("/tabs/open", &json!({ "url": "about:blank", "background": true })).ok();
    assert_eq!(behind["active"], false);
    // The last used one is still the first, by every name it has.
    let id = first["targetId"].as_str().unwrap();
    for target in [Value::Null, json!("first"), first["tabId"].clone(), json!(id), json!(&id[..12])] {
        let navigation = api.post("/navigate", &json!({ "url": site.url("a", "/two"), "targetId": target })).ok();
        assert_eq!(
            (&navigation["targetId"], &navigation["title"], &navigation["status"]),
            (&json!(id), &json!("Two"), &json!(200))
        );
    }
    assert_eq!(api.post("/navigate", &json!({ "url": site.url("a", "/gone") })).ok()["status"], 410);
    let soon = json!({ "url": site.url("a", "/two"), "waitUntil": "none", "timeoutMs": 99_999_999 });
    assert_eq!(api.post("/navigate", &soon).ok()["targetId"], id);

    let response = api.post("/navigate", &json!({ "url": "javascript:alert(1)" })).fails(403, "NAVIGATION_BLOCKED");
    assert!(response["details"]["reason"].is_string(), "{response}");
    api.post("/tabs/open", &json!({ "url": "file:///etc/passwd" })).fails(403, "NAVIGATION_BLOCKED");
    api.post("/tabs/open", &json!({ "url": "about:blank", "label": "with space" })).fails(400, "BAD_REQUEST");
    api.get("/snapshot?targetId=nobody").fails(404, "TAB_NOT_FOUND");
    let taken = api.post("/tabs/label", &json!({ "targetId": behind["tabId"], "label": "first" })).ok();
    assert_eq!((&taken["targetId"], &taken["label"]), (&behind["targetId"], &json!("first")));
    assert_eq!(taken["labelTakenFrom"], first["tabId"]);
    let focused = api.post("/tabs/focus", &json!({ "targetId": "first" })).ok();
    assert_eq!((&focused["targetId"], &focused["active"]), (&behind["targetId"], &json!(true)));
    assert_eq!(api.delete("/tabs/first").ok()["targetId"], behind["targetId"]);
    api.get("/text").fails(409, "TAB_GONE");
    // Closed by an action.
    let closed = api.act(&json!({ "kind": "close", "targetId": id })).ok();
    assert_eq!(closed["targetId"], id);
    let left = api.get("/tabs").ok()["tabs"][0].clone();
    // The last one was replaced by an empty one.
    assert_eq!((&closed["newTabs"][0]["tabId"], &left["url"]), (&left["tabId"], &json!("about:blank")));
    let labelled = api.post("/tabs/open", &json!({ "url": "about:blank", "label": "x" })).ok();
    let again = api.post("/tabs/open", &json!({ "url": "about:blank", "label": "x" })).ok();
    assert_eq!(again["labelTakenFrom"], labelled["tabId"]);
    assert_eq!(api.delete(&format!("/tabs/{}", again["tabId"].as_str().unwrap())).ok().get("replacedBy"), None);
    let last = api.delete(&format!("/tabs/{}", labelled["tabId"].as_str().unwrap())).ok();
    assert_eq!(last["replacedBy"]["tabId"], api.get("/tabs").ok()["tabs"][0]["tabId"]);
    api.post("/tabs/focus", &json!({ "targetId": id })).fails(404, "TAB_NOT_FOUND");

    assert_eq!(api.post("/stop", &json!({})).ok()["running"], false);
    assert_eq!(api.get("/tabs").ok()["tabs"], json!([]));
    assert_eq!(api.post("/start", &json!({ "headless": true })).ok()["running"], true);
    assert_eq!(api.post("/start", &json!({})).ok()["running"], true);
}

#[test]
fn an_iframe_ref_selects_its_frame_in_actions() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.page("/inner", "<button onclick=\"this.textContent = 'Pressed'\">Press</button>");
    served.show("<p>Outside</p><iframe title=Inside src='@b/inner'></iframe>");
    let seen = api.get("/snapshot").ok();
    let frame = ref_of(&seen, "iframe \"Inside\"");
    let host = api.act(&json!({ "kind": "evaluate", "fn": "location.hostname", "frameId": frame })).ok();
    assert_eq!(host["result"], "b.localhost");
    api.act(&json!({ "kind": "wait", "selector": "button", "frameId": frame })).ok();
    api.act(&json!({ "kind": "click", "selector": "button", "frameId": frame })).ok();
    assert!(api.get("/snapshot").ok()["snapshot"].as_str().unwrap().contains("button \"Pressed\""));
    let refs = api.get("/refs").ok();
    assert_eq!(refs["refs"][&frame]["name"], "Inside", "{refs}");
    let button = ref_of(&seen, "button");
    api.post("/act", &json!({ "kind": "evaluate", "fn": "1", "frameId": button })).fails(400, "BAD_REQUEST");
    api.post("/act", &json!({ "kind": "evaluate", "fn": "1", "frameId": "e999" })).fails(409, "STALE_REF");
    api.post("/act", &json!({ "kind": "evaluate", "fn": "1", "frameId": "nobody" })).fails(404, "FRAME_NOT_FOUND");
}

#[test]
fn a_tab_is_read_as_snapshot_text_and_screenshot() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.page("/inner", "<button>Inner</button>");
    site.put("/data", Answer::html("{\"a\": 1}").kind("application/json"));
    let target = served.show(
        "<title>Page</title><a href='/two'>Away</a><button>Press</button><p id=p>Some text</p><iframe src='@b/inner'></iframe>\
         <script>console.warn('watch out'); console.log('all well'); fetch('/data').then(got => got.text())
         .then(() => setTimeout(() => { throw new Error('broken') }))</script>",
    );
    let seen = api.get("/snapshot").ok();
    let text = seen["snapshot"].as_str().unwrap();
    assert!(text.contains("button \"Press\" [ref=") && text.contains("Inner"), "{text}");
    assert_eq!((&seen["format"], &seen["targetId"], &seen["title"]), (&json!("ai"), &json!(target), &json!("Page")));
    assert!(seen["frame_tree"]["children"][0]["is_oopif"].is_boolean() && seen["truncated"] == false, "{seen}");
    let aria = api.get("/snapshot?format=aria&limit=3").ok();
    assert_eq!((aria["nodes"].as_array().unwrap().len(), &aria["truncated"]), (3, &json!(true)));
    assert!(api.get("/snapshot?urls").ok()["snapshot"].as_str().unwrap().contains("/two"));
    assert!(!api.get("/snapshot?selector=%23p").ok()["snapshot"].as_str().unwrap().contains("Press"));
    let inner = seen["frame_tree"]["children"][0]["frame_id"].as_str().unwrap();
    let framed = api.get(&format!("/snapshot?frame={inner}")).ok();
    assert!(!framed["snapshot"].as_str().unwrap().contains("Press"), "{framed}");
    let short = api.get("/snapshot?maxChars=30").ok();
    assert!(short["snapshot"].as_str().unwrap().contains("[truncated: "), "{short}");
    let whole = api.get("/snapshot?interactive&compact&depth=9&fold").ok();
    assert_eq!(whole["stats"]["refs"], json!(whole["refs"].as_object().unwrap().len()));
    api.get("/snapshot").ok();
    api.eval("void document.querySelector('button').after(Object.assign(document.createElement('button'), {textContent: 'New'}))");
    let diff = api.get("/snapshot?diff=true").ok();
    assert!(diff["snapshot"].as_str().unwrap().lines().any(|line| line.starts_with("+ ") && line.contains("New")));
    let labelled = api.get("/snapshot?labels=1").ok();
    assert!(fs::metadata(labelled["path"].as_str().unwrap()).is_ok());
    assert!(labelled["annotations"].as_array().unwrap().len() >= 2);
    api.get("/snapshot?selector=%5B%5B").fails(400, "BAD_REQUEST");
    api.get("/snapshot?frame=nobody").fails(404, "FRAME_NOT_FOUND");
    api.get("/snapshot?expand=e9999").fails(409, "STALE_REF");

    let shot = api.post("/screenshot", &json!({ "fullPage": true })).ok();
    let path = shot["path"].as_str().unwrap();
    assert!(path.starts_with(served.home.media().to_str().unwrap()) && path.ends_with(".png"), "{path}");
    assert!(fs::read(path).unwrap().starts_with(b"\x89PNG"));
    let button = ref_of(&seen, "Press");
    let jpeg = json!({ "type": "jpeg", "quality": 50, "ref": button, "inline": true });
    let shot = api.post("/screenshot", &jpeg).ok();
    assert!(shot.get("path").is_none());
    let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"\xff\xd8"));
    let labels = api.post("/screenshot", &json!({ "labels": true, "element": "body" })).ok();
    assert!(labels["annotations"][0]["box"]["width"].is_number(), "{labels}");
    api.post("/screenshot", &json!({ "fullPage": true, "ref": button })).fails(400, "BAD_REQUEST");
    api.post("/screenshot", &json!({ "element": "#nobody" })).fails(404, "NOT_FOUND");
    let pdf = api.post("/pdf", &json!({ "targetId": target, "landscape": true })).ok();
    assert!(fs::read(pdf["path"].as_str().unwrap()).unwrap().starts_with(b"%PDF"));
    // Chromium would crash.
    api.post("/pdf", &json!({ "paperWidth": 1e-9 })).fails(400, "BAD_REQUEST");
    assert!(api.get("/text?selector=%23p").ok()["text"].as_str().unwrap().contains("Some text"));
    assert_eq!(api.get("/text?maxChars=4").ok()["truncated"], true);
    api.get("/text?selector=%23nobody").fails(404, "NOT_FOUND");

    let errors = api.until("the error", "/errors", |response| response["errors"][0].is_object());
    assert!(errors["errors"][0]["message"].as_str().unwrap().contains("broken"), "{errors}");
    let all = api.get("/console").ok();
    let said = |response: &Value| -> Vec<String> {
        response["messages"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(said(&all)[..2], ["watch out", "all well"]);
    assert_eq!(said(&api.get("/console?level=warn&limit=9").ok()).len(), 2);
    assert_eq!(said(&api.get("/console?limit=1&clear").ok()).len(), 1);
    assert_eq!(said(&api.get("/console").ok()).len(), 0);
    let requests = api.get("/requests?filter=/data").ok();
    let request = &requests["requests"][0];
    assert_eq!((&request["status"], &request["method"], &request["ok"]), (&json!(200), &json!("GET"), &json!(true)));
    let body = api.get(&format!("/requests/{}/body", request["id"].as_str().unwrap())).ok();
    assert_eq!((&body["body"], &body["base64"]), (&json!("{\"a\": 1}"), &json!(false)));
    api.get("/requests/r99999/body").fails(404, "NOT_FOUND");
    api.get("/requests?clear").ok();
    assert_eq!(api.get("/requests").ok()["requests"], json!([]));
    assert_eq!(api.get("/frames?full").ok()["frame_tree"]["children"][0]["frame_id"], inner);
    api.post("/highlight", &json!({ "ref": button })).ok();
    api.post("/highlight", &json!({})).ok();
}

#[test]
fn actions_take_effect_or_fail_with_their_codes() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let target = served.show(
        "<input id=name><button id=b onclick='this.textContent=\"Done\"'>Press</button><select id=s><option>x<option>y</select>\
         <button id=hidden style='display:none'>No</button><a id=away href='/two'>Away</a>",
    );
    served.site.page("/two", "<title>Two</title><input>");
    let seen = api.get("/snapshot").ok();
    let (input, button) = (ref_of(&seen, "textbox"), ref_of(&seen, "button"));
    let response = api.act(&json!({ "kind": "click", "ref": button, "targetId": target })).ok();
    assert_eq!((&response["targetId"], response.get("navigated")), (&json!(target), None));
    assert_eq!(api.eval("document.querySelector('#b').textContent"), "Done");
    let changed = api.act(&json!({ "kind": "click", "ref": button })).fails(409, "REF_CHANGED");
    assert_eq!(
        (&changed["details"]["was"]["name"], &changed["details"]["now"]["name"]),
        (&json!("Press"), &json!("Done"))
    );
    api.act(&json!({ "kind": "click", "ref": button, "force": true })).ok();
    api.act(&json!({ "kind": "type", "ref": input, "text": "Ada" })).ok();
    let fields = json!([{ "ref": input, "value": "Bob" }, { "selector": "#s", "value": "y" }]);
    api.act(&json!({ "kind": "fill", "fields": fields })).ok();
    assert_eq!(api.eval("document.querySelector('#name').value + document.querySelector('#s').value"), "Boby");
    let with = json!({ "kind": "evaluate", "fn": "el => el.id", "ref": input });
    assert_eq!(api.act(&with).ok()["result"], "name");
    let hidden = json!({ "kind": "click", "selector": "#hidden", "timeoutMs": 300 });
    let response = api.act(&hidden).fails(409, "NOT_ACTIONABLE");
    assert!(response["details"]["reason"].is_string(), "{response}");
    api.act(&json!({ "kind": "click", "selector": "#nobody", "timeoutMs": 300 })).fails(404, "NOT_FOUND");
    api.act(&json!({ "kind": "evaluate", "fn": "null.x" })).fails(422, "SCRIPT_ERROR");
    api.act(&json!({ "kind": "wait", "text": "never", "timeoutMs": 100 })).fails(504, "TIMEOUT");
    api.act(&json!({ "kind": "click", "ref": "e999" })).fails(409, "STALE_REF");
    api.act(&json!({ "kind": "click" })).fails(400, "BAD_REQUEST");

    let batch = json!({ "kind": "batch", "actions": [
        { "kind": "press", "key": "a", "targetId": target },
        { "kind": "click", "selector": "#away" },
        { "kind": "press", "key": "b" },
    ] });
    let response = api.act(&batch).ok();
    assert_eq!((&response["results"][0]["ok"], &response["failed"]), (&json!(true), &json!(0)));
    assert_eq!(
        (&response["aborted"]["reason"], &response["aborted"]["afterAction"]),
        (&json!("navigation"), &json!(1))
    );
    let other = api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
    let foreign =
        json!({ "kind": "batch", "targetId": target, "actions": [{ "kind": "close", "targetId": other["tabId"] }] });
    api.act(&foreign).fails(400, "BAD_REQUEST");

    let version = json!({ "method": "Browser.getVersion" });
    assert!(api.post("/cdp", &version).ok()["result"]["product"].is_string());
    let sum = json!({ "method": "Runtime.evaluate", "params": { "expression": "1 + 1", "returnByValue": true }, "targetId": target });
    assert_eq!(api.post("/cdp", &sum).ok()["result"]["result"]["value"], 2);
    api.post("/cdp", &json!({ "method": "No.such" })).fails(400, "BAD_REQUEST");
    api.post("/cdp", &json!({ "method": "DOM.getOuterHTML", "params": { "nodeId": -1 } })).fails(502, "BROWSER_ERROR");
    api.post("/cdp", &json!({ "method": "Page.navigate", "params": { "url": "file:///" } }))
        .fails(403, "NAVIGATION_BLOCKED");
    api.post("/cdp", &json!({ "method": "DOM.enable", "frameId": "nobody" })).fails(404, "FRAME_NOT_FOUND");
}

#[test]
fn dialogs_are_listed_and_answered() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let target = served.show("<button id=b onclick='window.got = prompt(\"Name?\", \"Ada\")'>Ask</button>");
    api.post("/screenshot", &json!({})).ok();
    let response = api.act(&json!({ "kind": "click", "selector": "#b" })).ok();
    assert_eq!(
        (&response["blockedByDialog"], &response["pending_dialogs"][0]["message"]),
        (&json!(true), &json!("Name?"))
    );
    let seen = api.get("/dialogs").ok();
    let dialog = &seen["pending_dialogs"][0];
    for (key, value) in [("type", "prompt"), ("default_prompt", "Ada"), ("target_id", &target)] {
        assert_eq!(dialog[key], value);
    }
    assert!(dialog["opened_at"].is_f64() && dialog["frame_id"].is_string() && dialog["origin"].is_string(), "{dialog}");
    assert_eq!(api.get("/").ok()["pendingDialogs"], 1);
    let seen = api.get("/snapshot").ok();
    assert_eq!((&seen["blockedByDialog"], &seen["snapshot"]), (&json!(true), &json!("")));
    assert_eq!(seen["pending_dialogs"][0]["id"], dialog["id"]);
    let advice = "the tab shows a dialog (prompt, Name?); answer it with POST /hooks/dialog first";
    let press = json!({ "kind": "press", "key": "a" });
    let raw = json!({ "method": "Runtime.evaluate", "params": { "expression": "1" } });
    for (route, body) in [("/act", &press), ("/cdp", &raw)] {
        let response = api.post(route, body).fails(409, "BLOCKED_BY_DIALOG");
        assert_eq!(
            (&response["error"], &response["details"]["pending_dialogs"][0]["id"]),
            (&json!(advice), &dialog["id"])
        );
    }
    let response = api.post("/screenshot", &json!({})).fails(409, "BLOCKED_BY_DIALOG");
    assert!(fs::read(response["details"]["lastScreenshot"]["path"].as_str().unwrap()).unwrap().starts_with(b"\x89PNG"));
    let response = api.post("/screenshot", &json!({ "inline": true })).fails(409, "BLOCKED_BY_DIALOG");
    assert!(
        response["details"]["lastScreenshot"]["data"].is_string()
            && response["details"]["pending_dialogs"][0].is_object()
    );

    let unknown = json!({ "accept": true, "dialogId": "d-999" });
    api.post("/hooks/dialog", &unknown).fails(404, "DIALOG_NOT_FOUND");
    let answer = json!({ "accept": true, "promptText": "Bob", "dialogId": dialog["id"] });
    let response = api.post("/hooks/dialog", &answer).ok();
    assert_eq!((&response["dialog"]["closed_by"], &response["dialog"]["accepted"]), (&json!("agent"), &json!(true)));
    assert_eq!(response.get("promptTextIgnored"), None);
    assert_eq!(api.eval("window.got"), "Bob");
    assert_eq!(api.get(&format!("/dialogs?targetId={target}")).ok()["recent_dialogs"][0]["id"], dialog["id"]);

    // Armed before it opens, and used without a caller.
    assert_eq!(api.post("/hooks/dialog", &json!({ "accept": false })).ok().get("replaced"), None);
    let armed = api.post("/hooks/dialog", &json!({ "accept": true, "promptText": "Cy", "timeoutMs": 999_999 })).ok();
    assert_eq!((&armed["replaced"]["accept"], &armed["replaced"]["target_id"]), (&json!(false), &json!(target)));
    assert_eq!((&armed["armed"], &armed["armedForMs"]), (&json!(true), &json!(120_000)));
    let response = api.act(&json!({ "kind": "click", "selector": "#b" })).ok();
    assert_eq!(response.get("blockedByDialog"), None);
    assert_eq!(api.eval("window.got"), "Cy");

    // A raw command that opens one has done its work.
    let raw = json!({ "method": "Runtime.evaluate", "params": { "expression": "alert(7)" } });
    let response = api.post("/cdp", &raw).ok();
    assert_eq!((&response["blockedByDialog"], &response["pending_dialogs"][0]["message"]), (&json!(true), &json!("7")));
    api.post("/cdp", &raw).fails(409, "BLOCKED_BY_DIALOG");
    let response = api.post("/hooks/dialog", &json!({ "accept": true, "promptText": "Di" })).ok();
    assert_eq!(response["promptTextIgnored"], true, "an alert takes no text: {response}");

    // A page with a beforeunload handler.
    served.site.page("/asks", "<script>onbeforeunload = event => event.preventDefault()</script><button>x</button>");
    api.post("/navigate", &json!({ "url": served.site.url("a", "/asks") })).ok();
    api.act(&json!({ "kind": "click", "selector": "button" })).ok();
    let response = api.post("/navigate", &json!({ "url": served.site.url("a", "/") })).ok();
    assert_eq!((&response["navigated"], &response["blockedByDialog"]), (&json!(false), &json!(true)));
    api.post("/hooks/dialog", &json!({ "accept": true })).ok();
}

#[test]
fn files_are_uploaded_and_downloaded() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    let attachment = Answer::html("twelve bytes").header("Content-Disposition", "attachment; filename=got.txt");
    site.put("/file", attachment);
    served.show("<input type=file id=f onchange='window.got = this.files[0].name'><a href='/file' id=d>Get</a>");
    fs::write(served.home.uploads().join("mine.txt"), "x").unwrap();
    let seen = api.get("/snapshot").ok();
    let input = ref_of(&seen, "button");
    let response = api.post("/hooks/file-chooser", &json!({ "paths": ["mine.txt"], "ref": input })).ok();
    assert_eq!(response["armed"], false);
    assert_eq!(api.eval("document.querySelector('#f').files[0].name"), "mine.txt");
    let whole = served.home.uploads().join("mine.txt");
    let response = api.post("/hooks/file-chooser", &json!({ "paths": [whole], "timeoutMs": 60_000 })).ok();
    assert_eq!((&response["armed"], &response["armedForMs"]), (&json!(true), &json!(60_000)));
    for bad in ["/etc/passwd", "../token", "nobody.txt", "."] {
        api.post("/hooks/file-chooser", &json!({ "paths": [bad] })).fails(403, "PATH_REFUSED");
    }
    api.post("/hooks/file-chooser", &json!({ "paths": [] })).fails(400, "BAD_REQUEST");

    api.act(&json!({ "kind": "click", "selector": "#d" })).ok();
    let response = api.post("/wait/download", &json!({ "path": "here.txt" })).ok();
    let download = &response["download"];
    assert_eq!((&download["suggestedFilename"], &download["state"]), (&json!("got.txt"), &json!("completed")));
    let path = download["path"].as_str().unwrap();
    assert_eq!(path, served.home.downloads().canonicalize().unwrap().join("here.txt").to_str().unwrap());
    assert_eq!(fs::read_to_string(path).unwrap(), "twelve bytes");
    api.post("/wait/download", &json!({ "path": "../x", "timeoutMs": 100 })).fails(403, "PATH_REFUSED");
    api.post("/wait/download", &json!({ "timeoutMs": 100 })).fails(504, "TIMEOUT");
}

#[test]
fn cookies_storage_and_emulation_take_effect() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show("<p>x</p>");
    let url = served.site.url("a", "/");
    let cookies = json!({ "cookies": [{ "name": "a", "value": "1", "url": url }, { "name": "b", "value": "2", "url": url, "httpOnly": true }] });
    assert_eq!(api.post("/cookies", &cookies).ok()["added"], 2);
    let response = api.get(&format!("/cookies?url={url}")).ok();
    assert_eq!(response["cookies"].as_array().unwrap().len(), 2);
    assert_eq!(api.delete("/cookies?name=a").ok()["deleted"], 1);
    assert_eq!(api.delete("/cookies").ok()["deleted"], 1);
    api.get("/cookies?url=ftp://x").fails(400, "BAD_REQUEST");
    let wrong = json!({ "cookies": [{ "name": "a", "value": "1" }] });
    api.post("/cookies", &wrong).fails(400, "BAD_REQUEST");
    for area in ["local", "session"] {
        let path = format!("/storage/{area}");
        assert_eq!(
            api.post(&path, &json!({ "items": { "k": area, "l": "2" } })).ok()["items"],
            json!({ "k": area, "l": "2" })
        );
        assert_eq!(api.get(&format!("{path}?key=k")).ok()["items"], json!({ "k": area }));
        assert_eq!(api.delete(&format!("{path}?key=k")).ok()["items"], json!({ "l": "2" }));
        assert_eq!(api.delete(&path).ok()["items"], json!({}));
    }
    let change = json!({ "viewport": { "width": 400, "height": 300 }, "timezone": "Asia/Tokyo", "media": { "colorScheme": "dark" } });
    api.post("/emulate", &change).ok();
    let believed = "[innerWidth, Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches]";
    assert_eq!(api.eval(believed), json!([400, "Asia/Tokyo", true]));
    api.post("/emulate", &json!({ "viewport": null, "timezone": null, "device": "iPhone 15" })).ok();
    assert_eq!(api.eval("screen.width"), 393);
    let response = api.post("/emulate", &json!({})).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("nothing to emulate"), "{response}");
    let response = api.post("/emulate", &json!({ "device": "iPhone 99" })).fails(400, "BAD_REQUEST");
    assert!(response["error"].as_str().unwrap().contains("did you mean"), "{response}");
    api.post("/navigate", &json!({ "url": "about:blank" })).ok();
    api.get("/storage/local").fails(409, "CONFLICT");
}

#[test]
fn profiles_have_their_own_browsers() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let response = api.post("/profiles", &json!({ "name": "other", "color": "#00aa00", "cdpPort": 0 })).ok();
    assert_eq!((&response["profile"]["name"], &response["profile"]["isDefault"]), (&json!("other"), &json!(false)));
    api.post("/profiles", &json!({ "name": "other" })).fails(409, "CONFLICT");
    api.post("/profiles", &json!({ "name": "../x" })).fails(400, "BAD_REQUEST");
    served.show("<p>default</p>");
    served.site.page("/other", "<p>other</p>");
    let url = served.site.url("a", "/other");
    // In the body as well as in the query.
    api.post("/tabs/open", &json!({ "url": url, "profile": "other" })).ok();
    assert!(api.get("/text?profile=other").ok()["text"].as_str().unwrap().contains("other"));
    assert!(api.get("/text").ok()["text"].as_str().unwrap().contains("default"));
    assert_ne!(api.get("/?profile=other").ok()["pid"], api.get("/").ok()["pid"]);
    let act = json!({ "kind": "evaluate", "fn": "document.body.textContent" });
    assert_eq!(api.post("/act?profile=other", &act).ok()["result"], "other");
    let names = api.get("/profiles").ok();
    let running: Vec<_> =
        names["profiles"].as_array().unwrap().iter().map(|it| (&it["name"], &it["running"])).collect();
    assert_eq!(running, [(&json!("cdpilot"), &json!(true)), (&json!("other"), &json!(true))]);
    api.post("/profiles/other/reset", &json!({})).ok();
    assert_eq!(api.get("/?profile=other").ok()["running"], false);
    assert_eq!(api.delete("/profiles/other").ok()["profile"]["name"], "other");
    api.get("/tabs?profile=other").fails(404, "PROFILE_NOT_FOUND");
    api.delete("/profiles/cdpilot").fails(409, "CONFLICT");
    api.delete("/profiles/nobody").fails(404, "PROFILE_NOT_FOUND");
}
