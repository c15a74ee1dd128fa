//! Waiting until a browser that listens on a port is reachable.

use std::path::Path;
use std::time::Duration;

use super::endpoint::{Endpoint, Scheme};
use super::process::Process;
use super::resolve::{Resolve, resolve};
use crate::sync::Deadline;

/// Written by Chromium into the profile: the port, and on a second line the path of the browser's WebSocket URL.
/// Chromium 156 writes it for port 0 only.
pub(super) const PORT_FILE: &str = "DevToolsActivePort";

/// The content of [`PORT_FILE`] in a profile.
pub(super) fn read(profile: &Path) -> Option<(u16, String)> {
    let text = std::fs::read_to_string(profile.join(PORT_FILE)).ok()?;
    let mut lines = text.lines();
    let port = lines.next()?.trim().parse().ok()?;
    // Without its second line the file is still being written.
    let path = lines.next()?.trim();
    (path.starts_with('/') && port != 0).then(|| (port, path.to_owned()))
}

/// Why there is no address.
pub(super) enum NotReady {
    /// The process has ended.
    Ended,
    /// The port is in use, according to the browser's output.
    PortRefused,
    /// The deadline has passed.
    TimeUp,
}

/// Waits for the browser's WebSocket address: the line on its standard error, the file in its profile, or (on a fixed
/// port) its answer to `/json/version`, whichever is available first.
///
/// The line wakes the wait; the other two give no signal and are checked every 20 ms. They are for browsers behind a
/// script that hides the line.
pub(super) fn wait(
    process: &mut Process,
    profile: &Path,
    port: u16,
    deadline: Deadline<'_>,
) -> Result<Endpoint, NotReady> {
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    const ASK_EVERY: u32 = 10;
    for round in 0u32.. {
        let findings = process
            .log()
            .wait(deadline.within(POLL_INTERVAL), |findings| findings.listening.is_some() || findings.port_refused);
        if findings.port_refused {
            return Err(NotReady::PortRefused);
        }
        if let Some(endpoint) = findings.listening.and_then(|address| Endpoint::parse(&address).ok()) {
            return Ok(endpoint);
        }
        if let Some((port, path)) = read(profile) {
            return Ok(Endpoint::local(port, &path));
        }
        if process.wait_ended(Deadline::after(Duration::ZERO)) {
            return Err(NotReady::Ended);
        }
        if port != 0
            && round % ASK_EVERY == ASK_EVERY - 1
            && let Some(endpoint) = ask(port, deadline)
        {
            return Ok(endpoint);
        }
        if deadline.passed() {
            break;
        }
    }
    Err(NotReady::TimeUp)
}

fn ask(port: u16, deadline: Deadline<'_>) -> Option<Endpoint> {
    let requested = Endpoint { scheme: Scheme::Http, ..Endpoint::local(port, "/") };
    let how = Resolve {
        headers: &[],
        roots: &[],
        profiles: Vec::new(),
        deadline: deadline.within(Duration::from_millis(500)),
    };
    resolve(&requested, &how).ok()
}
