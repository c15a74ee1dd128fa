//! Comparing a run with the recording of its routine: the run is recorded too, and each step has to do what was recorded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{RunCause, StepStatus};
use super::start::RoutineError;
use super::{Ending, RoutineRun};
use crate::agent::agents::Inner;
use crate::agent::calls::Prepared;
use crate::agent::events::COMPLETE;
use crate::agent::events::complete;
use crate::agent::guard::Wanted;
use crate::agent::turn::{Draft, End, Turn};
use crate::agent::{Agents, Error, WRITE, questions};
use crate::compile::missing_actions;
use crate::control::{NewTab, Profile};
use crate::llm::ToolCall;
use crate::record::draft::draft;
use crate::record::{Event, PageShown, StartRecording, Window, stored_events};
use crate::replay::{
    Miss, Recorded, Replaced, StepTrace, actions, verify_end, verify_refused, verify_steps, with_effects,
};
use crate::routine::{PlaceholderKind, Routine, placeholders};
use crate::store::{ConversationState, RecordingStatus, RunStatus, StoredRoutine};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use std::time::Duration;

const POSTCONDITION_FAILED: &str = "POSTCONDITION_FAILED";
/// How long the last events of a run are waited for.
const LAST_EVENTS: Duration = Duration::from_secs(20);
/// How long a call waits until its tabs are recorded.
const CATCHING_UP: Duration = Duration::from_secs(5);

/// How a run is compared, as it is stored with its report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Verification {
    /// Id of the recording of the routine.
    source: String,
    /// Id of the recording of the run.
    own: String,
    recorded: Recorded,
    /// Values of the inputs: as recorded, and in this run.
    inputs: Vec<(String, String)>,
    /// What the comparison has shown.
    pub(super) outcome: Option<RunVerification>,
}

impl Verification {
    /// Whether the inputs of the run are the recorded ones.
    pub(super) fn is_as_recorded(&self) -> bool {
        self.inputs.iter().all(|(was, now)| was == now)
    }
}

/// What the comparison of a run with the recording has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunVerification {
    /// Whether each step that was compared did what was recorded, and the run ended as the recording.
    pub verified: bool,
    /// Number of the last step that was compared, if the one after it was not done because it cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<u32>,
    /// What was recorded and did not happen.
    pub problems: Vec<RunMiss>,
}

/// A recorded action or effect that a run does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunMiss {
    /// Number of the step; 0 for the page at the end.
    pub n: u32,
    /// `TARGET_NOT_FOUND`: the action was not done to the recorded element; `TARGET_AMBIGUOUS`: it was done elsewhere, too, or more
    /// often; `POSTCONDITION_FAILED`: its effect is missing.
    pub code: String,
    /// What was recorded. Untrusted.
    pub sought: String,
    /// What the run did instead. Untrusted.
    pub found: String,
}

/// The recorded events of the present version of a routine; `None` if it was not recorded.
pub(super) fn recorded(inner: &Inner, stored: &StoredRoutine) -> Result<Option<Recorded>, Error> {
    let versions = inner.store.routine_versions(&stored.id, Deadline::after(WRITE))?;
    let present = versions.into_iter().find(|version| version.n == stored.version);
    Ok(present.and_then(|version| serde_json::from_value(version.step_events).ok()))
}

/// How a run of a routine is to be compared. Fails if it cannot be.
pub(super) fn plan(
    inner: &Inner,
    stored: &StoredRoutine,
    routine: &Routine,
    recorded: Option<&Recorded>,
    given: &BTreeMap<String, String>,
) -> Result<Verification, Error> {
    let (Some(recorded), Some(source)) = (recorded, &stored.recording) else {
        return Err(Error::conflict("verify needs a routine that was made from a recording, and this one was not"));
    };
    if !stored.source_present {
        return Err(Error::conflict("verify needs the recording of the routine, which was deleted"));
    }
    let events = events_of(inner, source)?;
    let draft = draft(source, None, &events);
    if let Some(action) = missing_actions(&draft, &events, &recorded.known()).into_iter().next() {
        let problem = format!(
            "the routine cannot be compared with its recording: a recorded action is in none of its steps: {action}. Put the step back, \
             or compile the recording again"
        );
        return Err(Error::conflict(problem));
    }
    let inputs = routine.inputs.iter().filter(|input| !input.sensitive);
    let inputs = inputs.filter_map(|input| Some((input.default.clone()?, given.get(&input.name)?.clone())));
    Ok(Verification {
        source: source.clone(),
        recorded: recorded.clone(),
        inputs: inputs.collect(),
        ..Verification::default()
    })
}

