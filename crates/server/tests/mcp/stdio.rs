//! The MCP connection over stdio, with tools that a test controls.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, PipeWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cdpilot::sync::{Cancel, Thread, pause, spawn};
use cdpilot_server::mcp::server::{Backend, Limits, Peer, serve};
use cdpilot_server::mcp::{Fault, MODERN, Request};
use cdpilot_server::tools::Session;
use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::chrome::soon;

/// Tools of a test's own: `wait` goes on until it is let go or cancelled, `steps` tells of its progress.
struct Fake {
    begun: Sender<()>,
    go: Receiver<()>,
    names: Mutex<BTreeSet<String>>,
    /// How often the names were looked at.
    looked: AtomicU64,
}

impl Backend for Fake {
    fn list(&self, _: &Request, _: &Peer<'_>) -> Result<Value, Fault> {
        Ok(json!({ "tools": [] }))
    }

    fn call(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        match request.params["name"].as_str().unwrap() {
            "wait" => {
                self.begun.send(()).unwrap();
                while !peer.cancel.is_set() && self.go.recv_timeout(Duration::from_millis(5)).is_err() {}
            }
            "steps" => {
                let step = |done: i64| {
                    let params = json!({ "progressToken": "s", "progress": done });
                    (peer.notify)(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
                };
                [1, 2, 2, 1, 3].into_iter().for_each(step);
            }
            other => panic!("{other} is no tool: this is caught"),
        }
        Ok(json!({ "content": [] }))
    }

    fn names(&self) -> Option<BTreeSet<String>> {
        let names = self.names.lock().clone();
        self.looked.fetch_add(1, Ordering::AcqRel);
        Some(names)
    }

    fn pace(&self) -> Duration {
        Duration::from_millis(5)
    }
}

/// A connection, and the other side of it.
struct Talk {
    fake: Arc<Fake>,
    begun: Receiver<()>,
    go: Sender<()>,
    input: Option<PipeWriter>,
    lines: Receiver<Value>,
    hurry: Cancel,
    _threads: [Thread; 2],
}

impl Talk {
    fn start(limits: Limits) -> Self {
        let (tell_begun, begun) = bounded(100);
        let (go, may_go) = bounded(100);
        let fake = Arc::new(Fake { begun: tell_begun, go: may_go, names: Mutex::default(), looked: AtomicU64::new(0) });
        let (reader, input) = std::io::pipe().unwrap();
        let (output, writer) = std::io::pipe().unwrap();
        let hurry = Cancel::new();
        let (backend, hurried): (Arc<dyn Backend>, Cancel) = (fake.clone(), hurry.clone());
        let served =
            spawn("talk", move || serve(&backend, &Session::new(), reader, writer, &hurried, &limits).unwrap())
                .unwrap();
        let (send, lines) = bounded(1000);
        let read = spawn("talk-lines", move || {
            for line in BufReader::new(output).lines() {
                let line = line.unwrap();
                drop(send.send(serde_json::from_str(&line).unwrap_or_else(|problem| panic!("{problem}: {line}"))));
            }
        });
        Self { fake, begun, go, input: Some(input), lines, hurry, _threads: [served, read.unwrap()] }
    }

    fn say(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string());
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Begins a call that waits.
    fn begin(&mut self, id: impl Into<Value>) {
        self.ask(id, "tools/call", json!({ "name": "wait" }));
        self.begun.recv_deadline(soon().instant()).unwrap();
    }

    fn next(&self) -> Value {
        self.lines.recv_deadline(soon().instant()).expect("a line")
    }

    /// Ends the input. All lines that were not read yet.
    fn end(mut self) -> Vec<Value> {
        self.input = None;
        let until = soon();
        std::iter::from_fn(|| self.lines.recv_deadline(until.instant()).ok()).collect()
    }

