//! What one session must not reach of another: cookies, raw commands, tabs without an opener, network routes, past events.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::api::{ApiResponse, TestServer};
use crate::support::session_client::SessionClient as Client;
use crate::support::share::share;

fn raw(client: &Client<'_>, method: &str, params: &Value) -> ApiResponse {
    client.post("/cdp", &json!({ "method": method, "params": params }))
}

#[test]
fn cookies_and_saved_state_are_those_of_the_browser_context() {
    let Some(server) = TestServer::browsing() else { return };
    server.site.page("/", "<title>page</title>");
    let url = server.site.url("a", "/");
    let (alone, beside) = (Client::isolated(&server, "alone"), Client::new(&server, "beside"));
    for (client, name) in [(&beside, "shared"), (&alone, "own")] {
        client.open(&url);
        client.post("/cookies", &json!({ "cookies": [{ "name": name, "value": "1", "url": url }] })).ok();
    }
    let names = |answer: &Value| -> Vec<String> {
        let cookies = answer["cookies"].as_array().unwrap_or_else(|| panic!("{answer}"));
        cookies.iter().map(|cookie| cookie["name"].as_str().unwrap().to_owned()).collect()
    };
    for (client, name) in [(&beside, "shared"), (&alone, "own")] {
        assert_eq!(names(&client.get("/cookies").ok()), [name]);
        let saved = client.post("/state/save", &json!({})).ok();
        assert_eq!(names(&saved["state"]), [name]);
        let target = client.targets().pop_first().unwrap();
        let raw = json!({ "method": "Storage.getCookies", "targetId": target });
        assert_eq!(names(&client.post("/cdp", &raw).ok()["result"]), [name]);
    }
    assert_eq!(alone.delete("/cookies").ok()["deleted"], 1);
    assert_eq!((alone.evaluate("document.cookie"), beside.evaluate("document.cookie")), (json!(""), json!("shared=1")));
}

#[test]
fn raw_commands_do_not_reach_tabs_and_contexts_of_other_sessions() {
    let Some(server) = TestServer::browsing() else { return };
    server.site.page("/", "<title>page</title>");
    let url = server.site.url("a", "/");
    let (alone, beside, other) =
        (Client::isolated(&server, "alone"), Client::new(&server, "beside"), Client::new(&server, "other"));
    let (own, theirs) = (alone.open(&url), beside.open(&url));
    for method in ["Target.closeTarget", "Target.getTargetInfo", "Target.activateTarget", "Browser.getWindowForTarget"]
    {
        for target in [&own, &theirs] {
            raw(&other, method, &json!({ "targetId": target })).fails(404, "TAB_NOT_FOUND");
        }
    }
    let listed = raw(&other, "Target.getTargets", &json!({})).ok();
    assert_eq!(listed["result"]["targetInfos"], json!([]), "{listed}");
    let listed = raw(&beside, "Target.getTargets", &json!({})).ok();
    assert_eq!(listed["result"]["targetInfos"].as_array().unwrap().len(), 1, "{listed}");
    // The default session sees all of them.
    let all = || {
        let all = server.api.post("/cdp", &json!({ "method": "Target.getTargets" })).ok();
        all["result"]["targetInfos"].as_array().unwrap().clone()
    };
    let context = all().iter().find(|info| info["targetId"] == own).unwrap()["browserContextId"].clone();
    for method in ["Target.createTarget", "Target.disposeBrowserContext"] {
        let params = json!({ "browserContextId": context, "url": "about:blank" });
        raw(&other, method, &params).fails(400, "BAD_REQUEST");
    }
    raw(&alone, "Target.disposeBrowserContext", &json!({ "browserContextId": context })).fails(400, "BAD_REQUEST");
    let contexts = raw(&other, "Target.getBrowserContexts", &json!({})).ok();
    assert_eq!(contexts["result"]["browserContextIds"], json!([]), "{contexts}");
    // A tab that an isolated session creates is in its context.
    raw(&alone, "Target.createTarget", &json!({ "url": url })).ok();
    let in_context: Vec<Value> =
        all().into_iter().filter(|info| info["type"] == "page" && info["browserContextId"] == context).collect();
    assert_eq!(in_context.len(), 2, "{in_context:?}");
    assert_eq!(alone.targets().len(), 2);
    assert!(other.targets().is_disjoint(&alone.targets()));
}

#[test]
fn tabs_opened_with_modifier_keys_belong_to_the_session() {
    let Some(server) = TestServer::browsing() else { return };
    server.site.page("/", "<title>page</title><a href=/next>Next</a>");
    server.site.page("/next", "<title>next</title>");
    let other = Client::new(&server, "other");
    for client in [Client::isolated(&server, "alone"), Client::new(&server, "named")] {
        client.open(&server.site.url("a", "/"));
        for modifier in share(["Control", "Shift"], 1) {
            let click = json!({ "kind": "click", "selector": "a", "modifiers": [modifier] });
            let outcome = client.post("/act", &click).ok();
            let opened = outcome["newTabs"][0]["targetId"].as_str().unwrap_or_else(|| panic!("{outcome}"));
            assert!(client.targets().contains(opened), "{} {modifier}: {outcome}", client.header);
            assert!(!other.targets().contains(opened), "{} {modifier}: {outcome}", client.header);
        }
    }
    for name in ["alone", "named"] {
        server.api.delete(&format!("/sessions/{name}")).ok();
    }
    // The empty page that keeps the browser alive is nobody's.
    let left = server.api.get("/tabs").ok();
    assert!(left["tabs"].as_array().unwrap().iter().all(|tab| tab["url"] == "about:blank"), "{left}");
}

