//! Browsers that a test launches itself, and their processes.

use std::path::{Path, PathBuf};
use std::process::Command;

use cdpilot::browser::{BrowserProcess, LaunchOptions, TransportKind};

use crate::browser_path;

/// Options for a browser without a window. `None` when there is no browser on this machine.
pub fn options(transport: TransportKind) -> Option<LaunchOptions> {
    let executable = browser_path();
    if executable.is_none() {
        eprintln!("skipped: no browser here");
    }
    Some(LaunchOptions::new().executable(executable?).headless(true).transport(transport))
}

/// Ids of the processes of a group that are more than zombies.
pub fn group(id: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-eo", "pid=,pgid=,stat="]).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[1] == id.to_string() && !row[2].starts_with('Z')).map(|row| row[0].parse().unwrap()).collect()
}

/// Processes anywhere whose command line names the folder.
pub fn users_of(folder: &Path) -> Vec<String> {
    let listed = Command::new("ps").args(["-eo", "pid=,stat=,args=", "-ww"]).output().unwrap();
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    text.lines().filter(|line| line.contains(folder.to_str().unwrap())).map(str::to_owned).collect()
}

/// The folder that holds a temporary profile and the browser's own temporary files.
pub fn root_of(browser: &BrowserProcess) -> PathBuf {
    browser.user_data_dir().unwrap().parent().unwrap().to_owned()
}

pub fn assert_nothing_left(pid: u32, root: &Path) {
    assert_eq!(group(pid), [0; 0], "processes of the group are left");
    assert_eq!(users_of(root), [""; 0], "processes outside the group are left");
    assert!(!root.exists(), "the temporary profile is left");
}
