//! Scripts of callers: results, number of runs, frames.

use cdpilot::page::Error;
use serde_json::{Value, json};

use crate::support::input_stage::InputStage;
use crate::support::share::share;
use crate::support::test_tab::ref_of;

fn given(staged: &InputStage, script: &str) -> Value {
    staged.act(json!({ "kind": "evaluate", "fn": script })).result.unwrap()
}

#[test]
fn a_script_is_an_expression_a_function_or_a_function_body() {
    let Some(staged) = InputStage::alone("eval-forms", "<title>Here</title>") else { return };
    staged.eval_value("window.v = 'mine'; window.later = () => Promise.resolve(9)");
    for (script, value) in [
        ("1 + 1", json!(2)),
        ("document.title", json!("Here")),
        ("document.title;", json!("Here")),
        ("  'a; b' ;; \n", json!("a; b")),
        ("1 // one", json!(1)),
        ("v", json!("mine")),
        ("{ a: 1, b: [true, null] }", json!({ "a": 1, "b": [true, null] })),
        ("undefined", Value::Null),
        ("NaN", json!("NaN")),
        ("() => 7", json!(7)),
        ("function named() { return 8 }", json!(8)),
        ("later", json!(9)),
        ("async () => { await null; return { late: true } }", json!({ "late": true })),
        ("Promise.resolve([1])", json!([1])),
        ("await later() + 1", json!(10)),
        ("await later", json!(9)),
        ("return 3", json!(3)),
        ("const a = 4; return a * a", json!(16)),
        ("let s = 0; for (const n of [1, 2, 3]) s += n; return s", json!(6)),
        ("const x = await later(); return x", json!(9)),
        ("const nothing = 1", Value::Null),
        ("({ toString() { return 1 } })", json!({ "toString": {} })),
        ("(() => { const ring = {}; ring.ring = ring; return ring })()", json!("Object")),
        ("() => document.title.length", json!(4)),
        ("'\u{1F980}'", json!("\u{1F980}")),
        // More levels than are decoded: as text, rather than nothing.
        ("JSON.parse('['.repeat(200) + ']'.repeat(200))", json!("[".repeat(200) + &"]".repeat(200))),
    ] {
        assert_eq!(given(&staged, script), value, "{script}");
    }
    assert_eq!(staged.eval_value("typeof element"), "undefined", "nothing is left in the page");
}

#[test]
fn a_script_runs_exactly_once_in_every_form() {
    let Some(staged) = InputStage::alone("eval-once", "") else { return };
    staged.eval_value("window.n = 0");
    for (count, script) in (1..).zip([
        "n++",
        "() => n++",
        "n++; return n",
        "async () => { n++; return window }",
        "await n++",
        "(() => { n++; JSON.parse('{') })()",
        "n++; throw new SyntaxError('not that')",
        "n++; eval('1 +')",
        "(n++, Promise.reject(new SyntaxError('later')))",
    ]) {
        let _ = staged.try_act(json!({ "kind": "evaluate", "fn": script }));
        assert_eq!(staged.eval_value("n"), count, "{script}");
    }
}

#[test]
fn exceptions_of_the_page_are_reported() {
    let Some(staged) = InputStage::alone("eval-throws", "") else { return };
    let thrown = |script: &str| {
        let error = staged.try_act(json!({ "kind": "evaluate", "fn": script })).unwrap_err();
        assert_eq!(error.code(), "SCRIPT_ERROR", "{script}: {error}");
        error.to_string()
    };
    assert!(thrown("nowhere.to.be.found").contains("ReferenceError: nowhere is not defined"));
    assert!(thrown("() => { throw new TypeError('boom') }").contains("TypeError: boom"));
    assert!(thrown("throw 5").contains('5'));
    assert!(thrown("await Promise.reject(new Error('later'))").contains("Error: later"));
    assert!(thrown("this is no script").contains("syntax error"));
    assert!(thrown("JSON.parse('{')").contains("SyntaxError"));
    let error = staged.try_act(json!({ "kind": "evaluate", "fn": " " })).unwrap_err();
    assert_eq!(error.code(), "BAD_REQUEST");
}

