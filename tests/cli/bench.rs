//! `cdpilot bench`: measurements, untouched pages, ends. The figures are not checked.

use cdpilot::sync::pause;
use serde_json::{Value, json};
use std::time::Duration;

use crate::cli_run::{Program, has_browser, kill, processes_with};
use crate::support::share::share;

/// Little of everything.
const LITTLE: [&str; 16] = [
    "bench",
    "--quick",
    "--rounds",
    "2",
    "--calls",
    "20",
    "--events",
    "1500",
    "--dialogs",
    "3",
    "--tabs",
    "3",
    "--contexts",
    "2",
    "--browsers",
    "1",
];

/// Rows of the first half of the workloads.
const FIRST: [&str; 16] = [
    "browser",
    "browser_own",
    "own",
    "own_more",
    "tab_open",
    "tab_browser",
    "tab_browser_own",
    "tab_own",
    "tab_close",
    "more_start",
    "more_browser",
    "more_browser_own",
    "more_own",
    "more_processes",
    "more_threads",
    "more_files",
];
/// The other workloads, and their rows.
const SECOND_HALF: &str = "contexts,startup,calls,events,dialogs";
const SECOND: [&str; 15] = [
    "context_open",
    "context_browser",
    "context_browser_own",
    "context_close",
    "start_answer",
    "start_page",
    "end",
    "call_page",
    "call_browser",
    "calls_in_flight",
    "calls_threads",
    "events",
    "events_logged",
    "dialogs_policy",
    "dialogs_hand",
];

fn rows(report: &Value) -> Vec<&Value> {
    report["rows"].as_array().unwrap().iter().collect()
}

fn ids(report: &Value) -> Vec<&str> {
    rows(report).iter().map(|row| row["id"].as_str().unwrap()).collect()
}

fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    rows(report).into_iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id} in {report}"))
}

#[test]
fn bench_measures_every_workload_and_cleans_up() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    // In halves: a busy machine takes long for all of it.
    for (half, expected) in share([("memory,tabs,browsers", &FIRST[..]), (SECOND_HALF, &SECOND[..])], 1) {
        let ran = program.run(&[&LITTLE as &[&str], &["--json", "--only", half]].concat());
        let report = ran.json();
        assert_eq!((ran.code, &report["ok"], &report["error"]), (Some(0), &json!(true), &Value::Null), "{ran:?}");
        assert!(ran.stderr.is_empty(), "progress is for terminals: {ran:?}");
        check(&report, expected);
    }
    program.assert_nothing_left();
}

/// A report on the workloads whose rows are `expected`.
fn check(report: &Value, expected: &[&str]) {
    assert!(report["browser"].as_str().unwrap().starts_with("Chrome/"), "{report}");
    assert_eq!((&report["transport"], &report["plan"]["calls"]), (&json!("pipe"), &json!(20)), "{report}");
    assert_eq!(ids(report), expected);
    for row in rows(report) {
        let figure = |name: &str| row[name].as_f64();
        if cfg!(target_os = "linux") || figure("median").is_some() {
            let [min, median, max] =
                ["min", "median", "max"].map(|name| figure(name).unwrap_or_else(|| panic!("{row}")));
            assert!(min <= median && median <= max && max.is_finite(), "{row}");
            // Memory may shrink while it is looked at.
            assert!(min > 0.0 || ["MiB", "KiB", "%"].iter().any(|unit| row["unit"] == *unit), "{row}");
        }
        assert!(row["rounds"].as_u64().unwrap() >= 1 && !row["what"].as_str().unwrap().is_empty(), "{row}");
    }
    if expected == SECOND {
        assert_eq!(row(report, "call_page")["rounds"], 2);
    } else {
        let threads = if cfg!(target_os = "linux") { json!(3.0) } else { Value::Null };
        assert_eq!(row(report, "more_threads")["median"], threads);
    }
    if cfg!(target_os = "linux") {
        let machine = &report["machine"];
        for name in ["processors", "memory_mib", "load_before", "load_after", "memory_is"] {
            assert!(!machine[name].is_null(), "{name} in {machine}");
        }
        let is_large = |row: &Value| row["median"].as_f64().unwrap() > 20.0;
        assert!(expected == SECOND || is_large(row(report, "browser")), "a browser is larger than 20 MiB");
    }
}

#[test]
fn bench_prints_a_plain_text_table_when_piped() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let args = ["bench", "--quick", "--only", "startup,calls", "--rounds", "1", "--calls", "9", "--transport", "port"];
    let ran = program.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.is_ascii() && ran.stderr.is_empty(), "{ran:?}");
    for words in [
        "over a port",
        "median",
        "starting and stopping a browser",
        "calls",
        "64 concurrent",
        "processors",
        "load average",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {ran:?}");
    }
    assert!(!ran.stdout.contains("dialogs"), "only what was asked for: {ran:?}");
    let quiet = program.run(&["bench", "--quiet", "--only", "startup", "--rounds", "1"]);
    assert!(quiet.stdout.contains("start to the first answer") && !quiet.stdout.contains("load average"), "{quiet:?}");
    program.assert_nothing_left();
}