fn events_of(inner: &Inner, recording: &str) -> Result<Vec<Event>, Error> {
    stored_events(&inner.store, recording).map_err(|problem| Error::conflict(problem.to_string()))
}

impl Agents {
    /// Opens an address in a new tab of a run.
    fn open_in(&self, conversation: &str, address: &str, deadline: Deadline<'_>) -> Result<Profile, Error> {
        let profile = self.profile_of(conversation)?;
        let tab = NewTab { url: address.to_owned(), label: None, background: false };
        profile.open_tab(tab, deadline)?;
        Ok(profile)
    }

    /// Opens the starting address of a run that is not started if it cannot be opened.
    pub(super) fn open_start(
        &self,
        conversation: &str,
        address: &str,
        deadline: Deadline<'_>,
    ) -> Result<(), RoutineError> {
        self.open_in(conversation, address, deadline).map(drop).map_err(|error| {
            let _ = self.delete(conversation, deadline);
            error.into()
        })
    }

    /// Opens the starting address of a run in a new tab, and begins to record its tabs.
    pub(super) fn watch(
        &self,
        conversation: &str,
        (name, address): (&str, &str),
        verification: Verification,
        deadline: Deadline<'_>,
    ) -> Result<Verification, RoutineError> {
        let started = self.open_in(conversation, address, deadline).and_then(|profile| {
            let recordings = self.inner().recordings.get();
            let recordings = recordings.ok_or_else(|| Error::conflict("this server records nothing"))?;
            let wanted = StartRecording {
                profile,
                conversation: Some(conversation.to_owned()),
                window: Window::Current,
                name: Some(format!("Verification of {name}")),
                start_url: None,
            };
            recordings.start(wanted, deadline).map_err(|problem| Error::Control {
                kind: problem.kind(),
                problem: format!("the run cannot be recorded: {problem}"),
            })
        });
        match started {
            Ok(recording) => Ok(Verification { own: recording.id, ..verification }),
            Err(error) => {
                let _ = self.delete(conversation, deadline);
                Err(error.into())
            }
        }
    }
}

impl RoutineRun {
    /// Whether it was compared with the recording, and did what was recorded.
    pub(in crate::agent) fn is_verified(&self) -> bool {
        let outcome = self.report.verification.as_ref().and_then(|verification| verification.outcome.as_ref());
        outcome.is_some_and(|outcome| outcome.verified)
    }

    /// Whether effects that need approval end the run: it is only verified, and this is its last step.
    pub(in crate::agent) fn stops_before_effects(&self) -> bool {
        let last = self.routine.steps.last().map(|step| step.n);
        self.report.verification.is_some() && self.report.pinned.is_some() && self.report.pinned == last
    }

