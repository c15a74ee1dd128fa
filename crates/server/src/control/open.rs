//! Opening tabs.

use std::time::Duration;

use super::{Error, NewTab, Profile, Running, TabInfo, WaitUntil, names};
use cdpilot::page::{Download, Late};
use cdpilot::supervisor::TargetId;
use cdpilot::sync::Deadline;

/// How long to wait for a new tab to load. It may still be loading afterwards.
const LOADING: Duration = Duration::from_secs(10);
/// Time limit for closing a tab again after a failure, even past the caller's deadline. The supervisor repeats the command
/// after 2 s, since Chromium loses some.
const CLOSING: Duration = Duration::from_secs(5);

/// A tab that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) tab: TabInfo,
    /// Whether it is still loading.
    pub(crate) is_loading: bool,
    /// HTTP status of its document, if it was loaded over HTTP.
    pub(crate) status: Option<u16>,
    /// Downloads that the URL started instead of showing a document.
    pub(crate) downloads: Vec<Download>,
    /// Tab id of the tab that had the label before.
    pub(crate) label_taken_from: Option<String>,
}

/// Counts a tab as being opened until it is dropped.
struct Opening<'a>(&'a Profile);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.core.tab_index.lock().opened(&self.0.session);
        self.0.core.owner_known.notify_all();
    }
}

impl Profile {
    /// Opens a tab and waits until it is loaded, ten seconds at most. Starts the browser if it is not running. Reuses the
    /// initial empty page of the browser if it is unused. Unless it is opened in the background, the tab comes to the front
    /// and becomes the current tab.
    ///
    /// # Errors
    /// [`Error::TabLimit`], [`Error::NavigationBlocked`], [`Error::BadRequest`] for an invalid URL or label,
    /// those of [`start`](Self::start), [`Error::Page`] if the URL cannot be loaded; the tab is then closed.
    pub fn open_tab(&self, new: NewTab, deadline: Deadline<'_>) -> Result<TabInfo, Error> {
        self.open(new, deadline).map(|opened| opened.tab)
    }

    /// Like [`open_tab`](Self::open_tab), with the state of the document.
    pub(crate) fn open(&self, new: NewTab, deadline: Deadline<'_>) -> Result<Opened, Error> {
        self.open_loading(new, deadline, false)
    }

    /// Like [`open_tab`](Self::open_tab) in the background; a page that is still loading at the deadline is not an error, so
    /// that the caller always knows the tab that it has to close.
    pub(crate) fn open_in_background(&self, url: &str, deadline: Deadline<'_>) -> Result<TabInfo, Error> {
        let new = NewTab { url: url.to_owned(), label: None, background: true };
        self.open_loading(new, deadline, true).map(|opened| opened.tab)
    }

    fn open_loading(&self, new: NewTab, deadline: Deadline<'_>, may_be_late: bool) -> Result<Opened, Error> {
        if let Some(label) = &new.label {
            names::label(label)?;
        }
        let url = self.address(&new.url)?;
        let running = self.ensure(deadline)?;
        self.may_go(&running, &url, deadline)?;
        let (target, is_new) = self.page_for(&running, new.background, deadline)?;
        let (mut is_loading, mut status, mut downloads) = (false, None, Vec::new());
        if url != "about:blank" {
            let tab = running.tabs.tab(&target)?;
            let before = tab.before_navigation();
            let navigation = tab.go(&url, WaitUntil::Load, Late::Fails, deadline.within(LOADING));
            match navigation.map_err(Error::from) {
                Ok(navigation) => {
                    status = navigation.status;
                    if navigation.stayed && !navigation.blocked_by_dialog {
                        downloads = tab.downloads_of(&before, deadline);
                    }
                }
                Err(Error::Page(error)) if error.is_late() && (may_be_late || !deadline.passed()) => is_loading = true,
                // The tab stays, and goes on loading.
                Err(Error::Page(error)) if error.is_late() => return Err(error.into()),
                Err(error) => {
                    if is_new {
                        // Also if the request was cancelled.
                        let _ = running.supervisor().close_page(&target, Deadline::after(CLOSING));
                    }
                    return Err(error);
                }
            }
        }
        if !new.background {
            running.supervisor().bring_to_front(&target, deadline)?;
        }
        let now = running.view();
        let mut index = self.core.tab_index.lock();
        index.list(&self.session, &now.pages);
        index.requested(&target);
        index.used(&self.session, &target, !new.background);
        let label_taken_from = new.label.as_ref().and_then(|label| index.label(&self.session, &target, label));
        drop(index);
        Ok(Opened { tab: self.tab_info(&running, &target)?, is_loading, status, downloads, label_taken_from })
    }

    /// An empty page owned by the session, and whether it is a new one.
    pub(super) fn page_for(
        &self,
        running: &Running,
        background: bool,
        deadline: Deadline<'_>,
    ) -> Result<(TargetId, bool), Error> {
        let context = self.context(running, deadline)?;
        let now = running.view();
        let initial = if context.is_none() { running.initial.lock().take() } else { None };
        let is_empty = |target: &TargetId| now.page(target.as_str()).is_some_and(|page| &*page.url == "about:blank");
        if let Some(target) = initial.filter(is_empty) {
            self.core.tab_index.lock().give(&self.session, &target, &now.pages);
            self.assign(running, &target, deadline)?;
            self.fit(running, &target);
            return Ok((target, false));
        }
        self.core.tab_index.lock().open_one(&self.session, self.core.shared.config.browser.tabs.max, &now.pages)?;
        let _counted = Opening(self);
        let supervisor = running.supervisor();
        let target = match background {
            true => supervisor.open_behind("about:blank", context, deadline)?,
            false => supervisor.open_page("about:blank", context, deadline)?,
        };
        self.core.tab_index.lock().give(&self.session, &target, &running.view().pages);
        self.core.owner_known.notify_all();
        if !self.session.is_default() {
            self.assign(running, &target, deadline)?;
        }
        self.fit(running, &target);
        Ok((target, true))
    }
}
