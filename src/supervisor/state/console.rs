//! The last console messages and uncaught exceptions.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::kept::Line;
use super::super::log::Kind;
use super::super::snapshot::{ConsoleEntry, ConsoleLevel};
use super::{Now, SessionKey, State};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::{ConsoleApiCalledEvent, ExceptionThrownEvent, RemoteObject};
use crate::cdp::protocol::target::TargetId;

/// Entries kept.
const KEEP: usize = 50;
/// Arguments of a message that are shown.
const ARGUMENTS: usize = 4;
/// Longest text of an entry, in bytes; a page may log megabytes.
const TEXT: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Ring {
    entries: VecDeque<Arc<ConsoleEntry>>,
    last: u64,
    lines: Vec<Line<ConsoleEntry>>,
}

impl Ring {
    pub(super) fn view(&self) -> Arc<[ConsoleEntry]> {
        self.entries.iter().map(|entry| (**entry).clone()).collect()
    }
}

/// What was said, and where.
struct Said<'a> {
    level: ConsoleLevel,
    text: &'a str,
    millis: f64,
    frame: Option<FrameId>,
    place: Option<(&'a str, i64, i64)>,
}

impl State {
    pub(super) fn console_called(&mut self, session: &SessionKey, event: &ConsoleApiCalledEvent<'_>, now: Now) {
        let level = match event.r#type.as_str() {
            "error" | "assert" => ConsoleLevel::Error,
            "warning" => ConsoleLevel::Warning,
            _ => ConsoleLevel::Log,
        };
        let text = event.args.iter().take(ARGUMENTS).map(text_of).collect::<Vec<_>>().join(" ");
        let call = event.stack_trace.as_ref().and_then(|stack| stack.call_frames.first());
        let place = call.map(|c| (c.url.as_str(), c.line_number, c.column_number));
        let frame = self.frames.by_context(session, event.execution_context_id);
        let said = Said { level, text: &text, millis: event.timestamp, frame, place };
        self.push_console(session, said, now);
    }

    pub(super) fn exception(&mut self, session: &SessionKey, event: &ExceptionThrownEvent, now: Now) {
        let details = &event.exception_details;
        let thrown =
            details.exception.as_ref().map(|thrown| thrown.description.clone().unwrap_or_else(|| text_of(thrown)));
        let text = thrown.as_deref().unwrap_or(&details.text);
        let url = details.url.as_deref().unwrap_or_default();
        let place = Some((url, details.line_number, details.column_number));
        let frame = details.execution_context_id.and_then(|c| self.frames.by_context(session, c));
        let said = Said { level: ConsoleLevel::Exception, text, millis: event.timestamp, frame, place };
        self.push_console(session, said, now);
    }

    /// What is kept by page; empties the list.
    pub(in crate::supervisor) fn take_console(&mut self) -> Vec<Line<ConsoleEntry>> {
        std::mem::take(&mut self.console.lines)
    }

    pub(super) fn forget_console_of(&mut self, page: &TargetId) {
        self.console.lines.push(Line::Drop(page.clone()));
    }

    fn push_console(&mut self, session: &SessionKey, said: Said<'_>, now: Now) {
        let Some(target_id) = self.page_of(session) else { return };
        let place = said.place.filter(|(url, ..)| !url.is_empty());
        let entry = ConsoleEntry {
            level: said.level,
            text: cut(said.text).into(),
            timestamp: said.millis / 1000.0,
            target_id: target_id.clone(),
            frame_id: said.frame,
            url: place.map(|(url, ..)| url.into()),
            line: place.map(|(_, line, _)| line),
            column: place.map(|(.., column)| column),
            number: self.console.last + 1,
        };
        self.note(Kind::Console, Some(&target_id), now, &entry);
        self.console.last = entry.number;
        let (number, bytes) = (entry.number, entry.text.len());
        let entry = Arc::new(entry);
        self.console.lines.push(Line::Put { page: target_id, number, bytes, entry: Arc::clone(&entry) });
        self.console.entries.push_back(entry);
        if self.console.entries.len() > KEEP {
            self.console.entries.pop_front();
        }
        self.dirty.console = true;
    }
}

fn cut(text: &str) -> &str {
    let end = (0..=TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// What a person would see of an argument.
fn text_of(object: &RemoteObject) -> String {
    if let Some(value) = &object.value {
        return match serde_json::from_str(value.get()) {
            Ok(serde_json::Value::String(text)) => text,
            _ => value.get().to_owned(),
        };
    }
    let other = object.unserializable_value.as_ref().map(ToString::to_string);
    let plain = || if object.r#type.as_str() == "object" { "null" } else { object.r#type.as_str() }.to_owned();
    other.or_else(|| object.description.clone()).unwrap_or_else(plain)
}
