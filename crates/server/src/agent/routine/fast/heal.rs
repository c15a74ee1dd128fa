//! What the model does in place of the program is recorded, so that a later run can do it without a model.

use std::time::Duration;

use super::super::report::{RunCause, StepStatus};
use super::super::{RoutineRun, TARGET_NOT_FOUND};
use super::TARGET_AMBIGUOUS;
use super::state::Healing;
use crate::agent::agents::Inner;
use crate::agent::turn::Turn;
use crate::record::draft::Anchor;
use crate::record::{Element, RecordingStatus, StartRecording, Window, stored_events};
use crate::replay::found;
use cdpilot::sync::Deadline;

/// Pictures of reports with this and higher numbers are those of found elements: the number of the step is added.
const FOUND: u64 = 1_000;
/// Time limit for beginning and ending such a recording.
const RECORDING: Duration = Duration::from_secs(10);

impl Turn<'_> {
    /// Begins to record what the model does, if the element of an action was not found. Without a recording, nothing is proposed:
    /// the browser may be recorded by a person.
    pub(super) fn begin_healing(&mut self, n: u32, at: usize, why: &RunCause) {
        if why.code != TARGET_NOT_FOUND && why.code != TARGET_AMBIGUOUS {
            return;
        }
        let Some(recordings) = self.inner.recordings.get() else { return };
        let wanted = StartRecording {
            profile: self.pages(),
            conversation: Some(self.live.id.clone()),
            window: Window::Current,
            name: Some(format!("Step {n} of a run")),
            start_url: None,
        };
        let Ok(started) = recordings.start(wanted, Deadline::after(RECORDING)) else { return };
        if let Some(fast) = self.routine.as_mut().and_then(|run| run.report.fast.as_mut()) {
            fast.healing = Some(Healing { recording: started.id, n, at });
        }
    }

    /// Ends that recording once the step has ended, and keeps what was found.
    pub(super) fn end_healing(&mut self) {
        let Some(run) = &mut self.routine else { return };
        let pinned = run.report.pinned;
        let Some(fast) = &mut run.report.fast else { return };
        let Some(healing) = fast.healing.take_if(|healing| pinned != Some(healing.n)) else { return };
        run.is_changed = true;
        let Some(recordings) = self.inner.recordings.get() else { return };
        let stopped = recordings.stop(&healing.recording, Deadline::after(RECORDING));
        let events = stopped.ok().and_then(|_| stored_events(&self.inner.store, &healing.recording).ok());
        let healed = |state: &super::super::report::StepState| {
            state.step.n == healing.n && state.step.status == StepStatus::Healed
        };
        let is_healed = run.report.steps.iter().any(healed);
        if let Some(fast) = &mut run.report.fast
            && let Some(events) = events.filter(|_| is_healed)
        {
            // With other values of inputs it is not known which part of a name is a value.
            let is_as_recorded = fast.is_as_recorded();
            let actions = fast.plan.steps.get(&healing.n).map(|step| step.actions.clone()).unwrap_or_default();
            let rest = actions.get(healing.at..).filter(|_| is_as_recorded).unwrap_or_default();
            for (event, mut one) in found(healing.n, rest, &events) {
                one.run.clone_from(&run.ids.1);
                let used = events
                    .iter()
                    .rfind(|own| own.element.as_ref().is_some_and(|element| is_same_element(element, &one.element)));
                let shot = used.and_then(|used| {
                    let deadline = Deadline::after(RECORDING);
                    self.inner.store.recording_picture(&healing.recording, used.event_index, false, deadline).ok()?
                });
                if let Some(shot) = shot {
                    one.image = FOUND + u64::from(healing.n);
                    run.images.push((one.image, shot));
                }
                fast.found.insert(event, one);
            }
        }
        let _ = recordings.delete(&healing.recording, Deadline::after(RECORDING));
    }
}

impl RoutineRun {
    /// Drops such a recording that a crash has ended.
    pub(in crate::agent) fn drop_ended_healing(&mut self, inner: &Inner) {
        let healing = self.report.fast.as_ref().and_then(|fast| fast.healing.as_ref());
        let Some((healing, recordings)) = healing.zip(inner.recordings.get()) else { return };
        let found = recordings.show(&healing.recording);
        if !found.is_ok_and(|found| found.status == RecordingStatus::Active) {
            self.drop_healing(inner);
        }
    }

    /// Drops the recording of what the model does: the run is interrupted, or has ended.
    pub(in crate::agent) fn drop_healing(&mut self, inner: &Inner) {
        let Some(healing) = self.report.fast.as_mut().and_then(|fast| fast.healing.take()) else { return };
        self.is_changed = true;
        if let Some(recordings) = inner.recordings.get() {
            let deleted = recordings.delete(&healing.recording, Deadline::after(RECORDING));
            let _ = deleted.inspect_err(|problem| tracing::debug!(%problem, "the recording of a step stays"));
        }
    }
}

fn is_same_element(seen: &Element, used: &Anchor) -> bool {
    seen.role == used.role && seen.name == used.name && seen.selectors == used.selectors
}
