//! The event log: one numbered, bounded list of what happened, for everybody who wants to follow.
//!
//! Events are values of [`Event`]; they become JSON where they leave the program.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap as _;

use super::snapshot::{BridgeReason, ClosedDialog, ConsoleEntry, Dialog, Download, PageState};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::sync;

/// The log of a supervisor, or of all supervisors that a profile has one after the other.
pub type EventLog = sync::Log<EventRecord>;
/// One entry of the event log.
pub type Entry = sync::Logged<EventRecord>;
/// Some entries of the event log, with the number of lost ones.
pub type Tail = sync::Tail<EventRecord>;

/// An event, and the page that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// The page, if it is about one.
    pub target_id: Option<TargetId>,
    /// What happened.
    pub event: Arc<Event>,
}

impl EventRecord {
    pub(crate) fn new(target_id: Option<TargetId>, event: Event) -> Self {
        Self { target_id, event: Arc::new(event) }
    }

    /// A page went with its browser.
    pub(super) fn closed_at_end(page: TargetId) -> Self {
        Self::new(Some(page), Event::TabClosed { reason: Some("the browser ended".into()) })
    }

    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.event.kind()
    }
}

/// `{seq, ts, type, targetId?, data}`, with the fields of [`Event`] in `data`.
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

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A page was opened.
    TabOpened,
    /// A page was closed.
    TabClosed,
    /// A page opened another one beyond the limit of pages, which was closed at once. It is about the opener.
    PopupBlocked,
    /// A frame was attached, moved to another process, or was detached.
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
    /// A page became unresponsive, or responds again.
    Responsiveness,
    /// Events were lost and the state was read again.
    Resync,
    /// The dialog bridge was turned on, or failed in a frame.
    Bridge,
    /// A page's running script was ended, because a call waited and the page did not answer.
    Rescued,
    /// The connection was lost.
    Disconnected,
    /// A new connection is made and the pages are attached again.
    Reconnected,
    /// An action on a page begins.
    ActionStarted,
    /// An action on a page has ended.
    ActionFinished,
    /// The supervisor ended.
    Ended,
}

/// What happened. As JSON each is the object of its fields; times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Event {
    /// A page was opened.
    TabOpened {
        /// Its address at that moment, often still empty.
        url: Arc<str>,
        /// The page that opened it.
        opener: Option<TargetId>,
    },
    /// A page was closed.
    TabClosed {
        /// Why it was closed, unless by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A page opened another one beyond the limit of pages, which was closed at once.
    PopupBlocked {
        /// How many pages there may be.
        limit: Option<usize>,
    },
    /// A frame was attached, moved to another process, or was detached.
    Frame {
        /// Its id.
        frame_id: FrameId,
        /// The outcome.
        change: FrameChange,
        /// Its parent frame, when known.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<FrameId>,
    },
    /// A frame shows another document or address.
    Navigated {
        /// The frame.
        frame_id: FrameId,
        /// Its address now.
        url: Arc<str>,
        /// Whether it is the page's top frame.
        main: bool,
        /// The document is the same as before.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        same_document: bool,
    },
    /// The navigation policy blocked a navigation of a page or frame.
    NavigationBlocked {
        /// The blocked address, without secrets and truncated.
        url: Arc<str>,
        /// Why it is blocked, and what would allow it.
        reason: Arc<str>,
        /// The frame.
        frame_id: FrameId,
        /// Whether it is the page's top frame.
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
        /// Whether it accepts several files.
        several: bool,
        /// Whether files were waiting for it.
        answered: bool,
        /// Names of the files that were set.
        files: Vec<String>,
        /// Why the waiting files could not be set.
        problem: Option<String>,
    },
    /// A download began, or ended and its file is not moved.
    Download(Download),
    /// A download ended, and its file is in its place or did not get there.
    DownloadEnded(DownloadEnded),
    /// A renderer crashed.
    Crashed {
        /// The page, or the frame that had a process of its own.
        crashed: TargetId,
    },
    /// A page became unresponsive, or responds again.
    Responsiveness {
        /// Its state now.
        state: PageState,
    },
    /// Events were lost and the state was read again.
    Resync {
        /// Number of lost events, when known.
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
    /// A page's running script was terminated.
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
    /// A new connection is made and the pages are attached again.
    Reconnected {
        /// How many connections there have been, this one included.
        generation: u64,
    },
    /// An action on a page begins.
    ActionStarted(Action),
    /// An action on a page has ended.
    ActionFinished {
        /// What was done, and to what.
        #[serde(flatten)]
        action: Action,
        /// `ok`, or the code of the error; of a batch, that of the first action that failed.
        outcome: Arc<str>,
        /// Why it counts as over, where it is waited for what it causes.
        #[serde(skip_serializing_if = "Option::is_none")]
        settled: Option<Arc<str>>,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// The supervisor ended.
    Ended {
        /// Why.
        reason: Arc<str>,
    },
}

/// How a frame changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameChange {
    /// The frame was attached.
    Attached,
    /// The frame moved to a process of its own.
    OwnProcess,
    /// The frame was detached.
    Detached,
}

/// The end of a download whose file was to be moved to its final place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DownloadEnded {
    /// The downloaded address.
    pub url: Arc<str>,
    /// The name that the page or the server wants it to have: untrusted.
    pub suggested_filename: Arc<str>,
    /// Bytes received.
    pub bytes: u64,
    /// Number of the download within the supervisor.
    pub number: u64,
    /// `completed`, `canceled` or `failed`.
    pub state: &'static str,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Why it failed.
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
    /// The session that acts; none for the default session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Arc<str>>,
}

