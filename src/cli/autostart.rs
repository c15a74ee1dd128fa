//! Starts a server in the background for a command that finds none. Of several commands at once, one does.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crossbeam_channel::bounded;
use serde_json::Value;

use super::client::suspended;
use super::failure::{Exit, Failure};
use super::memory;
use super::settings::env;
use crate::code::Code;
use crate::config::{Home, Running};
use crate::sync::{Deadline, pause, spawn};

/// What the start of a server may take; browsers are started later.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the turn is asked for while another command has it.
const TURN: Duration = Duration::from_millis(10);
/// Size above which the log of servers before is not kept, bytes.
const LONG_LOG: u64 = 1 << 20;

/// Starts a server for the home, or waits for the one that somebody else starts.
pub(super) fn start(home: &Home) -> Result<Running, Failure> {
    let deadline = Deadline::after(PATIENCE);
    home.prepare()?;
    let _turn = turn(home, deadline)?;
    if let Some(running) = Running::of(home)? {
        return Ok(running);
    }
    if let Some(failure) = Running::process_of(home)?.and_then(suspended) {
        return Err(failure);
    }
    let mut server = launch(home)?;
    match first_line(&mut server, deadline) {
        Some(told) if told["ok"] == true => {}
        // Somebody started one by hand meanwhile.
        Some(told)
            if told["code"].as_str().and_then(Code::parse) == Some(Code::Conflict) && Running::of(home)?.is_some() => {}
        Some(told) => {
            let why = told["error"].as_str().unwrap_or("it did not say why");
            return Err(failed(home, why));
        }
        None => {
            // It may still come up, with nobody waiting for it.
            let _ = server.kill();
            let _ = server.wait();
            return Err(failed(home, "it did not say that it is ready"));
        }
    }
    Running::of(home)?.ok_or_else(|| failed(home, "it ended again at once"))
}

fn failed(home: &Home, why: &str) -> Failure {
    let log = log_path(home);
    let hint = format!("its log is {}; `cdpilot serve` starts one in the foreground", log.display());
    Failure::unreachable(format!("no server could be started in the background: {why}; {hint}")).with(Exit::NoBrowser)
}

/// The right to start one, which lasts as long as the file is open.
fn turn(home: &Home, deadline: Deadline) -> Result<File, Failure> {
    let path = home.run().join("start.lock");
    let cannot = |problem: std::io::Error| Failure::internal(format!("{} cannot be locked: {problem}", path.display()));
    let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(cannot)?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if !deadline.passed() => pause(TURN),
            Err(TryLockError::WouldBlock) => return Err(failed(home, "another command has been at it for too long")),
            Err(TryLockError::Error(problem)) => return Err(cannot(problem)),
        }
    }
}

fn log_path(home: &Home) -> PathBuf {
    home.run().join("server.log")
}

/// The log of servers in the background, for its owner alone.
fn log(path: &Path) -> std::io::Result<File> {
    let long = fs::metadata(path).is_ok_and(|meta| meta.len() > LONG_LOG);
    if long {
        fs::remove_file(path)?;
    }
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Not through a link that somebody put there.
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

/// `cdpilot serve`, away from the terminal. It tells on its stdout, a pipe to us, when it is ready.
fn launch(home: &Home) -> Result<Child, Failure> {
    let cannot = |problem: std::io::Error| failed(home, &problem.to_string());
    let mut server = Command::new(std::env::current_exe().map_err(cannot)?);
    memory::frugal(server.args(["--json", "serve", "--background"]));
    server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log(&log_path(home)).map_err(cannot)?);
    // It outlives the folder we are in; what is relative to that is written out.
    server.current_dir(home.root()).env("CDPILOT_HOME", home.root());
    if let Some(browser) = env("CDPILOT_BROWSER").filter(|path| path.contains('/')) {
        server.env("CDPILOT_BROWSER", std::path::absolute(&browser).unwrap_or_else(|_| browser.into()));
    }
    // What was asked of this command is not asked of the server.
    for name in ["CDPILOT_URL", "CDPILOT_TOKEN", "CDPILOT_TIMEOUT_MS", "CDPILOT_PROFILE"] {
        server.env_remove(name);
    }
    server.spawn().map_err(cannot)
}

/// What it says first. `None` when it says nothing in time, or ends without a word.
fn first_line(server: &mut Child, deadline: Deadline) -> Option<Value> {
    let stdout = server.stdout.take()?;
    let (send, line) = bounded(1);
    let reader = spawn("cli-autostart", move || {
        let mut text = String::new();
        let _ = BufReader::new(stdout).read_line(&mut text);
        let _ = send.send(text);
    });
    let text = line.recv_deadline(deadline.instant());
    // Without a word it may read for as long as the server lives; the end of this command ends it.
    if text.is_err() {
        std::mem::forget(reader);
    }
    serde_json::from_str(&text.ok()?).ok()
}
