//! An MCP server that does what real ones do only now and then: hangs, crashes, talks nonsense. It is this test binary,
//! started once more for one test that calls [`play`]; what the test harness writes around it is nonsense too, which a
//! client has to bear.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::sync::pause;
use cdpilot_server::config::McpServer;
use serde_json::{Map, Value, json};

use super::leaks::rerun;

/// Its behaviour, as words separated by spaces.
const MARK: &str = "FAKE_MCP";
/// A folder in which it records its actions, and in which tests control it.
const FOLDER: &str = "FAKE_MCP_FOLDER";

/// The settings of such a server. `module` and `test` name the test that calls [`play`].
pub(crate) fn server(module: &str, test: &str, behaviour: &str, folder: &Path) -> McpServer {
    let command = rerun(module, test);
    let word = |word: &std::ffi::OsStr| word.to_str().unwrap().to_owned();
    let env = [(MARK, behaviour.to_owned()), (FOLDER, word(folder.as_os_str()))];
    McpServer {
        command: word(command.get_program()),
        args: command.get_args().map(word).collect(),
        env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..McpServer::default()
    }
}

/// Lines recorded by servers with this folder that begin with a prefix.
pub(crate) fn noted(folder: &Path, what: &str) -> Vec<String> {
    let notes = std::fs::read_to_string(folder.join("notes")).unwrap_or_default();
    notes.lines().filter(|line| line.starts_with(what)).map(ToOwned::to_owned).collect()
}

/// If this process is such a server, serves until the end of stdin. Returns whether it was.
pub(crate) fn play() -> bool {
    let Ok(behaviour) = std::env::var(MARK) else { return false };
    let mut fake = Fake {
        behaviour: behaviour.split_whitespace().map(ToOwned::to_owned).collect(),
        folder: std::env::var_os(FOLDER).map(PathBuf::from).unwrap(),
        tools: BTreeMap::new(),
        waits_for: None,
    };
    fake.serve();
    true
}

struct Fake {
    behaviour: Vec<String>,
    folder: PathBuf,
    tools: BTreeMap<String, Value>,
    /// The call that is answered with what comes back from the client.
    waits_for: Option<Value>,
}

impl Fake {
    fn is(&self, word: &str) -> bool {
        self.behaviour.iter().any(|one| one == word)
    }

    fn note(&self, line: &str) {
        let mut notes = OpenOptions::new().create(true).append(true).open(self.folder.join("notes")).unwrap();
        writeln!(notes, "{line}").unwrap();
    }

    fn wait_for_file(&self, name: &str) {
        while !self.folder.join(name).exists() {
            pause(Duration::from_millis(5)); // nothing signals that a file is there
        }
    }

    fn serve(&mut self) {
        self.note(&format!("started {}", std::process::id()));
        // The harness has begun a line.
        self.write(b"");
        if self.is("broken") {
            eprintln!("the key {} is not accepted", std::env::var("FAKE_KEY").unwrap_or_default());
            std::process::exit(1);
        }
        if self.is("slow") {
            self.wait_for_file("go");
        }
        if self.is("deaf") {
            self.wait_for_file("never");
        }
        for name in self.behaviour.iter().filter_map(|word| word.strip_prefix("tool:")) {
            self.tools.insert(name.to_owned(), json!({ "type": "object", "properties": {} }));
        }
        let many = if self.is("many") { 1000 } else { 0 };
        for number in 0..many {
            self.tools.insert(format!("a{number:04}"), json!({ "type": "object", "properties": {} }));
        }
        if self.is("sly") {
            let about = json!({ "type": "string", "description": "Which\u{202e}one" });
            self.tools.insert("re\u{202e}ad".to_owned(), json!({ "type": "object", "properties": { "text": about } }));
        }
        for name in [
            "undecodable",
            "flood",
            "say",
            "crash",
            "hang",
            "stop-reading",
            "nonsense",
            "odd",
            "giant",
            "huge",
            "grow",
            "shrink",
            "ask",
            "env",
        ] {
            self.tools
                .insert(name.to_owned(), json!({ "type": "object", "properties": { "text": { "type": "string" } } }));
        }
        let stdin = std::io::stdin();
        for line in stdin.lock().lines() {
            let Ok(line) = line else { break };
            if let Ok(Value::Object(message)) = serde_json::from_str(&line) {
                self.heard(&message);
            }
        }
        self.note("input ended");
        if self.is("stubborn") {
            self.wait_for_file("never");
        }
    }

