//! Only processes proven to be ours are touched: correct and incorrect markers.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser_orphans::{later, temp};

/// A process that may pass for a browser, in a profile that nobody owns.
struct Case {
    temp: TempDir,
    folder: PathBuf,
    process: Child,
}

impl Case {
    /// The process leads its group and names the profile of `named` (or its own) on its command line.
    fn new(named: Option<&str>) -> Self {
        let temp = temp();
        let folder = temp.path().join("cdpilot-browser-case");
        let profile = folder.join("profile");
        fs::create_dir_all(&profile).unwrap();
        fs::write(folder.join("owner"), "").unwrap();
        let named = named.map_or_else(|| profile.display().to_string(), str::to_owned);
        let process = Command::new("/bin/sh")
            .args(["-c", "read -r _", "pretender", &format!("--user-data-dir={named}")])
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { temp, folder, process }
    }

    fn marker(&self) -> PathBuf {
        self.folder.join("profile/cdpilot-browser.json")
    }

    /// What the marker says when all of it is true and the owner is gone.
    fn truth(&self) -> Value {
        let mut owner = Command::new("true").spawn().unwrap();
        owner.wait().unwrap();
        let browser = json!({ "pid": self.process.id(), "started": started(self.process.id()) });
        json!({ "format": 1, "owner": { "pid": owner.id(), "started": "then" }, "browser": browser, "executable": "x" })
    }

    /// Clears up with this in the marker. Returns whether the process is still there, and what was reported.
    fn lives_with(&mut self, marker: &Value) -> (bool, String) {
        fs::write(self.marker(), marker.to_string()).unwrap();
        self.lives()
    }

    fn lives(&mut self) -> (bool, String) {
        let response = later("reap", self.temp.path());
        (self.process.try_wait().unwrap().is_none(), response)
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// When a process was started, as markers have it.
fn started(pid: u32) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let ticks = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(22 - 3).unwrap().to_owned();
    format!("{}/{ticks}", boot.trim())
}

fn age(folder: &Path) {
    fs::File::open(folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
}

#[test]
fn a_correct_marker_proves_ownership() {
    let mut case = Case::new(None);
    let truth = case.truth();
    let (lives, response) = case.lives_with(&truth);
    assert!(!lives && response.contains(&format!("ended: [{}]", case.process.id())), "{response}");
    assert!(!case.folder.exists());
}

#[test]
fn an_incorrect_marker_proves_nothing() {
    let mut case = Case::new(None);
    let truth = case.truth();
    let with = |path: &str, value: Value| {
        let mut marker = truth.clone();
        *marker.pointer_mut(path).unwrap() = value;
        marker
    };
    let owner = json!({ "pid": std::process::id(), "started": started(std::process::id()) });
    let untrue = [
        ("the owner lives", with("/owner", owner)),
        ("it was started at another time", with("/browser/started", "then".into())),
        ("it is another process", with("/browser/pid", std::process::id().into())),
        ("the format is another", with("/format", 2.into())),
        ("it is not a marker", json!("what?")),
    ];
    for (why, marker) in untrue {
        let (lives, response) = case.lives_with(&marker);
        assert!(lives && response.contains("ended: []"), "{why}: {response}");
    }
    // Somebody else's words: a link to them is not followed.
    let elsewhere = case.temp.path().join("words");
    fs::write(&elsewhere, truth.to_string()).unwrap();
    fs::remove_file(case.marker()).unwrap();
    symlink(&elsewhere, case.marker()).unwrap();
    let (lives, response) = case.lives();
    assert!(lives, "{response}");

    // Once it is old, it is reported, and still left alone with its folder.
    age(&case.folder);
    let (lives, response) = case.lives();
    assert!(
        lives && response.contains(&case.process.id().to_string()) && response.contains("not proven"),
        "{response}"
    );
    assert!(case.folder.exists());
    // Somebody owns the folder: not even that.
    let mark = fs::File::open(case.folder.join("owner")).unwrap();
    rustix::fs::flock(&mark, rustix::fs::FlockOperation::LockExclusive).unwrap();
    fs::remove_file(case.marker()).unwrap();
    let (lives, response) = case.lives_with(&truth);
    assert!(lives && response.contains("left: []"), "{response}");
}

#[test]
fn a_marker_requires_its_profile_on_the_command_line() {
    for named in ["/somewhere/else", "/somewhere/else --user-data-dir=", ""] {
        let mut case = Case::new(Some(named));
        let truth = case.truth();
        let (lives, response) = case.lives_with(&truth);
        assert!(lives, "{named}: {response}");
    }
    let mut case = Case::new(None);
    let longer = format!("{}-and-more", case.folder.join("profile").display());
    let other = Case::new(Some(&longer));
    let mut marker = case.truth();
    marker["browser"] = other.truth()["browser"].clone();
    let (_, response) = case.lives_with(&marker);
    assert!(response.contains("ended: []"), "{response}");
}

#[test]
fn the_doctor_reports_orphaned_browsers() {
    use crate::cli_run::Program;
    let check = |case: &Case| {
        let program = Program::new().env("TMPDIR", case.temp.path().to_str().unwrap()).env("CDPILOT_BROWSER", "/none");
        let response = program.run(&["doctor", "--json"]).json();
        response["checks"].as_array().unwrap().iter().find(|check| check["id"] == "leftovers").unwrap().clone()
    };
    let mut case = Case::new(None);
    assert_eq!(check(&case)["status"], "pass", "nothing is known of it, and it is young");
    age(&case.folder);
    let response = check(&case);
    assert_eq!(response["status"], "warn", "{response}");
    assert!(
        response["summary"].as_str().unwrap().contains("not proven") && response["fixHint"].is_string(),
        "{response}"
    );
    let truth = case.truth();
    fs::write(case.marker(), truth.to_string()).unwrap();
    let response = check(&case);
    assert!(response["status"] == "warn" && response["summary"].as_str().unwrap().contains("ended 1"), "{response}");
    assert!(case.process.wait().is_ok() && !case.folder.exists());
    assert_eq!(check(&case)["status"], "pass");
}
