//! Summaries in place of old messages, before the context window is full.

use serde_json::{Map, Value, json};

use super::Error;
use super::events::{AGENT_EVENT, AgentEvent};
use super::messages::{DROPPED, Entry, Kind, text_of};
use super::step::{CUT_OFF, Shown};
use super::turn::{Draft, Turn};
use crate::llm::{self, Answer, ChatRequest, Client, Message, Model, Part, Role};
use crate::tools::ToolContext;
use cdpilot::sync::Deadline;

/// Messages at the end that are kept word for word.
const KEPT: usize = 6;
/// Bytes of text that are estimated as a token.
const BYTES_PER_TOKEN: u64 = 3;
/// What stands above the to-do list in a summary.
const TODOS: &str = "The to-do list:";
/// Tokens that are estimated for an image.
const IMAGE_TOKENS: u64 = 1_200;
/// How endpoints say that a request is too long.
const TOO_LONG: [&str; 7] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "too many tokens",
];
const INSTRUCTION: &str = "Summarise the conversation so far for yourself: it replaces the messages above. State the task, what \
     was done and with which results, what is still to do, values and ids that are still needed, and what did not work. Do not \
     call a tool, and do not continue the task.";

impl Turn<'_> {
    /// Whether the messages take four fifths of the context window.
    pub(super) fn is_nearly_full(&self, model: &Model) -> bool {
        let Some(window) = model.context_window.filter(|window| *window > 0) else { return false };
        let used = match self.last_input {
            Some((tokens, count)) => tokens.saturating_add(estimate(self.entries.get(count..).unwrap_or_default())),
            None => self.estimated(),
        };
        self.entries.len() >= self.condensable_from && used.saturating_mul(5) >= window.saturating_mul(4)
    }

    /// The tokens of the next request, estimated by its bytes.
    fn estimated(&self) -> u64 {
        let tools = self.tools.iter().map(|tool| tool.description.len() + tool.parameters.to_string().len());
        let bytes = self.system.len() + tools.sum::<usize>();
        bytes as u64 / BYTES_PER_TOKEN + estimate(&self.entries)
    }

    /// Replaces the messages between the first and the last ones by a summary of the model. Returns whether it did; without a
    /// summary nothing changes. The next try is made when there are more messages. `is_too_long`: the endpoint has refused the
    /// messages for their length.
    pub(super) fn condense(&mut self, model: &Model, client: &Client, is_too_long: bool) -> Result<bool, Error> {
        self.condensable_from = self.entries.len() + KEPT;
        let Some(from) = kept_from(&self.entries) else { return Ok(false) };
        let mut messages = self.messages();
        if is_too_long {
            // Without images, and without the messages that are kept.
            messages.truncate(from + 1);
            for message in &mut messages {
                message.parts.retain(|part| !matches!(part, Part::Image { .. }));
                if message.parts.is_empty() && message.tool_calls.is_empty() {
                    message.parts.push(Part::Text(DROPPED.to_owned()));
                }
            }
        }
        messages.push(Message::text(Role::User, INSTRUCTION));
        let mut draft = Draft::default();
        // With the tools: the beginning of the request stays equal, and some endpoints refuse calls in messages without.
        let request = ChatRequest::new(messages).tools(self.tools.clone());
        let problem = match self.request(client, &request, Shown::No) {
            Ok(answer) => {
                self.count(model, &answer, &mut draft);
                match summary_in(&answer) {
                    Ok(text) => Ok(self.offer.cover(text)),
                    Err(problem) => Err(problem.to_owned()),
                }
            }
            Err(_) if self.cancel.is_set() => return Ok(false),
            Err(error) => Err(error.to_string()),
        };
        let summary = match problem {
            Ok(summary) => summary,
            Err(problem) => {
                draft.system(format!("The conversation could not be condensed: {problem}."));
                return self.commit(draft).map(|_| false);
            }
        };
        let mut text = format!("Summary of the conversation until here:\n{summary}");
        if let Some(todos) = self.todos() {
            text.push_str(&format!("\n\n{TODOS}\n{todos}"));
        }
        let tail = self.entries.split_off(from);
        let before = self.entries.len() + tail.len();
        self.entries.truncate(1);
        self.entries.push(Entry::user(Kind::Summary, text));
        self.entries.extend(tail);
        self.last_input = None;
        self.condensable_from = self.entries.len() + KEPT;
        let bodies = self.entries.iter().map(Entry::body).collect();
        draft.change(|batch| batch.rewrite_messages(1, bodies));
        let event = AgentEvent::system(format!(
            "Condensed: {before} messages became {}, because the context window is nearly full.",
            self.entries.len()
        ));
        draft.event(AGENT_EVENT, event.with("summary", summary).into_value());
        self.commit(draft).map(|_| true)
    }

    /// Gives the session the to-do list of the messages, if it has none: sessions do not outlive the server.
    pub(super) fn restore_todos(&self) {
        if !self.offer.has("todo") || self.todos().is_some() {
            return;
        }
        let Some(list) = stated_todos(&self.entries).filter(|list| *list != json!([])) else { return };
        let context = ToolContext::new(&self.session, &self.offer.scope, Deadline::after_secs(5));
        let arguments = Map::from_iter([("todos".to_owned(), list)]);
        if let Err(problem) = self.offer.registry.call("todo", &context, arguments) {
            tracing::warn!(conversation = %self.live.id, %problem, "the to-do list could not be restored");
        }
    }

    /// The to-do list of the session, as JSON; `None` without items.
    fn todos(&self) -> Option<String> {
        if !self.offer.has("todo") {
            return None;
        }
        let deadline = Deadline::after_secs(5);
        let context = ToolContext::new(&self.session, &self.offer.scope, deadline);
        let list = self.offer.registry.call("todo", &context, Map::new()).ok()?.to_value();
        list["todos"].as_array().filter(|items| !items.is_empty()).map(|_| list["todos"].to_string())
    }
}

