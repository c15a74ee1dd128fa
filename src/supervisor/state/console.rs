//! The last console messages and uncaught exceptions.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::log::LogEvent as Noted;
use super::super::page_ring::RingUpdate;
use super::super::snapshot::{ConsoleEntry, ConsoleLevel};
use super::{Now, SessionKey, State, console_text};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::{ConsoleApiCalledEvent, ExceptionThrownEvent, RemoteObject};
use crate::cdp::protocol::target::TargetId;

/// Entries kept.
const MAX_KEPT: usize = 50;
/// Documents with open groups that are remembered.
const MAX_GROUP_DEPTHS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Ring {
    entries: VecDeque<Arc<ConsoleEntry>>,
    last: u64,
    updates: Vec<RingUpdate<ConsoleEntry>>,
    groups: Groups,
}

/// Number of open console groups by session and execution context; contexts without open groups are absent.
#[derive(Debug, Default)]
struct Groups(VecDeque<((SessionKey, i64), usize)>);

impl Groups {
    /// The depth of a message of this type.
    fn depth(&mut self, session: &SessionKey, context: i64, kind: &str) -> usize {
        let source_position = self.0.iter().position(|(key, _)| (&key.0, key.1) == (session, context));
        let depth = source_position.and_then(|at| self.0.get(at)).map_or(0, |(_, depth)| *depth);
        let after = match kind {
            "startGroup" | "startGroupCollapsed" => depth.saturating_add(1),
            "endGroup" => depth.saturating_sub(1),
            "clear" => 0,
            _ => return depth,
        };
        if let Some(at) = source_position {
            self.0.remove(at);
        }
        if after > 0 {
            self.0.push_back(((session.clone(), context), after));
        }
        if self.0.len() > MAX_GROUP_DEPTHS {
            self.0.pop_front();
        }
        if kind == "clear" { 0 } else { depth }
    }
}

impl Ring {
    pub(super) fn view(&self) -> Arc<[ConsoleEntry]> {
        self.entries.iter().map(|entry| (**entry).clone()).collect()
    }
}

/// A message with its location.
struct ConsoleMessage<'a> {
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
        let depth = self.console.groups.depth(session, event.execution_context_id, event.r#type.as_str());
        let Some(text) = console_text::message(event, depth) else { return };
        let call = event.stack_trace.as_ref().and_then(|stack| stack.call_frames.first());
        let place = call.map(|c| (c.url.as_str(), c.line_number, c.column_number));
        let frame = self.frames.by_context(session, event.execution_context_id);
        let said = ConsoleMessage { level, text: &text, millis: event.timestamp, frame, place };
        self.push_console(session, said, now);
    }

    pub(super) fn exception(&mut self, session: &SessionKey, event: &ExceptionThrownEvent, now: Now) {
        let details = &event.exception_details;
        let thrown =
            details.exception.as_ref().map(|thrown| thrown.description.clone().unwrap_or_else(|| value(thrown)));
        let text = thrown.as_deref().unwrap_or(&details.text);
        let url = details.url.as_deref().unwrap_or_default();
        let place = Some((url, details.line_number, details.column_number));
        let frame = details.execution_context_id.and_then(|c| self.frames.by_context(session, c));
        let said = ConsoleMessage { level: ConsoleLevel::Exception, text, millis: event.timestamp, frame, place };
        self.push_console(session, said, now);
    }

    /// Takes the pending changes of the page rings.
    pub(in crate::supervisor) fn take_console(&mut self) -> Vec<RingUpdate<ConsoleEntry>> {
        std::mem::take(&mut self.console.updates)
    }

    pub(super) fn forget_console_of(&mut self, page: &TargetId) {
        self.console.updates.push(RingUpdate::Drop(page.clone()));
    }

    fn push_console(&mut self, session: &SessionKey, said: ConsoleMessage<'_>, now: Now) {
        let Some(target_id) = self.page_of(session) else { return };
        let place = said.place.filter(|(url, ..)| !url.is_empty());
        let entry = ConsoleEntry {
            level: said.level,
            text: console_text::bounded(said.text).into(),
            timestamp: said.millis / 1000.0,
            target_id: target_id.clone(),
            frame_id: said.frame,
            url: place.map(|(url, ..)| url.into()),
            line: place.map(|(_, line, _)| line),
            column: place.map(|(.., column)| column),
            number: self.console.last + 1,
        };
        self.console.last = entry.number;
        let (number, bytes) = (entry.number, entry.text.len());
        let entry = Arc::new(entry);
        self.note(Some(&target_id), now, Noted::Console(Arc::clone(&entry)));
        self.console.updates.push(RingUpdate::Put { page: target_id, number, bytes, entry: Arc::clone(&entry) });
        self.console.entries.push_back(entry);
        if self.console.entries.len() > MAX_KEPT {
            self.console.entries.pop_front();
        }
        self.dirty.console = true;
    }
}

fn value(object: &RemoteObject) -> String {
    let mut text = console_text::Text::default();
    console_text::value(object, &mut text);
    text.finish()
}
