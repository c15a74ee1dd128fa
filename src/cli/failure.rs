//! What a failed command tells: a sentence, a code, an exit status.

use std::process::ExitCode;

use serde::Serialize;

use crate::{browser, supervisor};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done.
    Done = 0,
    /// The operation failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// No browser reachable.
    NoBrowser = 3,
    /// A dialog stands in the way.
    Dialog = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failed command.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Failure {
    /// What happened and what to do.
    pub(super) error: String,
    /// `SCREAMING_SNAKE`.
    pub(super) code: &'static str,
    #[serde(skip)]
    pub(super) exit: Exit,
}

impl Failure {
    pub(super) fn new(code: &'static str, error: impl Into<String>) -> Self {
        Self { error: error.into(), code, exit: Exit::Failed }
    }

    pub(super) fn usage(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "BAD_REQUEST", exit: Exit::Usage }
    }

    pub(super) fn internal(error: impl Into<String>) -> Self {
        Self::new("INTERNAL", error)
    }

    fn with(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }
}

impl From<browser::Error> for Failure {
    fn from(error: browser::Error) -> Self {
        use browser::Error as E;
        use browser::WebDriverProblem as P;
        let (code, exit) = match &error {
            E::NotFound { .. } | E::Executable { .. } | E::Unreachable { .. } | E::NotCdp { .. } => {
                ("BROWSER_NOT_RUNNING", Exit::NoBrowser)
            }
            E::Argument { .. } | E::ReservedPort { .. } | E::BadUrl { .. } => ("BAD_REQUEST", Exit::Usage),
            E::PortInUse { .. } | E::ProfileInUse { .. } => ("CONFLICT", Exit::Failed),
            E::WebDriver { problem: P::Unreachable { .. } | P::Answer { .. }, .. } => {
                ("BROWSER_NOT_RUNNING", Exit::NoBrowser)
            }
            E::StartTimeout { .. } | E::WebDriver { problem: P::Timeout { .. }, .. } => ("TIMEOUT", Exit::NoBrowser),
            E::WebDriver { .. } | E::NoCdp { .. } => ("BROWSER_ERROR", Exit::NoBrowser),
            E::SessionLeft { .. } => ("BROWSER_ERROR", Exit::Failed),
            E::Spawn { .. } | E::Sandbox { .. } | E::NoDisplay { .. } | E::Exited { .. } => {
                ("BROWSER_ERROR", Exit::NoBrowser)
            }
            E::Cdp(inner) if inner.is_timeout() => ("TIMEOUT", Exit::NoBrowser),
            E::Cdp(_) => ("BROWSER_ERROR", Exit::NoBrowser),
            _ => ("INTERNAL", Exit::Failed),
        };
        Self::new(code, error.to_string()).with(exit)
    }
}

impl From<supervisor::Error> for Failure {
    fn from(error: supervisor::Error) -> Self {
        use supervisor::Error as E;
        let code = match &error {
            E::Browser(inner) => return inner.clone().into(),
            E::Cdp(_) if error.is_blocked_by_dialog() => {
                return Self::new("BLOCKED_BY_DIALOG", error.to_string()).with(Exit::Dialog);
            }
            E::NotActive { .. } | E::Reconnecting { .. } => "BROWSER_NOT_RUNNING",
            E::StartTimeout { .. } | E::Timeout { .. } | E::ScriptTimeout { .. } | E::Unresponsive { .. } => "TIMEOUT",
            E::PageNotFound { .. } | E::NoPage => "TAB_NOT_FOUND",
            E::FrameNotFound { .. } | E::FrameDetached { .. } => "FRAME_NOT_FOUND",
            E::NoContext { .. } | E::PageBusy { .. } => "PAGE_BUSY",
            E::TooManyArmed { .. } | E::Wedged { .. } => "CONFLICT",
            E::NotAFrameCommand { .. } => "BAD_REQUEST",
            E::NoDialog => "NO_DIALOG",
            E::SeveralDialogs { .. } => "SEVERAL_DIALOGS",
            E::DialogNotFound { .. } | E::DialogGone { .. } | E::DialogLost { .. } => "DIALOG_NOT_FOUND",
            E::Script(_) => "SCRIPT_ERROR",
            E::Cdp(inner) if inner.is_timeout() => "TIMEOUT",
            E::Cdp(inner) if inner.is_closed() => "BROWSER_NOT_RUNNING",
            E::Cdp(_) => "BROWSER_ERROR",
            _ => "INTERNAL",
        };
        Self::new(code, error.to_string())
    }
}
