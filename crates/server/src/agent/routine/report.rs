//! The report of a run: what is stored of it, and shown to people.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fast::FastRun;
use super::verify::{RunVerification, Verification};
use crate::replay::ReadPlace;
use crate::routine::Routine;
use crate::store::StoredRun;

/// Most texts of a step that a report keeps, in characters.
pub(super) const MOST_NOTE: usize = 500;

/// Limits of a run. A run that reaches one stops with `LIMIT_REACHED`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunLimits {
    /// Seconds of the whole run, without the time in which it waits for a person. Default: 3,600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Cost of the whole run, in the currency of the model's price. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Requests to the model in one step, or for one item of a list. Default: 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_steps: Option<u32>,
}

/// A step in the report of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunStep {
    /// Its number, from 1.
    pub n: u32,
    /// Its title, without `Step N:`.
    pub title: String,
    /// Where it is.
    pub status: StepStatus,
    /// Who did it; null before.
    pub how: Option<StepHow>,
    /// What the model or the program noted about it. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<RunCause>,
    /// Seconds that were spent on it.
    pub seconds: f64,
    /// Cost of the requests to the model, in the currency of its price.
    pub cost: f64,
    /// Requests to the model.
    pub model_requests: u32,
    /// Path of the last picture of its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Path of the picture of what was recorded of it: of the action that stopped it, or else of its last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_image: Option<String>,
    /// For a step that works through a list: how far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<RunItems>,
}

/// Where a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It was not done.
    #[default]
    Pending,
    /// It was done.
    Done,
    /// It was done, and nothing shows that it had its effect.
    Unverified,
    /// It was done, and its target had to be found anew.
    Healed,
    /// There was nothing to do, or it was left out.
    Skipped,
    /// It could not be done.
    Failed,
}

/// Who did a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepHow {
    /// The program, without a model.
    Fast,
    /// A model.
    Model,
    /// A person, wholly or in part.
    Person,
}

/// Why a step was not done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunCause {
    /// The code of the reason.
    pub code: String,
    /// What was looked for.
    pub sought: String,
    /// What was found instead. Untrusted.
    pub found: String,
}

/// How far a step that works through a list is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunItems {
    /// Items that are done.
    pub done: usize,
    /// Items that are known and belong to the step: those that were skipped do not count.
    pub total: usize,
}

/// What a run returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunResult {
    /// The final answer.
    pub text: String,
    /// Data that fits the schema of the routine's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Names of files that were downloaded. Untrusted.
    pub downloads: Vec<String>,
    /// Address of the page at the end.
    pub final_url: String,
}

/// How many steps ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunCounts {
    /// Steps that were done, in whatever way.
    pub done: usize,
    /// Steps that were skipped.
    pub skipped: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Steps that have not ended.
    pub pending: usize,
}

/// What people read of a run besides its state.
#[derive(Debug, Clone, Default)]
pub struct RunFacts {
    /// One entry for each step, in order.
    pub steps: Vec<RunStep>,
    /// How many ended how.
    pub counts: RunCounts,
    /// What it returned.
    pub result: Option<RunResult>,
    /// What the comparison with the recording has shown.
    pub verification: Option<RunVerification>,
    /// Requests to the model.
    pub model_requests: u32,
    /// The version that it proposes.
    pub proposed_version: Option<u64>,
    /// By the number of a step: the recorded event of the action that could not be done without a model.
    pub stopped_at: BTreeMap<u32, u64>,
}

/// What the stored report of a run says.
#[must_use]
pub fn run_facts(run: &StoredRun) -> RunFacts {
    let report: Report = serde_json::from_value(run.report.clone()).unwrap_or_default();
    let mut counts = RunCounts::default();
    let stopped_at = report.steps.iter().filter_map(|state| Some((state.step.n, state.stopped_at?))).collect();
    let steps: Vec<RunStep> = report.steps.into_iter().map(StepState::shown).collect();
    for step in &steps {
        let count = match step.status {
            StepStatus::Done | StepStatus::Unverified | StepStatus::Healed => &mut counts.done,
            StepStatus::Skipped => &mut counts.skipped,
            StepStatus::Failed => &mut counts.failed,
            StepStatus::Pending => &mut counts.pending,
        };
        *count += 1;
    }
    let verification = report.verification.and_then(|verification| verification.outcome);
    RunFacts {
        steps,
        counts,
        result: report.result,
        verification,
        model_requests: report.model_requests,
        proposed_version: report.proposed_version,
        stopped_at,
    }
}

