//! Recorded events of steps, for routines that come from a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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

/// What belongs to the steps that a changed text still has, such as their events, by their new numbers. Steps that were reworded between two unchanged ones
/// keep their events; steps in another order do not.
#[must_use]
pub fn kept_events<T: Clone>(old: &Routine, new: &Routine, events: &BTreeMap<String, T>) -> BTreeMap<String, T> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let (mut old_from, mut new_from) = (0, 0);
    for (at, step) in new.steps.iter().enumerate() {
        let same = old.steps.iter().enumerate().skip(old_from).find(|(_, before)| before.digest() == step.digest());
        if let Some((before, _)) = same {
            pairs.extend(reworded(old, new, old_from..before, new_from..at));
            pairs.push((before, at));
            (old_from, new_from) = (before + 1, at + 1);
        }
    }
    pairs.extend(reworded(old, new, old_from..old.steps.len(), new_from..new.steps.len()));
    let kept = pairs.into_iter().filter_map(|(before, at)| {
        let (before, step) = (old.steps.get(before)?, new.steps.get(at)?);
        Some((step.n.to_string(), events.get(&before.n.to_string())?.clone()))
    });
    kept.collect()
}

/// Which steps of a passage are those of the old one: all of them if there are as many, else those with the same title.
fn reworded(old: &Routine, new: &Routine, before: Range<usize>, after: Range<usize>) -> Vec<(usize, usize)> {
    if before.len() == after.len() {
        return before.zip(after).collect();
    }
    let (mut from, mut pairs) = (before.start, Vec::new());
    for at in after {
        let title = new.steps.get(at).map(|step| step.title.as_str());
        let same = (from..before.end).find(|before| old.steps.get(*before).map(|step| step.title.as_str()) == title);
        if let Some(before) = same {
            pairs.push((before, at));
            from = before + 1;
        }
    }
    pairs
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