#[test]
fn bench_leaves_pages_of_a_running_browser_alone() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let (mut session, ready) = program.supervise(&["--launch", "--port", "0"]);
    let address = format!("127.0.0.1:{}", ready["cdpPort"].as_u64().unwrap());
    session.evaluate("window.mark = 'mine'");
    let before = session.ask("GET", "/tabs", Value::Null)["tabs"].clone();
    let ran = program.run(&[&LITTLE as &[&str], &["--json", "--cdp-url", &address]].concat());
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"], &report["transport"]), (Some(0), &json!(true), &json!("attached")), "{ran:?}");
    assert!(!ids(&report).contains(&"start_answer") && !ids(&report).contains(&"more_start"), "{report}");
    assert_eq!(row(&report, "browser")["median"], Value::Null, "the memory of another's browser is unknown");
    assert!(row(&report, "calls_in_flight")["median"].as_f64().unwrap() > 0.0);
    assert_eq!(session.ask("GET", "/tabs", Value::Null)["tabs"], before);
    assert_eq!(session.evaluate("window.mark")["result"], "mine");
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

#[test]
fn bench_usage_errors_start_no_browser() {
    let program = Program::new();
    let cases: [(&[&str], &str); 6] = [
        (&["--only", "weather"], "weather"),
        (&["--tabs", "0"], "0"),
        (&["--rounds", "1000000"], "1000000"),
        (&["--cdp-url", "localhost:1", "--transport", "port"], "--transport"),
        (&["--cdp-url", "localhost:1", "--only", "calls,browsers"], "browsers"),
        (&["--transport", "pigeon"], "pigeon"),
    ];
    for (args, named) in cases {
        let ran = program.run(&[&["bench", "--json"], args].concat());
        assert_eq!((ran.code, &ran.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{args:?} {ran:?}");
        assert!(ran.json()["error"].as_str().unwrap().contains(named), "{args:?} {ran:?}");
    }
    let no_scope = Program::new().env("CDPILOT_BROWSER", "/nonexistent/browser").run(&["bench", "--json"]);
    assert_eq!((no_scope.code, &no_scope.json()["code"]), (Some(3), &json!("BROWSER_NOT_RUNNING")), "{no_scope:?}");
    let nobody = program.run(&["bench", "--json", "--cdp-url", "ftp://localhost"]);
    assert_eq!((nobody.code, &nobody.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{nobody:?}");
    let help = program.run(&["bench", "--help", "--json"]).json();
    for word in ["--cdp-url", "dialogs", "load_before", "memory_is", "total_ms"] {
        assert!(help["help"].as_str().unwrap().contains(word), "{word} in {help}");
    }
}

#[test]
fn bench_respects_its_total_time() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let args = ["bench", "--json", "--only", "calls", "--calls", "1000000", "--rounds", "100"];
    let ran = program.run(&[&args as &[&str], &["--timeout", "6000"]].concat());
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"], &report["code"]), (Some(1), &json!(false), &json!("TIMEOUT")), "{ran:?}");
    assert!(report["error"].as_str().unwrap().contains("--timeout"), "{report}");
    let at_once = program.run(&[&args as &[&str], &["--timeout", "1"]].concat());
    assert_eq!((at_once.code, &at_once.json()["code"]), (Some(1), &json!("TIMEOUT")), "{at_once:?}");
    let text = program.run(&["bench", "--timeout", "1"]);
    assert!(text.stdout.is_empty() && text.stderr.contains("--timeout"), "{text:?}");
    program.assert_nothing_left();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_command_cleanly() {
    if !has_browser() {
        return;
    }
    for signal in share(["-INT", "-TERM"], 1) {
        let program = Program::new();
        let args = ["bench", "--json", "--only", "startup,dialogs", "--rounds", "100", "--dialogs", "100000"];
        let ran = program.run_and(&args, |id| {
            let until = crate::support::soon();
            while processes_with(program.temp.path()).is_empty() {
                assert!(!until.passed(), "no browser was started");
                pause(Duration::from_millis(10));
            }
            kill(id, signal);
        });
        let report = ran.json();
        assert_eq!((ran.code, &report["code"]), (Some(1), &json!("INTERRUPTED")), "{ran:?}");
        assert!(report["rows"].is_array() && report["machine"].is_object(), "{report}");
        program.assert_nothing_left();
    }
}
