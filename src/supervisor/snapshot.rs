//! The published state: frozen views of a supervisor.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::dialog_policy::DialogMatch;
use super::error::Error;
use super::state::ATTACH_LIMIT;
use super::tree::{FrameTree, Limits};
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::page::{FrameId, GetFrameTree};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command as _;
use crate::cdp::{self, GoneReason};

/// The phase of a supervisor's life cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Attaching to the browser's pages.
    Starting,
    /// Attached; calls are possible.
    Active,
    /// The connection was lost, for this reason; the supervisor reconnects. The known state is kept.
    Reconnecting(Arc<str>),
    /// Ended, with the reason.
    Ended(Arc<str>),
}

/// An answer armed for future dialogs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArmedDialogAnswer {
    /// Whether to accept (OK) or dismiss (Cancel).
    pub accept: bool,
    /// The text for a prompt.
    pub prompt_text: Option<String>,
    /// The dialogs that it applies to.
    pub when: DialogMatch,
    /// Number of dialogs that it still answers.
    pub times: u32,
    /// When it expires unused.
    pub until: std::time::Instant,
}

/// The state of a supervisor at one moment. Unchanged parts are shared with the previous view.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View {
    /// Number of the connection, from 1; each reconnect adds 1.
    pub generation: u64,
    /// Whether the supervisor is active, reconnecting or ended.
    pub phase: Phase,
    /// The task's pages, oldest first.
    pub pages: Arc<[PageView]>,
    /// Their frames, in the order they were attached.
    pub frames: Arc<[Frame]>,
    /// Dialogs that wait for an answer, oldest first.
    pub dialogs: Arc<[Dialog]>,
    /// The last 20 dialogs that closed, oldest first.
    pub recent: Arc<[ClosedDialog]>,
    /// Answers armed for future dialogs, oldest first. Some may have expired since.
    pub armed: Arc<[ArmedDialogAnswer]>,
    /// State of the dialog bridge.
    pub bridge: BridgeView,
    /// The last 50 downloads, oldest first, if enabled by
    /// [`catch_downloads`](super::Supervisor::catch_downloads).
    pub downloads: Arc<[DownloadView]>,
    /// The last 50 console messages and uncaught exceptions, oldest first.
    pub console: Arc<[ConsoleEntry]>,
}

impl View {
    pub(super) fn empty() -> Self {
        Self {
            generation: 1,
            phase: Phase::Starting,
            pages: Arc::default(),
            frames: Arc::default(),
            dialogs: Arc::default(),
            recent: Arc::default(),
            armed: Arc::default(),
            bridge: BridgeView::default(),
            downloads: Arc::default(),
            console: Arc::default(),
        }
    }

    /// Unexpired answers armed for dialogs of a page.
    pub fn armed_for<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a ArmedDialogAnswer> {
        let now = std::time::Instant::now();
        let is_for = move |armed: &&ArmedDialogAnswer| {
            armed.until > now && armed.when.target.as_ref().is_none_or(|page| page.as_str() == target)
        };
        self.armed.iter().filter(is_for)
    }

