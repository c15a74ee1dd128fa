//! Messages that a script takes, and scripts that are sent without a probe ahead.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cdpilot::supervisor::{Error, FrameRef, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::chrome::{Task, soon, soon_rescued};
use crate::support::fake_cdp::{Action, Fake, Gate, Request};
use crate::support::fake_pages::{browser, folded, supervise, supervise_with};
use crate::support::share::rounds;

/// More calls than a busy machine delays in a row.
const ATTEMPTS: usize = 1000;

const METHODS: [&str; 4] =
    ["Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.releaseObject", "Runtime.terminateExecution"];

/// What was sent to the page for scripts while `run` ran: method and expression.
fn sent_by<T>(fake: &Fake, run: impl FnOnce() -> T) -> (Vec<(String, String)>, T) {
    let before = fake.log(|log| log.requests.len());
    let out = run();
    let sent = fake.log(|log| {
        let text = |request: &Request| request.params["expression"].as_str().unwrap_or_default().to_owned();
        let scripts = log.requests[before..].iter().filter(|request| METHODS.contains(&&*request.method));
        scripts.map(|request| (request.method.clone(), text(request))).collect()
    });
    (sent, out)
}

fn value(supervisor: &Supervisor, script: &str) -> Value {
    supervisor.evaluate(&FrameRef::Top, script, soon()).unwrap().result.value
}

fn evaluate(expression: &str) -> (String, String) {
    ("Runtime.evaluate".to_owned(), expression.to_owned())
}

/// A page where every script is worth an object.
fn objects() -> Fake {
    let fake = browser();
    fake.on("Runtime.evaluate").with(|request: &Request| {
        let by_value = json!({ "type": "object", "value": { "a": [1] } });
        let by_id = json!({ "type": "object", "className": "Object", "description": "Object", "objectId": "1.1.1" });
        let result = if request.params["returnByValue"] == true { by_value } else { by_id };
        vec![Action::Reply(json!({ "result": result }))]
    });
    fake.on("Runtime.callFunctionOn").reply(json!({ "result": { "type": "object", "value": { "a": [1] } } }));
    fake
}

#[test]
fn an_object_is_one_message_once_the_page_has_answered() {
    let fake = objects();
    let supervisor = supervise(&fake);
    let (first, got) = sent_by(&fake, || value(&supervisor, "first"));
    assert_eq!((first, got), (vec![evaluate("0"), evaluate("first")], json!({ "a": [1] })));
    // A machine may be so busy that the page has not answered lately.
    let one = (0..ATTEMPTS).find(|_| {
        let (sent, got) = sent_by(&fake, || value(&supervisor, "next"));
        assert_eq!(got, json!({ "a": [1] }));
        sent == [evaluate("next")]
    });
    assert!(one.is_some(), "no call was one message");
}

#[test]
fn a_page_that_may_have_become_busy_is_probed_again() {
    let fake = objects();
    let supervisor = supervise(&fake);
    let probed = |why: &str| {
        let (sent, _) = sent_by(&fake, || value(&supervisor, "next"));
        assert_eq!(sent, [evaluate("0"), evaluate("next")], "{why}");
    };
    for _ in 0..10 {
        value(&supervisor, "1");
        folded(&fake, &supervisor);
        probed("an event has arrived since");
        supervisor.start_script(&FrameRef::Top, "started").unwrap();
        fake.wait("the script", |log| log.requests.last().is_some_and(|last| last.params["expression"] == "started"));
        probed("a script was started without waiting for it");
    }
}

