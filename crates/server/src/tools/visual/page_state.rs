//! States in which a page can be neither seen nor used, and what to do in each.

use std::time::Duration;

use super::super::ToolError;
use super::Visual;
use crate::control::{self, TabHandle};
use cdpilot::code::Code;
use cdpilot::page;
use cdpilot::supervisor;
use cdpilot::sync::DelayLimit;

/// A page that does not respond within this time is reported as such.
pub(super) const RESPONSE_LIMIT: Duration = Duration::from_millis(1_800);

/// Why a page can be neither seen nor used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageState {
    /// Its process has crashed.
    Crashed,
    /// A script of the page keeps it busy, and could not be ended.
    Busy,
    /// Another client is using it, for this many seconds at most if that is known.
    InUse(Option<u64>),
    /// The server has not responded to its last navigation.
    Loading,
    /// The connection to the browser is lost and is being restored.
    Disconnected,
    /// The browser is not running.
    NotRunning,
}

impl PageState {
    /// The state that an error is due to, if any.
    pub(super) fn of(error: &control::Error) -> Option<Self> {
        use supervisor::Error as Inner;
        match error {
            control::Error::NotRunning { .. } => Some(Self::NotRunning),
            control::Error::Page(page::Error::Busy { .. }) => Some(Self::InUse(None)),
            control::Error::Page(page::Error::Supervisor(inner)) => match inner {
                Inner::PageBusy { left: Some(left), .. } => Some(Self::InUse(Some(left.as_secs() + 1))),
                Inner::PageBusy { left: None, .. } => Some(Self::Busy),
                Inner::Unresponsive { .. } | Inner::Timeout { .. } => Some(Self::Busy),
                Inner::Navigating { .. } => Some(Self::Loading),
                Inner::Reconnecting { .. } => Some(Self::Disconnected),
                inner if inner.is_crash() => Some(Self::Crashed),
                inner if inner.kind() == Code::BrowserNotRunning => Some(Self::NotRunning),
                Inner::Cdp(inner) if inner.is_timeout() => Some(Self::Busy),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its name, the value of `state` in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::Busy | Self::InUse(_) => "busy",
            Self::Loading => "loading",
            Self::Disconnected => "disconnected",
            Self::NotRunning => "not_running",
        }
    }

    /// What it means, and what to do.
    pub(super) fn described(self) -> String {
        let text = match self {
            Self::Crashed => "the page crashed; load it again with tab (action refresh)",
            Self::InUse(Some(seconds)) => {
                return format!(
                    "another client runs a script in the page, for {seconds} s at most; call highlight again later, or use \
                     another tab (action open, url)"
                );
            }
            Self::InUse(None) => {
                "an action of another client is running in the tab; call highlight again later, or use another tab (action \
                 open, url)"
            }
            Self::Busy => {
                "a script keeps the page busy and it does not respond; call highlight again later, or load it again with tab \
                 (action refresh); if that fails, close it with tab (action close)"
            }
            Self::Loading => {
                "the page is loading and its server has not responded yet; call highlight again later, or leave it with tab \
                 (action open, url)"
            }
            Self::Disconnected => {
                "the connection to the browser is lost and is being restored; try again in a few seconds"
            }
            Self::NotRunning => "the browser is not running; start it with tab (action init, url)",
        };
        text.to_owned()
    }

    /// An error that names the state.
    pub(super) fn error(self, error: ToolError) -> ToolError {
        let code = if self.name() == Self::Busy.name() { Code::PageBusy } else { error.code };
        ToolError { code, message: self.described(), details: error.details }.with("state", self.name())
    }
}

impl Visual<'_> {
    /// Checks that a tab responds, within two seconds. Returns whether a script of the page was terminated for this.
    ///
    /// # Errors
    /// One that names the [`PageState`].
    pub(super) fn responds(&self, handle: &TabHandle) -> Result<bool, control::Error> {
        let delays = DelayLimit::new(RESPONSE_LIMIT);
        let soon = self.deadline().within(RESPONSE_LIMIT).delayed_at_most(&delays);
        handle.tab.responds(soon).map_err(Into::into)
    }

    /// Checks that no other client keeps a tab busy, before the tab is loaded again.
    ///
    /// # Errors
    /// One that names [`PageState::InUse`].
    pub(super) fn is_not_in_use(&self, handle: &TabHandle) -> Result<(), control::Error> {
        match self.responds(handle) {
            Err(error) if matches!(PageState::of(&error), Some(PageState::InUse(_))) => Err(error),
            _ => Ok(()),
        }
    }
}