    /// Whether the supervisor is active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.phase == Phase::Active
    }

    /// A page by its target id.
    #[must_use]
    pub fn page(&self, target: &str) -> Option<&PageView> {
        self.pages.iter().find(|p| p.target_id.as_str() == target)
    }

    /// A frame by its id.
    #[must_use]
    pub fn frame(&self, id: &str) -> Option<&Frame> {
        self.frames.iter().find(|f| f.frame_id.as_str() == id)
    }

    /// The frames of one page.
    pub fn frames_of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a Frame> {
        self.frames.iter().filter(move |f| f.target_id.as_str() == target)
    }

    /// The page of a frame that has no session.
    pub(super) fn page_of_detached(&self, frame: &str) -> Option<&PageView> {
        self.frame(frame).filter(|f| f.session_id.is_none()).and_then(|f| self.page(f.target_id.as_str()))
    }

    /// Whether a frame has no session because its page is being attached, or because it is changing its process.
    pub(crate) fn is_attaching(&self, frame: &str) -> bool {
        let page = self.page_of_detached(frame);
        page.is_some_and(|page| matches!(page.state, PageState::Attaching | PageState::Ready))
    }

    /// Whether the top frame of a session is navigating.
    pub(crate) fn is_navigating(&self, session: &str) -> bool {
        let own =
            |f: &&Frame| f.session_frame.as_ref() == Some(&f.frame_id) && f.session_id.as_deref() == Some(session);
        self.frames.iter().filter(own).any(|f| f.navigating)
    }

    /// Whether the document of a session's top frame is loading, or has loaded within this time.
    pub(super) fn has_just_loaded(&self, session: &str, within: std::time::Duration) -> bool {
        let own =
            |f: &&Frame| f.session_frame.as_ref() == Some(&f.frame_id) && f.session_id.as_deref() == Some(session);
        self.frames.iter().filter(own).any(|f| match f.load {
            Load::Unknown => false,
            Load::Loading => true,
            Load::Loaded(at) => at.elapsed() < within,
        })
    }

    /// The loader id of the document that a frame shows.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn document_of(&self, frame: &FrameId) -> Option<Arc<str>> {
        self.frame(frame.as_str()).map(|frame| Arc::clone(&frame.loader))
    }

    /// The open dialogs of a page.
    pub fn dialogs_of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a Dialog> {
        self.dialogs.iter().filter(move |d| d.target_id.as_str() == target)
    }

    /// The frame tree of a page, within the default limits: 30 entries, no cross-process frame deeper than 2.
    #[must_use]
    pub fn frame_tree(&self, target: &str) -> FrameTree {
        FrameTree::of(self, target, Limits::default())
    }

    /// The complete frame tree of a page.
    #[must_use]
    pub fn full_frame_tree(&self, target: &str) -> FrameTree {
        FrameTree::of(self, target, Limits::NONE)
    }
}

/// A page of the task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageView {
    /// The target id that the browser gave the page.
    pub target_id: TargetId,
    /// Its URL, as Chromium last reported it.
    pub url: Arc<str>,
    /// Its title after the last load or URL change; Chromium does not report later changes by scripts.
    pub title: Arc<str>,
    /// Whether the page accepts calls.
    pub state: PageState,
    /// The page that opened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opener: Option<TargetId>,
    /// Id of its top frame, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_frame: Option<FrameId>,
    /// Whether it was opened by this supervisor.
    pub own: bool,
    /// The open dialog that can no longer be answered, see [`PageState::Wedged`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_dialog: Option<Arc<str>>,
    /// Its browser context; `None` for the default one.
    #[serde(skip)]
    pub context: Option<BrowserContextId>,
    /// The last navigation that the navigation policy blocked.
    #[serde(skip)]
    pub blocked: Option<Arc<super::BlockedNavigation>>,
    /// Whether it is a new page that does not show its first document yet.
    #[serde(skip)]
    pub(crate) is_arriving: bool,
    /// Whether it waits for the response of its first document's server.
    #[serde(skip)]
    pub(crate) is_under_way: bool,
    /// Whether it was created in the process of its opener.
    #[serde(skip)]
    pub(crate) shares_process: bool,
    #[serde(skip)]
    pub(crate) session: Arc<str>,
}

impl PageView {
    /// Whether its frame tree is about to be known: until then it has no frame for a call.
    pub(crate) fn awaits_frames(&self) -> bool {
        self.top_frame.is_none() && self.state == PageState::Attaching
    }