    /// Compares the steps with the recording. `until`: the step that is not done any more, because the element with the role and name
    /// `refused` has an effect that needs approval.
    fn verify(
        &mut self,
        inner: &Inner,
        until: Option<u32>,
        refused: Option<&(String, String)>,
    ) -> Result<Option<Ending>, Error> {
        let verification = self.report.verification.clone().filter(|verification| verification.outcome.is_none());
        let Some(verification) = verification else { return Ok(None) };
        if let Some(recordings) = inner.recordings.get() {
            let is_active =
                recordings.show(&verification.own).is_ok_and(|found| found.status == RecordingStatus::Active);
            if !is_active {
                self.report.verification = Some(Verification { outcome: Some(interrupted()), ..verification });
                self.is_changed = true;
                return Ok(None);
            }
            let stopped = recordings.stop(&verification.own, Deadline::after(LAST_EVENTS));
            stopped.map_err(|problem| Error::conflict(format!("the recording of the run failed: {problem}")))?;
        }
        let source = events_of(inner, &verification.source)?;
        let own = events_of(inner, &verification.own)?;
        let replaced = Replaced(verification.inputs.clone());
        let is_request = refused.is_some_and(|(role, _)| role == "request");
        let mut misses = self.misses(&verification.recorded, &source, &own, &replaced, (until, is_request));
        if let (Some(n), Some(action)) = (until, refused) {
            let recorded = with_effects(&source, verification.recorded.of_step(n));
            misses.extend(verify_refused(n, &recorded, action, &replaced));
        }
        if let Some(recordings) = inner.recordings.get() {
            let _ = recordings.delete(&verification.own, Deadline::after(WRITE));
        }
        for miss in &misses {
            let last = self.routine.steps.last().map_or(0, |step| step.n);
            let n = if miss.n == 0 { last } else { miss.n };
            if let Some(state) = self.report.state(n) {
                state.step.status = StepStatus::Failed;
                state.step.cause = Some(RunCause {
                    code: miss.code.to_owned(),
                    sought: miss.sought.clone(),
                    found: miss.found.clone(),
                });
            }
        }
        let ending = misses.first().map(|miss| {
            let place = if miss.n == 0 { "at the end".to_owned() } else { format!("in step {}", miss.n) };
            let problem = format!("{place}, the recording has: {}; the run had: {}", miss.sought, miss.found);
            Ending { code: POSTCONDITION_FAILED, problem }
        });
        let up_to = until.map(|n| n.saturating_sub(1));
        let is_compared = up_to != Some(0);
        let outcome = RunVerification {
            verified: misses.is_empty() && is_compared,
            up_to,
            problems: misses.into_iter().map(shown).collect(),
        };
        self.report.verification = Some(Verification { outcome: Some(outcome), ..verification });
        self.is_changed = true;
        Ok(ending)
    }

    /// Waits until the tabs that a call has opened are recorded.
    pub(in crate::agent) fn catch_up(&self, inner: &Inner) {
        let verification = self.report.verification.as_ref().filter(|one| one.outcome.is_none());
        if let (Some(verification), Some(recordings)) = (verification, inner.recordings.get()) {
            recordings.catch_up(&verification.own, Deadline::after(CATCHING_UP));
        }
    }

    /// Ends the recording of a run that does not reach its end. Such a run verifies nothing, also when it is resumed.
    pub(in crate::agent) fn drop_verification(&mut self, inner: &Inner) {
        let Some(verification) = self.report.verification.as_mut().filter(|one| one.outcome.is_none()) else { return };
        verification.outcome = Some(interrupted());
        self.is_changed = true;
        if let Some(recordings) = inner.recordings.get() {
            let deleted = recordings.delete(&verification.own, Deadline::after(LAST_EVENTS));
            let _ = deleted.inspect_err(|problem| tracing::warn!(%problem, "the recording of a run stays"));
        }
    }

