//! A full disk: nothing that was acknowledged is lost, and what cannot be written is an error that says why.
//!
//! The home lies on a small file system of its own, which the test mounts in a mount namespace: it runs this test binary
//! once more inside `unshare`. Where the system allows no such namespace the test says so, and `make faults` fails.
#![allow(clippy::print_stdout, clippy::print_stderr)] // figures, and a skipped test must not go unseen

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cdpilot::sync::pause;
use serde_json::{Value, json};

use crate::cli_run::{Program, Ran, has_browser};
use crate::support::api::TestServer;
use crate::support::site::{Answer, Held, Site};
use crate::support::streaming_model::{Script, StreamingModel};

/// Set in the process that has the small disk, to its folder.
const DISK: &str = "CDPILOT_TEST_DISK";
const MOUNT: &str = r#"mount -t tmpfs -o size=200m,mode=700 tmpfs "$0" && exec "$@""#;

/// Runs a test of this file with a small disk. `false` when the system does not allow that.
fn with_disk(name: &str) -> bool {
    let folder = tempfile::Builder::new().prefix("disk-").tempdir().unwrap();
    let how = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let possible = Command::new("unshare").args([how, "sh", "-c", MOUNT]).arg(folder.path()).arg("true").status();
    if !possible.is_ok_and(|status| status.success()) {
        let required = std::env::var("CDPILOT_REQUIRE_NAMESPACES").is_ok_and(|value| value == "1");
        assert!(!required, "CDPILOT_REQUIRE_NAMESPACES=1, but no file system can be mounted in a namespace here");
        eprintln!("SKIPPED, no file system can be mounted in a namespace here: {name}");
        return false;
    }
    let module = module_path!().split_once("::").unwrap().1;
    let status = Command::new("unshare")
        .args([how, "sh", "-c", MOUNT])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args([&format!("{module}::{name}"), "--exact", "--nocapture", "--test-threads=1"])
        .env(DISK, folder.path())
        .env("TMPDIR", folder.path())
        .status()
        .unwrap();
    assert!(status.success(), "{name} failed on its small disk");
    true
}

/// Takes all the space that is left.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 20, 4096, 1] {
        let block = vec![b'x'; size];
        while file.write_all(&block).is_ok() {}
    }
}

/// Whether an error says in plain words that the disk is full.
fn says_full(ran: &Ran) -> bool {
    let response = format!("{}{}", ran.stdout, ran.stderr).to_lowercase();
    response.contains("disk is full") || response.contains("no space left")
}

