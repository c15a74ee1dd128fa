//! Tabs that pages open: usable as soon as they are reported, and never more than the limit.

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::session_client::SessionClient;
use crate::support::share::{rounds, share};
use crate::support::site::{Answer, Held};

/// Ways for a page to open a tab, each as an element of it.
const KINDS: [(&str, &str); 8] = [
    ("same site", "<a target=_blank href='/new/one'>x</a>"),
    ("another site", "<a target=_blank href='@b/new/two'>x</a>"),
    ("with its opener", "<a target=_blank rel=opener href='@b/new/three'>x</a>"),
    ("window.open", "<button onclick=\"window.open('/new/four')\">x</button>"),
    ("window.open of another site", "<button onclick=\"window.open('@b/new/five')\">x</button>"),
    ("noopener", "<button onclick=\"window.open('@c/new/six', '_blank', 'noopener')\">x</button>"),
    ("a form", "<form target=_blank action='/new/seven'><button>x</button></form>"),
    ("opened empty, sent on", "<button onclick=\"window.open('').location = '/new/eight'\">x</button>"),
];

/// The only new tab of an action's answer.
fn only_new_tab(response: &Value) -> Value {
    let tabs = response["newTabs"].as_array().unwrap_or_else(|| panic!("no newTabs: {response}"));
    assert_eq!(tabs.len(), 1, "{response}");
    tabs[0].clone()
}

#[test]
fn a_tab_opened_by_a_click_is_usable_at_once() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    for name in names {
        served.site.page(&format!("/new/{name}"), &format!("<title>{name}</title><button>here</button><p>{name}"));
    }
    for (index, (_, html)) in KINDS.iter().enumerate() {
        served.site.page(&format!("/opens/{index}"), html);
    }
    let opener = served.show("<p>x");
    let mut titled = 0;
    let turns = share(0..24, 6);
    let count = turns.len();
    for round in turns {
        let index = round % KINDS.len();
        let ((kind, _), name) = (KINDS[index], names[index]);
        let to = json!({ "url": served.site.url("a", &format!("/opens/{index}")), "targetId": opener });
        api.post("/navigate", &to).ok();
        let click = json!({ "kind": "click", "selector": "a, button", "targetId": opener });
        let tab = only_new_tab(&api.act(&click).ok());
        let target = tab["targetId"].as_str().unwrap();
        let path = format!("/new/{name}");
        match (round + round / KINDS.len()) % 6 {
            0 => {
                let text = api.get(&format!("/text?targetId={target}")).ok();
                assert!(text["text"].as_str().is_some_and(|text| text.contains(name)), "{kind}: {text}");
            }
            1 => {
                let seen = api.get(&format!("/snapshot?targetId={target}")).ok();
                assert!(seen["snapshot"].as_str().is_some_and(|text| text.contains("here")), "{kind}: {seen}");
            }
            2 => {
                let evaluate = json!({ "kind": "evaluate", "fn": "location.pathname", "targetId": target });
                assert_eq!(api.act(&evaluate).ok()["result"], path, "{kind}");
            }
            3 => {
                let shot = api.post("/screenshot", &json!({ "targetId": target })).ok();
                assert!(shot["url"].as_str().is_some_and(|url| url.contains(&path)), "{kind}: {shot}");
            }
            4 => {
                api.act(&json!({ "kind": "click", "selector": "button", "targetId": target })).ok();
            }
            _ => {
                let params = json!({ "expression": "location.pathname" });
                let raw = json!({ "method": "Runtime.evaluate", "params": params, "targetId": target });
                assert_eq!(api.post("/cdp", &raw).ok()["result"]["result"]["value"], path, "{kind}");
            }
        }
        let known = api.get("/tabs").ok()["tabs"].as_array().unwrap().clone();
        let listed = known.iter().find(|listed| listed["targetId"] == target).unwrap();
        assert_eq!(tab["tabId"], listed["tabId"], "{kind}: {tab}");
        // Without a title when the document took longer than an action waits for it.
        assert!(tab["title"] == *name || tab["title"] == "", "{kind}: {tab}");
        titled += usize::from(tab["title"] == *name);
        assert!(tab["url"].as_str().is_some_and(|url| url.contains(&path)), "{kind}: {tab}");
        api.delete(&format!("/tabs/{target}")).ok();
    }
    assert!(titled * 2 >= count, "{titled} of {count} with a title");
}

