//! What can go wrong between a person's wish for a browser and a connection to it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::backend::{Backend, Surface};
use super::webdriver::WebDriverProblem;
use crate::{ErrorKind, cdp};

/// A failed search, start, attach or stop.
///
/// Messages say what happened and what to do next. Addresses in them are redacted: a CDP address is
/// the key to the browser.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no browser where we looked.
    #[error("no Chromium-based browser found (looked for {}); install one with `cdpilot install`{}, or set CDPILOT_BROWSER to an executable", short_list(.tried), hint(.install))]
    NotFound {
        /// Names and paths that were tried, in order.
        tried: Vec<String>,
        /// The command of the system's package manager that installs one.
        install: Option<String>,
    },
    /// The executable that was asked for cannot be used.
    #[error("cannot use {} ({origin}) as the browser: {problem}; correct the path or leave it out to search for a browser", .path.display())]
    Executable {
        /// What was asked for.
        path: PathBuf,
        /// Where the wish came from.
        origin: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// An extra argument would take the browser out of our hands.
    #[error("browser argument {argument} is refused: {reason}")]
    Argument {
        /// The argument as given.
        argument: String,
        /// Why, and what to use instead.
        reason: &'static str,
    },
    /// Port 9222 belongs to whoever debugs by hand.
    #[error(
        "port {port} is never used for a browser we start, it is left to debugging by hand; choose another port or 0 for any free one"
    )]
    ReservedPort {
        /// The port.
        port: u16,
    },
    /// Somebody else listens on the debugging port.
    #[error("port {port} is in use by another program; choose another port or 0 for any free one")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// The profile folder cannot be made or used.
    #[error("cannot use the profile folder {}: {problem}; choose a folder that you may write to", .path.display())]
    Profile {
        /// The folder.
        path: PathBuf,
        /// The system's sentence.
        problem: String,
    },
    /// Another browser works in this profile.
    #[error("the profile {} is in use by {holder}; {}", .path.display(), way_out(.holder))]
    ProfileInUse {
        /// The profile folder.
        path: PathBuf,
        /// Who holds it.
        holder: Holder,
    },
    /// The process could not be started at all.
    #[error("cannot start {}: {problem}; check that it is an executable for this machine", .path.display())]
    Spawn {
        /// The executable.
        path: PathBuf,
        /// The system's sentence.
        problem: String,
    },
    /// Chromium refuses to run without its sandbox being usable.
    #[error("{}{}", sandbox_advice(*.root), quoted(.stderr))]
    Sandbox {
        /// Whether it was because we run as root.
        root: bool,
        /// The end of what the browser wrote to its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The browser wants to open a window and there is no display.
    #[error("the browser found no display to open a window on; set headless to true, or DISPLAY or WAYLAND_DISPLAY{}", quoted(.stderr))]
    NoDisplay {
        /// The end of what the browser wrote to its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The process ended before it could be used.
    #[error("the browser ended while starting ({status}){}{}", if *.clean { "; an ending without a fault often means that a browser that already runs took the start over: close it or choose another profile" } else { "; its own words may tell why" }, quoted(.stderr))]
    Exited {
        /// Exit code or signal, in words.
        status: String,
        /// Whether it ended with code 0.
        clean: bool,
        /// The end of what the browser wrote to its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The process runs but did not become usable in time.
    #[error("the browser did not {waiting_for} within {} ms and was stopped; raise the start timeout or check the executable{}", .after.as_millis(), quoted(.stderr))]
    StartTimeout {
        /// What was missing.
        waiting_for: &'static str,
        /// The time it had.
        after: Duration,
        /// The end of what the browser wrote to its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The text is not an address of a browser.
    #[error(
        "not a browser's address: {problem}; give ws://host:port/…, http://host:port, host:port or webdriver+http://host:port"
    )]
    BadUrl {
        /// What is wrong with it, without the address.
        problem: String,
    },
    /// Nobody answers there.
    #[error("no browser reachable at {endpoint}: {problem}; check that it runs with remote debugging on that port")]
    Unreachable {
        /// The address, redacted.
        endpoint: String,
        /// The system's sentence.
        problem: String,
    },
    /// Somebody answers, but not as a browser with remote debugging.
    #[error("{endpoint} does not answer as a CDP endpoint: {problem}; {advice}")]
    NotCdp {
        /// The address, redacted.
        endpoint: String,
        /// What it answered instead.
        problem: String,
        /// What to try.
        advice: &'static str,
    },
    /// There is no CDP endpoint, and without one no supervision.
    #[error(
        "there is no CDP endpoint at {endpoint}: {reason}; supervision is not available there ({} are left out), attach to a Chromium-based browser for it",
        hidden()
    )]
    NoCdp {
        /// The address, redacted.
        endpoint: String,
        /// Why there is none.
        reason: &'static str,
    },
    /// A WebDriver server gave no session.
    #[error("the WebDriver server at {endpoint} gives no session: {problem}")]
    WebDriver {
        /// The address, redacted.
        endpoint: String,
        /// What it did.
        problem: WebDriverProblem,
    },
    /// A WebDriver session could not be deleted.
    #[error(
        "the session on the WebDriver server at {endpoint} could not be ended: {problem}; a grid ends it when it was idle for long enough"
    )]
    SessionLeft {
        /// The address, redacted.
        endpoint: String,
        /// Why, redacted.
        problem: String,
    },
    /// A process could not be ended, though it was told to and then killed.
    #[error("processes of browser {pid} were still there {} ms after they were killed; the system may be out of resources, look at them with `ps`", .after.as_millis())]
    StillRunning {
        /// The browser's process id, which is also the id of its process group.
        pid: u32,
        /// How long was waited.
        after: Duration,
    },
    /// A temporary profile could not be removed.
    #[error("the temporary profile {} could not be removed: {problem}; delete it by hand", .path.display())]
    ProfileLeft {
        /// The folder that is left.
        path: PathBuf,
        /// The system's sentence.
        problem: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Cdp(#[from] cdp::Error),
    /// The system refused something we need.
    #[error("{what}: {problem}; the system may be out of resources")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's sentence.
        problem: String,
    },
}