/// What is stored of a run besides its state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Report {
    /// The text as the model gets it.
    pub(super) markdown: String,
    pub(super) limits: RunLimits,
    /// Names of the sensitive inputs, which are typed by `{{secret:NAME}}` and not stored.
    pub(super) inputs: Vec<String>,
    pub(super) steps: Vec<StepState>,
    /// The step in progress.
    pub(super) pinned: Option<u32>,
    /// Values that steps have read, as `step2.total`.
    pub(super) values: BTreeMap<String, String>,
    /// Where a model has read them.
    pub(super) reads: BTreeMap<String, Vec<ReadPlace>>,
    pub(super) result: Option<RunResult>,
    pub(super) model_requests: u32,
    /// Requests to the model since the step, or its last item, began.
    pub(super) requests_since: u32,
    pub(super) seconds: f64,
    pub(super) cost: f64,
    /// Whether steps of the version were recorded.
    pub(super) is_recorded: bool,
    /// How it is compared with the recording.
    pub(super) verification: Option<Verification>,
    /// What is done without a model; `None` if the model does all.
    pub(super) fast: Option<FastRun>,
    /// The version with elements that were found anew, which the run proposes.
    pub(super) proposed_version: Option<u64>,
    /// How often the model wanted to end too early, or with a result that does not fit.
    pub(super) reminders: u32,
}

impl Report {
    pub(super) fn of(routine: &Routine, markdown: String, limits: RunLimits, inputs: Vec<String>) -> Self {
        let steps = routine.steps.iter().map(|step| StepState {
            step: RunStep { n: step.n, title: step.title.clone(), ..RunStep::default() },
            ..StepState::default()
        });
        Self { markdown, limits, inputs, steps: steps.collect(), ..Self::default() }
    }

    /// The first step that has not ended.
    pub(super) fn next(&self) -> Option<u32> {
        self.steps.iter().find(|state| state.step.status == StepStatus::Pending).map(|state| state.step.n)
    }

    pub(super) fn state(&mut self, n: u32) -> Option<&mut StepState> {
        self.steps.iter_mut().find(|state| state.step.n == n)
    }

    /// The state of the step in progress.
    pub(super) fn current(&mut self) -> Option<&mut StepState> {
        let n = self.pinned?;
        self.state(n)
    }
}

/// A step, and what the program knows of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StepState {
    #[serde(flatten)]
    pub(super) step: RunStep,
    /// What a step that works through a list has found.
    pub(super) list: Vec<Item>,
    pub(super) keyword: KeywordUse,
    /// The error of the last action, if it has failed.
    pub(super) failed: Option<String>,
    /// Whether the user has refused an action of the step, and has not helped since.
    pub(super) is_refused: bool,
    /// Whether an action of the step has succeeded.
    pub(super) has_acted: bool,
    /// Whether a person has helped.
    pub(super) has_help: bool,
    /// Number of the recorded event of the action that could not be done without a model.
    pub(super) stopped_at: Option<u64>,
    /// When it was begun first, in seconds since 1970; 0 before.
    pub(super) began_at: f64,
}

impl StepState {
    fn shown(self) -> RunStep {
        let items = (!self.list.is_empty()).then(|| self.counts());
        RunStep { items, ..self.step }
    }

    pub(super) fn counts(&self) -> RunItems {
        let count = |state: ItemState| self.list.iter().filter(|item| item.state == state).count();
        RunItems { done: count(ItemState::Done), total: self.list.len() - count(ItemState::Skipped) }
    }
}

/// What became of the keyword of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KeywordUse {
    /// It was not used yet.
    #[default]
    Unused,
    /// Elements matched it.
    Matched,
    /// Nothing matched it.
    Missed,
}

impl Item {
    /// Whether a title and an address are those of the item. Case, spaces, the origin and the fragment of an address do not
    /// count: pages write them in several ways.
    pub(super) fn is(&self, title: &str, address: &str) -> bool {
        let (own, given) = (place_of(&self.address), place_of(address));
        folded(&self.title) == folded(title) && (own.is_empty() || given.is_empty() || own == given)
    }
}

fn folded(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Path and query of an address.
fn place_of(address: &str) -> String {
    let address = address.trim();
    let address = address.split('#').next().unwrap_or_default();
    let place = match address.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => address,
    };
    place.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// An item of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub(super) title: String,
    /// Its address, if it has one: two items may have the same title.
    pub(super) address: String,
    pub(super) state: ItemState,
}

/// Where an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ItemState {
    /// It is known.
    #[default]
    Found,
    /// It is being worked on; after an interruption, perhaps done.
    Begun,
    /// It is done.
    Done,
    /// It does not belong to those that the step is for.
    Skipped,
}