impl Action {
    pub(crate) fn new(action: u64, kind: &'static str) -> Self {
        Self { action, kind, ..Self::default() }
    }
}

impl Event {
    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::TabOpened { .. } => Kind::TabOpened,
            Self::TabClosed { .. } => Kind::TabClosed,
            Self::PopupBlocked { .. } => Kind::PopupBlocked,
            Self::Frame { .. } => Kind::Frame,
            Self::Navigated { .. } => Kind::Navigated,
            Self::NavigationBlocked { .. } => Kind::NavigationBlocked,
            Self::DialogOpened(_) => Kind::DialogOpened,
            Self::DialogClosed(_) => Kind::DialogClosed,
            Self::Console(_) => Kind::Console,
            Self::FileChooser { .. } => Kind::FileChooser,
            Self::Download(_) | Self::DownloadEnded(_) => Kind::Download,
            Self::Crashed { .. } => Kind::Crashed,
            Self::Responsiveness { .. } => Kind::Responsiveness,
            Self::Resync { .. } => Kind::Resync,
            Self::Bridge { .. } => Kind::Bridge,
            Self::Rescued { .. } => Kind::Rescued,
            Self::Disconnected { .. } => Kind::Disconnected,
            Self::Reconnected { .. } => Kind::Reconnected,
            Self::ActionStarted(_) => Kind::ActionStarted,
            Self::ActionFinished { .. } => Kind::ActionFinished,
            Self::Ended { .. } => Kind::Ended,
        }
    }
}

/// What an entry takes beside its texts.
const FIXED: usize = 200;

impl sync::Bytes for EventRecord {
    fn bytes(&self) -> usize {
        let dialog = |dialog: &Dialog| dialog.message.len() + dialog.default_prompt.len() + dialog.origin.len();
        let length = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        let texts = match &*self.event {
            Event::TabOpened { url, .. } | Event::Navigated { url, .. } => url.len(),
            Event::NavigationBlocked { url, reason, .. } => url.len() + reason.len(),
            Event::DialogOpened(opened) => dialog(opened),
            Event::DialogClosed(closed) => dialog(&closed.dialog),
            Event::Console(entry) => entry.text.len() + length(&entry.url),
            Event::FileChooser { files, problem, .. } => {
                files.iter().map(String::len).sum::<usize>() + problem.as_ref().map_or(0, String::len)
            }
            Event::Download(download) => download.url.len() + download.suggested_filename.len(),
            Event::DownloadEnded(ended) => {
                let path = ended.path.as_ref().map_or(0, |path| path.as_os_str().len());
                ended.url.len() + ended.suggested_filename.len() + path + ended.failure.as_ref().map_or(0, String::len)
            }
            Event::Disconnected { reason } | Event::Ended { reason } => reason.len(),
            Event::ActionStarted(action) | Event::ActionFinished { action, .. } => length(&action.name),
            Event::TabClosed { reason } | Event::Bridge { failed: reason, .. } => length(reason),
            Event::PopupBlocked { .. }
            | Event::Frame { .. }
            | Event::Crashed { .. }
            | Event::Responsiveness { .. }
            | Event::Resync { .. }
            | Event::Rescued { .. }
            | Event::Reconnected { .. } => 0,
        };
        FIXED + texts
    }
}
