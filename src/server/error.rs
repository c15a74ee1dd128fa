//! A request that fails, as its answer tells it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::status;
use crate::code::Code;
use crate::{config, control, page, supervisor};

/// What went wrong, with the way out.
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

impl From<control::Error> for ApiError {
    fn from(error: control::Error) -> Self {
        Self::of(error.code(), &error, error.details())
    }
}

impl From<page::Error> for ApiError {
    fn from(error: page::Error) -> Self {
        Self::of(error.code(), &error, error.details())
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