impl Error {
    pub(super) fn system(what: &'static str, problem: impl fmt::Display) -> Self {
        Self::System { what, problem: problem.to_string() }
    }

    pub(super) fn no_cdp(backend: &Backend, reason: &'static str) -> Self {
        Self::NoCdp { endpoint: backend.to_string(), reason }
    }

    /// What went wrong, the same over all error types.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        use WebDriverProblem as P;
        match self {
            Self::NotFound { .. } | Self::Executable { .. } | Self::Unreachable { .. } | Self::NotCdp { .. } => {
                ErrorKind::BrowserNotRunning
            }
            Self::Argument { .. } | Self::ReservedPort { .. } | Self::BadUrl { .. } => ErrorKind::BadRequest,
            Self::PortInUse { .. } | Self::ProfileInUse { .. } => ErrorKind::Conflict,
            Self::WebDriver { problem: P::Unreachable { .. } | P::Answer { .. }, .. } => ErrorKind::BrowserNotRunning,
            Self::StartTimeout { .. } | Self::WebDriver { problem: P::Timeout { .. }, .. } => ErrorKind::Timeout,
            Self::Cdp(inner) if inner.is_timeout() || inner.is_blocked_by_dialog() => inner.kind(),
            Self::System { .. } => ErrorKind::Internal,
            _ => ErrorKind::BrowserError,
        }
    }

    /// The code of its [kind](Self::kind) in answers of the HTTP API and of tools.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Whether the backend has no CDP endpoint: what needs one ([`Surface::ALL`]) is left out then.
    #[must_use]
    pub fn is_without_cdp(&self) -> bool {
        matches!(self, Self::NoCdp { .. })
    }
}

/// Who holds a profile, as told by its `SingletonLock` (`<host>-<pid>`) and by what is known of that
/// process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Process id on that host.
    pub pid: Option<u32>,
    /// The host when it is not this one, as in a profile on a shared volume.
    pub other_host: Option<String>,
    /// The program that process runs, without its arguments.
    pub command: Option<String>,
    /// The process of this library that started the browser.
    pub owner: Option<u32>,
    /// The debugging port of the browser, where one may attach to it.
    pub port: Option<u16>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pid, &self.other_host, &self.command) {
            (Some(pid), None, Some(command)) => write!(f, "another browser (process {pid}, {command}")?,
            (Some(pid), None, None) => write!(f, "another browser (process {pid}")?,
            (Some(pid), Some(host), _) => write!(f, "another browser (process {pid} on host {host}")?,
            (None, ..) => {
                f.write_str("another browser")?;
                return self.owner.map_or(Ok(()), |owner| write!(f, " that process {owner} is just starting"));
            }
        }
        self.owner.map_or(Ok(()), |owner| write!(f, ", started by process {owner} through this library"))?;
        f.write_str(")")
    }
}

fn way_out(holder: &Holder) -> String {
    const CLOSE: &str = "close that browser or choose another profile";
    match (holder.port, &holder.other_host) {
        (_, Some(host)) => format!(
            "{CLOSE}; whether it still runs cannot be told from here: if {host} is gone for good, delete SingletonLock in the profile"
        ),
        (Some(port), None) => format!("{CLOSE}, or attach to it at 127.0.0.1:{port}"),
        (None, None) => CLOSE.to_owned(),
    }
}

fn hidden() -> String {
    Surface::ALL.map(|surface| surface.to_string()).join(", ")
}

fn short_list(tried: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = tried.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if tried.len() > SHOWN {
        text.push_str(&format!(" and {} more", tried.len() - SHOWN));
    }
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn hint(install: &Option<String>) -> String {
    install.as_ref().map(|command| format!(" (it runs `{command}`)")).unwrap_or_default()
}

fn sandbox_advice(root: bool) -> &'static str {
    if root {
        "Chromium does not run as root with its sandbox; run as an ordinary user, or set no_sandbox to true if only trusted pages are visited"
    } else {
        "Chromium cannot use its sandbox here (no user namespaces, no setuid helper); allow unprivileged user namespaces, or set no_sandbox to true if only trusted pages are visited"
    }
}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(". It wrote: {stderr}") }
}
