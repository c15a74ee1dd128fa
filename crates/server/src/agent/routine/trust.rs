//! What a run says about its routine: whether its text can be trusted, and what it proposes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::report::{Report, StepStatus};
use super::{RoutineRun, verify};
use crate::agent::WRITE;
use crate::agent::agents::Inner;
use crate::record::stored_events;
use crate::routine;
use crate::store::{RunStatus, StoredRoutine, StoredRun, Trust};
use cdpilot::sync::Deadline;

/// So many runs in a row that are done without healing make a recorded routine verified.
const GOOD_RUNS: usize = 5;

impl RoutineRun {
    /// Decides what the end of the run means for its routine, before it is stored.
    pub(in crate::agent) fn judge(&mut self, inner: &Inner) {
        let Some((status, _)) = &self.ended else { return };
        if std::mem::replace(&mut self.is_judged, true) {
            return;
        }
        let status = *status;
        let earlier = self.earlier(inner);
        let trust = self.trust(status, inner, &earlier);
        if trust == Some(Trust::Verified) && self.is_verified() {
            self.note_verified(inner);
        }
        self.judged = trust;
        if status == RunStatus::Done {
            self.propose(inner);
        }
    }

    /// The runs of the same version that have ended before, the last first.
    fn earlier(&self, inner: &Inner) -> Vec<StoredRun> {
        let Some(routine) = &self.ids.0 else { return Vec::new() };
        let own = &self.ids.1;
        let all = inner.store.runs(routine, GOOD_RUNS + 1, Deadline::after(WRITE)).unwrap_or_default();
        let version = all.iter().find(|run| run.id == *own).map(|run| run.version);
        all.into_iter().filter(|run| run.id != *own && Some(run.version) == version && run.ended_at.is_some()).collect()
    }

    /// What an end of the run says about the trust in its version. `None`: what was known stays.
    fn trust(&self, status: RunStatus, inner: &Inner, earlier: &[StoredRun]) -> Option<Trust> {
        let verification = self.report.verification.as_ref().and_then(|verification| verification.outcome.as_ref());
        match (status, verification) {
            (RunStatus::Done, Some(outcome)) => outcome.verified.then_some(Trust::Verified),
            (RunStatus::Done, None) if !self.report.is_recorded => Some(Trust::Verified),
            (RunStatus::Done, None) => {
                let own = is_good(&self.report);
                let others = earlier.iter().take(GOOD_RUNS - 1).filter(|run| {
                    run.status == RunStatus::Done && report_of(run).is_some_and(|report| is_good(&report))
                });
                (own && others.count() == GOOD_RUNS - 1).then_some(Trust::Verified)
            }
            (RunStatus::Failed, Some(_)) => Some(Trust::Failing),
            (RunStatus::Failed, None) => {
                // A site may be down for once: what was verified fails when it fails twice at the same step.
                let before = earlier.first().filter(|run| run.status == RunStatus::Failed).and_then(report_of);
                let is_again = before.is_some_and(|before| failed_step(&before) == failed_step(&self.report));
                (is_again || !self.was_verified(inner)).then_some(Trust::Failing)
            }
            _ => None,
        }
    }

    /// Whether the inputs of the run are the recorded ones, so that a text of a page has no value of another one.
    pub(super) fn is_as_recorded(&self) -> bool {
        let fast = self.report.fast.as_ref().is_none_or(super::fast::FastRun::is_as_recorded);
        fast && self.report.verification.as_ref().is_none_or(verify::Verification::is_as_recorded)
    }

    fn was_verified(&self, inner: &Inner) -> bool {
        let Some(routine) = &self.ids.0 else { return false };
        let stored = inner.store.routine(routine, Deadline::after(WRITE)).ok().flatten();
        stored.is_some_and(|stored| stored.trust == Trust::Verified)
    }

    /// The routine, if its text is still that of the run.
    fn present(&self, inner: &Inner) -> Option<StoredRoutine> {
        let deadline = || Deadline::after(WRITE);
        let stored = inner.store.routine(self.ids.0.as_ref()?, deadline()).ok()??;
        let run = inner.store.run(&self.ids.1, deadline()).ok()??;
        (run.version == stored.version).then_some(stored)
    }

    /// The steps of its version do what was recorded, whatever their text said before: they can be done without a model.
    fn note_verified(&self, inner: &Inner) {
        let Some(stored) = self.present(inner) else { return };
        let Ok(Some(mut recorded)) = verify::recorded(inner, &stored) else { return };
        let (Ok(routine), Some(source)) = (routine::parse(&stored.markdown), &stored.recording) else { return };
        let Ok(events) = stored_events(&inner.store, source) else { return };
        recorded.reads.extend(self.report.reads.clone());
        recorded.note_verified(&routine, &events);
        let noted = inner.store.set_step_events(&stored.id, stored.version, json!(recorded), Deadline::after(WRITE));
        if let Err(problem) = noted {
            tracing::warn!(%problem, "the steps that were verified could not be noted");
        }
    }

    /// Proposes a version with the elements that were found anew, and the places of values that a model has read.
    fn propose(&mut self, inner: &Inner) {
        let found = self.report.fast.as_ref().map(|fast| fast.found.clone()).unwrap_or_default();
        let is_verified = self.report.verification.is_some();
        let reads = if is_verified { BTreeMap::new() } else { self.report.reads.clone() };
        if found.is_empty() && reads.is_empty() {
            return;
        }
        let Some(stored) = self.present(inner) else { return };
        let (routine, run) = (&stored.id, &self.ids.1);
        let Ok(Some(mut recorded)) = verify::recorded(inner, &stored) else { return };
        recorded.found.extend(found);
        recorded.reads.extend(reads);
        let events = stored.recording.as_ref().and_then(|source| stored_events(&inner.store, source).ok());
        if let (Ok(parsed), Some(events)) = (routine::parse(&stored.markdown), events) {
            recorded.note_fast(&parsed, &events);
        }
        let proposed =
            inner.store.propose_version(routine, &stored.markdown, run, json!(recorded), Deadline::after(WRITE));
        match proposed {
            Ok(version) => self.report.proposed_version = Some(version),
            Err(problem) => tracing::warn!(%problem, "a version could not be proposed"),
        }
        self.is_changed = true;
    }
}

fn report_of(run: &StoredRun) -> Option<Report> {
    serde_json::from_value(Value::clone(&run.report)).ok()
}

/// Whether all steps were done as they were recorded.
fn is_good(report: &Report) -> bool {
    report.steps.iter().all(|state| matches!(state.step.status, StepStatus::Done | StepStatus::Skipped))
}

fn failed_step(report: &Report) -> Option<u32> {
    report.steps.iter().find(|state| state.step.status == StepStatus::Failed).map(|state| state.step.n)
}
