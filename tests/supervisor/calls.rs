//! Calls to frames and their results.

use std::time::{Duration, Instant};

use cdpilot::cdp;
use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::supervisor::{Error, FrameRef};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{Task, soon};

#[test]
fn a_script_returns_its_value() {
    let Some(task) = Task::leased("values") else { return };
    let cases: [(&str, Value, &str, bool); 27] = [
        ("1 + 1", json!(2), "number", false),
        ("-1.5", json!(-1.5), "number", false),
        ("'text'", json!("text"), "string", false),
        ("''", json!(""), "string", false),
        ("true", json!(true), "boolean", false),
        ("null", Value::Null, "object", false),
        ("undefined", Value::Null, "undefined", false),
        ("void 0", Value::Null, "undefined", false),
        ("({ a: [1, { b: null }], c: 'd' })", json!({ "a": [1, { "b": null }], "c": "d" }), "object", false),
        ("[]", json!([]), "object", false),
        ("[undefined, NaN, Infinity]", json!([null, null, null]), "object", false),
        ("Infinity", json!("Infinity"), "number", true),
        ("-Infinity", json!("-Infinity"), "number", true),
        ("NaN", json!("NaN"), "number", true),
        ("-0", json!("-0"), "number", true),
        ("123456789012345678901234567890n", json!("123456789012345678901234567890n"), "bigint", true),
        ("Symbol('s')", json!("Symbol(s)"), "symbol", true),
        ("(function f() {})", json!("function f() {}"), "function", true),
        ("document.createElement('p')", json!("<p></p>"), "string", false),
        ("Promise.resolve(7)", json!(7), "number", false),
        ("new Promise(done => setTimeout(done, 1, { late: true }))", json!({ "late": true }), "object", false),
        ("(async () => (await Promise.resolve([1, 2])).length)()", json!(2), "number", false),
        ("Promise.resolve(undefined)", Value::Null, "undefined", false),
        ("'\\u{1F980} \\u0000 \"'", json!("\u{1F980} \0 \""), "string", false),
        ("'x'.repeat(1000000).length", json!(1_000_000), "number", false),
        ("({ toString() { return 'own' } })", json!({ "toString": {} }), "object", false),
        ("Object.create(null)", json!({}), "object", false),
    ];
    for (script, value, kind, described) in cases {
        let got = task.evaluate(&FrameRef::Top, script, soon()).unwrap();
        assert_eq!((&got.value, &*got.kind, got.described), (&value, kind, described), "{script}");
    }
    let large = task.eval("'y'.repeat(5000000)");
    assert_eq!(large.as_str().map(str::len), Some(5_000_000));
}

#[test]
fn values_without_json_form_are_described_and_scripts_run_once() {
    let Some(task) = Task::leased("once") else { return };
    task.eval("window.n = 0");
    for (count, script) in (1..).zip([
        "n++; const ring = {}; ring.ring = ring; ring",
        "n++; (() => { const list = [1]; list.push(list); return list })()",
        "n++; window",
        "n++; ({ big: 1n })",
        "n++; Promise.resolve(window)",
    ]) {
        let got = task.evaluate(&FrameRef::Top, script, soon()).unwrap();
        assert!(got.described || script.contains("big"), "{script}: {got:?}");
        assert_eq!(task.eval("n"), count, "{script}");
    }
    let ring = task.evaluate(&FrameRef::Top, "(() => { const r = {}; r.r = r; return r })()", soon()).unwrap();
    assert_eq!((ring.result.value.clone(), ring.described), (json!("Object"), true));
    assert_eq!(task.eval("n++, { n }"), json!({ "n": 6 }));
    assert_eq!(task.eval("n"), 6, "an object does not run it twice either");
}

