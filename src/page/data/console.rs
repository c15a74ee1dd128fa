//! Console messages and uncaught exceptions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::cdp::protocol::page::FrameId;
use crate::page::Tab;
use crate::supervisor::{ConsoleEntry, ConsoleLevel};

/// A console message, or an uncaught exception.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsoleMessage {
    /// Severity of the message.
    pub level: ConsoleLevel,
    /// The message as developer tools show it (`(3) [1, 2, 3] {a: 1, b: {…}}`), or the message of the exception without
    /// its stack; at most 4 KiB, ending in `…` where it is cut. Untrusted.
    pub text: String,
    /// The time, in Unix seconds.
    pub timestamp: f64,
    /// The URL of the script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Arc<str>>,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// The frame, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
}

/// An uncaught exception or unhandled rejection of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PageError {
    /// Text of the exception, without its stack. Untrusted.
    pub message: String,
    /// The stack, one line per call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The time, in Unix seconds.
    pub timestamp: f64,
    /// The URL of the script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Arc<str>>,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

/// The numbers up to which console and errors of a tab were cleared.
#[derive(Debug, Default)]
pub(crate) struct ClearMarks {
    messages: AtomicU64,
    errors: AtomicU64,
}

impl Tab {
    /// Console messages of the tab's frames and workers, oldest first: the last `limit` of at least the given level.
    /// 500 per tab are kept. `clear` hides everything up to now from later calls; it does not affect
    /// [`errors`](Self::errors) or other tabs.
    #[must_use]
    pub fn console(&self, level: Option<ConsoleLevel>, limit: Option<usize>, clear: bool) -> Vec<ConsoleMessage> {
        let level = level.unwrap_or(ConsoleLevel::Log);
        let entries = self.said(&self.cleared.messages, clear, |entry| entry.level >= level);
        last(entries, limit).map(|entry| message(&entry)).collect()
    }

    /// Uncaught exceptions of the tab, oldest first: the last `limit`; see [`console`](Self::console).
    #[must_use]
    pub fn errors(&self, limit: Option<usize>, clear: bool) -> Vec<PageError> {
        let entries = self.said(&self.cleared.errors, clear, |entry| entry.level == ConsoleLevel::Exception);
        last(entries, limit).map(|entry| error(&entry)).collect()
    }

    fn said(&self, cleared: &AtomicU64, clear: bool, filter: impl Fn(&ConsoleEntry) -> bool) -> Vec<Arc<ConsoleEntry>> {
        let mut entries = self.supervisor.console_of(&self.target);
        let newest = entries.last().map_or(0, |entry| entry.number);
        let from = if clear { cleared.fetch_max(newest, Ordering::AcqRel) } else { cleared.load(Ordering::Acquire) };
        entries.retain(|entry| entry.number > from && filter(entry));
        entries
    }
}

fn last<T>(entries: Vec<T>, limit: Option<usize>) -> impl Iterator<Item = T> {
    let skip = limit.map_or(0, |limit| entries.len().saturating_sub(limit));
    entries.into_iter().skip(skip)
}

fn message(entry: &ConsoleEntry) -> ConsoleMessage {
    let text = match entry.level {
        ConsoleLevel::Exception => split(&entry.text).0,
        _ => &entry.text,
    };
    ConsoleMessage {
        level: entry.level,
        text: text.to_owned(),
        timestamp: entry.timestamp,
        url: entry.url.clone(),
        line: entry.line.map(|line| line + 1),
        column: entry.column.map(|column| column + 1),
        frame_id: entry.frame_id.clone(),
    }
}

fn error(entry: &ConsoleEntry) -> PageError {
    let (message, stack) = split(&entry.text);
    PageError {
        message: message.to_owned(),
        stack: stack.map(ToOwned::to_owned),
        timestamp: entry.timestamp,
        url: entry.url.clone(),
        line: entry.line.map(|line| line + 1),
    }
}

/// Splits an exception into its message and the stack that Chromium appends.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.find("\n    at ") {
        Some(at) => (&text[..at], text.get(at + 1..)),
        None => (text, None),
    }
}