#[test]
fn a_full_disk_loses_nothing_acknowledged() {
    if !has_browser() {
        return;
    }
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        with_disk("a_full_disk_loses_nothing_acknowledged");
        return;
    };
    let program = Program::new();
    let home = program.temp.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("config.yaml"), "server: {port: 0}\nbrowser: {cdp_port: 0, headless: true}\n").unwrap();
    let program = program.env("CDPILOT_HOME", home.to_str().unwrap());
    let site = Site::start();
    site.page("/", "<title>Here</title><p>Here<a id=d href='/file' download>File</a>");
    site.put("/file", Answer::bytes("application/octet-stream", b"complete".repeat(200_000)));
    let run = |line: &str| program.run(&line.split(' ').collect::<Vec<_>>());
    let does = |line: &str| {
        let ran = run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    };
    does(&format!("browser open {}", site.url("a", "/")));
    does("browser label t1 kept");
    does("browser profiles create kept --color #112233");
    let mut files = vec![
        does("browser screenshot --json").json()["path"].as_str().unwrap().to_owned(),
        does("browser pdf --json").json()["path"].as_str().unwrap().to_owned(),
    ];
    does("browser click --selector #d");
    files.push(does("browser download --json").json()["download"]["path"].as_str().unwrap().to_owned());
    let contents: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    let server = fs::read_to_string(home.join("run/server.json")).unwrap();

    let filler = disk.join("filler");
    fill(&filler);
    // Everything that writes something of the home's.
    let mut acknowledged = Vec::new();
    for line in
        ["browser profiles create lost", "browser screenshot --json", "browser pdf --json", "browser label t1 full"]
    {
        let ran = run(line);
        println!("full disk, {line}: {ran:?}");
        if ran.code == Some(0) {
            acknowledged.push((line, ran.stdout));
        } else {
            assert!(says_full(&ran), "{line}: {ran:?}");
        }
    }
    let clicked = run("browser click --selector #d --json");
    let download = run("browser download --timeout 8000 --json");
    println!("full disk, click on a download: {clicked:?}\ndownload: {download:?}");
    assert!(download.json()["download"]["state"] == "canceled" && says_full(&download), "{download:?}");
    // What needs no disk works.
    assert_eq!(does("browser evaluate 6*7").stdout.trim(), "42");
    assert!(does("browser text").stdout.contains("Here"));
    let (stopped, started) = (run("browser stop"), run("browser start"));
    println!("full disk, stop: {stopped:?}\nstart: {started:?}");
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(started.code == Some(0) || says_full(&started), "{started:?}");
    let doctor = run("doctor");
    println!("full disk, doctor: {doctor:?}");
    assert!(doctor.stdout.contains("has 0 MiB of free space") || says_full(&doctor), "{doctor:?}");

    fs::remove_file(&filler).unwrap();
    for (path, content) in files.iter().zip(&contents) {
        assert!(fs::read(path).unwrap() == *content, "{path} has changed");
    }
    for (line, response) in acknowledged {
        let response: serde_json::Value = serde_json::from_str(&response).unwrap_or_default();
        if let Some(path) = response["path"].as_str() {
            assert!(fs::metadata(path).unwrap().len() > 100, "{line}: {response}");
        }
    }
    let profiles = does("browser profiles --json").stdout;
    assert!(profiles.contains("kept") && profiles.contains("#112233") && !profiles.contains("lost"), "{profiles}");
    assert_eq!(fs::read_to_string(home.join("run/server.json")).unwrap(), server, "it served on");
    does("browser start");
    does(&format!("browser open {}", site.url("a", "/")));
    assert!(fs::metadata(does("browser screenshot --json").json()["path"].as_str().unwrap()).unwrap().len() > 100);
    does("serve --stop");
    let profiles = does("browser profiles --json").stdout;
    assert!(profiles.contains("#112233") && !profiles.contains("lost"), "after a restart: {profiles}");
    does("serve --stop");
}

#[test]
fn a_conversation_that_cannot_be_stored_says_so_and_is_resumed() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        with_disk("a_conversation_that_cannot_be_stored_says_so_and_is_resumed");
        return;
    };
    let held = Held::default();
    let gate = held.clone();
    let model = StreamingModel::answering(move |_| {
        gate.wait();
        Script::stream().text("The answer.").done()
    });
    let served = TestServer::with(|_, _| {}); // its home is on the small disk
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    let created = served.api.post("/agent/conversations", &json!({ "toolsets": ["todo"] })).ok();
    let route = format!("/agent/conversations/{}", created["conversation_id"].as_str().unwrap());
    let text = json!({ "text": "Go." }).to_string();
    let _stream = served.api.events_of("POST", &format!("{route}/messages"), Some(&text), "");
    let shown = || served.api.get(&route).ok()["conversation"].clone();
    let until = |is: &dyn Fn(&Value) -> bool| {
        let deadline = crate::support::soon();
        loop {
            let now = shown();
            if is(&now) {
                return now;
            }
            assert!(!deadline.passed(), "{now:#}");
            pause(Duration::from_millis(20)); // the state is not pushed to those who ask for it
        }
    };
    until(&|now| now["held_up"]["state"] == "model");
    let filler = disk.join("filler");
    fill(&filler);
    held.release();
    let full = until(&|now| now["held_up"]["state"] == "storage");
    assert_eq!(full["status"], "error", "{full:#}");
    assert!(full["held_up"]["help"].as_str().unwrap().contains("Free space"), "{full:#}");
    // Even this cannot be stored.
    let refused = served.api.post(&format!("{route}/resume"), &json!({}));
    println!("full disk, resume: {refused:?}");
    fs::remove_file(&filler).unwrap();
    served.api.post(&format!("{route}/resume"), &json!({})).ok();
    let ended = until(&|now| now["status"] == "idle" && now["unfinished"] == false);
    assert!(ended["held_up"].is_null(), "{ended:#}");
    let events = served.api.get(&format!("{route}/events")).ok().to_string();
    assert!(events.contains("The answer."), "{events}");
}