#[test]
fn a_script_gets_the_element_of_a_ref_in_any_frame_and_root() {
    let body = "<button id=b>Press</button><div id=host></div>
        <script>
            host.attachShadow({ mode: 'open' }).innerHTML = '<button id=inner>Inside</button>';
            window.mine = 'page'; b.marked = location.pathname;
        </script>";
    let Some((staged, places)) = InputStage::everywhere("eval-ref", body) else { return };
    let seen = staged.snapshot();
    let all: Vec<&str> = seen.snapshot.as_deref().unwrap().lines().collect();
    let cases = ["Press", "Inside"].iter().flat_map(|name| places.iter().map(move |place| (name, place)));
    for (name, place) in share(cases, 2) {
        let nth = places.iter().position(|other| other.name == place.name).unwrap();
        let line = all.iter().filter(|line| line.contains(&format!("button \"{name}\""))).nth(nth).unwrap();
        let reference = line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0;
        let run =
            |script: &str| staged.act(json!({ "kind": "evaluate", "ref": reference, "fn": script })).result.unwrap();
        let path = if nth == 0 { "/".to_owned() } else { format!("/{}", place.name) };
        let id = if *name == "Press" { "b" } else { "inner" };
        assert_eq!(run("e => [e.id, mine, location.pathname]"), json!([id, "page", path]), "{name} {}", place.name);
        assert_eq!(run("element.id"), id);
        assert_eq!(run("const text = await element.textContent; return text"), *name);
        assert_eq!(run("(element) => element instanceof HTMLElement"), true, "it is one of the page's own world");
        if *name == "Press" {
            assert_eq!(run("async e => e.marked"), path, "properties of the page are on it");
        }
    }
}

#[test]
fn evaluate_uses_the_given_or_the_top_frame() {
    let Some((staged, places)) = InputStage::everywhere("eval-frame", "") else { return };
    for place in &places {
        let response =
            staged.act_in(place, json!({ "kind": "evaluate", "fn": "() => location.pathname" })).result.unwrap();
        let path = if place.name == "top" { "/".to_owned() } else { format!("/{}", place.name) };
        assert_eq!(response, path);
    }
    let error = staged.try_act(json!({ "kind": "evaluate", "fn": "1", "frameId": "F00D" })).unwrap_err();
    assert_eq!(error.code(), "FRAME_NOT_FOUND");
}

#[test]
fn a_stale_or_changed_ref_is_not_passed_to_a_script() {
    let Some(staged) = InputStage::alone("eval-stale", "<button id=a>One</button><button id=b>Two</button>") else {
        return;
    };
    let seen = staged.snapshot();
    let (one, two) = (ref_of(&seen, "One"), ref_of(&seen, "Two"));
    staged.eval_value("a.remove(); b.textContent = 'Delete all'; 0");
    let run = |reference: &str, force: bool| {
        staged.try_act(json!({ "kind": "evaluate", "ref": reference, "fn": "e => e.id", "force": force }))
    };
    assert_eq!(run(&one, false).unwrap_err().code(), "STALE_REF");
    assert!(matches!(run(&two, false), Err(Error::RefChanged { .. })));
    assert_eq!(run(&two, true).unwrap().result, Some(json!("b")));
}

#[test]
fn a_dialog_opened_by_a_script_is_reported_under_every_policy() {
    let csp = "<meta http-equiv=content-security-policy content=\"script-src 'none'\">";
    let Some(staged) = InputStage::alone("eval-dialog", "") else { return };
    staged.site.page("/strict", csp);
    staged.go("/strict");
    assert_eq!(given(&staged, "const a = 1; return a + 1"), 2, "no policy of the page forbids it");
    let response = staged.act(json!({ "kind": "evaluate", "fn": "() => alert('hello')" }));
    assert!(response.blocked_by_dialog);
    assert_eq!(&*response.pending_dialogs[0].message, "hello");
    let error = staged.try_act(json!({ "kind": "evaluate", "fn": "1" })).unwrap_err();
    assert_eq!(error.code(), "BLOCKED_BY_DIALOG");
}

#[test]
fn an_awaited_script_ends_with_its_document() {
    let Some(staged) = InputStage::alone("eval-cut", "") else { return };
    staged.site.page("/next", "next");
    let error =
        staged.try_act(json!({ "kind": "evaluate", "fn": "new Promise(() => { location = '/next' })" })).unwrap_err();
    assert!(matches!(&error, Error::DocumentGone { .. }), "{error}");
    assert_eq!(error.code(), "STALE_REF");
}
