//! One request on its way: whose browser, which tab, until when.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use super::super::Front;
use super::super::failure::Failure;
use super::super::http::Request;
use crate::control::{Profile, TabHandle};
use crate::page::{Tab, Tabs};
use crate::supervisor::{Dialog, EventKind, TargetId};
use crate::sync::Deadline;

/// A request whose common parts have been read.
pub(in crate::server) struct Call<'a> {
    pub(in crate::server) front: &'a Front,
    pub(in crate::server) request: &'a Request,
    /// What stands in the path, in order, decoded.
    pub(super) in_path: Vec<String>,
    /// Which profile; the default one when none is named.
    pub(super) profile: Option<String>,
    /// Which tab; the last used one when none is named.
    pub(super) target: Option<String>,
    /// How long was asked for, already cut.
    pub(super) wish: Option<Duration>,
    pub(super) deadline: Deadline,
    aimed: RefCell<Option<Aimed>>,
}

/// The tab that a request turned out to be about.
struct Aimed {
    tab: Arc<Tab>,
    /// The newest entry of the log before it.
    log: u64,
}

impl<'a> Call<'a> {
    pub(super) fn new(front: &'a Front, request: &'a Request, in_path: Vec<String>, deadline: Deadline) -> Self {
        Self { front, request, in_path, profile: None, target: None, wish: None, deadline, aimed: RefCell::new(None) }
    }

    pub(super) fn profile(&self) -> Result<Arc<Profile>, Failure> {
        Ok(self.front.control.profile(self.profile.as_deref())?)
    }

    /// The tab that it is about.
    pub(super) fn tab(&self) -> Result<TabHandle, Failure> {
        Ok(self.aim(self.profile()?.tab(self.target.as_deref())?))
    }

    /// The same for a read, which leaves the current tab as it is.
    pub(super) fn tab_to_read(&self) -> Result<TabHandle, Failure> {
        Ok(self.aim(self.profile()?.tab_to_read(self.target.as_deref())?))
    }

    /// A tab for what belongs to the whole browser; with `starts`, the browser is started when it does not run.
    pub(super) fn any_tab(&self, starts: bool) -> Result<TabHandle, Failure> {
        Ok(self.aim(self.profile()?.any_tab(self.target.as_deref(), starts, self.deadline)?))
    }

    /// The tabs of the profile, and one of them as with [`any_tab`](Self::any_tab).
    pub(super) fn tabs_and_any(&self, starts: bool) -> Result<(Tabs, TargetId), Failure> {
        let tab = self.any_tab(starts)?.tab;
        Ok((self.profile()?.running()?.tabs.clone(), tab.target().clone()))
    }

    fn aim(&self, handle: TabHandle) -> TabHandle {
        let log = handle.tab.supervisor().log().last();
        *self.aimed.borrow_mut() = Some(Aimed { tab: Arc::clone(&handle.tab), log });
        handle
    }

    /// What stands at a place of the path.
    pub(super) fn at(&self, place: usize) -> &str {
        self.in_path.get(place).map_or("", String::as_str)
    }

    /// A deadline of its own, when the wish counts from now.
    pub(super) fn within(&self, usual: Duration, most: Duration) -> Duration {
        self.wish.unwrap_or(usual).min(most)
    }

    /// Dialogs that wait: on the tab it is about, else on all.
    pub(super) fn dialogs(&self) -> Vec<Dialog> {
        if let Some(aimed) = &*self.aimed.borrow() {
            let now = aimed.tab.supervisor().view();
            return now.dialogs_of(aimed.tab.target().as_str()).cloned().collect();
        }
        let all = self.profile().and_then(|profile| Ok(profile.dialogs(self.target.as_deref())?));
        all.map(|(pending, _)| pending).unwrap_or_default()
    }

    /// Whether a script of its page was ended meanwhile.
    pub(super) fn was_rescued(&self) -> bool {
        let aimed = self.aimed.borrow();
        let Some(aimed) = &*aimed else { return false };
        let tail = aimed.tab.supervisor().log().since(aimed.log, 1000);
        let target = aimed.tab.target();
        tail.entries.iter().any(|entry| entry.kind() == EventKind::Rescued && entry.target_id.as_ref() == Some(target))
    }
}
