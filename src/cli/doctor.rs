//! `cdpilot doctor`: whether browsers work on this machine and in the home, and what to do where they do not.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::args::Doctor;
use super::failure::Exit;
use super::output::Out;
use super::settings::{Settings, env, home};
use crate::browser::{AttachOptions, Browser, Error, LaunchOptions, Surroundings, Switch, find, reap};
use crate::config::{Config, Home, Running};
use crate::control::{self, CheckStatus, Control, Fixed, Overrides};

/// The port that the control server is meant for.
const CONTROL_PORT: u16 = 18791;
/// Free space below which a browser's profile may not fit.
const LITTLE_SPACE: u64 = 200 << 20;
/// What Docker gives a container for shared memory.
const LITTLE_SHARED_MEMORY: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Pass,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: &'static str,
    status: Status,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix_hint: Option<String>,
}

impl Check {
    fn pass(id: &'static str, summary: impl Into<String>) -> Self {
        Self { id, status: Status::Pass, summary: summary.into(), fix_hint: None }
    }

    fn warn(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { id, status: Status::Warn, summary: summary.into(), fix_hint: Some(hint.into()) }
    }

    fn fail(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { id, status: Status::Fail, summary: summary.into(), fix_hint: Some(hint.into()) }
    }

    /// From an error whose message ends in what to do, behind a semicolon.
    fn failed(id: &'static str, error: &Error) -> Self {
        let text = error.to_string();
        match text.split_once("; ") {
            Some((what, hint)) => Self::fail(id, what, hint),
            None => Self { id, status: Status::Fail, summary: text, fix_hint: None },
        }
    }
}

impl From<control::Check> for Check {
    fn from(check: control::Check) -> Self {
        let control::Check { id, status, summary, fix_hint } = check;
        let status = match status {
            CheckStatus::Pass => Status::Pass,
            CheckStatus::Warn => Status::Warn,
            CheckStatus::Fail => Status::Fail,
        };
        Self { id, status, summary, fix_hint }
    }
}

pub(super) fn run(args: &Doctor, settings: &Settings, out: &Out) -> Exit {
    let mut checks: Vec<Check> = Vec::new();
    // One that is not there yet is looked at, not made.
    let home = Home::find().ok().filter(|home| home.root().is_dir());
    let mut add = |check: Check| {
        print(&check, out);
        checks.push(check);
    };
    let around = Surroundings::read();
    add(leftovers()); // before a browser is started, which clears up too
    match find::find(None) {
        Err(error) => add(Check::failed("browser", &error)),
        Ok(found) => {
            add(Check::pass("browser", found.path.display().to_string()));
            add(launch(&found.path, settings));
        }
    }
    add(sandbox(&around));
    add(display(&around));
    if let Some(url) = env("CDPILOT_CDP_URL") {
        add(endpoint(&url, settings));
    }
    add(home_folder());
    add(temporary_folder());
    if cfg!(target_os = "linux") {
        add(shared_memory());
    }
    add(control_port(home.as_ref()));
    let (of_home, fixed) = home.map(|home| of_home(home, args.fix)).unwrap_or_default();
    for check in of_home {
        // What was looked at already is not told twice.
        if !checks.iter().any(|known| known.id == check.id) {
            print(&check, out);
            checks.push(check);
        }
    }
    for done in &fixed {
        out.line(&format!("{} {:<14} {}", out.look.green("fixed"), done.id, done.summary));
    }
    finish(checks, fixed, out)
}

/// What the control server has to say of a home: its settings, its files, its profiles.
fn of_home(home: Home, fix: bool) -> (Vec<Check>, Vec<Fixed>) {
    let path = home.config();
    let config = match Config::of(&home) {
        Ok(config) => config,
        Err(problem) => return (vec![Check::fail("config", problem.to_string(), "correct the file")], Vec::new()),
    };
    let read = if path.is_file() { format!("{} is read", path.display()) } else { "all by default".to_owned() };
    let mut checks = vec![Check::pass("config", read)];
    match Control::open(home, config, Overrides::env()) {
        Ok(control) => {
            let fixed = if fix { control.fix() } else { Vec::new() };
            checks.extend(control.doctor().into_iter().map(Check::from));
            (checks, fixed)
        }
        Err(problem) => {
            checks.push(Check::fail("profiles", problem.to_string(), "correct the settings of the home"));
            (checks, Vec::new())
        }
    }
}

