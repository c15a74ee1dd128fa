//! What the events of a recording leave open about the person's intention.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::Event;
use crate::record::draft::Draft;

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

/// The ambiguities of a recording. The same recording results in the same list.
#[must_use]
pub fn ambiguities(_events: &[Event], _draft: &Draft, _intent_note: &str) -> Vec<Ambiguity> {
    Vec::new()
}
