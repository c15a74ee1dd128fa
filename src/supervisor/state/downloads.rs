//! Downloads of the task's pages: destination and progress.
//!
//! `Browser.setDownloadBehavior`, sent once per browser context, saves downloads in a folder under generated names and
//! enables progress events. The client that sends it last decides where downloads go; therefore the path in the final
//! event takes precedence, if it has one.
//!
//! These events come from the browser, not from a session: Chromium 156 reports the download of a new tab before its frame
//! tree, and may do so before the tab itself. They are kept until their page is known, or for good if it is never ours.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::super::log::DownloadEnded;
use super::super::log::LogEvent as Noted;
use super::super::passive_queries::MovedDownload;
use super::super::snapshot::{DownloadProgress, DownloadView};
use super::{Now, State};
use crate::cdp::protocol::browser::{BrowserContextId, SetDownloadBehavior, SetDownloadBehaviorBehavior};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt;

/// <https://chromedevtools.github.io/devtools-protocol/tot/Browser/#event-downloadWillBegin>
pub(in crate::supervisor) const DOWNLOAD_WILL_BEGIN: &str = "Browser.downloadWillBegin";
/// <https://chromedevtools.github.io/devtools-protocol/tot/Browser/#event-downloadProgress>
pub(in crate::supervisor) const DOWNLOAD_PROGRESS: &str = "Browser.downloadProgress";
/// Maximum number of downloads kept.
const MAX_KEPT: usize = 50;
/// Maximum number of downloads kept whose page is not known.
const MAX_UNCLAIMED: usize = 50;
/// Maximum length of a name or URL, in bytes.
const MAX_TEXT: usize = 2048;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begin {
    frame_id: FrameId,
    guid: Arc<str>,
    url: String,
    suggested_filename: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    guid: Arc<str>,
    #[serde(default)]
    total_bytes: f64,
    #[serde(default)]
    received_bytes: f64,
    state: String,
    file_path: Option<String>,
}

impl rt::Event<'_> for Begin {
    const METHOD: &'static str = DOWNLOAD_WILL_BEGIN;
}

impl rt::Event<'_> for Progress {
    const METHOD: &'static str = DOWNLOAD_PROGRESS;
}

/// The downloads of all pages.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    folder: Option<Arc<Path>>,
    /// Whether the end of a download is logged only after its file was moved to its final place.
    moved: bool,
    /// Contexts that were configured on this connection.
    reported: HashSet<Option<BrowserContextId>>,
    /// Downloads of pages that are not known yet, oldest first, with their latest progress.
    unclaimed: VecDeque<(Begin, Option<Progress>)>,
    /// The newest downloads, oldest first.
    all: VecDeque<(Arc<str>, DownloadView)>,
    last: u64,
}

impl Downloads {
    pub(super) fn view(&self) -> Arc<[DownloadView]> {
        self.all.iter().map(|(_, download)| download.clone()).collect()
    }
}

impl State {
    /// Saves downloads in a folder from now on, or restores Chromium's default.
    pub(super) fn catch_downloads(&mut self, folder: Option<Arc<Path>>, moved: bool) {
        self.dirty.downloads = true; // callers may wait for the end of a download
        let reported = std::mem::take(&mut self.downloads.reported);
        self.downloads.folder = folder;
        self.downloads.moved = moved;
        if self.downloads.folder.is_none() {
            for context in reported {
                let mut leave = SetDownloadBehavior::new(SetDownloadBehaviorBehavior::Default);
                leave.browser_context_id = context;
                self.send(None, 0, leave);
            }
            return;
        }
        let contexts: Vec<Option<BrowserContextId>> = self.pages.iter().map(|page| page.context.clone()).collect();
        for context in contexts {
            self.catch_downloads_in(context);
        }
    }

    /// Configures downloads in the browser context of a new page.
    pub(super) fn catch_downloads_in(&mut self, context: Option<BrowserContextId>) {
        let Some(folder) = self.downloads.folder.clone() else { return };
        if self.downloads.reported.insert(context.clone()) {
            let mut catch = SetDownloadBehavior::new(SetDownloadBehaviorBehavior::AllowAndName);
            catch.browser_context_id = context;
            catch.download_path = Some(folder.to_string_lossy().into_owned());
            catch.events_enabled = Some(true);
            self.send(None, 0, catch);
        }
    }

