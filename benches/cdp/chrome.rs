//! Starts a Chromium with a port or a pipe, and ends it.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cdpilot::sync::{Deadline, pause};

use crate::Result;

/// Transport to a browser.
pub(crate) enum Endpoint {
    /// The address of its WebSocket.
    Ws(String),
    /// Its pipe ends: from the browser, to the browser.
    Pipe(OwnedFd, OwnedFd),
}

/// A running browser. Dropping it ends the browser and removes its profile.
pub(crate) struct Chrome {
    child: Child,
    pub(crate) endpoint: Endpoint,
    _profile: tempfile::TempDir,
}

fn arguments(profile: &Path, transport: &str) -> Vec<OsString> {
    let mut all: Vec<OsString> = [
        transport,
        "--headless=new",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--no-default-browser-check",
        "--window-size=1280,720",
    ]
    .map(Into::into)
    .to_vec();
    if rustix::process::geteuid().is_root() {
        all.push("--no-sandbox".into());
    }
    let mut directory = OsString::from("--user-data-dir=");
    directory.push(profile);
    all.extend([directory, "about:blank".into()]);
    all
}

impl Chrome {
    /// A browser with a debugging port that the system selects.
    pub(crate) fn with_port(program: &Path) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        let child = Command::new(program)
            .args(arguments(profile.path(), "--remote-debugging-port=0"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let file = profile.path().join("DevToolsActivePort");
        let mut chrome = Self { child, endpoint: Endpoint::Ws(String::new()), _profile: profile };
        let deadline = Deadline::after_secs(30);
        while !deadline.passed() {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n')
                && path.starts_with('/')
            {
                chrome.endpoint = Endpoint::Ws(format!("ws://127.0.0.1:{port}{}", path.trim_end()));
                return Ok(chrome);
            }
            if let Some(status) = chrome.child.try_wait()? {
                return Err(format!("the browser ended: {status}").into());
            }
            pause(Duration::from_millis(10));
        }
        Err("the browser opened no port within 30 s".into())
    }

    /// A browser with the protocol on its descriptors 3 and 4.
    pub(crate) fn with_pipe(program: &Path) -> Result<Self> {
        const MOVE: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;
        let profile = tempfile::tempdir()?;
        let mut child = Command::new("sh")
            .args(["-c", MOVE])
            .arg(program)
            .args(arguments(profile.path(), "--remote-debugging-pipe"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let from = child.stdout.take().ok_or("no stdout")?.into();
        let to = child.stdin.take().ok_or("no stdin")?.into();
        Ok(Self { child, endpoint: Endpoint::Pipe(from, to), _profile: profile })
    }

    /// Its main process, which leads the process group.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The pipe ends as separate files.
    pub(crate) fn pipe_files(&self) -> Option<Result<(File, File)>> {
        match &self.endpoint {
            Endpoint::Ws(_) => None,
            Endpoint::Pipe(from, to) => Some((|| Ok((from.try_clone()?.into(), to.try_clone()?.into())))()),
        }
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal| group.is_some_and(|group| kill_process_group(group, signal).is_ok());
        signal(Signal::TERM);
        let deadline = Deadline::after_secs(5);
        while !deadline.passed() && matches!(self.child.try_wait(), Ok(None)) {
            pause(Duration::from_millis(20));
        }
        signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
