//! Downloads: the browser writes them into a private folder; finished ones are moved to the downloads folder.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::file_names::{move_in, safe_name};
use super::partial_downloads::{PartialFolder, clear_incoming, is_incoming};
use crate::page::{Error, Tab};
use crate::supervisor::{self, MovedDownload, Phase, Supervisor, View};
use crate::sync::{Deadline, Published, Thread, fault_point, spawn};
use parking_lot::Mutex;
use serde::Serialize;

/// Finished downloads that are kept.
const MAX_FINISHED: usize = 100;
/// [`Tab::wait_download`] does not return a download that finished longer ago than this.
const STALE: Duration = Duration::from_secs(120);
/// How long the thread waits when nothing happens. It is woken to end.
const IDLE: Duration = Duration::from_secs(60);

/// A download of a tab, or of a tab that it opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Download {
    /// The URL that was downloaded; untrusted.
    pub url: Arc<str>,
    /// The file name suggested by the page or server. Untrusted; not the actual name.
    pub suggested_filename: Arc<str>,
    /// The file; only of a completed download.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Number of bytes received so far.
    pub bytes: u64,
    /// Whether the download is in progress, completed or ended without its file.
    pub state: DownloadState,
    /// Why the download ended without its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Its number among the downloads of the supervisor.
    #[serde(skip)]
    pub number: u64,
}

/// The state of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum DownloadState {
    /// Bytes are still received.
    InProgress,
    /// Finished; the file is in the downloads folder.
    Completed,
    /// Cancelled by the user or the page, or aborted by the server.
    Canceled,
    /// Failed: the file could not be moved, or the connection to the browser was lost.
    Failed,
}

/// A finished download.
#[derive(Debug, Clone)]
struct Finished {
    reported: supervisor::DownloadView,
    outcome: Result<PathBuf, String>,
    state: DownloadState,
    at: Instant,
}

impl Finished {
    /// The entry of the event log.
    fn report(&self) -> MovedDownload {
        let state = match self.state {
            DownloadState::Completed => "completed",
            DownloadState::Canceled => "canceled",
            DownloadState::Failed | DownloadState::InProgress => "failed",
        };
        let (path, failure) = match &self.outcome {
            Ok(path) => (Some(path.clone()), None),
            Err(why) => (None, Some(why.clone())),
        };
        MovedDownload { number: self.reported.number, state, path, failure }
    }

    fn view(&self) -> Download {
        let mut view = coming(&self.reported);
        view.state = self.state;
        match &self.outcome {
            Ok(path) => view.path = Some(path.clone()),
            Err(why) => view.failure = Some(why.clone()),
        }
        view
    }
}

fn coming(download: &supervisor::DownloadView) -> Download {
    Download {
        url: Arc::clone(&download.url),
        suggested_filename: Arc::clone(&download.suggested_filename),
        path: None,
        bytes: download.bytes,
        state: DownloadState::InProgress,
        failure: None,
        number: download.number,
    }
}

/// Shared by the thread and its owner.
struct Shared {
    supervisor: Arc<Supervisor>,
    root: PathBuf,
    ended: Published<Arc<[Finished]>>,
    stop: AtomicBool,
}

/// The downloads of a supervisor's pages. Dropping it ends the thread and removes unfinished files.
pub(crate) struct Downloads {
    shared: Arc<Shared>,
    /// Downloads that a caller has already waited for. Never locked together with another lock.
    taken: Mutex<VecDeque<u64>>,
    thread: Option<Thread>,
    incoming: Option<PartialFolder>,
}

impl Downloads {
    /// Starts to save downloads in a folder, created if missing.
    pub(crate) fn begin(supervisor: &Arc<Supervisor>, root: &Path, deadline: Deadline<'_>) -> Result<Self, Error> {
        let fault = |doing: &'static str| {
            move |error: std::io::Error| Error::File {
                doing,
                name: root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned(),
                problem: error.to_string(),
            }
        };
        make_private(root).map_err(fault("create the folder"))?;
        let root = root.canonicalize().map_err(fault("find the folder"))?;
        for left in clear_incoming(&root) {
            tracing::info!(folder = %left.display(), "removed the incomplete downloads of a process that was killed");
        }
        let incoming = PartialFolder::make(&root).map_err(fault("write to"))?;
        let shared = Arc::new(Shared {
            supervisor: Arc::clone(supervisor),
            root: root.clone(),
            ended: Published::new(Arc::default()),
            stop: AtomicBool::new(false),
        });
        supervisor.catch_downloads_to_move(incoming.path(), deadline)?;
        let thread = {
            let shared = Arc::clone(&shared);
            let name = format!("dl-{}", supervisor.task());
            spawn(name, move || shared.run())
                .map_err(|error| supervisor::Error::System { problem: error.to_string() })?
        };
        Ok(Self { shared, taken: Mutex::default(), thread: Some(thread), incoming: Some(incoming) })
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Publishes a new state, which wakes the thread.
        let _ = self.shared.supervisor.catch_downloads(None, Deadline::after_secs(2));
        drop(self.thread.take());
        drop(self.incoming.take());
    }
}

