//! Opening tabs.

use std::time::Duration;

use super::{Error, NewTab, Profile, Running, TabInfo, WaitUntil, names};
use crate::page::Late;
use crate::supervisor::TargetId;
use crate::sync::{Cancel, Deadline};

/// How long a new tab is waited for to load. It is told as it is then.
const LOADING: Duration = Duration::from_secs(10);
/// What closing a tab again may take, even when the caller's time is up.
const CLOSING: Duration = Duration::from_secs(2);

/// A tab that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) tab: TabInfo,
    /// Whether it goes on loading.
    pub(crate) is_loading: bool,
    /// The HTTP status of its document, when there was one.
    pub(crate) status: Option<u16>,
}

/// One tab that is counted while it is being opened.
struct Opening<'a>(&'a Profile);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.book.lock().opened();
    }
}

impl Profile {
    /// Opens a tab, and waits until it is loaded, ten seconds at most. Starts the browser when it does not run. The
    /// empty page that a browser opens with is taken as long as nobody used it. Unless it is opened in the background,
    /// it comes to the front, and is the tab used last from now on.
    ///
    /// # Errors
    /// [`Error::TabLimit`], [`Error::NavigationBlocked`], [`Error::BadRequest`] for an address or label that is none,
    /// those of [`start`](Self::start), [`Error::Page`] when the address cannot be reached; then no tab is left.
    pub fn open_tab(&self, new: NewTab, deadline: Deadline) -> Result<TabInfo, Error> {
        self.open(new, deadline).map(|opened| opened.tab)
    }

    /// The same, and how far its document has come.
    pub(crate) fn open(&self, new: NewTab, deadline: Deadline) -> Result<Opened, Error> {
        if let Some(label) = &new.label {
            names::label(label)?;
        }
        let url = self.address(&new.url)?;
        let running = self.ensure(deadline)?;
        self.may_go(&running, &url, deadline)?;
        let (target, is_new) = self.page_for(&running, new.background, deadline)?;
        let (mut is_loading, mut status) = (false, None);
        if url != "about:blank" {
            let tab = running.tabs.tab(&target)?;
            let went = tab.go(&url, WaitUntil::Load, Late::Fails, deadline.within(LOADING));
            match went.map_err(Error::from) {
                Ok(went) => status = went.status,
                Err(error) if error.code() == "TIMEOUT" => is_loading = true,
                Err(error) => {
                    if is_new {
                        // Also when nobody waits for it any more.
                        let close = || running.supervisor().close_page(&target, Deadline::after(CLOSING));
                        let _ = Cancel::shielded(close);
                    }
                    return Err(error);
                }
            }
        }
        if !new.background {
            running.supervisor().bring_to_front(&target, deadline)?;
        }
        let now = running.view();
        let mut book = self.book.lock();
        book.list(&now.pages);
        book.asked(&target);
        book.used(&target, !new.background);
        if let Some(label) = &new.label {
            book.label(&target, label);
        }
        drop(book);
        Ok(Opened { tab: self.told(&running, &target)?, is_loading, status })
    }

    /// An empty page, and whether it was opened for this.
    pub(super) fn page_for(
        &self,
        running: &Running,
        background: bool,
        deadline: Deadline,
    ) -> Result<(TargetId, bool), Error> {
        let now = running.view();
        let initial = running.initial.lock().take();
        let is_empty = |target: &TargetId| now.page(target.as_str()).is_some_and(|page| &*page.url == "about:blank");
        if let Some(target) = initial.filter(is_empty) {
            return Ok((target, false));
        }
        self.book.lock().open_one(self.shared.config.browser.tabs.max, &now.pages)?;
        let _counted = Opening(self);
        let supervisor = running.supervisor();
        let target = match background {
            true => supervisor.open_behind("about:blank", deadline)?,
            false => supervisor.open_page("about:blank", None, deadline)?,
        };
        Ok((target, true))
    }
}
