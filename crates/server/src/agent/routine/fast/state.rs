//! What is stored of a run that does steps without a model, and what is to be done next.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::super::RoutineRun;
use super::super::report::{RunCause, StepStatus};
use super::filled::Filled;
use super::{NO_MODEL, cause};
use crate::replay::{FastAction, FastStep, Found, Plan, ReadPlace, Seen, Surveyed, value_key, values_of};

/// How often an action is tried again whose element was replaced before it was reached.
const MOST_TRIES: u32 = 3;

/// A run that does steps without a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::agent::routine) struct FastRun {
    /// What can be done so.
    pub(super) plan: Plan,
    /// Id of the recording.
    pub(super) recording: String,
    /// Recorded values of the inputs, and those of the run.
    pub(super) inputs: Vec<(String, String)>,
    /// Whether the run ends where a model is needed.
    pub(in crate::agent::routine) only: bool,
    /// Targets of the recorded tabs.
    pub(super) tabs: BTreeMap<u64, String>,
    /// Address of the page after the last action, which is opened again when its tab is gone.
    pub(super) address: String,
    /// Whether something was done in that page since it was loaded, which would be lost.
    pub(super) has_input: bool,
    /// The step that `at` is in.
    step: u32,
    /// Position of the next action of the step.
    at: usize,
    /// Up to which position of the step its list was looked at, and after which position nothing more was in it.
    surveyed: (usize, Option<usize>),
    /// Fields of the present page that were filled in.
    pub(super) filled: Vec<Filled>,
    /// Refs of elements that were used in entries of its list.
    used: Vec<String>,
    /// The call in progress.
    pub(super) call: Option<FastCall>,
    /// Steps that the model does.
    handed: BTreeSet<u32>,
    /// Steps whose effects are not certain.
    unverified: BTreeSet<u32>,
    /// Steps of which an action had an effect.
    seen: BTreeSet<u32>,
    /// Steps that were left out because their element was not shown.
    left_out: BTreeSet<u32>,
    /// Where to go on after a step that was left out is done after all: number and position.
    back: Option<(u32, usize)>,
    /// The recording of what the model does in a step whose element was not found.
    pub(in crate::agent::routine) healing: Option<Healing>,
    /// Elements that it has found, by the number of the recorded event.
    pub(in crate::agent::routine) found: BTreeMap<u64, Found>,
    /// Number of calls, which gives each its id.
    calls: u32,
    /// How often the action in progress was tried.
    tries: u32,
}

/// A recording of what the model does in a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::agent::routine) struct Healing {
    pub(in crate::agent::routine) recording: String,
    pub(super) n: u32,
    /// Position of the action whose element was not found.
    pub(super) at: usize,
}

/// A call of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FastCall {
    pub(super) id: String,
    pub(super) n: u32,
    pub(super) at: usize,
    /// Whether the recorded effects were there before, one by one.
    pub(super) before: Vec<bool>,
    /// Targets of the tabs that there were.
    pub(super) tabs: Vec<String>,
    /// Number of the last event of the browser before it.
    pub(super) events: u64,
}

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Todo {
    /// Ask the model.
    Model,
    /// See what came of a call.
    Settle(FastCall),
    /// Begin a step.
    Begin(u32),
    /// Hand the step to the model.
    HandOver(RunCause),
    /// See what the list of a step has; whether what was there is done.
    Survey(u32, usize, bool),
    /// Do an action of a step.
    Act(u32, usize, Box<FastAction>),
    /// Read a value of a step.
    Read(u32, String, Vec<ReadPlace>),
    /// End a step, all of whose actions are done.
    EndStep(u32),
    /// End the run: all steps have ended.
    Finish,
}

impl FastRun {
    pub(in crate::agent::routine) fn new(plan: Plan, recording: String, inputs: Vec<(String, String)>) -> Self {
        Self { plan, recording, inputs, ..Self::default() }
    }

