//! Installing a browser with the package manager of the system.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::find::Os;
use crate::setters;

/// One command of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Name of the program, looked up in `PATH`.
    pub program: String,
    /// Arguments, one entry each; no shell interprets them.
    pub args: Vec<String>,
}

impl Step {
    /// A program and its arguments; no shell interprets them.
    #[must_use]
    pub fn new(program: &str, args: &[&str]) -> Self {
        Self { program: program.to_owned(), args: args.iter().map(|a| (*a).to_owned()).collect() }
    }

    /// The command as typed in a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        std::iter::once(&self.program).chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The commands that install a browser, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstallPlan {
    /// Name of the package manager, such as `apt-get` or `brew`.
    pub manager: &'static str,
    /// Commands to run in this order; the first that fails ends the installation.
    pub steps: Vec<Step>,
    /// A note for the user, before or after a failure.
    pub note: Option<&'static str>,
}

impl InstallPlan {
    /// Steps of this package manager, in order.
    #[must_use]
    pub fn new(manager: &'static str, steps: Vec<Step>) -> Self {
        Self { manager, steps, note: None }
    }
}

setters! { InstallPlan: note(some &'static str) }

impl InstallPlan {
    /// The whole plan as typed in a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.steps.iter().map(Step::command_line).collect::<Vec<_>>().join(" && ")
    }
}

/// The inputs of a plan.
#[non_exhaustive]
pub struct Machine<'a> {
    /// The family of systems.
    pub os: Os,
    /// Whether this process runs as root.
    pub root: bool,
    /// `ID` and `ID_LIKE` of `/etc/os-release`, empty when there is none.
    pub distribution: &'a str,
    /// Whether a program is in `PATH`.
    pub has: &'a dyn Fn(&str) -> bool,
}

impl<'a> Machine<'a> {
    /// A machine of a user without administrator rights. `has` says whether a program is installed.
    #[must_use]
    pub fn new(os: Os, distribution: &'a str, has: &'a dyn Fn(&str) -> bool) -> Self {
        Self { os, root: false, distribution, has }
    }
}

setters! { <'a> Machine<'a>: root(bool) }

/// A step of an [`InstallPlan`] failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{step}` {problem}{}", .note.map(|n| format!("; {n}")).unwrap_or_default())]
#[non_exhaustive]
pub struct InstallError {
    /// The command that failed.
    pub step: String,
    /// How the step failed: its exit status or the message of the system.
    pub problem: String,
    /// The [note](InstallPlan::note) of the plan, if it has one.
    pub note: Option<&'static str>,
}

/// The plan for this machine. `None` without a known package manager.
#[must_use]
pub fn plan() -> Option<InstallPlan> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let distribution: Vec<&str> = release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")))
        .map(|value| value.trim_matches('"'))
        .collect();
    plan_for(&Machine { os: Os::this(), root: is_root(), distribution: &distribution.join(" "), has: &in_path })
}

/// The plan for a given machine.
///
/// Package names are those of the distributions. Ubuntu only packages Chromium as a snap, and Homebrew's Chromium is
/// not signed, so Chrome is used there.
#[must_use]
pub fn plan_for(machine: &Machine<'_>) -> Option<InstallPlan> {
    let has = machine.has;
    let plan = |manager, steps, note| Some(InstallPlan { manager, steps, note });
    match machine.os {
        Os::Mac if has("brew") => plan("brew", vec![Step::new("brew", &["install", "--cask", "google-chrome"])], None),
        Os::Windows if has("winget") => {
            let args = [
                "install",
                "--exact",
                "--id",
                "Google.Chrome",
                "--silent",
                "--accept-package-agreements",
                "--accept-source-agreements",
            ];
            plan("winget", vec![Step::new("winget", &args)], None)
        }
        Os::Mac | Os::Windows => None,
        Os::Linux => linux(machine),
    }
}

fn linux(machine: &Machine<'_>) -> Option<InstallPlan> {
    let has = machine.has;
    let ubuntu = machine.distribution.split_whitespace().next() == Some("ubuntu");
    let (manager, steps, note): (_, Vec<Step>, _) = if has("apt-get") && ubuntu {
        if has("snap") {
            ("snap", vec![Step::new("snap", &["install", "chromium"])], None)
        } else {
            let note =
                "Ubuntu packages Chromium as a snap only; install snapd or Google's .deb, or set CDPILOT_BROWSER";
            ("apt-get", apt("chromium-browser"), Some(note))
        }
    } else if has("apt-get") {
        ("apt-get", apt("chromium"), None)
    } else if has("dnf") {
        let note = "on RHEL and related systems the package is in EPEL: enable EPEL first";
        ("dnf", vec![Step::new("dnf", &["install", "-y", "chromium"])], Some(note))
    } else if has("pacman") {
        ("pacman", vec![Step::new("pacman", &["-Sy", "--noconfirm", "chromium"])], None)
    } else if has("zypper") {
        ("zypper", vec![Step::new("zypper", &["--non-interactive", "install", "chromium"])], None)
    } else if has("apk") {
        ("apk", vec![Step::new("apk", &["add", "--no-cache", "chromium"])], None)
    } else {
        return None;
    };
    if machine.root {
        return Some(InstallPlan { manager, steps, note });
    }
    let steps_as_root = |by: &str| steps.iter().map(|step| with(by, step)).collect();
    Some(match ["sudo", "doas"].into_iter().find(|by| has(by)) {
        Some(by) => InstallPlan { manager, steps: steps_as_root(by), note },
        None => InstallPlan { manager, steps, note: Some("run it as root: neither sudo nor doas is installed") },
    })
}

fn apt(package: &str) -> Vec<Step> {
    vec![Step::new("apt-get", &["update"]), Step::new("apt-get", &["install", "-y", package])]
}

fn with(by: &str, step: &Step) -> Step {
    Step {
        program: by.to_owned(),
        args: std::iter::once(step.program.clone()).chain(step.args.iter().cloned()).collect(),
    }
}

/// Runs a plan step by step; `on_line` receives every line that the commands write. They may ask for a password on the
/// terminal.
///
/// # Errors
/// The failed step and the reason.
pub fn run(plan: &InstallPlan, mut on_line: impl FnMut(&str)) -> Result<(), InstallError> {
    for step in &plan.steps {
        let command_line = step.command_line();
        on_line(&format!("$ {command_line}"));
        run_step(step, &mut on_line).map_err(|problem| InstallError {
            step: command_line,
            problem,
            note: plan.note,
        })?;
    }
    Ok(())
}

fn run_step(step: &Step, on_line: &mut dyn FnMut(&str)) -> Result<(), String> {
    let start = || -> std::io::Result<_> {
        let (reader, writer) = std::io::pipe()?;
        let child = Command::new(&step.program)
            .args(&step.args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::inherit())
            .stdout(writer.try_clone()?)
            .stderr(writer) // the copies in this process are closed with the command value
            .spawn()?;
        Ok((reader, child))
    };
    let (reader, mut child) = start().map_err(|problem| format!("could not be started: {problem}"))?;
    let mut lines = BufReader::new(reader);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        on_line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    let status = child.wait().map_err(|problem| format!("could not be waited for: {problem}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed ({status})")) }
}

fn in_path(name: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|folder| {
        super::find::usable(&folder.join(name)).is_ok()
            || (cfg!(windows) && super::find::usable(&folder.join(format!("{name}.exe"))).is_ok())
    })
}

fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}
