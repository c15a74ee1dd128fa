//! Arguments, exit codes and JSON of the commands that come to an end by themselves.

use serde_json::{Value, json};

use crate::cli_run::{Program, has_browser};

const NOWHERE: &str = "/nonexistent/browser";

fn step<'a>(report: &'a Value, id: &str) -> &'a Value {
    report["steps"].as_array().unwrap().iter().find(|step| step["id"] == id).unwrap_or(&Value::Null)
}

#[test]
fn usage_errors_are_status_2_and_one_json_object() {
    let program = Program::new();
    let cases: [(&[&str], &str); 9] = [
        (&["frobnicate"], "frobnicate"),
        (&["clik", "3"], "'click'"),
        (&["demo", "--no-such-flag"], "--no-such-flag"),
        (&["doctor", "--timeout", "soon"], "soon"),
        (&["doctor", "--timeout", "0"], "0"),
        (&["supervise"], "--cdp-url"),
        (&["supervise", "--launch", "--cdp-url", "localhost:1"], "--cdp-url"),
        (&["supervise", "--cdp-url", "localhost:1", "--headless", "true"], "--headless"),
        (&["supervise", "--port", "0"], "--launch"),
    ];
    for (args, named) in cases {
        let text = program.run(args);
        assert_eq!(text.code, Some(2), "{args:?} {text:?}");
        assert!(text.stdout.is_empty() && text.stderr.contains(named), "{args:?} {text:?}");
        let as_json = program.run(&[args, &["--json"]].concat());
        assert_eq!(as_json.code, Some(2), "{args:?} {as_json:?}");
        let response = as_json.json();
        assert_eq!((&response["ok"], &response["code"]), (&json!(false), &json!("BAD_REQUEST")), "{args:?} {response}");
        assert!(response["error"].as_str().unwrap().contains(named), "{args:?} {response}");
        assert!(as_json.stderr.is_empty(), "{args:?} {as_json:?}");
    }
    assert_eq!(program.run(&[]).code, Some(2));
    assert_eq!(program.run(&["--json"]).json()["code"], "BAD_REQUEST");
    for args in [["doctor", "--json"], ["serve", "--json"], ["demo", "--json"], ["ui", "--json"]] {
        let odd = Program::new().env("CDPILOT_HEADLESS", "maybe").run(&args);
        let response = odd.json();
        assert_eq!((odd.code, &response["code"]), (Some(2), &serde_json::json!("BAD_REQUEST")), "{args:?} {odd:?}");
        let error = response["error"].as_str().unwrap();
        assert!(error.contains("CDPILOT_HEADLESS") && error.contains("maybe") && error.contains("true"), "{error}");
    }
    // Numbers: which ones are accepted, in words.
    for (args, accepted) in [
        (&["doctor", "--timeout", "soon"][..], "give a whole number, 1 or more"),
        (&["doctor", "--timeout=0"], "give a whole number, 1 or more"),
        (&["serve", "--port", "x"], "give a whole number from 0 to 65535"),
        (&["serve", "--port=-1"], "give a whole number from 0 to 65535"),
        (&["serve", "--port", "99999999999999999999"], "give a whole number from 0 to 65535"),
        (&["screenshot", "--quality", "x"], "give a whole number from 1 to 100"),
        (&["screenshot", "--quality", "300"], "give a whole number from 1 to 100"),
        (&["supervise", "--launch", "--rescue-after", "1s"], "give a whole number, 0 or more"),
        (&["scroll", "down", "far"], "give a number"),
    ] {
        let ran = program.run(args);
        assert!(ran.code == Some(2) && ran.stderr.contains(accepted), "{args:?} {ran:?}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let ran = program.run(&["supervise", "--launch", "--files", file.path().to_str().unwrap()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("is not a folder"), "{ran:?}");
    let odd = Program::new().env("CDPILOT_TIMEOUT_MS", "soon").run(&["doctor", "--json"]);
    assert_eq!((odd.code, &odd.json()["code"]), (Some(2), &json!("BAD_REQUEST")));
}

#[test]
fn help_and_version_are_text_or_json() {
    let program = Program::new();
    let version = env!("CARGO_PKG_VERSION");
    let text = program.run(&["--version"]);
    assert_eq!((text.code, text.stdout.trim()), (Some(0), format!("cdpilot {version}").as_str()));
    assert_eq!(program.run(&["--version", "--json"]).json(), json!({ "ok": true, "version": version }));
    let help = program.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    for word in ["demo", "doctor", "install", "supervise", "completions", "CDPILOT_BROWSER", "Exit status"] {
        assert!(help.stdout.contains(word), "{word} in {}", help.stdout);
    }
    // Commands are listed in the order of docs/cli.md.
    let listed = program.run(&["browser", "--help"]).stdout;
    let listed = listed.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed: Vec<&str> =
        listed.filter(|line| !line.starts_with("    ")).filter_map(|line| line.split_whitespace().next()).collect();
    let documented =
        include_str!("../../../../docs/cli.md").lines().filter_map(|line| line.strip_prefix("### `cdpilot browser "));
    let documented: Vec<&str> = documented.map(|name| name.trim_end_matches('`')).chain(["help"]).collect();
    assert_eq!(listed, documented);
    assert!(program.run(&["supervise", "--help", "--json"]).json()["help"].as_str().unwrap().contains("--cdp-url"));
}

#[test]
fn completions_are_generated_for_every_shell() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let made = program.run(&["completions", shell]);
        assert_eq!(made.code, Some(0), "{shell} {made:?}");
        assert!(made.stdout.contains("cdpilot"), "{shell}");
    }
    let made = program.run(&["completions", "bash", "--json"]).json();
    assert_eq!((&made["ok"], &made["shell"]), (&json!(true), &json!("bash")));
    assert!(made["script"].as_str().unwrap().contains("cdpilot"));
}

