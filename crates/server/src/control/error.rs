//! Errors of a home's browsers. The messages suit every entry point; routes, commands and tool names are added by the entry point.

use serde_json::{Value, json};

use super::Refusal;
use crate::config;
use cdpilot::code::Code;
use cdpilot::{browser, page, supervisor};

/// Why a request to a browser of a home failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// An operation on a page failed.
    #[error(transparent)]
    Page(#[from] page::Error),
    /// Settings or files of the home are wrong or inaccessible.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The browser did not start or could not be reached.
    #[error("{}", in_settings(.0))]
    Browser(#[from] browser::Error),
    /// `browser.enabled` is false.
    #[error("Browser disabled in settings; set browser.enabled: true in config.yaml")]
    Disabled,
    /// The profile's browser is not running.
    #[error("the browser of profile {profile} is not running")]
    NotRunning {
        /// Name of the profile.
        profile: String,
    },
    /// The browser failed to start several times in a row.
    #[error("the browser failed to start {failures} times; retry in {wait_s} s. Last error: {last}")]
    Resting {
        /// Number of failures in a row.
        failures: u32,
        /// Seconds until the next attempt is allowed.
        wait_s: u64,
        /// Message of the last failure.
        last: String,
    },
    /// There is no such profile.
    #[error("no profile {name:?} (profiles: {known}){}", did_you_mean(nearest.as_deref()))]
    NoProfile {
        /// The name that was given.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
        /// The names of all profiles.
        known: String,
    },
    /// There is no session of that name.
    #[error("no session {name:?}; sessions: {}", if known.is_empty() { "none" } else { known })]
    NoSession {
        /// The name that was given.
        name: String,
        /// The names of all sessions.
        known: String,
    },
    /// There is no such tab.
    #[error("no tab {wanted:?} in this session; name a tab by its tab id (t1), label, target id or a unique prefix of the target id{}", did_you_mean(nearest.as_deref()))]
    NoTab {
        /// The name that was given.
        wanted: String,
        /// The most similar existing name.
        nearest: Option<String>,
    },
    /// No tab is open.
    #[error("no tab is open")]
    NoTabOpen,
    /// Tabs are open, but the session has not used any of them.
    #[error("this session has no current tab yet")]
    NoCurrentTab,
    /// The current tab was closed by another client or the user, or its browser ended.
    #[error("the current tab ({tab}) was closed")]
    TabGone {
        /// Its label or tab id.
        tab: String,
    },
    /// The name matches several tabs.
    #[error("{wanted:?} matches several tabs: {candidates}; give a tab id, or more characters of the target id")]
    Ambiguous {
        /// The name that was given.
        wanted: String,
        /// The tabs that match.
        candidates: String,
    },
    /// `browser.tabs.max` tabs are open.
    #[error("the limit of {max} open tabs (browser.tabs.max) is reached; close one{}", idle(oldest.as_deref()))]
    TabLimit {
        /// The limit, from `browser.tabs.max`.
        max: usize,
        /// Of the tabs that the session sees, the one that has been idle longest.
        oldest: Option<String>,
    },
    /// The navigation policy blocks the URL.
    #[error("navigation to {url} is blocked: {reason}")]
    NavigationBlocked {
        /// The URL, without user name and query.
        url: String,
        /// The reason, and the setting that would allow it.
        reason: String,
    },
    /// The tab to navigate shows a dialog.
    #[error("the tab shows {} dialog{}", article(kind), quoted(message))]
    DialogOpen {
        /// Type of the dialog.
        kind: &'static str,
        /// The beginning of its message; untrusted.
        message: String,
    },
    /// `browser.evaluate_enabled` is false.
    #[error("running scripts is disabled; set browser.evaluate_enabled: true in config.yaml and restart the server")]
    EvaluateDisabled,
    /// `browser.raw_cdp_enabled` is false.
    #[error("raw CDP commands are disabled; set browser.raw_cdp_enabled: true in config.yaml and restart the server")]
    RawCdpDisabled,
    /// `browser.raw_cdp_enabled` does not allow this command.
    #[error(
        "{method} requires browser.raw_cdp_enabled: {needed}; it is {set}; change it in config.yaml and restart the server"
    )]
    RawLevel {
        /// The CDP method, such as `Page.navigate`.
        method: String,
        /// The level that the command requires.
        needed: &'static str,
        /// The level that `config.yaml` sets.
        set: &'static str,
    },
    /// The command is never sent.
    #[error("{method} is not allowed: {refusal}")]
    RawRefused {
        /// The CDP method, such as `Page.navigate`.
        method: String,
        /// Why the command is refused.
        refusal: Refusal,
    },
    /// The file may not be used.
    #[error("{name:?} is refused: {why}")]
    PathRefused {
        /// The path or name that was given.
        name: String,
        /// The reason, and what is allowed.
        why: String,
    },
    /// An argument is invalid.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// The current state does not allow the request.
    #[error("{problem}")]
    Conflict {
        /// What prevents it, and what to do.
        problem: String,
    },
}

