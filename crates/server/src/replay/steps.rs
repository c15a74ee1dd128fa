//! Which recorded events belong to a step.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::heal::Found;
use super::plan::{digests, plan, recorded_inputs};
use super::reads::ReadPlace;
use crate::record::{Event, EventType};
use crate::routine::Routine;

/// Recorded events of a version of a routine, as they are stored with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Numbers of the events of each step, by the number of the step.
    pub steps: BTreeMap<String, Vec<u64>>,
    /// Numbers of the events that the routine leaves out.
    pub left_out: Vec<u64>,
    /// Numbers of the events that the person has excluded.
    pub exclude: Vec<u64>,
    /// What each step said when its events were recorded or verified, as a digest. Another text is not done without a model.
    pub digests: BTreeMap<String, String>,
    /// Recorded values of the inputs that are not sensitive, by name.
    pub inputs: BTreeMap<String, String>,
    /// Elements that later runs have found in place of the recorded ones, by the number of the event.
    pub found: BTreeMap<u64, Found>,
    /// Places at which models have read the values of steps, by `step2.total`.
    pub reads: BTreeMap<String, Vec<ReadPlace>>,
    /// Numbers of the steps that can be done without a model.
    pub fast: Vec<u32>,
}

impl Recorded {
    /// The events of a step; empty for one that was not recorded.
    #[must_use]
    pub fn of_step(&self, n: u32) -> &[u64] {
        self.steps.get(&n.to_string()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Notes what a text says that its steps were recorded or verified with, and which of them can be done without a model.
    pub fn note_text(&mut self, routine: &Routine, events: &[Event]) {
        (self.digests, self.inputs) = (digests(routine), recorded_inputs(routine));
        self.note_fast(routine, events);
    }

    /// Notes that a run of a text was compared with the recording, and did what was recorded.
    pub fn note_verified(&mut self, routine: &Routine, events: &[Event]) {
        self.digests = digests(routine);
        self.note_fast(routine, events);
    }

    /// Notes which steps can be done without a model, with the recorded values of the inputs.
    pub fn note_fast(&mut self, routine: &Routine, events: &[Event]) {
        self.fast = plan(routine, self, events, &self.inputs).fast_steps();
    }

    /// All events that belong to a step, or are left out knowingly.
    #[must_use]
    pub fn known(&self) -> BTreeSet<u64> {
        self.steps.values().flatten().chain(&self.left_out).chain(&self.exclude).copied().collect()
    }
}

/// The events with these numbers, and those that followed from them: navigations, tabs, dialogs, downloads.
#[must_use]
pub fn with_effects<'e>(events: &'e [Event], indexes: &[u64]) -> Vec<&'e Event> {
    let mut taken: BTreeSet<u64> = indexes.iter().copied().collect();
    let mut last_action = None;
    let mut all = Vec::new();
    for event in events {
        let cause = cause(event).or_else(|| {
            // Dialogs do not name their cause: it is the action before.
            last_action.filter(|_| event.event_type == EventType::Dialog)
        });
        if taken.contains(&event.event_index) || cause.is_some_and(|cause| taken.contains(&cause)) {
            taken.insert(event.event_index);
            all.push(event);
        }
        if is_action(event) {
            last_action = Some(event.event_index);
        }
    }
    all
}

/// The actions among the events with these numbers, without what followed from them.
#[must_use]
pub fn actions<'e>(events: &'e [Event], indexes: &[u64]) -> Vec<&'e Event> {
    events.iter().filter(|event| indexes.contains(&event.event_index) && is_action(event)).collect()
}

/// The event that caused this one.
pub(super) fn cause(event: &Event) -> Option<u64> {
    event.data.get("caused_by").and_then(serde_json::Value::as_u64)
}

fn is_action(event: &Event) -> bool {
    matches!(
        event.event_type,
        EventType::Click
            | EventType::Input
            | EventType::Change
            | EventType::Keydown
            | EventType::Drag
            | EventType::FileChosen
    )
}
