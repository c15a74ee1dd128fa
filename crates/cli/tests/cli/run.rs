//! Runs the real program as a user or another program does.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use cdpilot_server::config::Home;
use crossbeam_channel::{Receiver, bounded};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::browser_path;
use crate::support::chrome::soon;
use crate::support::lease::Lease;

/// Whether there is a browser; says so when there is none.
#[allow(clippy::print_stderr)] // a skipped test must not go unseen
pub(crate) fn has_browser() -> bool {
    let found = browser_path().is_some();
    if !found {
        eprintln!("SKIPPED: no browser here");
    }
    found
}

/// A leased browser with one empty page, for a `supervise` that attaches to it. It has to be declared before what uses it.
pub(crate) fn lease_with_page() -> Option<Lease> {
    let lease = Lease::take_empty()?;
    let blank = json!({ "url": "about:blank" });
    lease.connect().connection().call_raw("Target.createTarget", &blank, soon()).unwrap();
    Some(lease)
}

/// The program with an environment of its own: nothing of ours but the browser, and a folder for
/// temporary files in which whatever is left behind can be seen.
pub(crate) struct Program {
    pub(crate) temp: TempDir,
    env: Vec<(String, String)>,
    lease: Option<Lease>,
}

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line on stdout: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|problem| panic!("{problem}: {self:?}"))
    }
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
    }
}

impl Program {
    pub(crate) fn new() -> Self {
        // Short: Chromium makes sockets below it, whose paths have a limit.
        let temp = tempfile::Builder::new().prefix("cli-").tempdir().unwrap();
        Self { temp, env: Vec::new(), lease: None }
    }

    /// The program and its home, whose browsers have no window and no port.
    pub(crate) fn at_home() -> (Self, Home) {
        let program = Self::new();
        let home = Home::at(program.temp.path().join("home"));
        home.prepare().unwrap();
        std::fs::write(home.config(), "browser: {cdp_port: 0, headless: true}\n").unwrap();
        let root = home.root().to_str().unwrap().to_owned();
        (program.env("CDPILOT_HOME", &root), home)
    }

    /// The same with a leased browser, which it attaches to. Whatever uses it has to end before this is dropped. `None` if there is
    /// no browser here and none is required.
    pub(crate) fn leasing(mut self) -> Option<Self> {
        let lease = Lease::take_empty()?;
        self.set_env("CDPILOT_CDP_URL", lease.url());
        self.lease = Some(lease);
        Some(self)
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.set_env(name, value);
        self
    }

    pub(crate) fn set_env(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cdpilot"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CDPILOT_") {
                command.env_remove(name);
            }
        }
        if let Some(browser) = browser_path() {
            command.env("CDPILOT_BROWSER", browser);
        }
        command.env("TMPDIR", self.temp.path()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_and(args, |_| {})
    }

    /// Runs it to its end and does something meanwhile, with its process id.
    pub(crate) fn run_and(&self, args: &[&str], meanwhile: impl FnOnce(u32)) -> Ran {
        self.run_within(crate::support::LIMIT, args, meanwhile)
    }

    /// The same with another time limit.
    pub(crate) fn run_within(&self, limit: Duration, args: &[&str], meanwhile: impl FnOnce(u32)) -> Ran {
        let child = self.command(args).spawn().unwrap();
        let id = child.id();
        let (send, ended) = bounded(1);
        let _waiter = spawn("cli-wait", move || drop(send.send(child.wait_with_output()))).unwrap();
        meanwhile(id);
        let output = ended.recv_timeout(limit).unwrap_or_else(|_| {
            kill(id, "-KILL");
            panic!("{args:?} did not end")
        });
        let output = output.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Starts `supervise` and waits for its first line.
    pub(crate) fn supervise(&self, args: &[&str]) -> (Session, Value) {
        let mut all = vec!["supervise"];
        all.extend(args);
        let mut child = self.command(&all).stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = bounded(4096);
        let reader = spawn("cli-lines", move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                let value = serde_json::from_str(&line).unwrap_or_else(|problem| panic!("{problem}: {line}"));
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let session = Session { child, stdin, lines, last_id: 0, _reader: reader.unwrap() };
        let ready = session.next(|_| true);
        assert_eq!(ready["type"], "ready", "{ready}");
        (session, ready)
    }

    /// What is left: files in the folder for temporary files, and processes started with it in their
    /// arguments. Waits until there is no process and at most so many files, as the system takes a moment to forget a process.
    pub(crate) fn left_behind(&self, kept: usize) -> (Vec<PathBuf>, Vec<String>) {
        let until = crate::support::soon();
        loop {
            let entries = std::fs::read_dir(self.temp.path()).unwrap().flatten();
            let files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            let processes = processes_with(self.temp.path());
            if (files.len() <= kept && processes.is_empty()) || until.passed() {
                return (files, processes);
            }
            pause(Duration::from_millis(20));
        }
    }

    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.left_behind(0), (vec![], vec![]));
    }
}

