//! The visual agent's tools on pages that can be neither seen nor used: the state is named, with what to do.

use std::sync::Arc;

use cdpilot::supervisor::FrameRef;
use cdpilot::sync::spawn;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;
use crate::support::share::share;
use crate::support::site::{Answer, Held};
use crate::support::test_home::{TestHome, overrides, run, seen};
use crate::support::tool_home::ToolHome;

fn showing(html: &str) -> Option<ToolHome> {
    let tooled = ToolHome::new("")?;
    tooled.home.site.page("/", html);
    open(&tooled);
    Some(tooled)
}

fn open(tooled: &ToolHome) -> Value {
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }))
}

fn text(response: &Value) -> &str {
    response["observation"].as_str().unwrap_or_else(|| panic!("no observation in {response}"))
}

/// The id of the only element.
fn only_id(response: &Value) -> String {
    let line = text(response).lines().find(|line| line.contains("): <")).unwrap_or_else(|| panic!("{response}"));
    line.split('(').next().unwrap().to_owned()
}

/// A share of the calls that need the page: what each of them answers.
fn answers(tooled: &ToolHome, id: &str) -> Vec<Value> {
    let calls = [
        ("highlight", json!({})),
        ("tab", json!({ "action": "view" })),
        ("element_interaction", json!({ "action": "click", "element_id": id })),
        ("element_interaction", json!({ "action": "scroll" })),
    ];
    share(calls, 2).into_iter().map(|(tool, arguments)| tooled.call(tool, arguments)).collect()
}

fn assert_state(answer: &Value, state: &str, code: &str, way_out: &str) {
    assert_eq!((&answer["success"], &answer["state"]), (&json!(false), &json!(state)), "{answer}");
    assert_eq!(answer["code"], code, "{answer}");
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains(way_out), "{way_out:?} in {answer}");
    for foreign in ["browser_", "Runtime.", "snapshot"] {
        assert!(!error.contains(foreign), "{answer}");
    }
}

#[test]
fn a_crashed_page_is_named_and_can_be_loaded_again() {
    let Some(tooled) = showing("<title>Crash</title><button>Go</button>") else { return };
    let id = only_id(&tooled.done("highlight", json!({})));
    let profile = tooled.home.main();
    let tab = profile.tab(None).unwrap().tab;
    let top = FrameRef::TopOf(tab.target().clone());
    tab.supervisor().call_raw(&top, "Page.crash", &json!({}), soon()).unwrap_err();
    seen(&profile, "the crash", |now| now.pages[0].state == cdpilot::supervisor::PageState::Crashed);
    for answer in answers(&tooled, &id) {
        assert_state(&answer, "crashed", "BROWSER_ERROR", "tab (action refresh)");
    }
    let again = tooled.done("tab", json!({ "action": "refresh" }));
    assert_eq!(only_id(&again), id, "{again}");
}

#[test]
fn a_script_of_another_client_is_named_and_left_alone() {
    let Some(tooled) = showing("<title>Busy</title><button>Go</button>") else { return };
    let id = only_id(&tooled.done("highlight", json!({})));
    let page = tooled.home.main().tab(None).unwrap().tab;
    let other = {
        let tab = Arc::clone(&page);
        spawn("test-other-client", move || {
            let _ =
                tab.evaluate("console.log('begun'); while (true) {}", None, cdpilot::sync::Deadline::after_secs(40));
        })
        .unwrap()
    };
    seen(&tooled.home.main(), "the script", |now| now.console.iter().any(|entry| entry.text.contains("begun")));
    for answer in answers(&tooled, &id) {
        assert_state(&answer, "busy", "PAGE_BUSY", "another tab (action open, url)");
    }
    let answer = tooled.call("tab", json!({ "action": "refresh" }));
    assert_state(&answer, "busy", "PAGE_BUSY", "another client runs a script in the page, for ");
    // The way out of the message works.
    let elsewhere = tooled.done("tab", json!({ "action": "open", "url": tooled.home.site.url("b", "/") }));
    assert!(text(&elsewhere).contains("<button>Go</button>"), "{elsewhere}");
    tooled.done("tab", json!({ "action": "close", "tab_id": "t1" }));
    drop(other);
}

#[test]
fn a_page_whose_own_script_never_ends_is_freed() {
    let Some(tooled) = ToolHome::new("rescue_after_ms: 500, rescue_after_load_ms: 0") else { return };
    tooled.home.site.page("/", "<title>Stuck</title><button>Go</button>");
    open(&tooled);
    let profile = tooled.home.main();
    run(&profile, "t1", "setTimeout(() => { console.log('begun'); while (true) {} })");
    seen(&profile, "the script", |now| now.console.iter().any(|entry| entry.text.contains("begun")));
    let looked = tooled.done("highlight", json!({}));
    assert!(text(&looked).contains("<button>Go</button>"), "{looked}");
}

#[test]
fn an_action_that_leads_to_a_silent_server_is_reported_as_done() {
    let Some(tooled) = showing("<title>Home</title><a href=/silent>Leave</a>") else { return };
    let silent = Held::default();
    tooled.home.site.put("/silent", Answer::html("late").held_by(&silent));
    let id = only_id(&tooled.done("highlight", json!({})));
    tooled.done("element_interaction", json!({ "action": "click", "element_id": id }));
    let done = tooled.done("element_interaction", json!({ "action": "confirm_click", "element_id": id }));
    assert_eq!(done["state"], "loading", "{done}");
    assert!(text(&done).contains(&format!("Clicked {id}")), "{done}");
    for answer in answers(&tooled, &id) {
        assert_state(&answer, "loading", "TIMEOUT", "tab (action open, url)");
    }
    open(&tooled);
    silent.release();
}

#[test]
fn a_lost_connection_is_named_while_it_is_restored() {
    let Some(lease) = Lease::take_empty() else { return };
    let proxy = Proxy::of(lease.url());
    let tooled = ToolHome::of(TestHome::without_browser(&format!("cdp_url: '{}'", proxy.url()), overrides(None)));
    tooled.home.site.page("/", "<title>Far</title><button>Go</button>");
    let id = only_id(&open(&tooled));
    proxy.refuse(true);
    proxy.cut();
    let profile = tooled.home.main();
    seen(&profile, "the loss", |now| matches!(now.phase, cdpilot::supervisor::Phase::Reconnecting(_)));
    for answer in answers(&tooled, &id) {
        assert_state(&answer, "disconnected", "BROWSER_NOT_RUNNING", "try again in a few seconds");
    }
    proxy.refuse(false);
    seen(&profile, "the connection", |now| matches!(now.phase, cdpilot::supervisor::Phase::Active));
    let again = tooled.done("highlight", json!({}));
    assert_eq!(only_id(&again), id);
    drop((tooled, proxy));
}

#[test]
fn a_browser_that_is_not_running_is_named() {
    let Some(tooled) = ToolHome::new("") else { return };
    for answer in answers(&tooled, "abc123") {
        assert_state(&answer, "not_running", "BROWSER_NOT_RUNNING", "tab (action init, url)");
    }
}