    /// The error of a call on a page whose top frame is not known.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn no_frame(&self) -> Error {
        self.not_usable().unwrap_or_else(|| Error::FrameDetached { frame: "top".to_owned() })
    }

    /// Why a page has no session for calls, if it is not about to get one.
    pub(super) fn not_usable(&self) -> Option<Error> {
        match self.state {
            PageState::Unresponsive => Some(self.not_attached(ATTACH_LIMIT)),
            PageState::Crashed => {
                let (method, reason) = (GetFrameTree::METHOD.into(), GoneReason::Crashed);
                Some(Error::Cdp(cdp::Error::SessionGone { method, reason }))
            }
            PageState::Wedged => {
                let dialog = self.lost_dialog.as_ref().map(ToString::to_string).unwrap_or_default();
                Some(Error::Wedged { page: self.target_id.to_string(), dialog })
            }
            _ => None,
        }
    }

    /// The error for a page that did not answer its attach in this time.
    pub(super) fn not_attached(&self, after: Duration) -> Error {
        let method = GetFrameTree::METHOD.to_owned();
        Error::Unresponsive { page: self.target_id.to_string(), method, after, tried: false }
    }
}

/// Whether a page accepts calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PageState {
    /// Attaching is in progress.
    Attaching,
    /// The page is attached and responds.
    Ready,
    /// It has not answered the attach for 5 s: its script hangs, or a dialog opened before the attach.
    Unresponsive,
    /// Its renderer crashed. Reload or navigate to recover it.
    Crashed,
    /// The connection is lost, so the page is not attached.
    Detached,
    /// It shows a dialog that was open when the connection was lost. Chromium allows no later session to answer it:
    /// navigate, reload or close the page.
    Wedged,
}

/// How far a frame has loaded its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Load {
    /// Not reported: the page existed before it was attached.
    #[default]
    Unknown,
    Loading,
    Loaded(std::time::Instant),
}

/// A frame of one of the task's pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    /// Its id; kept when it changes its process.
    pub frame_id: FrameId,
    /// The page it belongs to.
    pub target_id: TargetId,
    /// Its parent; `None` for a top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_frame_id: Option<FrameId>,
    /// URL of its document, as Chromium last reported it.
    pub url: Arc<str>,
    /// Origin of its document, such as `https://example.com`.
    pub origin: Arc<str>,
    /// Its name; empty if it has none.
    pub name: Arc<str>,
    /// Whether it runs in its own process (OOPIF).
    pub is_oopif: bool,
    /// The session for its commands; `None` while it is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// State of the dialog bridge in its process.
    #[serde(skip)]
    pub bridge: BridgeLife,
    /// The frame that its session is attached to; differs from the frame itself if they share the session.
    #[serde(skip)]
    pub(crate) session_frame: Option<FrameId>,
    /// Id of its default execution context.
    #[serde(skip)]
    pub(crate) context: Option<i64>,
    /// The loader id of its document.
    #[serde(skip)]
    pub(crate) loader: Arc<str>,
    /// Whether it is navigating; its session accepts no commands meanwhile.
    #[serde(skip)]
    #[doc(hidden)]
    pub navigating: bool,
    #[serde(skip)]
    pub(crate) load: Load,
}

/// A download of a page, as the log and the view show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DownloadView {
    /// Its number within the supervisor, from 1.
    pub number: u64,
    /// The page that it came from.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The opener of that page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub opener: Option<TargetId>,
    /// The URL that was downloaded; untrusted.
    pub url: Arc<str>,
    /// The file name suggested by the page or server: untrusted.
    pub suggested_filename: Arc<str>,
    /// Whether it is in progress, completed, cancelled or lost.
    pub state: DownloadProgress,
    /// Number of bytes received so far.
    pub bytes: u64,
    /// Total bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The file that Chromium writes, on the browser's machine.
    #[serde(skip)]
    pub file: Option<Arc<Path>>,
    /// Start time, in Unix seconds.
    pub started_at: f64,
}

