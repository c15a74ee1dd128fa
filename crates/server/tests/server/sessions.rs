//! Several sessions on one profile: `X-Cdpilot-Session`, `/sessions`, isolated sessions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::session_client::SessionClient as Client;
use crate::support::share::rounds;
use crate::support::site::Answer;

#[test]
fn reads_do_not_change_the_current_tab_of_a_session() {
    let Some(served) = TestServer::browsing() else { return };
    for name in ["one", "two", "three"] {
        served.site.page(&format!("/{name}"), &format!("<title>{name}</title><button>{name}</button>"));
    }
    let url = |name: &str| served.site.url("a", &format!("/{name}"));
    let (first, second) = (Client::new(&served, "first"), Client::new(&served, "second"));
    first.get("/snapshot").fails(503, "BROWSER_NOT_RUNNING");
    let one = first.open(&url("one"));
    second.get("/snapshot").fails(404, "TAB_NOT_FOUND");
    let two = second.post("/navigate", &json!({ "url": url("two") })).ok()["targetId"].clone();
    assert_eq!((first.evaluate("document.title"), second.evaluate("document.title")), (json!("one"), json!("two")));
    assert_ne!(two, one);
    // The default session behaves as without them: it sees and controls every tab.
    let three = served.open("/three");
    assert_eq!(served.api.eval("document.title"), "three");
    assert_eq!((first.evaluate("document.title"), second.evaluate("document.title")), (json!("one"), json!("two")));
    let all = served.api.get("/tabs").ok();
    let active: Vec<&Value> = all["tabs"].as_array().unwrap().iter().filter(|tab| tab["active"] == true).collect();
    assert!(active.len() == 1 && active[0]["targetId"] == three, "{all}");
    // A session sees its own tabs and those that no session owns.
    assert_eq!(first.targets(), BTreeSet::from([one.clone(), three.clone()]));
    first.get(&format!("/snapshot?targetId={}", two.as_str().unwrap())).fails(404, "TAB_NOT_FOUND");
    served.api.get(&format!("/snapshot?targetId={one}")).ok();
    // Reads of another tab do not move the current one, actions do.
    for path in ["/snapshot", "/text", "/console", "/requests", "/frames", "/dialogs", "/storage/local"] {
        first.get(&format!("{path}?targetId={three}")).ok();
        assert_eq!(first.evaluate("document.title"), "one", "{path}");
    }
    first.post("/act", &json!({ "kind": "hover", "selector": "button", "targetId": three })).ok();
    assert_eq!((first.evaluate("document.title"), second.evaluate("document.title")), (json!("three"), json!("two")));
    // A name that is none is refused, and nothing is done.
    for header in ["X-Cdpilot-Session: two words\r\n", "X-Cdpilot-Session: a\r\nX-Cdpilot-Session: b\r\n"] {
        let response =
            served.api.ask("POST", "/tabs/open", Some(r#"{"url": "about:blank"}"#), header).fails(400, "BAD_REQUEST");
        assert!(response["error"].as_str().unwrap().contains("X-Cdpilot-Session"), "{response}");
    }
    assert_eq!(served.api.get("/tabs").ok()["tabs"].as_array().unwrap().len(), 3);
}

#[test]
fn popups_labels_dialogs_and_armed_answers_belong_to_a_session() {
    let Some(served) = TestServer::browsing() else { return };
    let pop = "<title>pop</title><button onclick=\"window.open('/popup')\">Pop</button>";
    served.site.page("/pop", pop);
    served.site.page("/popup", "<title>popup</title>");
    served.site.page("/ask", "<title>ask</title><button onclick=\"document.title = confirm('Sure?')\">Ask</button>");
    let (first, second) = (Client::new(&served, "first"), Client::new(&served, "second"));
    let one = first.open(&served.site.url("a", "/pop"));
    let two = second.open(&served.site.url("a", "/ask"));
    let popped = first.post("/act", &json!({ "kind": "click", "selector": "button" })).ok();
    let popup = popped["newTabs"][0]["targetId"].as_str().unwrap_or_else(|| panic!("{popped}")).to_owned();
    assert!(first.targets().contains(&popup) && !second.targets().contains(&popup), "{popped}");
    // Two sessions may use the same label.
    first.post("/tabs/label", &json!({ "targetId": one, "label": "main" })).ok();
    second.post("/tabs/label", &json!({ "targetId": two, "label": "main" })).ok();
    assert!(first.get("/snapshot?targetId=main").ok()["url"].as_str().unwrap().ends_with("/pop"));
    assert!(second.get("/snapshot?targetId=main").ok()["url"].as_str().unwrap().ends_with("/ask"));
    served.api.get("/snapshot?targetId=main").fails(409, "AMBIGUOUS_TARGET");
    // Answers are armed for the tabs of the session, and other sessions do not see them.
    second.post("/hooks/dialog", &json!({ "accept": true })).ok();
    assert!(first.get("/dialogs").ok()["armed_answers"].is_null());
    assert_eq!(second.get("/dialogs").ok()["armed_answers"].as_array().unwrap().len(), 1);
    second.post("/act", &json!({ "kind": "click", "selector": "button" })).ok();
    assert_eq!(second.evaluate("document.title"), "true");
    // Of one shared tab, each session arms its own answer.
    let shared = served.open("/ask");
    first.post("/hooks/dialog", &json!({ "accept": true, "targetId": shared })).ok();
    second.post("/hooks/dialog", &json!({ "accept": false, "targetId": shared })).ok();
    for (client, accept) in [(&first, true), (&second, false)] {
        let armed = client.get("/dialogs").ok()["armed_answers"].clone();
        assert!(armed.as_array().unwrap().len() == 1 && armed[0]["accept"] == accept, "{armed}");
    }
    served.api.ask("DELETE", &format!("/hooks/dialog?targetId={shared}"), None, &first.header).ok();
    assert_eq!(second.get("/dialogs").ok()["armed_answers"].as_array().unwrap().len(), 1);
    // The session that acts gets its own answer, although another one was armed before.
    first.post("/hooks/dialog", &json!({ "accept": true, "targetId": shared })).ok();
    second.post("/hooks/dialog", &json!({ "accept": false, "targetId": shared })).ok();
    for (client, accept) in [(&second, "false"), (&first, "true")] {
        client.post("/act", &json!({ "kind": "click", "selector": "button", "targetId": shared })).ok();
        let title = json!({ "kind": "evaluate", "fn": "document.title", "targetId": shared });
        assert_eq!(client.post("/act", &title).ok()["result"], accept);
    }
    // A dialog of one session is none of another's: neither seen nor answered by it.
    let asking = second.post("/act", &json!({ "kind": "click", "selector": "button", "targetId": two })).ok();
    let id = asking["pending_dialogs"][0]["id"].clone();
    assert_eq!(first.get("/dialogs").ok()["pending_dialogs"], json!([]));
    first.post("/hooks/dialog", &json!({ "accept": true, "dialogId": id })).fails(404, "DIALOG_NOT_FOUND");
    second.post("/hooks/dialog", &json!({ "accept": false, "dialogId": id })).ok();
    assert_eq!(second.evaluate("document.title"), "false");
}

#[test]
fn a_session_receives_events_of_its_visible_tabs() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>page</title>");
    let (first, second) = (Client::new(&served, "first"), Client::new(&served, "second"));
    first.open(&served.site.url("a", "/"));
    let (mut to_first, mut to_second) =
        (served.api.events("/events", &first.header), served.api.events("/events", &second.header));
    let two = second.open(&served.site.url("a", "/"));
    second.post("/act", &json!({ "kind": "evaluate", "fn": "console.log('of two'), 1" })).ok();
    second.post("/act", &json!({ "kind": "close" })).ok();
    first.post("/act", &json!({ "kind": "evaluate", "fn": "console.log('of one'), 1" })).ok();
    let mut seen = Vec::new();
    loop {
        let (kind, _, data) = to_second.next();
        assert_eq!(data["targetId"], two, "{kind} {data}");
        seen.push(kind);
        if seen.last().unwrap() == "tab_closed" {
            break;
        }
    }
    for kind in ["tab_opened", "navigated", "console", "action_started", "action_finished"] {
        assert!(seen.iter().any(|seen| seen == kind), "{kind}: {seen:?}");
    }
    loop {
        let (kind, _, data) = to_first.next();
        assert_ne!(data["targetId"], two, "{kind} {data}");
        if kind == "action_finished" {
            assert_eq!(data["actor"], "first", "{data}");
            break;
        }
    }
}

#[test]
fn a_session_can_be_isolated_and_ended() {
    let Some(served) = TestServer::browsing() else { return };
    let cookie =
        "<title>c</title><script>document.title = document.cookie || 'none'; document.cookie = 'who=x'</script>";
    served.site.put("/", Answer::html(cookie));
    let url = served.site.url("a", "/");
    served.api.post("/sessions", &json!({ "name": "two words" })).fails(400, "BAD_REQUEST");
    served.api.post("/sessions", &json!({ "name": "alone", "isolated": true })).ok();
    served.api.post("/sessions", &json!({ "name": "alone" })).fails(409, "CONFLICT");
    let (alone, beside) = (Client::new(&served, "alone"), Client::new(&served, "beside"));
    beside.open(&url);
    assert_eq!(beside.evaluate("document.title"), "none");
    beside.open(&url);
    assert_eq!(beside.evaluate("document.title"), "who=x");
    // Its cookies are its own, and it sees no tab but its own.
    let own = alone.open(&url);
    assert_eq!((alone.evaluate("document.title"), alone.targets()), (json!("none"), BTreeSet::from([own.clone()])));
    served.open("/");
    assert_eq!(alone.targets(), BTreeSet::from([own]));
    let cookies = alone.get("/cookies").ok();
    assert_eq!(cookies["cookies"].as_array().unwrap().len(), 1, "{cookies}");
    alone.server.api.ask("DELETE", "/cookies", None, &alone.header).ok();
    beside.post("/reload", &json!({})).ok();
    assert_eq!(beside.evaluate("document.title"), "who=x");

    let listed = served.api.get("/sessions").ok();
    let names: Vec<&Value> = listed["sessions"].as_array().unwrap().iter().map(|session| &session["name"]).collect();
    assert_eq!(names, ["alone", "beside"]);
    assert_eq!(listed["sessions"][1]["tabs"].as_array().unwrap().len(), 2, "{listed}");
    let ended = served.api.delete("/sessions/alone").ok();
    assert_eq!(ended["session"]["tabs"].as_array().unwrap().len(), 1, "{ended}");
    served.api.delete("/sessions/alone").fails(404, "NOT_FOUND");
    assert_eq!(served.api.get("/tabs").ok()["tabs"].as_array().unwrap().len(), 3);
    // The name may be used again, for a new one.
    alone.get("/snapshot").fails(404, "TAB_NOT_FOUND");
}

#[test]
fn todo_lists_belong_to_a_session_and_end_with_it() {
    let served = TestServer::start();
    let call = |header: &str, arguments: Value| {
        let params = json!({ "name": "todo", "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let response = served.api.ask("POST", "/mcp?toolsets=todo", Some(&body.to_string()), header).json();
        response["result"]["structuredContent"]["todos"].as_array().unwrap().len()
    };
    let item = json!({ "todos": [{ "id": "1", "content": "Buy milk", "status": "pending" }] });
    let (first, second, connection) =
        ("X-Cdpilot-Session: first\r\n", "X-Cdpilot-Session: second\r\n", "Mcp-Session-Id: first\r\n");
    assert_eq!(call(first, item.clone()), 1);
    assert_eq!((call(first, json!({})), call(second, json!({})), call("", json!({}))), (1, 0, 0));
    assert_eq!(call(connection, json!({})), 0, "a connection's id is no name of a session");
    call(connection, item);
    served.api.ask("DELETE", "/mcp", None, connection).ok();
    served.api.ask("DELETE", "/mcp", None, connection).fails(404, "NOT_FOUND");
    served.api.delete("/sessions/first").ok();
    assert_eq!((call(first, json!({})), call(connection, json!({}))), (0, 0));
}

/// Concurrent sessions: none sees a tab, current tab, armed answer or todo list of another.
#[test]
fn sessions_do_not_disturb_each_other() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page(
        "/",
        "<body><input id=i><button onclick=\"document.title += confirm('?')\">Ask</button>
         <script>document.title = location.search</script>",
    );
    // From the third turn on, a tab is closed in each.
    let turns = rounds("CDPILOT_TEST_TURNS", 3, 12);
    let sessions = rounds("CDPILOT_TEST_SESSIONS", 4, 8);
    let (served, site) = (&served, &served.site);
    std::thread::scope(|scope| {
        for number in 0..sessions {
            scope.spawn(move || {
                let client = Client::new(served, &format!("s{number}"));
                let own = |target: &str| format!("{target}{number}");
                let (mut mine, mut ever) = (BTreeSet::new(), BTreeSet::new());
                for _ in 0..turns {
                    let url = site.url("a", &format!("/?{}", own("s")));
                    let opened = client.open(&url);
                    ever.insert(opened.clone());
                    mine.insert(opened);
                    assert_eq!(client.targets(), mine, "session {number}");
                    let typed = json!({ "kind": "type", "selector": "#i", "text": own("text ") });
                    client.post("/act", &typed).ok();
                    // Even ones accept, odd ones dismiss.
                    let accept = number % 2 == 0;
                    client.post("/hooks/dialog", &json!({ "accept": accept })).ok();
                    let armed = client.get("/dialogs").ok()["armed_answers"].clone();
                    assert!(armed.as_array().unwrap().len() == 1 && armed[0]["accept"] == accept, "{number}: {armed}");
                    client.post("/act", &json!({ "kind": "click", "selector": "button" })).ok();
                    let script = json!({ "kind": "evaluate", "fn": "document.title + '|' + document.querySelector('#i').value" });
                    let now = client.post("/act", &script).ok()["result"].clone();
                    assert_eq!(now, format!("?{}{accept}|{}", own("s"), own("text ")), "session {number}");
                    let dialogs = client.get("/dialogs").ok();
                    assert_eq!(dialogs["pending_dialogs"], json!([]), "{number}");
                    for closed in dialogs["recent_dialogs"].as_array().unwrap() {
                        assert!(ever.contains(closed["target_id"].as_str().unwrap()), "{number}: {closed}");
                    }
                    if mine.len() == 3 {
                        client.post("/act", &json!({ "kind": "close" })).ok();
                        mine = client.targets();
                        assert_eq!(mine.len(), 2, "session {number}");
                    }
                }
            });
        }
    });
    let listed = served.api.get("/sessions").ok();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), sessions, "{listed}");
}