#[test]
fn a_thrown_exception_is_reported_with_its_location() {
    let Some(task) = Task::leased("throws") else { return };
    let thrown = |script: &str| match task.evaluate(&FrameRef::Top, script, soon()) {
        Err(Error::Script(error)) => error,
        other => panic!("{script}: {other:?}"),
    };
    let error = thrown("\n  throw new TypeError('boom')");
    assert!(error.message.starts_with("TypeError: boom"), "{error:?}");
    assert_eq!((error.line, error.column), (1, 2));
    assert!(error.to_string().contains("TypeError: boom"));
    assert_eq!(thrown("throw 5").message, "5");
    assert_eq!(thrown("throw 'text'").message, "\"text\"");
    assert_eq!(thrown("throw null").message, "null");
    assert_eq!(thrown("throw { code: 7 }").message, "Object");
    assert!(thrown("missing.thing").message.starts_with("ReferenceError: missing is not defined"));
    assert!(thrown("not a script").message.starts_with("SyntaxError"), "{:?}", thrown("not a script"));
    assert!(thrown("Promise.reject(new Error('later'))").message.starts_with("Error: later"));
    assert_eq!(thrown("Promise.reject(3)").message, "3");
    assert_eq!(task.eval("1"), 1, "the page is none the worse");
}

#[test]
fn a_call_ends_at_its_deadline() {
    let Some(task) = Task::leased("deadline") else { return };
    let began = Instant::now();
    // Long enough for a page that answers late on a busy machine, which would be another error.
    let limit = Duration::from_secs(2);
    let error = task.evaluate(&FrameRef::Top, "new Promise(() => {})", Deadline::after(limit)).unwrap_err();
    assert!(matches!(&error, Error::Cdp(error) if error.is_timeout()), "{error:?}");
    assert!(began.elapsed() >= limit && began.elapsed() < crate::support::LIMIT);
    assert_eq!(task.eval("1"), 1);
}

#[test]
fn a_call_to_a_missing_page_or_frame_is_an_error() {
    let Some(task) = Task::leased("unknown") else { return };
    let frame = FrameRef::Id(FrameId::from("F00D"));
    let error = task.evaluate(&frame, "1", soon()).unwrap_err();
    let Error::FrameNotFound { frame, known } = &error else { panic!("{error:?}") };
    assert_eq!((frame.as_str(), &known[..]), ("F00D", &[task.top().to_string()][..]));
    assert!(error.to_string().contains(task.top().as_str()), "{error}");
    let error = task.evaluate(&FrameRef::TopOf(TargetId::from("F00D")), "1", soon()).unwrap_err();
    assert!(matches!(&error, Error::PageNotFound { target } if target == "F00D"), "{error:?}");
    let error = task.call_raw(&FrameRef::Top, "No.such", &json!({}), soon()).unwrap_err();
    assert!(matches!(&error, Error::Cdp(error) if error.code() == Some(-32601)), "{error:?}");
    task.close_page(&task.target(), soon()).unwrap();
    assert!(matches!(task.evaluate(&FrameRef::Top, "1", soon()), Err(Error::NoPage)));
    assert!(matches!(task.close_page(&TargetId::from("F00D"), soon()), Err(Error::PageNotFound { .. })));
}

/// A page with two frames of its own process and one of another.
fn three_frames(task: &Task) -> [FrameId; 3] {
    let frames = "<iframe src='@a/x'></iframe><iframe src='@a/y'></iframe><iframe src='@b/z'></iframe>";
    task.site.page("/", &format!("<script>who = 'top'</script>{frames}"));
    for name in ["x", "y", "z"] {
        task.site.page(&format!("/{name}"), &format!("<script>who = '{name}'</script>"));
    }
    task.go(&task.site.url("a", "/"));
    ["/x", "/y", "/z"].map(|path| task.frame(path).frame_id)
}

#[test]
fn each_frame_has_its_own_globals() {
    let Some(task) = Task::leased("globals") else { return };
    let frames = three_frames(&task);
    for (frame, name) in frames.iter().zip(["x", "y", "z"]) {
        assert_eq!(task.eval_in(frame, "who"), name);
        assert_eq!(
            task.eval_in(frame, "[location.pathname, parent === top, window === top]"),
            json!([format!("/{name}"), true, false])
        );
        assert_eq!(task.eval_in(frame, "({ name: who, list: [who] })"), json!({ "name": name, "list": [name] }));
        let raw = FrameRef::Id(frame.clone());
        let by_name = task.call_raw(&raw, "Runtime.evaluate", &json!({ "expression": "who" }), soon()).unwrap();
        assert_eq!(by_name.value().unwrap()["result"]["value"], name);
        let function = json!({ "functionDeclaration": "function() { return who + this.who }", "returnByValue": true });
        if name != "z" {
            let called = task.call_raw(&raw, "Runtime.callFunctionOn", &function, soon()).unwrap();
            assert_eq!(called.value().unwrap()["result"]["value"], format!("{name}{name}"));
        }
    }
    assert_eq!(task.eval("who"), "top");
    assert_eq!(task.evaluate(&"top".parse().unwrap(), "who", soon()).unwrap().value, "top");
}

