//! Queries that work while a page is blocked: data that the supervisor keeps, and data that the browser's own
//! process returns independently of the page.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::Error;
use super::handle::Supervisor;
use super::route::FrameRef;
use super::snapshot::{ConsoleEntry, PageState};
use super::state::Request;
use crate::cdp::protocol::network::{Cookie, GetCookies};
use crate::cdp::protocol::page::{Crash, GetNavigationHistory, NavigationEntry};
use crate::cdp::protocol::target::{GetTargetInfo, GetTargets, TargetId, TargetInfo};
use crate::sync::Deadline;

/// Limit of cached screenshots in bytes, over all pages.
const SCREENSHOT_CACHE_BYTES: usize = 32 * 1024 * 1024;
/// Longest wait for a renderer to crash on request.
const CRASH_LIMIT: Duration = Duration::from_secs(2);

/// Longest wait to hand a report to the supervisor's thread.
const REPORT_LIMIT: Duration = Duration::from_secs(2);

/// The end of a download whose file was moved to its final place.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct MovedDownload {
    /// Number of the download within the supervisor.
    #[serde(skip)]
    pub(crate) number: u64,
    /// `completed`, `canceled` or `failed`.
    pub(crate) state: &'static str,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<std::path::PathBuf>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

/// The last screenshot of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RawScreenshot {
    /// PNG.
    pub png: Arc<[u8]>,
    /// Time of the screenshot, in Unix seconds.
    pub taken_at: f64,
    /// Address of the page at that time.
    pub url: Arc<str>,
}

/// The navigation history of a page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct History {
    /// Entries, oldest first.
    pub entries: Vec<NavigationEntry>,
    /// Index of the current entry, from 0.
    pub current: usize,
}

impl Supervisor {
    /// The cookies that a page's frames would send, or those for the given addresses. Answered while a
    /// dialog is open and while the page is stuck or crashed.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Cdp`], [`Error::Reconnecting`], [`Error::NotActive`].
    pub fn cookies(&self, page: &FrameRef, urls: &[&str], deadline: Deadline) -> Result<Vec<Cookie>, Error> {
        let mut get = GetCookies::new();
        get.urls = (!urls.is_empty()).then(|| urls.iter().map(|url| (*url).to_owned()).collect());
        Ok(self.call(page, &get, deadline)?.result.cookies)
    }

    /// The navigation history of a page. Answered while a dialog is open and while the page is stuck or crashed.
    ///
    /// # Errors
    /// As [`cookies`](Self::cookies).
    pub fn history(&self, page: &FrameRef, deadline: Deadline) -> Result<History, Error> {
        let returned = self.call(page, &GetNavigationHistory::new(), deadline)?.result;
        Ok(History { current: usize::try_from(returned.current_index).unwrap_or_default(), entries: returned.entries })
    }

    /// The browser's description of a page (title, address, opener). Answered while a dialog
    /// is open and while the page is stuck or crashed.
    ///
    /// # Errors
    /// As [`cookies`](Self::cookies).
    pub fn target_info(&self, page: &FrameRef, deadline: Deadline) -> Result<TargetInfo, Error> {
        let route = self.route(page, deadline)?;
        let mut get = GetTargetInfo::new();
        get.target_id = Some(route.target);
        Ok(route.connection.call(&get, deadline)?.target_info)
    }

    /// What the browser says of all its pages: their titles at this moment, which a snapshot has as they were when the
    /// pages were loaded. Answered as [`target_info`](Self::target_info) is.
    ///
    /// # Errors
    /// [`Error::Cdp`], [`Error::Reconnecting`], [`Error::NotActive`].
    pub fn target_infos(&self, deadline: Deadline) -> Result<Vec<TargetInfo>, Error> {
        self.connected(deadline)?;
        Ok(self.connection().call(&GetTargets::new(), deadline)?.target_infos)
    }

    /// The last console messages and uncaught exceptions of a page, oldest first: at most 500. Waits for nothing.
    #[must_use]
    pub fn console_of(&self, page: &TargetId) -> Vec<Arc<ConsoleEntry>> {
        self.console_ring.of(page)
    }

