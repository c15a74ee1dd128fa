//! Commands and dialogs: blocked commands, armed answers, file choosers, and pages that do not load.

use std::fs;
use std::net::TcpListener;

use serde_json::json;

use crate::cli_browser_real::AtHome;
use crate::support::site::{Answer, Site};

/// Asks before it is left, once somebody has clicked.
const DRAFT: &str = "<title>Draft</title><button id=b onclick=\"window.addEventListener('beforeunload', e => e.preventDefault())\">Edit</button>\
    <a id=away href='/'>Away</a>";

#[test]
fn unsaved_changes_stop_every_navigation_at_once() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title>");
    site.page("/draft", DRAFT);
    let (home, draft) = (site.url("a", "/"), site.url("a", "/draft"));
    at.does(&format!("navigate {home}"));
    let edit = || {
        at.does(&format!("navigate {draft}"));
        at.does("click --selector #b");
    };
    edit();
    for line in ["reload", "reload --until none", "back", &format!("navigate {home}")] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = at.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""), "{line}: {ran:?}");
        assert!(ran.stderr.contains("leave this page?") && ran.stderr.contains(&draft), "{line}: {ran:?}");
        // It is still open: nothing else can be done, and the reason is said in words of the command line.
        let ran = at.run(&["click", "--selector", "#b"]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.stderr.contains("the tab shows a beforeunload dialog"), "{ran:?}");
        assert!(!ran.stderr.contains("Runtime.") && !ran.stderr.contains("act is"), "{ran:?}");
        at.does("dialog --dismiss");
    }
    let (code, response) = at.asks(&["reload"]);
    assert_eq!(
        (
            code,
            &response["ok"],
            &response["navigated"],
            &response["blockedByDialog"],
            &response["pending_dialogs"][0]["type"]
        ),
        (Some(4), &json!(false), &json!(false), &json!(true), &json!("beforeunload"))
    );
    // Which leaves the page when it is accepted.
    at.does("dialog --accept");
    at.does(&format!("navigate {home}"));
}

#[test]
fn output_blocked_by_a_dialog_is_not_on_stdout() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title><button id=b onclick=\"alert('hello')\">Say</button>");
    at.does(&format!("navigate {}", site.url("a", "/")));
    // A click is done when it opens a dialog.
    assert!(at.does("click --selector #b").contains("hello"));
    at.does("dialog --accept");
    for (command, code) in [(&["evaluate", "prompt('your name')"][..], 0), (&["snapshot"], 0), (&["text"], 4)] {
        let ran = at.run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{command:?}: {ran:?}");
        assert!(ran.stderr.contains("prompt") && ran.stderr.contains("your name"), "{command:?}: {ran:?}");
        assert!(ran.stderr.contains("--prompt TEXT"), "{command:?}: {ran:?}");
    }
    let (code, response) = at.asks(&["snapshot"]);
    assert_eq!((code, &response["ok"], &response["blockedByDialog"]), (Some(0), &json!(true), &json!(true)));
}

#[test]
fn a_page_that_does_not_load_is_a_failure() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dead = format!("http://{closed}/x");
    site.page("/", &format!("<title>Home</title><a id=dead href='{dead}'>Dead</a>"));
    let home = site.url("a", "/");
    at.does(&format!("navigate {home}"));
    let clicked = at.does("click --selector #dead");
    assert_eq!(clicked, format!("done, but the page did not load: {dead} (net::ERR_CONNECTION_REFUSED)\n"));
    let fails = |args: &[&str], address: &str, error: &str| {
        let ran = at.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(address) && ran.stderr.contains(error), "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("32000") && !ran.stderr.contains("Page.navigate"), "{args:?}: {ran:?}");
    };
    fails(&["reload"], &dead, "net::ERR_CONNECTION_REFUSED");
    fails(&["navigate", &dead], &dead, "net::ERR_CONNECTION_REFUSED");
    fails(&["open", &dead], &dead, "net::ERR_CONNECTION_REFUSED");
    let navigation = at.does(&format!("navigate {home}"));
    assert!(navigation.starts_with("done: navigated"), "{navigation}");
    fails(&["back"], &dead, "net::ERR_CONNECTION_REFUSED");
    at.does(&format!("navigate {home}"));
    let (code, response) = at.asks(&["click", "--selector", "#dead"]);
    assert_eq!(
        (code, &response["ok"], &response["url"], &response["failedLoad"]),
        (Some(0), &json!(true), &json!(dead), &json!({ "url": dead, "error": "net::ERR_CONNECTION_REFUSED" }))
    );
    at.does(&format!("navigate {home}"));
    at.does("emulate --offline");
    fails(&["reload"], &home, "net::ERR_INTERNET_DISCONNECTED");
    fails(&["navigate", &home], &home, "net::ERR_INTERNET_DISCONNECTED");
}

