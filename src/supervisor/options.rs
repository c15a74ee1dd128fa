//! What a supervisor is asked to do.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::TargetId;

/// What happens to a dialog nobody has armed an answer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogPolicy {
    /// It stays open until somebody answers, at most for the dialog timeout.
    #[default]
    MustRespond,
    /// It is dismissed at once and recorded.
    AutoDismiss,
    /// It is accepted at once and recorded; a prompt gets its own default text.
    AutoAccept,
}

/// A policy name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialog policy `{0}`; one of: auto_accept, auto_dismiss, must_respond")]
pub struct UnknownPolicy(pub String);

impl FromStr for DialogPolicy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        match name {
            "must_respond" => Ok(Self::MustRespond),
            "auto_dismiss" => Ok(Self::AutoDismiss),
            "auto_accept" => Ok(Self::AutoAccept),
            other => Err(UnknownPolicy(other.to_owned())),
        }
    }
}

/// Which pages belong to the task. Popups opened by one of its pages always do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Pages {
    /// A new page, opened at the start.
    New {
        /// What it shows.
        url: String,
        /// The browser context it is opened in; the default one when there is none.
        context: Option<BrowserContextId>,
    },
    /// A page that is there already.
    Existing(TargetId),
    /// Every page of the browser, present and future.
    All,
    /// None to begin with: pages come with [`Supervisor::open_page`](super::Supervisor::open_page).
    None,
}

impl Default for Pages {
    fn default() -> Self {
        Self::New { url: "about:blank".to_owned(), context: None }
    }
}

/// Options of a [`Supervisor`](super::Supervisor).
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// Name of the task; part of the thread's name.
    pub task: String,
    /// Which pages belong to it. Default: a new one showing `about:blank`.
    pub pages: Pages,
    /// What happens to dialogs.
    pub policy: DialogPolicy,
    /// How long a dialog waits for an answer before the watchdog dismisses it. Default 300 s; zero
    /// means the default.
    pub dialog_timeout: Duration,
    /// How long the start may take, attaching included. Default 15 s.
    pub start_timeout: Duration,
    /// Whether pages opened through this supervisor are closed when it stops. Default true.
    pub close_own_pages: bool,
}

/// The seed's safety net: a dialog is dismissed after five minutes.
const DIALOG_TIMEOUT: Duration = Duration::from_secs(300);

impl Default for SupervisorOptions {
    fn default() -> Self {
        Self {
            task: "default".to_owned(),
            pages: Pages::default(),
            policy: DialogPolicy::default(),
            dialog_timeout: DIALOG_TIMEOUT,
            start_timeout: Duration::from_secs(15),
            close_own_pages: true,
        }
    }
}

impl SupervisorOptions {
    /// Options for a task with everything else at its default.
    #[must_use]
    pub fn task(name: impl Into<String>) -> Self {
        Self { task: name.into(), ..Self::default() }
    }

    pub(super) fn watchdog(&self) -> Duration {
        if self.dialog_timeout.is_zero() { DIALOG_TIMEOUT } else { self.dialog_timeout }
    }
}
