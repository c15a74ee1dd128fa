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
pub type EventLog = sync::Log<EventRecord>;
/// One entry of the event log.
pub type Entry = sync::Logged<EventRecord>;
/// Some entries of the event log, with the number of lost ones.
pub type LogTail = sync::Tail<EventRecord>;

/// An event, and the page that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// The page, if it is about one.
    pub target_id: Option<TargetId>,
    /// What happened.
    pub event: Arc<LogEvent>,
}

impl EventRecord {
    pub(crate) fn new(target_id: Option<TargetId>, event: LogEvent) -> Self {
        Self { target_id, event: Arc::new(event) }
    }

    /// A page went with its browser.
    pub(super) fn closed_at_end(page: TargetId) -> Self {
        Self::new(Some(page), LogEvent::TabClosed { reason: Some("the browser ended".into()) })
    }

    /// The kind of the event.
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

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum LogEvent {
    /// A page was opened.
    #[cfg_attr(feature = "schema", schemars(title = "tab_opened"))]
    TabOpened {
        /// Its address at that moment, often still empty.
        url: Arc<str>,
        /// The page that opened it.
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        opener: Option<TargetId>,
    },
    /// A page was closed.
    #[cfg_attr(feature = "schema", schemars(title = "tab_closed"))]
    TabClosed {
        /// Why it was closed, unless by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A page opened another one beyond the limit of pages, which was closed at once.
    #[cfg_attr(feature = "schema", schemars(title = "popup_blocked"))]
    PopupBlocked {
        /// How many pages there may be.
        limit: Option<usize>,
    },
    /// A frame was attached, moved to another process, or was detached.
    #[cfg_attr(feature = "schema", schemars(title = "frame"))]
    Frame {
        /// Its id.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// The outcome.
        change: FrameChange,
        /// Its parent frame, when known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        parent: Option<FrameId>,
    },
    /// A frame shows another document or address.
    #[cfg_attr(feature = "schema", schemars(title = "navigated"))]
    Navigated {
        /// The frame.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    #[cfg_attr(feature = "schema", schemars(title = "navigation_blocked"))]
    NavigationBlocked {
        /// The blocked address, without secrets and truncated.
        url: Arc<str>,
        /// Why it is blocked, and what would allow it.
        reason: Arc<str>,
        /// The frame.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// Whether it is the page's top frame.
        main: bool,
    },
    /// A dialog opened. Its texts are cut.
    #[cfg_attr(feature = "schema", schemars(title = "dialog_opened"))]
    DialogOpened(Dialog),
    /// A dialog closed. Its texts are cut.
    #[cfg_attr(feature = "schema", schemars(title = "dialog_closed"))]
    DialogClosed(ClosedDialog),
    /// A console message or uncaught exception.
    #[cfg_attr(feature = "schema", schemars(title = "console"))]
    Console(Arc<ConsoleEntry>),
    /// A page opened a file chooser.
    #[cfg_attr(feature = "schema", schemars(title = "file_chooser"))]
    FileChooser {
        /// The frame.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    #[cfg_attr(feature = "schema", schemars(title = "download"))]
    Download(DownloadView),
    /// A download ended, and its file is in its place or did not get there.
    #[cfg_attr(feature = "schema", schemars(title = "download"))]
    DownloadEnded(DownloadEnded),
    /// A renderer crashed.
    #[cfg_attr(feature = "schema", schemars(title = "crashed"))]
    Crashed {
        /// The page, or the frame that had a process of its own.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        crashed: TargetId,
    },
    /// A page became unresponsive, or responds again.
    #[cfg_attr(feature = "schema", schemars(title = "responsiveness"))]
    Responsiveness {
        /// Its state now.
        state: PageState,
    },
    /// Events were lost and the state was read again.
    #[cfg_attr(feature = "schema", schemars(title = "resync"))]
    Resync {
        /// Number of lost events, when known.
        lost: u64,
    },
    /// The dialog bridge was turned on, or failed in a frame.
    #[cfg_attr(feature = "schema", schemars(title = "bridge"))]
    Bridge {
        /// Why it was turned on.
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<BridgeReason>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed: Option<Arc<str>>,
    },
    /// A page's running script was terminated.
    #[cfg_attr(feature = "schema", schemars(title = "rescued"))]
    Rescued {
        /// The method of the call that waited.
        waiting: Arc<str>,
        /// How long it had waited, milliseconds.
        waited_ms: u64,
    },
    /// The connection was lost.
    #[cfg_attr(feature = "schema", schemars(title = "disconnected"))]
    Disconnected {
        /// Why.
        reason: Arc<str>,
    },
    /// A new connection is made and the pages are attached again.
    #[cfg_attr(feature = "schema", schemars(title = "reconnected"))]
    Reconnected {
        /// How many connections there have been, this one included.
        generation: u64,
    },
    /// An action on a page begins.
    #[cfg_attr(feature = "schema", schemars(title = "action_started"))]
    ActionStarted(Action),
    /// An action on a page has ended.
    #[cfg_attr(feature = "schema", schemars(title = "action_finished"))]
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
    #[cfg_attr(feature = "schema", schemars(title = "ended"))]
    Ended {
        /// Why.
        reason: Arc<str>,
    },
}

/// How a frame changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl LogEvent {
    /// The kind of the event.
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

impl sync::Bytes for EventRecord {
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
