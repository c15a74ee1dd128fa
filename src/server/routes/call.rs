//! One request on its way: whose browser, which tab, until when.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use super::super::ServerContext;
use super::super::error::ApiError;
use crate::control::{Profile, Session, TabHandle};
use crate::http::Request;
use crate::page::{Tab, Tabs};
use crate::supervisor::{Dialog, Kind, TargetId};
use crate::sync::Deadline;

/// A request whose common parts have been read.
pub(in crate::server) struct Call<'a> {
    pub(in crate::server) context: &'a ServerContext,
    pub(in crate::server) request: &'a Request,
    /// What stands in the path, in order, decoded.
    pub(super) path_params: Vec<String>,
    /// Which profile; the default one when none is named.
    pub(super) profile: Option<String>,
    /// Whose current tab, tabs and armed answers are meant.
    pub(in crate::server) session: Session,
    /// Which tab; the last used one when none is named.
    pub(super) target: Option<String>,
    /// How long was asked for, already cut.
    pub(super) requested_timeout: Option<Duration>,
    pub(super) deadline: Deadline,
    resolved: RefCell<Option<ResolvedTab>>,
}

/// The tab that a request turned out to be about.
struct ResolvedTab {
    tab: Arc<Tab>,
    /// The newest entry of the log before it.
    log: u64,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        context: &'a ServerContext,
        request: &'a Request,
        path_params: Vec<String>,
        deadline: Deadline,
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

    /// The profile that it is about, as its session uses it.
    pub(super) fn profile(&self) -> Result<Profile, ApiError> {
        Ok(self.context.control.profile(self.profile.as_deref())?.for_session(&self.session))
    }

    /// The tab that it is about.
    pub(super) fn tab(&self) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.tab(self.target.as_deref())?))
    }

    /// The same for a read, which leaves the current tab as it is.
    pub(super) fn tab_to_read(&self) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.tab_to_read(self.target.as_deref())?))
    }

    /// A tab for what belongs to the whole browser; with `starts`, the browser is started when it does not run.
    pub(super) fn any_tab(&self, starts: bool) -> Result<TabHandle, ApiError> {
        Ok(self.resolved_tab(self.profile()?.any_tab(self.target.as_deref(), starts, self.deadline)?))
    }

    /// The tabs of the profile, and one of them as with [`any_tab`](Self::any_tab).
    pub(super) fn tabs_and_any(&self, starts: bool) -> Result<(Tabs, TargetId), ApiError> {
        let tab = self.any_tab(starts)?.tab;
        Ok((self.profile()?.running()?.tabs.clone(), tab.target().clone()))
    }

    fn resolved_tab(&self, handle: TabHandle) -> TabHandle {
        let log = handle.tab.supervisor().log().last();
        *self.resolved.borrow_mut() = Some(ResolvedTab { tab: Arc::clone(&handle.tab), log });
        handle
    }

    /// What stands at a place of the path.
    pub(super) fn path_param(&self, index: usize) -> &str {
        self.path_params.get(index).map_or("", String::as_str)
    }

    /// A deadline of its own, when the wish counts from now.
    pub(super) fn within(&self, usual: Duration, most: Duration) -> Duration {
        self.requested_timeout.unwrap_or(usual).min(most)
    }

    /// Dialogs that wait: on the tab it is about, else on all.
    pub(super) fn dialogs(&self) -> Vec<Dialog> {
        if let Some(resolved) = &*self.resolved.borrow() {
            let now = resolved.tab.supervisor().snapshot();
            return now.dialogs_of(resolved.tab.target().as_str()).cloned().collect();
        }
        let all = self.profile().and_then(|profile| Ok(profile.dialogs(self.target.as_deref())?));
        all.map(|(pending, _)| pending).unwrap_or_default()
    }

    /// Whether a script of its page was ended meanwhile.
    pub(super) fn was_rescued(&self) -> bool {
        let resolved = self.resolved.borrow();
        let Some(resolved) = &*resolved else { return false };
        let tail = resolved.tab.supervisor().log().since(resolved.log, 1000);
        let target = resolved.tab.target();
        tail.entries.iter().any(|entry| entry.kind() == Kind::Rescued && entry.target_id.as_ref() == Some(target))
    }
}
