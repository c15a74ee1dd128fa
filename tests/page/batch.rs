//! Several actions in one request: their results, and early ends.

use cdpilot::page::Outcome;
use cdpilot::supervisor::{DialogAnswer, FrameRef};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{soon, until};
use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of};

fn click(selector: &str) -> Value {
    json!({ "kind": "click", "selector": selector })
}

fn eval_value(script: &str) -> Value {
    json!({ "kind": "evaluate", "fn": script })
}

fn batch(actions: &[Value]) -> Value {
    json!({ "kind": "batch", "actions": actions })
}

fn going_on(actions: &[Value]) -> Value {
    json!({ "kind": "batch", "actions": actions, "stopOnError": false })
}

/// Its results as `ok`, a code, or a value.
fn results(outcome: &Outcome) -> Vec<Value> {
    let short = |result: &Value| match (&result["ok"], &result["result"]) {
        (Value::Bool(true), Value::Null) => json!("ok"),
        (Value::Bool(true), value) => value.clone(),
        _ => result["code"].clone(),
    };
    outcome.results.as_ref().unwrap().iter().map(short).collect()
}

const MISSING: &str = "#nowhere";

fn missing() -> Value {
    json!({ "kind": "click", "selector": MISSING, "timeoutMs": 300 })
}

#[test]
fn a_batch_runs_in_order_with_a_result_per_action() {
    let Some(page) = TestTab::logging("batch-order", "<input id=i><button id=b>Go</button><button id=c>On</button>")
    else {
        return;
    };
    let seen = page.snapshot();
    let by_ref = json!({ "kind": "click", "ref": ref_of(&seen, "\"On\"") });
    let text = json!({ "kind": "type", "selector": "#i", "text": "abc" });
    let outcome =
        page.act(batch(&[click("#b"), by_ref, text, eval_value("i.value"), eval_value("log.length")])).unwrap();
    let log = page.log();
    assert!(log.find("click#b").unwrap() < log.find("click#c").unwrap(), "{log}");
    let response = results(&outcome);
    assert_eq!(response[..4], [json!("ok"), json!("ok"), json!("ok"), json!("abc")]);
    assert!(response[4].as_u64().unwrap() > 6, "{response:?}");
    assert_eq!((outcome.failed, &outcome.aborted, outcome.navigated), (Some(0), &None, false));
    assert!(outcome.url.ends_with('/'), "{outcome:?}");
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["failed"], 0);
    assert_eq!(json["results"][3]["ok"], true);
}

#[test]
fn a_batch_stops_at_the_first_failure_unless_told_to_continue() {
    let Some(page) = TestTab::logging("batch-fails", "<button id=b>Go</button>") else { return };
    let actions = [click("#b"), missing(), eval_value("7"), eval_value("throw new Error('no')"), eval_value("8")];
    let outcome = page.act(batch(&actions)).unwrap();
    assert_eq!(results(&outcome), [json!("ok"), json!("NOT_FOUND")]);
    assert_eq!((outcome.failed, &outcome.aborted), (Some(1), &None));
    let failed = &outcome.results.as_ref().unwrap()[1];
    assert!(failed["ok"] == false && failed["error"].as_str().unwrap().contains(MISSING), "{failed}");

    let outcome = page.act(going_on(&actions)).unwrap();
    assert_eq!(results(&outcome), [json!("ok"), json!("NOT_FOUND"), json!(7), json!("SCRIPT_ERROR"), json!(8)]);
    assert_eq!((outcome.failed, &outcome.aborted), (Some(2), &None));

    // The text of a ref is part of its result.
    let reference = ref_of(&page.snapshot(), "Go");
    page.value("b.textContent = 'Stop'");
    let outcome = page.act(batch(&[json!({ "kind": "click", "ref": reference }), click("#b")])).unwrap();
    assert_eq!(results(&outcome), [json!("REF_CHANGED")]);
    assert_eq!(outcome.results.unwrap()[0]["details"]["now"]["name"], "Stop");
    assert_eq!(page.log().matches(" click#b").count(), 2);
}

#[test]
fn a_batch_stops_when_the_document_changes() {
    let Some(page) = TestTab::new("batch-navigates") else { return };
    page.put("/next", "<button id=b>Delete all</button>");
    let kinds = [
        "<a id=b href='/next'>Next</a>",
        "<button id=b onclick='location = \"@b/next\"'>Next</button>",
        "<button id=b onclick='history.pushState(1, \"\", \"/next\")'>Next</button>",
    ];
    for (html, stop) in share(kinds.into_iter().flat_map(|html| [(html, true), (html, false)]), 2) {
        page.put("/", html);
        page.go("/");
        let actions = [eval_value("1"), click("#b"), click("#b"), eval_value("log.length")];
        let outcome = page.act(if stop { batch(&actions) } else { going_on(&actions) }).unwrap();
        assert_eq!(results(&outcome), [json!(1), json!("ok")], "{html}");
        let aborted = outcome.aborted.unwrap();
        assert_eq!(
            (&aborted["reason"], &aborted["afterAction"], &aborted["skipped"]),
            (&json!("navigation"), &json!(1), &json!(2))
        );
        assert!(aborted["url"].as_str().unwrap().ends_with("/next") && outcome.navigated && outcome.failed == Some(0));
        assert!(outcome.url.ends_with("/next"));
    }
    // Nothing was skipped.
    page.put("/", "<a id=b href='/next'>Next</a>");
    page.go("/");
    let outcome = page.act(batch(&[click("#b")])).unwrap();
    assert!(outcome.aborted.is_none() && outcome.navigated, "{outcome:?}");
    assert_eq!(page.value("log.length"), 0);

    // One that fails because the document went away under it.
    page.put("/", "<button id=b disabled onclick='1'>Go</button>");
    page.go("/");
    page.value("setTimeout(() => location = '/next', 500), 1");
    let gone = eval_value("new Promise(() => {})");
    let outcome = page.act(going_on(&[gone, click("#b")])).unwrap();
    assert_eq!((results(&outcome).len(), outcome.failed), (1, Some(1)), "{outcome:?}");
    assert_eq!(outcome.aborted.unwrap()["reason"], "navigation");
    page.loaded();
    assert_eq!(page.value("log.length"), 0);
}