#[test]
fn an_armed_answer_is_listed_removed_and_reported() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title><button id=b onclick=\"t.textContent = confirm('Sure?')\">Ask</button><p id=t>");
    at.does(&format!("navigate {}", site.url("a", "/")));
    let armed = at.does("dialog --accept");
    assert!(armed.contains("120 s") && armed.contains("--disarm"), "{armed}");
    let shown = at.does("dialogs");
    assert!(shown.contains("armed for t1: accept the next dialog"), "{shown}");
    let (_, response) = at.asks(&["dialogs"]);
    let one = &response["armed_answers"][0];
    assert_eq!((&one["accept"], response["armed_answers"].as_array().unwrap().len()), (&json!(true), 1), "{response}");
    assert!(one["expires_in_ms"].as_u64().is_some_and(|left| left <= 120_000), "{response}");
    assert_eq!(at.does("dialog --disarm"), "disarmed: 1 answer\n");
    assert_eq!(at.asks(&["dialogs"]).1.get("armed_answers"), None);
    assert_eq!(at.does("dialog --disarm"), "no armed answers\n");
    let requested = at.does("click --selector #b");
    assert!(requested.starts_with("done (a dialog opened)"), "{requested}");
    at.does("dialog --dismiss");

    at.does("dialog --dismiss");
    let replaced = at.does("dialog --accept --prompt Ada");
    assert!(replaced.contains("replaces the armed answer: dismiss") && replaced.contains("is a prompt"), "{replaced}");
    let clicked = at.does("click --selector #b");
    assert!(clicked.starts_with("done (confirm \"Sure?\" accepted by the armed answer)\n"), "{clicked}");
    assert_eq!(at.asks(&["dialogs"]).1.get("armed_answers"), None);
    at.does("dialog --dismiss");
    let (_, response) = at.asks(&["click", "--selector", "#b"]);
    let answered = &response["answered_dialogs"][0];
    assert_eq!(
        (&answered["message"], &answered["accepted"], &answered["closed_by"]),
        (&json!("Sure?"), &json!(false), &json!("armed"))
    );
}

#[test]
fn a_click_reports_a_file_chooser() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title><input type=file id=f onchange=\"t.textContent = f.files[0].name\"><p id=t>");
    at.does(&format!("navigate {}", site.url("a", "/")));
    let clicked = at.does("click --selector #f");
    assert!(clicked.contains("a file chooser opened and was closed without files"), "{clicked}");
    assert!(clicked.contains("cdpilot upload FILE --ref"), "{clicked}");
    let file = at.program.temp.path().join("sample.bin");
    fs::write(&file, b"1234").unwrap();
    let ran = at.run(&["upload", file.to_str().unwrap()]);
    assert!(ran.code == Some(0) && ran.stdout.contains("120 s"), "{ran:?}");
    let clicked = at.does("click --selector #f");
    assert!(clicked.contains("file chooser opened, files set: sample.bin"), "{clicked}");
    let (_, response) = at.asks(&["click", "--selector", "#f"]);
    assert_eq!(response["fileChoosers"], json!([{ "files": [] }]), "{response}");
}

#[test]
fn session_cookies_survive_closing_the_last_tab() {
    if !crate::cli_run::has_browser() {
        return;
    }
    let (at, site) = (AtHome::new(""), Site::start());
    site.page("/", "<title>Home</title>");
    let home = site.url("a", "/");
    // Cookies are the browser's: no tab has to be open, and the browser is started.
    at.does(&format!("cookies set sid 1 --for {home}"));
    at.does(&format!("open {home}"));
    let names = |response: &serde_json::Value| response["cookies"][0]["name"].clone();
    assert_eq!(names(&at.asks(&["cookies", "list", &home]).1), "sid");
    let closed = at.does("close");
    assert!(closed.contains("it was the last tab; the empty tab t"), "{closed}");
    assert_eq!(names(&at.asks(&["cookies", "list", &home]).1), "sid");
    at.does(&format!("open {home}"));
    assert_eq!(at.does("evaluate document.cookie"), "sid=1\n");
    at.run(&["batch", "--actions", r#"[{"kind": "close"}]"#]);
    at.does(&format!("open {home}"));
    assert_eq!(at.does("evaluate document.cookie"), "sid=1\n");
}

#[test]
fn a_download_is_copied_and_listed_with_the_requests() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title><a id=d href='/file'>Get</a>");
    let file = Answer::bytes("application/octet-stream", *b"abcd");
    site.put("/file", file.header("Content-Disposition", "attachment; filename=a.bin"));
    at.does(&format!("navigate {}", site.url("a", "/")));
    at.does("click --selector #d");
    // A place that cannot be written to is refused before the download is taken.
    let missing = at.program.temp.path().join("none/copy.bin");
    let ran = at.run(&["download", "--out", missing.to_str().unwrap()]);
    assert!(ran.code == Some(1) && ran.stderr.contains("create it first"), "{ran:?}");
    let copy = at.program.temp.path().join("copy.bin");
    let printed = at.does(&format!("download --out {}", copy.display()));
    assert_eq!(printed, format!("downloaded {}\n", copy.display()));
    assert_eq!(fs::read(&copy).unwrap(), b"abcd");
    let listed = at.does("requests --filter /file");
    assert!(listed.contains("download") && !listed.contains("ERR_ABORTED"), "{listed}");
    // With nothing to wait for, the reason for the wait is printed before it is over.
    let ran = at.run(&["download", "--timeout", "1500"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("waiting for a download"), "{ran:?}");
    assert!(ran.stderr.contains("a new download (the last one, \"a.bin\", is at "), "{ran:?}");
}

#[test]
fn upload_copies_are_removed_with_the_server() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Home</title><input type=file id=f>");
    let left = at.home.uploads().join("cli-left");
    fs::create_dir_all(&left).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::open(&left).unwrap().set_modified(old).unwrap();
    let own = at.home.uploads().join("mine");
    fs::create_dir(&own).unwrap();
    at.does(&format!("navigate {}", site.url("a", "/")));
    assert!(!left.exists(), "a copy that was left");
    let file = at.program.temp.path().join("sample.bin");
    fs::write(&file, b"1234").unwrap();
    at.does(&format!("upload {}", file.display()));
    let copies = || fs::read_dir(at.home.uploads()).unwrap().count();
    assert_eq!(copies(), 2);
    at.run(&["serve", "--stop"]);
    assert!(copies() == 1 && own.exists(), "the copy of this server");
}
