//! Finding, naming, focusing and closing tabs.

use std::sync::Arc;
use std::time::Duration;

use super::{ClosedTab, Error, LabelledTab, Profile, Running, TabHandle, TabInfo, names};
use cdpilot::page::{Act, ActKind, OpenedTab, Outcome, Settled};
use cdpilot::supervisor::{self, TargetId};
use cdpilot::sync::Deadline;

/// Time limit for closing the last tab before its renderer is killed, and its maximum share of the deadline.
const TAB_TIMEOUT: Duration = Duration::from_secs(4);
const PART: u32 = 3;
/// Time limit for assigning a tab to a session.
const ASSIGNING: Duration = Duration::from_secs(2);
/// Time limit for reading titles.
const TITLES: Duration = Duration::from_millis(300);

impl Profile {
    /// The open tabs, oldest first; none if the browser is not running. Titles are current if the browser reports them in
    /// time, else the last known ones.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        let Ok(running) = self.running() else { return Vec::new() };
        let info = running.supervisor().target_infos(Deadline::after(TITLES)).unwrap_or_default();
        let now = running.view();
        let mut tabs = self.core.tab_index.lock().list(&self.session, &now.pages);
        for tab in &mut tabs {
            if let Some(info) = info.iter().find(|info| info.target_id.as_str() == tab.target_id && info.url == tab.url)
            {
                tab.title.clone_from(&info.title);
            }
        }
        tabs
    }

    /// A tab by its target id, tab id, label or a unique prefix of its target id. Default: the current tab. The tab becomes
    /// the current tab.
    ///
    /// # Errors
    /// [`Error::NotRunning`], [`Error::NoTab`], [`Error::NoTabOpen`], [`Error::TabGone`], [`Error::Ambiguous`].
    pub fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        self.fit(&running, &target);
        self.handle(&running, &target)
    }

    /// Like [`tab`](Self::tab), but for reads: a named tab does not become the current tab.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn tab_to_read(&self, wanted: Option<&str>) -> Result<TabHandle, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        self.used(&running, &target, wanted.is_none())
    }

    /// A tab for operations on the whole browser, such as cookies: the named tab, else the current tab, else any. With
    /// `starts`, starts the browser if needed.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab); with `starts` also those of [`start`](Self::start).
    pub fn any_tab(&self, wanted: Option<&str>, starts: bool, deadline: Deadline<'_>) -> Result<TabHandle, Error> {
        let running = if starts { self.ensure(deadline)? } else { self.running()? };
        let target = match self.find(&running, wanted, false) {
            Err(Error::NoTabOpen | Error::NoCurrentTab | Error::TabGone { .. }) if wanted.is_none() => {
                let first = self.core.tab_index.lock().list(&self.session, &running.view().pages).into_iter().next();
                match first {
                    Some(tab) => TargetId::from(tab.target_id.as_str()),
                    None => {
                        let (target, _) = self.page_for(&running, true, deadline)?;
                        // The next tab that is opened reuses it.
                        if !self.session.is_isolated() {
                            *running.initial.lock() = Some(target.clone());
                        }
                        target
                    }
                }
            }
            found => found?,
        };
        let tab = running.tabs.tab(&target)?;
        Ok(TabHandle { tab, info: self.tab_info(&running, &target)? })
    }

    /// Performs an action on a tab. If it closes the last tab, an empty one replaces it: without any tab, the browser would
    /// end its session and lose its session cookies.
    ///
    /// # Errors
    /// Those of [`Tab::act`](cdpilot::page::Tab::act), in [`Error::Page`].
    pub fn act(&self, handle: &TabHandle, act: &Act, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let (running, target) = (self.running()?, handle.tab.target());
        if matches!(act.kind, ActKind::Close {}) {
            let url = running.view().page(target.as_str()).map(|page| page.url.to_string()).unwrap_or_default();
            let empty = self.close(&running, target, deadline)?;
            self.replaced(empty.as_ref());
            let mut outcome = Outcome::default();
            outcome.target_id = Some(target.clone());
            outcome.url = url;
            outcome.new_tabs = empty.and_then(|empty| self.replacement(&running, empty)).into_iter().collect();
            outcome.settled = Settled::Done;
            return Ok(outcome);
        }
        let is_last = running.facts.pid.is_some() && running.view().pages.len() == 1;
        let empty = match closes(act) && is_last {
            true => Some(running.supervisor().open_behind("about:blank", None, deadline)?),
            false => None,
        };
        let noted = self.begin_noting(&running, handle, act, deadline);
        let mut outcome = handle.tab.act_as(act, self.session.actor(), deadline);
        if let (Some(noted), Ok(_)) = (noted, &outcome) {
            self.end_noting(noted, handle, deadline);
        }
        if let Ok(outcome) = &outcome {
            self.claim_new_tabs(&running, outcome);
        }
        if let Some(empty) = empty {
            match running.view().page(target.as_str()) {
                Some(_) => running.supervisor().close_page(&empty, deadline)?,
                None => {
                    *running.initial.lock() = Some(empty.clone());
                    self.replaced(Some(&empty));
                    if let Ok(outcome) = &mut outcome {
                        outcome.new_tabs.retain(|tab| tab.target_id != empty);
                        outcome.new_tabs.extend(self.replacement(&running, empty));
                    }
                }
            }
        }
        Ok(outcome?)
    }

    /// The empty tab that replaced the last one becomes current, for callers that see it.
    fn replaced(&self, empty: Option<&TargetId>) {
        if let Some(empty) = empty.filter(|_| self.session.is_default()) {
            self.core.tab_index.lock().used(&self.session, empty, true);
        }
    }

    /// The empty tab that replaced the last one.
    fn replacement(&self, running: &Running, empty: TargetId) -> Option<OpenedTab> {
        let TabInfo { tab_id, url, title, .. } = self.tab_info(running, &empty).ok()?;
        Some(OpenedTab::new(empty, Some(tab_id), url, title))
    }

    /// Makes the session the owner of tabs that its action opened without an opener, with Control or the middle button for
    /// example.
    fn claim_new_tabs(&self, running: &Running, outcome: &Outcome) {
        if self.session.is_default() {
            return;
        }
        for opened in &outcome.new_tabs {
            let is_new = self.core.tab_index.lock().adopt(&self.session, &opened.target_id, &running.view().pages);
            if is_new {
                let within = Deadline::after(ASSIGNING);
                let _ = self.assign(running, &opened.target_id, within);
            }
        }
    }

    /// Brings a tab to the front and makes it the current tab.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn focus(&self, wanted: &str, deadline: Deadline<'_>) -> Result<TabInfo, Error> {
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        running.supervisor().bring_to_front(&target, deadline)?;
        Ok(self.handle(&running, &target)?.info)
    }

    /// Labels a tab. The label is removed from any other tab, which the answer names.
    ///
    /// # Errors
    /// [`Error::BadRequest`], those of [`tab`](Self::tab).
    pub fn label(&self, wanted: &str, label: &str) -> Result<LabelledTab, Error> {
        names::label(label)?;
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        let mut index = self.core.tab_index.lock();
        let label_taken_from = index.label(&self.session, &target, label);
        index.used(&self.session, &target, false);
        drop(index);
        Ok(LabelledTab { tab: self.tab_info(&running, &target)?, label_taken_from })
    }

    /// Closes a tab after dismissing its dialogs. If it was the current tab, there is none until another one is named. If it was
    /// the last tab, an empty one replaces it.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn close_tab(&self, wanted: &str, deadline: Deadline<'_>) -> Result<ClosedTab, Error> {
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        let info = self.tab_info(&running, &target)?;
        let empty = self.close(&running, &target, deadline)?;
        self.replaced(empty.as_ref());
        let replaced_by = empty.and_then(|empty| self.tab_info(&running, &empty).ok());
        Ok(ClosedTab { tab: TabInfo { active: false, ..info }, replaced_by })
    }

    /// Closes a page. If it is the last one, an empty page is opened first and returned, because the browser could end with
    /// its last page.
    pub(super) fn close(
        &self,
        running: &Running,
        target: &TargetId,
        deadline: Deadline<'_>,
    ) -> Result<Option<TargetId>, Error> {
        let is_last = {
            // Under one lock: of two callers that close the last two pages, one must see that its page is the last.
            let mut index = self.core.tab_index.lock();
            index.close_one(target, &running.view().pages)
        };
        let closed = if is_last && running.facts.pid.is_some() {
            close_last(running, target, deadline).map(Some)
        } else {
            running.supervisor().close_page(target, deadline).map(|()| None).map_err(Error::from)
        };
        match closed {
            Ok(_) => running.tabs.forget_closed(),
            Err(_) => self.core.tab_index.lock().keep_one(target),
        }
        closed
    }

    /// Finds the target of a tab; see [`tab`](Self::tab).
    pub(super) fn find(&self, running: &Running, wanted: Option<&str>, anew: bool) -> Result<TargetId, Error> {
        let now = running.view();
        self.core.tab_index.lock().find(&self.session, wanted, anew, &now.pages)
    }

    /// A handle of a tab, which becomes the current tab.
    pub(super) fn handle(&self, running: &Running, target: &TargetId) -> Result<TabHandle, Error> {
        self.used(running, target, true)
    }

    fn used(&self, running: &Running, target: &TargetId, is_current: bool) -> Result<TabHandle, Error> {
        let tab = running.tabs.tab(target)?;
        self.core.tab_index.lock().used(&self.session, target, is_current);
        running.initial.lock().take_if(|initial| initial == target);
        let info = self.tab_info(running, target)?;
        Ok(TabHandle { tab, info })
    }

    /// The description of a tab.
    pub(super) fn tab_info(&self, running: &Running, target: &TargetId) -> Result<TabInfo, Error> {
        let now = running.view();
        let info = self.core.tab_index.lock().info(&self.session, target, &now.pages);
        // Internal pages of the browser are not tabs.
        info.ok_or_else(|| Error::NoTab { wanted: target.as_str().to_owned(), nearest: None })
    }

    /// Whether no further tab can be opened, because `browser.tabs.max` are open.
    pub(crate) fn is_full(&self) -> bool {
        let Ok(running) = self.running() else { return false };
        self.core.tab_index.lock().is_full(self.core.shared.config.browser.tabs.max, &running.view().pages)
    }

    /// Closes tabs that clients opened and did not use for `browser.tabs.idle_minutes`, as if `ahead` had passed. Returns
    /// how many.
    pub(super) fn sweep(&self, ahead: Duration, deadline: Deadline<'_>) -> usize {
        let minutes = self.core.shared.config.browser.tabs.idle_minutes;
        let Ok(running) = self.running() else { return 0 };
        running.tabs.forget_closed(); // tabs that closed by themselves
        if minutes == 0 {
            return 0;
        }
        let limit = Duration::from_secs(minutes.saturating_mul(60));
        let now = running.view();
        let idle = self.core.tab_index.lock().idle(&now.pages, limit, ahead);
        let running = Arc::clone(&running);
        idle.iter().filter(|target| self.close(&running, target, deadline).is_ok()).count()
    }
}

