//! What can go wrong with a home's browsers, each with the way out.

use serde_json::{Value, json};

use crate::code::Code;
use crate::{browser, config, page, supervisor};

/// A request to a browser of a home that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The page layer could not do it.
    #[error(transparent)]
    Page(#[from] page::Error),
    /// Settings or files of the home.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The browser did not start or could not be reached.
    #[error(transparent)]
    Browser(#[from] browser::Error),
    /// Nothing is launched because the settings say so.
    #[error("Browser disabled in settings; set browser.enabled: true in config.yaml")]
    Disabled,
    /// The profile's browser does not run.
    #[error("the browser of profile {profile} is not running; start it with `cdpilot browser start` or POST /start")]
    NotRunning {
        /// The profile.
        profile: String,
    },
    /// The browser failed to start several times in a row.
    #[error("the browser failed to start {failures} times; the next try is allowed in {wait_s} s. Last: {last}")]
    Resting {
        /// How often.
        failures: u32,
        /// Seconds until the next try.
        wait_s: u64,
        /// The last failure.
        last: String,
    },
    /// There is no such profile.
    #[error("no profile {name:?}{}; there are: {known}; `cdpilot browser profiles create NAME` makes a new one", meant(nearest.as_deref()))]
    NoProfile {
        /// What was asked for.
        name: String,
        /// The one that looks most like it.
        nearest: Option<String>,
        /// What there is.
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
    #[error("no tab {wanted:?}{}; a tab is named by its id (t1), its label, its target id or the beginning of that; \
             `cdpilot browser tabs` or GET /tabs lists them", meant(nearest.as_deref()))]
    NoTab {
        /// What was asked for.
        wanted: String,
        /// The one that looks most like it.
        nearest: Option<String>,
    },
    /// No tab is open, or none was used yet.
    #[error("no tab is open; open one with `cdpilot browser open URL` or POST /tabs/open")]
    NoTabOpen,
    /// Tabs are open, and the session has used none of them yet.
    #[error(
        "this session has no current tab yet; open one with `cdpilot browser open URL` or POST /tabs/open, or name one: `cdpilot browser tabs` or GET /tabs lists them"
    )]
    NoCurrentTab,
    /// The tab that would be used by itself is gone.
    #[error("tab {tab} that was used last is gone; name another one, `cdpilot browser tabs` or GET /tabs lists them")]
    TabGone {
        /// Its id.
        tab: String,
    },
    /// Several tabs fit.
    #[error("{wanted:?} may mean several tabs: {candidates}; give more of the target id, or a tab id")]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The tabs.
        candidates: String,
    },
    /// As many tabs are open as may be.
    #[error("{max} tabs are open, which is the limit; close one{}", idle(oldest.as_deref()))]
    TabLimit {
        /// The limit.
        max: usize,
        /// The tab that was not used for the longest time, of those that the session sees.
        oldest: Option<String>,
    },
    /// The page may not go there.
    #[error("navigation to {url} is refused: {reason}")]
    NavigationBlocked {
        /// Where to, without user name and query.
        url: String,
        /// Why, and what would allow it.
        reason: String,
    },
    /// The tab shows a dialog, and would be navigated.
    #[error(
        "the tab shows {} dialog{}; answer it first, or navigate with dismissDialogs \
         (--dismiss-dialogs) to dismiss it",
        article(kind),
        quoted(message)
    )]
    DialogOpen {
        /// Its type.
        kind: &'static str,
        /// The beginning of its message: untrusted.
        message: String,
    },
    /// Scripts of callers are switched off.
    #[error("scripts are switched off; set browser.evaluate_enabled: true in config.yaml")]
    EvaluateDisabled,
    /// Raw CDP commands are switched off.
    #[error("raw CDP commands are switched off; set browser.raw_cdp_enabled: true in config.yaml")]
    RawCdpDisabled,
    /// The settings admit other raw CDP commands alone.
    #[error("{method} needs browser.raw_cdp_enabled: {needed} in config.yaml, which is {set}")]
    RawLevel {
        /// The command.
        method: String,
        /// The level that it needs.
        needed: &'static str,
        /// The level that is set.
        set: &'static str,
    },
    /// A file that may not be used.
    #[error("{name:?} is refused: {why}")]
    PathRefused {
        /// The path or name as it was given.
        name: String,
        /// Why, and what may be used.
        why: String,
    },
    /// The request makes no sense.
    #[error("{problem}")]
    BadRequest {
        /// What is wrong and how it should be.
        problem: String,
    },
    /// It does not fit to how things are at the moment.
    #[error("{problem}")]
    Conflict {
        /// What is in the way, and what to do.
        problem: String,
    },
}

fn article(kind: &str) -> String {
    if kind.starts_with('a') { format!("an {kind}") } else { format!("a {kind}") }
}

fn quoted(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message:?})") }
}

/// Names the tab that was idle longest, where one is known.
fn idle(oldest: Option<&str>) -> String {
    oldest.map(|oldest| format!(", idle longest: {oldest}")).unwrap_or_default()
}

fn meant(nearest: Option<&str>) -> String {
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
    /// What kind of error it is.
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
            Self::BadRequest { .. } => Code::BadRequest,
            Self::Conflict { .. } => Code::Conflict,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// What an answer carries beside the sentence and the code.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::Page(page::Error::Supervisor(supervisor::Error::NavigationBlocked { url, reason })) => {
                Some(json!({ "url": url, "reason": reason }))
            }
            Self::Page(error) => error.details(),
            Self::NavigationBlocked { url, reason } => Some(json!({ "url": url, "reason": reason })),
            Self::TabLimit { max, oldest } => Some(json!({ "max": max, "oldestIdle": oldest })),
            _ => None,
        }
    }
}