    fn heard(&mut self, message: &Map<String, Value>) {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // An answer to what was asked of the client.
            if let Some(id) = self.waits_for.take() {
                let response = json!({ "result": message.get("result"), "error": message.get("error") });
                self.say(&id, &response.to_string());
            }
            return;
        };
        let params = message.get("params").cloned().unwrap_or_default();
        let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28";
        self.note(&format!("heard {method}{}", if is_modern { " modern" } else { "" }));
        let Some(id) = message.get("id").cloned() else {
            if method == "notifications/cancelled" {
                self.note(&format!("cancelled {}", params["requestId"]));
            }
            return;
        };
        match method {
            "server/discover" if self.is("modern") => self.result(
                &id,
                json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                        "capabilities": { "tools": { "listChanged": true } } }),
            ),
            "server/discover" if self.is("silent") => {}
            "server/discover" if self.is("touchy") => std::process::exit(7),
            "initialize" if self.is("future") => self.result(&id, json!({ "protocolVersion": "2099-01-01" })),
            "initialize" if !self.is("modern") => self.result(
                &id,
                json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "fake", "version": "1" } }),
            ),
            "ping" => self.result(&id, json!({})),
            "subscriptions/listen" => {}
            "tools/list" => self.list(&id, &params),
            "tools/call" => self.called(&id, &params),
            _ => self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "what?" } })),
        }
    }

    fn list(&self, id: &Value, params: &Value) {
        let named = |(name, schema): (&String, &Value)| {
            json!({
                "name": name, "description": "x\u{202e}y\u{200b}z", "inputSchema": schema,
                "annotations": { "readOnlyHint": name == "board" },
            })
        };
        let all: Vec<Value> = self.tools.iter().map(named).collect();
        if self.is("odd-list") {
            return self.result(id, json!(5));
        }
        if !self.is("pages") {
            return self.result(id, json!({ "tools": all }));
        }
        let at: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let mut page = json!({ "tools": all.iter().skip(at).take(2).collect::<Vec<_>>() });
        if at + 2 < all.len() || self.is("endless") {
            page["nextCursor"] = json!(if at + 2 < all.len() { at + 2 } else { 0 }.to_string());
        }
        self.result(id, page);
    }

    fn called(&mut self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let text = params["arguments"]["text"].as_str().unwrap_or_default().to_owned();
        match name.as_str() {
            "board" => self.say(id, &std::fs::read_to_string(self.folder.join("board")).unwrap()),
            "pin" => {
                self.note("pinned");
                self.say(id, "pinned");
            }
            "crash" => std::process::exit(3),
            "hang" => self.note(&format!("hangs {id}")),
            "stop-reading" => self.wait_for_file("never"),
            "nonsense" => {
                for line in ["no json", "{\"jsonrpc\":\"2.0\"}", "[1,2]", "\u{0}\u{1}", "{\"id\":null}", ""] {
                    self.write(line.as_bytes());
                }
                self.write(b"\xff\xfe\xfd");
                self.say(&json!(987_654), "an answer to nothing");
                self.say(id, "still sane");
            }
            "odd" => self.result(id, serde_json::from_str(&text).unwrap()),
            "giant" => {
                self.write(&vec![b'x'; 17 * 1024 * 1024]);
                self.say(id, "after a giant line");
            }
            "undecodable" => {
                let result = match text.as_str() {
                    "escape" => r#""result":{"content":[{"type":"text","text":"\q"}]}"#.as_bytes().to_vec(),
                    "bytes" => b"\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\"}]}".to_vec(),
                    "nothing" => b"\"other\":1".to_vec(),
                    "deep" => format!("\"result\":{}{}", "[".repeat(500), "]".repeat(500)).into_bytes(),
                    "lone" => r#""result":{"content":[{"type":"text","text":"a\ud800b"}]}"#.as_bytes().to_vec(),
                    other => panic!("{other}"),
                };
                let mut line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},").into_bytes();
                line.extend(result);
                line.push(b'}');
                self.write(&line);
            }
            "flood" => {
                let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                (0..20_000).for_each(|_| self.send(&changed));
                self.tools.insert(text, json!({}));
                self.send(&changed);
                self.say(id, "done");
            }
            "huge" => self.say(id, &"x".repeat(17 * 1024 * 1024)),
            "grow" | "shrink" => {
                if name == "grow" {
                    self.tools.insert(text, json!({}));
                } else {
                    self.tools.remove(&text);
                }
                self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                self.say(id, "done");
            }
            "ask" => {
                self.waits_for = Some(id.clone());
                self.send(&json!({ "jsonrpc": "2.0", "id": "from-server", "method": text }));
            }
            "env" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                self.say(id, &names.join(" "));
            }
            _ => self.say(id, &format!("{name}: {text}")),
        }
    }

    fn say(&self, id: &Value, text: &str) {
        self.result(id, json!({ "content": [{ "type": "text", "text": text }] }));
    }

    fn result(&self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn send(&self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    fn write(&self, line: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        // The process may have ended already.
        let _ = stdout.write_all(line).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush());
    }
}
