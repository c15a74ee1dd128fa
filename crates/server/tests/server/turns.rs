//! Several clients of one tab: their actions take turns, reads do not wait.

use serde_json::{Value, json};

use crate::support::api::{Api, TestServer};
use crate::support::share::rounds;
use crate::support::site::{Answer, Held};

const FIELDS: &str = "<title>fields</title><textarea id=one></textarea><textarea id=two></textarea><button>x</button>";

fn typing(selector: &str, text: &str) -> Value {
    json!({ "kind": "type", "selector": selector, "text": text, "append": true, "timeoutMs": 60_000 })
}

/// Has an action of another client run in the tab until the test ends it.
struct Running {
    held: Held,
    answer: std::net::TcpStream,
}

fn running(served: &TestServer) -> Running {
    let held = Held::default();
    served.site.put("/held", Answer::html("done").held_by(&held));
    let script = json!({ "kind": "evaluate", "fn": "fetch('/held').then(reply => reply.text())", "timeoutMs": 60_000 });
    let answer = served.api.send("POST", "/act", Some(&script.to_string()), "");
    served.site.wait_requested("a.localhost/held", 1);
    Running { held, answer }
}

fn answered(mut running: Running) -> String {
    running.held.release();
    let mut response = String::new();
    std::io::Read::read_to_string(&mut running.answer, &mut response).unwrap();
    response
}

#[test]
fn two_clients_typing_into_one_tab_do_not_interleave() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show(FIELDS);
    let length = rounds("CDPILOT_TEST_TYPED", 60, 200);
    let (first, second) = ("a".repeat(length), "b".repeat(length));
    let both = |one: &str, two: &str| {
        std::thread::scope(|scope| {
            let one = scope.spawn(|| api.act(&typing(one, &first)).ok());
            let two = scope.spawn(|| api.act(&typing(two, &second)).ok());
            one.join().unwrap();
            two.join().unwrap();
        });
    };
    both("#one", "#two");
    assert_eq!(api.eval("one.value"), first);
    assert_eq!(api.eval("two.value"), second);
    api.eval("one.value = two.value = ''");
    both("#one", "#one");
    let value = api.eval("one.value").as_str().unwrap().to_owned();
    assert!(value == format!("{first}{second}") || value == format!("{second}{first}"), "{value}");
}

#[test]
fn eight_clients_take_turns_without_loss() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show(FIELDS);
    let turns = rounds("CDPILOT_TEST_TURNS", 2, 3);
    std::thread::scope(|scope| {
        for letter in "abcdefgh".chars() {
            scope.spawn(move || {
                for _ in 0..turns {
                    api.act(&typing("#one", &letter.to_string().repeat(10))).ok();
                }
            });
        }
    });
    let value = api.eval("one.value").as_str().unwrap().to_owned();
    let letters: Vec<char> = value.chars().collect();
    assert_eq!(letters.len(), 8 * turns * 10, "{value}");
    assert!(letters.chunks(10).all(|turn| turn.iter().all(|letter| *letter == turn[0])), "{value}");
    let count = |letter: char| letters.iter().filter(|one| **one == letter).count();
    assert!("abcdefgh".chars().all(|letter| count(letter) == turns * 10), "{value}");
}

#[test]
fn a_queued_action_that_times_out_names_the_running_one() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let target = served.show(FIELDS);
    let other = served.open("/");
    api.post("/tabs/focus", &json!({ "targetId": target })).ok();
    let holder = running(&served);

    let response = api.act(&json!({ "kind": "click", "selector": "button", "timeoutMs": 400 })).fails(409, "PAGE_BUSY");
    assert!(response["error"].as_str().unwrap().contains("evaluate"), "{response}");
    assert_eq!(response["details"]["running"], "evaluate", "{response}");
    let batch = json!({ "kind": "batch", "actions": [{ "kind": "press", "key": "a" }], "timeoutMs": 400 });
    api.act(&batch).fails(409, "PAGE_BUSY");
    let url = served.site.url("a", "/");
    api.post("/navigate", &json!({ "url": url, "timeoutMs": 400 })).fails(409, "PAGE_BUSY");

    // What changes nothing does not wait, and neither does another tab.
    for path in ["/text", "/snapshot", "/console", "/requests", "/frames", "/dialogs", "/storage/local"] {
        api.get(path).ok();
    }
    api.post("/screenshot", &json!({})).ok();
    api.act(&json!({ "kind": "wait", "selector": "#one" })).ok();
    api.act(&json!({ "kind": "click", "selector": "button", "targetId": other })).ok();

    // A client that hangs up leaves the queue, and its action is never done.
    api.post("/tabs/focus", &json!({ "targetId": target })).ok();
    let gone = typing("#one", "never");
    let connection = api.send("POST", "/act", Some(&gone.to_string()), "");
    wait_ahead(api, 1);
    drop(connection);
    wait_ahead(api, 0);
    std::thread::scope(|scope| {
        let next = scope.spawn(|| api.act(&typing("#one", "next")).ok());
        assert!(answered(holder).contains("done"));
        next.join().unwrap();
    });
    assert_eq!(api.eval("one.value"), "next");
}

#[test]
fn a_hanging_action_blocks_neither_dialogs_nor_close() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show(FIELDS);
    let holder = running(&served);
    let waits = api.send("POST", "/act", Some(&typing("#one", "x").to_string()), "");
    let dialog = served.dialog("window.sure = confirm('sure?')");
    // A queued action reports the dialog.
    assert!(read(waits).contains("BLOCKED_BY_DIALOG"));
    api.act(&typing("#one", "x")).fails(409, "BLOCKED_BY_DIALOG");
    let response = api.post("/hooks/dialog", &json!({ "accept": true })).ok();
    assert_eq!(response["dialog"]["id"], dialog);
    drop(answered(holder));

    for close in ["act", "delete", "stop"] {
        let target = served.show(FIELDS);
        // Each has a path of its own: browsers repeat requests that were cut off.
        let held = format!("/held-{close}");
        served.site.put(&held, Answer::html("done").held_by(&Held::default()));
        let script = json!({ "kind": "evaluate", "fn": format!("fetch('{held}')"), "timeoutMs": 60_000 });
        let hangs = api.send("POST", "/act", Some(&script.to_string()), "");
        served.site.wait_requested(&format!("a.localhost{held}"), 1); // it has its turn
        let waits = api.send("POST", "/act", Some(&typing("#one", "x").to_string()), "");
        wait_ahead(api, 1);
        match close {
            "act" => drop(api.act(&json!({ "kind": "close", "targetId": target })).ok()),
            "delete" => drop(api.delete(&format!("/tabs/{target}")).ok()),
            _ => drop(api.post("/stop", &json!({})).ok()),
        }
        for answer in [hangs, waits] {
            let response = read(answer);
            assert!(response.contains("\"ok\":false") && !response.contains("PAGE_BUSY"), "{close}: {response}");
        }
    }
}

fn read(mut answer: std::net::TcpStream) -> String {
    let mut response = String::new();
    std::io::Read::read_to_string(&mut answer, &mut response).unwrap();
    response
}

/// Waits until an action of another client runs in the current tab, and so many wait for their turn.
fn wait_ahead(api: &Api, ahead: u64) {
    let deadline = crate::support::chrome::soon();
    let press = json!({ "kind": "press", "key": "Shift", "timeoutMs": 200 });
    loop {
        let response = api.act(&press).json();
        if response["code"] == "PAGE_BUSY" && response["details"]["ahead"] == ahead {
            return;
        }
        assert!(!deadline.passed(), "{response}");
    }
}