fn launch(executable: &Path, settings: &Settings) -> Check {
    let options = LaunchOptions {
        executable: Some(executable.to_owned()),
        headless: Switch::On,
        start_timeout: settings.timeout(Duration::from_secs(20)),
        ..LaunchOptions::default()
    };
    let began = Instant::now();
    match Browser::launch(&options) {
        Err(error) => Check::failed("launch", &error),
        Ok(browser) => {
            let millis = began.elapsed().as_millis();
            let product = browser.version().product.clone();
            match browser.close(settings.deadline(Duration::from_secs(5))) {
                Ok(()) => Check::pass("launch", format!("{product} answered after {millis} ms and closed")),
                Err(error) => Check::failed("launch", &error),
            }
        }
    }
}

/// Clears up behind processes of ours that were killed, and tells what it found.
fn leftovers() -> Check {
    const ID: &str = "leftovers";
    let found = reap();
    let cleared = match (found.ended.len(), found.removed.len()) {
        (0, 0) => None,
        (0, profiles) => Some(format!("removed {profiles} temporary profiles that were left behind")),
        (browsers, profiles) => {
            Some(format!("ended {browsers} browsers that were left behind, and removed {profiles} temporary profiles"))
        }
    };
    let Some(left) = found.left.first() else {
        return match cleared {
            None => Check::pass(ID, "no browser and no temporary profile was left behind"),
            Some(cleared) => {
                let hint =
                    "nothing to do now; end programs with Ctrl-C or SIGTERM, SIGKILL gives them no time to clear up";
                Check::warn(ID, cleared, hint)
            }
        };
    };
    let more = match found.left.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let also = cleared.map(|cleared| format!("; {cleared}")).unwrap_or_default();
    let what = format!("{} is left behind: {}{more}{also}", left.folder.display(), left.problem);
    Check::warn(ID, what, "look at the processes with `ps`, end them if they are not needed, and delete the folder")
}

fn sandbox(around: &Surroundings) -> Check {
    let without = around.no_sandbox(Switch::Auto, &[]);
    if without.on {
        let hint = "visit trusted pages only, or run as an ordinary user";
        return Check::warn("sandbox", format!("browsers start without their sandbox: {}", without.because), hint);
    }
    if around.root {
        let hint = "Chromium does not run as root with its sandbox; run as an ordinary user";
        return Check::warn("sandbox", without.because, hint);
    }
    Check::pass("sandbox", format!("on: {}", without.because))
}

fn display(around: &Surroundings) -> Check {
    let headless = around.headless(Switch::Auto, &[]);
    let what = if headless.on { "browsers start without a window" } else { "browsers open a window" };
    Check::pass("display", format!("{what}: {}", headless.because))
}

fn endpoint(url: &str, settings: &Settings) -> Check {
    let timeout = settings.timeout(Duration::from_secs(5));
    let mut options = AttachOptions::default();
    (options.connect.connect_timeout, options.webdriver.session_timeout) = (timeout, timeout);
    match Browser::attach_with(url, &options) {
        Ok(browser) => Check::pass("endpoint", format!("CDPILOT_CDP_URL answers as {}", browser.version().product)),
        Err(error) => Check::failed("endpoint", &error),
    }
}

fn home_folder() -> Check {
    const HINT: &str = "set CDPILOT_HOME to a folder that you may write to";
    let Some(home) = home() else { return Check::fail("home", "there is no home folder", HINT) };
    let shown = home.display();
    if home.is_dir() {
        return match probe(&home) {
            Ok(()) => Check::pass("home", format!("{shown} can be written to")),
            Err(problem) => Check::fail("home", format!("{shown} cannot be written to: {problem}"), HINT),
        };
    }
    if home.exists() {
        return Check::fail("home", format!("{shown} is not a folder"), HINT);
    }
    // The nearest thing above it that is there; what is a file fails the probe.
    let above = std::path::absolute(&home).ok();
    let above = above.iter().flat_map(|home| home.ancestors().skip(1)).find(|folder| folder.exists());
    match above.map(probe) {
        Some(Ok(())) => Check::pass("home", format!("{shown} is not there yet and can be made")),
        Some(Err(problem)) => Check::fail("home", format!("{shown} cannot be made: {problem}"), HINT),
        None => Check::fail("home", format!("{shown} cannot be made"), HINT),
    }
}

