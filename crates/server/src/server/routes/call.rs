//! A request with its profile, session, tab and deadline.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use super::super::ServerContext;
use super::super::error::ApiError;
use crate::control::{Profile, Session, TabHandle};
use crate::http::Request;
use cdpilot::page::{Tab, Tabs};
use cdpilot::supervisor::{self, Dialog, EventKind, FrameRef, Rescue, TargetId};
use cdpilot::sync::Deadline;

/// A request whose common fields have been parsed.
pub(in crate::server) struct Call<'a> {
    pub(in crate::server) context: &'a ServerContext,
    pub(in crate::server) request: &'a Request,
    /// Decoded values of the path parameters, in order.
    pub(super) path_params: Vec<String>,
    /// Name of the profile. Default: the default profile.
    pub(super) profile: Option<String>,
    /// The session.
    pub(in crate::server) session: Session,
    /// The tab. Default: the current tab of the session.
    pub(super) target: Option<String>,
    /// `timeoutMs`, limited to the allowed range.
    pub(super) requested_timeout: Option<Duration>,
    /// Ends when the client hangs up, too.
    pub(super) deadline: Deadline<'a>,
    resolved: RefCell<Option<ResolvedTab>>,
}

/// The tab that a request uses.
struct ResolvedTab {
    tab: Arc<Tab>,
    /// Number of the newest log entry before the request.
    log: u64,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        context: &'a ServerContext,
        request: &'a Request,
        path_params: Vec<String>,
        deadline: Deadline<'a>,
    ) -> Self {
        Self {
            context,
            request,
            path_params,
            profile: None,
            session: Session::default(),
            target: None,
            requested_timeout: None,
            deadline,
            resolved: RefCell::new(None),
        }
    }

    /// The profile of the request, for its session.
    pub(super) fn profile(&self) -> Result<Profile, ApiError> {
        Ok(self.context.control.profile(self.profile.as_deref())?.for_session(&self.session))
    }

    /// The tab of the request, which becomes the current tab.
    pub(super) fn tab(&self) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.tab(self.target.as_deref())?))
    }

    /// The tab of the request, without changing the current tab.
    pub(super) fn tab_to_read(&self) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.tab_to_read(self.target.as_deref())?))
    }

    /// Any tab, for operations on the whole browser. With `starts`, starts the browser if needed.
    pub(super) fn any_tab(&self, starts: bool) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.any_tab(self.target.as_deref(), starts, self.deadline)?))
    }

    /// The tabs of the profile and one of them, as in [`any_tab`](Self::any_tab).
    pub(super) fn tabs_and_any(&self, starts: bool) -> Result<(Tabs, TargetId), ApiError> {
        let tab = self.any_tab(starts)?.tab;
        Ok((self.profile()?.running()?.tabs.clone(), tab.target().clone()))
    }

    /// Ends a script that keeps the tab of the request busy. A tab that is not there, or is kept by a dialog, is left to the
    /// operation itself.
    ///
    /// # Errors
    /// For a page that does not respond afterwards either.
    pub(super) fn rescue_first(&self) -> Result<(), ApiError> {
        let Ok(handle) = self.tab_to_read() else { return Ok(()) };
        match self.rescue(&handle) {
            Err(error @ supervisor::Error::Unresponsive { .. }) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Ends a script that keeps a tab busy.
    pub(super) fn rescue(&self, handle: &TabHandle) -> Result<Rescue, supervisor::Error> {
        let page = FrameRef::TopOf(handle.tab.target().clone());
        handle.tab.supervisor().rescue(&page, self.deadline)
    }

    fn resolved_tab(&self, handle: TabHandle) -> TabHandle {
        let mut resolved = self.resolved.borrow_mut();
        if resolved.as_ref().is_none_or(|known| known.tab.target() != handle.tab.target()) {
            let log = handle.tab.supervisor().log().last();
            *resolved = Some(ResolvedTab { tab: Arc::clone(&handle.tab), log });
        }
        drop(resolved);
        handle
    }

    /// A path parameter by its position.
    pub(super) fn path_param(&self, index: usize) -> &str {
        self.path_params.get(index).map_or("", String::as_str)
    }

    /// The requested timeout, else `usual`; at most `most`.
    pub(super) fn within(&self, usual: Duration, most: Duration) -> Duration {
        self.requested_timeout.unwrap_or(usual).min(most)
    }

    /// Pending dialogs of the tab in use, else of all tabs.
    pub(super) fn dialogs(&self) -> Vec<Dialog> {
        if let Some(resolved) = &*self.resolved.borrow() {
            let now = resolved.tab.supervisor().view();
            return now.dialogs_of(resolved.tab.target().as_str()).cloned().collect();
        }
        let all = self.profile().and_then(|profile| Ok(profile.dialogs(self.target.as_deref())?));
        all.map(|(pending, _)| pending).unwrap_or_default()
    }

    /// Whether a script of the page was terminated during the request.
    pub(super) fn was_rescued(&self) -> bool {
        let resolved = self.resolved.borrow();
        let Some(resolved) = &*resolved else { return false };
        let tail = resolved.tab.supervisor().log().since(resolved.log, 1000);
        let target = resolved.tab.target();
        tail.entries.iter().any(|entry| entry.kind() == EventKind::Rescued && entry.target_id.as_ref() == Some(target))
    }
}
