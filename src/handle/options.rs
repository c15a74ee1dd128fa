//! How a browser's pages are watched and worked with.

use std::path::PathBuf;
use std::time::Duration;

use crate::browser::ConnectOptions;
use crate::page::PageOptions;
use crate::supervisor::{DialogPolicy, DialogRule, Pages, SupervisorOptions};

/// How long a call takes at most where nobody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How the pages of a [`Browser`](super::Browser) are watched and worked with.
///
/// ```
/// use std::time::Duration;
/// use cdpilot::BrowserOptions;
/// use cdpilot::supervisor::DialogPolicy;
/// let options = BrowserOptions::new().dialogs(DialogPolicy::AutoDismiss).timeout(Duration::from_secs(10));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BrowserOptions {
    /// Dialogs, rescue of stuck pages, reconnecting. Its `task` names the threads; its `pages` are not used.
    pub supervisor: SupervisorOptions,
    /// Network records, downloads, uploads.
    pub page: PageOptions,
    /// Which pages belong to the browser. Default: all of a browser that is launched; of one that is attached to, those that
    /// are opened through this handle.
    pub pages: Option<Pages>,
    /// How the connection is made when attaching.
    pub connect: ConnectOptions,
    /// The default deadline of each call on a page. Default 30 s; actions have less, see [`Act::timeout`](crate::page::Act::timeout).
    pub timeout: Duration,
}

impl Default for BrowserOptions {
    fn default() -> Self {
        Self {
            supervisor: SupervisorOptions::default(),
            page: PageOptions::default(),
            pages: None,
            connect: ConnectOptions::default(),
            timeout: TIMEOUT,
        }
    }
}

impl BrowserOptions {
    /// Dialogs stay open for an answer, requests are recorded, downloads are left to the browser, calls take 30 s at most.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which pages belong to the browser.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.pages = Some(pages);
        self
    }

    /// What happens to dialogs. Default: they stay open until they are answered, for 300 s at most.
    #[must_use]
    pub fn dialogs(mut self, policy: DialogPolicy) -> Self {
        self.supervisor.policy = policy;
        self
    }

    /// Adds a policy for some dialogs; the first rule that fits decides.
    #[must_use]
    pub fn dialog_rule(mut self, rule: DialogRule) -> Self {
        self.supervisor.rules.push(rule);
        self
    }

    /// The folder for downloads. Default: downloads are left to the browser.
    #[must_use]
    pub fn downloads(mut self, folder: impl Into<PathBuf>) -> Self {
        self.page.downloads = Some(folder.into());
        self
    }

    /// The default deadline of each call on a page. Default 30 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}
