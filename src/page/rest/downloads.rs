//! Downloads: caught in a private folder, moved to their place when they are whole.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::incoming::{Incoming, clear_incoming, is_incoming};
use super::names::{move_in, safe_name};
use crate::page::{Error, Tab};
use crate::supervisor::{self, MovedDownload, Phase, Supervisor, View};
use crate::sync::{Deadline, Published, Thread, fault_point, spawn};
use parking_lot::Mutex;
use serde::Serialize;

/// Ended downloads that are remembered.
const KEEP: usize = 100;
/// A download that ended so long before it is asked for is not meant any more.
const STALE: Duration = Duration::from_secs(120);
/// How long the thread waits when nothing happens. It is woken when it is to end.
const IDLE: Duration = Duration::from_secs(60);

/// A download of a tab, or of a tab that it opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Download {
    /// Where from.
    pub url: Arc<str>,
    /// The name that the page or the server wants it to have: untrusted, not what it has.
    pub suggested_filename: Arc<str>,
    /// The file. Only of a completed download: until then there is no file under this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Bytes that are there.
    pub bytes: u64,
    /// Where it stands.
    pub state: DownloadState,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Its number among the downloads of the supervisor.
    #[serde(skip)]
    pub number: u64,
}

/// Where a download stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum DownloadState {
    /// It comes.
    InProgress,
    /// It is in its place.
    Completed,
    /// Somebody cancelled it, or its server broke it off.
    Canceled,
    /// It could not be put in its place, or was lost sight of.
    Failed,
}

/// One that has ended.
#[derive(Debug, Clone)]
struct Ended {
    told: supervisor::DownloadView,
    outcome: Result<PathBuf, String>,
    state: DownloadState,
    at: Instant,
}

impl Ended {
    /// For the event log.
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
        MovedDownload { number: self.told.number, state, path, failure }
    }

    fn view(&self) -> Download {
        let mut view = coming(&self.told);
        view.state = self.state;
        match &self.outcome {
            Ok(path) => view.path = Some(path.clone()),
            Err(why) => view.failure = Some(why.clone()),
        }
        view
    }
}

fn coming(told: &supervisor::DownloadView) -> Download {
    Download {
        url: Arc::clone(&told.url),
        suggested_filename: Arc::clone(&told.suggested_filename),
        path: None,
        bytes: told.bytes,
        state: DownloadState::InProgress,
        failure: None,
        number: told.number,
    }
}

/// What the thread and its owner share.
struct Shared {
    supervisor: Arc<Supervisor>,
    root: PathBuf,
    ended: Published<Arc<[Ended]>>,
    stop: AtomicBool,
}

/// The downloads of a supervisor's pages. Dropping it ends its thread and removes what is half done.
pub(crate) struct Downloads {
    shared: Arc<Shared>,
    /// Downloads that somebody has waited for already. Never locked over anything.
    taken: Mutex<VecDeque<u64>>,
    thread: Option<Thread>,
    incoming: Option<Incoming>,
}

impl Downloads {
    /// Begins to take downloads into a folder, which is made when there is none.
    pub(crate) fn begin(supervisor: &Arc<Supervisor>, root: &Path, deadline: Deadline) -> Result<Self, Error> {
        let fault = |doing: &'static str| {
            move |error: std::io::Error| Error::File {
                doing,
                name: root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned(),
                problem: error.to_string(),
            }
        };
        make_private(root).map_err(fault("make the folder"))?;
        let root = root.canonicalize().map_err(fault("find the folder"))?;
        for left in clear_incoming(&root) {
            tracing::info!(folder = %left.display(), "removed the incomplete downloads of a process that was killed");
        }
        let incoming = Incoming::make(&root).map_err(fault("write into"))?;
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
        // Publishes a snapshot, which wakes the thread.
        let _ = self.shared.supervisor.catch_downloads(None, Deadline::after_secs(2));
        drop(self.thread.take());
        drop(self.incoming.take());
    }
}

impl Shared {
    fn run(&self) {
        let mut all: VecDeque<Ended> = VecDeque::new();
        let mut last = 0; // nothing below is looked at again
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
                // First, so that who learns of the end finds it in the log.
                self.supervisor.download_moved(ended.report());
                all.push_back(ended);
                if all.len() > KEEP {
                    all.pop_front();
                }
                self.ended.publish(Arc::new(all.iter().cloned().collect()));
            }
            open = now.downloads.iter().filter(|download| !has_ended(download)).map(|d| d.number).collect();
            last = now.downloads.last().map_or(last, |newest| newest.number);
            if self.stop.load(Ordering::Acquire) || matches!(now.phase, Phase::Ended(_)) {
                self.ended.publish(Arc::new(all.iter().cloned().collect())); // who waits looks again
                return;
            }
        }
    }

    /// Puts a download in its place. A panic fails this one only.
    fn settled(&self, download: &supervisor::DownloadView) -> Ended {
        catch_unwind(AssertUnwindSafe(|| {
            fault_point(format_args!("download"));
            self.settle(download)
        }))
        .unwrap_or_else(|_| Ended {
            told: download.clone(),
            outcome: Err("internal error: moving it to its place panicked; see the log".to_owned()),
            state: DownloadState::Failed,
            at: Instant::now(),
        })
    }

    /// Puts a download in its place.
    fn settle(&self, download: &supervisor::DownloadView) -> Ended {
        let name = safe_name(&download.suggested_filename);
        let (state, outcome) = match download.state {
            supervisor::DownloadProgress::Completed => match self.place(download, &name) {
                Ok(path) => (DownloadState::Completed, Ok(path)),
                Err(why) => (DownloadState::Failed, Err(why)),
            },
            supervisor::DownloadProgress::Canceled => {
                // The browser does not say why.
                let full = supervisor::is_full(&self.root);
                let why =
                    if full { "the disk is full: there is no space left" } else { "it was cancelled or broke off" };
                (DownloadState::Canceled, Err(why.into()))
            }
            _ => (DownloadState::Failed, Err("the connection to the browser was lost meanwhile".to_owned())),
        };
        if let Err(why) = &outcome {
            tracing::info!(%name, %why, "a download came to nothing");
        }
        Ended { told: download.clone(), outcome, state, at: Instant::now() }
    }

    fn place(&self, download: &supervisor::DownloadView, name: &str) -> Result<PathBuf, String> {
        let file = download.file.as_ref().ok_or("it was not caught")?;
        // What the browser says. An endpoint that is no browser of ours could have any file moved.
        if !is_incoming(file) {
            return Err("the browser put it elsewhere, where it was left".to_owned());
        }
        move_in(file, &self.root, name).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "its file is not on this machine".to_owned(),
            _ => format!("it could not be moved to its place: {error}"),
        })
    }
}

