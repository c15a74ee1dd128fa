//! Combines flags with environment variables. Precedence: flag, variable, default. An empty variable counts as unset.

use std::io;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::args::{Global, When};
use super::failure::Failure;
use cdpilot::browser::Switch;
use cdpilot::sync::Deadline;

/// Settings that apply to every command.
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
                Failure::usage(format!("CDPILOT_TIMEOUT_MS is {text:?}, which is not a number of milliseconds above 0; correct it or unset it"))
            })?),
        };
        check_headless()?;
        check_log()?;
        Ok(Self { timeout: millis.map(Duration::from_millis) })
    }

    /// The limit from `--timeout` or `CDPILOT_TIMEOUT_MS`.
    pub(super) fn own_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Time limit of an operation; `usual` is its default.
    pub(super) fn timeout(&self, usual: Duration) -> Duration {
        self.timeout.unwrap_or(usual)
    }

    /// The limit from `--timeout` or `CDPILOT_TIMEOUT_MS`, in milliseconds.
    pub(super) fn millis(&self) -> Option<u64> {
        self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    /// [`timeout`](Self::timeout) as a deadline from now.
    pub(super) fn deadline(&self, usual: Duration) -> Deadline<'static> {
        Deadline::after(self.timeout(usual))
    }
}

/// Refuses an unknown value of `CDPILOT_HEADLESS`, which would otherwise be ignored silently.
fn check_headless() -> Result<(), Failure> {
    const KNOWN: [&str; 9] = ["1", "true", "yes", "on", "0", "false", "no", "off", "auto"];
    match env("CDPILOT_HEADLESS") {
        Some(text) if !KNOWN.contains(&text.to_ascii_lowercase().as_str()) => {
            Err(Failure::usage(format!("CDPILOT_HEADLESS is {text:?}; give true, false or auto")))
        }
        _ => Ok(()),
    }
}

/// Refuses an invalid `CDPILOT_LOG`, which would otherwise be ignored silently.
fn check_log() -> Result<(), Failure> {
    match env("CDPILOT_LOG") {
        Some(text) if EnvFilter::try_new(&text).is_err() => Err(Failure::usage(format!(
            "CDPILOT_LOG is {text:?}, which is not a log filter; give a level or MODULE=LEVEL, such as info or cdpilot=debug"
        ))),
        _ => Ok(()),
    }
}

/// An environment variable, if it is set, not empty and valid UTF-8.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether to run without a window: the flag, else `Auto` (the launcher then reads `CDPILOT_HEADLESS`) when the variable is
/// set, else `otherwise`.
pub(super) fn headless(flag: Option<When>, otherwise: Switch) -> Switch {
    match flag {
        Some(when) => when.into(),
        None if env("CDPILOT_HEADLESS").is_some() => Switch::Auto,
        None => otherwise,
    }
}

/// Parses `--cdp-header` values. Errors do not repeat the text, which may be a secret.
pub(super) fn headers(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    /// Set by the connection itself.
    const OURS: [&str; 6] = ["host", "connection", "upgrade", "content-length", "transfer-encoding", "origin"];
    let read = |(index, text): (usize, &String)| {
        let wrong = |what: &str| Failure::usage(format!("--cdp-header number {} {what}", index + 1));
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("has no colon; give 'Name: value'"))?;
        let (name, value) = (name.trim(), value.trim());
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(wrong("has no valid name before the colon; give 'Name: value'"));
        }
        if value.is_empty() || http::HeaderValue::from_str(value).is_err() {
            return Err(wrong("has no valid value after the colon; give 'Name: value'"));
        }
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) || lower.starts_with("sec-websocket-") {
            return Err(wrong("is set by the connection itself; leave it out"));
        }
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().enumerate().map(read).collect()
}

/// Whether a log was requested by `-v` or `CDPILOT_LOG`.
pub(super) fn wants_log(global: &Global) -> bool {
    global.verbose > 0 || env("CDPILOT_LOG").is_some()
}

/// Starts logging to stderr. `-v` and `-q` take precedence over `CDPILOT_LOG`.
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
