//! Many concurrent clients: no errors except those of the page, and no growth.
//!
//! `make soak-server` keeps it up for ten minutes.
#![allow(clippy::print_stdout)] // figures, for whoever asks with --nocapture

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::leaks::{Baseline, alone, load_seconds};
use crate::support::share::is_whole;

const CLIENTS: usize = 8;
/// With `CDPILOT_TEST_LOAD_SECONDS`, and in any other run.
const TABS: [usize; 2] = [16, 6];

const PAGE: &str = "<title>load</title><h1>Load</h1><input id=name aria-label=Name><button id=b onclick='n++; out.textContent = n'>Add</button>
    <output id=out></output><select id=s><option>one<option>two</select><ul></ul>
    <script>let n = 0; setInterval(() => { const li = document.createElement('li'); li.textContent = n; const ul = document.querySelector('ul');
    ul.append(li); if (ul.childElementCount > 20) ul.firstChild.remove() }, 500)</script>";

/// So many answers there are to be at least, however long that takes.
const ANSWERS: u32 = 60;

/// The next request of a client.
fn next(turn: u32, tab: &str, url: &str) -> (&'static str, String, Option<Value>) {
    let act = |mut act: Value| {
        act["targetId"] = tab.into();
        ("POST", "/act".to_owned(), Some(act))
    };
    let get = |path: &str| ("GET", format!("{path}?targetId={tab}"), None);
    match turn % 16 {
        0 | 8 => act(json!({ "kind": "click", "selector": "#b" })),
        1 => act(json!({ "kind": "type", "selector": "#name", "text": "some text" })),
        2 | 10 => get("/snapshot"),
        3 => act(json!({ "kind": "select", "selector": "#s", "values": ["two"] })),
        4 => act(json!({ "kind": "evaluate", "fn": "1 + 1" })),
        5 => get("/text"),
        6 => act(json!({ "kind": "press", "key": "Tab" })),
        7 => get("/console"),
        9 => ("POST", "/navigate".to_owned(), Some(json!({ "url": url, "targetId": tab }))),
        11 => act(json!({ "kind": "scroll", "direction": "down" })),
        12 => ("GET", "/tabs".to_owned(), None),
        13 => get("/cookies"),
        14 => ("POST", "/screenshot".to_owned(), Some(json!({ "targetId": tab, "inline": true, "type": "jpeg" }))),
        _ => get("/requests"),
    }
}

/// Refusals that another client's doing in the same tab brings about: it went elsewhere meanwhile, or is at it.
const OF_THE_PAGE: [&str; 5] = ["STALE_REF", "NOT_ACTIONABLE", "PAGE_BUSY", "CONFLICT", "NOT_FOUND"];

#[test]
fn eight_clients_cause_no_errors_or_leaks() {
    alone(module_path!(), "eight_clients_cause_no_errors_or_leaks", || {
        let usual = Duration::from_millis(if is_whole() { 3_000 } else { 1_500 });
        let time = load_seconds().map_or(usual, Duration::from_secs);
        let before = Baseline::now();
        let Some(served) = TestServer::browsing() else { return };
        served.site.page("/", PAGE);
        let count = TABS[usize::from(load_seconds().is_none())];
        let tabs: Vec<String> = (0..count).map(|_| served.open("/")).collect();
        let url = served.site.url("a", "/");
        let seen = Mutex::new(BTreeMap::<String, u32>::new());
        let slowest = Mutex::new(Duration::ZERO);
        let answered = AtomicU32::new(0);
        let files = Baseline::now().count_files();
        let (began, mut memory) = (Instant::now(), Vec::new());
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (served, tabs, url, seen, slowest, answered) = (&served, &tabs, &url, &seen, &slowest, &answered);
                scope.spawn(move || {
                    for turn in 0_u32.. {
                        if began.elapsed() > time && answered.load(Ordering::Relaxed) > ANSWERS {
                            break;
                        }
                        let tab = &tabs[(client + turn as usize * 5) % tabs.len()];
                        let (method, path, body) = next(turn + client as u32 * 2, tab, url);
                        let requested = Instant::now();
                        let response = served.api.call(method, &path, body.map(|body| body.to_string()).as_deref());
                        let what = match response.json() {
                            response if response["ok"] == true => "ok".to_owned(),
                            response => format!("{} {}", response["code"].as_str().unwrap_or("?"), response["error"]),
                        };
                        let mut slow = slowest.lock();
                        *slow = (*slow).max(requested.elapsed());
                        drop(slow);
                        let path = path.split('?').next().unwrap_or_default();
                        let what = if what == "ok" { what } else { format!("{what} ({method} {path})") };
                        *seen.lock().entry(what).or_default() += 1;
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while began.elapsed() < time {
                cdpilot::sync::pause(time / 10);
                memory.push(resident());
            }
        });
        let (seen, count) = (seen.into_inner(), Baseline::now().count_files());
        println!("{seen:#?}");
        println!("slowest {:?}; descriptors {files} -> {count}; KiB over time {memory:?}", slowest.into_inner());
        let ours = |what: &&String| *what != "ok" && !OF_THE_PAGE.iter().any(|code| what.starts_with(code));
        let wrong: Vec<&String> = seen.keys().filter(ours).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(seen["ok"] > ANSWERS / 2, "{seen:?}");
        assert!(count < files + 40, "descriptors: {files}, then {count}");
        // Grown in the second half by less than a quarter: buffers fill up, nothing leaks.
        let (middle, end) = (memory[memory.len() / 2], memory[memory.len() - 1]);
        assert!(end < middle + middle / 4 + 8 * 1024, "memory in KiB: {memory:?}");
        drop(served);
        before.assert_back(crate::support::chrome::soon());
    });
}

/// Memory of this process, KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
