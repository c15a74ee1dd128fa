//! Finding the server, exit statuses, stdout and stderr.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli_fake_server::{FakeServer, ReceivedRequest, TOKEN, ok, program};
use crate::cli_run::Program;

fn failure(code: &str) -> Value {
    json!({ "ok": false, "error": format!("it went wrong: {code}"), "code": code })
}

fn home(program: &Program) -> std::path::PathBuf {
    program.temp.path().join("home")
}

#[test]
fn error_codes_have_an_exit_status_and_advice() {
    for (code, status, exit) in [
        ("BAD_REQUEST", 400, 2),
        ("UNKNOWN_FIELD", 400, 2),
        ("TAB_NOT_FOUND", 404, 1),
        ("NAVIGATION_BLOCKED", 403, 1),
        ("STALE_REF", 409, 1),
        ("BLOCKED_BY_DIALOG", 409, 4),
        ("BROWSER_ERROR", 502, 1),
        ("BROWSER_NOT_RUNNING", 503, 3),
        ("BROWSER_DISABLED", 503, 3),
        ("TIMEOUT", 504, 1),
    ] {
        let server = FakeServer::always(status, failure(code));
        let program = server.program();
        let text = program.run(&["browser", "click", "3"]);
        assert_eq!(text.code, Some(exit), "{code} {text:?}");
        assert!(text.stdout.is_empty() && text.stderr.contains("it went wrong"), "{code} {text:?}");
        let object = program.run(&["--json", "browser", "click", "3"]);
        let mut response = object.json();
        // What to do is added for the command line.
        assert!(
            response["error"].as_str().unwrap().starts_with(failure(code)["error"].as_str().unwrap()),
            "{object:?}"
        );
        response["error"] = failure(code)["error"].clone();
        assert_eq!((object.code, response), (Some(exit), failure(code)), "{object:?}");
        assert!(object.stderr.is_empty(), "{object:?}");
    }
}

#[test]
fn a_refused_token_is_told_in_terms_of_the_command_line() {
    let server = FakeServer::always(401, failure("UNAUTHORIZED"));
    let ran = server.program().run(&["browser", "tabs"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("CDPILOT_TOKEN") && ran.stderr.contains("the file `token` in the home"), "{ran:?}");
    assert!(!ran.stderr.contains("it went wrong"), "{ran:?}");
}

#[test]
fn a_browser_that_does_not_start_is_none() {
    let mut answer = failure("BROWSER_ERROR");
    answer["details"] = json!({ "stage": "start" });
    assert_eq!(FakeServer::always(502, answer).program().run(&["browser", "start"]).code, Some(3));
}

#[test]
fn invalid_variables_are_refused() {
    for (name, value) in [("CDPILOT_LOG", "foo=bar=baz"), ("CDPILOT_NO_AUTOSTART", "maybe"), ("CDPILOT_URL", "foo")] {
        let ran = program().env(name, value).run(&["browser", "status"]);
        assert_eq!(ran.code, Some(2), "{name} {ran:?}");
        assert!(ran.stderr.contains(name), "{ran:?}");
    }
}

#[test]
fn a_blocking_dialog_is_reported_with_advice() {
    let dialog = json!({ "id": "d-1", "type": "confirm", "message": "Sure?\u{1b}[2J" });
    let mut answer = failure("BLOCKED_BY_DIALOG");
    answer["details"] = json!({ "pending_dialogs": [dialog] });
    let server = FakeServer::always(409, answer);
    let ran = server.program().run(&["browser", "click", "3"]);
    assert_eq!(ran.code, Some(4));
    assert!(ran.stderr.contains("d-1 confirm: Sure?[2J") && ran.stderr.contains("dialog --accept"), "{ran:?}");
    // One that the command opened itself is reported, and is no failure.
    let server = FakeServer::always(200, json!({ "ok": true, "blockedByDialog": true, "pending_dialogs": [dialog] }));
    for args in [&["browser", "click", "3"][..], &["-q", "browser", "click", "3"]] {
        let ran = server.program().run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("dialog d-1 confirm: Sure?") && !ran.stdout.contains('\u{1b}'), "{ran:?}");
    }
}