/// A browser's error in terms of `config.yaml`.
fn in_settings(error: &browser::Error) -> String {
    match error {
        browser::Error::Argument { .. } => format!("{error} (browser.extra_args and browser.transport in config.yaml)"),
        _ => error.message_with(
            "set browser.no_sandbox: true in config.yaml and restart the server",
            "set browser.headless: true in config.yaml and restart the server",
        ),
    }
}

fn article(kind: &str) -> String {
    if kind.starts_with('a') { format!("an {kind}") } else { format!("a {kind}") }
}

fn quoted(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message:?})") }
}

/// Names the tab that has been idle longest, if known.
fn idle(oldest: Option<&str>) -> String {
    oldest.map(|oldest| format!(", for example {oldest}, which was idle longest")).unwrap_or_default()
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

impl From<supervisor::Error> for Error {
    fn from(error: supervisor::Error) -> Self {
        match error {
            supervisor::Error::NavigationBlocked { url, reason } => Self::NavigationBlocked { url, reason },
            error => Self::Page(error.into()),
        }
    }
}

impl Error {
    /// The code of this error.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Page(error) => error.kind(),
            Self::Config(_) => Code::Internal,
            Self::Browser(error) => error.kind(),
            Self::Disabled => Code::BrowserDisabled,
            Self::NotRunning { .. } => Code::BrowserNotRunning,
            Self::Resting { .. } => Code::BrowserError,
            Self::NoProfile { .. } => Code::ProfileNotFound,
            Self::NoSession { .. } => Code::NotFound,
            Self::NoTab { .. } | Self::NoTabOpen | Self::NoCurrentTab => Code::TabNotFound,
            Self::TabGone { .. } => Code::TabGone,
            Self::Ambiguous { .. } => Code::AmbiguousTarget,
            Self::TabLimit { .. } => Code::TabLimit,
            Self::NavigationBlocked { .. } => Code::NavigationBlocked,
            Self::DialogOpen { .. } => Code::BlockedByDialog,
            Self::EvaluateDisabled => Code::EvaluateDisabled,
            Self::RawCdpDisabled | Self::RawLevel { .. } => Code::RawCdpDisabled,
            Self::PathRefused { .. } => Code::PathRefused,
            Self::BadRequest { .. } | Self::RawRefused { .. } => Code::BadRequest,
            Self::Conflict { .. } => Code::Conflict,
        }
    }

    /// The text of its [`kind`](Self::kind), such as `TAB_NOT_FOUND`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Machine-readable details for the answer; `None` if the message says everything.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::Page(page::Error::Supervisor(supervisor::Error::NavigationBlocked { url, reason })) => {
                Some(json!({ "url": url, "reason": reason }))
            }
            Self::Page(error) => error.details(),
            Self::NavigationBlocked { url, reason } => Some(json!({ "url": url, "reason": reason })),
            // Tells a browser that did not start from a running one that failed to do something.
            Self::Browser(_) | Self::Resting { .. } => Some(json!({ "stage": "start" })),
            Self::TabLimit { max, oldest } => Some(json!({ "max": max, "oldestIdle": oldest })),
            _ => None,
        }
    }
}