#[test]
fn network_routes_apply_to_the_tabs_of_their_session() {
    let Some(server) = TestServer::browsing() else { return };
    let page = |title: &str| format!("<title>{title}</title><a href=/ target=_blank>Popup</a>");
    server.site.page("/", &page("real"));
    let url = server.site.url("a", "/");
    let (first, second) = (Client::new(&server, "first"), Client::new(&server, "second"));
    first.open("about:blank");
    second.open("about:blank");
    let route = json!({ "pattern": "**", "fulfil": { "body": page("fake"), "contentType": "text/html" } });
    let id = first.post("/routes", &route).ok()["route"]["id"].as_str().unwrap().to_owned();
    for (client, title) in [(&first, "fake"), (&second, "real")] {
        client.post("/navigate", &json!({ "url": url })).ok();
        assert_eq!(client.evaluate("document.title"), title);
        client.open(&url);
        assert_eq!(client.evaluate("document.title"), title);
        let outcome = client.post("/act", &json!({ "kind": "click", "selector": "a" })).ok();
        assert_eq!(outcome["newTabs"][0]["title"], title, "{outcome}");
    }
    assert_eq!(second.get("/routes").ok()["routes"], json!([]));
    second.delete(&format!("/routes/{id}")).fails(404, "NOT_FOUND");
    assert_eq!(second.delete("/routes").ok()["deleted"], 0);
    assert_eq!(server.api.get("/routes").ok()["routes"].as_array().unwrap().len(), 1);
    assert_eq!(first.delete("/routes").ok()["deleted"], 1);
    first.post("/navigate", &json!({ "url": url })).ok();
    assert_eq!(first.evaluate("document.title"), "real");
}

#[test]
fn events_of_an_ended_session_are_not_shown_to_others() {
    let Some(server) = TestServer::browsing() else { return };
    server.site.page("/", "<title>page</title>");
    let (first, second) = (Client::new(&server, "first"), Client::new(&server, "second"));
    second.open("about:blank");
    first.open(&server.site.url("a", "/?secret"));
    let ask = json!({ "kind": "evaluate", "fn": "setTimeout(() => confirm('secret?')), 1" });
    first.post("/act", &ask).ok();
    first.post("/hooks/dialog", &json!({ "accept": true })).ok();
    server.api.until("the dialog is answered", "/dialogs", |now| now["recent_dialogs"] != json!([]));
    server.api.delete("/sessions/first").ok();
    assert_eq!(second.get("/dialogs").ok()["recent_dialogs"], json!([]));
    let mut events = server.api.events("/events?since=0", &second.header);
    second.evaluate("console.log('last'), 1");
    loop {
        let (kind, _, data) = events.next();
        assert!(!data.to_string().contains("secret"), "{kind} {data}");
        if kind == "console" {
            break;
        }
    }
}

#[test]
fn a_session_that_closed_its_last_tab_has_no_current_tab() {
    let Some(server) = TestServer::browsing() else { return };
    server.site.page("/", "<title>page</title>");
    let persons = server.open("/");
    let client = Client::new(&server, "first");
    let own = client.open(&server.site.url("a", "/"));
    assert_eq!(client.targets(), BTreeSet::from([own.clone(), persons.clone()]));
    client.delete(&format!("/tabs/{own}")).ok();
    // Never another tab, until the session has opened or named one.
    let gone = client.get("/snapshot").fails(409, "TAB_GONE");
    assert!(gone["error"].as_str().unwrap().contains("POST /tabs/open"), "{gone}");
    let new = client.open(&server.site.url("a", "/?new"));
    assert_ne!(new, persons);
    assert_eq!(client.get("/snapshot").ok()["targetId"], new.as_str());
    // The status counts what the session sees.
    Client::new(&server, "second").open("about:blank");
    let status = client.get("/").ok();
    assert_eq!((&status["tabs"], &status["pendingDialogs"]), (&json!(2), &json!(0)));
    assert_eq!(server.api.get("/").ok()["tabs"], 3);
}

#[test]
fn an_ended_session_leaves_no_popup_behind() {
    let Some(server) = TestServer::browsing() else { return };
    let opens = "onclick = () => setInterval(() => open('/popup', '_blank', 'noopener'), 20)";
    server.site.page("/", &format!("<title>page</title><script>{opens}</script>"));
    server.site.page("/popup", "<title>popup</title>");
    server.open("/popup");
    let client = Client::new(&server, "first");
    client.open(&server.site.url("a", "/"));
    client.post("/act", &json!({ "kind": "click", "selector": "body" })).ok();
    server.api.delete("/sessions/first").ok();
    let tabs = server.api.get("/tabs").ok();
    assert_eq!(tabs["tabs"].as_array().unwrap().len(), 1, "{tabs}");
}

#[test]
fn a_connection_can_be_ended_as_soon_as_it_is_initialized() {
    let server = TestServer::start();
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    for header in ["", "X-Cdpilot-Session: named\r\n"] {
        let answer = server.api.ask("POST", "/mcp", Some(&body), header);
        let head = answer.head.to_lowercase();
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
        let end = || server.api.ask("DELETE", "/mcp", None, &format!("{header}Mcp-Session-Id: {id}\r\n"));
        end().ok();
        end().fails(404, "NOT_FOUND");
    }
}
