//! What can go wrong with a supervisor, each with the way out.

use std::borrow::Cow;
use std::time::Duration;

use crate::code::Code;
use crate::{browser, cdp};

/// A failed request to a supervisor.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The supervisor has ended.
    #[error("the supervisor is not active ({reason}); start it again")]
    NotActive {
        /// Why it ended.
        reason: String,
    },
    /// The connection is lost and no new one was there by the deadline.
    #[error("the connection to the browser is lost ({reason}); it is being made again, try in a moment")]
    Reconnecting {
        /// Why it was lost.
        reason: String,
    },
    /// The page shows a dialog that nobody can answer.
    #[error(
        "page {page} shows dialog {dialog}, which was open when the connection was lost and cannot be answered any more; \
         navigate, reload or close the page"
    )]
    Wedged {
        /// The page.
        page: String,
        /// The dialog.
        dialog: String,
    },
    /// The dialog was lost sight of.
    #[error(
        "dialog {id} can no longer be answered: its page, its renderer or the connection is gone; \
         take a snapshot, and navigate, reload or close the page if it does not answer"
    )]
    DialogLost {
        /// The dialog.
        id: String,
    },
    /// Its page is leaving, and Chromium takes no answer.
    #[error(
        "dialog {id} cannot be answered: its page was on its way elsewhere, and that document waits for the dialog; \
         navigate or close the page, which closes the dialog"
    )]
    DialogTooLate {
        /// The dialog.
        id: String,
    },
    /// The start took too long.
    #[error("the supervisor did not attach within {} ms; is a page of the browser stuck?", .after.as_millis())]
    StartTimeout {
        /// How long was waited.
        after: Duration,
    },
    /// The page to supervise is not there.
    #[error("the browser has no page {target}; list its pages and choose one")]
    PageNotFound {
        /// The target that was asked for.
        target: String,
    },
    /// There is no page to act on.
    #[error("the task has no open page; open one first")]
    NoPage,
    /// The frame is not known.
    #[error("there is no frame {frame}; take a new snapshot; the frames are: {}", list(.known))]
    FrameNotFound {
        /// The frame that was asked for.
        frame: String,
        /// Frames that are there, at most ten.
        known: Vec<String>,
    },
    /// The command cannot be aimed at a frame that shares its process with another.
    #[error(
        "{method} cannot be aimed at frame {frame}: it shares the process and session of frame {owner}, \
         so the command would act on that one; use Runtime.evaluate with this frame, \
         or contentDocument of its <iframe> from frame {owner}"
    )]
    NotAFrameCommand {
        /// The command.
        method: String,
        /// The frame that was asked for.
        frame: String,
        /// The frame whose session it shares.
        owner: String,
    },
    /// The frame has no script context at the moment.
    #[error("frame {frame} has no script context at the moment; it may be loading, wait for it or take a new snapshot")]
    NoContext {
        /// The frame.
        frame: String,
    },
    /// The frame lost its session and has not got a new one.
    #[error("frame {frame} is detached at the moment; take a new snapshot")]
    FrameDetached {
        /// The frame.
        frame: String,
    },
    /// No dialog is open.
    #[error("no dialog is currently open; take a snapshot to see recent ones")]
    NoDialog,
    /// Several dialogs are open and none was named.
    #[error("{} dialogs are open; name one of: {}", .candidates.len(), .candidates.join(", "))]
    SeveralDialogs {
        /// Their ids.
        candidates: Vec<String>,
    },
    /// The dialog is not open.
    #[error("dialog {id} is not open (open: {}); the list of dialogs says what became of it", list(.known))]
    DialogNotFound {
        /// The dialog that was asked for.
        id: String,
        /// The ones that are open.
        known: Vec<String>,
    },
    /// Somebody else answered first.
    #[error("dialog {id} was answered by somebody else just now; take a snapshot")]
    DialogGone {
        /// The dialog.
        id: String,
    },
    /// So many answers are armed already.
    #[error("{limit} answers are armed already; disarm them or wait until they are used")]
    TooManyArmed {
        /// How many there may be.
        limit: usize,
    },
    /// The script threw.
    #[error("{0}")]
    Script(#[from] super::ScriptError),
    /// A dialog is open on the page, so the call cannot be answered before the dialog is.
    #[error("the page is blocked by an open dialog ({}); answer it first", .dialogs.join(", "))]
    BlockedByDialog {
        /// The command.
        method: Cow<'static, str>,
        /// Ids of the dialogs that block it.
        dialogs: Vec<String>,
    },
    /// The call failed.
    #[error(transparent)]
    Cdp(cdp::Error),
    /// The browser could not be started or reached.
    #[error(transparent)]
    Browser(#[from] browser::Error),
    /// A script of another caller holds the page.
    #[error(
        "page {page} is busy with a script that another caller runs, for up to {} ms more; wait for it or raise the deadline",
        .left.as_millis()
    )]
    PageBusy {
        /// The page.
        page: String,
        /// How long that script may go on.
        left: Duration,
    },
    /// The caller's own script was still running at its deadline and was ended.
    #[error(
        "the script ran longer than its {} ms and was ended; its document is kept, give it more time or make it shorter",
        .after.as_millis()
    )]
    ScriptTimeout {
        /// How long it ran.
        after: Duration,
    },
    /// The page is on its way to another document.
    #[error(
        "page {page} is on its way to another document, whose server has not answered within {} ms; wait for it or navigate elsewhere",
        .after.as_millis()
    )]
    Navigating {
        /// The page.
        page: String,
        /// How long was waited.
        after: Duration,
    },
    /// The page answers nothing.
    #[error(
        "page {page} did not answer within {} ms{}; reload it (what it holds is lost), or close it and open another",
        .after.as_millis(), if *.tried { ", and ending its running script did not help" } else { "" }
    )]
    Unresponsive {
        /// The page.
        page: String,
        /// What was asked of it.
        method: String,
        /// How long was waited.
        after: Duration,
        /// Whether its running script was ended.
        tried: bool,
    },
    /// The supervisor did not get to the request in time.
    #[error("{what} was not finished within {} ms; try again", .after.as_millis())]
    Timeout {
        /// What was asked.
        what: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// The document did not come in time.
    #[error("the page did not show the new document within {} ms; allow more time or try again", .after.as_millis())]
    NoDocument {
        /// How long was waited.
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
    /// Other files were given for the next file chooser.
    #[error("other files were given for the next file chooser of this page meanwhile; these are not waiting any more")]
    ChooserReplaced,
    /// No file chooser was opened in time.
    #[error("the page opened no file chooser within {} ms; click what opens it within that time", .after.as_millis())]
    NoChooser {
        /// How long the files waited.
        after: Duration,
    },
    /// The file chooser takes one file only.
    #[error("the file chooser takes one file, not {files}; give one")]
    ChooserOfOne {
        /// How many there were.
        files: usize,
    },
    /// The file chooser belongs to no `<input type=file>`.
    #[error(
        "the page opened its file chooser from a script (showOpenFilePicker), which cannot be answered; use a file input of the page"
    )]
    ChooserWithoutInput,
    /// The route cannot be added as it is.
    #[error("{problem}")]
    BadRoute {
        /// The field, and what is wrong with it.
        problem: String,
    },
    /// There is no room for another route.
    #[error("{problem}")]
    TooManyRoutes {
        /// How much there is.
        problem: String,
    },
    /// The request that was answered is not held any more.
    #[error("the intercepted request is gone: its page left it, or it went on because its time was up; answer sooner")]
    RequestGone,
    /// There is no such route.
    #[error("no route {id:?}; known: {}", list(.known))]
    RouteNotFound {
        /// What was asked for.
        id: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The navigation policy does not let a page go there.
    #[error("navigation to {url} is blocked: {reason}")]
    NavigationBlocked {
        /// Where, without user names, queries and fragments.
        url: String,
        /// Why, and what would allow it.
        reason: String,
    },
    /// The browser has no hidden pages.
    #[error(
        "this browser cannot open a hidden page (Chromium 136 or later can), so only what open tabs hold can be read or written"
    )]
    NoHiddenPage,
    /// A hidden page did not get to show an origin.
    #[error("no empty document of {origin} could be shown: {problem}")]
    NotShown {
        /// The origin.
        origin: String,
        /// Why.
        problem: String,
    },
    /// Who asked for it does not want it any more ([`Cancel`](crate::sync::Cancel)).
    #[error("given up, since who asked for it is gone")]
    Cancelled,
    /// The system refused a thread.
    #[error("cannot start the supervisor's thread: {problem}")]
    System {
        /// The system's sentence.
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

    /// An address that did not load, by the name that Chromium has for the reason.
    pub(crate) fn not_loaded(url: &str, error: &str) -> Self {
        let shown = super::navigation::shown(url);
        let is_known = !shown.is_empty() && !url.starts_with("chrome-error:");
        let url = if !is_known { "the page".to_owned() } else { shown };
        Self::NotLoaded { url, error: error.to_owned() }
    }

    /// What is told where nobody wants the result any more: whatever a wait came to, that is why.
    pub(super) fn or_cancelled(self) -> Self {
        if crate::sync::Cancel::is_current_set() { Self::Cancelled } else { self }
    }

    /// An open dialog stands in the way of something.
    pub(crate) fn blocked_by_dialog(what: &'static str, dialog: &str) -> Self {
        Self::BlockedByDialog { method: what.into(), dialogs: vec![dialog.to_owned()] }
    }

    /// Whether the page's process has crashed. Loading the page again brings it back.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::Cdp(cdp::Error::SessionGone { reason: cdp::GoneReason::Crashed, .. }))
    }

    /// Whether an open dialog stands in the way.
    #[must_use]
    pub fn is_blocked_by_dialog(&self) -> bool {
        matches!(self, Self::BlockedByDialog { .. })
    }
}

impl From<cdp::Error> for Error {
    /// The supervisor interrupts calls because of dialogs alone.
    fn from(error: cdp::Error) -> Self {
        match error {
            cdp::Error::Interrupted { method, causes } => Self::BlockedByDialog { method, dialogs: causes },
            error => Self::Cdp(error),
        }
    }
}

/// What the usual network errors mean.
fn advice(error: &str) -> &'static str {
    match error {
        "net::ERR_CONNECTION_REFUSED" => " (nothing listens there; check host and port, and that the server runs)",
        "net::ERR_NAME_NOT_RESOLVED" => " (the host name is not known; check its spelling)",
        "net::ERR_INTERNET_DISCONNECTED" => " (the network is off, or the tab is emulated as offline)",
        "net::ERR_UNSAFE_PORT" => " (Chromium refuses this port; serve the page on another one)",
        "net::ERR_CONNECTION_TIMED_OUT" | "net::ERR_TIMED_OUT" => " (the server did not answer; try again)",
        "net::ERR_ABORTED" => " (the navigation was cancelled, or the answer has no document)",
        _ if error.starts_with("net::ERR_CERT_") => " (the certificate of the server is not valid)",
        _ => "",
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