#[test]
fn scripts_at_the_same_time_are_told_apart_by_probes() {
    let fake = objects();
    let gate = Gate::default();
    fake.on("Runtime.evaluate").with({
        let gate = gate.clone();
        move |request: &Request| {
            let reply = vec![Action::Reply(json!({ "result": { "type": "number", "value": 1 } }))];
            if request.params["expression"] == "long" { vec![Action::Late(gate.clone(), reply)] } else { reply }
        }
    });
    let supervisor = supervise(&fake);
    std::thread::scope(|scope| {
        let long = scope.spawn(|| value(&supervisor, "long"));
        fake.wait("it runs", |log| log.requests.iter().any(|request| request.params["expression"] == "long"));
        for _ in 0..10 {
            let (sent, _) = sent_by(&fake, || value(&supervisor, "next"));
            assert_eq!(sent.iter().filter(|sent| **sent == evaluate("next")).count(), 1);
            assert_eq!(sent.first(), Some(&evaluate("0")), "{sent:?}");
        }
        gate.open();
        assert_eq!(long.join().unwrap(), 1);
    });
}

/// A page that answers nothing behind the script `held` until a script is terminated, but how long its scripts took: `share` of
/// the time.
fn held(share: f64, outcome: fn(&Request) -> Action) -> Fake {
    let fake = browser();
    let gate = Arc::new(Mutex::new(None::<Gate>));
    let held = Arc::clone(&gate);
    fake.on("Runtime.evaluate").with(move |request: &Request| {
        let reply = Action::Reply(json!({ "result": { "type": "number", "value": 1 } }));
        let mut gate = gate.lock();
        let is_held = request.params["expression"] == "held";
        if is_held {
            *gate = Some(Gate::default());
        }
        match &*gate {
            Some(gate) if is_held => vec![Action::Late(gate.clone(), vec![outcome(request)])],
            Some(gate) => vec![Action::Late(gate.clone(), vec![reply])],
            None => vec![reply],
        }
    });
    fake.on("Runtime.terminateExecution").with(move |_| {
        let gate = held.lock().take();
        gate.inspect(Gate::open);
        vec![Action::Reply(json!({}))]
    });
    let began = Instant::now();
    fake.on("Performance.getMetrics").with(move |_| {
        let at = began.elapsed().as_secs_f64();
        let metric = |name: &str, value: f64| json!({ "name": name, "value": value });
        vec![Action::Reply(json!({ "metrics": [metric("Timestamp", at), metric("ScriptDuration", at * share)] }))]
    });
    fake
}

/// The outcome of `held` when it was sent without a probe ahead.
fn outcome_of_held(fake: &Fake, limit: Duration) -> Result<(Value, bool), Error> {
    let options =
        SupervisorOptions::task("held").rescue_after(Duration::from_millis(100)).rescue_after_load(Duration::ZERO);
    let supervisor = supervise_with(fake, options);
    for _ in 0..ATTEMPTS {
        value(&supervisor, "1");
        let (sent, got) = sent_by(fake, || supervisor.evaluate(&FrameRef::Top, "held", Deadline::after(limit)));
        if sent.first() == Some(&evaluate("held")) {
            let ended = sent.iter().filter(|(method, _)| method == "Runtime.terminateExecution").count();
            assert_eq!(ended, 1, "{sent:?}");
            return got.map(|done| (done.result.value, done.rescued));
        }
    }
    panic!("no call went without a probe ahead");
}

/// The script of the page was ended, and the one of the caller ran.
fn two(_: &Request) -> Action {
    Action::Reply(json!({ "result": { "type": "number", "value": 2 } }))
}

/// The script of the caller was ended.
fn terminated(_: &Request) -> Action {
    Action::Error(-32000, "Execution was terminated".to_owned())
}

#[test]
fn a_page_that_gets_stuck_right_after_an_answer_is_rescued() {
    let got = outcome_of_held(&held(1.0, two), Duration::from_secs(2));
    assert_eq!(got.unwrap(), (json!(2), true));
}

#[test]
fn a_page_stuck_in_what_takes_no_script_time_is_rescued_at_the_deadline() {
    let got = outcome_of_held(&held(0.0, two), Duration::from_millis(800));
    assert_eq!(got.unwrap(), (json!(2), true));
}