#[test]
fn a_batch_stops_at_a_dialog_and_does_not_start_under_one() {
    let Some(page) = TestTab::logging("batch-dialog", "<button id=b onclick='alert(1)'>Go</button>") else { return };
    for actions in [batch(&[click("#b"), eval_value("1")]), going_on(&[click("#b"), eval_value("1")])] {
        let outcome = page.act(actions).unwrap();
        assert_eq!(results(&outcome), [json!("ok")]);
        assert!(outcome.blocked_by_dialog && outcome.pending_dialogs.len() == 1 && outcome.failed == Some(0));
        let aborted = outcome.aborted.unwrap();
        assert_eq!((&aborted["reason"], &aborted["afterAction"]), (&json!("dialog"), &json!(0)));
        assert_eq!(page.act(batch(&[eval_value("1")])).unwrap_err().code(), "BLOCKED_BY_DIALOG");
        page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
        until(page.supervisor(), "no dialog", |now| now.dialogs.is_empty());
    }
}

#[test]
fn a_batch_ends_with_its_tab() {
    let Some(page) = TestTab::showing("batch-closes", "<p>Here</p>") else { return };
    let url = page.site.url("a", "/");
    let target = page.supervisor().open_page(&url, None, soon()).unwrap();
    // It returns when the page is attached. The document would end the batch as a navigation.
    until(page.supervisor(), "the document", |now| now.frames_of(target.as_str()).any(|frame| *frame.url == url));
    let loaded =
        "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))";
    page.supervisor().evaluate(&FrameRef::TopOf(target.clone()), loaded, soon()).unwrap();
    let tab = page.pages.tab(&target).unwrap();
    let act = going_on(&[eval_value("1"), json!({ "kind": "close" }), eval_value("2"), click("p")]);
    let outcome = tab.act(&serde_json::from_value(act).unwrap(), soon()).unwrap();
    assert_eq!(results(&outcome), [json!(1), json!("ok")], "{:?}", outcome.aborted);
    let aborted = outcome.aborted.unwrap();
    assert_eq!((&aborted["reason"], &aborted["afterAction"]), (&json!("closed"), &json!(1)));
}

#[test]
fn nested_batches_are_counted_together_and_limited() {
    let Some(page) = TestTab::logging("batch-nested", "<button id=b>Go</button>") else { return };
    let outcome = page.act(batch(&[batch(&[eval_value("1"), eval_value("2")]), eval_value("3")])).unwrap();
    let inner = &outcome.results.as_ref().unwrap()[0];
    assert_eq!((&inner["results"][1]["result"], &inner["failed"]), (&json!(2), &json!(0)));
    assert_eq!(outcome.results.unwrap()[1]["result"], 3);
    // What fails in it is a failure of it.
    let outcome = page.act(batch(&[going_on(&[missing(), eval_value("2")]), eval_value("3")])).unwrap();
    assert_eq!((outcome.failed, outcome.results.as_ref().unwrap().len()), (Some(1), 1));
    assert_eq!(outcome.results.unwrap()[0]["ok"], false);

    let deep = (0..6).fold(eval_value("1"), |inner, _| batch(&[inner]));
    let many = batch(&vec![eval_value("log.push(1)"); 101]);
    let spread = batch(&vec![batch(&vec![eval_value("log.push(1)"); 10]); 10]);
    for bad in [deep, many, spread, batch(&[]), batch(&[eval_value("log.push(1)"), batch(&[])])] {
        assert_eq!(page.act(bad).unwrap_err().code(), "BAD_REQUEST");
    }
    assert_eq!(page.value("log.length"), 0);
}

#[test]
fn a_batch_has_a_timeout_per_action_and_in_total() {
    let Some(page) = TestTab::logging("batch-times", "<button id=b>Go</button>") else { return };
    let never = json!({ "kind": "wait", "selector": MISSING, "timeoutMs": 300 });
    let outcome = page.act(going_on(&[never, eval_value("1")])).unwrap();
    assert_eq!(results(&outcome), [json!("TIMEOUT"), json!(1)]);
    // Whose time is over, that does not begin another one.
    let never = eval_value("new Promise(() => {})");
    let act = serde_json::from_value(going_on(&[never, click("#b"), eval_value("1")])).unwrap();
    let outcome = page.tab.act(&act, Deadline::after_millis(700)).unwrap();
    assert_eq!((results(&outcome), outcome.failed), (vec![json!("TIMEOUT")], Some(1)));
    assert_eq!(outcome.aborted.unwrap()["reason"], "timeout");
    assert_eq!(page.log(), "");
}

#[test]
fn a_batch_reports_all_changes() {
    let Some(page) = TestTab::showing("batch-delta", "<p id=p>old</p><p>same</p>") else { return };
    let mut act = batch(&[eval_value("p.textContent = 'new'"), eval_value("document.body.append('more')")]);
    act["delta"] = json!(true);
    let response = page.act(act).unwrap().changes.unwrap();
    let has = |start: &str, part: &str| response.lines().any(|line| line.starts_with(start) && line.contains(part));
    assert!(has("- ", "old") && has("+ ", "new") && has("+ ", "more") && !response.contains("same"), "{response}");
}
