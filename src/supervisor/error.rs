//! Errors of a supervisor.

use std::borrow::Cow;
use std::time::Duration;

use crate::code::Code;
use crate::sync::Deadline;
use crate::{browser, cdp};

/// A failed request to a supervisor.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The supervisor has ended.
    #[error("the supervisor has ended ({reason}); start a new one")]
    NotActive {
        /// Why the supervisor ended.
        reason: String,
    },
    /// The connection was lost and not restored by the deadline.
    #[error("the connection to the browser was lost ({reason}); reconnecting, retry in a moment")]
    Reconnecting {
        /// Why it was lost.
        reason: String,
    },
    /// The page shows a dialog that can no longer be answered.
    #[error(
        "page {page} is blocked by dialog {dialog}, which was open when the connection was lost and can no longer be \
         answered; navigate, reload or close the page"
    )]
    Wedged {
        /// Target id of the page.
        page: String,
        /// Id of the dialog, `d-1`.
        dialog: String,
    },
    /// The dialog can no longer be answered: its page, renderer or connection is gone.
    #[error(
        "dialog {id} can no longer be answered: its page, its renderer or the connection is gone; \
         if the page does not respond, navigate, reload or close it"
    )]
    DialogLost {
        /// Id of the dialog, `d-1`.
        id: String,
    },
    /// The dialog opened during a navigation; Chromium accepts no answer to it.
    #[error(
        "dialog {id} cannot be answered: it opened during a navigation, and the browser takes no answer then; \
         navigate or close the page, which closes the dialog"
    )]
    DialogTooLate {
        /// Id of the dialog, `d-1`.
        id: String,
    },
    /// The supervisor did not attach in time.
    #[error("the supervisor could not attach to the browser within {} ms; check for a page that does not respond, or allow more time", .after.as_millis())]
    StartTimeout {
        /// How long the start took.
        after: Duration,
    },
    /// The page to supervise does not exist.
    #[error("no page {target} in the browser; list the pages and use one of their ids")]
    PageNotFound {
        /// The requested target id.
        target: String,
    },
    /// There is no page to use.
    #[error("no page is open; open one first")]
    NoPage,
    /// There is no such frame.
    #[error("no frame {frame} (frames: {}); list the frames and use one of their ids, or give the ref of the iframe element", list(.known))]
    FrameNotFound {
        /// The requested frame id.
        frame: String,
        /// Existing frames, at most ten.
        known: Vec<String>,
    },
    /// The command cannot be sent to a frame that shares its session with another.
    #[error(
        "{method} cannot be sent to frame {frame}: the frame shares the session of frame {owner}, so the command would \
         apply to {owner}; use Runtime.evaluate in this frame, or reach it from frame {owner} through contentDocument \
         of its <iframe>"
    )]
    NotAFrameCommand {
        /// The CDP method, such as `Page.navigate`.
        method: String,
        /// The requested frame id.
        frame: String,
        /// The frame whose session it shares.
        owner: String,
    },
    /// The frame has no script context at the moment.
    #[error("frame {frame} has no script context, it may still be loading; retry in a moment or take a new snapshot")]
    NoContext {
        /// Id of the frame.
        frame: String,
    },
    /// The frame lost its session and has no new one.
    #[error("frame {frame} is detached; take a new snapshot and use a frame from it")]
    FrameDetached {
        /// Id of the frame.
        frame: String,
    },
    /// No dialog is open.
    #[error("no dialog is open; see the list of recent dialogs")]
    NoDialog,
    /// Several dialogs are open and none was named.
    #[error("{} dialogs are open; specify the id of one: {}", .candidates.len(), .candidates.join(", "))]
    SeveralDialogs {
        /// Ids of the open dialogs.
        candidates: Vec<String>,
    },
    /// The dialog is not open.
    #[error("there is no open dialog {id} (open: {}); if it was closed, the list of recent dialogs has its outcome", list(.known))]
    DialogNotFound {
        /// The requested dialog id.
        id: String,
        /// Ids of the open dialogs.
        known: Vec<String>,
    },
    /// Another client or a policy answered first.
    #[error(
        "dialog {id} was just answered by another client or by a policy; see the list of recent dialogs for its outcome"
    )]
    DialogGone {
        /// Id of the dialog, `d-1`.
        id: String,
    },
    /// The limit of armed answers is reached.
    #[error("the limit of {limit} armed dialog answers is reached; disarm some, or wait until they are used")]
    TooManyArmed {
        /// The maximum number of armed answers.
        limit: usize,
    },
    /// The browser has a recording already.
    #[error("this browser is being recorded already; stop that recording first")]
    AlreadyRecorded,
    /// The script threw, or its promise was rejected.
    #[error("{0}")]
    Script(#[from] super::ScriptError),
    /// A dialog is open on the page, so the call cannot be answered before the dialog is.
    #[error("the page is blocked by an open dialog ({}); answer it first", .dialogs.join(", "))]
    BlockedByDialog {
        /// The CDP method, such as `Page.navigate`.
        method: Cow<'static, str>,
        /// Ids of the dialogs that block it.
        dialogs: Vec<String>,
    },
    /// The browser refused the call, or did not answer it.
    #[error(transparent)]
    Cdp(cdp::Error),
    /// The browser could not be started or reached.
    #[error(transparent)]
    Browser(#[from] browser::Error),
    /// A script holds the page, and has not paused before the deadline of the call. A stopped process looks the same.
    #[error(
        "page {page} is busy{}, and has not responded for {}; {}",
        if .left.is_some() { " with a script of another client" } else { "" },
        time(*.busy),
        still(*.left)
    )]
    PageBusy {
        /// Target id of the page.
        page: String,
        /// How long the script has been running without a pause, as far as calls have seen.
        busy: Duration,
        /// For a script of another client: how long it may still run.
        left: Option<Duration>,
    },
    /// The script of the call was still running at its deadline and was terminated.
    #[error(
        "the script was still running after {} and was terminated (the document is kept); if it does not run forever, allow more \
         time",
        time(*.after)
    )]
    ScriptTimeout {
        /// How long it ran.
        after: Duration,
    },
    /// The page is navigating, and its server has not responded.
    #[error(
        "page {page} is navigating, and the server has not responded within {} ms; wait for it, or navigate elsewhere",
        .after.as_millis()
    )]
    Navigating {
        /// Target id of the page.
        page: String,
        /// How long the call waited.
        after: Duration,
    },
    /// The page does not respond.
    #[error(
        "page {page} did not respond within {} ms{}; reload it (its state is lost), or close it and open another",
        .after.as_millis(), if *.tried { ", although its running script was terminated" } else { "" }
    )]
    Unresponsive {
        /// Target id of the page.
        page: String,
        /// The protocol command that got no answer.
        method: String,
        /// How long the call waited.
        after: Duration,
        /// Whether its running script was terminated.
        tried: bool,
    },
    /// The operation did not finish before its deadline.
    #[error("{what} timed out after {} ms; retry, or allow more time", .after.as_millis())]
    Timeout {
        /// The operation that was not finished, as a noun phrase.
        what: &'static str,
        /// How long the call waited.
        after: Duration,
    },
    /// A navigation did not reach a new document in time.
    #[error("the navigation did not reach a new document within {} ms; allow more time or retry", .after.as_millis())]
    NoDocument {
        /// How long the call waited.
        after: Duration,
    },
    /// The address cannot be loaded.
    #[error("{url} did not load: {error}{}", advice(error))]
    NotLoaded {
        /// The address, without user names, queries and fragments.
        url: String,
        /// Chromium's name for the reason, `net::ERR_…`.
        error: String,
    },
    /// Other files were armed for the next file chooser.
    #[error("replaced: other files were set for the next file chooser of this page")]
    ChooserReplaced,
    /// No file chooser was opened in time.
    #[error("the page opened no file chooser within {} ms; click the element that opens it within that time", .after.as_millis())]
    NoChooser {
        /// How long the files were armed.
        after: Duration,
    },
    /// The file chooser takes one file only.
    #[error("the file chooser takes one file, got {files}; give one")]
    ChooserOfOne {
        /// Number of files given.
        files: usize,
    },
    /// The file chooser belongs to no `<input type=file>`.
    #[error(
        "the page opened its file chooser by script (showOpenFilePicker), which cannot be answered; use a file input of the page"
    )]
    ChooserWithoutInput,
    /// The route is invalid.
    #[error("{problem}")]
    BadRoute {
        /// The field and the problem.
        problem: String,
    },
    /// The limit of routes is reached.
    #[error("{problem}")]
    TooManyRoutes {
        /// The current number and size, as a sentence.
        problem: String,
    },
    /// The answered request is no longer held.
    #[error(
        "the intercepted request is no longer held: its page was left, or it continued at its deadline; answer sooner"
    )]
    RequestGone,
    /// There is no such route.
    #[error("no route {id:?}; existing routes: {}", list(.known))]
    RouteNotFound {
        /// The requested route id.
        id: String,
        /// Ids of the existing routes.
        known: Vec<String>,
    },
    /// The navigation policy blocks the URL.
    #[error("navigation to {url} is blocked: {reason}")]
    NavigationBlocked {
        /// The URL, without user names, queries and fragments.
        url: String,
        /// Why, and what would allow it.
        reason: String,
    },
    /// The browser does not support hidden pages.
    #[error(
        "this browser cannot open a hidden page (needs Chromium 136 or later), so only the storage of origins in open tabs is accessible"
    )]
    NoHiddenPage,
    /// A hidden page could not show a document of the origin.
    #[error("could not open an empty document of {origin}: {problem}")]
    NotShown {
        /// The origin, such as `https://example.com`.
        origin: String,
        /// Why the document was not shown.
        problem: String,
    },
    /// The operation was cancelled by its caller ([`Cancel`](crate::sync::Cancel)).
    #[error("cancelled: the client disconnected")]
    Cancelled,
    /// A thread could not be started.
    #[error("cannot start a thread for the supervisor: {problem}")]
    System {
        /// The system's error message.
        problem: String,
    },
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::Browser(error) => error.kind(),
            Self::BlockedByDialog { .. } => Code::BlockedByDialog,
            Self::NotActive { .. } | Self::Reconnecting { .. } => Code::BrowserNotRunning,
            Self::StartTimeout { .. }
            | Self::Timeout { .. }
            | Self::NoDocument { .. }
            | Self::ScriptTimeout { .. }
            | Self::Unresponsive { .. }
            | Self::Navigating { .. } => Code::Timeout,
            Self::PageNotFound { .. } | Self::NoPage => Code::TabNotFound,
            Self::FrameNotFound { .. } | Self::FrameDetached { .. } => Code::FrameNotFound,
            Self::NoContext { .. } | Self::PageBusy { .. } => Code::PageBusy,
            Self::TooManyArmed { .. }
            | Self::AlreadyRecorded
            | Self::TooManyRoutes { .. }
            | Self::Wedged { .. }
            | Self::DialogTooLate { .. } => Code::Conflict,
            Self::ChooserReplaced => Code::Conflict,
            Self::NavigationBlocked { .. } => Code::NavigationBlocked,
            Self::NoHiddenPage | Self::NotShown { .. } | Self::NotLoaded { .. } => Code::BrowserError,
            Self::Cancelled => Code::Cancelled,
            Self::NoChooser { .. } => Code::Timeout,
            Self::ChooserWithoutInput => Code::NotActionable,
            Self::ChooserOfOne { .. } | Self::NotAFrameCommand { .. } | Self::BadRoute { .. } => Code::BadRequest,
            Self::RouteNotFound { .. } | Self::RequestGone => Code::NotFound,
            Self::NoDialog => Code::NoDialog,
            Self::SeveralDialogs { .. } => Code::SeveralDialogs,
            Self::DialogNotFound { .. } | Self::DialogGone { .. } | Self::DialogLost { .. } => Code::DialogNotFound,
            Self::Script(_) => Code::ScriptError,
            Self::Cdp(inner) if inner.is_timeout() => Code::Timeout,
            Self::Cdp(inner) if inner.is_closed() => Code::BrowserNotRunning,
            Self::Cdp(_) => Code::BrowserError,
            Self::System { .. } => Code::Internal,
        }
    }

    /// The text of its [`kind`](Self::kind), as answers carry it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// A URL that did not load, with Chromium's error name.
    pub(crate) fn not_loaded(url: &str, error: &str) -> Self {
        let shown = super::navigation_policy::shown(url);
        let is_known = !shown.is_empty() && !url.starts_with("chrome-error:");
        let url = if !is_known { "the page".to_owned() } else { shown };
        Self::NotLoaded { url, error: error.to_owned() }
    }

    /// This error, or [`Error::Cancelled`] if the operation was cancelled.
    pub(super) fn or_cancelled(self, deadline: Deadline<'_>) -> Self {
        if deadline.is_cancelled() { Self::Cancelled } else { self }
    }

    /// An error for an operation that an open dialog blocks.
    pub(crate) fn blocked_by_dialog(what: &'static str, dialog: &str) -> Self {
        Self::BlockedByDialog { method: what.into(), dialogs: vec![dialog.to_owned()] }
    }

    /// Whether the page's process has crashed. Loading the page again brings it back.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::Cdp(cdp::Error::SessionGone { reason: cdp::GoneReason::Crashed, .. }))
    }

    /// Whether the browser refused a command.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use crate::browser::Error as B;
        matches!(self, Self::Cdp(cdp::Error::Protocol { .. }) | Self::Browser(B::Cdp(cdp::Error::Protocol { .. })))
    }

    /// Whether more time would help: the message ends with that advice, to which an entry point adds its own name for the time.
    pub fn advises_more_time(&self) -> bool {
        matches!(
            self,
            Self::StartTimeout { .. }
                | Self::PageBusy { left: Some(_), .. }
                | Self::ScriptTimeout { .. }
                | Self::Timeout { .. }
        )
    }

    /// Whether the page did not respond in the time that the call had: a script of it runs, or its process is stopped.
    #[must_use]
    pub fn is_unresponsive(&self) -> bool {
        matches!(self, Self::Unresponsive { .. } | Self::PageBusy { left: None, .. })
    }

    /// Whether an open dialog blocks the operation.
    #[must_use]
    pub fn is_blocked_by_dialog(&self) -> bool {
        matches!(self, Self::BlockedByDialog { .. })
    }
}

