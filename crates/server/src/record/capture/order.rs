//! Reports of each document in their order, each once.
//!
//! A report may come again, because it was not acknowledged in time, and later ones may come before it, because a queue was full.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use cdpilot::page::Reported;

/// How long later reports wait for a missing one, which its document repeats within two seconds.
const PATIENCE: Duration = Duration::from_secs(6);
/// Most documents that are remembered.
const MOST_DOCUMENTS: usize = 4_000;

#[derive(Debug, Default)]
struct Document {
    /// Number of the last report that was passed on.
    last: u64,
    waiting: BTreeMap<u64, Reported>,
    since: Option<Instant>,
    used: u64,
}

/// What to do with a report.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// Reports to store, in order.
    pub(super) new: Vec<Reported>,
    /// A report that is stored already and is acknowledged again.
    pub(super) again: Option<Reported>,
    /// Number of reports that will not come.
    pub(super) missing: u64,
}

/// The documents of a recording.
#[derive(Debug, Default)]
pub(super) struct Documents {
    all: HashMap<String, Document>,
    clock: u64,
}

impl Documents {
    /// Takes a report.
    pub(super) fn take(&mut self, reported: Reported, now: Instant) -> InOrder {
        self.clock += 1;
        if self.all.len() >= MOST_DOCUMENTS && !self.all.contains_key(&reported.report.doc) {
            let oldest = self.all.iter().min_by_key(|(_, known)| known.used).map(|(doc, _)| doc.clone());
            oldest.map(|oldest| self.all.remove(&oldest));
        }
        let known = self.all.entry(reported.report.doc.clone()).or_default();
        known.used = self.clock;
        if reported.report.n <= known.last {
            return InOrder { again: Some(reported), ..InOrder::default() };
        }
        known.waiting.insert(reported.report.n, reported);
        let new = known.passed();
        known.since = (!known.waiting.is_empty()).then(|| known.since.unwrap_or(now));
        InOrder { new, ..InOrder::default() }
    }

    /// Reports that have waited long enough for a missing one; all that wait, if `all`.
    pub(super) fn overdue(&mut self, now: Instant, all: bool) -> InOrder {
        let mut found = InOrder::default();
        for known in self.all.values_mut() {
            let is_late = known.since.is_some_and(|since| all || now.duration_since(since) >= PATIENCE);
            while is_late && let Some(first) = known.waiting.keys().next().copied() {
                found.missing += first - known.last - 1;
                known.last = first - 1;
                found.new.extend(known.passed());
            }
            if is_late {
                known.since = None;
            }
        }
        found
    }
}

impl Document {
    fn passed(&mut self) -> Vec<Reported> {
        let mut new = Vec::new();
        while let Some(next) = self.waiting.remove(&(self.last + 1)) {
            self.last += 1;
            new.push(next);
        }
        new
    }
}
