//! Browsers whose owner is killed: none is left, whatever state it is in.
//!
//! The owner is this test binary once more, which holds a browser until it is killed. Each has a folder
//! for temporary files of its own, so that what is found there is its doing, and nobody else clears up.
#![allow(clippy::print_stdout)] // helper processes report, and figures

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use cdpilot::browser::{BrowserProcess, TransportKind, reap};
use cdpilot::cdp::protocol::runtime::Evaluate;
use cdpilot::cdp::protocol::target::{AttachToTarget, GetTargets};
use cdpilot::sync::{Deadline, pause};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::launched::{group, options, users_of};
#[cfg(target_os = "linux")]
use crate::support::leaks::alone;
use crate::support::leaks::rerun;
use crate::support::soon;
use crate::support::{browser_path, busy_machine};

/// So long a browser may outlive us here. What is promised is three seconds, and kept several times over:
/// the figures are printed. But the tests beside this one start twenty browsers at once, and on a machine
/// that is so busy a kill and a few small processes (the reaper is a shell script) take their time.
use crate::support::LIMIT;
const NOTHING: [PathBuf; 0] = [];

/// A folder for temporary files, with a short name: sockets are made below it.
pub(crate) fn temp() -> TempDir {
    tempfile::Builder::new().prefix("orph-").tempdir().unwrap()
}

// ---- helpers -----------------------------------------------------------------------------------

/// Not a test of its own: a process that holds a browser until it is killed.
#[test]
fn held_browser() {
    let Ok(how) = std::env::var("CDPILOT_TEST_HOLD") else { return };
    let transport = if how.contains("port") { TransportKind::Port(0) } else { TransportKind::Pipe };
    let mut options = options(transport).unwrap();
    options.user_data_dir = std::env::var_os("CDPILOT_TEST_PROFILE").map(PathBuf::from);
    if let Some(executable) = std::env::var_os("CDPILOT_TEST_EXECUTABLE") {
        options.executable = Some(executable.into());
    }
    let browser = BrowserProcess::launch(&options).unwrap();
    if how.contains("wedged") {
        wedge(&browser);
    }
    println!("held {} {}", browser.pid().unwrap(), browser.user_data_dir().unwrap().display());
    pause(Duration::from_secs(60));
}

