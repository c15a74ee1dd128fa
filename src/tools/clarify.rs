//! `clarify`: a question to the person.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Outcome, Registry, RegistryError, Tool, ToolError};
use crate::sync::Deadline;

/// The toolset.
const CLARIFY: &str = "clarify";
/// Answers to choose from at most.
const MAX_CHOICES: usize = 4;
/// Characters of the question and of a choice at most.
const MAX_QUESTION_CHARS: usize = 4_000;
const MAX_CHOICE_CHARS: usize = 400;
/// Characters of the answer at most.
const MAX_ANSWER_CHARS: usize = 20_000;

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub question: String,
    /// Answers to choose from, four at most; others are fine too. Empty: any answer.
    pub choices: Vec<String>,
}

/// Where the person can be asked: a terminal, a chat.
pub trait AskUser: Send + Sync {
    /// Asks, and waits for the answer: one of the choices, or something else.
    ///
    /// # Errors
    /// `TIMEOUT` when nobody answered in time, `CANCELLED` when the person does not want to answer, or whatever else
    /// kept it from being asked.
    fn ask(&self, question: &Question, deadline: Deadline) -> Result<String, ToolError>;
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clarify {
    question: String,
    /// Up to 4 answers to choose from
    #[serde(default)]
    choices: Vec<String>,
}

/// Adds the tool, which is there when there is somebody to ask.
///
/// # Errors
/// Another one is called like it.
pub(super) fn register(registry: &Registry) -> Result<(), RegistryError> {
    let tool = Tool::when(
        "clarify",
        "Ask the person a question, when the task cannot be done without an answer.",
        |scope| scope.ask().is_some(),
        |call, wanted: Clarify| {
            let ask = call.scope.ask().ok_or_else(|| ToolError::new("TOOL_UNAVAILABLE", "there is nobody to ask"))?;
            let question = checked(wanted)?;
            let answer: String = ask.ask(&question, call.deadline)?.chars().take(MAX_ANSWER_CHARS).collect();
            let chosen = question.choices.iter().position(|choice| *choice == answer.trim());
            let outcome = Outcome::default().with("question", question.question).with("answer", answer);
            Ok(match chosen {
                Some(at) => outcome.with("choice", at + 1),
                None => outcome,
            })
        },
    );
    registry.register(CLARIFY, tool.needing("somebody at a terminal or in a chat to ask"))
}

fn checked(wanted: Clarify) -> Result<Question, ToolError> {
    let bad = |problem: String| Err(ToolError::new("BAD_REQUEST", problem));
    let question = wanted.question.trim();
    if question.is_empty() || question.chars().count() > MAX_QUESTION_CHARS {
        return bad(format!("a question has 1 to {MAX_QUESTION_CHARS} characters"));
    }
    if wanted.choices.len() > MAX_CHOICES {
        return bad(format!("{} choices are too many; give {MAX_CHOICES} at most", wanted.choices.len()));
    }
    let choices: Vec<String> = wanted.choices.iter().map(|choice| choice.trim().to_owned()).collect();
    if choices.iter().any(|choice| choice.is_empty() || choice.chars().count() > MAX_CHOICE_CHARS) {
        return bad(format!("a choice has 1 to {MAX_CHOICE_CHARS} characters"));
    }
    Ok(Question { question: question.to_owned(), choices })
}