#[test]
fn a_script_without_a_probe_ahead_has_its_time() {
    let limit = Duration::from_millis(800);
    let error = outcome_of_held(&held(0.0, terminated), limit).unwrap_err();
    assert!(matches!(error, Error::ScriptTimeout { after } if after >= limit), "{error}");
}

#[test]
fn a_page_that_a_script_of_the_caller_blocked_later_is_rescued() {
    let Some(task) = Task::leased_with(soon_rescued(SupervisorOptions::task("later"))) else { return };
    task.site.page("/", "later");
    task.go(&task.site.url("a", "/"));
    task.eval("window.kept = 'kept'");
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
        task.eval("void setTimeout(() => { while (true); })");
        let got = task.evaluate(&FrameRef::Top, "kept", soon()).unwrap();
        assert_eq!((&got.value, got.rescued), (&json!("kept"), true));
        assert_eq!(task.eval("kept"), "kept");
    }
}

#[test]
fn values_that_json_cannot_hold_are_described_as_before_in_any_frame() {
    let Some(task) = Task::leased("described") else { return };
    task.site.page("/inner", "inner");
    task.site.page("/", "<iframe src=/inner></iframe>");
    task.go(&task.site.url("a", "/"));
    let inner = FrameRef::Id(task.frame("/inner").frame_id);
    for frame in [FrameRef::Top, inner] {
        for (script, text, kind) in [
            ("window", "Window", "object"),
            ("({ get thrown() { throw new Error('no') } })", "Object", "object"),
            ("class Ring { ring = this } new Ring()", "Ring", "object"),
            ("JSON.parse('['.repeat(1200) + ']'.repeat(1200))", "Array(1)", "object"),
            ("({ symbol: Symbol('s') })", "Object", "object"),
            ("Symbol('s')", "Symbol(s)", "symbol"),
            ("(() => location.pathname)", "() => location.pathname", "function"),
        ] {
            let got = task.evaluate(&frame, &format!("{{ {script} }}"), soon()).unwrap();
            assert_eq!((&got.value, &*got.kind, got.described), (&json!(text), kind, true), "{script}");
        }
        assert_eq!(task.evaluate(&frame, "typeof $_", soon()).unwrap().value, "undefined", "pages cannot read it");
    }
}

/// JSON holds these as empty objects.
#[test]
fn dates_maps_and_nodes_are_readable() {
    let Some(task) = Task::leased("readable") else { return };
    task.site.page("/", "<p id=p class=x>text</p><i></i><i></i>");
    task.go(&task.site.url("a", "/"));
    for (script, value) in [
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("({ at: new Date(0), n: 1, none: {} })", json!({ "at": "1970-01-01T00:00:00.000Z", "n": 1, "none": {} })),
        ("new Map([['a', 1], ['b', new Set([2])]])", json!({ "a": 1, "b": [2] })),
        ("new Map([[1, 'a']])", json!([[1, "a"]])),
        ("[new Set(['x']), {}]", json!([["x"], {}])),
        ("p", json!("<p id=\"p\" class=\"x\">text</p>")),
        ("document.querySelectorAll('i')", json!(["<i></i>", "<i></i>"])),
        (
            "({ e: new TypeError('no'), r: /a/g, u: new URL('http://a/b') })",
            json!({ "e": "TypeError: no", "r": "/a/g", "u": "http://a/b" }),
        ),
        ("({})", json!({})),
        ("({ a: [] })", json!({ "a": [] })),
        ("Promise.resolve(new Date(0))", json!("1970-01-01T00:00:00.000Z")),
    ] {
        assert_eq!(task.eval(script), value, "{script}");
    }
    // Nothing runs twice, and getters only for such values.
    assert_eq!(task.eval("window.runs = 0, (() => { runs++; return new Map() })()"), json!({}));
    assert_eq!(task.eval("runs"), 1);
}