#[test]
fn calls_to_a_new_tab_wait_for_its_slow_server() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    for (index, rel) in ["opener", "noopener"].into_iter().enumerate() {
        let held = Held::default();
        let path = format!("/slow/{index}");
        served.site.put(&path, Answer::html("<title>slow</title><p>came late").held_by(&held));
        let opener = served.show(&format!("<a target=_blank rel={rel} href='@b{path}'>x</a>"));
        let tab = only_new_tab(&api.act(&json!({ "kind": "click", "selector": "a", "targetId": opener })).ok());
        let target = tab["targetId"].as_str().unwrap();
        assert!(tab["url"].as_str().is_some_and(|url| url.ends_with(&path)), "{rel}: {tab}");
        // By its deadline when the server does not answer, and with the document when it does.
        let evaluate = |time: u64| {
            let script = "document.body.textContent + document.readyState.length";
            json!({ "kind": "evaluate", "fn": script, "targetId": target, "timeoutMs": time })
        };
        api.act(&evaluate(300)).fails(504, "TIMEOUT");
        std::thread::scope(|scope| {
            let used = scope.spawn(|| api.act(&evaluate(30_000)).ok());
            let read = scope.spawn(|| api.get(&format!("/text?targetId={target}&timeoutMs=30000")).ok());
            served.site.wait_requested(&format!("b.localhost{path}"), 1);
            held.release();
            let eval_value = used.join().unwrap()["result"].clone();
            assert!(eval_value.as_str().is_some_and(|text| text.starts_with("came late")), "{rel}: {eval_value}");
            assert_eq!(read.join().unwrap()["text"].as_str().map(str::trim), Some("came late"), "{rel}");
        });
        api.delete(&format!("/tabs/{target}")).ok();
    }
}

#[test]
fn a_new_tab_without_document_is_usable() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.put("/nothing", Answer::html("").status("204 No Content"));
    for opens in ["", "about:blank", "/nothing", "javascript:1"] {
        let opener = served.show(&format!("<button onclick=\"window.open('{opens}')\">x</button>"));
        let response = api.act(&json!({ "kind": "click", "selector": "button", "targetId": opener })).ok();
        let target = only_new_tab(&response)["targetId"].as_str().unwrap().to_owned();
        let eval_value = api.act(&json!({ "kind": "evaluate", "fn": "1 + 1", "targetId": target })).ok();
        assert_eq!(eval_value["result"], 2, "{opens:?}");
        api.delete(&format!("/tabs/{target}")).ok();
    }
}

/// A tab that a client opens is not taken for a popup beyond the limit, although it may be attached before the browser has answered.
#[test]
fn the_last_tab_within_the_limit_opens() {
    let Some(served) = TestServer::browsing_with(|config, _| config.browser.tabs.max = 4) else { return };
    served.site.page("/", "<title>page</title>");
    let url = served.site.url("a", "/");
    let own = SessionClient::isolated(&served, "own");
    for _ in 0..6 {
        while let response = own.post("/tabs/open", &json!({ "url": url }))
            && response.status != 409
        {
            response.ok();
        }
        assert_eq!(served.api.get("/tabs").ok()["tabs"].as_array().unwrap().len(), 4);
        for target in own.targets() {
            own.delete(&format!("/tabs/{target}")).ok();
        }
    }
}

#[test]
fn popups_beyond_the_tab_limit_are_closed_and_reported() {
    let Some(served) = TestServer::browsing_with(|config, _| config.browser.tabs.max = 5) else { return };
    let api = &served.api;
    served.site.page("/pop", "<title>popup</title>");
    let mut events = api.events("/events?since=0", "");
    let count = rounds("CDPILOT_TEST_POPUPS", 25, 75);
    let opener = served.show(&format!(
        "<title>opener</title><button onclick=\"for (let i = 0; i < {count}; i++) window.open('/pop?' + i)\">x</button>
         <a target=_blank href='/pop'>y</a>"
    ));
    let many = |response: &Value| response["blockedPopups"].as_u64().unwrap_or_default();
    let click = json!({ "kind": "click", "selector": "button", "targetId": opener, "timeoutMs": 60_000 });
    let response = api.act(&click).ok();
    let opened = response["newTabs"].as_array().map_or(0, Vec::len);
    assert!(opened <= 4, "{response}");
    assert_eq!(opened as u64 + many(&response), count as u64, "{response}");
    let (_, event) = events.next_of("popup_blocked");
    assert_eq!((&event["targetId"], &event["limit"]), (&json!(opener), &json!(5)), "{event}");

    // The closed pages sent no requests.
    assert_eq!(served.site.heads("a.localhost/pop").len(), opened);

    // The browser works, within its tab limit.
    for _ in 0..3 {
        assert!(api.get("/tabs").ok()["tabs"].as_array().unwrap().len() <= 5);
        assert_eq!(api.eval("document.title"), "opener");
        let response = api.act(&json!({ "kind": "click", "selector": "a", "targetId": opener })).ok();
        assert_eq!((response.get("newTabs"), many(&response)), (None, 1), "{response}");
    }
    api.post("/tabs/open", &json!({ "url": "about:blank" })).fails(409, "TAB_LIMIT");
    // Where there is room again, popups are tabs again.
    let tabs = api.get("/tabs").ok()["tabs"].as_array().unwrap().clone();
    let popup = tabs.iter().find(|tab| tab["targetId"] != opener.as_str()).unwrap();
    api.delete(&format!("/tabs/{}", popup["targetId"].as_str().unwrap())).ok();
    let response = api.act(&json!({ "kind": "click", "selector": "a", "targetId": opener })).ok();
    assert_eq!((only_new_tab(&response)["title"].as_str(), many(&response)), (Some("popup"), 0), "{response}");
}
