//! Elements that a model has used in place of recorded ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::{FastAction, What};
use super::target::{described, is_same_place};
use crate::record::draft::{Action, Anchor, FieldValue, SubmitBy, draft};
use crate::record::{Event, FrameStep};

/// An element that was found in place of a recorded one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    /// Number of the step.
    pub step: u32,
    /// The recorded element, described.
    pub was: String,
    /// The element, described.
    pub now: String,
    /// The element.
    pub element: Anchor,
    /// The frames from the top document to its own.
    pub frame: Vec<FrameStep>,
    /// Id of the run that has found it.
    pub run: String,
    /// Number of the picture of the page with it, in the report of that run; 0 for that of the step.
    pub image: u64,
}

/// The kind of an action on an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Click,
    Fill,
    Check,
    Select,
    Press,
    Hover,
}

/// The elements of actions that a model did in place of recorded ones, by the number of the recorded event. Empty unless it did the
/// same kinds of actions in the same order: otherwise it is not known which element stands for which.
#[must_use]
pub fn found(step: u32, recorded: &[FastAction], events: &[Event]) -> BTreeMap<u64, Found> {
    let wanted: Vec<(Kind, &FastAction, &Anchor)> =
        recorded.iter().filter_map(|action| Some((kind_of(&action.what)?, action, action.element.as_ref()?))).collect();
    let done = done(events);
    let is_same =
        wanted.len() == done.len() && wanted.iter().zip(&done).all(|((wanted, ..), (done, ..))| wanted == done);
    if !is_same {
        return BTreeMap::new();
    }
    let pairs = wanted.into_iter().zip(done);
    let anew = pairs.filter(|((_, action, anchor), (_, element, frame))| {
        !is_same_place((*anchor, action.frame.as_slice()), (element, frame.as_slice()))
    });
    anew.map(|((_, action, anchor), (_, element, frame))| {
        let (was, now) = (described(anchor), described(&element));
        (action.event, Found { step, was, now, element, frame, run: String::new(), image: 0 })
    })
    .collect()
}

fn kind_of(what: &What) -> Option<Kind> {
    match what {
        What::Click { .. } => Some(Kind::Click),
        What::Fill { .. } => Some(Kind::Fill),
        What::Check { .. } => Some(Kind::Check),
        What::Select { .. } => Some(Kind::Select),
        What::Press { .. } => Some(Kind::Press),
        What::Hover => Some(Kind::Hover),
        _ => None,
    }
}

/// The actions on elements in some events, in order.
fn done(events: &[Event]) -> Vec<(Kind, Anchor, Vec<FrameStep>)> {
    let mut all = Vec::new();
    for step in draft("", None, events).workflow.steps {
        let Some(target) = step.target else { continue };
        let frame = target.frame;
        let mut add = |kind, element: Option<Anchor>| all.extend(element.map(|element| (kind, element, frame.clone())));
        match step.action {
            Action::Click | Action::DoubleClick | Action::RightClick | Action::MiddleClick => {
                add(Kind::Click, target.element);
            }
            Action::Press => add(Kind::Press, target.element),
            Action::Hover => add(Kind::Hover, target.element),
            Action::Fill | Action::FillSubmit => {
                for field in target.fields {
                    let kind = match &field.value {
                        FieldValue::Checked { .. } => Kind::Check,
                        FieldValue::Variable { choices, .. } if !choices.is_empty() => Kind::Select,
                        FieldValue::Variable { .. } => Kind::Fill,
                    };
                    add(kind, Some(field.element));
                }
                match target.submit.map(|submit| (submit.by, submit.element)) {
                    Some((SubmitBy::Click, element)) => add(Kind::Click, element),
                    Some((SubmitBy::Enter, element)) => add(Kind::Press, element),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    all
}
