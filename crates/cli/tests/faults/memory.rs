//! The memory of a server after hostile pages: within 20 MB of the baseline. Needs a release build (`make faults`): without
//! optimisation the figures differ.
#![allow(clippy::print_stdout)] // figures

use std::fs;
use std::time::Duration;

use cdpilot::sync::{Deadline, pause, spawn};

use crate::cli_run::{Program, has_browser};
use crate::support::busy_machine;
use crate::support::site::{Answer, Site};

/// What may stay, bytes.
const MOST: u64 = 20 << 20;
/// Clients at a time.
const CLIENTS: usize = 4;

const PAGES: [(&str, &str); 4] = [
    ("/title", "<script>document.title = 'x'.repeat(3e6)</script>Title"),
    (
        "/nodes",
        "<script>for (let i = 0; i < 1e5; i++) { const b = document.createElement('button'); \
         b.textContent = 'button number ' + i; document.body.append(b); }</script>",
    ),
    ("/flood", "<script>for (let i = 0; i < 2e4; i++) console.log('line ' + i + ' ' + 'y'.repeat(500))</script>Flood"),
    ("/dialog", "<script>setTimeout(() => alert('d'.repeat(5e5)), 100)</script>Dialog"),
];

/// Bytes that a process has in memory now, and had at most.
fn memory(pid: u64) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    };
    (line("VmRSS:"), line("VmHWM:"))
}

#[test]
fn memory_after_hostile_pages_returns_to_the_baseline() {
    let _alone = busy_machine();
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let home = program.temp.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("config.yaml"), "server: {port: 0}\nbrowser: {cdp_port: 0, headless: true}\n").unwrap();
    let program = std::sync::Arc::new(program.env("CDPILOT_HOME", home.to_str().unwrap()));
    let site = Site::start();
    site.page("/plain", "<title>Plain</title><p>Plain<button>One</button>");
    for (path, html) in PAGES {
        site.put(path, Answer::html(html));
    }
    let does = |line: &str| {
        let ran = program.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    };
    does(&format!("browser open {}", site.url("a", "/plain")));
    let server: serde_json::Value = serde_json::from_slice(&fs::read(home.join("run/server.json")).unwrap()).unwrap();
    let pid = server["pid"].as_u64().unwrap();
    let visit = |path: &str| {
        let opened = (0..CLIENTS).map(|_| does(&format!("browser open {} --json", site.url("a", path))).json());
        let tabs: Vec<String> = opened.map(|response| response["targetId"].as_str().unwrap().to_owned()).collect();
        let clients: Vec<_> = tabs
            .iter()
            .map(|tab| {
                let (program, tab) = (std::sync::Arc::clone(&program), tab.clone());
                spawn("client", move || {
                    // Some of it fails while a dialog is open; what is held afterwards is the question.
                    for line in
                        ["snapshot", "text", "console", "screenshot", "requests", "frames", "snapshot --compact"]
                    {
                        let line = format!("browser {line} --target {tab}");
                        program.run(&line.split(' ').collect::<Vec<_>>());
                    }
                    for line in ["browser dialogs", "browser tabs"] {
                        program.run(&line.split(' ').collect::<Vec<_>>());
                    }
                })
                .unwrap()
            })
            .collect();
        drop(clients);
        for tab in tabs {
            program.run(&["browser", "dialog", "--dismiss", "--target", &tab]);
            does(&format!("browser close {tab}"));
        }
        println!("{path}: {} MB", memory(pid).0 >> 20);
    };
    // Ordinary use by as many clients, before and after: threads and caches are there in both.
    for _ in 0..2 {
        visit("/plain");
    }
    let (before, _) = memory(pid);
    for (path, _) in PAGES {
        visit(path);
    }
    visit("/plain");
    // A server at rest gives back what it holds no longer.
    let until = crate::support::soon();
    while memory(pid).0 > before + MOST && !until.passed() {
        pause(Duration::from_millis(200));
    }
    let (after, most) = memory(pid);
    println!("before {} MB, at most {} MB, after {} MB", before >> 20, most >> 20, after >> 20);
    does("serve --stop");
    assert!(after <= before + MOST, "before {before}, after {after} bytes");
}
