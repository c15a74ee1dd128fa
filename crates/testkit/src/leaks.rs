//! Counts threads, descriptors and child processes of this process back to a baseline.
//!
//! Tests of one process run side by side, and each may start a browser or open a socket at any moment,
//! so a count in that process says nothing. A test that counts therefore runs [`alone`]: the test
//! starts this same test binary once more, for this one test only, and in that child process the body
//! runs with nobody else about. No lock is needed that every other test would have to know of, it makes
//! no difference how many test threads there are, and a runner that gives each test its own process
//! works as well. A child that hangs is killed and fails the test. Where there is no `/proc` the
//! body runs in place and the counts are not taken.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cdpilot::sync::{Deadline, pause, spawn};

/// Set in the child process, to the name of the test.
const MARK: &str = "CDPILOT_TEST_ALONE";

/// The name of a test as the test binary knows it, from its `module_path!()` and function.
fn path_of(module: &str, name: &str) -> String {
    module.split_once("::").map_or(name.to_owned(), |(_crate, module)| format!("{module}::{name}"))
}

/// The command that runs one test of this binary in its own process.
pub fn rerun(module: &str, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([path_of(module, name).as_str(), "--exact", "--test-threads=1", "--nocapture"]).stdin(Stdio::null());
    command
}

/// Runs the body of a test in its own process. `module` is `module_path!()` of the test, `name`
/// the name of its function.
pub fn alone(module: &str, name: &str, body: impl FnOnce()) {
    let path = path_of(module, name);
    if std::env::var(MARK).is_ok_and(|mark| mark == path) || !Path::new("/proc/self/task").exists() {
        return body();
    }
    let child = rerun(module, name).env(MARK, &path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (send, ended) = crossbeam_channel::bounded(1);
    let waiter = spawn("test-alone", move || {
        let _ = send.send(child.wait_with_output());
    });
    let output = ended.recv_timeout(Duration::from_secs(180 + load_seconds().unwrap_or(0))).unwrap_or_else(|_| {
        kill(id);
        panic!("{path} did not end in its own process")
    });
    drop(waiter);
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // Set off, so that nobody takes its lines for those of the run around it.
    let text = text.lines().map(|line| format!("  | {line}\n")).collect::<String>();
    assert!(output.status.success(), "{path} failed in its own process:\n{text}");
    assert!(text.contains("1 passed"), "no test is called {path}:\n{text}");
}

/// Duration of a load test, if it is set.
pub fn load_seconds() -> Option<u64> {
    std::env::var("CDPILOT_TEST_LOAD_SECONDS").ok()?.parse().ok()
}

#[cfg(unix)]
fn kill(id: u32) {
    let pid = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_id: u32) {}

/// Resources of a process, by number: a thread or process id, or a descriptor.
type Things = BTreeMap<u32, String>;

/// The resources of this process at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Threads and their names.
    threads: Things,
    /// Descriptors and what they point to.
    files: Things,
    /// Processes below this one and their command lines, zombies included.
    children: Things,
}

impl Baseline {
    /// The current resources; none on a system without `/proc`.
    pub fn now() -> Self {
        Self { threads: threads(), files: files(), children: children() }
    }

    /// Waits until no resources beyond the baseline are left. Panics at the deadline, with a list.
    pub fn assert_back(&self, deadline: Deadline<'_>) {
        loop {
            let left = self.left_over();
            if left.is_empty() {
                return;
            }
            assert!(!deadline.passed(), "left over:\n{}", left.join("\n"));
            pause(Duration::from_millis(5)); // the system tells nobody when a thread is gone
        }
    }

    /// The number of descriptors.
    pub fn count_files(&self) -> usize {
        self.files.len()
    }

    /// Current resources beyond the baseline, one line each.
    pub fn left_over(&self) -> Vec<String> {
        let now = Self::now();
        let new = |kind: &str, old: &Things, now: Things| -> Vec<String> {
            let fresh = now.into_iter().filter(|(number, what)| old.get(number) != Some(what));
            fresh.map(|(number, what)| format!("  {kind} {number}: {what}")).collect()
        };
        let mut left = new("thread", &self.threads, now.threads);
        left.extend(new("descriptor", &self.files, now.files));
        left.extend(new("process", &self.children, now.children));
        left
    }
}

/// The numbered entries of a directory below `/proc`.
fn numbers(directory: &str) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn threads() -> Things {
    let name = |id: &u32| std::fs::read_to_string(format!("/proc/self/task/{id}/comm"));
    numbers("/proc/self/task").filter_map(|id| Some((id, name(&id).ok()?.trim().to_owned()))).collect()
}

fn files() -> Things {
    // Collected first: the directory being read is open itself, and gone when its link is looked at.
    let open: Vec<u32> = numbers("/proc/self/fd").collect();
    let target = |fd: &u32| std::fs::read_link(format!("/proc/self/fd/{fd}"));
    open.into_iter().filter_map(|fd| Some((fd, target(&fd).ok()?.display().to_string()))).collect()
}

fn children() -> Things {
    let parent_of = |id: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may hold anything; behind it come the state and the parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<(u32, u32)> = numbers("/proc").filter_map(|id| Some((id, parent_of(id)?))).collect();
    let mut family = vec![std::process::id()];
    let mut at = 0;
    while at < family.len() {
        let parent = family[at];
        family.extend(all.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        at += 1;
    }
    family.into_iter().skip(1).map(|id| (id, command_line(id))).collect()
}

fn command_line(id: u32) -> String {
    let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    match String::from_utf8_lossy(&words).replace('\0', " ").trim() {
        "" => "(ended, not waited for)".to_owned(),
        words => words.to_owned(),
    }
}
