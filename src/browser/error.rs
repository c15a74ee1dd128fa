//! Errors of finding, starting, attaching to and stopping browsers.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::backend::{Backend, Surface};
use super::webdriver::WebDriverProblem;
use crate::cdp;
use crate::code::Code;

/// A failed search, start, attach or stop.
///
/// Messages say what failed and what to do next. Addresses in them are redacted: a CDP address gives full control of
/// the browser.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No browser was found.
    #[error("no Chromium-based browser found (looked for {}); install one with `cdpilot install`{}, or set CDPILOT_BROWSER to an executable", short_list(.tried), hint(.install))]
    NotFound {
        /// Names and paths that were tried, in order.
        tried: Vec<String>,
        /// The command of the system's package manager that installs one.
        install: Option<String>,
    },
    /// The given executable cannot be used.
    #[error("cannot use {} ({origin}) as the browser: {problem}; correct the path or leave it out to search for a browser", .path.display())]
    Executable {
        /// Path of the executable that was tried.
        path: PathBuf,
        /// Where the path came from.
        origin: &'static str,
        /// The reason, as part of a sentence.
        problem: String,
    },
    /// An extra argument would break the control of the browser.
    #[error("browser argument {argument} is refused: {reason}")]
    Argument {
        /// The argument as given.
        argument: String,
        /// The reason, and what to use instead.
        reason: &'static str,
    },
    /// Port 9222 is reserved for manual debugging.
    #[error("port {port} is reserved for manual debugging; choose another port, or 0 for any free one")]
    ReservedPort {
        /// The port that was requested.
        port: u16,
    },
    /// Another program listens on the debugging port.
    #[error("port {port} is in use by another program; choose another port, or 0 for any free one")]
    PortInUse {
        /// The port that is taken.
        port: u16,
    },
    /// The profile folder cannot be created or used.
    #[error("cannot use the profile folder {}: {problem}; choose a writable folder", .path.display())]
    Profile {
        /// The profile folder as requested.
        path: PathBuf,
        /// The message of the operating system.
        problem: String,
    },
    /// Another browser uses the profile.
    #[error("the profile {} is in use by {holder}; {}", .path.display(), way_out(.holder))]
    ProfileInUse {
        /// The folder that the other browser has locked.
        path: PathBuf,
        /// The browser that uses it.
        holder: Holder,
    },
    /// The process could not be started.
    #[error("cannot start {}: {problem}; check that it is an executable for this machine", .path.display())]
    Spawn {
        /// Path of the executable that the system did not start.
        path: PathBuf,
        /// The message of the operating system.
        problem: String,
    },
    /// Chromium refuses to run because its sandbox is not usable.
    #[error("{}", sandbox(*.root, NO_SANDBOX, .stderr))]
    Sandbox {
        /// Whether the reason is that it runs as root.
        root: bool,
        /// The end of its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The browser needs a display for its window, and there is none.
    #[error("{}", no_display(HEADLESS, .stderr))]
    NoDisplay {
        /// The end of its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The process ended while starting.
    #[error("the browser ended while starting ({status}){}{}", if *.clean { "; it often ends like this when a browser that already runs has taken over the start: close that browser or choose another profile" } else { "" }, quoted(.stderr))]
    Exited {
        /// Exit code or signal, in words.
        status: String,
        /// Whether it ended with code 0.
        clean: bool,
        /// The end of its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The process did not become usable in time.
    #[error("the browser did not {waiting_for} within {} ms and was stopped; raise the start timeout, or check the executable{}", .after.as_millis(), quoted(.stderr))]
    StartTimeout {
        /// What it did not do, as part of a sentence.
        waiting_for: &'static str,
        /// The start timeout that has passed.
        after: Duration,
        /// The end of its standard error, at most 2,000 characters.
        stderr: String,
    },
    /// The text is not the address of a browser.
    #[error(
        "not the address of a browser: {problem}; give ws://host:port/…, http://host:port, host:port or webdriver+http://host:port"
    )]
    BadUrl {
        /// The reason, without the address.
        problem: String,
    },
    /// The endpoint cannot be reached.
    #[error("no browser reachable at {endpoint}: {problem}; check that it runs with remote debugging on that port")]
    Unreachable {
        /// The address of the endpoint, with secrets covered.
        endpoint: String,
        /// The message of the operating system.
        problem: String,
    },
    /// The endpoint answers, but is not a browser with remote debugging.
    #[error("{endpoint} does not answer as a CDP endpoint: {problem}; {advice}")]
    NotCdp {
        /// The address of the endpoint, with secrets covered.
        endpoint: String,
        /// The answer, as part of a sentence.
        problem: String,
        /// What to try, as a clause.
        advice: &'static str,
    },
    /// There is no CDP endpoint, so supervision is not available.
    #[error(
        "there is no CDP endpoint at {endpoint}: {reason}; supervision is not available there (missing: {}); attach to a Chromium-based browser to use it",
        hidden()
    )]
    NoCdp {
        /// The address of the endpoint, with secrets covered.
        endpoint: String,
        /// The reason, as part of a sentence.
        reason: &'static str,
    },
    /// A WebDriver server created no session.
    #[error("the WebDriver server at {endpoint} created no session: {problem}")]
    WebDriver {
        /// The address of the endpoint, with secrets covered.
        endpoint: String,
        /// What the server did instead, with its message.
        problem: WebDriverProblem,
    },
    /// A WebDriver session could not be deleted.
    #[error(
        "cannot delete the session on the WebDriver server at {endpoint}: {problem}; a grid deletes it after its idle timeout"
    )]
    SessionLeft {
        /// The address of the endpoint, with secrets covered.
        endpoint: String,
        /// The reason, with secrets covered.
        problem: String,
    },
    /// Processes of the browser remained although they were killed.
    #[error("processes of browser {pid} still exist {} ms after they were killed; the system may be out of resources; inspect them with `ps`", .after.as_millis())]
    StillRunning {
        /// The process id of the browser, which is also its process group id.
        pid: u32,
        /// How long it waited.
        after: Duration,
    },
    /// A temporary profile could not be removed.
    #[error("the temporary profile {} could not be removed: {problem}; delete it by hand", .path.display())]
    ProfileLeft {
        /// The folder that is left on disk.
        path: PathBuf,
        /// The message of the operating system.
        problem: String,
    },
    /// The connection to the browser failed; the source says how.
    #[error(transparent)]
    Cdp(#[from] cdp::Error),
    /// The operating system refused an operation.
    #[error("{what}: {problem}; the system may be out of resources")]
    System {
        /// The operation, as part of a sentence.
        what: &'static str,
        /// The message of the operating system.
        problem: String,
    },
}

