//! Finding, naming, focusing and closing tabs.

use std::sync::Arc;
use std::time::Duration;

use super::{Error, Profile, Running, Session, TabHandle, TabInfo, names};
use crate::page::{Act, ActKind, Outcome, Settled};
use crate::supervisor::{self, TargetId};
use crate::sync::Deadline;

/// What closing the last tab may take before its renderer is killed, and at most this part of the deadline.
const PATIENCE: Duration = Duration::from_secs(4);
const PART: u32 = 3;
/// Characters of a session's id by which the event log names who acts: enough to tell sessions apart.
const ACTOR: usize = 8;
/// What asking for titles may take.
const TITLES: Duration = Duration::from_millis(300);

impl Profile {
    /// The open tabs, in the order they came. None when the browser does not run. Titles are those of this moment
    /// where the browser tells them at once, which it does whatever its pages do; else those that are known.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        let Ok(running) = self.running() else { return Vec::new() };
        let told = running.supervisor().target_infos(Deadline::after(TITLES)).unwrap_or_default();
        let now = running.view();
        let mut tabs = self.book.lock().list(&now.pages);
        for tab in &mut tabs {
            if let Some(told) = told.iter().find(|told| told.target_id.as_str() == tab.target_id && told.url == tab.url)
            {
                tab.title.clone_from(&told.title);
            }
        }
        tabs
    }

    /// A tab by its target id, tab id, label, or the beginning of its target id; the one used last without. It is the
    /// one used last from now on.
    ///
    /// # Errors
    /// [`Error::NotRunning`], [`Error::NoTab`], [`Error::NoTabOpen`], [`Error::TabGone`], [`Error::Ambiguous`].
    pub fn tab(&self, wanted: Option<&str>) -> Result<TabHandle, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        self.handle(&running, &target)
    }

    /// The same for a read: naming a tab does not make it the current one.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab).
    pub fn tab_to_read(&self, wanted: Option<&str>) -> Result<TabHandle, Error> {
        let running = self.running()?;
        let target = self.find(&running, wanted, false)?;
        self.used(&running, &target, wanted.is_none())
    }

    /// A tab for what belongs to the whole browser, such as cookies: the tab that is named, else the current one, else any.
    /// With `starts`, a browser that does not run is started.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab); with `starts` also those of [`start`](Self::start).
    pub fn any_tab(&self, wanted: Option<&str>, starts: bool, deadline: Deadline) -> Result<TabHandle, Error> {
        let running = if starts { self.ensure(deadline)? } else { self.running()? };
        let target = match self.find(&running, wanted, false) {
            Err(Error::NoTabOpen | Error::NoCurrentTab | Error::TabGone { .. }) if wanted.is_none() => {
                let first = self.book.lock().list(&running.view().pages).into_iter().next();
                match first {
                    Some(tab) => TargetId::from(tab.target_id.as_str()),
                    None => {
                        let (target, _) = self.page_for(&running, true, deadline)?;
                        // The next tab that is opened takes its place.
                        *running.initial.lock() = Some(target.clone());
                        target
                    }
                }
            }
            found => found?,
        };
        let tab = running.tabs.tab(&target)?;
        Ok(TabHandle { tab, info: self.told(&running, &target)? })
    }

    /// Carries out an action on a tab. When it closes the last tab, an empty one takes its place: without any, the browser
    /// ends its session, and the session cookies are lost.
    ///
    /// # Errors
    /// Those of [`Tab::act`](crate::page::Tab::act), in [`Error::Page`].
    pub fn act(&self, handle: &TabHandle, act: &Act, deadline: Deadline) -> Result<Outcome, Error> {
        let (running, target) = (self.running()?, handle.tab.target());
        if matches!(act.kind, ActKind::Close {}) {
            let url = running.view().page(target.as_str()).map(|page| page.url.to_string()).unwrap_or_default();
            self.close(&running, target, deadline)?;
            self.book.lock().closed(target, &running.view().pages);
            return Ok(Outcome { target_id: Some(target.clone()), url, settled: Settled::Done, ..Outcome::default() });
        }
        let is_last = running.facts.pid.is_some() && running.view().pages.len() == 1;
        let empty = match closes(act) && is_last {
            true => Some(running.supervisor().open_behind("about:blank", deadline)?),
            false => None,
        };
        let session = Session::current();
        let actor: String = session.id().chars().take(ACTOR).collect();
        let outcome = handle.tab.act_as(act, Some(&*actor).filter(|actor| !actor.is_empty()), deadline);
        self.acted(handle, act);
        if let Some(empty) = empty {
            match running.view().page(target.as_str()) {
                Some(_) => running.supervisor().close_page(&empty, deadline)?,
                None => *running.initial.lock() = Some(empty),
            }
        }
        Ok(outcome?)
    }

    /// After an action: if it closed the current tab, the next one is current.
    pub fn acted(&self, handle: &TabHandle, act: &Act) {
        if closes(act)
            && let Ok(running) = self.running()
        {
            let now = running.view();
            let target = handle.tab.target();
            if now.page(target.as_str()).is_none() {
                self.book.lock().closed(target, &now.pages);
            }
        }
    }

    /// Brings a tab to the front. It is the one used last from now on.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn focus(&self, wanted: &str, deadline: Deadline) -> Result<TabInfo, Error> {
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        running.supervisor().bring_to_front(&target, deadline)?;
        Ok(self.handle(&running, &target)?.info)
    }

    /// Gives a tab a label. Another tab that has it loses it.
    ///
    /// # Errors
    /// [`Error::BadRequest`], those of [`tab`](Self::tab).
    pub fn label(&self, wanted: &str, label: &str) -> Result<TabInfo, Error> {
        names::label(label)?;
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        let mut book = self.book.lock();
        book.label(&target, label);
        book.used(&target, false);
        drop(book);
        self.told(&running, &target)
    }

    /// Closes a tab; dialogs that it shows are dismissed first. If it was the current one, the next one in the list is
    /// current afterwards, else the one before.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn close_tab(&self, wanted: &str, deadline: Deadline) -> Result<TabInfo, Error> {
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        let info = self.told(&running, &target)?;
        self.close(&running, &target, deadline)?;
        self.book.lock().closed(&target, &running.view().pages);
        Ok(TabInfo { active: false, ..info })
    }

    /// Closes a page. A browser whose last page goes may go with it, so it gets an empty one before.
    pub(super) fn close(&self, running: &Running, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        let is_last = {
            // Both at once: of two that close the last two pages, one has to know it.
            let mut book = self.book.lock();
            book.close_one(target, &running.view().pages)
        };
        let closed = if is_last && running.facts.pid.is_some() {
            close_last(running, target, deadline)
        } else {
            running.supervisor().close_page(target, deadline).map_err(Error::from)
        };
        match closed {
            Ok(()) => running.tabs.forget_closed(),
            Err(_) => self.book.lock().keep_one(target),
        }
        closed
    }

    /// The page that is meant; see [`tab`](Self::tab).
    pub(super) fn find(&self, running: &Running, wanted: Option<&str>, anew: bool) -> Result<TargetId, Error> {
        let now = running.view();
        self.book.lock().find(wanted, anew, &now.pages)
    }

    /// A tab to work with, used from now on.
    pub(super) fn handle(&self, running: &Running, target: &TargetId) -> Result<TabHandle, Error> {
        self.used(running, target, true)
    }

    fn used(&self, running: &Running, target: &TargetId, is_current: bool) -> Result<TabHandle, Error> {
        let tab = running.tabs.tab(target)?;
        self.book.lock().used(target, is_current);
        running.initial.lock().take_if(|initial| initial == target);
        let info = self.told(running, target)?;
        Ok(TabHandle { tab, info })
    }

    /// What is told of a tab.
    pub(super) fn told(&self, running: &Running, target: &TargetId) -> Result<TabInfo, Error> {
        let now = running.view();
        let told = self.book.lock().info(target, &now.pages);
        // One that shows a page of the browser itself is no tab.
        told.ok_or_else(|| Error::NoTab { wanted: target.as_str().to_owned(), nearest: None })
    }

    /// Closes tabs that were opened on request and not used for `browser.tabs.idle_minutes`, as if `ahead` had passed
    /// since now. Returns how many.
    pub(super) fn sweep(&self, ahead: Duration, deadline: Deadline) -> usize {
        let minutes = self.shared.config.browser.tabs.idle_minutes;
        let Ok(running) = self.running() else { return 0 };
        running.tabs.forget_closed(); // those that closed themselves
        if minutes == 0 {
            return 0;
        }
        let limit = Duration::from_secs(minutes.saturating_mul(60));
        let now = running.view();
        let idle = self.book.lock().idle(&now.pages, limit, ahead);
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

/// Closes the last page of a browser behind an empty one. A page can keep the browser itself so busy (by changing its
/// address in a loop) that it carries out no command; then the renderers are killed, all of which are this page's.
fn close_last(running: &Running, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
    let supervisor = running.supervisor();
    let close = |deadline: Deadline| -> Result<TargetId, supervisor::Error> {
        let empty = supervisor.open_behind("about:blank", deadline)?;
        supervisor.close_page(target, deadline).map(|()| empty)
    };
    let before: Vec<TargetId> = running.view().pages.iter().map(|page| page.target_id.clone()).collect();
    let empty = match close(deadline.within(PATIENCE.min(deadline.left() / PART))) {
        Err(supervisor::Error::Timeout { .. }) if !deadline.passed() => {
            let killed = supervisor.with_browser(crate::browser::BrowserProcess::kill_renderers).unwrap_or(0);
            tracing::warn!(killed, "the last tab keeps the browser from closing it; its renderers were killed");
            let empty = close(deadline)?;
            // The empty page of the first try, which crashed.
            let now = running.view();
            let more = now.pages.iter().map(|page| &page.target_id);
            for page in more.filter(|page| **page != empty && *page != target && !before.contains(page)) {
                supervisor.close_page(page, deadline)?;
            }
            empty
        }
        closed => closed?,
    };
    *running.initial.lock() = Some(empty);
    Ok(())
}