    /// The run begins at this address.
    pub(in crate::agent::routine) fn at(self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self }
    }

    /// The run ends where a model is needed.
    pub(in crate::agent::routine) fn only(self, only: bool) -> Self {
        Self { only, ..self }
    }

    pub(super) fn planned(&self, n: u32) -> Option<&FastStep> {
        self.plan.steps.get(&n)
    }

    /// Makes the next action of a step the first one, unless it is in progress.
    fn enter(&mut self, n: u32) {
        if self.step != n {
            (self.step, self.at, self.tries) = (n, 0, 0);
            self.surveyed = (0, None);
            self.used.clear();
        }
    }

    /// Whether the list of the step has to be looked at now; whether what was there is done.
    fn must_survey(&self, step: &FastStep) -> Option<bool> {
        step.list.as_ref()?;
        let entry = |at: usize| step.actions.get(at).and_then(|action| action.entry);
        let before = self.at.checked_sub(1).and_then(entry);
        if entry(self.at).is_some() {
            return (self.at >= self.surveyed.0).then_some(false);
        }
        (before.is_some() && self.surveyed.1 != Some(self.at)).then_some(true)
    }

    /// Orders the actions of a step by what its list has.
    pub(super) fn survey(&mut self, n: u32, at: usize, seen: &Seen, is_closing: bool) -> Surveyed {
        let Some(FastStep { actions, list: Some(list), .. }) = self.plan.steps.get_mut(&n) else {
            return Surveyed::Until(at);
        };
        list.survey(actions, at, seen, is_closing)
    }

    pub(super) fn note_survey(&mut self, until: usize, closed: Option<usize>) {
        self.surveyed = (until, closed.or(self.surveyed.1));
    }

    pub(super) fn is_used(&self, reference: &str) -> bool {
        self.used.iter().any(|used| used == reference)
    }

    pub(super) fn use_once(&mut self, reference: &str) {
        if !self.is_used(reference) {
            self.used.push(reference.to_owned());
        }
    }

    pub(super) fn next_id(&mut self, n: u32) -> String {
        self.calls += 1;
        format!("recorded-{n}-{}", self.calls)
    }

    /// Whether the action in progress may be tried again.
    pub(super) fn may_retry(&mut self) -> bool {
        self.tries += 1;
        self.tries < MOST_TRIES
    }

    /// The action was done.
    pub(super) fn advance(&mut self, n: u32, is_seen: bool, is_certain: bool) {
        self.enter(n);
        (self.at, self.tries) = (self.at + 1, 0);
        if is_seen {
            self.seen.insert(n);
        }
        if !is_certain {
            self.unverified.insert(n);
        }
    }

    /// Something in the page shows that a step was done.
    pub(super) fn note_seen(&mut self, n: u32) {
        self.seen.insert(n);
    }

    /// Whether the inputs of the run are the recorded ones.
    pub(in crate::agent::routine) fn is_as_recorded(&self) -> bool {
        self.inputs.iter().all(|(was, now)| was == now)
    }

    /// How a step whose actions are done has ended.
    pub(super) fn status_of(&self, n: u32) -> StepStatus {
        match self.unverified.contains(&n) || !self.seen.contains(&n) {
            true => StepStatus::Unverified,
            false => StepStatus::Done,
        }
    }

    pub(super) fn hand(&mut self, n: u32) {
        self.handed.insert(n);
    }

    /// Whether the model does a step that the program has begun, or could not begin.
    pub(in crate::agent::routine) fn is_handed(&self, n: u32) -> bool {
        self.handed.contains(&n)
    }

    /// How many actions of a step are done.
    pub(super) fn done_of(&self, n: u32) -> usize {
        if self.step == n { self.at } else { 0 }
    }

    /// The recorded event of the next action of a step.
    pub(super) fn event_now(&self, n: u32) -> Option<u64> {
        let action = self.planned(n)?.actions.get(self.done_of(n))?;
        Some(action.event)
    }

    /// Leaves a step out, whose element is not shown.
    pub(super) fn leave_out(&mut self, n: u32) {
        self.left_out.insert(n);
    }

    /// Steps that were left out and may be what blocks the present one, the nearest first.
    pub(super) fn blockers(&self) -> Vec<u32> {
        self.left_out.iter().rev().copied().collect()
    }

    /// Does a step that was left out after all, and then goes on with the present one.
    pub(super) fn revive(&mut self, n: u32) {
        self.back = Some((self.step, self.at));
        self.left_out.remove(&n);
        (self.step, self.at, self.tries) = (n, 0, 0);
    }

    /// The step to go on with after one that was revived.
    pub(super) fn take_back(&mut self) -> Option<u32> {
        let (n, at) = self.back.take()?;
        (self.step, self.at, self.tries) = (n, at, 0);
        Some(n)
    }
}

