//! The tabs of a recording, with what they show and where they are in their histories.

use std::collections::HashMap;

use super::super::PageShown;
use cdpilot::supervisor::{FrameRef, Supervisor, TargetId};
use cdpilot::sync::Deadline;
use std::time::Duration;

/// Time limit for reading a history.
const HISTORY: Duration = Duration::from_secs(2);
/// How long after an action a navigation may begin that it caused, in seconds.
const CAUSED_WITHIN: f64 = 5.0;

/// A recorded tab: its number, what it shows, and its last action.
#[derive(Debug, Default)]
pub(super) struct Tab {
    /// Its number in the recording, from 1.
    pub(super) number: u64,
    pub(super) shown: PageShown,
    pub(super) is_ready: bool,
    /// Whether it was hidden since it was last in front.
    pub(super) was_hidden: bool,
    /// Index and length of its history.
    history: Option<(usize, usize)>,
    /// The last action on it: its event and when it was.
    pub(super) last_action: Option<(u64, f64)>,
    /// The last navigation to another address: its event and when it was.
    pub(super) last_navigation: Option<(u64, f64)>,
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
        let history = supervisor.history(&FrameRef::TopOf(page.clone()), Deadline::after(HISTORY));
        let Ok(history) = history else { return Moved::Onwards };
        let now = (history.current, history.entries.len());
        let before = self.history.replace(now);
        match before {
            Some((was, _)) if now.0 < was => Moved::Back,
            Some((was, length)) if now.0 > was && now.1 == length && was + 1 < length => Moved::Forward,
            _ => {
                let entry = history.entries.get(now.0);
                let kind = entry.map(|entry| format!("{:?}", entry.transition_type)).unwrap_or_default();
                if kind == "Reload" {
                    return Moved::Reloaded;
                }
                let is_typed = ["Typed", "AddressBar", "AutoBookmark", "Generated", "Keyword"].contains(&kind.as_str());
                // An entry that a script replaces keeps its kind. So may this one, if the history could not be read before.
                let is_known = before.is_some() || self.last_navigation.is_none();
                if is_typed && is_known && before != Some(now) { Moved::ByAddress } else { Moved::Onwards }
            }
        }
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
