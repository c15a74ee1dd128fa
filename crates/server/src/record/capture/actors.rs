//! Who did what: an event that falls into an action of this program was caused by it.

use std::collections::VecDeque;

use super::super::Actor;
use cdpilot::supervisor::{EventLog, LogEvent};

/// How many actions are remembered.
const MOST: usize = 200;
/// How many entries are read at once.
const AT_ONCE: usize = 500;
/// How far clocks and the delivery of input may be off, in seconds.
const BEFORE: f64 = 0.02;
const AFTER: f64 = 0.1;

#[derive(Debug)]
struct Action {
    number: u64,
    page: String,
    from: f64,
    until: Option<f64>,
}

/// The latest actions, by the event log of the profile.
#[derive(Debug)]
pub(super) struct Actions {
    /// Number of the last entry that was read.
    seen: u64,
    latest: VecDeque<Action>,
}

impl Actions {
    pub(super) fn after(seen: u64) -> Self {
        Self { seen, latest: VecDeque::new() }
    }

    fn read(&mut self, log: &EventLog) {
        loop {
            let tail = log.since(self.seen, AT_ONCE);
            let Some(last) = tail.entries.last() else { return };
            self.seen = last.seq;
            for entry in &tail.entries {
                match (&*entry.event, &entry.target_id) {
                    (LogEvent::ActionStarted(action), Some(page)) => {
                        let page = page.to_string();
                        self.latest.push_back(Action { number: action.action, page, from: entry.ts, until: None });
                        if self.latest.len() > MOST {
                            self.latest.pop_front();
                        }
                    }
                    (LogEvent::ActionFinished { action, .. }, _) => {
                        if let Some(known) = self.latest.iter_mut().find(|known| known.number == action.action) {
                            known.until = Some(entry.ts);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Who caused an event of a page at a time in Unix seconds.
    pub(super) fn actor(&mut self, log: &EventLog, page: &str, at: f64) -> Actor {
        self.read(log);
        let covers = |action: &&Action| {
            action.page == page && action.from - BEFORE <= at && action.until.is_none_or(|until| at <= until + AFTER)
        };
        if self.latest.iter().any(|action| covers(&action)) { Actor::Agent } else { Actor::Person }
    }
}