pub(crate) fn processes_with(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(folder)).collect()
}

pub(crate) use testkit::kill;

/// A `supervise` that runs. Dropping it kills it.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    last_id: u64,
    _reader: Thread,
}

impl Session {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Writes bytes that need not be a line.
    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Says a line if somebody still listens.
    pub(crate) fn try_say(&mut self, line: &str) -> bool {
        self.stdin.as_mut().is_some_and(|stdin| writeln!(stdin, "{line}").is_ok())
    }

    pub(crate) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// The next line that fits; others are passed over.
    pub(crate) fn next(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let until = crate::support::soon();
        let mut passed = Vec::new();
        loop {
            match self.lines.recv_deadline(until.instant()) {
                Ok(line) if fits(&line) => return line,
                Ok(line) => passed.push(line.to_string()),
                Err(why) => panic!("no such line ({why}), only:\n{}", passed.join("\n")),
            }
        }
    }

    /// The next line of a type.
    pub(crate) fn event(&self, kind: &str) -> Value {
        self.next(|line| line["type"] == kind)
    }

    /// Sends a request; its id is returned.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: Value) -> u64 {
        self.last_id += 1;
        self.say(&json!({ "id": self.last_id, method: path, "body": body }).to_string());
        self.last_id
    }

    /// The body of the answer to a request.
    pub(crate) fn answer(&self, id: u64) -> Value {
        let answer = self.next(|line| line["type"] == "answer" && line["id"] == id);
        assert_eq!(answer["status"] == 200, answer["body"]["ok"] == true, "{answer}");
        answer["body"].clone()
    }

    /// Sends a request and gives the body of its answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Value) -> Value {
        let id = self.send(method, path, body);
        self.answer(id)
    }

    /// Performs an action.
    pub(crate) fn act(&mut self, action: Value) -> Value {
        self.ask("POST", "/act", action)
    }

    /// Evaluates a script in the current tab.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        self.act(json!({ "kind": "evaluate", "fn": script }))
    }

    /// Evaluates a script and gives the event that it causes; its answer may come before or after it.
    pub(crate) fn evaluate_for(&mut self, script: &str, kind: &str) -> Value {
        let id = self.send("POST", "/act", json!({ "kind": "evaluate", "fn": script }));
        let answered = |line: &Value| line["type"] == "answer" && line["id"] == id;
        let first = self.next(|line| line["type"] == kind || answered(line));
        if answered(&first) {
            return self.event(kind);
        }
        self.next(answered);
        first
    }

    /// Its exit code, and the lines that were left.
    pub(crate) fn wait(mut self) -> (Option<i32>, Vec<Value>) {
        let status = self.wait_status();
        (status.code(), self.lines.iter().collect())
    }

    fn wait_status(&mut self) -> ExitStatus {
        let until = crate::support::soon();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None if until.passed() => panic!("it did not end"),
                None => pause(Duration::from_millis(10)),
            }
        }
    }

    /// Stops reading what it writes.
    pub(crate) fn close_output(&mut self) {
        self.lines = bounded(0).1;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
