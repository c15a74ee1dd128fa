//! Errors of commands: message, code, exit status.

use std::borrow::Cow;
use std::process::ExitCode;

use serde::Serialize;

use cdpilot::code::Code;
use cdpilot::{browser, page, supervisor};
use cdpilot_server::{config, control};

/// Exit status of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Success.
    Done = 0,
    /// The operation failed.
    Failed = 1,
    /// Usage error.
    Usage = 2,
    /// No browser or server reachable, or wrong token.
    NoBrowser = 3,
    /// Blocked by an open dialog.
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
    /// What failed, why, and what to do.
    pub(super) error: String,
    /// One of the codes of the HTTP API, such as `TAB_NOT_FOUND`.
    pub(super) code: Cow<'static, str>,
    /// Data that depends on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<serde_json::Value>,
    #[serde(skip)]
    pub(super) exit: Exit,
}

impl Failure {
    pub(super) fn new(code: Code, error: impl Into<String>) -> Self {
        Self::of_text(code.as_str(), error)
    }

    /// A failure whose code came as a text: from a server of another version it may be an unknown one.
    pub(super) fn of_text(code: impl Into<Cow<'static, str>>, error: impl Into<String>) -> Self {
        Self { error: error.into(), code: code.into(), details: None, exit: Exit::Failed }
    }

    /// Its code, if it is a known one.
    pub(super) fn kind(&self) -> Option<Code> {
        Code::parse(&self.code)
    }

    pub(super) fn usage(error: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, error).with(Exit::Usage)
    }

    /// No server could be reached.
    pub(super) fn unreachable(error: impl Into<String>) -> Self {
        Self::new(Code::BrowserNotRunning, error).with(Exit::NoBrowser)
    }

    /// No server is running at the address, and none was started.
    pub(super) fn without_server(error: impl Into<String>) -> Self {
        Self { details: Some(serde_json::json!({ "server": "not_running" })), ..Self::unreachable(error) }
    }

    /// Whether it is a failure [`without_server`](Self::without_server).
    pub(super) fn is_without_server(&self) -> bool {
        self.details.as_ref().is_some_and(|details| details["server"] == "not_running")
    }

    pub(super) fn internal(error: impl Into<String>) -> Self {
        Self::new(Code::Internal, error)
    }

    pub(super) fn with(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }
}

impl From<browser::Error> for Failure {
    fn from(error: browser::Error) -> Self {
        use browser::Error as E;
        let error = match error {
            E::Executable { path, origin: browser::find::GIVEN, problem } => {
                E::Executable { path, origin: "--browser", problem }
            }
            error => error,
        };
        let exit = match &error {
            E::Argument { .. } | E::ReservedPort { .. } | E::BadUrl { .. } => Exit::Usage,
            E::PortInUse { .. } | E::ProfileInUse { .. } | E::SessionLeft { .. } | E::System { .. } => Exit::Failed,
            _ => Exit::NoBrowser,
        };
        Self::new(error.kind(), error.to_string()).with(exit)
    }
}

impl Failure {
    /// The failure to attach to a browser whose address was given by the option or variable `name`. An address that may
    /// contain a secret is not repeated.
    pub(super) fn of_address(error: browser::Error, name: &str, url: &str) -> Self {
        let is_bad = matches!(error, browser::Error::BadUrl { .. });
        let failure = Self::from(error);
        match failure.error.strip_prefix("not the address of a browser: ").filter(|_| is_bad) {
            Some(problem) => {
                let may_be_secret = url.contains(['@', '?']) || url.contains("/devtools/");
                let given = if may_be_secret { "the value".to_owned() } else { format!("{url:?}") };
                let error = format!("{name}: {given} is not the address of a browser: {problem}");
                Self { error, ..failure }
            }
            None => failure,
        }
    }
}

impl From<supervisor::Error> for Failure {
    fn from(error: supervisor::Error) -> Self {
        match &error {
            supervisor::Error::Browser(inner) => inner.clone().into(),
            _ if error.is_blocked_by_dialog() => Self::new(error.kind(), error.to_string()).with(Exit::Dialog),
            _ => Self::new(error.kind(), error.to_string()),
        }
    }
}

impl From<page::Error> for Failure {
    fn from(error: page::Error) -> Self {
        if let page::Error::Supervisor(inner) = error {
            return inner.into();
        }
        Self { details: error.details(), ..Self::new(error.kind(), error.to_string()) }
    }
}

impl From<control::Error> for Failure {
    fn from(error: control::Error) -> Self {
        match error {
            control::Error::Page(error) => error.into(),
            error => Self::new(error.kind(), error.to_string()),
        }
    }
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        let failure = Self::new(Code::Internal, error.to_string());
        // An environment variable is wrong, as on the command line.
        if matches!(error, config::Error::HomeIsFile { .. }) { failure.with(Exit::Usage) } else { failure }
    }
}