#[test]
fn commands_that_would_act_on_another_frame_are_refused() {
    let Some(task) = Task::leased("refused") else { return };
    let [x, _, z] = three_frames(&task);
    for method in ["Page.getFrameTree", "DOM.getDocument", "Page.navigate", "Page.captureScreenshot"] {
        let error = task.call_raw(&FrameRef::Id(x.clone()), method, &Value::Null, soon()).unwrap_err();
        let Error::NotAFrameCommand { method: named, frame, owner } = &error else { panic!("{error:?}") };
        assert_eq!((named.as_str(), frame.as_str(), owner.as_str()), (method, x.as_str(), task.top().as_str()));
        let text = error.to_string();
        assert!(text.contains("Runtime.evaluate") && text.contains("contentDocument"), "the way out: {text}");
    }
    // A frame with its own session accepts every command, which acts on that frame.
    let tree = task.call_raw(&FrameRef::Id(z.clone()), "Page.getFrameTree", &Value::Null, soon()).unwrap();
    assert_eq!(tree.value().unwrap()["frameTree"]["frame"]["id"], z.as_str());
    let tree = task.call_raw(&FrameRef::Top, "Page.getFrameTree", &Value::Null, soon()).unwrap();
    assert_eq!(tree.value().unwrap()["frameTree"]["frame"]["id"], task.top().as_str());
}

#[test]
fn typed_commands_act_on_their_frame_or_are_refused() {
    let Some(task) = Task::leased("typed") else { return };
    let [x, _, z] = three_frames(&task);
    let command = cdp::protocol::page::GetFrameTree::new();
    let tree = task.call(&FrameRef::Id(z.clone()), &command, soon()).unwrap();
    assert_eq!(tree.frame_tree.frame.id, z);
    let refused = task.call(&FrameRef::Id(x.clone()), &command, soon());
    assert!(matches!(refused, Err(Error::NotAFrameCommand { .. })), "{refused:?}");
    let refused = task.navigate(&FrameRef::Id(x), "about:blank", soon());
    assert!(matches!(refused, Err(Error::NotAFrameCommand { .. })), "{refused:?}");
}

#[test]
fn an_unreachable_url_is_an_error() {
    let Some(task) = Task::leased("unreachable") else { return };
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = task.navigate(&FrameRef::Top, &format!("http://127.0.0.1:{closed}/"), soon()).unwrap_err();
    assert!(error.to_string().contains("ERR_CONNECTION_REFUSED"), "{error}");
    task.site.page("/", "<title>fine</title>");
    task.go(&task.site.url("a", "/"));
    assert_eq!(task.eval("document.title"), "fine");
    let picture = task.screenshot(&FrameRef::Top, soon()).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn many_threads_may_call_concurrently() {
    let Some(task) = Task::leased("threads") else { return };
    let frames = three_frames(&task);
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (task, frame) = (&task, &frames[thread % 3]);
            scope.spawn(move || {
                for n in 0..40 {
                    let got = task.eval_in(frame, &format!("({{ who, n: {n} * {thread} }})"));
                    assert_eq!(got, json!({ "who": (["x", "y", "z"][thread % 3]), "n": n * thread }));
                }
            });
        }
    });
    // Commands of the supervisor itself, for the title after a load, may still be on their way.
    let deadline = soon();
    while task.connection().counters().in_flight > 0 {
        assert!(!deadline.passed(), "{:?}", task.connection().counters());
        task.eval("1");
    }
}
