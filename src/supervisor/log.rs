//! The event log: a numbered, bounded list of events that any thread can follow.
//!
//! Events are values of [`LogEvent`]; entry points serialise them to JSON.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap as _;
use serde_json::{Map, Value};

use super::snapshot::{BridgeReason, ClosedDialog, ConsoleEntry, Dialog, DownloadView, PageState};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::sync;
use crate::text::camel_case;

/// The log of a supervisor, or of all consecutive supervisors of a profile.
pub type EventLog = sync::Log<EventRecord>;
/// An entry of the event log.
pub type Entry = sync::Logged<EventRecord>;
/// Entries of the event log, with the number of lost ones.
pub type LogTail = sync::Tail<EventRecord>;

/// An event and its page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventRecord {
    /// The page, if the event concerns one.
    pub target_id: Option<TargetId>,
    /// The event, with the fields of its kind.
    pub event: Arc<LogEvent>,
}

impl EventRecord {
    /// An event of a page, or of the browser.
    #[must_use]
    pub fn new(target_id: Option<TargetId>, event: LogEvent) -> Self {
        Self { target_id, event: Arc::new(event) }
    }

    /// A page was closed with its browser.
    pub(super) fn closed_at_end(page: TargetId) -> Self {
        Self::new(Some(page), LogEvent::TabClosed { reason: Some("the browser ended".into()) })
    }

    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.event.kind()
    }
}

/// `{seq, ts, type, targetId?, data}`, with [`LogEvent::fields`] in `data`.
impl Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("type", &self.kind())?;
        if let Some(target) = &self.target_id {
            map.serialize_entry("targetId", target)?;
        }
        map.serialize_entry("data", &self.event.fields())?;
        map.end()
    }
}

/// Kinds of events in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// A page was opened.
    TabOpened,
    /// A page was closed.
    TabClosed,
    /// A page opened another one beyond the page limit, which was closed at once. `target_id` is the opener.
    PopupBlocked,
    /// A frame was attached, moved to another process, or was detached.
    Frame,
    /// A frame shows another document or URL.
    Navigated,
    /// The [navigation policy](super::NavigationPolicy) blocked a navigation of a page or frame.
    NavigationBlocked,
    /// A page opened a dialog, which blocks the page until it is answered.
    DialogOpened,
    /// A dialog was answered, or closed with its page.
    DialogClosed,
    /// A console message or uncaught exception.
    Console,
    /// A page opened a file chooser.
    FileChooser,
    /// A download began or ended.
    Download,
    /// The renderer process of a page or of a cross-process frame crashed.
    Crashed,
    /// A page became unresponsive, or responds again.
    Responsiveness,
    /// Events were lost, and the state was read again.
    Resync,
    /// The dialog bridge was turned on, or failed in a frame.
    Bridge,
    /// A page's running script was terminated, because the page did not respond while a call waited.
    Rescued,
    /// The connection was lost; the supervisor reconnects.
    Disconnected,
    /// The connection was restored and the pages are attached again.
    Reconnected,
    /// An action on a page started.
    ActionStarted,
    /// An action on a page finished.
    ActionFinished,
    /// The supervisor ended; no event follows.
    Ended,
}

impl EventKind {
    /// Its name in JSON, such as `tab_opened`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TabOpened => "tab_opened",
            Self::TabClosed => "tab_closed",
            Self::PopupBlocked => "popup_blocked",
            Self::Frame => "frame",
            Self::Navigated => "navigated",
            Self::NavigationBlocked => "navigation_blocked",
            Self::DialogOpened => "dialog_opened",
            Self::DialogClosed => "dialog_closed",
            Self::Console => "console",
            Self::FileChooser => "file_chooser",
            Self::Download => "download",
            Self::Crashed => "crashed",
            Self::Responsiveness => "responsiveness",
            Self::Resync => "resync",
            Self::Bridge => "bridge",
            Self::Rescued => "rescued",
            Self::Disconnected => "disconnected",
            Self::Reconnected => "reconnected",
            Self::ActionStarted => "action_started",
            Self::ActionFinished => "action_finished",
            Self::Ended => "ended",
        }
    }
}