    /// The page of a frame. The top frame of a page has the id of its target; it is known before the frame tree.
    fn page_of_frame(&self, frame: &FrameId) -> Option<TargetId> {
        let top = || Some(TargetId::from(frame.as_str())).filter(|target| self.page_index(target).is_some());
        self.frames.page(frame).or_else(top)
    }

    /// A page or frames have become known: their downloads may have been reported before.
    pub(super) fn claim_downloads(&mut self, now: Now) {
        if self.downloads.unclaimed.is_empty() {
            return;
        }
        for (begin, progress) in std::mem::take(&mut self.downloads.unclaimed) {
            if self.page_of_frame(&begin.frame_id).is_none() {
                self.downloads.unclaimed.push_back((begin, progress));
                continue;
            }
            self.download_begins(begin, now);
            if let Some(progress) = progress {
                self.download_goes_on(progress, now);
            }
        }
    }

    pub(super) fn download_begins(&mut self, event: Begin, now: Now) {
        let Some(page) = self.page_of_frame(&event.frame_id) else {
            self.downloads.unclaimed.push_back((event, None));
            if self.downloads.unclaimed.len() > MAX_UNCLAIMED {
                self.downloads.unclaimed.pop_front();
            }
            return;
        };
        let opener = self.page_index(&page).and_then(|index| self.pages[index].opener.clone());
        self.downloads.last += 1;
        let download = DownloadView {
            number: self.downloads.last,
            target_id: page.clone(),
            opener,
            url: cut(&event.url).into(),
            suggested_filename: cut(&event.suggested_filename).into(),
            state: DownloadProgress::InProgress,
            bytes: 0,
            total: None,
            file: self
                .downloads
                .folder
                .as_ref()
                .filter(|_| is_plain(&event.guid))
                .map(|at| at.join(&*event.guid).into()),
            started_at: now.unix,
        };
        self.note(Some(&page), now, Noted::Download(download.clone()));
        self.downloads.all.push_back((event.guid, download));
        if self.downloads.all.len() > MAX_KEPT {
            self.downloads.all.pop_front();
        }
        self.dirty.downloads = true;
    }

    pub(super) fn download_goes_on(&mut self, event: Progress, now: Now) {
        if let Some((_, latest)) = self.downloads.unclaimed.iter_mut().find(|(begin, _)| begin.guid == event.guid) {
            *latest = Some(event);
            return;
        }
        let Some((_, download)) = self.downloads.all.iter_mut().find(|(guid, _)| *guid == event.guid) else { return };
        if download.state != DownloadProgress::InProgress {
            return;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as intended
        let whole = |bytes: f64| bytes as u64;
        download.bytes = whole(event.received_bytes);
        download.total = Some(whole(event.total_bytes)).filter(|total| *total > 0);
        download.state = match event.state.as_str() {
            "completed" => DownloadProgress::Completed,
            "canceled" => DownloadProgress::Canceled,
            _ => DownloadProgress::InProgress,
        };
        if let Some(path) = event.file_path.as_deref().filter(|path| !path.is_empty()) {
            download.file = Some(Path::new(path).into());
        }
        self.dirty.downloads = true;
        if download.state != DownloadProgress::InProgress && !self.downloads.moved {
            let (page, download) = (download.target_id.clone(), download.clone());
            self.note(Some(&page), now, Noted::Download(download));
        }
    }

    /// The file of a download was moved to its final place, or moving it failed.
    pub(super) fn download_moved(&mut self, moved: MovedDownload, now: Now) {
        let mut all = self.downloads.all.iter().map(|(_, download)| download);
        let Some(download) = all.find(|download| download.number == moved.number).cloned() else { return };
        let ended = DownloadEnded {
            url: download.url,
            suggested_filename: download.suggested_filename,
            bytes: download.bytes,
            number: download.number,
            state: moved.state,
            path: moved.path,
            failure: moved.failure,
        };
        self.note(Some(&download.target_id), now, Noted::DownloadEnded(ended));
    }

    /// The connection was lost: further progress is unknown.
    pub(super) fn lose_downloads(&mut self) {
        self.downloads.reported.clear();
        self.downloads.unclaimed.clear();
        for (_, download) in &mut self.downloads.all {
            if download.state == DownloadProgress::InProgress {
                download.state = DownloadProgress::Lost;
                self.dirty.downloads = true;
            }
        }
    }
}

/// Whether the id of a download is safe as a file name inside its folder; endpoints are untrusted.
fn is_plain(guid: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=128).contains(&guid.len()) && guid.bytes().all(good)
}

fn cut(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
#[path = "downloads_tests.rs"]
mod tests;
