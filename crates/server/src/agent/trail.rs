//! What the agent does in pages is noted, so that a recording can be made of it later.

use serde_json::{Value, json};

use super::WRITE;
use super::agents::Inner;
use super::calls::Prepared;
use super::turn::{Draft, Turn};
use crate::control::{Profile, Session};
use crate::record::{Event, EventType, Trail, TrailCall};
use cdpilot::sync::Deadline;

/// Tools that open addresses and tabs by themselves.
const OPENING: [&str; 4] = ["browser_navigate", "browser_back", "browser_tabs", "tab"];
/// Tools and actions whose effect in a page is not noted.
const UNNOTED: [&str; 4] = ["browser_upload", "upload_file", "set_slider", "swipe"];
/// Most entries of the event log that are read after a call.
const MOST_ENTRIES: usize = 10_000;

/// What was noted of a conversation.
#[derive(Debug)]
pub(super) struct Noting {
    trail: Trail,
    /// Number of the last entry of the event log that was read.
    seen: u64,
}

impl Noting {
    /// That of a conversation whose session begins or goes on.
    pub(super) fn begin(inner: &Inner, id: &str, session: &Session, pages: &Profile) -> Result<Self, super::Error> {
        let stored = inner.store.actions(id, Deadline::after(WRITE))?;
        let events: Vec<Event> = stored.into_iter().filter_map(|body| serde_json::from_value(body).ok()).collect();
        drop(session.take_actions());
        Ok(Self { trail: Trail::after(&events), seen: pages.events().last() })
    }
}

impl Turn<'_> {
    /// Notes what a call has done.
    pub(super) fn note_actions(&mut self, prepared: &Prepared, is_done: bool, draft: &mut Draft) {
        let pages = self.pages();
        let Some(noting) = &mut self.noting else { return };
        let actions = self.session.take_actions();
        let own = pages.targets();
        let tail = pages.events().since(noting.seen, MOST_ENTRIES);
        if let Some(last) = tail.entries.last() {
            noting.seen = last.seq;
        }
        let is_own = |target: &str| own.iter().any(|one| one == target);
        let log: Vec<_> = tail
            .entries
            .into_iter()
            .filter(|entry| {
                entry.target_id.as_ref().is_some_and(|target| noting.trail.knows(target) || is_own(target.as_str()))
            })
            .collect();
        let given = prepared.given();
        let prompt = given.and_then(|given| given.get("prompt_text")).and_then(Value::as_str);
        let action = given.and_then(|given| given.get("action")).and_then(Value::as_str);
        let history = match (prepared.name(), action) {
            ("browser_back", _) | (_, Some("back")) => Some(EventType::TabBack),
            (_, Some("forward")) => Some(EventType::TabForward),
            _ => None,
        };
        let call = TrailCall { opens: OPENING.contains(&prepared.name()), prompt, history };
        let mut events = noting.trail.add(actions, &log, call);
        let unnoted = UNNOTED.iter().find(|name| **name == prepared.name() || Some(**name) == action);
        if let Some(name) = unnoted.filter(|_| is_done) {
            events.extend(noting.trail.gap(&format!("{name} is not noted in conversations")));
        }
        for event in events {
            let body = self.offer.cover_value(&json!(event));
            draft.change(|batch| batch.action(event.event_index, body));
        }
    }
}