impl Serialize for EventKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// An event. In JSON it is the object [`fields`](LogEvent::fields); times are in Unix seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum LogEvent {
    /// A page was opened.
    #[cfg_attr(feature = "schema", schemars(title = "tab_opened"))]
    TabOpened {
        /// Its URL at that moment, often still empty.
        url: Arc<str>,
        /// The page that opened it.
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        opener: Option<TargetId>,
    },
    /// A page was closed.
    #[cfg_attr(feature = "schema", schemars(title = "tab_closed"))]
    TabClosed {
        /// Why it was closed; `None` if it closed itself or was closed on request.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// A page opened another one beyond the page limit, which was closed at once.
    #[cfg_attr(feature = "schema", schemars(title = "popup_blocked"))]
    PopupBlocked {
        /// The maximum number of pages of the task.
        limit: Option<usize>,
    },
    /// A frame was attached, moved to another process, or was detached.
    #[cfg_attr(feature = "schema", schemars(title = "frame"))]
    Frame {
        /// Id of the frame.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// What changed about the frame.
        change: FrameChange,
        /// Its parent frame, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        parent: Option<FrameId>,
    },
    /// A frame shows another document or URL.
    #[cfg_attr(feature = "schema", schemars(title = "navigated"))]
    Navigated {
        /// Id of the frame that navigated.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// The URL that the frame shows now.
        url: Arc<str>,
        /// Whether it is the page's top frame.
        main: bool,
        /// Whether the document is the same as before.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        same_document: bool,
    },
    /// The navigation policy blocked a navigation of a page or frame.
    #[cfg_attr(feature = "schema", schemars(title = "navigation_blocked"))]
    NavigationBlocked {
        /// The blocked URL, without secrets and truncated.
        url: Arc<str>,
        /// Why it is blocked, and which setting would allow it.
        reason: Arc<str>,
        /// Id of the frame that was to navigate.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// Whether it is the page's top frame.
        main: bool,
    },
    /// A dialog opened. Its texts are truncated.
    #[cfg_attr(feature = "schema", schemars(title = "dialog_opened"))]
    DialogOpened(Dialog),
    /// A dialog closed. Its texts are truncated.
    #[cfg_attr(feature = "schema", schemars(title = "dialog_closed"))]
    DialogClosed(ClosedDialog),
    /// A console message or uncaught exception.
    #[cfg_attr(feature = "schema", schemars(title = "console"))]
    Console(Arc<ConsoleEntry>),
    /// A page opened a file chooser.
    #[cfg_attr(feature = "schema", schemars(title = "file_chooser"))]
    FileChooser {
        /// Id of the frame that opened the file chooser.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        frame_id: FrameId,
        /// Whether it accepts several files.
        several: bool,
        /// Whether files were armed for it.
        answered: bool,
        /// Names of the files that were set.
        files: Vec<String>,
        /// Why the armed files could not be set.
        problem: Option<String>,
    },
    /// A download started, or ended without its file being moved.
    #[cfg_attr(feature = "schema", schemars(title = "download"))]
    Download(DownloadView),
    /// A download ended and its file was moved to its final place, or moving it failed.
    #[cfg_attr(feature = "schema", schemars(title = "download"))]
    DownloadEnded(DownloadEnded),
    /// The renderer process of a page or of a cross-process frame crashed.
    #[cfg_attr(feature = "schema", schemars(title = "crashed"))]
    Crashed {
        /// The page, or the cross-process frame.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        crashed: TargetId,
    },
    /// A page became unresponsive, or responds again.
    #[cfg_attr(feature = "schema", schemars(title = "responsiveness"))]
    Responsiveness {
        /// Whether the page responds now.
        state: PageState,
    },
    /// Events were lost and the state was read again.
    #[cfg_attr(feature = "schema", schemars(title = "resync"))]
    Resync {
        /// Number of lost events, if known.
        lost: u64,
    },
    /// The dialog bridge was turned on, or failed in a frame.
    #[cfg_attr(feature = "schema", schemars(title = "bridge"))]
    Bridge {
        /// Why it was turned on.
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<BridgeReason>,
        /// Why it could not be turned on in a frame.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed: Option<Arc<str>>,
    },
    /// A page's running script was terminated.
    #[cfg_attr(feature = "schema", schemars(title = "rescued"))]
    Rescued {
        /// The method of the waiting call.
        waiting: Arc<str>,
        /// How long the call had waited, in milliseconds.
        waited_ms: u64,
    },
    /// The connection was lost.
    #[cfg_attr(feature = "schema", schemars(title = "disconnected"))]
    Disconnected {
        /// Why the connection was lost.
        reason: Arc<str>,
    },
    /// The connection was restored and the pages are attached again.
    #[cfg_attr(feature = "schema", schemars(title = "reconnected"))]
    Reconnected {
        /// Number of connections so far, including this one.
        generation: u64,
    },
    /// An action on a page started.
    #[cfg_attr(feature = "schema", schemars(title = "action_started"))]
    ActionStarted(Action),
    /// An action on a page finished.
    #[cfg_attr(feature = "schema", schemars(title = "action_finished"))]
    ActionFinished {
        /// What was done, on which element, and by which session.
        #[serde(flatten)]
        action: Action,
        /// `ok`, or the error code; for a batch, that of the first failed action.
        outcome: Arc<str>,
        /// Why the page counts as settled, for actions that wait for their effects.
        #[serde(skip_serializing_if = "Option::is_none")]
        settled: Option<Arc<str>>,
        /// Time from its start to its end, in milliseconds.
        duration_ms: u64,
    },
    /// The supervisor ended; no event follows.
    #[cfg_attr(feature = "schema", schemars(title = "ended"))]
    Ended {
        /// Why the supervisor ended.
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
    /// The frame moved to its own process.
    OwnProcess,
    /// The frame was detached.
    Detached,
}

/// The end of a download whose file was to be moved to its final place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DownloadEnded {
    /// The URL that was downloaded; untrusted.
    pub url: Arc<str>,
    /// The file name suggested by the page or server: untrusted.
    pub suggested_filename: Arc<str>,
    /// Number of bytes received.
    pub bytes: u64,
    /// Number of the download within the supervisor.
    pub number: u64,
    /// `completed`, `canceled` or `failed`.
    pub state: &'static str,
    /// Where the file is now; absent if it was not moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Why the download failed, or its file could not be moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// An action in the log. Never contains typed text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Action {
    /// Its number, unique in the process; the same at start and end.
    pub action: u64,
    /// Its kind, as in `POST /act`: `click`, `fill`, …
    pub kind: &'static str,
    /// The ref of its element, if any.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<Arc<str>>,
    /// The role of its element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Arc<str>>,
    /// The accessible name of its element: untrusted, secrets redacted, at most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The session that acts; `None` for the default session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Arc<str>>,
}

impl Action {
    pub(crate) fn new(action: u64, kind: &'static str) -> Self {
        Self { action, kind, ..Self::default() }
    }
}

impl LogEvent {
    /// The fields of the event as programs outside read them: in `camelCase`, except those of a dialog, which are named as in its
    /// object. Lines and columns count from 1.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return Map::new() };
        let field = |(name, value): (String, Value)| {
            let value = match (self, name.as_str(), &value) {
                (Self::Console(_), "line" | "column", Value::Number(number)) => {
                    number.as_i64().map_or(value, |number| (number + 1).into())
                }
                (Self::Download(_), "state", Value::String(state)) => camel_case(state).into(),
                _ => value,
            };
            (camel_case(&name), value)
        };
        match self {
            Self::DialogOpened(_) | Self::DialogClosed(_) => fields,
            _ => fields.into_iter().map(field).collect(),
        }
    }

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

/// Size of an entry without its texts, in bytes.
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
