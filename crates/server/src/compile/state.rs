//! What is stored of a compilation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::submission::{LeftOut, Settled};

/// Most rounds of questions of a compilation.
pub const MOST_ROUNDS: u32 = 5;
/// Most questions of a round.
pub const MOST_QUESTIONS: usize = 3;
/// Most requests to the model of a compilation, from one stop for the person to the next.
pub const MOST_STEPS: u32 = 80;

/// Where a compilation is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompileStatus {
    /// There is none.
    #[default]
    None,
    /// The model works.
    Running,
    /// It waits for an answer of the person.
    Asking,
    /// A routine waits for the person to read it.
    Review,
    /// The routine was saved.
    Completed,
    /// It failed. The draft is kept.
    Error,
}

impl CompileStatus {
    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Running => "running",
            Self::Asking => "asking",
            Self::Review => "review",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

/// A compilation, as it is stored with its recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compilation {
    /// Where it is.
    pub status: CompileStatus,
    /// Id of its conversation.
    pub conversation_id: String,
    /// Alias of the model.
    pub model: String,
    /// Numbers of events that the person left out.
    pub exclude: Vec<u64>,
    /// The text that the model works on.
    pub draft: String,
    /// Whether the model has read the summary, and whether it has read events or derived steps.
    pub read: (bool, bool),
    /// Rounds of questions so far.
    pub round: u32,
    /// All questions so far, with their answers.
    pub asked: Vec<Asked>,
    /// The questions that are open, as the person gets them.
    pub question: Option<String>,
    /// What the person said about a routine that they read.
    pub feedback: Vec<String>,
    /// The routine that was submitted last.
    pub review: Option<Review>,
    /// The text that the person read before.
    pub reviewed: Option<String>,
    /// How the model sums it up.
    pub summary_message: String,
    /// Why it failed.
    pub error: Option<CompileFailure>,
    /// Path of its trace.
    pub trace_path: Option<String>,
    /// Id of the routine that was saved.
    pub routine_id: Option<String>,
}

impl Compilation {
    /// What the person has said: the answers and the feedback.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let answers = self.asked.iter().filter_map(|asked| asked.answer.as_deref());
        answers.chain(self.feedback.iter().map(String::as_str))
    }
}

/// A question to the person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// Its topic: a kind of ambiguity, the id of one, or another word.
    pub topic: String,
    /// The events that it is about.
    pub events: Vec<u64>,
    /// The answer to the round; `None` while it is open.
    pub answer: Option<String>,
}

/// A routine that passed all checks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    /// Its text.
    pub routine_markdown: String,
    /// Its goal.
    pub goal: String,
    /// Number of its steps.
    pub step_count: usize,
    /// Recorded events of each step, by the number of the step.
    pub step_events: BTreeMap<String, Vec<u64>>,
    /// Recorded actions that it leaves out.
    pub left_out: Vec<LeftOut>,
    /// Ambiguities that were settled without a question.
    pub settled: Vec<Settled>,
}

/// Why a compilation failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompileFailure {
    /// The code of the error.
    pub code: String,
    /// What happened and what to do.
    pub problem: String,
}