    /// Takes the downloads of the task's pages into a folder from now on, under names that Chromium makes up,
    /// and follows them in the snapshot; with no folder it leaves them to Chromium again. The folder is one of
    /// the machine that the browser runs on. It counts for all pages of their browser contexts, and the last
    /// who asks for it decides.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn catch_downloads(&self, folder: Option<&Path>, deadline: Deadline) -> Result<(), Error> {
        let folder = folder.map(Into::into);
        self.ask("setting the download folder", deadline, |reply| Request::Downloads { folder, moved: false, reply })
    }

    /// Applies a change of the navigation policy's protected ports to the sessions that there are; new ones get it by
    /// themselves.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn ports_changed(&self, deadline: Deadline) -> Result<(), Error> {
        self.ask("updating protected ports", deadline, |reply| Request::PortsChanged { reply })
    }

    /// The same for a caller that moves each download to its final place when it has ended. The log then has the end
    /// of a download when the caller [reports](Self::download_moved) it.
    pub(crate) fn catch_downloads_to_move(&self, folder: &Path, deadline: Deadline) -> Result<(), Error> {
        let folder = Some(folder.into());
        self.ask("setting the download folder", deadline, |reply| Request::Downloads { folder, moved: true, reply })
    }

    /// Adds the end of a download to the log: its final path, or why it failed.
    pub(crate) fn download_moved(&self, moved: MovedDownload) {
        // Of a supervisor that has ended the log has ended too.
        let deadline = Deadline::after(REPORT_LIMIT);
        let _ = self.ask("logging a download", deadline, |reply| Request::DownloadMoved { moved, reply });
    }

    /// The last picture that was taken of a page's viewport by [`screenshot`](Self::screenshot) or
    /// [`capture`](Self::capture). Waits for nothing.
    #[must_use]
    pub fn last_picture(&self, page: &TargetId) -> Option<RawScreenshot> {
        self.pictures.lock().iter().find(|(target, _)| target == page).map(|(_, picture)| picture.clone())
    }

    pub(super) fn keep_picture(&self, page: &TargetId, png: &[u8]) {
        let now = self.view();
        let Some(known) = now.page(page.as_str()) else { return };
        let taken_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let picture = RawScreenshot { png: png.into(), taken_at, url: Arc::clone(&known.url) };
        let mut pictures = self.pictures.lock();
        pictures.retain(|(target, _)| target != page && now.page(target.as_str()).is_some());
        pictures.push_back((page.clone(), picture));
        while pictures.iter().map(|(_, picture)| picture.png.len()).sum::<usize>() > SCREENSHOT_CACHE_BYTES {
            pictures.pop_front();
        }
    }

    /// Drops the pictures of pages that are gone.
    pub(crate) fn drop_old_pictures(&self) {
        let now = self.view();
        self.pictures.lock().retain(|(target, _)| now.page(target.as_str()).is_some());
    }

    /// Loads a page anew in a fresh renderer, for one that nothing else helps: what it held is lost. A
    /// renderer that still runs is made to crash first.
    ///
    /// # Errors
    /// As [`reload`](Self::reload); [`Error::Unresponsive`] when the renderer does not even crash: close
    /// the page then.
    pub fn revive(&self, page: &FrameRef, deadline: Deadline) -> Result<(), Error> {
        let route = self.route_at_once(page, deadline)?;
        let target = route.target.as_str();
        let crashed = |s: &super::View| s.page(target).is_none_or(|page| page.state == PageState::Crashed);
        if !crashed(&self.view()) {
            // Never answered: what would answer is gone.
            drop(route.connection.session(Arc::clone(&route.session)).send(&Crash::new()));
            if self.wait_until(deadline.within(CRASH_LIMIT), crashed).is_none() {
                let page = target.to_owned();
                return Err(Error::Unresponsive {
                    page,
                    method: "Page.crash".to_owned(),
                    after: CRASH_LIMIT,
                    tried: true,
                });
            }
        }
        self.reload(page, deadline).map(drop)
    }
}
