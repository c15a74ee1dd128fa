//! What scripts come to: values as JSON, and exceptions.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::cdp::protocol::runtime::{ExceptionDetails, RemoteObject};

/// A result, and whether the page had to be freed of a stuck script for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Done<T> {
    /// What the call returned.
    pub result: T,
    /// Whether a running script of the page was ended, since the page did not answer otherwise. Its
    /// document is kept.
    pub rescued: bool,
}

impl<T> Done<T> {
    pub(super) fn map<U>(self, with: impl FnOnce(T) -> U) -> Done<U> {
        Done { result: with(self.result), rescued: self.rescued }
    }

    pub(super) fn try_map<U, E>(self, with: impl FnOnce(T) -> Result<U, E>) -> Result<Done<U>, E> {
        Ok(Done { result: with(self.result)?, rescued: self.rescued })
    }
}

impl<T> Deref for Done<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.result
    }
}

impl<T: fmt::Display> fmt::Display for Done<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.result.fmt(f)
    }
}

/// The value of a script.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Value {
    /// The value as JSON; `null` for `undefined`. What JSON cannot hold (`Infinity`, a symbol, an
    /// object with cycles) is its description as a string.
    pub value: serde_json::Value,
    /// Its JavaScript type: `undefined`, `number`, `string`, `object`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether `value` is only a description.
    pub described: bool,
}

/// How V8's error begins when it ends a script that may only read.
const SIDE_EFFECT: &str = "EvalError: Possible side-effect";

/// An exception thrown by a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", in_words(.message))]
#[non_exhaustive]
pub struct ScriptError {
    /// What was thrown, with its stack when it was an error; that of a syntax error of the script has none. Untrusted.
    pub message: String,
    /// Line, counted from 0.
    pub line: i64,
    /// Column, counted from 0.
    pub column: i64,
}

/// A script with a syntax error did not run, so nothing in it threw.
fn in_words(message: &str) -> String {
    match message.strip_prefix("SyntaxError: ") {
        Some(problem) if !problem.contains("\n    at ") => format!("the script has a syntax error: {problem}"),
        _ => format!("the script threw: {message}"),
    }
}

impl ScriptError {
    /// That of a script which may only read, and does what V8 cannot end before its effect.
    pub(super) fn side_effect(why: &str) -> Self {
        Self { message: format!("{SIDE_EFFECT}: {why}"), line: 0, column: 0 }
    }

    /// Whether V8 ended a script that may only read, because of an effect.
    #[must_use]
    pub fn is_side_effect(&self) -> bool {
        self.message.starts_with(SIDE_EFFECT)
    }
}

impl From<ExceptionDetails> for ScriptError {
    fn from(details: ExceptionDetails) -> Self {
        let thrown = details.exception.as_ref().map(thrown);
        Self { message: thrown.unwrap_or(details.text), line: details.line_number, column: details.column_number }
    }
}

fn thrown(object: &RemoteObject) -> String {
    let json = || object.value.as_deref().map(RawValue::get).map(str::to_owned);
    let plain = || if object.r#type.as_str() == "undefined" { "undefined" } else { "null" }.to_owned();
    object.description.clone().or_else(json).unwrap_or_else(plain)
}

pub(super) fn plain(object: &RemoteObject) -> Value {
    let kind = object.r#type.as_str().to_owned();
    match object.value.as_deref().map(|raw| serde_json::from_str(raw.get()).map_err(|_| raw.get())) {
        Some(Ok(value)) => Value { value, kind, described: false },
        // Nested deeper than is decoded: its text says more than nothing.
        Some(Err(text)) => Value { value: text.into(), kind, described: true },
        _ if object.unserializable_value.is_some() => described(object),
        // `null` and `undefined`
        _ => Value { value: serde_json::Value::Null, kind, described: false },
    }
}

pub(super) fn described(object: &RemoteObject) -> Value {
    let text = object.unserializable_value.as_ref().map(ToString::to_string);
    let text = text.or_else(|| object.description.clone()).unwrap_or_default();
    Value { value: text.into(), kind: object.r#type.as_str().to_owned(), described: true }
}

impl fmt::Display for Value {
    /// A string as it is, anything else as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            serde_json::Value::String(text) => f.write_str(text),
            other => write!(f, "{other}"),
        }
    }
}