impl Error {
    pub(super) fn system(what: &'static str, problem: impl fmt::Display) -> Self {
        Self::System { what, problem: problem.to_string() }
    }

    /// The message with other words for the options that turn the sandbox and the window off: the settings of a program
    /// that has its own names for them.
    pub fn message_with(&self, no_sandbox: &str, headless: &str) -> String {
        match self {
            Self::Sandbox { root, stderr } => sandbox(*root, no_sandbox, stderr),
            Self::NoDisplay { stderr } => no_display(headless, stderr),
            _ => self.to_string(),
        }
    }

    pub(super) fn no_cdp(backend: &Backend, reason: &'static str) -> Self {
        Self::NoCdp { endpoint: backend.to_string(), reason }
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        use WebDriverProblem as P;
        match self {
            Self::NotFound { .. } | Self::Executable { .. } | Self::Unreachable { .. } | Self::NotCdp { .. } => {
                Code::BrowserNotRunning
            }
            Self::Argument { .. } | Self::ReservedPort { .. } | Self::BadUrl { .. } => Code::BadRequest,
            Self::PortInUse { .. } | Self::ProfileInUse { .. } => Code::Conflict,
            Self::WebDriver { problem: P::Unreachable { .. } | P::Answer { .. }, .. } => Code::BrowserNotRunning,
            Self::StartTimeout { .. } | Self::WebDriver { problem: P::Timeout { .. }, .. } => Code::Timeout,
            Self::Cdp(inner) if inner.is_timeout() => Code::Timeout,
            Self::System { .. } => Code::Internal,
            _ => Code::BrowserError,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Whether the backend has no CDP endpoint: what needs one ([`Surface::ALL`]) is left out then.
    #[must_use]
    pub fn is_without_cdp(&self) -> bool {
        matches!(self, Self::NoCdp { .. })
    }
}

/// The browser that uses a profile, by its `SingletonLock` (`<host>-<pid>`) and by what is known of that process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Process id on that host.
    pub pid: Option<u32>,
    /// The host if it is another one, as with a profile on a shared volume.
    pub other_host: Option<String>,
    /// The program of that process, without arguments.
    pub command: Option<String>,
    /// The process of this library that started the browser.
    pub owner: Option<u32>,
    /// The debugging port of the browser, if it accepts connections.
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
                return self.owner.map_or(Ok(()), |owner| write!(f, " that process {owner} is starting"));
            }
        }
        self.owner.map_or(Ok(()), |owner| write!(f, ", started by process {owner} of cdpilot"))?;
        f.write_str(")")
    }
}

fn way_out(holder: &Holder) -> String {
    const CLOSE: &str = "close that browser or choose another profile";
    match (holder.port, &holder.other_host) {
        (_, Some(host)) => format!(
            "{CLOSE}; it is not known from here whether it still runs: if {host} no longer exists, delete SingletonLock in the profile"
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

/// The options in the terms of the library.
const NO_SANDBOX: &str = "set no_sandbox to true";
const HEADLESS: &str = "set headless to true";

fn sandbox(root: bool, no_sandbox: &str, stderr: &str) -> String {
    let what = if root {
        "Chromium does not run as root with its sandbox; run as a normal user"
    } else {
        "Chromium cannot use its sandbox here (no user namespaces, no setuid helper); allow unprivileged user namespaces"
    };
    format!("{what}; or, if you only visit trusted pages, {no_sandbox}{}", quoted(stderr))
}

fn no_display(headless: &str, stderr: &str) -> String {
    let what = "the browser found no display for its window";
    format!("{what}; {headless}, or set DISPLAY or WAYLAND_DISPLAY{}", quoted(stderr))
}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(". Output: {stderr}") }
}
