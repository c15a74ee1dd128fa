//! `cdpilot bench`: measurements, untouched pages, ends. The figures are not checked.

use cdpilot::sync::pause;
use serde_json::{Value, json};
use std::time::Duration;

use crate::cli_run::{Program, has_browser, kill, processes_with};
use crate::support::share::share;

/// Checks a report, and that its figures are plausible.
fn check(report: &Value, transport: &str) {
    assert_eq!((&report["ok"], &report["error"]), (&json!(true), &Value::Null), "{report}");
    assert!(report["browser"].as_str().unwrap().starts_with("Chrome/"), "{report}");
    assert_eq!((&report["transport"], &report["calls"]), (&json!(transport), &json!(20)), "{report}");
    let figure = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} in {report}"));
    for name in ["p50_us", "sequential_per_s", "pipelined_per_s", "events_per_s"] {
        assert!(figure(name) > 0.0 && figure(name).is_finite(), "{name} in {report}");
    }
    assert!(figure("p50_us") <= figure("p95_us"), "{report}");
}

#[test]
fn bench_prints_figures_and_cleans_up() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let ran = program.run(&["bench", "--calls", "20", "--json"]);
    assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{ran:?}");
    check(&ran.json(), "pipe");
    let text = program.run(&["bench", "--calls", "9", "--transport", "port"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.is_ascii() && text.stderr.is_empty(), "{text:?}");
    for words in ["(port)", "round trip, median", "us", "pipelined calls", "/s"] {
        assert!(text.stdout.contains(words), "{words} in {text:?}");
    }
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
    let ran = program.run(&["bench", "--calls", "20", "--json", "--cdp-url", &address]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    check(&ran.json(), "attached");
    assert_eq!(session.ask("GET", "/tabs", Value::Null)["tabs"], before);
    assert_eq!(session.evaluate("window.mark")["result"], "mine");
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    program.assert_nothing_left();
}

#[test]
fn bench_usage_errors_start_no_browser() {
    let program = Program::new();
    let cases: [(&[&str], &str); 4] = [
        (&["--calls", "0"], "0"),
        (&["--calls", "10000000"], "10000000"),
        (&["--cdp-url", "localhost:1", "--transport", "port"], "--transport"),
        (&["--transport", "pigeon"], "pigeon"),
    ];
    for (args, named) in cases {
        let ran = program.run(&[&["bench", "--json"], args].concat());
        assert_eq!((ran.code, &ran.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{args:?} {ran:?}");
        assert!(ran.json()["error"].as_str().unwrap().contains(named), "{args:?} {ran:?}");
    }
    let none = Program::new().env("CDPILOT_BROWSER", "/nonexistent/browser").run(&["bench", "--json"]);
    assert_eq!((none.code, &none.json()["code"]), (Some(3), &json!("BROWSER_NOT_RUNNING")), "{none:?}");
    let nobody = program.run(&["bench", "--json", "--cdp-url", "ftp://localhost"]);
    assert_eq!((nobody.code, &nobody.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{nobody:?}");
}

#[test]
fn bench_respects_its_total_time() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    for time in ["6000", "1"] {
        let ran = program.run(&["bench", "--json", "--calls", "1000000", "--timeout", time]);
        let report = ran.json();
        assert_eq!((ran.code, &report["ok"], &report["code"]), (Some(1), &json!(false), &json!("TIMEOUT")), "{ran:?}");
        assert!(report["error"].as_str().unwrap().contains("--timeout"), "{report}");
    }
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
        let ran = program.run_and(&["bench", "--json", "--calls", "1000000"], |id| {
            let until = crate::support::soon();
            while processes_with(program.temp.path()).is_empty() {
                assert!(!until.passed(), "no browser was started");
                pause(Duration::from_millis(10));
            }
            kill(id, signal);
        });
        assert_eq!((ran.code, &ran.json()["code"]), (Some(1), &json!("INTERRUPTED")), "{ran:?}");
        program.assert_nothing_left();
    }
}