/// The beginning of a name that a page or server has made up.
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
    /// The last downloads of the tab and of tabs that it opened, oldest first. Empty where
    /// [`PageOptions::downloads`](super::super::PageOptions::downloads) names no folder.
    #[must_use]
    pub fn downloads(&self) -> Vec<Download> {
        let Some(downloads) = &self.downloads else { return Vec::new() };
        let ended = downloads.shared.ended.get();
        let now = self.supervisor.view();
        let mine = |told: &supervisor::DownloadView| self.is_mine(told);
        let mut all: Vec<Download> = ended.iter().filter(|ended| mine(&ended.told)).map(Ended::view).collect();
        let known = |number: u64| ended.iter().any(|ended| ended.told.number == number);
        // Of one that is whole and not in its place yet, the place is yet to come.
        all.extend(now.downloads.iter().filter(|told| mine(told) && !known(told.number)).map(coming));
        all.sort_by_key(|download| download.number);
        all
    }

    /// Waits until the downloads of this tab after a number have ended and are in their places.
    pub(in crate::page) fn wait_downloads_after(&self, number: u64, deadline: Deadline) {
        let Some(downloads) = &self.downloads else { return };
        let now = self.supervisor.view();
        let new = now.downloads.iter().filter(|told| told.number > number && self.is_mine(told));
        let new: Vec<u64> = new.map(|told| told.number).collect();
        if !new.is_empty() {
            let has_ended = |ended: &[Ended], number: &u64| ended.iter().any(|ended| ended.told.number == *number);
            downloads.shared.ended.wait_until(deadline, |ended| new.iter().all(|number| has_ended(ended, number)));
        }
    }

    /// Waits for a download to end: the oldest one of this tab that nobody has waited for, be it under way,
    /// yet to come, or over for less than two minutes. With `path`, a name, it is given that name in the
    /// downloads folder, or where it is taken that name with a number.
    ///
    /// # Errors
    /// [`Error::PathRefused`] when `path` is no plain name, [`Error::BadRequest`] where downloads are not
    /// caught, [`Error::Timeout`], [`Error::Supervisor`], [`Error::File`]. A download that was cancelled or
    /// has failed is no error: its state says so.
    pub fn wait_download(&self, path: Option<&str>, deadline: Deadline) -> Result<Download, Error> {
        if let Some(path) = path
            && safe_name(path) != path
        {
            let why = format!("give a plain file name without folders, such as {:?}", safe_name(path));
            return Err(Error::PathRefused { name: path.chars().take(80).collect(), why });
        }
        let Some(downloads) = &self.downloads else {
            let problem = "downloads are not caught here: no downloads folder was given".to_owned();
            return Err(Error::BadRequest { problem });
        };
        let began = Instant::now();
        loop {
            let mut found = None;
            let mut over = false;
            let mut look = |ended: &Arc<[Ended]>| {
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
                let reason = "it ended while a download was waited for".to_owned();
                return Err(supervisor::Error::NotActive { reason }.into());
            }
            if waited.is_none() {
                let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                let what = match self.downloads().last() {
                    Some(last) if last.state == DownloadState::InProgress => {
                        format!("the end of the download {:?}", short(&last.suggested_filename))
                    }
                    Some(last) => {
                        let name = short(&last.suggested_filename);
                        match last.path.as_ref() {
                            Some(path) => format!("a new download (the last one, {name:?}, is at {})", path.display()),
                            None => format!("a new download (the last one, {name:?}, was reported before)"),
                        }
                    }
                    None => "a download (the tab has started none)".to_owned(),
                };
                return Err(Error::Timeout { what, after_ms });
            }
        }
    }

    /// The oldest one that nobody has had. From now on somebody has.
    fn take_ended(&self, downloads: &Downloads, ended: &[Ended]) -> Option<Ended> {
        let mut taken = downloads.taken.lock();
        let mut fresh = ended.iter().filter(|ended| self.is_mine(&ended.told) && ended.at.elapsed() < STALE);
        let found = fresh.find(|ended| !taken.contains(&ended.told.number))?;
        taken.push_back(found.told.number);
        if taken.len() > KEEP {
            taken.pop_front();
        }
        Some(found.clone())
    }

    fn named(&self, downloads: &Downloads, ended: &Ended, name: Option<&str>) -> Result<Download, Error> {
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

    pub(in crate::page) fn is_mine(&self, told: &supervisor::DownloadView) -> bool {
        told.target_id == self.target || told.opener.as_ref() == Some(&self.target)
    }
}