#[test]
fn the_token_comes_from_environment_or_home_and_is_never_printed() {
    let server = FakeServer::always(401, failure("UNAUTHORIZED"));
    let ran = server.program().env("CDPILOT_TOKEN", "other").run(&["browser", "status"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("CDPILOT_TOKEN"), "{ran:?}");
    assert_eq!(server.requested()[0].header("authorization"), Some("Bearer other"));
    let program = server.program();
    let ran = program.run(&["browser", "status", "-vv"]);
    assert_eq!(server.requested()[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert!(!format!("{ran:?}").contains(TOKEN));
    fs::remove_file(home(&program).join("token")).unwrap();
    program.run(&["browser", "status"]);
    assert_eq!(server.requested()[0].header("authorization"), None);
    fs::write(home(&program).join("token"), "no token").unwrap();
    let ran = program.run(&["browser", "status"]);
    assert_eq!((ran.code, server.requested().len()), (Some(1), 0), "{ran:?}");
    let odd = server.program().env("CDPILOT_TOKEN", "a\nb").run(&["browser", "status"]);
    assert_eq!((odd.code, server.requested().len()), (Some(2), 0), "{odd:?}");
}

#[test]
fn flags_precede_environment_variables_and_settings() {
    let [one, two, three] = [1, 2, 3].map(|number| FakeServer::always(200, json!({ "ok": true, "number": number })));
    let asks = |program: &Program, args: &[&str]| {
        program.run(&[&["--json", "browser"], args].concat()).json()["number"].clone()
    };
    let settings = program();
    let config = format!("browser: {{control_url: \"{}\"}}\n", three.url());
    fs::write(home(&settings).join("config.yaml"), &config).unwrap();
    assert_eq!(asks(&settings, &["tabs"]), 3);
    assert_eq!(asks(&settings, &["click", "1"]), 3);
    let set = program().env("CDPILOT_URL", &two.url());
    fs::write(home(&set).join("config.yaml"), &config).unwrap();
    assert_eq!(asks(&set, &["tabs"]), 2);
    assert_eq!(asks(&set, &["tabs", "--url", &one.url()]), 1);
    assert_eq!(asks(&set, &["--url", &one.url(), "tabs"]), 1);
    // Where nothing says otherwise, settings are not even read.
    fs::write(home(&set).join("config.yaml"), "browser: [").unwrap();
    assert_eq!(asks(&set, &["tabs"]), 2);
    assert_eq!(set.env("CDPILOT_URL", "").run(&["browser", "tabs"]).code, Some(1));
    // The address of a page and that of the server beside each other.
    let ran = program().run(&["--url", &one.url(), "browser", "wait", "--url", "**/x"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(one.requested().last().unwrap().body["url"], "**/x");
}

#[test]
fn profile_and_timeout_can_come_from_the_environment() {
    let server = FakeServer::always(200, ok());
    let program = server.program().env("CDPILOT_PROFILE", "work").env("CDPILOT_TIMEOUT_MS", "700");
    assert_eq!(program.run(&["browser", "press", "a"]).code, Some(0));
    assert_eq!(program.run(&["browser", "press", "a", "--profile", "b", "--timeout", "5000"]).code, Some(0));
    let requested = server.requested();
    assert_eq!((requested[0].url.as_str(), &requested[0].body["timeoutMs"]), ("/act?profile=work", &json!(700)));
    assert_eq!((requested[1].url.as_str(), &requested[1].body["timeoutMs"]), ("/act?profile=b", &json!(5000)));
}

#[test]
fn an_unreachable_server_is_status_3_and_starts_nothing() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}");
    for args in [
        vec!["browser", "click", "3", "--url", &url],
        vec!["browser", "status", "--url", &url],
        vec!["ui", "--url", &url],
    ] {
        let program = program();
        let ran = program.run(&args);
        assert_eq!(ran.code, Some(3), "{args:?} {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains(&url), "{args:?} {ran:?}");
        let object = program.run(&[&args[..], &["--json"]].concat());
        assert_eq!((object.code, &object.json()["code"]), (Some(3), &json!("BROWSER_NOT_RUNNING")), "{object:?}");
        assert!(!home(&program).join("run").exists(), "{args:?}");
    }
    // Nor for a home whose browser is on another machine.
    let program = program();
    fs::write(home(&program).join("config.yaml"), "browser: {control_url: \"http://127.0.0.1.nowhere.invalid:1\"}")
        .unwrap();
    let ran = program.run(&["browser", "open", "about:blank"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!home(&program).join("run").exists());
    let ran = program.run(&["serve"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("browser.control_url"), "{ran:?}");
    // A home that nobody serves, when none may be started.
    let forbidden = crate::cli_fake_server::program();
    let config = format!("browser: {{control_url: \"{url}\"}}");
    fs::write(home(&forbidden).join("config.yaml"), config).unwrap();
    let ran = forbidden.run(&["browser", "open", "about:blank", "--no-autostart"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("cdpilot serve"), "{ran:?}");
    for command in ["status", "tabs", "dialogs"] {
        let ran = forbidden.run(&["browser", command, "--no-autostart"]);
        assert_eq!(ran.code, Some(3), "{command} {ran:?}");
    }
    // Where nothing runs there is nothing to stop.
    let ran = forbidden.run(&["browser", "stop"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "nothing to stop: no server is running\n"), "{ran:?}");
    let ran = forbidden.env("CDPILOT_NO_AUTOSTART", "1").run(&["browser", "click", "1"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn other_servers_are_recognised_and_redirects_not_followed() {
    let other = FakeServer::new(|_| (200, "{\"hello\": 1}".to_owned()));
    let ran = other.program().run(&["browser", "status", "--json"]);
    assert_eq!((ran.code, &ran.json()["code"]), (Some(3), &json!("BROWSER_NOT_RUNNING")), "{ran:?}");
    let moved = FakeServer::always(302, json!({}));
    assert_eq!(moved.program().run(&["browser", "status"]).code, Some(3));
    assert_eq!(moved.requested().len(), 1);
    for (address, word) in
        [("https://127.0.0.1:1", "https"), ("http://u:hunter2@127.0.0.1:1", "user name"), ("ftp://x", "http")]
    {
        let ran = program().run(&["browser", "status", "--url", address]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(word) && !ran.stderr.contains("hunter2"), "{ran:?}");
    }
}

#[test]
fn usage_errors_are_reported_before_any_request() {
    let server = FakeServer::always(200, ok());
    let program = server.program();
    for (line, named) in [
        ("frobnicate", "frobnicate"),
        ("clik 3", "click"),
        ("click", "REF"),
        ("click submit", "--selector"),
        ("click 3 --selector a", "--selector"),
        ("click 3 --button top", "top"),
        ("click 3 --modifiers Hyper", "Hyper"),
        ("type a b c", "c"),
        ("type nothing text", "refs look like"),
        ("type 3 text --selector a", "twice"),
        ("select 3", "values"),
        ("fill", "--fields"),
        ("fill --fields [", "not valid JSON"),
        ("fill --fields []", "empty"),
        ("fill --fields [1]", "objects"),
        ("click 3 --frame e1", "--frame"),
        ("dialog", "--accept"),
        ("dialog --accept --dismiss", "--dismiss"),
        ("dialog --dismiss --prompt x", "--prompt"),
        ("wait", "--text"),
        ("wait --state hidden", "--ref"),
        ("open word", "is not an address"),
        ("resize 0 100", "0"),
        ("screenshot --full-page --ref 3", "--ref"),
        ("screenshot --quality 0", "0"),
        ("snapshot --format xml", "xml"),
        ("snapshot --limit 5", "--format aria"),
        ("click #dlg", "'css=#dlg'"),
        ("cdp Page.enable 3", "JSON object"),
        ("cookies set a b", "--domain"),
        ("storage local set a", "VALUE"),
        ("emulate", "--device"),
        ("emulate --geo here", "latitude"),
        ("emulate --viewport wide", "1280x720"),
        ("tabs --timeout 0", "0"),
        ("profiles delete ../x", "path"),
    ] {
        let args: Vec<&str> = std::iter::once("browser").chain(line.split(' ')).collect();
        let ran = program.run(&args);
        assert_eq!(ran.code, Some(2), "{line} {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains(named), "{line} {ran:?}");
        let object = program.run(&[&args[..], &["--json"]].concat());
        assert_eq!((object.code, &object.json()["code"]), (Some(2), &json!("BAD_REQUEST")), "{line} {object:?}");
    }
    // A file that cannot be read is a failed operation.
    let ran = program.run(&["browser", "batch", "--actions-file", "/nonexistent/x"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("/nonexistent/x"), "{ran:?}");
    assert!(server.requested().is_empty());
}

#[test]
fn output_is_one_json_object_or_text_without_control_sequences() {
    let evil = "a\u{1b}]0;x\u{7}b\u{202e}c\u{9b}2J";
    let answer = move |requested: &ReceivedRequest| {
        let tab = json!({ "targetId": "ABCDEF0123456789", "tabId": "t1", "label": "main", "title": evil, "url": "http://a/",
            "type": "page", "active": true });
        let response = match requested.url.split('?').next().unwrap() {
            "/tabs" => json!({ "ok": true, "running": true, "tabs": [tab] }),
            "/snapshot" => {
                json!({ "ok": true, "snapshot": format!("- button \"{evil}\" [ref=e1]\n- link"), "refs": {} })
            }
            "/console" => {
                json!({ "ok": true, "messages": [{ "level": "error", "text": evil, "url": "http://a/x.js", "line": 3 }] })
            }
            "/act" => json!({ "ok": true, "result": evil, "navigated": true, "url": evil }),
            _ => json!({ "ok": true }),
        };
        (200, response.to_string())
    };
    let server = FakeServer::new(answer);
    let program = server.program();
    for args in [&["tabs"][..], &["snapshot"], &["console"], &["evaluate", "1"], &["click", "1"]] {
        let args = [&["browser"], args].concat();
        let ran = program.run(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.stdout.contains(bad) && !ran.stderr.contains(bad) && ran.stdout.contains('b'), "{ran:?}");
        let object = program.run(&[&args[..], &["--json"]].concat());
        // Escaped inside of the JSON, and still the same value.
        assert!(!object.stdout.contains(bad) && object.json().to_string().contains('\u{202e}'), "{object:?}");
        assert!(object.stdout.contains(r"b\u202ec\u009b2J"), "{object:?}");
        assert_eq!(object.json()["ok"], true, "{object:?}");
        assert!(object.stderr.is_empty(), "{object:?}");
    }
    // The text of a snapshot alone, to the letter.
    let ran = program.run(&["browser", "snapshot"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("- button \"a]0;xbc2J\" [ref=e1]\n- link\n", ""));
    let tabs = program.run(&["browser", "tabs"]).stdout;
    assert!(tabs.contains("t1") && tabs.contains("main") && tabs.contains("http://a/"), "{tabs}");
}

#[test]
fn a_batch_with_a_failed_action_fails() {
    let response = |results: Value, failed: u64| {
        FakeServer::always(200, json!({ "ok": true, "results": results, "failed": failed }))
    };
    let run = |server: &FakeServer| server.program().run(&["browser", "batch", "--actions", r#"[{"kind": "click"}]"#]);
    assert_eq!(run(&response(json!([{ "ok": true }]), 0)).code, Some(0));
    let ran = run(&response(json!([{ "ok": true }, { "ok": false, "code": "STALE_REF", "error": "gone" }]), 1));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.ends_with("2: failed: gone\n"), "{ran:?}");
    assert_eq!(run(&response(json!([{ "ok": false, "code": "BLOCKED_BY_DIALOG", "error": "x" }]), 1)).code, Some(4));
}

#[test]
fn long_lists_can_be_read_from_files() {
    let server = FakeServer::always(200, ok());
    let program = server.program();
    let file = program.temp.path().join("list.json");
    fs::write(&file, r#"[{"kind": "press", "key": "a"}]"#).unwrap();
    let path = file.to_str().unwrap();
    assert_eq!(program.run(&["browser", "batch", "--actions-file", path]).code, Some(0));
    fs::write(&file, r#"[{"ref": "@e4", "value": "x"}]"#).unwrap();
    assert_eq!(program.run(&["browser", "fill", "--fields-file", path]).code, Some(0));
    let requested = server.requested();
    assert_eq!(requested[0].body["actions"], json!([{ "kind": "press", "key": "a" }]));
    assert_eq!(requested[1].body["fields"], json!([{ "ref": "e4", "value": "x" }]));
    // Standard input is empty here.
    assert_eq!(program.run(&["browser", "fill", "--fields", "-"]).code, Some(2));
    fs::write(&file, "x".repeat((1 << 20) + 1)).unwrap();
    let ran = program.run(&["browser", "fill", "--fields-file", path]);
    assert!(ran.code == Some(2) && ran.stderr.contains("1 MiB"), "{ran:?}");
}

#[test]
fn output_files_are_written_to_the_requested_path() {
    let made = tempfile::NamedTempFile::new().unwrap();
    fs::write(made.path(), "PDF").unwrap();
    let paper = made.path().to_str().unwrap().to_owned();
    let server = FakeServer::new(move |requested| {
        let response = match requested.url.as_str() {
            "/screenshot" => json!({ "ok": true, "data": "UE5H", "width": 2, "height": 3 }),
            "/pdf" => json!({ "ok": true, "path": paper }),
            _ => json!({ "ok": true, "snapshot": "- link" }),
        };
        (200, response.to_string())
    });
    let program = server.program();
    for (command, content) in [("screenshot", "PNG"), ("pdf", "PDF"), ("snapshot", "- link\n")] {
        let out = program.temp.path().join(command);
        let ran = program.run(&["browser", command, "--out", out.to_str().unwrap(), "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["path"], out.to_str().unwrap(), "{ran:?}");
        assert_eq!(fs::read_to_string(&out).unwrap(), content);
    }
    assert_eq!(server.requested()[0].body, json!({ "inline": true }));
    // The extension says the format; a contradiction is an error before anything is requested.
    for (name, kind) in [("x.jpg", "jpeg"), ("x.JPEG", "jpeg"), ("x.png", "png")] {
        let out = program.temp.path().join(name);
        let ran = program.run(&["browser", "screenshot", "-o", out.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let body = &server.requested()[0].body;
        assert_eq!(
            (&body["inline"], body.get("type").unwrap_or(&json!("png"))),
            (&json!(true), &json!(kind)),
            "{name}"
        );
    }
    for (name, kind) in [("y.png", "jpeg"), ("y.jpg", "png")] {
        let out = program.temp.path().join(name);
        let ran = program.run(&["browser", "screenshot", "-o", out.to_str().unwrap(), "--type", kind]);
        assert!(ran.code == Some(2) && ran.stderr.contains("--type") && !out.exists(), "{ran:?}");
    }
    assert!(server.requested().is_empty());
    let ran = program.run(&["browser", "screenshot", "-o", "/nonexistent/x.png"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn uploads_are_copied_and_files_of_the_home_are_refused() {
    let server = FakeServer::always(200, ok());
    let program = server.program();
    let home = home(&program);
    let file = program.temp.path().join("my report.txt");
    fs::write(&file, "report").unwrap();
    let upload = |path: &Path| program.run(&["browser", "upload", path.to_str().unwrap(), "--ref", "4", "--json"]);
    let ran = upload(&file);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let requested = server.requested();
    assert_eq!((requested[0].url.as_str(), &requested[0].body["ref"]), ("/hooks/file-chooser", &json!("e4")));
    let copy = Path::new(requested[0].body["paths"][0].as_str().unwrap()).to_owned();
    assert!(copy.starts_with(home.join("uploads")) && copy.ends_with("my report.txt"), "{copy:?}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "report");
    // What is below uploads/ already may go again.
    assert_eq!(upload(&copy).code, Some(0));
    server.requested();
    let mut secrets = vec![home.join("token"), home.join("uploads/../token"), home.join("profiles/x")];
    fs::write(home.join("profiles/x"), "cookies").unwrap();
    #[cfg(unix)]
    {
        let [soft, hard] = ["soft", "hard"].map(|name| program.temp.path().join(name));
        std::os::unix::fs::symlink(home.join("token"), &soft).unwrap();
        fs::hard_link(home.join("token"), &hard).unwrap();
        secrets.extend([soft, hard]);
        for name in ["cdpilot.db", "cdpilot.db-wal", "cdpilot.db-shm"] {
            let (own, link) = (home.join(name), program.temp.path().join(name));
            fs::write(&own, "conversations").unwrap();
            fs::hard_link(&own, &link).unwrap();
            secrets.extend([own, link]);
        }
    }
    secrets.extend([program.temp.path().join("none"), program.temp.path().to_owned()]);
    for secret in secrets {
        let ran = upload(&secret);
        assert_eq!((ran.code, &ran.json()["code"]), (Some(1), &json!("PATH_REFUSED")), "{secret:?} {ran:?}");
    }
    assert!(server.requested().is_empty());
}

#[test]
fn frames_are_listed_below_their_parents() {
    let frame = |id: &str, parent: &str, oopif: bool| {
        let url = format!("http://{}/", id.to_lowercase());
        json!({ "frame_id": id, "url": url, "origin": "", "is_oopif": oopif, "parent_frame_id": parent })
    };
    let children = [frame("A", "T", false), frame("B", "T", true), frame("A1", "A", false), frame("A2", "A1", true)];
    let tree = json!({ "top": { "frame_id": "T", "url": "http://t/" }, "children": children, "truncated": false });
    let server = FakeServer::always(200, json!({ "ok": true, "frame_tree": tree }));
    let ran = server.program().run(&["browser", "frames", "--full"]);
    let expected = "T  http://t/\n  A  http://a/\n    A1  http://a1/\n      A2  http://a2/ (own process)\n  B  http://b/ (own process)\n";
    assert_eq!(ran.stdout, expected, "{ran:?}");
}

#[test]
fn an_upload_prints_files_and_outcome() {
    let element = json!({ "ref": "e4", "role": "button", "name": "CV\u{1b}[2J" });
    let done =
        json!({ "ok": true, "armed": false, "targetId": "T", "files": ["a.txt"], "count": 1, "element": element });
    let armed =
        json!({ "ok": true, "armed": true, "armedForMs": 9, "targetId": "T", "files": ["a.txt", "b.txt"], "count": 2 });
    for (answer, expected) in [
        (done, "uploaded a.txt to button \"CV[2J\" [ref=e4]\n"),
        (
            armed,
            "armed 2 files (a.txt, b.txt) for the next file chooser of the tab; click the element that opens it within 1 s\n",
        ),
    ] {
        let server = FakeServer::always(200, answer);
        let program = server.program();
        let file = program.temp.path().join("a.txt");
        fs::write(&file, "a").unwrap();
        let ran = program.run(&["browser", "upload", file.to_str().unwrap()]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), expected), "{ran:?}");
    }
}

#[test]
fn omitted_parts_of_a_snapshot_are_reported() {
    for (flag, response) in
        [("loading", "has not answered yet"), ("full", "full snapshot"), ("truncated", "there is more")]
    {
        let server = FakeServer::always(200, json!({ "ok": true, "snapshot": "- link", flag: true }));
        let ran = server.program().run(&["browser", "snapshot"]);
        assert!(ran.stdout == "- link\n" && ran.stderr.contains(response), "{ran:?}");
    }
}

#[test]
fn events_are_streamed() {
    let stream = ": hello\n\nevent: console\nid: a1-4\ndata: {\"seq\":4,\"ts\":1.5,\"type\":\"console\",\"text\":\"a\\u001bb\"}\n\n\
                  event: navigated\nid: 5\ndata: {\"seq\":5,\"ts\":2,\"type\":\"navigated\",\"url\":\"http://a/\"}\n\n";
    let server = FakeServer::new(move |_| (200, stream.to_owned()));
    let program = server.program();
    let ran = program.run(&["browser", "events", "--count", "2", "--json", "--since", "3", "--target", "t1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["seq"], &lines[1]["type"]), (2, &json!(4), &json!("navigated")));
    let requested = server.requested();
    assert_eq!(
        (requested[0].url.as_str(), requested[0].header("last-event-id")),
        ("/events?since=3&targetId=t1", None)
    );
    assert_eq!(lines[0]["eventId"], "a1-4");
    assert_eq!(requested[0].header("accept"), Some("text/event-stream"));
    let text = program.run(&["browser", "events", "--type", "navigated", "--count", "1"]);
    assert!(text.stdout.contains("5 navigated") && text.stdout.contains("http://a/"), "{text:?}");
    // It ends before there were so many.
    assert_eq!(program.run(&["browser", "events", "--count", "9"]).code, Some(3));
}

#[test]
fn the_ui_is_opened_with_a_ticket() {
    let server = FakeServer::always(200, json!({ "ok": true, "ticket": "t", "url": "http://127.0.0.1:1/?ticket=t" }));
    let ran = server.program().run(&["ui", "--profile", "x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "http://127.0.0.1:1/?ticket=t\n"), "{ran:?}");
    assert_eq!((server.requested()[0].url.as_str()), "/ui/ticket");
}