/// Whether an action closes its tab, itself or as a part of a batch.
fn closes(act: &Act) -> bool {
    match &act.kind {
        ActKind::Close {} => true,
        ActKind::Batch { actions, .. } => actions.iter().any(closes),
        _ => false,
    }
}

/// Opens an empty page and closes the last page of a browser. A page can keep the browser process so busy (by changing its
/// URL in a loop) that it executes no command; then the renderers, which all belong to this page, are killed.
fn close_last(running: &Running, target: &TargetId, deadline: Deadline<'_>) -> Result<TargetId, Error> {
    let supervisor = running.supervisor();
    let close = |deadline: Deadline<'_>| -> Result<TargetId, supervisor::Error> {
        let empty = supervisor.open_behind("about:blank", None, deadline)?;
        supervisor.close_page(target, deadline).map(|()| empty)
    };
    let before: Vec<TargetId> = running.view().pages.iter().map(|page| page.target_id.clone()).collect();
    let empty = match close(deadline.within(TAB_TIMEOUT.min(deadline.left() / PART))) {
        Err(supervisor::Error::Timeout { .. }) if !deadline.passed() => {
            let killed = supervisor.with_browser(cdpilot::browser::BrowserProcess::kill_renderers).unwrap_or(0);
            tracing::warn!(killed, "the last tab could not be closed; killed its renderers");
            let empty = close(deadline)?;
            // The empty page of the first attempt, which crashed.
            let now = running.view();
            let more = now.pages.iter().map(|page| &page.target_id);
            for page in more.filter(|page| **page != empty && *page != target && !before.contains(page)) {
                supervisor.close_page(page, deadline)?;
            }
            empty
        }
        closed => closed?,
    };
    *running.initial.lock() = Some(empty.clone());
    Ok(empty)
}
