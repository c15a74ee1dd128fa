//! `clarify` and `please_help_me`: ask the user a question, or for help.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Outcome, Registry, RegistryError, Tool, ToolError};
use cdpilot::code::Code;
use cdpilot::setters;
use cdpilot::sync::Deadline;

/// The toolset.
const CLARIFY: &str = "clarify";
/// Maximum number of choices.
const MAX_CHOICES: usize = 4;
/// Maximum length of the question and of a choice, in characters.
const MAX_QUESTION_CHARS: usize = 4_000;
const MAX_CHOICE_CHARS: usize = 400;
/// Maximum length of the answer, in characters.
const MAX_ANSWER_CHARS: usize = 20_000;

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, at most 4,000 characters; written by a model, untrusted.
    pub question: String,
    /// Suggested answers, at most four; the user may answer freely.
    pub choices: Vec<String>,
}

impl Question {
    /// A question without proposed answers.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), choices: Vec::new() }
    }
}

setters! { Question:
    choices(each String),
}

/// Asks the user, for example in a terminal or a chat.
pub trait AskUser: Send + Sync {
    /// Asks and waits for the answer: one of the choices, or free text.
    ///
    /// # Errors
    /// `TIMEOUT` without an answer in time, `CANCELLED` when the user declines, other codes when asking fails.
    fn ask(&self, question: &Question, deadline: Deadline<'_>) -> Result<String, ToolError>;

    /// Whether it is a conversation, whose tools may also ask for help by `please_help_me`. Default false.
    fn is_conversation(&self) -> bool {
        false
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clarify {
    question: String,
    /// Up to 4 suggested answers
    #[serde(default)]
    choices: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Help {
    /// What the person has to do
    message: String,
}

/// Registers the tools; `clarify` is available when the scope has a user to ask, `please_help_me` in conversations.
///
/// # Errors
/// The name is taken.
pub(super) fn register(registry: &Registry) -> Result<(), RegistryError> {
    let tool = Tool::when(
        "clarify",
        "Ask the user a question when the task cannot continue without an answer.",
        |scope| scope.ask().is_some(),
        |call, arguments: Clarify| {
            let ask = call.scope.ask().ok_or_else(|| {
                ToolError::new(Code::ToolUnavailable, "no user is available; continue without an answer")
            })?;
            let question = checked(arguments)?;
            let answer: String = ask.ask(&question, call.deadline)?.chars().take(MAX_ANSWER_CHARS).collect();
            let chosen = question.choices.iter().position(|choice| *choice == answer.trim());
            let outcome = Outcome::default().with("question", question.question).with("answer", answer);
            Ok(match chosen {
                Some(at) => outcome.with("choice", at + 1),
                None => outcome,
            })
        },
    );
    registry.register(CLARIFY, tool.needing("a user at a terminal or in a chat"))?;
    let help = Tool::when(
        "please_help_me",
        "Ask a person to do what only a person can: CAPTCHAs, one-time codes, logins, payments, approvals.",
        |scope| scope.ask().is_some_and(AskUser::is_conversation),
        |call, arguments: Help| {
            let ask =
                call.scope.ask().ok_or_else(|| ToolError::new(Code::ToolUnavailable, "no person is available"))?;
            let question = checked(Clarify { question: arguments.message, choices: Vec::new() })?;
            Ok(Outcome::default().with("answer", ask.ask(&question, call.deadline)?))
        },
    );
    registry.register(CLARIFY, help.needing("a conversation"))
}

fn checked(wanted: Clarify) -> Result<Question, ToolError> {
    let bad = |problem: String| Err(ToolError::new(Code::BadRequest, problem));
    let question = wanted.question.trim();
    if question.is_empty() || question.chars().count() > MAX_QUESTION_CHARS {
        return bad(format!("question must have 1 to {MAX_QUESTION_CHARS} characters"));
    }
    if wanted.choices.len() > MAX_CHOICES {
        return bad(format!("choices has {} entries; pass at most {MAX_CHOICES}", wanted.choices.len()));
    }
    let choices: Vec<String> = wanted.choices.iter().map(|choice| choice.trim().to_owned()).collect();
    if choices.iter().any(|choice| choice.is_empty() || choice.chars().count() > MAX_CHOICE_CHARS) {
        return bad(format!("each choice must have 1 to {MAX_CHOICE_CHARS} characters"));
    }
    Ok(Question { question: question.to_owned(), choices })
}