impl Shared {
    fn run(&self) {
        let mut all: VecDeque<Finished> = VecDeque::new();
        let mut last = 0; // earlier ones are done
        let mut open: Vec<u64> = Vec::new();
        loop {
            let is_news = |download: &supervisor::DownloadView| {
                has_ended(download) && (download.number > last || open.contains(&download.number))
            };
            let news = |now: &View| {
                self.stop.load(Ordering::Acquire)
                    || matches!(now.phase, Phase::Ended(_))
                    || now.downloads.iter().any(is_news)
            };
            self.supervisor.wait_until(Deadline::after(IDLE), news);
            let now = self.supervisor.view();
            for download in now.downloads.iter().filter(|download| is_news(download)) {
                let ended = self.settled(download);
                // Logged first, so that a woken caller finds the entry.
                self.supervisor.download_moved(ended.report());
                all.push_back(ended);
                if all.len() > MAX_FINISHED {
                    all.pop_front();
                }
                self.ended.publish(Arc::new(all.iter().cloned().collect()));
            }
            open = now.downloads.iter().filter(|download| !has_ended(download)).map(|d| d.number).collect();
            last = now.downloads.last().map_or(last, |newest| newest.number);
            if self.stop.load(Ordering::Acquire) || matches!(now.phase, Phase::Ended(_)) {
                self.ended.publish(Arc::new(all.iter().cloned().collect())); // wakes waiting callers
                return;
            }
        }
    }

    /// Moves a finished download to its place. A panic fails only this one.
    fn settled(&self, download: &supervisor::DownloadView) -> Finished {
        catch_unwind(AssertUnwindSafe(|| {
            fault_point(format_args!("download"));
            self.settle(download)
        }))
        .unwrap_or_else(|_| Finished {
            reported: download.clone(),
            outcome: Err("internal error while moving the file; see the log".to_owned()),
            state: DownloadState::Failed,
            at: Instant::now(),
        })
    }

    /// Moves a finished download to its place.
    fn settle(&self, download: &supervisor::DownloadView) -> Finished {
        let name = safe_name(&download.suggested_filename);
        let (state, outcome) = match download.state {
            supervisor::DownloadProgress::Completed => match self.place(download, &name) {
                Ok(path) => (DownloadState::Completed, Ok(path)),
                Err(why) => (DownloadState::Failed, Err(why)),
            },
            supervisor::DownloadProgress::Canceled => {
                // The browser does not report the reason.
                let full = supervisor::is_disk_full(&self.root);
                let why = if full { "the disk is full" } else { "it was cancelled or aborted" };
                (DownloadState::Canceled, Err(why.into()))
            }
            _ => (DownloadState::Failed, Err("the connection to the browser was lost".to_owned())),
        };
        if let Err(why) = &outcome {
            tracing::info!(%name, %why, "a download failed");
        }
        Finished { reported: download.clone(), outcome, state, at: Instant::now() }
    }

    fn place(&self, download: &supervisor::DownloadView, name: &str) -> Result<PathBuf, String> {
        let file = download.file.as_ref().ok_or("the browser reported no file")?;
        // As the browser reports it. A foreign endpoint could name any file.
        if !is_incoming(file) {
            return Err("the browser saved it elsewhere, and it was left there".to_owned());
        }
        move_in(file, &self.root, name).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "the file is not on this machine".to_owned(),
            _ => format!("the file could not be moved to the downloads folder: {error}"),
        })
    }
}

/// The start of a name from the page or server.
fn short(name: &str) -> String {
    name.chars().take(80).collect()
}