/// Progress of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DownloadProgress {
    /// Bytes are still received.
    InProgress,
    /// All bytes were received.
    Completed,
    /// Cancelled, or the download's connection was lost.
    Canceled,
    /// The connection to the browser was lost meanwhile.
    Lost,
}

/// State of the dialog bridge, and what turned it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[non_exhaustive]
pub struct BridgeView {
    /// What turned it on; `None` while it is off.
    pub on: Option<BridgeReason>,
    /// Number of dialogs that used it.
    pub calls: u64,
    /// Number of invalid requests to its URL: a page tried to forge or repeat a call.
    pub refused: u64,
}

/// What turned the bridge on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BridgeReason {
    /// It was requested by the options.
    Asked,
    /// The browser runs on another machine.
    RemoteEndpoint,
    /// A native dialog was closed by another client as soon as it opened.
    ClosedByOthers,
}

/// State of the dialog bridge in a frame's process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BridgeLife {
    /// The bridge is not used.
    #[default]
    Off,
    /// It is being set up.
    Installing,
    /// It is set up and has had no dialog.
    Installed,
    /// A dialog has used it.
    Live,
    /// It is set up, but the last dialog was native: the document is sandboxed, forbids synchronous requests, or was
    /// loaded earlier with a content policy that forbids them.
    Native,
    /// The browser rejected the setup, for this reason.
    Failed(Arc<str>),
}

/// The type of a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DialogType {
    /// `alert()`.
    Alert,
    /// `confirm()`.
    Confirm,
    /// `prompt()`.
    Prompt,
    /// Shown by the browser before it leaves a page with a `beforeunload` handler.
    BeforeUnload,
}

impl DialogType {
    /// Its name in the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}

/// A dialog that a page shows and that blocks it until it is answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dialog {
    /// `d-1`, `d-2`, …; never reused by a supervisor.
    pub id: Arc<str>,
    /// Which function or event opened it.
    #[serde(rename = "type")]
    pub kind: DialogType,
    /// The text that it shows; untrusted.
    pub message: Arc<str>,
    /// The initial text of a prompt; empty otherwise.
    pub default_prompt: Arc<str>,
    /// When it opened, in Unix seconds.
    pub opened_at: f64,
    /// The frame that opened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// The page that shows it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The origin of that frame.
    pub origin: Arc<str>,
    /// Whether it uses the dialog bridge instead of a native dialog.
    #[serde(skip)]
    pub bridged: bool,
}

/// A dialog that was answered, or closed with its page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClosedDialog {
    /// The dialog as it was when open.
    #[serde(flatten)]
    pub dialog: Dialog,
    /// When it closed, in Unix seconds.
    pub closed_at: f64,
    /// Who or what closed it.
    pub closed_by: ClosedBy,
    /// Whether it was accepted.
    pub accepted: bool,
}

/// What closed a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClosedBy {
    /// A client of this supervisor.
    Agent,
    /// An answer that was armed before the dialog opened.
    Armed,
    /// The dialog policy of the task.
    AutoPolicy,
    /// The watchdog, after the dialog timeout.
    Watchdog,
    /// The browser, the closing of the page, or another client.
    Remote,
    /// Unknown, since the page, its renderer or the connection is gone.
    Lost,
}

/// A console message or an uncaught exception.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConsoleEntry {
    /// Severity of the message.
    pub level: ConsoleLevel,
    /// Its first arguments, joined: untrusted.
    pub text: Arc<str>,
    /// Time in Unix seconds.
    pub timestamp: f64,
    /// Target id of the page that wrote it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The frame, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// URL of the script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Arc<str>>,
    /// Line, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Its number within the supervisor, from 1.
    #[serde(skip)]
    pub number: u64,
}

/// Severity of a console message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ConsoleLevel {
    /// Anything below a warning.
    Log,
    /// `console.warn` was called.
    Warning,
    /// `console.error` was called, or a `console.assert` failed.
    Error,
    /// An exception or rejection that the page did not catch.
    Exception,
}