    /// Waits until the names of the tools were looked at anew.
    fn look(&self) {
        let (before, until) = (self.fake.looked.load(Ordering::Acquire), soon());
        // One look may have been under way.
        while self.fake.looked.load(Ordering::Acquire) < before + 2 {
            assert!(!until.passed(), "nobody looks for changes");
            pause(Duration::from_millis(1));
        }
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn code(response: &Value) -> (&Value, i64) {
    (&response["id"], response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{response}")))
}

#[test]
fn invalid_lines_result_in_an_error_only() {
    let mut talk = Talk::start(Limits { line_bytes: 300, ..Limits::default() });
    let none = Value::Null;
    talk.say("garbage");
    assert_eq!(code(&talk.next()), (&none, -32700));
    talk.say("x".repeat(100_000));
    let response = talk.next();
    assert_eq!(code(&response), (&none, -32600));
    assert!(response["error"]["message"].as_str().unwrap().contains("300 bytes"), "{response}");
    talk.say(b"\xff\xfe");
    assert_eq!(code(&talk.next()), (&none, -32700));
    for (line, wanted) in [
        ("[]", (&none, -32600)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, (&json!(7), -32600)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"nothing"}"#, (&json!(7), -32601)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}"#, (&json!(7), -32601)),
    ] {
        talk.say(line);
        assert_eq!(code(&talk.next()), wanted, "{line}");
    }
    // Nothing is said to what asks nothing.
    talk.say("\n  \r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    talk.tell("notifications/nothing", json!({}));
    talk.tell("notifications/cancelled", json!({ "requestId": [] }));
    talk.ask("last", "ping", json!({}));
    assert_eq!(talk.next(), json!({ "jsonrpc": "2.0", "id": "last", "result": {} }));
    // The last line needs no end.
    talk.input.as_mut().unwrap().write_all(br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).unwrap();
    assert_eq!(talk.end(), [json!({ "jsonrpc": "2.0", "id": 9, "result": {} })]);
}

#[test]
fn a_call_delays_no_other_and_can_be_cancelled() {
    let mut talk = Talk::start(Limits { calls: 1, queue: 1, ..Limits::default() });
    talk.begin(1);
    talk.ask(2, "ping", json!({}));
    assert_eq!(talk.next()["id"], 2);
    talk.ask(1, "tools/call", json!({ "name": "wait" }));
    assert_eq!(code(&talk.next()), (&json!(1), -32600), "the id is taken");
    talk.ask(3, "tools/call", json!({ "name": "wait" }));
    talk.ask(4, "tools/call", json!({ "name": "wait" }));
    assert_eq!(code(&talk.next()), (&json!(4), -32000), "the queue is full");
    // Who cancels gets no answer, and may use the id again.
    talk.tell("notifications/cancelled", json!({ "requestId": 1 }));
    talk.begun.recv_deadline(soon().instant()).unwrap();
    talk.ask(1, "tools/call", json!({ "name": "wait" }));
    talk.tell("notifications/cancelled", json!({ "requestId": 1, "reason": "while it waits for its turn" }));
    talk.go.send(()).unwrap();
    assert_eq!(talk.next()["id"], 3);
    // The cancelled call keeps its place in the queue until the worker comes to it.
    let until = soon();
    let panicked = loop {
        talk.ask(5, "tools/call", json!({ "name": "nonsense" }));
        let answer = talk.next();
        if code(&answer).1 != -32000 || until.passed() {
            break answer;
        }
    };
    assert_eq!(code(&panicked), (&json!(5), -32603), "a tool that panics is one error");
    talk.ask(6, "tools/list", json!({}));
    assert_eq!(talk.next()["result"]["tools"], json!([]));
    assert_eq!(talk.end(), Vec::<Value>::new());
}

#[test]
fn progress_is_reported_to_the_caller_until_the_answer() {
    let mut talk = Talk::start(Limits { tick: Duration::from_millis(20), ..Limits::default() });
    talk.begin("silent");
    talk.ask("told", "tools/call", json!({ "name": "wait", "_meta": { "progressToken": "t" } }));
    let mut last = 0.0;
    for _ in 0..3 {
        let response = talk.next();
        assert_eq!(
            (&response["method"], &response["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t"))
        );
        let now = response["params"]["progress"].as_f64().unwrap();
        assert!(now > last, "{response}");
        last = now;
    }
    talk.tell("notifications/cancelled", json!({ "requestId": "told" }));
    talk.ask(1, "tools/call", json!({ "name": "steps", "_meta": { "progressToken": "s" } }));
    let mut steps = Vec::new();
    let answer = loop {
        let response = talk.next();
        match &response["params"]["progressToken"] {
            token if token == "s" => steps.push(response["params"]["progress"].as_i64().unwrap()),
            token if token == "t" => {} // on its way when it was cancelled
            _ => break response,
        }
    };
    assert_eq!((&answer["id"], steps), (&json!(1), vec![1, 2, 3]), "only what goes forward is passed on");
    talk.go.send(()).unwrap();
    assert_eq!(talk.end().iter().map(|response| response["id"].clone()).collect::<Vec<_>>(), ["silent"]);
}

#[test]
fn subscribers_are_notified_of_changes() {
    let mut talk = Talk::start(Limits { subscriptions: 2, ..Limits::default() });
    let change = |talk: &Talk| talk.fake.names.lock().insert(fastrand::u64(..).to_string());
    talk.ask(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    assert_eq!(talk.next()["result"]["capabilities"]["tools"]["listChanged"], true);
    talk.tell("notifications/initialized", json!({}));
    talk.look();
    change(&talk);
    assert_eq!(talk.next(), json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));

    for (id, wanted) in
        [("tools", json!({ "toolsListChanged": true, "promptsListChanged": true })), ("none", json!({}))]
    {
        talk.ask(id, "subscriptions/listen", modern(json!({ "notifications": wanted })));
        let granted = if id == "tools" { json!({ "toolsListChanged": true }) } else { json!({}) };
        let params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id }, "notifications": granted });
        let response = talk.next();
        assert_eq!(
            (&response["method"], &response["params"]),
            (&json!("notifications/subscriptions/acknowledged"), &params)
        );
    }
    talk.ask("third", "subscriptions/listen", modern(json!({ "notifications": {} })));
    assert_eq!(code(&talk.next()), (&json!("third"), -32603), "there are two already");
    talk.ask("bad", "subscriptions/listen", modern(json!({})));
    assert_eq!(code(&talk.next()), (&json!("bad"), -32602));
    change(&talk);
    assert_eq!(talk.next()["params"], Value::Null, "as before");
    assert_eq!(talk.next()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "tools");
    talk.tell("notifications/cancelled", json!({ "requestId": "tools" }));
    talk.look();
    change(&talk);
    assert_eq!(talk.next()["params"], Value::Null, "and nobody else");
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": "none" });
    let ended = json!({ "jsonrpc": "2.0", "id": "none", "result": { "resultType": "complete", "_meta": meta } });
    assert_eq!(talk.end(), [ended]);
}

#[test]
fn the_end_of_stdin_ends_calls() {
    let mut talk = Talk::start(Limits { grace: Duration::from_millis(50), ..Limits::default() });
    talk.begin(1);
    let last = talk.end();
    assert_eq!(last.iter().map(code).collect::<Vec<_>>(), [(&json!(1), -32603)]);

    // What is nearly done is done, and who is in a hurry waits for nothing.
    let mut talk = Talk::start(Limits { grace: Duration::from_secs(600), ..Limits::default() });
    talk.begin(1);
    talk.begin(2);
    talk.go.send(()).unwrap();
    talk.input = None;
    assert!(talk.next()["result"].is_object());
    talk.hurry.set();
    assert_eq!(code(&talk.next()).1, -32603);
    let until = crate::support::soon();
    assert!(talk.lines.recv_deadline(until.instant()).is_err() && !until.passed(), "the output is closed");
}
