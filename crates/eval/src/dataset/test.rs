//! Tests, criteria and patterns.

use serde::Serialize;
use serde_json::Value;

/// How hard a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// `easy`
    Easy,
    /// `medium`
    Medium,
    /// `hard`
    Hard,
    /// `very hard`
    #[serde(rename = "very hard")]
    VeryHard,
}

impl Difficulty {
    /// All, by their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("easy", Self::Easy), ("medium", Self::Medium), ("hard", Self::Hard), ("very hard", Self::VeryHard)];
}

/// A test.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Its id, unique in a dataset.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// What it tests, for people.
    pub description: String,
    /// How hard it is.
    pub difficulty: Difficulty,
    /// Where the run begins; with placeholders.
    pub start_url: String,
    /// What the model is told; with placeholders.
    pub instruction: String,
    /// Time limit in seconds.
    pub time_limit: f64,
    /// Cost limit.
    pub cost_limit: f64,
    /// Currency of the cost limit, as an ISO 4217 code.
    pub currency: String,
    /// Events that state something that later ones change: of each group, the last one counts.
    pub finals: Vec<Final>,
    /// What gives points.
    pub criteria: Vec<Criterion>,
    /// The routine that is replayed, relative to `eval/`; only the replay track runs such a test.
    pub routine_file: Option<String>,
}

impl Test {
    /// The sum of all points, optional ones included.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.criteria.iter().map(|criterion| criterion.points).sum()
    }

    /// The sum of the points that are not optional.
    #[must_use]
    pub fn needed(&self) -> f64 {
        self.criteria.iter().filter(|criterion| !criterion.optional).map(|criterion| criterion.points).sum()
    }
}

/// Events of a type that state something, grouped by fields: of each group, the last event counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Final {
    /// The type.
    pub event_type: String,
    /// Names of the fields; without any, all events of the type are one group.
    pub by: Vec<String>,
}

/// What gives points.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// What has to happen, in words; unique in a test.
    pub description: String,
    /// Points, positive.
    pub points: f64,
    /// The patterns of which one has to match.
    pub patterns: Vec<Pattern>,
    /// Whether a test passes without it.
    pub optional: bool,
    /// Index of the earlier criterion after whose event its event has to come.
    pub after: Option<usize>,
}

/// Conditions that one event has to satisfy, or that a number of events have to satisfy.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// All have to hold for an event.
    pub expects: Vec<Expect>,
    /// How many such events there have to be, and of which kind.
    pub count: Option<(Condition, u64)>,
}

/// Which events a pattern with `count_min` counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Input in `#chat-input`, a click on `#send-btn`, Enter in `#chat-input`.
    ChatInteractions,
    /// Events of this type.
    EventType(String),
}

/// A condition for an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    /// A field is equal to this value, type included.
    Equal(String, Value),
    /// A field is a text that contains this one. Letters of another case differ.
    Contains(&'static str, String),
    /// `value`, or else `inputValue`, is a text that contains one of these.
    ValueContains(Vec<String>),
    /// `valueLength` is at least this.
    ValueLengthMin(f64),
}
