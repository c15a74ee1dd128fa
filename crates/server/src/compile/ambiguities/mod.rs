//! What the events of a recording leave open about the person's intention.
//!
//! Each kind of ambiguity has a finder. They run in the order of the table; later finders skip events that
//! `overlays` and `login` have claimed. The time is proportional to the number of events.
//!
//! | file | finds |
//! |---|---|
//! | `start` | a recording that begins on a page that cannot be opened by its address |
//! | `overlays` | banners and dialogs that were dismissed |
//! | `login` | passwords and one-time codes |
//! | `items`, `alike`, `listings`, `subset`, `position` | uses of items of lists |
//! | `filters` | lists that were opened and left as they were |
//! | `computed`, `needles`, `varying` | values that were entered, in the forms that `fills` collects |
//!
//! `trace` and `elements` have the facts of events that several finders need, `words` the words for cases that the
//! structure of a page does not decide, `text` the parts of sentences.

mod alike;
mod computed;
mod elements;
mod fills;
mod filters;
mod items;
mod listings;
mod login;
mod needles;
mod overlays;
mod position;
mod start;
mod subset;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod varying;
mod words;

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::Event;
use crate::record::draft::Draft;
use trace::Trace;

/// Most ambiguities of a recording; those of later events are left out.
const MOST: usize = 30;

/// Something that the events of a recording do not decide. It has to be asked, or settled by a quotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ambiguity {
    /// `A1`, `A2`, …, in the order of the first event.
    pub id: String,
    /// The kind.
    pub kind: AmbiguityKind,
    /// The events that it is about, in order.
    pub events: Vec<u64>,
    /// What is open, as a sentence with the recorded names and values.
    pub problem: String,
    /// A question to the person, in words for somebody who knows the task and not the program.
    pub question: String,
    /// Whether a quotation of an event can settle it; otherwise only one of the intent note can.
    pub settled_by_event: bool,
}

/// Kinds of ambiguities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AmbiguityKind {
    /// An item of a list was used: because of its place, or because of what it is?
    PositionOrIdentity,
    /// A filter was opened or focused and left as it was.
    FilterTouched,
    /// The same was done to some items of a list: which ones belong to it?
    Subset,
    /// A value that may differ in each run.
    VaryingValue,
    /// A value that was entered after the page had shown it.
    ComputedValue,
    /// A login in the middle of the recording.
    Login,
    /// The recording begins on a page that cannot be opened by its address.
    StartAfterSubmit,
    /// An overlay that may not appear in each run.
    ConditionalOverlay,
}

impl Ambiguity {
    /// Whether a question with this topic and these events is about it; without events, it is about all of its kind.
    #[must_use]
    pub fn is_about(&self, topic: &str, events: &[u64]) -> bool {
        let topic = topic.trim();
        topic.eq_ignore_ascii_case(&self.id)
            || (topic.eq_ignore_ascii_case(self.kind.as_str())
                && (events.is_empty() || events.iter().any(|event| self.events.contains(event))))
    }
}

impl AmbiguityKind {
    /// Its name in JSON, which is also the topic of questions about it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PositionOrIdentity => "position_or_identity",
            Self::FilterTouched => "filter_touched",
            Self::Subset => "subset",
            Self::VaryingValue => "varying_value",
            Self::ComputedValue => "computed_value",
            Self::Login => "login",
            Self::StartAfterSubmit => "start_after_submit",
            Self::ConditionalOverlay => "conditional_overlay",
        }
    }
}

/// An ambiguity without its id.
struct Found {
    kind: AmbiguityKind,
    events: Vec<u64>,
    problem: String,
    question: String,
}

impl Found {
    /// A quotation of an event can settle only kinds whose answer may be in the events.
    fn is_settled_by_event(&self) -> bool {
        matches!(self.kind, AmbiguityKind::ComputedValue | AmbiguityKind::ConditionalOverlay)
    }
}

/// The ambiguities of a recording, at most 30. The same recording results in the same list. The intent note settles none
/// here: whoever compiles settles one by quoting it.
#[must_use]
pub fn ambiguities(events: &[Event], draft: &Draft, _intent_note: &str) -> Vec<Ambiguity> {
    let trace = Trace::new(events);
    let mut claimed = HashSet::new();
    let mut found: Vec<Found> = start::find(&trace).into_iter().collect();
    found.extend(overlays::find(&trace, &mut claimed));
    let fills = fills::fills(&trace);
    found.extend(login::find(&trace, draft, &fills, &mut claimed));
    let uses = items::uses(&trace, &fills, &claimed);
    let (subsets, rest) = subset::find(uses);
    found.extend(subsets);
    found.extend(position::find(&rest));
    found.extend(filters::find(&trace, &claimed));
    let (computed, entered) = computed::find(&trace, &fills, &claimed);
    found.extend(computed);
    found.extend(varying::find(&trace, &fills, &claimed, &entered));
    for one in &mut found {
        one.events.sort_unstable();
        one.events.dedup();
    }
    found.sort_by(|a, b| (&a.events, a.kind).cmp(&(&b.events, b.kind)));
    let numbered = found.into_iter().take(MOST).enumerate();
    let ambiguity = |(position, found): (usize, Found)| Ambiguity {
        id: format!("A{}", position + 1),
        settled_by_event: found.is_settled_by_event(),
        kind: found.kind,
        events: found.events,
        problem: found.problem,
        question: found.question,
    };
    numbered.map(ambiguity).collect()
}