fn temporary_folder() -> Check {
    const HINT: &str = "set TMPDIR to a folder that you may write to";
    let folder = std::env::temp_dir();
    let shown = folder.display();
    if let Err(problem) = probe(&folder) {
        return Check::fail("temp", format!("{shown} cannot be written to: {problem}"), HINT);
    }
    match space(&folder) {
        Some((_, free)) if free < LITTLE_SPACE => Check::warn(
            "temp",
            format!("{shown} has {} left", mebibytes(free)),
            "browsers keep their profiles there; make room",
        ),
        Some((_, free)) => Check::pass("temp", format!("{shown} can be written to, {} left", mebibytes(free))),
        None => Check::pass("temp", format!("{shown} can be written to")),
    }
}

/// Browsers that we start do without it; others lose tabs when it is full.
fn shared_memory() -> Check {
    let hint = "only browsers that something else starts need it, to be attached to; in a container: --shm-size=1g";
    match space(Path::new("/dev/shm")) {
        Some((total, _)) if total > LITTLE_SHARED_MEMORY => {
            Check::pass("shared_memory", format!("/dev/shm has {}", mebibytes(total)))
        }
        Some((total, _)) => Check::warn("shared_memory", format!("/dev/shm has {} only", mebibytes(total)), hint),
        None => Check::warn("shared_memory", "there is no /dev/shm", hint),
    }
}

fn control_port(home: Option<&Home>) -> Check {
    let serving = home.and_then(|home| Running::of(home).ok().flatten());
    if let Some(running) = serving {
        return Check::pass("port", format!("the server of this home is at {} (process {})", running.url, running.pid));
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, CONTROL_PORT)) {
        Ok(_) => Check::pass("port", format!("{CONTROL_PORT} is free")),
        Err(problem) => Check::warn(
            "port",
            format!("{CONTROL_PORT} cannot be used: {problem}"),
            "it is kept for the control server; end what uses it or choose another port when you start that",
        ),
    }
}

/// Makes a file in the folder and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".cdpilot-doctor-").tempfile_in(folder).map(drop)
}

/// Size and free space of the file system that a folder is on, in bytes.
fn space(folder: &Path) -> Option<(u64, u64)> {
    fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    #[cfg(unix)]
    {
        let told = rustix::fs::statvfs(folder).ok()?;
        Some((told.f_blocks * told.f_frsize, told.f_bavail * told.f_frsize))
    }
    #[cfg(not(unix))]
    None
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn print(check: &Check, out: &Out) {
    if out.quiet && check.status == Status::Pass {
        return;
    }
    let look = out.look;
    let mark = match check.status {
        Status::Pass => look.green(look.pick("✓", "ok  ")),
        Status::Warn => look.yellow(look.pick("!", "warn")),
        Status::Fail => look.red(look.pick("✗", "FAIL")),
    };
    out.line(&format!("{mark} {:<14} {}", check.id, check.summary));
    if let Some(hint) = &check.fix_hint {
        let indent = look.pick("", "   ");
        out.line(&format!("{indent}                 {} {hint}", look.pick("→", "->")));
    }
}

fn finish(checks: Vec<Check>, fixed: Vec<Fixed>, out: &Out) -> Exit {
    #[derive(Serialize)]
    struct Report {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
        checks: Vec<Check>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fixed: Vec<Fixed>,
    }
    let failed: Vec<&str> = checks.iter().filter(|c| c.status == Status::Fail).map(|c| c.id).collect();
    let warned = checks.iter().filter(|c| c.status == Status::Warn).count();
    let error = (!failed.is_empty()).then(|| format!("failed: {}; see the hints", failed.join(", ")));
    let no_browser = failed.iter().any(|id| matches!(*id, "browser" | "launch" | "endpoint"));
    let code = error.as_ref().map(|_| if no_browser { "BROWSER_NOT_RUNNING" } else { "INTERNAL" });
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
    match &error {
        Some(error) => out.line(&format!("\n{}", out.look.red(error))),
        None if out.quiet => {}
        None if warned == 0 => out.line("\nall is well"),
        None => out.line(&format!("\nall is well, {warned} to know about")),
    }
    out.object(&Report { ok: error.is_none(), error, code, checks, fixed });
    exit
}