/// The to-do list that is stated last in messages: by a result of the tool, or below a summary.
fn stated_todos(entries: &[Entry]) -> Option<Value> {
    entries.iter().rev().find_map(|entry| {
        let text = text_of(&entry.message);
        let list = match (entry.message.role, entry.kind) {
            (Role::Tool, _) if text.contains("\"todos\"") => serde_json::from_str::<Value>(&text).ok()?["todos"].take(),
            (Role::User, Kind::Summary) => serde_json::from_str(text.rsplit_once(TODOS)?.1.trim()).ok()?,
            _ => return None,
        };
        list.is_array().then_some(list)
    })
}

/// The summary in an answer; the reason why there is none.
fn summary_in(answer: &Answer) -> Result<&str, &'static str> {
    if !answer.tool_calls.is_empty() {
        return Err("the model called a tool instead of writing a summary");
    }
    if answer.finish == CUT_OFF {
        return Err("the summary was cut off at the limit of output tokens");
    }
    match answer.text.trim() {
        "" => Err("the model wrote no summary"),
        text => Ok(text),
    }
}

/// Whether an endpoint refused a request for the length of its messages.
pub(super) fn is_too_long(error: &llm::Error) -> bool {
    let llm::Error::Refused { status: 400 | 413 | 422, problem, .. } = error else { return false };
    let problem = problem.to_lowercase();
    TOO_LONG.iter().any(|words| problem.contains(words))
}

/// The estimated tokens of messages.
fn estimate(entries: &[Entry]) -> u64 {
    let bytes: usize = entries.iter().map(Entry::bytes).sum();
    let images: usize = entries.iter().map(Entry::pictures).sum();
    bytes as u64 / BYTES_PER_TOKEN + images as u64 * IMAGE_TOKENS
}

/// The place from which messages are kept word for word: never between a call and its results. `None` if there is nothing to
/// summarise.
fn kept_from(entries: &[Entry]) -> Option<usize> {
    let mut from = entries.len().checked_sub(KEPT)?;
    let belongs_to_calls =
        |entry: &Entry| entry.message.role == Role::Tool || matches!(entry.kind, Kind::Pictures | Kind::Notice);
    while from > 0 && entries.get(from).is_some_and(belongs_to_calls) {
        from -= 1;
    }
    // The first message stays; a summary of a single one helps nobody.
    (from > 2).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{FunctionCall, ToolCall};

    /// `u`: user, `a`: assistant with a call, `r`: result, `p`: pictures.
    fn entries(kinds: &str) -> Vec<Entry> {
        let call = ToolCall::new("c", FunctionCall::new("look", "{}"));
        let entry = |kind: char| match kind {
            'u' => Entry::user(Kind::Plain, "Hello"),
            'a' => Entry::new(Kind::Plain, Message::calls([call.clone()])),
            'r' => Entry::result(&call, &json!({})),
            _ => Entry::user(Kind::Pictures, "Picture."),
        };
        kinds.chars().map(entry).collect()
    }

    #[test]
    fn the_last_to_do_list_is_found() {
        let call = ToolCall::new("c", FunctionCall::new("todo", "{}"));
        let list = |id: &str| json!([{ "id": id, "content": "x", "status": "pending" }]);
        let mut all = vec![Entry::user(Kind::Plain, "The to-do list:\n[1]")];
        assert_eq!(stated_todos(&all), None);
        all.push(Entry::result(&call, &json!({ "success": true, "todos": list("a") })));
        all.push(Entry::result(&call, &json!({ "success": false, "error": "todos" })));
        assert_eq!(stated_todos(&all), Some(list("a")));
        all.push(Entry::user(Kind::Summary, format!("Done.\n\n{TODOS}\n{}", list("b"))));
        assert_eq!(stated_todos(&all), Some(list("b")));
    }

    #[test]
    fn summaries_are_texts_without_calls() {
        let answer = |text: &str, finish: &str| {
            let mut answer = Answer::default();
            (answer.text, answer.finish) = (text.to_owned(), finish.to_owned());
            answer
        };
        assert_eq!(summary_in(&answer(" x ", "stop")), Ok("x"));
        assert!(summary_in(&answer("x", "length")).is_err() && summary_in(&answer("  ", "stop")).is_err());
        let mut calling = answer("x", "tool_calls");
        calling.tool_calls.push(ToolCall::new("c", FunctionCall::new("todo", "{}")));
        assert!(summary_in(&calling).is_err());
    }

    #[test]
    fn requests_that_are_too_long_are_recognised() {
        let refused = |status: u16, problem: &str| {
            is_too_long(&llm::Error::Refused { host: "h".to_owned(), status, problem: problem.to_owned() })
        };
        assert!(refused(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000"
        ));
        assert!(refused(400, "the request exceeds the available context size, try increasing it"));
        assert!(refused(413, "prompt is too long: 210000 tokens > 200000 maximum"));
        assert!(!refused(500, "context length") && !refused(400, "invalid image"));
    }

    #[test]
    fn calls_are_kept_with_their_results() {
        for (kinds, expected) in [
            ("uararararar", Some(5)),
            ("uarparparparp", Some(7)),
            ("uarrrrrrrrr", None),
            ("uar", None),
            ("", None),
            ("uarararuararar", Some(8)),
            ("uarararrarara", Some(5)),
        ] {
            assert_eq!(kept_from(&entries(kinds)), expected, "{kinds}");
        }
    }
}
