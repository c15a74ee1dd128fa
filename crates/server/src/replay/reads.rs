//! Where the values stand that steps read from pages.

use std::collections::BTreeMap;

use cdpilot::page::ValuePlace;
use serde::{Deserialize, Serialize};

use super::target::is_same_frame;
use super::values::StepText;
use crate::record::FrameStep;
use crate::routine::{InstructionKind, Step};

/// A place at which a model has read a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadPlace {
    /// The frames from the top document to that of the value.
    pub frame: Vec<FrameStep>,
    /// The place in it.
    pub place: ValuePlace,
    /// The run in which it was read.
    pub run: String,
}

/// What the places of a value say now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadNow {
    /// The value.
    Value(String),
    /// Nothing stands there.
    Absent,
    /// They say different things.
    Several(Vec<String>),
}

/// The name under which a value of a step is kept.
#[must_use]
pub fn value_key(n: u32, name: &str) -> String {
    format!("step{n}.{name}")
}

/// The names of the values that a step reads.
pub fn values_of(step: &Step) -> impl Iterator<Item = &str> {
    step.instructions.iter().filter_map(|one| match &one.kind {
        InstructionKind::Read { name } => Some(name.as_str()),
        _ => None,
    })
}

/// Whether a step reads its values after everything else, as the program does.
pub(super) fn reads_last(step: &Step) -> bool {
    let is_read = |kind: &InstructionKind| matches!(kind, InstructionKind::Read { .. });
    step.instructions.iter().skip_while(|one| !is_read(&one.kind)).all(|one| is_read(&one.kind))
}

/// The places of the values of a step in this run, by name.
pub(super) fn places(
    step: &Step,
    text: &StepText,
    known: &BTreeMap<String, Vec<ReadPlace>>,
) -> BTreeMap<String, Vec<ReadPlace>> {
    let mut all = BTreeMap::new();
    for name in values_of(step) {
        let places = known.get(&value_key(step.n, name)).into_iter().flatten().filter_map(|one| in_run(one, text));
        let places: Vec<ReadPlace> = places.collect();
        if !places.is_empty() {
            all.insert(name.to_owned(), places);
        }
    }
    all
}

/// A place with the values of a run in its texts. `None` if it is not clear what they are.
fn in_run(recorded: &ReadPlace, text: &StepText) -> Option<ReadPlace> {
    let mut now = recorded.clone();
    let place = &mut now.place;
    for part in [&mut place.before, &mut place.after, &mut place.heading] {
        // Blanks at the ends belong to it.
        let (start, end) = (part.len() - part.trim_start().len(), part.trim_end().len());
        let inner = part.get(start..end).unwrap_or_default();
        let (head, tail) = (part.get(..start).unwrap_or_default(), part.get(end..).unwrap_or_default());
        *part = if inner.is_empty() { part.clone() } else { format!("{head}{}{tail}", text.name(inner)?) };
    }
    if let Some(container) = &mut place.container {
        container.title = text.name(&container.title)?;
    }
    if now.place != recorded.place {
        // They are those of the recorded value.
        (now.place.selectors, now.place.test_id) = (Vec::new(), String::new());
    }
    Some(now)
}

/// What the places of a value say, by what stands at each of them in each frame.
#[must_use]
pub fn read_now(places: &[ReadPlace], frames: &[(Vec<FrameStep>, Vec<Vec<String>>)]) -> ReadNow {
    let mut found: Vec<&String> = Vec::new();
    for (at, one) in places.iter().enumerate() {
        let own = frames.iter().filter(|(path, _)| is_same_frame(&one.frame, path));
        found.extend(own.filter_map(|(_, values)| values.get(at)).flatten());
    }
    found.sort();
    found.dedup();
    match found.as_slice() {
        [] => ReadNow::Absent,
        [one] => ReadNow::Value((*one).clone()),
        several => ReadNow::Several(several.iter().map(|one| (*one).clone()).collect()),
    }
}

/// A place as a part of a sentence.
#[must_use]
pub fn described_place(place: &ValuePlace) -> String {
    let mut out = format!("{:?}", format!("{}…{}", place.before, place.after));
    if !place.heading.is_empty() {
        out.push_str(&format!(" under {:?}", place.heading));
    }
    if let Some(container) = &place.container {
        out.push_str(&format!(" in {} {:?}", container.kind, container.title));
    }
    out
}
