//! A program that exchanges JSON messages, one per line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use cdpilot::sync::{Thread, pause, spawn};
use crossbeam_channel::{Receiver, bounded};
use serde_json::{Value, json};

use super::chrome::soon;

/// The program. Dropping it kills it.
pub struct McpProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Messages received before the awaited one.
    passed: Vec<Value>,
    _reader: Thread,
}

impl McpProcess {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = bounded(4096);
        let reader = spawn("spoken-lines", move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                let value = serde_json::from_str(&line).unwrap_or_else(|problem| panic!("{problem}: {line}"));
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, passed: Vec::new(), _reader: reader.unwrap() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn say(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next matching line; others are kept for later.
    pub fn next(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.passed.iter().position(&fits) {
            return self.passed.remove(at);
        }
        let until = soon();
        loop {
            match self.lines.recv_deadline(until.instant()) {
                Ok(line) if fits(&line) => return line,
                Ok(line) => self.passed.push(line),
                Err(why) => panic!("no such line ({why}), only: {:#?}", self.passed),
            }
        }
    }

    /// Sends a request and waits for its response.
    pub fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.next(|line| line["id"] == id)
    }

    /// Calls a tool and returns its result.
    pub fn call(&mut self, id: i64, name: &str, arguments: Value) -> Value {
        let mut response = self.ask(id, "tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(response["error"].is_null(), "{response}");
        response["result"]["structuredContent"].take()
    }

    /// Names of its tools.
    pub fn tools(&mut self, id: i64) -> Vec<String> {
        let response = self.ask(id, "tools/list", json!({}));
        let tools = response["result"]["tools"].as_array().unwrap_or_else(|| panic!("{response}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Waits until it exits.
    pub fn wait(mut self) -> ExitStatus {
        let until = soon();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None if until.passed() => panic!("it did not end"),
                None => pause(std::time::Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