impl From<cdp::Error> for Error {
    /// Interruptions are always caused by dialogs.
    fn from(error: cdp::Error) -> Self {
        match error {
            cdp::Error::Interrupted { method, causes } => Self::BlockedByDialog { method, dialogs: causes },
            error => Self::Cdp(error),
        }
    }
}

/// What to do while a script holds a page.
fn still(left: Option<Duration>) -> String {
    match left {
        Some(left) => format!("it may run for {} ms more; wait for it or allow more time", left.as_millis()),
        None => "wait for it and try again".to_owned(),
    }
}

/// Advice for common network errors.
fn advice(error: &str) -> &'static str {
    match error {
        "net::ERR_CONNECTION_REFUSED" => {
            " (no server listens there; check host and port, and that the server is running)"
        }
        "net::ERR_NAME_NOT_RESOLVED" => " (the host name could not be resolved; check its spelling)",
        "net::ERR_INTERNET_DISCONNECTED" => " (no network, or the tab emulates offline)",
        "net::ERR_UNSAFE_PORT" => " (Chromium blocks this port; serve the page on another one)",
        "net::ERR_CONNECTION_TIMED_OUT" | "net::ERR_TIMED_OUT" => " (the server did not respond; retry)",
        "net::ERR_ABORTED" => " (the navigation was cancelled, or the response has no document)",
        _ if error.starts_with("net::ERR_CERT_") => " (the certificate of the server is invalid)",
        _ => "",
    }
}

/// `800 ms`, `20 s`.
fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.0} s", time.as_secs_f64())
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
