//! Runs of routines: what a model is held to while it follows one.
//!
//! The text is the first message of the conversation. The model pins the step that it works on with `routine_step`; the program
//! refuses what the step does not admit, so that the order, the keywords and the list of a routine hold whatever the model says.
//!
//! | file | contents |
//! |---|---|
//! | `start` | checking a text, its inputs, starting a run |
//! | `report` | what is stored and shown of a run |
//! | `tool` | the tool `routine_step` |
//! | `looks` | what looks and actions have to do with the step in progress |
//! | `ends` | limits, login pages, the final answer |
//! | `fast` | steps that the program does without a model |
//! | `trust` | what a run says about its routine |
//! | `verify` | comparing a run with the recording of its routine |
//! | `permissions` | what a person has allowed for all later runs |

mod ends;
mod fast;
mod looks;
mod permissions;
mod report;
mod start;
mod tool;
mod trust;
mod verify;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::control::Profile;

use crate::routine::{self, Routine, Step};
use crate::store::{Image, RunChange, RunStatus, Store, StoredRun, Trust};
use cdpilot::sync::Deadline;

use super::{Error, WRITE};
pub(super) use ends::{Answered, Ending};
pub(super) use fast::Fast;
pub use permissions::Permission;
pub(super) use permissions::StepScope;
use report::Report;
pub use report::{
    RunCause, RunCounts, RunFacts, RunItems, RunLimits, RunResult, RunStep, StepHow, StepStatus, run_facts,
};
pub(super) use start::first_message;
pub use start::{RoutineError, RoutineStart, check_routine};
pub(super) use tool::{TOOL, blocked, tool};
pub use verify::{RunMiss, RunVerification};
pub(super) use waits::{channel as waits, ended as ended_waiting, watch as watch_waits};

/// Why a step is not done when the model says so.
const TARGET_NOT_FOUND: &str = "TARGET_NOT_FOUND";

/// The run of a routine.
#[derive(Debug)]
pub(super) struct RoutineRun {
    routine: Routine,
    report: Report,
    /// Whether the report differs from the stored one.
    is_changed: bool,
    /// Pictures that are to be stored with it.
    images: Vec<(u64, Image)>,
    /// What a person has allowed for its steps.
    scope: Arc<StepScope>,
    /// The id of the routine, and that of the run.
    ids: (Option<String>, String),
    /// Up to when its seconds are counted.
    counted: Instant,
    /// How it ended, and the code of the reason.
    ended: Option<(RunStatus, Option<String>)>,
    /// What that means for the trust in its routine.
    judged: Option<Trust>,
    /// Whether that is decided.
    is_judged: bool,
    /// Number of the last event of the browser before it; downloads after it are its own.
    events: u64,
}

impl RoutineRun {
    /// The run of a conversation; `None` if it runs no routine.
    pub(super) fn of(store: &Store, conversation: &str) -> Result<Option<Self>, Error> {
        let Some(run) = store.run(conversation, Deadline::after(WRITE))? else { return Ok(None) };
        let report: Report = serde_json::from_value(run.report.clone())
            .map_err(|problem| Error::conflict(format!("the stored report of the run cannot be used: {problem}")))?;
        let routine = routine::parse(&report.markdown).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            Error::conflict(format!("the stored text of the run is not a routine: {first}"))
        })?;
        let permissions = permissions_of(store, &run)?;
        let new = Self {
            routine,
            report,
            is_changed: false,
            images: Vec::new(),
            scope: Arc::new(StepScope::new(permissions)),
            ids: (run.routine, run.id),
            counted: Instant::now(),
            ended: None,
            judged: None,
            is_judged: false,
            events: 0,
        };
        if let Some(n) = new.report.pinned {
            new.scope.set_step(n);
        }
        Ok(Some(new))
    }

    /// What a person has allowed for its steps.
    pub(super) fn scope(&self) -> Arc<StepScope> {
        Arc::clone(&self.scope)
    }

    /// The step in progress, if effects can be allowed in it for later runs too.
    pub(super) fn allowable_step(&self) -> Option<u32> {
        self.ids.0.as_ref().and(self.report.pinned)
    }

    /// The change of the stored report, if it differs.
    pub(super) fn take_change(&mut self) -> Option<RunChange> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let report = serde_json::to_value(&self.report).ok();
        let (status, code) = self.ended.clone().unzip();
        let trust = self.judged.take();
        Some(RunChange { status, code: code.flatten(), report, trust, images: std::mem::take(&mut self.images) })
    }

    /// Begins a turn: the run goes on where it was.
    pub(super) fn begin_turn(&mut self, pages: &Profile) {
        self.counted = Instant::now();
        self.events = pages.events().last();
        if let Some(state) = self.report.current().filter(|state| state.step.status == StepStatus::Failed) {
            state.step.status = StepStatus::Pending;
            self.report.requests_since = 0;
            self.is_changed = true;
            self.retry_fast();
        }
    }

    /// Records how it ended.
    pub(super) fn end(&mut self, status: RunStatus, code: Option<&str>) {
        self.count_time();
        self.ended = Some((status, code.map(ToOwned::to_owned)));
        self.is_changed = true;
    }

    /// The names under which the values of its sensitive inputs are kept in memory, by the names of the inputs.
    pub(super) fn lent_names(&self, conversation: &str) -> BTreeMap<String, String> {
        let names = self.report.inputs.iter().map(|name| (name.clone(), start::lent(conversation, name)));
        names.collect()
    }

    fn step(&self, n: u32) -> Option<&Step> {
        self.routine.steps.iter().find(|step| step.n == n)
    }
}

/// The permissions of a routine that hold in the version of a run.
fn permissions_of(store: &Store, run: &StoredRun) -> Result<Vec<Permission>, Error> {
    let Some(id) = &run.routine else { return Ok(Vec::new()) };
    let Some(stored) = store.routine(id, Deadline::after(WRITE))? else { return Ok(Vec::new()) };
    let Some(routine) = version_of(store, run)? else { return Ok(Vec::new()) };
    let all: Vec<Permission> = serde_json::from_value(stored.allowed).unwrap_or_default();
    Ok(all.into_iter().filter(|permission| permission.holds_in(&routine)).collect())
}

/// The text of a run before its inputs were filled in.
pub(super) fn version_of(store: &Store, run: &StoredRun) -> Result<Option<Routine>, Error> {
    let Some(id) = &run.routine else { return Ok(None) };
    let versions = store.routine_versions(id, Deadline::after(WRITE))?;
    let text = versions.into_iter().find(|version| version.n == run.version).map(|version| version.markdown);
    Ok(text.and_then(|text| routine::parse(&text).ok()))
}

/// The number of the step that a run is in, by its stored report.
pub(super) fn step_of(run: &StoredRun) -> Option<u32> {
    serde_json::from_value::<Report>(run.report.clone()).ok()?.pinned
}
