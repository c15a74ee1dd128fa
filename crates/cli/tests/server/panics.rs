//! Threads of the server that panic: nothing hangs, and what cannot go on ends and is started again.
//!
//! The panics are requested through `CDPILOT_TEST_FAULTS`, which only builds with debug assertions read.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use cdpilot::sync::pause;
use cdpilot_server::config::{Running, Token};
use serde_json::json;

use crate::cli_browser_real::AtHome;
use crate::cli_run::{has_browser, processes_with};
use crate::support::api::Api;
use crate::support::chrome::soon;
use crate::support::share::share;

/// A home whose server panics on request.
struct Faulty {
    at: AtHome,
    faults: PathBuf,
}

impl Faulty {
    fn new() -> Self {
        let mut at = AtHome::new("");
        let faults = at.program.temp.path().join("faults");
        fs::create_dir(&faults).unwrap();
        at.program.set_env("CDPILOT_TEST_FAULTS", faults.to_str().unwrap());
        Self { at, faults }
    }

    /// The running server, started if necessary.
    fn server(&self) -> (Running, Api) {
        let started = self.at.run(&["browser", "start"]);
        assert_eq!(started.code, Some(0), "{started:?}");
        let running = Running::of(&self.at.home).unwrap().expect("a server runs");
        let token = Token::of(&self.at.home).unwrap().reveal().to_owned();
        let address = format!("127.0.0.1:{}", running.port).parse().unwrap();
        (running, Api { address, token })
    }

    /// The next time that the server passes this place it panics.
    fn arm(&self, place: &str) {
        fs::write(self.faults.join(place), "").unwrap();
    }

    /// Waits until the server has panicked there.
    fn fired(&self, place: &str) {
        let until = soon();
        while self.faults.join(place).exists() {
            assert!(!until.passed(), "{place} was not passed");
            pause(std::time::Duration::from_millis(5));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.at.home.run().join("server.log")).unwrap_or_default()
    }
}

/// Waits until a process has ended.
fn wait_ended(pid: u32) {
    let until = crate::support::soon();
    let stat = format!("/proc/{pid}/stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(!until.passed(), "process {pid} does not end");
        pause(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_panicking_supervisor_ends_and_its_profile_restarts() {
    if !has_browser() {
        return;
    }
    let faulty = Faulty::new();
    let (server, api) = faulty.server();
    for place in share(["sup-cdpilot", "cdp-read", "cdp-lead"], 1) {
        api.post("/start", &json!({})).ok();
        let browser = api.get("/").ok()["pid"].as_u64().unwrap();
        api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
        // A call that is under way when it happens.
        let waiting = api.send("POST", "/act", Some(r#"{"kind":"wait","fn":"false","timeoutMs":60000}"#), "");
        api.until("the call", "/", |response| response["running"] == true);
        faulty.arm(place);
        let began = Instant::now();
        // An event, too.
        let failed = api.act(&json!({ "kind": "evaluate", "fn": "console.log('here')" }));
        faulty.fired(place);
        assert!(matches!(failed.status, 200 | 500 | 503), "{place}: {failed:?}");
        let response = std::io::read_to_string(waiting).unwrap();
        // It may be the call itself that reads for all others, and panics.
        let at_its_own = place == "cdp-lead" && response.contains("INTERNAL");
        assert!(response.contains("BROWSER_NOT_RUNNING") || at_its_own, "{place}: {response}");
        assert!(began.elapsed().as_secs() < 30, "{place}: not at once, but at the deadline");
        api.until("the end", "/", |response| response["running"] == false);
        wait_ended(u32::try_from(browser).unwrap());
        let again = api.post("/start", &json!({})).ok();
        assert_ne!(again["pid"], browser, "{place}");
        api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
        assert_eq!(api.eval("1 + 1"), 2, "{place}");
        assert!(faulty.log().contains(&format!("panic at {place}")), "{place}: {}", faulty.log());
    }
    assert_eq!(Running::of(&faulty.at.home).unwrap().map(|running| running.pid), Some(server.pid), "it served on");
}

#[test]
fn a_panicking_request_is_answered_and_its_thread_continues() {
    if !has_browser() {
        return;
    }
    let faulty = Faulty::new();
    let (server, api) = faulty.server();
    // More often than there are threads.
    for _ in 0..4 {
        faulty.arm("http-handler");
        let failed = api.get("/profiles");
        assert_eq!((failed.status, failed.json()["code"].as_str()), (500, Some("INTERNAL")), "{failed:?}");
        faulty.arm("http-lane");
        let mut lost = api.send("GET", "/profiles", None, "");
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut lost, &mut text);
        assert_eq!(text, "", "a panic outside of the handler closes the connection");
        api.get("/profiles").ok();
    }
    assert_eq!(Running::of(&faulty.at.home).unwrap().map(|running| running.pid), Some(server.pid));
}

#[test]
fn a_panicking_server_ends_and_the_next_command_starts_another() {
    if !has_browser() {
        return;
    }
    let faulty = Faulty::new();
    let (server, api) = faulty.server();
    api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
    let waiting = api.send("POST", "/act", Some(r#"{"kind":"wait","fn":"false","timeoutMs":60000}"#), "");
    faulty.arm("http-in");
    drop(std::net::TcpStream::connect(api.address));
    faulty.fired("http-in");
    wait_ended(server.pid);
    let until = soon();
    while !processes_with(faulty.at.home.root()).is_empty() {
        assert!(!until.passed(), "{:?}", processes_with(faulty.at.home.root()));
        pause(std::time::Duration::from_millis(10));
    }
    drop(waiting);
    assert!(!faulty.at.home.run().join("server.json").exists());
    let log = faulty.log();
    assert!(log.contains("panic at http-in") && log.contains("cannot go on"), "{log}");
    let (next, api) = faulty.server();
    assert_ne!(next.pid, server.pid);
    api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
    assert_eq!(api.eval("1 + 1"), 2);
}

#[test]
fn a_panicking_foreground_server_exits_with_a_failure() {
    let faulty = Faulty::new();
    let faults = faulty.faults.clone();
    let home = faulty.at.home.clone();
    let ran = faulty.at.program.run_and(&["serve", "--json"], |_| {
        let until = soon();
        let running = loop {
            if let Some(running) = Running::of(&home).unwrap() {
                break running;
            }
            assert!(!until.passed(), "no server");
            pause(std::time::Duration::from_millis(5));
        };
        fs::write(faults.join("http-in"), "").unwrap();
        drop(std::net::TcpStream::connect(("127.0.0.1", running.port)));
    });
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("panic at http-in"), "{ran:?}");
}
