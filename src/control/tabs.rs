//! Finding, naming, focusing and closing tabs.

use std::sync::Arc;
use std::time::Duration;

use super::{Error, Profile, Running, TabHandle, TabInfo, names};
use crate::supervisor::TargetId;
use crate::sync::Deadline;

/// What asking for titles may take.
const TITLES: Duration = Duration::from_millis(300);

impl Profile {
    /// The open tabs, in the order they came. None when the browser does not run. Titles are those of this moment
    /// where the browser tells them at once, which it does whatever its pages do; else those that are known.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        let Ok(running) = self.running() else { return Vec::new() };
        let told = running.supervisor().target_infos(Deadline::after(TITLES)).unwrap_or_default();
        let now = running.snapshot();
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

    /// Closes a tab; dialogs that it shows are dismissed first.
    ///
    /// # Errors
    /// Those of [`tab`](Self::tab), [`Error::Page`].
    pub fn close_tab(&self, wanted: &str, deadline: Deadline) -> Result<TabInfo, Error> {
        let running = self.running()?;
        let target = self.find(&running, Some(wanted), false)?;
        let info = self.told(&running, &target)?;
        self.close(&running, &target, deadline)?;
        Ok(TabInfo { active: false, ..info })
    }

    /// Closes a page. A browser whose last page goes may go with it, so it gets an empty one before.
    pub(super) fn close(&self, running: &Running, target: &TargetId, deadline: Deadline) -> Result<(), Error> {
        let is_last = {
            // Both at once: of two that close the last two pages, one has to know it.
            let mut book = self.book.lock();
            book.close_one(target, &running.snapshot().pages)
        };
        let closed = (|| {
            if is_last && running.facts.pid.is_some() {
                let empty = running.supervisor().open_behind("about:blank", deadline)?;
                *running.initial.lock() = Some(empty);
            }
            Ok(running.supervisor().close_page(target, deadline)?)
        })();
        if closed.is_err() {
            self.book.lock().keep_one(target);
        }
        closed
    }

    /// The page that is meant; see [`tab`](Self::tab).
    pub(super) fn find(&self, running: &Running, wanted: Option<&str>, anew: bool) -> Result<TargetId, Error> {
        let now = running.snapshot();
        self.book.lock().find(wanted, anew, &now.pages)
    }

    /// A tab to work with, used from now on.
    pub(super) fn handle(&self, running: &Running, target: &TargetId) -> Result<TabHandle, Error> {
        let tab = running.tabs.tab(target)?;
        self.book.lock().used(target, true);
        running.initial.lock().take_if(|initial| initial == target);
        let info = self.told(running, target)?;
        Ok(TabHandle { tab, info })
    }

    /// What is told of a tab.
    pub(super) fn told(&self, running: &Running, target: &TargetId) -> Result<TabInfo, Error> {
        let now = running.snapshot();
        let told = self.book.lock().info(target, &now.pages);
        // One that shows a page of the browser itself is no tab.
        told.ok_or_else(|| Error::NoTab { wanted: target.as_str().to_owned(), nearest: None })
    }

    /// Closes tabs that were opened on request and not used for `browser.tabs.idle_minutes`, as if `ahead` had passed
    /// since now. Returns how many.
    pub(super) fn sweep(&self, ahead: Duration, deadline: Deadline) -> usize {
        let minutes = self.shared.config.browser.tabs.idle_minutes;
        let Some(running) = self.running().ok().filter(|_| minutes > 0) else { return 0 };
        let limit = Duration::from_secs(minutes.saturating_mul(60));
        let now = running.snapshot();
        let idle = self.book.lock().idle(&now.pages, limit, ahead);
        let running = Arc::clone(&running);
        idle.iter().filter(|target| self.close(&running, target, deadline).is_ok()).count()
    }
}
