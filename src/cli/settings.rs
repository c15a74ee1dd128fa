//! Flags and environment variables put together: a flag comes before its variable, a variable before
//! the default. An empty variable counts as not set.

use std::io;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::args::{Global, When};
use super::failure::Failure;
use crate::browser::Switch;
use crate::sync::Deadline;

/// What holds for every command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    timeout: Option<Duration>,
}

impl Settings {
    pub(super) fn new(global: &Global) -> Result<Self, Failure> {
        let millis = match (global.timeout, env("CDPILOT_TIMEOUT_MS")) {
            (Some(millis), _) => Some(millis),
            (None, None) => None,
            (None, Some(text)) => Some(text.parse().ok().filter(|millis| *millis > 0).ok_or_else(|| {
                Failure::usage(format!("CDPILOT_TIMEOUT_MS is `{text}`; give a number of milliseconds above 0"))
            })?),
        };
        check_headless()?;
        Ok(Self { timeout: millis.map(Duration::from_millis) })
    }

    /// How long an operation may take that has `usual` when nobody says otherwise.
    pub(super) fn timeout(&self, usual: Duration) -> Duration {
        self.timeout.unwrap_or(usual)
    }

    /// What was asked for, in milliseconds.
    pub(super) fn millis(&self) -> Option<u64> {
        self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    /// The same as a deadline that begins now.
    pub(super) fn deadline(&self, usual: Duration) -> Deadline {
        Deadline::after(self.timeout(usual))
    }
}

/// Refuses a `CDPILOT_HEADLESS` that means nothing: a window would open, or not, against what was meant.
fn check_headless() -> Result<(), Failure> {
    const KNOWN: [&str; 9] = ["1", "true", "yes", "on", "0", "false", "no", "off", "auto"];
    match env("CDPILOT_HEADLESS") {
        Some(text) if !KNOWN.contains(&text.to_ascii_lowercase().as_str()) => {
            Err(Failure::usage(format!("CDPILOT_HEADLESS is `{text}`; give true, false or auto")))
        }
        _ => Ok(()),
    }
}

/// An environment variable that is set, not empty, and text.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether to run without a window. Without a flag the browser room looks at `CDPILOT_HEADLESS` and the
/// display, or `otherwise` holds when the variable is not set.
pub(super) fn headless(flag: Option<When>, otherwise: Switch) -> Switch {
    match flag {
        Some(when) => when.into(),
        None if env("CDPILOT_HEADLESS").is_some() => Switch::Auto,
        None => otherwise,
    }
}

/// Reads `--cdp-header` values. What is wrong with one is told without the text, which may be a secret.
pub(super) fn headers(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    /// They belong to the connection itself.
    const OURS: [&str; 6] = ["host", "connection", "upgrade", "content-length", "transfer-encoding", "origin"];
    let read = |(index, text): (usize, &String)| {
        let wrong = |what: &str| Failure::usage(format!("--cdp-header number {} {what}", index + 1));
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("has no colon; give `Name: value`"))?;
        let (name, value) = (name.trim(), value.trim());
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(wrong("has no valid name before its colon; give `Name: value`"));
        }
        if value.is_empty() || http::HeaderValue::from_str(value).is_err() {
            return Err(wrong("has no valid value behind its colon; give `Name: value`"));
        }
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) || lower.starts_with("sec-websocket-") {
            return Err(wrong("is one that the connection sets itself; leave it out"));
        }
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().enumerate().map(read).collect()
}

/// Whether anything was said about the log.
pub(super) fn wants_log(global: &Global) -> bool {
    global.verbose > 0 || env("CDPILOT_LOG").is_some()
}

/// Sends the log to stderr, as `CDPILOT_LOG` says, else as `-v` and `-q` say.
pub(super) fn start_log(global: &Global) {
    let usual = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "cdpilot=debug,warn",
        (false, _) => "trace",
    };
    let by_flag = global.quiet || global.verbose > 0;
    let wanted = env("CDPILOT_LOG").filter(|_| !by_flag).unwrap_or_else(|| usual.to_owned());
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let _ = log.with_ansi(std::io::IsTerminal::is_terminal(&io::stderr())).try_init();
}