/// Keeps the page busy for ever.
fn wedge(browser: &BrowserProcess) {
    let connection = browser.connection();
    let targets = connection.call(&GetTargets::default(), soon()).unwrap().target_infos;
    let page = targets.into_iter().find(|target| target.r#type == "page").unwrap();
    let mut attach = AttachToTarget::new(page.target_id);
    attach.flatten = Some(true);
    let session = connection.session(connection.call(&attach, soon()).unwrap().session_id.as_str());
    drop(session.send(&Evaluate::new("while (true) {}")).unwrap());
    let answer = session.call(&Evaluate::new("1"), Deadline::after(Duration::from_millis(300)));
    assert!(matches!(answer, Err(cdpilot::cdp::Error::Timeout { .. })), "{answer:?}");
}

/// Not a test of its own: a process that clears up, or starts a browser and closes it.
#[test]
fn later_start() {
    match std::env::var("CDPILOT_TEST_LATER").as_deref() {
        Ok("reap") => println!("told {:?}", reap()),
        Ok(_) => BrowserProcess::launch(&options(TransportKind::Pipe).unwrap()).unwrap().close(soon()).unwrap(),
        Err(_) => {}
    }
}

/// Runs [`later_start`] with a folder for temporary files. Returns what it reported.
pub(crate) fn later(what: &str, temp: &Path) -> String {
    let mut command = rerun(module_path!(), "later_start");
    let output = command.env("CDPILOT_TEST_LATER", what).env("TMPDIR", temp).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.split_once("told ").map(|(_, response)| response.lines().next().unwrap().to_owned()).unwrap_or_default()
}

/// A process that holds a browser.
struct Held {
    owner: Child,
    browser: u32,
    profile: PathBuf,
    temp: TempDir,
}

fn holder(how: &str, temp: &Path) -> Command {
    let mut command = rerun(module_path!(), "held_browser");
    command.env("CDPILOT_TEST_HOLD", how).env("TMPDIR", temp).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Held {
    fn new(how: &str, profile: Option<&Path>) -> Self {
        let temp = temp();
        let mut command = holder(how, temp.path());
        command.envs(profile.map(|profile| ("CDPILOT_TEST_PROFILE", profile)));
        let mut owner = command.spawn().unwrap();
        let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.split_once("held ").map(|(_, rest)| rest.to_owned())).unwrap();
        let (browser, profile) = line.split_once(' ').unwrap();
        let (browser, profile) = (browser.parse().unwrap(), PathBuf::from(profile));
        assert!(!group(browser).is_empty() && profile.exists());
        Self { owner, browser, profile, temp }
    }

    fn reaper(&self) -> u32 {
        let lines = users_of(Path::new("cdpilot-reaper"));
        let ids = lines.iter().filter_map(|line| line.split_whitespace().next()?.parse().ok());
        let members = group(self.browser);
        ids.into_iter().find(|id| members.contains(id)).expect("it has a reaper process")
    }

    /// Kills the owner (none of its code runs) and whoever else is named, at the same time.
    fn kill(&mut self, others: &[u32]) {
        signal("-KILL", [&[self.owner.id()], others].concat());
        self.owner.wait().unwrap();
    }

    /// Waits until no process of the browser is left. How long it took.
    fn gone_within(&self, limit: Duration, what: &str) -> Duration {
        let began = Instant::now();
        loop {
            let left = (group(self.browser), users_of(self.temp.path()), users_of(&self.profile));
            if left.0.is_empty() && left.1.is_empty() && left.2.is_empty() {
                break;
            }
            assert!(began.elapsed() < limit, "{what}: {left:?}");
            pause(Duration::from_millis(5)); // nothing reports the end of processes that are not ours
        }
        println!("{what}: gone after {:?}", began.elapsed());
        began.elapsed()
    }

    fn left_in_temp(&self) -> Vec<PathBuf> {
        fs::read_dir(self.temp.path()).unwrap().flatten().map(|entry| entry.path()).collect()
    }

    /// Makes what is left look older than the time in which nobody clears it up.
    fn age(&self) {
        for folder in self.left_in_temp() {
            fs::File::open(folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
        }
    }
}

impl Drop for Held {
    /// For the test that failed.
    fn drop(&mut self) {
        let _ = self.owner.kill();
        let _ = self.owner.wait();
        signal("-KILL", group(self.browser));
    }
}

fn signal(signal: &str, ids: Vec<u32>) {
    if !ids.is_empty() {
        let ids = ids.iter().map(u32::to_string);
        assert!(Command::new("kill").arg(signal).args(ids).status().unwrap().success());
    }
}

// ---- the owner is killed -----------------------------------------------------------------------

#[test]
fn a_killed_owner_takes_its_browser_and_temporary_profile_along() {
    let _alone = busy_machine();
    if browser_path().is_none() {
        return;
    }
    for how in ["pipe", "port", "pipe wedged", "port wedged"] {
        let mut held = Held::new(how, None);
        held.kill(&[]);
        held.gone_within(LIMIT, how);
        assert_eq!(held.left_in_temp(), NOTHING, "the reaper ends last, after it has removed the profile");
    }
}

#[test]
fn a_suspended_browser_dies_with_its_owner() {
    let _alone = busy_machine();
    if browser_path().is_none() {
        return;
    }
    for how in ["pipe", "port wedged"] {
        let mut held = Held::new(how, None);
        signal("-STOP", vec![held.browser]);
        held.kill(&[]);
        held.gone_within(LIMIT, &format!("{how}, stopped"));
        assert_eq!(held.left_in_temp(), NOTHING);
    }
}

#[test]
fn a_killed_program_leaves_no_browser_with_a_hanging_page() {
    let _alone = busy_machine();
    use serde_json::json;

    use crate::cli_run::Program;
    if browser_path().is_none() {
        return;
    }
    for how in [&["--launch"][..], &["--launch", "--port", "0"]] {
        let program = Program::new();
        let (mut session, _) = program.supervise(how);
        session.send("POST", "/act", json!({ "kind": "evaluate", "fn": "console.log('on'); while (true) {}" }));
        session.event("console");
        // The action before it has the tab.
        let late = session.act(json!({ "kind": "evaluate", "fn": "1", "timeoutMs": 300 }));
        assert_eq!(late["code"], "PAGE_BUSY", "{late}");
        signal("-KILL", vec![session.id()]);
        session.wait();
        let given_up = Deadline::after(LIMIT);
        while program.left_behind(0) != (vec![], vec![]) {
            assert!(!given_up.passed(), "{how:?}: {:?}", program.left_behind(0));
        }
    }
}

#[test]
fn a_kill_during_launch_leaves_no_browser() {
    let _alone = busy_machine();
    let Some(real) = browser_path() else { return };
    let scripts = temp();
    let script = scripts.path().join("browser");
    let text = format!("#!/bin/sh\n: > \"$TMPDIR/../../began\"\nexec {} \"$@\"\n", real.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    // The moments: the profile was just made; the browser was just started; so much later.
    for later in [None, Some(0), Some(30), Some(100), Some(250), Some(500)] {
        let temp = temp();
        let mut owner = holder("pipe", temp.path()).env("CDPILOT_TEST_EXECUTABLE", &script).spawn().unwrap();
        let began = temp.path().join("began");
        let due = || match later {
            None => fs::read_dir(temp.path()).unwrap().next().is_some(),
            Some(_) => began.exists(),
        };
        let given_up = soon();
        while !due() {
            assert!(!given_up.passed(), "it does not start");
            pause(Duration::from_millis(1));
        }
        pause(Duration::from_millis(later.unwrap_or(0))); // the moment is what is being varied
        owner.kill().unwrap();
        owner.wait().unwrap();
        let killed = Instant::now();
        while !users_of(temp.path()).is_empty() {
            assert!(killed.elapsed() < LIMIT, "{later:?}: {:?}", users_of(temp.path()));
            pause(Duration::from_millis(5));
        }
        println!("killed while starting, {later:?} ms: gone after {:?}", killed.elapsed());
        let _ = fs::remove_file(began);
        // Before there was a reaper process, the folder with next to nothing in it is left. On a very busy machine
        // a reaper gives up, too, on a folder that is still being written to. A later start removes it.
        for left in fs::read_dir(temp.path()).unwrap().flatten() {
            println!("killed while starting, {later:?} ms: {} is left", left.path().display());
            fs::File::open(left.path()).unwrap().set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
        }
        self::later("reap", temp.path());
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}

// ---- the reaper is killed along with the owner --------------------------------------------------

#[test]
fn without_its_reaper_a_browser_ends_when_its_pipe_closes() {
    let _alone = busy_machine();
    if browser_path().is_none() {
        return;
    }
    for how in ["pipe", "port", "pipe wedged", "port wedged"] {
        let mut held = Held::new(how, None);
        held.kill(&[held.reaper()]);
        held.gone_within(LIMIT, &format!("{how}, without its reaper"));
        assert_eq!(held.left_in_temp().len(), 1, "nobody was left to remove the profile");
        assert!(later("reap", held.temp.path()).contains("cdpilot-browser-"));
        assert_eq!(held.left_in_temp(), NOTHING);
    }
}

/// Has the orphans of those we started become ours. The first process of the system is usually in
/// another session, and then the kernel wakes a stopped browser when its owner dies and tells it to hang
/// up, whereupon it ends in order. What is wanted here is one that really hangs.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn without_its_reaper_a_suspended_browser_is_killed_by_the_next_start() {
    let _alone = busy_machine();
    alone(module_path!(), "without_its_reaper_a_suspended_browser_is_killed_by_the_next_start", || {
        adopt_orphans();
        if browser_path().is_none() {
            return;
        }
        for what in ["reap", "launch"] {
            let mut held = Held::new("pipe", None);
            signal("-STOP", vec![held.browser]);
            held.kill(&[held.reaper()]);
            assert!(group(held.browser).contains(&held.browser), "stopped, it cannot see its pipe close");
            let response = later(what, held.temp.path());
            assert!(what == "launch" || response.contains(&format!("ended: [{}]", held.browser)), "{response}");
            held.gone_within(LIMIT, &format!("stopped, without its reaper, after {what}: {response}"));
            if what == "launch" && held.left_in_temp() != NOTHING {
                held.age(); // a start waits for two seconds only and leaves the rest to the next
                later("reap", held.temp.path());
            }
            assert_eq!(held.left_in_temp(), NOTHING, "{response}");
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_profile_with_a_hanging_orphaned_browser_can_be_started() {
    let _alone = busy_machine();
    alone(module_path!(), "a_profile_with_a_hanging_orphaned_browser_can_be_started", || {
        adopt_orphans();
        let Some(options) = options(TransportKind::Pipe) else { return };
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        let mut held = Held::new("pipe", Some(&profile));
        let marker = profile.join("cdpilot-browser.json");
        assert_eq!(fs::metadata(&marker).unwrap().permissions().mode() & 0o777, 0o600);
        let record: Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
        assert_eq!((&record["format"], &record["browser"]["pid"]), (&1.into(), &held.browser.into()), "{record}");
        assert_eq!(record["owner"]["pid"], held.owner.id());
        assert!(record["executable"].as_str().is_some_and(|path| path.contains("chrom")), "{record}");

        let options = options.user_data_dir(profile.clone());
        let error = BrowserProcess::launch(&options).unwrap_err().to_string();
        assert!(error.contains(&format!("started by process {}", held.owner.id())), "{error}");
        signal("-STOP", vec![held.browser]);
        held.kill(&[held.reaper()]);
        let browser = BrowserProcess::launch(&options).unwrap();
        assert_ne!(browser.pid(), Some(held.browser));
        assert_eq!(group(held.browser), [0; 0]);
        let record: Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
        assert_eq!(record["owner"]["pid"], std::process::id());
        browser.close(soon()).unwrap();
        assert!(!marker.exists(), "it goes when the browser has ended in order");
    });
}
