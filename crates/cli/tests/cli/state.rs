//! `cdpilot state`: login states in files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::support::site::Site;

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> u32 {
    0o600
}

fn said(value: &Value, words: &str) {
    assert!(value["error"].as_str().is_some_and(|error| error.contains(words)), "{words}: {value}");
}

#[test]
fn a_login_state_is_saved_to_and_loaded_from_a_file() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Desk</title>");
    let folder = at.program.temp.path().join("states");
    fs::create_dir(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let asks = |args: &[&str]| {
        let ran = at.run(&[&["browser"], args, &["--json"]].concat());
        (ran.code, ran.json())
    };
    let evaluate = |script: &str| asks(&["evaluate", script]).1["result"].clone();
    assert_eq!(asks(&["navigate", &site.url("a", "/")]).0, Some(0));
    evaluate("localStorage.setItem('token', 's3cret'), 1");

    let plain = path("plain.json");
    let (code, saved) = asks(&["state", "save", &plain]);
    assert_eq!((code, &saved["path"]), (Some(0), &json!(plain)), "{saved}");
    assert!(!saved.to_string().contains("s3cret"), "{saved}");
    let text = fs::read_to_string(&plain).unwrap();
    assert!(text.contains("s3cret") && text.contains("\"format\":\"cdpilot-state\""), "{text}");
    assert_eq!(mode(Path::new(&plain)), 0o600);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["plain.json"], "no half-written file is left");

    evaluate("localStorage.clear(), 1");
    let ran = at.run(&["browser", "state", "load", &plain]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(&site.url("a", "")) && !ran.stdout.contains("s3cret"), "{ran:?}");
    assert_eq!(evaluate("localStorage.token"), "s3cret");

    // One that an earlier version encrypted.
    let sealed = path("sealed.json");
    fs::write(&sealed, r#"{"format":"cdpilot-state-encrypted","version":1,"data":"AAAA"}"#).unwrap();
    let (code, response) = asks(&["state", "load", &sealed]);
    assert_eq!((code, &response["code"]), (Some(1), &json!("PATH_REFUSED")), "{response}");
    said(&response, "without --encrypt");

    // A file that is something else is kept.
    let precious = path("precious.txt");
    fs::write(&precious, "precious").unwrap();
    let (code, response) = asks(&["state", "save", &precious]);
    assert_eq!((code, &response["code"]), (Some(1), &json!("PATH_REFUSED")));
    said(&response, "--force");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(asks(&["state", "save", &precious, "--force"]).0, Some(0));
    let origin = site.url("a", "");
    assert_eq!(asks(&["state", "save", &sealed, "--origin", &origin]).0, Some(0), "a state is overwritten");
    for (name, text, exit) in [("no.json", "{}", 2), ("no.txt", "text", 1), ("list.json", "[1]", 1)] {
        fs::write(path(name), text).unwrap();
        let (code, response) = asks(&["state", "load", &path(name)]);
        assert_eq!(code, Some(exit), "{name} {response}");
    }
    said(&asks(&["state", "load", &path("missing")]).1, "cannot read");
}
