//! What a supervisor is asked to do.

use std::time::Duration;

use super::policy::{DialogPolicy, DialogRule};
use super::redact::Secrets;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::TargetId;

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
    /// What happens to dialogs that no rule is for.
    pub policy: DialogPolicy,
    /// Policies for some dialogs; the first that fits decides.
    pub rules: Vec<DialogRule>,
    /// Secrets that must not be shown when a dialog has them in its text. Tokens of known forms are
    /// covered without being named here.
    pub secrets: Secrets,
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
            rules: Vec::new(),
            secrets: Secrets::default(),
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
