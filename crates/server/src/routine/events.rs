//! Recorded events of steps, for routines that come from a recording.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Routine, Step};
use super::problem::Problems;

/// One recorded event of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Index of the event in the recording.
    pub event_index: u64,
    /// Texts of the event in which a keyword may occur: HTML, name, text and value of its element.
    pub texts: Vec<String>,
}

/// Which events of a recording belong to which step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepEvents {
    /// Events of each step, by the number of the step. Steps without events may be left out.
    pub steps: BTreeMap<u32, Vec<RecordedEvent>>,
    /// All indexes that the recording has.
    pub existing: BTreeSet<u64>,
}

impl StepEvents {
    /// Whether the step has recorded events and the keyword occurs in none of them, letter for letter.
    pub(super) fn lacks(&self, step: u32, keyword: &str) -> bool {
        let Some(events) = self.steps.get(&step).filter(|events| !events.is_empty()) else { return false };
        !events.iter().flat_map(|event| &event.texts).any(|text| text.contains(keyword))
    }
}

/// The events of the steps that a changed text has as they were, by their new numbers.
#[must_use]
pub fn kept_events(old: &Routine, new: &Routine, events: &BTreeMap<String, Vec<u64>>) -> BTreeMap<String, Vec<u64>> {
    let mut from = 0;
    let mut kept = BTreeMap::new();
    for step in &new.steps {
        // In order: of two steps alike, each keeps its own.
        let same = old.steps.iter().enumerate().skip(from).find(|(_, before)| before.digest() == step.digest());
        let Some((at, before)) = same else { continue };
        from = at + 1;
        if let Some(of_step) = events.get(&before.n.to_string()) {
            kept.insert(step.n.to_string(), of_step.clone());
        }
    }
    kept
}

/// Checks that events exist, are in order and belong to one step each. One problem a step and rule.
pub(super) fn check(steps: &[Step], events: &StepEvents, problems: &mut Problems) {
    let last_line = steps.last().map_or(1, |step| step.line);
    let mut owners: BTreeMap<u64, u32> = BTreeMap::new();
    let mut latest: Option<u64> = None;
    for (number, recorded) in &events.steps {
        let Some(step) = steps.iter().find(|step| step.n == *number) else {
            let message = format!(
                "events are given for step {number}, which the text does not have; write the step or remove them"
            );
            problems.add(last_line, "EVENTS_STEP", message);
            continue;
        };
        let mut said: BTreeSet<&str> = BTreeSet::new();
        for index in recorded.iter().map(|event| event.event_index) {
            let (code, message) = if !events.existing.contains(&index) {
                let message = format!(
                    "event {index} of step {number} is not in the recording; write the index of an event that is, or \
                     remove it"
                );
                ("EVENTS_UNKNOWN", message)
            } else if let Some(owner) = owners.get(&index) {
                let message = format!(
                    "event {index} of step {number} already belongs to step {owner}; write each event in one step only"
                );
                ("EVENTS_TWICE", message)
            } else {
                owners.insert(index, *number);
                let Some(before) = latest.filter(|latest| *latest > index) else {
                    latest = Some(index);
                    continue;
                };
                let message = format!(
                    "event {index} of step {number} was recorded before event {before}, which comes first here; write \
                     steps and events in the order of the recording"
                );
                ("EVENTS_ORDER", message)
            };
            if said.insert(code) {
                problems.add(step.line, code, message);
            }
        }
    }
}
