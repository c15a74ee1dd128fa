//! Failed requests as JSON answers.

use serde::Serialize;
use serde_json::{Map, Value};

use super::status;
use crate::code::Code;
use crate::{config, control, page, supervisor};

/// An error answer: code, message with what to do next, and details.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ApiError {
    pub(super) code: &'static str,
    pub(super) error: String,
    pub(super) details: Map<String, Value>,
}

impl ApiError {
    pub(super) fn new(code: &'static str, error: impl Into<String>) -> Self {
        Self { code, error: error.into(), details: Map::new() }
    }

    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new("BAD_REQUEST", error)
    }

    pub(super) fn with(mut self, name: &str, what: &impl Serialize) -> Self {
        self.details.insert(name.to_owned(), serde_json::to_value(what).unwrap_or_default());
        self
    }

    pub(super) fn status(&self) -> u16 {
        status::of(self.code)
    }

    pub(super) fn is_blocked_by_dialog(&self) -> bool {
        Code::parse(self.code) == Some(Code::BlockedByDialog)
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("ok".to_owned(), false.into());
        map.insert("error".to_owned(), self.error.clone().into());
        map.insert("code".to_owned(), self.code.into());
        if !self.details.is_empty() {
            map.insert("details".to_owned(), self.details.clone().into());
        }
        map
    }

    fn of(code: &'static str, error: &dyn std::fmt::Display, details: Option<Value>) -> Self {
        let details = match details {
            Some(Value::Object(details)) => details,
            _ => Map::new(),
        };
        Self { code, error: error.to_string(), details }
    }
}

/// The message for a page whose process is gone.
const CRASHED: &str = "the page crashed; load it again with POST /reload";

impl From<control::Error> for ApiError {
    fn from(error: control::Error) -> Self {
        if let control::Error::Page(page::Error::Supervisor(inner)) = &error
            && inner.is_crash()
        {
            return Self::new(inner.code(), CRASHED);
        }
        let api = match &error {
            control::Error::Page(busy @ page::Error::Busy { .. }) => return busy.clone().into(),
            control::Error::RawRefused { method, refusal } => {
                Self::new(error.code(), format!("{method} is not allowed: {}", alternative(refusal)))
            }
            _ => Self::of(error.code(), &error, error.details()),
        };
        match advice(&error) {
            Some(advice) => Self { error: format!("{}; {advice}", api.error), ..api },
            None => api,
        }
    }
}

/// What a client should do next, in routes and fields. A clause of its own, so that the CLI can replace it.
fn advice(error: &control::Error) -> Option<&'static str> {
    use control::Error;
    Some(match error {
        Error::NotRunning { .. } => "start it with POST /start",
        Error::NoProfile { .. } => "POST /profiles creates one",
        Error::NoTab { .. } => "GET /tabs lists the tabs",
        Error::NoTabOpen => "open one with POST /tabs/open",
        Error::NoCurrentTab => "open one with POST /tabs/open, or send the targetId of a tab that GET /tabs lists",
        Error::TabGone { .. } => "send the targetId of another tab; GET /tabs lists the tabs",
        Error::DialogOpen { .. } => {
            "answer it first, or navigate with dismissDialogs (--dismiss-dialogs) to dismiss it"
        }
        _ => return None,
    })
}

/// What to send instead of a refused command, in routes and fields.
fn alternative(refusal: &control::Refusal) -> String {
    use control::Refusal;
    match refusal {
        Refusal::StopsBrowser => "stop the browser with POST /stop".to_owned(),
        Refusal::CatchesDownloads => format!("{refusal}, see POST /wait/download"),
        Refusal::CatchesFileChoosers => format!("{refusal}, see POST /hooks/file-chooser"),
        Refusal::Drags => "drags are made with POST /act".to_owned(),
        Refusal::NamesTarget => "name the tab with targetId, or the frame with frameId".to_owned(),
        _ => refusal.to_string(),
    }
}

impl From<page::Error> for ApiError {
    fn from(error: page::Error) -> Self {
        if let page::Error::Supervisor(inner) = &error
            && inner.is_crash()
        {
            return Self::new(inner.code(), CRASHED);
        }
        let api = Self::of(error.code(), &error, error.details());
        match error {
            page::Error::Busy { .. } => {
                Self { error: format!("{}, or give this action more time (timeoutMs)", api.error), ..api }
            }
            _ => api,
        }
    }
}

impl From<supervisor::Error> for ApiError {
    fn from(error: supervisor::Error) -> Self {
        Self::of(error.code(), &error, None)
    }
}

impl From<config::Error> for ApiError {
    fn from(error: config::Error) -> Self {
        Self::of("INTERNAL", &error, None)
    }
}
