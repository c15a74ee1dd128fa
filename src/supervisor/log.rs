//! The event log: one numbered, bounded list of what happened, for everybody who wants to follow.
//!
//! Events are values of [`LogEvent`]; they become JSON where they leave the program.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap as _;

use super::snapshot::{BridgeReason, ClosedDialog, ConsoleEntry, Dialog, DownloadView, PageState};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::sync;

/// The log of a supervisor, or of all supervisors that a profile has one after the other.
pub type EventLog = sync::Log<Happened>;
/// One entry of it.
pub type Entry = sync::Logged<Happened>;
/// A part of it.
pub type LogTail = sync::Tail<Happened>;

/// An event, and the page that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// The page, if it is about one.
    pub target_id: Option<TargetId>,
    /// What happened.
    pub event: Arc<LogEvent>,
}

impl Happened {
    pub(crate) fn new(target_id: Option<TargetId>, event: LogEvent) -> Self {
        Self { target_id, event: Arc::new(event) }
    }

    /// A page went with its browser.
    pub(super) fn closed_at_end(page: TargetId) -> Self {
        Self::new(Some(page), LogEvent::TabClosed { reason: Some("the browser ended".into()) })
    }

    /// What it is about, without the details.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.event.kind()
    }
}

/// `{seq, ts, type, targetId?, data}`, with the fields of [`LogEvent`] in `data`.
impl Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("type", &self.kind())?;
        if let Some(target) = &self.target_id {
            map.serialize_entry("targetId", target)?;
        }
        map.serialize_entry("data", &*self.event)?;
        map.end()
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A page came in.
    TabOpened,
    /// A page is gone.
    TabClosed,
    /// A page opened another one beyond the limit of pages, which was closed at once. It is about the opener.
    PopupBlocked,
    /// A frame came, moved between processes, or went.
    Frame,
    /// A frame shows another document or address.
    Navigated,
    /// A page or frame was kept from going somewhere by the [navigation policy](super::NavigationPolicy).
    NavigationBlocked,
    /// A dialog opened.
    DialogOpened,
    /// A dialog closed.
    DialogClosed,
    /// A console message or uncaught exception.
    Console,
    /// A page opened a file chooser.
    FileChooser,
    /// A download began or ended.
    Download,
    /// A renderer crashed.
    Crashed,
    /// A page does not answer, or answers again.
    Responsiveness,
    /// Events were lost and the state was read anew.
    Resync,
    /// The dialog bridge was turned on, or failed in a frame.
    Bridge,
    /// A page's running script was ended, because a call waited and the page did not answer.
    Rescued,
    /// The connection was lost.
    Disconnected,
    /// There is a new connection and the pages are attached again.
    Reconnected,
    /// An action on a page begins.
    ActionStarted,
    /// An action on a page is over.
    ActionFinished,
    /// The supervisor ended.
    Ended,
}

/// What happened. As JSON each is the object of its fields; times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LogEvent {
    /// A page came in.
    TabOpened {
        /// Its address at that moment, often none yet.
        url: Arc<str>,
        /// The page that opened it.
        opener: Option<TargetId>,
    },
    /// A page is gone.
    TabClosed {
        /// Why, when it did not go by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A page opened another one beyond the limit of pages, which was closed at once.
    PopupBlocked {
        /// How many pages there may be.
        limit: Option<usize>,
    },
    /// A frame came, moved between processes, or went.
    Frame {
        /// Its id.
        frame_id: FrameId,
        /// What became of it.
        change: FrameChange,
        /// The frame around it, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<FrameId>,
    },
    /// A frame shows another document or address.
    Navigated {
        /// The frame.
        frame_id: FrameId,
        /// Its address now.
        url: Arc<str>,
        /// Whether it is the page itself.
        main: bool,
        /// The document is the same as before.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        same_document: bool,
    },
    /// A page or frame was kept from going somewhere.
    NavigationBlocked {
        /// Where to: without what is secret, and cut.
        url: Arc<str>,
        /// What is wrong with it, and what would allow it.
        reason: Arc<str>,
        /// The frame.
        frame_id: FrameId,
        /// Whether it is the page itself.
        main: bool,
    },
    /// A dialog opened. Its texts are cut.
    DialogOpened(Dialog),
    /// A dialog closed. Its texts are cut.
    DialogClosed(ClosedDialog),
    /// A console message or uncaught exception.
    Console(Arc<ConsoleEntry>),
    /// A page opened a file chooser.
    FileChooser {
        /// The frame.
        frame_id: FrameId,
        /// Whether it takes several files.
        several: bool,
        /// Whether files were waiting for it.
        answered: bool,
        /// Names of the files that it got.
        files: Vec<String>,
        /// Why it did not get those that were waiting.
        problem: Option<String>,
    },
    /// A download began, or ended where nobody moves its file.
    Download(DownloadView),
    /// A download ended, and its file is in its place or did not get there.
    DownloadEnded(DownloadEnded),
    /// A renderer crashed.
    Crashed {
        /// The page, or the frame that had a process of its own.
        crashed: TargetId,
    },
    /// A page does not answer, or answers again.
    Responsiveness {
        /// Its state now.
        state: PageState,
    },
    /// Events were lost and the state was read anew.
    Resync {
        /// How many, where that is known.
        lost: u64,
    },
    /// The dialog bridge was turned on, or failed in a frame.
    Bridge {
        /// Why it was turned on.
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<BridgeReason>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed: Option<Arc<str>>,
    },
    /// A page's running script was ended.
    Rescued {
        /// The method of the call that waited.
        waiting: Arc<str>,
        /// How long it had waited, milliseconds.
        waited_ms: u64,
    },
    /// The connection was lost.
    Disconnected {
        /// Why.
        reason: Arc<str>,
    },
    /// There is a new connection and the pages are attached again.
    Reconnected {
        /// How many connections there have been, this one included.
        generation: u64,
    },
    /// An action on a page begins.
    ActionStarted(Action),
    /// An action on a page is over.
    ActionFinished {
        /// What was done, and to what.
        #[serde(flatten)]
        action: Action,
        /// `ok`, or the code of the error; of a batch, that of the first action that failed.
        outcome: Arc<str>,
        /// Why it counts as over, where it is waited for what it causes.
        #[serde(skip_serializing_if = "Option::is_none")]
        settled: Option<Arc<str>>,
        /// How long it took, milliseconds.
        duration_ms: u64,
    },
    /// The supervisor ended.
    Ended {
        /// Why.
        reason: Arc<str>,
    },
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameChange {
    /// It came.
    Attached,
    /// It is in a process of its own from now on.
    OwnProcess,
    /// It went.
    Detached,
}

/// The end of a download whose file was to be moved to its final place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DownloadEnded {
    /// Where from.
    pub url: Arc<str>,
    /// The name that the page or the server wants it to have: untrusted.
    pub suggested_filename: Arc<str>,
    /// Bytes that came.
    pub bytes: u64,
    /// Its number among those of the supervisor.
    pub number: u64,
    /// `completed`, `canceled` or `failed`.
    pub state: &'static str,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// An action, as those who follow the log see it: never what was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Action {
    /// Its number among all of the program, the same at its start and its end.
    pub action: u64,
    /// What is done, as in `POST /act`: `click`, `fill`, …
    pub kind: &'static str,
    /// The ref of its element, where it has one.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<Arc<str>>,
    /// The role of its element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Arc<str>>,
    /// The accessible name of its element: untrusted, with secrets covered, at most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Who acts: the name of a session; none for the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Arc<str>>,
}

