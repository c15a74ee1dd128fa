//! The draft of a routine: the events of a recording as steps, derived without a model.
//!
//! Events are taken in the order of their index; times are not used, so events without a time stay in their place.
//! The same events give the same draft.
//!
//! | events | in the draft |
//! |---|---|
//! | input, change | a field of a `form` step; consecutive edits of one form are one step |
//! | submit | the end of the form step, or part of the click or the Enter key that caused it |
//! | click before an edit of the same field, focus, Tab between fields | part of the form step |
//! | tab_navigated, tab_back, tab_forward, tab_closed, tab_created | the postcondition of the action that caused them, otherwise a step |
//! | dialog, download | a postcondition of the last step of their tab |
//! | scroll | one step a run, if it reveals the next element or scrolls a container |
//! | tab_activated, or an action in another tab | a step that says which tab is used and why |
//! | gap | a warning |
//! | page_view, tab_ready, recording_started, recording_stopped | nothing |

mod describe;
mod effects;
pub(crate) mod facts;
mod form;
mod keys;
mod names;
mod scroll;
mod tabs;
#[cfg(test)]
mod tests;
mod types;
mod walk;

use super::event::Event;
pub use types::{
    Action, Anchor, Choice, DialogAnswer, Draft, Effect, Effects, EffectsKind, Field, FieldValue, FormSubmit, Input,
    Postcondition, Step, StepType, StepValue, SubmitBy, TabReason, Target, WORKFLOW_VERSION, Warning, Workflow,
};

/// The draft of a recording. The time is proportional to the number of events.
#[must_use]
pub fn draft(recording_id: &str, name: Option<&str>, events: &[Event]) -> Draft {
    let (steps, inputs, warnings) = walk::Builder::new(events).run();
    let name = name.map(|name| facts::short(name, 200)).filter(|name| !name.is_empty());
    let goal = name.unwrap_or_else(|| {
        let last = steps.last().map_or("", |step| step.description.as_str());
        let pages = steps.iter().filter_map(|step| step.target.as_ref()).map(|target| target.page_url.as_str());
        let first = pages.map(str::trim).find(|url| !url.is_empty()).unwrap_or_default();
        describe::goal(last, first)
    });
    Draft {
        recording_id: recording_id.to_owned(),
        normalized_steps: steps.clone(),
        normalized_step_count: steps.len(),
        workflow: Workflow { version: WORKFLOW_VERSION.to_owned(), goal, inputs, steps, warnings },
    }
}
