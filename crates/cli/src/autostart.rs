//! Starts a server in the background for a command that finds none. Concurrent commands start only one.

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
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause, spawn};
use cdpilot_server::config::{Home, Running};

/// Time limit for the start of the server; browsers are started later.
const START_LIMIT: Duration = Duration::from_secs(20);
/// Polling interval for the lock while another command holds it.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Size above which the old log is deleted, bytes.
const MAX_LOG: u64 = 1 << 20;

/// Starts a server for the home, or waits for the one that another command is starting.
pub(super) fn start(home: &Home) -> Result<Running, Failure> {
    let deadline = Deadline::after(START_LIMIT);
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
        Some(line) if line["ok"] == true => {}
        // Another one was started by hand meanwhile.
        Some(line)
            if line["code"].as_str().and_then(Code::parse) == Some(Code::Conflict) && Running::of(home)?.is_some() => {}
        Some(line) => {
            let why = line["error"].as_str().unwrap_or("it reported no reason");
            return Err(failed(home, why));
        }
        None => {
            // Otherwise it might still start, unused.
            let _ = server.kill();
            let _ = server.wait();
            return Err(failed(home, "it did not line that it is ready"));
        }
    }
    Running::of(home)?.ok_or_else(|| failed(home, "it stopped right after its start"))
}

fn failed(home: &Home, why: &str) -> Failure {
    let log = log_path(home);
    let hint = format!("see its log {}, or start it in the foreground with `cdpilot serve`", log.display());
    Failure::unreachable(format!("cannot start the server in the background: {why}; {hint}")).with(Exit::NoBrowser)
}

/// Takes the lock for starting a server; it is held until the file is closed.
fn turn(home: &Home, deadline: Deadline<'_>) -> Result<File, Failure> {
    let path = home.run().join("start.lock");
    let cannot = |problem: std::io::Error| Failure::internal(format!("cannot lock {}: {problem}", path.display()));
    let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(cannot)?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if !deadline.passed() => pause(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(failed(home, "another command is still starting it")),
            Err(TryLockError::Error(problem)) => return Err(cannot(problem)),
        }
    }
}

fn log_path(home: &Home) -> PathBuf {
    home.run().join("server.log")
}

/// Opens the log of background servers, readable by its owner only.
fn log(path: &Path) -> std::io::Result<File> {
    let long = fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_LOG);
    if long {
        fs::remove_file(path)?;
    }
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Does not follow a symbolic link.
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

/// Starts `cdpilot serve` detached from the terminal. It reports on its stdout, a pipe, when it is ready.
fn launch(home: &Home) -> Result<Child, Failure> {
    let cannot = |problem: std::io::Error| failed(home, &problem.to_string());
    let mut server = Command::new(std::env::current_exe().map_err(cannot)?);
    memory::frugal(server.args(["--json", "serve", "--background"]));
    server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log(&log_path(home)).map_err(cannot)?);
    // The server must not depend on the current folder, so relative paths are made absolute.
    server.current_dir(home.root()).env("CDPILOT_HOME", home.root());
    if let Some(browser) = env("CDPILOT_BROWSER").filter(|path| path.contains('/')) {
        server.env("CDPILOT_BROWSER", std::path::absolute(&browser).unwrap_or_else(|_| browser.into()));
    }
    // These settings are for this command, not for the server.
    for name in ["CDPILOT_URL", "CDPILOT_TOKEN", "CDPILOT_TIMEOUT_MS", "CDPILOT_PROFILE"] {
        server.env_remove(name);
    }
    server.spawn().map_err(cannot)
}

/// The first line of the server's output. `None` when it ends or the deadline passes without one.
fn first_line(server: &mut Child, deadline: Deadline<'_>) -> Option<Value> {
    let stdout = server.stdout.take()?;
    let (send, line) = bounded(1);
    let reader = spawn("cli-autostart", move || {
        let mut text = String::new();
        let _ = BufReader::new(stdout).read_line(&mut text);
        let _ = send.send(text);
    });
    let text = line.recv_deadline(deadline.instant());
    // The thread may block as long as the server lives; it ends with this process.
    if text.is_err() {
        std::mem::forget(reader);
    }
    serde_json::from_str(&text.ok()?).ok()
}