    fn misses(
        &self,
        recorded: &Recorded,
        source: &[Event],
        own: &[Event],
        replaced: &Replaced,
        (until, is_request): (Option<u32>, bool),
    ) -> Vec<Miss> {
        // A request that was held belongs to an action that was done: that is compared, its effects are not.
        let is_compared = |n: u32| until.is_none_or(|until| n < until || (n == until && is_request));
        let steps = self.report.steps.iter().filter(|state| is_compared(state.step.n));
        let traces = steps.map(|state| {
            let n = state.step.n;
            let next = self
                .report
                .steps
                .iter()
                .find(|next| next.step.n == n + 1)
                .map_or(f64::MAX, |next| if next.began_at == 0.0 { f64::MAX } else { next.began_at });
            let within = own.iter().filter(|event| (state.began_at..next).contains(&event.timestamp));
            let within: Vec<u64> = within.map(|event| event.event_index).collect();
            let text = self
                .step(n)
                .map(|step| step.instructions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n"));
            let used = placeholders(text.as_deref().unwrap_or_default());
            StepTrace {
                n,
                recorded: match until == Some(n) {
                    true => actions(source, recorded.of_step(n)),
                    false => with_effects(source, recorded.of_step(n)),
                },
                seen: with_effects(own, &within),
                is_skipped: state.step.status == StepStatus::Skipped,
                has_read_value: used.iter().any(|one| matches!(one.kind, PlaceholderKind::Value { .. })),
            }
        });
        let traces: Vec<StepTrace<'_>> = traces.collect();
        let mut misses = verify_steps(&traces, replaced);
        if until.is_none() && misses.is_empty() {
            misses.extend(verify_end(&last_page(source), &last_page(own), replaced));
        }
        misses
    }
}

/// The outcome of a run whose recording does not reach its end.
fn interrupted() -> RunVerification {
    let miss = RunMiss {
        n: 0,
        code: Code::Interrupted.as_str().to_owned(),
        sought: "a recording of the whole run".to_owned(),
        found: "the run was stopped, or its recording ended before; verify it again".to_owned(),
    };
    RunVerification { verified: false, up_to: None, problems: vec![miss] }
}

/// The page that was shown last.
fn last_page(events: &[Event]) -> PageShown {
    let shown = events.iter().rev().map(|event| &event.page).find(|page| !page.url.is_empty());
    shown.cloned().unwrap_or_default()
}

fn shown(miss: Miss) -> RunMiss {
    RunMiss { n: miss.n, code: miss.code.to_owned(), sought: miss.sought, found: miss.found }
}

impl Turn<'_> {
    /// Compares a run that is done with the recording. Returns why it has failed, if it has.
    pub(in crate::agent) fn verify_run(&mut self) -> Result<Option<Ending>, Error> {
        let inner = self.inner;
        let Some(run) = &mut self.routine else { return Ok(None) };
        let ending = run.verify(inner, None, None)?;
        if ending.is_some() {
            // It is stored as failed, not as done.
            run.ended = None;
        }
        Ok(ending)
    }

    /// Ends a run that is only verified before an effect of its last step that cannot be undone.
    pub(in crate::agent) fn stop_before_effect(
        &mut self,
        mut draft: Draft,
        wanted: &Wanted,
        prepared: Option<&Prepared>,
        rest: &[ToolCall],
    ) -> Result<End, Error> {
        let calls: Vec<ToolCall> =
            prepared.map(|prepared| prepared.stored.clone()).into_iter().chain(rest.iter().cloned()).collect();
        questions::not_made(&mut draft, &calls);
        let action = self.offer.cover(&wanted.effect.action);
        let inner = self.inner;
        let Some(run) = &mut self.routine else { return Ok(End::Finished) };
        let until = run.report.pinned;
        let ending = run.verify(inner, until, wanted.effect.element.as_ref())?;
        if let Some(ending) = ending {
            self.commit(draft)?;
            return Ok(End::Routine(ending));
        }
        let note = format!("not done in this verification, because it needs approval: {action}");
        if let Some(state) = run.report.current() {
            state.step.status = StepStatus::Skipped;
            state.step.note = Some(note.clone());
        }
        run.report.pinned = None;
        run.end(RunStatus::Done, None);
        let up_to = until.map_or(0, |n| n.saturating_sub(1));
        draft.system(match up_to {
            0 => format!("Nothing could be verified: the first step was {note}."),
            n => format!("Verified up to step {n}; the next one was {note}."),
        });
        draft.event(COMPLETE, complete(&self.live.id, true, false));
        draft.change(|batch| batch.state(ConversationState::Idle).unfinished(false));
        self.commit(draft)?;
        Ok(End::Finished)
    }
}