#[test]
fn a_closed_stdout_is_no_error() {
    let program = env!("CARGO_BIN_EXE_cdpilot");
    let script = format!("{program} completions zsh | true; echo ${{PIPESTATUS[0]}}");
    let Ok(ran) = std::process::Command::new("bash").args(["-c", &script]).output() else { return };
    assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "0");
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
}

#[test]
fn a_missing_browser_is_status_3() {
    let program = Program::new().env("CDPILOT_BROWSER", NOWHERE);
    for args in [&["demo"] as &[&str], &["supervise", "--launch"]] {
        let text = program.run(args);
        assert_eq!(text.code, Some(3), "{args:?} {text:?}");
        assert!(text.stdout.is_empty() && text.stderr.contains(NOWHERE), "{args:?} {text:?}");
        let response = program.run(&[args, &["--json"]].concat());
        assert_eq!(
            (response.code, &response.json()["code"]),
            (Some(3), &json!("BROWSER_NOT_RUNNING")),
            "{args:?} {response:?}"
        );
    }
    // A flag comes before the variable.
    let flag = Program::new().run(&["demo", "--browser", "/nonexistent/other", "--json"]);
    assert_eq!(flag.code, Some(3));
    assert!(flag.json()["error"].as_str().unwrap().contains("/nonexistent/other"));
    program.assert_nothing_left();
}

#[test]
fn an_unreachable_endpoint_is_status_3_without_its_secret() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("ws://someone:pa55word@127.0.0.1:{port}/devtools/browser/t0ken");
    let by_variable = Program::new().env("CDPILOT_CDP_URL", &url);
    for ran in [
        Program::new().run(&["supervise", "--json", "--cdp-url", &url]),
        by_variable.run(&["supervise", "--json", "-v"]),
    ] {
        assert_eq!((ran.code, &ran.json()["code"]), (Some(3), &json!("BROWSER_NOT_RUNNING")), "{ran:?}");
        assert!(!format!("{ran:?}").contains("pa55word") && !format!("{ran:?}").contains("t0ken"), "{ran:?}");
    }
    let not_one = Program::new().run(&["supervise", "--json", "--cdp-url", "ftp://localhost"]);
    assert_eq!((not_one.code, &not_one.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{not_one:?}");
    let error = not_one.json()["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("--cdp-url: \"ftp://localhost\" is not the address of a browser"), "{error}");
}

#[test]
fn the_doctor_reports_problems() {
    let program = Program::new().env("CDPILOT_BROWSER", NOWHERE).env("CDPILOT_HOME", "/dev/null/home");
    let ran = program.run(&["doctor", "--json"]);
    let response = ran.json();
    assert_eq!((ran.code, &response["ok"]), (Some(1), &json!(false)), "{response}");
    assert_eq!(response["code"], "BROWSER_NOT_RUNNING");
    for id in ["browser", "home"] {
        let check = response["checks"].as_array().unwrap().iter().find(|check| check["id"] == id).unwrap();
        assert_eq!(check["status"], "fail", "{check}");
        assert!(check["fixHint"].is_string(), "{check}");
    }
    let text = program.run(&["doctor"]);
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.contains("FAIL browser") && text.stdout.is_ascii(), "{text:?}");
}