impl Action {
    #[cfg(feature = "page")]
    pub(crate) fn new(action: u64, kind: &'static str) -> Self {
        Self { action, kind, ..Self::default() }
    }
}

impl LogEvent {
    /// What it is about, without the details.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::TabOpened { .. } => EventKind::TabOpened,
            Self::TabClosed { .. } => EventKind::TabClosed,
            Self::PopupBlocked { .. } => EventKind::PopupBlocked,
            Self::Frame { .. } => EventKind::Frame,
            Self::Navigated { .. } => EventKind::Navigated,
            Self::NavigationBlocked { .. } => EventKind::NavigationBlocked,
            Self::DialogOpened(_) => EventKind::DialogOpened,
            Self::DialogClosed(_) => EventKind::DialogClosed,
            Self::Console(_) => EventKind::Console,
            Self::FileChooser { .. } => EventKind::FileChooser,
            Self::Download(_) | Self::DownloadEnded(_) => EventKind::Download,
            Self::Crashed { .. } => EventKind::Crashed,
            Self::Responsiveness { .. } => EventKind::Responsiveness,
            Self::Resync { .. } => EventKind::Resync,
            Self::Bridge { .. } => EventKind::Bridge,
            Self::Rescued { .. } => EventKind::Rescued,
            Self::Disconnected { .. } => EventKind::Disconnected,
            Self::Reconnected { .. } => EventKind::Reconnected,
            Self::ActionStarted(_) => EventKind::ActionStarted,
            Self::ActionFinished { .. } => EventKind::ActionFinished,
            Self::Ended { .. } => EventKind::Ended,
        }
    }
}

/// What an entry takes beside its texts.
const FIXED: usize = 200;

impl sync::Bytes for Happened {
    fn bytes(&self) -> usize {
        let dialog = |dialog: &Dialog| dialog.message.len() + dialog.default_prompt.len() + dialog.origin.len();
        let length = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        let texts = match &*self.event {
            LogEvent::TabOpened { url, .. } | LogEvent::Navigated { url, .. } => url.len(),
            LogEvent::NavigationBlocked { url, reason, .. } => url.len() + reason.len(),
            LogEvent::DialogOpened(opened) => dialog(opened),
            LogEvent::DialogClosed(closed) => dialog(&closed.dialog),
            LogEvent::Console(entry) => entry.text.len() + length(&entry.url),
            LogEvent::FileChooser { files, problem, .. } => {
                files.iter().map(String::len).sum::<usize>() + problem.as_ref().map_or(0, String::len)
            }
            LogEvent::Download(download) => download.url.len() + download.suggested_filename.len(),
            LogEvent::DownloadEnded(ended) => {
                let path = ended.path.as_ref().map_or(0, |path| path.as_os_str().len());
                ended.url.len() + ended.suggested_filename.len() + path + ended.failure.as_ref().map_or(0, String::len)
            }
            LogEvent::Disconnected { reason } | LogEvent::Ended { reason } => reason.len(),
            LogEvent::ActionStarted(action) | LogEvent::ActionFinished { action, .. } => length(&action.name),
            LogEvent::TabClosed { reason } | LogEvent::Bridge { failed: reason, .. } => length(reason),
            LogEvent::PopupBlocked { .. }
            | LogEvent::Frame { .. }
            | LogEvent::Crashed { .. }
            | LogEvent::Responsiveness { .. }
            | LogEvent::Resync { .. }
            | LogEvent::Rescued { .. }
            | LogEvent::Reconnected { .. } => 0,
        };
        FIXED + texts
    }
}
