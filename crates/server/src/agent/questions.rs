//! Questions that end a turn, and their answers.

use serde_json::{Map, Value, json};

use super::events::{AGENT_EVENT, AgentEvent, HELP_REQUEST, Source};
use super::messages::{Entry, Kind};
use super::turn::{Draft, End, Turn};
use super::{Error, repair};
use crate::llm::{FunctionCall, ToolCall};
use crate::store::{Batch, ConversationState, Question, QuestionKind};
use cdpilot::code::Code;

/// Maximum number of choices.
const MOST_CHOICES: usize = 4;
/// Maximum length of a question, in characters.
const MOST_CHARS: usize = 4_000;

/// A question of the model or of the program to a person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    kind: QuestionKind,
    text: String,
    choices: Vec<String>,
}

impl Ask {
    /// The question that a call asks; `None` if the tool asks none.
    pub(super) fn of(tool: &str, arguments: &Map<String, Value>) -> Option<Result<Self, String>> {
        let (kind, field) = match tool {
            "clarify" | super::compile::ASK => (QuestionKind::Clarify, "question"),
            "please_help_me" => (QuestionKind::Help, "message"),
            _ => {
                let (n, note) = super::routine::blocked(tool, arguments)?;
                if note.is_empty() {
                    return Some(Err("give a note: why the step cannot be done".to_owned()));
                }
                let text = format!(
                    "Step {n} of the routine cannot be done: {note}. Do it in the browser, or say how to go on."
                );
                return Some(Ok(Self::help(text)));
            }
        };
        let text = arguments.get(field).and_then(Value::as_str).unwrap_or_default().trim();
        if text.is_empty() || text.chars().count() > MOST_CHARS {
            return Some(Err(format!("{field} must have 1 to {MOST_CHARS} characters")));
        }
        let choices = arguments.get("choices").and_then(Value::as_array).into_iter().flatten();
        let choices: Vec<String> = choices.filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect();
        if choices.len() > MOST_CHOICES {
            return Some(Err(format!("choices has {} entries; pass at most {MOST_CHOICES}", choices.len())));
        }
        Some(Ok(Self { kind, text: text.to_owned(), choices }))
    }

    /// A question of a compilation.
    pub(super) fn clarify(text: impl Into<String>) -> Self {
        Self { kind: QuestionKind::Clarify, text: text.into(), choices: Vec::new() }
    }

    /// A request for help by the program.
    pub(super) fn help(text: impl Into<String>) -> Self {
        Self { kind: QuestionKind::Help, text: text.into(), choices: Vec::new() }
    }
}

impl Turn<'_> {
    /// Stores a question, which ends the turn. `call`: the call that asks; `rest`: the calls behind it, which are not made.
    pub(super) fn ask(
        &mut self,
        mut draft: Draft,
        ask: &Ask,
        call: Option<&ToolCall>,
        rest: &[ToolCall],
    ) -> Result<End, Error> {
        not_made(&mut draft, rest);
        let id = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let call_id = call.map_or("", |call| call.id.as_str());
        let text = self.offer.cover(&ask.text);
        let choices: Vec<String> = ask.choices.iter().map(|choice| self.offer.cover(choice)).collect();
        let pictures = self.take_pictures().map(|pictures| pictures.body());
        let body = json!({
            "tool_name": call.map(|call| &call.function.name),
            "message": text,
            "choices": choices,
            "pictures": pictures,
        });
        let mut event = json!({
            "conversation_id": self.live.id,
            "question_id": id,
            "kind": ask.kind.as_str(),
            "message": text,
            "tool_call_id": call_id,
        });
        if !choices.is_empty() {
            event["choices"] = json!(choices);
        }
        draft.event(HELP_REQUEST, event);
        if ask.kind == QuestionKind::Help {
            // Before it is asked: the answer may come at once.
            self.live.set_handover(self.pages().hand_over());
            self.live.open_wire(true);
        }
        draft.change(|batch| batch.ask(&*id, call_id, ask.kind, body).state(ConversationState::Waiting));
        self.commit(draft)?;
        Ok(End::Waiting)
    }
}

/// Adds the results of calls that are not made, because one before them asks something.
pub(super) fn not_made(draft: &mut Draft, calls: &[ToolCall]) {
    for call in calls {
        let result = repair::not_started();
        let event = AgentEvent::observation(&call.function.name, &call.id, &result);
        draft.event(AGENT_EVENT, event.into_value());
        draft.entries.push(Entry::result(call, &result));
    }
}

/// The changes that close a question. `answer`: `None` when it is withdrawn.
pub(super) fn answered(question: &Question, answer: Option<&str>) -> Batch {
    let batch = Batch::new().answer(&*question.id, answer.into());
    let batch = match answer {
        Some(text) => batch.event(AGENT_EVENT, AgentEvent::message(Source::User, text).into_value()),
        None => batch,
    };
    let name = question.body["tool_name"].as_str().unwrap_or_default();
    let batch = if question.call_id.is_empty() {
        let text = answer.unwrap_or("No answer was given.");
        batch.message(Entry::user(Kind::Plain, text).body())
    } else {
        let result = result(question, answer);
        let call = ToolCall::new(&*question.call_id, FunctionCall::new(name, "{}"));
        let event = AgentEvent::observation(name, &question.call_id, &result).into_value();
        batch.event(AGENT_EVENT, event).message(Entry::result(&call, &result).body())
    };
    with_pictures(batch, question)
}

/// Appends the images of results before a question, which were kept with it.
pub(super) fn with_pictures(batch: Batch, question: &Question) -> Batch {
    match &question.body["pictures"] {
        Value::Null => batch,
        pictures => batch.message(pictures.clone()),
    }
}

fn result(question: &Question, answer: Option<&str>) -> Value {
    let Some(answer) = answer else {
        return json!({ "success": false, "error": "the question was withdrawn without an answer", "code": Code::Cancelled });
    };
    let mut result = json!({ "success": true, "answer": answer });
    let choices = question.body["choices"].as_array();
    let chosen = choices.and_then(|all| all.iter().position(|choice| choice == answer));
    if let Some(at) = chosen {
        result["choice"] = (at + 1).into();
    }
    result
}
