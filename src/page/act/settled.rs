//! Why an action counts as finished.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why an action counts as finished: the token `settled` of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Settled {
    /// The action has no effects to wait for (`wait`, `close`).
    #[default]
    Done,
    /// The caller requested not to wait (`settle: "none"`).
    NotWaited,
    /// Nothing on the page changed because of the action.
    NoChange,
    /// The page changed and has settled.
    PageSettled,
    /// The page keeps changing.
    PageChanging,
    /// Requests that the action started are still under way.
    RequestsPending,
    /// The tab navigated, and the new document is loaded.
    Navigated,
    /// The tab is navigating; the new document is not loaded yet.
    NavigationPending,
    /// A download started; its end is not waited for.
    DownloadStarted,
    /// A JavaScript dialog opened and blocks the page.
    DialogOpened,
    /// The action closed its tab.
    TabClosed,
    /// The page did not respond.
    PageUnresponsive,
    /// The browser or its supervisor ended.
    BrowserEnded,
}

impl Settled {
    /// The token in JSON answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NotWaited => "not_waited",
            Self::NoChange => "no_change",
            Self::PageSettled => "page_settled",
            Self::PageChanging => "page_changing",
            Self::RequestsPending => "requests_pending",
            Self::Navigated => "navigated",
            Self::NavigationPending => "navigation_pending",
            Self::DownloadStarted => "download_started",
            Self::DialogOpened => "dialog_opened",
            Self::TabClosed => "tab_closed",
            Self::PageUnresponsive => "page_unresponsive",
            Self::BrowserEnded => "browser_ended",
        }
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Settled;

    #[test]
    fn tokens_are_those_of_json() {
        for settled in
            [Settled::Done, Settled::NotWaited, Settled::NoChange, Settled::NavigationPending, Settled::BrowserEnded]
        {
            assert_eq!(serde_json::to_value(settled).unwrap(), settled.as_str());
        }
    }
}