fn has_ended(download: &supervisor::DownloadView) -> bool {
    download.state != supervisor::DownloadProgress::InProgress
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl Tab {
    /// The last downloads of the tab and of tabs that it opened, oldest first. Empty without
    /// [`PageOptions::downloads`](super::super::PageOptions::downloads).
    #[must_use]
    pub fn downloads(&self) -> Vec<Download> {
        let Some(downloads) = &self.downloads else { return Vec::new() };
        let ended = downloads.shared.ended.get();
        let now = self.supervisor.view();
        let mine = |download: &supervisor::DownloadView| self.is_mine(download);
        let mut all: Vec<Download> = ended.iter().filter(|ended| mine(&ended.reported)).map(Finished::view).collect();
        let known = |number: u64| ended.iter().any(|ended| ended.reported.number == number);
        // A finished file that has not been moved yet has no path yet.
        all.extend(now.downloads.iter().filter(|download| mine(download) && !known(download.number)).map(coming));
        all.sort_by_key(|download| download.number);
        all
    }

    /// Waits until the downloads of this tab after a number have finished and been moved.
    pub(in crate::page) fn wait_downloads_after(&self, number: u64, deadline: Deadline<'_>) {
        let Some(downloads) = &self.downloads else { return };
        let now = self.supervisor.view();
        let new = now.downloads.iter().filter(|download| download.number > number && self.is_mine(download));
        let new: Vec<u64> = new.map(|download| download.number).collect();
        if !new.is_empty() {
            let has_ended = |all: &[Finished], number: &u64| all.iter().any(|ended| ended.reported.number == *number);
            downloads.shared.ended.wait_until(deadline, |ended| new.iter().all(|number| has_ended(ended, number)));
        }
    }

    /// Downloads the document that the tab shows, such as a PDF, and waits for its end as
    /// [`wait_download`](Self::wait_download) does.
    ///
    /// # Errors
    /// Those of [`wait_download`](Self::wait_download).
    pub fn download_document(&self, path: Option<&str>, deadline: Deadline<'_>) -> Result<Download, Error> {
        self.arrived(deadline)?;
        self.call::<u8>(&self.top()?, "saveDocument", &(), deadline)?;
        self.wait_download(path, deadline)
    }

    /// Waits for a download to end: the oldest one of this tab that no call has returned yet, whether it is in
    /// progress, not started yet, or finished less than two minutes ago. With `path`, a file name, it gets that name in
    /// the downloads folder, or that name with a number if it is taken.
    ///
    /// # Errors
    /// [`Error::PathRefused`] unless `path` is a plain file name, [`Error::BadRequest`] without a downloads folder,
    /// [`Error::Timeout`], [`Error::Supervisor`], [`Error::File`]. A cancelled or failed download is not an error: see
    /// its state.
    pub fn wait_download(&self, path: Option<&str>, deadline: Deadline<'_>) -> Result<Download, Error> {
        if let Some(path) = path
            && safe_name(path) != path
        {
            let why = format!("give a plain file name without folders, such as {:?}", safe_name(path));
            return Err(Error::PathRefused { name: path.chars().take(80).collect(), why });
        }
        let Some(downloads) = &self.downloads else {
            let problem = "downloads are not saved here: no downloads folder is set".to_owned();
            return Err(Error::BadRequest { problem });
        };
        let began = Instant::now();
        loop {
            let mut found = None;
            let mut over = false;
            let mut look = |ended: &Arc<[Finished]>| {
                found = self.take_ended(downloads, ended);
                over = downloads.shared.stop.load(Ordering::Acquire)
                    || matches!(self.supervisor.view().phase, Phase::Ended(_));
                found.is_some() || over
            };
            let waited = downloads.shared.ended.wait_until(deadline, &mut look);
            if let Some(ended) = found {
                return self.named(downloads, &ended, path);
            }
            if over {
                let reason = "it ended while waiting for a download".to_owned();
                return Err(supervisor::Error::NotActive { reason }.into());
            }
            if waited.is_none() {
                let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                let what = match self.downloads().last() {
                    Some(last) if last.state == DownloadState::InProgress => {
                        format!("the download {:?} to finish", short(&last.suggested_filename))
                    }
                    Some(last) => {
                        let name = short(&last.suggested_filename);
                        match last.path.as_ref() {
                            Some(path) => format!("a new download (the last one, {name:?}, is at {})", path.display()),
                            None => format!("a new download (the last one, {name:?}, was already reported)"),
                        }
                    }
                    None => "a download (the tab has started none)".to_owned(),
                };
                return Err(Error::Timeout { what, after_ms });
            }
        }
    }

    /// The oldest finished download that no call has returned yet; it counts as returned from now on.
    fn take_ended(&self, downloads: &Downloads, ended: &[Finished]) -> Option<Finished> {
        let mut taken = downloads.taken.lock();
        let mut fresh = ended.iter().filter(|ended| self.is_mine(&ended.reported) && ended.at.elapsed() < STALE);
        let found = fresh.find(|ended| !taken.contains(&ended.reported.number))?;
        taken.push_back(found.reported.number);
        if taken.len() > MAX_FINISHED {
            taken.pop_front();
        }
        Some(found.clone())
    }

    fn named(&self, downloads: &Downloads, ended: &Finished, name: Option<&str>) -> Result<Download, Error> {
        let mut view = ended.view();
        if let (Some(name), Some(file)) = (name, &view.path)
            && file.file_name().is_none_or(|has| has != name)
        {
            let moved = move_in(file, &downloads.shared.root, name);
            let fault = |error: std::io::Error| Error::File {
                doing: "write",
                name: name.to_owned(),
                problem: error.to_string(),
            };
            view.path = Some(moved.map_err(fault)?);
        }
        Ok(view)
    }

    pub(in crate::page) fn is_mine(&self, download: &supervisor::DownloadView) -> bool {
        download.target_id == self.target || download.opener.as_ref() == Some(&self.target)
    }
}
