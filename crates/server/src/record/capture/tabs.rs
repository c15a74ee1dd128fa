//! The tabs of a recording, with what they show and where they are in their histories.

use std::collections::HashMap;

use super::super::PageShown;
use cdpilot::cdp;
use cdpilot::supervisor::{Error, FrameRef, History, Supervisor, TargetId};
use cdpilot::sync::{Deadline, pause};
use std::time::Duration;

/// Time limit for reading a history.
const HISTORY: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(20);
/// How long after an action a navigation may begin that it caused, in seconds.
const CAUSED_WITHIN: f64 = 5.0;
/// In this time after an action, in seconds, a person does not press the buttons of the browser.
const PROMPT: f64 = 0.5;

/// A recorded tab: its number, what it shows, and its last action.
#[derive(Debug, Default)]
pub(super) struct Tab {
    /// Its number in the recording, from 1.
    pub(super) number: u64,
    pub(super) shown: PageShown,
    pub(super) is_ready: bool,
    /// Whether it was hidden since it was last in front.
    pub(super) was_hidden: bool,
    /// Index in its history, and the ids of the entries.
    history: Option<(usize, Vec<i64>)>,
    /// The last action on it: its event and when it was.
    pub(super) last_action: Option<(u64, f64)>,
    /// The last navigation to another address: its event and when it was.
    pub(super) last_navigation: Option<(u64, f64)>,
    /// When the page itself began to go back or forward.
    pub(super) last_traversal: Option<f64>,
    /// The text of the prompt that is about to close.
    pub(super) prompt: Option<String>,
    pub(super) is_closed: bool,
}

/// How a tab came to another address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    Onwards,
    Reloaded,
    /// A person typed the address, or chose it in the browser.
    ByAddress,
    Back,
    Forward,
}

/// The recorded tabs by target id, closed ones included.
#[derive(Debug, Default)]
pub(super) struct Tabs {
    all: HashMap<TargetId, Tab>,
    last: u64,
}

impl Tabs {
    /// Adds a tab. Returns its number, `None` if it is known.
    pub(super) fn add(&mut self, page: &TargetId) -> Option<u64> {
        if self.all.contains_key(page) {
            return None;
        }
        self.last += 1;
        self.all.insert(page.clone(), Tab { number: self.last, ..Tab::default() });
        Some(self.last)
    }

    pub(super) fn get(&self, page: &TargetId) -> Option<&Tab> {
        self.all.get(page)
    }

    pub(super) fn get_mut(&mut self, page: &TargetId) -> Option<&mut Tab> {
        self.all.get_mut(page)
    }

    /// Whether all of them are closed.
    pub(super) fn are_closed(&self) -> bool {
        !self.all.is_empty() && self.all.values().all(|tab| tab.is_closed)
    }

    /// Those that are open.
    pub(super) fn open(&self) -> Vec<TargetId> {
        self.all.iter().filter(|(_, tab)| !tab.is_closed).map(|(page, _)| page.clone()).collect()
    }
}

impl Tab {
    /// How it came to its present address, by its history.
    pub(super) fn moved(&mut self, supervisor: &Supervisor, page: &TargetId) -> Moved {
        let Some(history) = history(supervisor, page) else { return Moved::Onwards };
        let ids: Vec<_> = history.entries.iter().map(|entry| entry.id).collect();
        let (now, entry) = (ids.get(history.current).copied(), history.entries.get(history.current));
        let before = self.history.replace((history.current, ids));
        let was = before.as_ref().map(|(was, ids)| (*was, ids.iter().position(|id| Some(*id) == now)));
        match was {
            Some((was, Some(at))) if at < was => return Moved::Back,
            Some((was, Some(at))) if at > was => return Moved::Forward,
            _ => {}
        }
        let kind = entry.map(|entry| format!("{:?}", entry.transition_type)).unwrap_or_default();
        if kind == "Reload" {
            return Moved::Reloaded;
        }
        let is_typed = ["Typed", "AddressBar", "AutoBookmark", "Generated", "Keyword"].contains(&kind.as_str());
        // An entry that a script replaces keeps its kind. So may this one, if the history could not be read before.
        let is_new = match was {
            Some((_, at)) => at.is_none(),
            None => self.last_navigation.is_none(),
        };
        if is_typed && is_new { Moved::ByAddress } else { Moved::Onwards }
    }

    /// The action for which the page itself went back or forward. What the page says of it may be lost with the page; right after an
    /// action that has led nowhere yet, no person has reached the button of the browser.
    pub(super) fn traversed(&mut self, at: f64) -> Option<u64> {
        let is_reported = self.last_traversal.take().is_some_and(|then| at - then <= CAUSED_WITHIN);
        let moved = self.last_navigation.map_or(f64::NEG_INFINITY, |(_, then)| then);
        let is_prompt = self.last_action.is_some_and(|(_, then)| then > moved && at - then <= PROMPT);
        (is_reported || is_prompt).then(|| self.cause(at)).flatten()
    }

    /// The action that caused something at a time in Unix seconds.
    pub(super) fn cause(&self, at: f64) -> Option<u64> {
        self.last_action.filter(|(_, then)| at >= *then - 0.1 && at - then <= CAUSED_WITHIN).map(|(index, _)| index)
    }

    /// The navigation after which the page itself went on to another address: nothing was done in it.
    pub(super) fn redirected(&self, at: f64) -> Option<u64> {
        let acted = self.last_action.map_or(f64::NEG_INFINITY, |(_, then)| then);
        let before = self.last_navigation.filter(|(_, then)| *then > acted && at - then <= CAUSED_WITHIN);
        before.map(|(index, _)| index)
    }
}

/// The history of a tab. While a tab changes to another process, the browser answers that it has none.
fn history(supervisor: &Supervisor, page: &TargetId) -> Option<History> {
    let deadline = Deadline::after(HISTORY);
    loop {
        match supervisor.history(&FrameRef::TopOf(page.clone()), deadline) {
            Ok(history) => return Some(history),
            Err(Error::Cdp(cdp::Error::Protocol { .. })) if !deadline.passed() => pause(AGAIN),
            Err(_) => return None,
        }
    }
}