#[test]
fn the_doctor_passes_with_a_browser() {
    if !has_browser() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let new = home.path().join("new");
    let program = Program::new().env("CDPILOT_HOME", new.to_str().unwrap());
    let response = program.run(&["doctor", "--json"]).json();
    assert_eq!(response["ok"], true, "{response}");
    let checks = response["checks"].as_array().unwrap();
    for check in checks {
        assert!(["pass", "warn"].iter().any(|status| check["status"] == *status), "{check}");
        assert!(check["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{check}");
        assert_eq!(check["fixHint"].is_string(), check["status"] == "warn", "{check}");
    }
    let launch = checks.iter().find(|check| check["id"] == "launch").unwrap();
    assert!(launch["summary"].as_str().unwrap().contains("Chrome/"), "{launch}");
    assert!(!new.exists(), "the home is looked at, not made");
    program.assert_nothing_left();
}

#[test]
fn install_prints_the_commands_it_would_run() {
    let response = Program::new().run(&["install", "--dry-run", "--json"]);
    match response.code {
        Some(0) => assert!(!response.json()["commands"].as_array().unwrap().is_empty(), "{response:?}"),
        // There is no package manager that it knows.
        _ => assert_eq!(response.json()["code"], "NOT_FOUND"),
    }
    if has_browser() {
        let target = Program::new().run(&["install", "--json"]).json();
        assert_eq!((&target["ok"], &target["installed"]), (&json!(true), &json!(false)));
        assert_eq!(target["commands"], json!([]));
    }
    let named = Program::new().env("CDPILOT_BROWSER", NOWHERE).run(&["install", "--json"]);
    assert_eq!(named.code, Some(3), "nothing is installed beside a wish that cannot be met: {named:?}");
}

#[test]
fn the_demo_verifies_every_step() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let picture = program.temp.path().join("shot.png");
    let ran = program.run(&["demo", "--json", "--screenshot", picture.to_str().unwrap()]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (Some(0), &json!(true)), "{ran:?}");
    assert!(report["browser"].as_str().unwrap().starts_with("Chrome/"), "{report}");
    let ids: Vec<_> = report["steps"].as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap()).collect();
    let all =
        ["sites", "browser", "frames", "dialogs_top", "dialogs_innermost", "blocked", "titles", "screenshot", "stop"];
    assert_eq!(ids, all);

    let children = report["frame_tree"]["children"].as_array().unwrap();
    let mut apart: Vec<_> = children.iter().map(|frame| frame["is_oopif"].as_bool().unwrap()).collect();
    apart.sort_unstable();
    assert_eq!(apart, [false, true, true], "{children:?}");
    let got: Vec<_> = report["dialogs"].as_array().unwrap().iter().map(|dialog| dialog["page_got"].clone()).collect();
    assert_eq!(json!(got), json!([null, true, "Ada Lovelace", null, false, "grüße-2024 ☂"]));
    let titles: Vec<_> = report["titles"].as_array().unwrap().iter().map(|frame| frame["title"].clone()).collect();
    assert_eq!(json!(titles), json!(["Order desk", "Notes", "Partner shop", "Payment"]));
    assert!(step(&report, "stop")["detail"].as_str().unwrap().contains("0 left"), "{report}");

    let bytes = std::fs::read(&picture).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000);
    std::fs::remove_file(&picture).unwrap();
    program.assert_nothing_left();
}

#[test]
fn the_demo_prints_plain_text_when_piped() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let ran = program.run(&["demo"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("[9/9]") && ran.stdout.contains("all steps passed"), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('✓') && ran.stderr.is_empty(), "{ran:?}");
    let (files, processes) = program.left_behind(1);
    assert!(files.len() == 1 && files[0].extension().is_some_and(|e| e == "png"), "the picture is kept: {files:?}");
    assert!(processes.is_empty(), "{processes:?}");
}

#[test]
fn the_demo_of_recordings_verifies_every_step() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let folder = program.temp.path().join("results");
    let ran = program.run(&["demo", "record", "--json", "--headless", "--out", folder.to_str().unwrap()]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (Some(0), &json!(true)), "{ran:?}");
    let ids: Vec<_> = report["steps"].as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap()).collect();
    let all = ["site", "browser", "server", "start", "basket", "quantity", "locker", "card", "end", "results", "stop"];
    assert_eq!(ids, all);
    assert!(step(&report, "stop")["detail"].as_str().unwrap().starts_with("0 processes left"), "{report}");

    let draft: Vec<_> = report["draft"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(draft.iter().any(|line| line.contains("Add to basket")), "{draft:?}");
    let made = |name: &str| -> Vec<_> {
        report[name].as_array().unwrap().iter().map(|path| std::fs::read(path.as_str().unwrap()).unwrap()).collect()
    };
    let (pictures, exports) = (made("keyframes"), made("exports"));
    assert!(!pictures.is_empty() && pictures.iter().all(|bytes| bytes.starts_with(&[0xff, 0xd8, 0xff])));
    assert!(exports.len() == 2 && exports.iter().all(|bytes| serde_json::from_slice::<Value>(bytes).is_ok()));
    std::fs::remove_dir_all(&folder).unwrap();
    program.assert_nothing_left();
}

#[test]
fn a_failing_demo_reports_it_and_cleans_up() {
    if !has_browser() {
        return;
    }
    let program = Program::new();
    let ran = program.run(&["demo", "--json", "--screenshot", "/nonexistent/folder/shot.png"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"], &report["code"]), (Some(1), &json!(false), &json!("INTERNAL")), "{ran:?}");
    assert_eq!(step(&report, "screenshot")["ok"], false);
    assert_eq!(step(&report, "stop")["ok"], true);
    program.assert_nothing_left();
}