impl RoutineRun {
    /// What the program is to do.
    pub(super) fn todo(&mut self) -> Todo {
        let Some(fast) = &mut self.report.fast else { return Todo::Model };
        if let Some(call) = &fast.call {
            return Todo::Settle(call.clone());
        }
        let Some(n) = self.report.pinned else {
            return match self.report.next() {
                Some(n) => Todo::Begin(n),
                None => Todo::Finish,
            };
        };
        let Some(fast) = &mut self.report.fast else { return Todo::Model };
        if fast.is_handed(n) {
            return if fast.only { Todo::HandOver(self.kept_cause(n)) } else { Todo::Model };
        }
        fast.enter(n);
        let at = fast.at;
        let Some(step) = fast.planned(n) else { return Todo::HandOver(cause(NO_MODEL, "its actions", "none")) };
        if let Some(why) = &step.needs_model {
            let found = format!("it needs a model: {why}");
            return Todo::HandOver(cause(NO_MODEL, "recorded actions of the step", found));
        }
        if let Some(is_closing) = fast.must_survey(step) {
            return Todo::Survey(n, at, is_closing);
        }
        if let Some(action) = step.actions.get(at) {
            return Todo::Act(n, at, Box::new(action.clone()));
        }
        let values = self.step(n).map(|step| values_of(step).map(ToOwned::to_owned).collect::<Vec<_>>());
        let unread = values.into_iter().flatten().find(|name| !self.report.values.contains_key(&value_key(n, name)));
        let Some(name) = unread else { return Todo::EndStep(n) };
        let planned = self.report.fast.as_ref().and_then(|fast| fast.planned(n)?.reads.get(&name));
        match planned {
            Some(places) => Todo::Read(n, name, places.clone()),
            None => {
                let found = "no run has noted yet where it stands, so a model reads it";
                Todo::HandOver(cause(NO_MODEL, format!("the value {name}"), found))
            }
        }
    }

    /// Why a step was handed to a model.
    fn kept_cause(&self, n: u32) -> RunCause {
        let state = self.report.steps.iter().find(|state| state.step.n == n);
        state
            .and_then(|state| state.step.cause.clone())
            .unwrap_or_else(|| cause(NO_MODEL, "the step", "it needs a model"))
    }

    /// Notes why the step in progress is not done, or that it can be done now.
    pub(super) fn note_cause(&mut self, why: Option<RunCause>) {
        if let Some(state) = self.report.current() {
            state.step.cause = why;
        }
        self.is_changed = true;
    }

    /// The id of the call that the program makes.
    pub(in crate::agent) fn own_call(&self) -> Option<&str> {
        let fast = self.report.fast.as_ref()?;
        fast.call.as_ref().map(|call| call.id.as_str())
    }

    /// Whether the program does steps by itself.
    pub(in crate::agent) fn is_fast(&self) -> bool {
        self.report.fast.is_some()
    }

    /// Lets the step that failed be tried again without a model, when the run is resumed.
    pub(in crate::agent::routine) fn retry_fast(&mut self) {
        let Some(n) = self.report.pinned else { return };
        if let Some(fast) = self.report.fast.as_mut().filter(|fast| fast.only) {
            fast.handed.remove(&n);
            fast.tries = 0;
        }
    }
}
