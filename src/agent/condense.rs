//! Summaries in place of old messages, before the context window is full.

use serde_json::Map;

use super::Error;
use super::events::{AGENT_EVENT, AgentEvent};
use super::messages::{Entry, Kind};
use super::turn::{Draft, Turn};
use crate::llm::{ChatRequest, Client, Message, Model, Part, Role};
use crate::sync::Deadline;
use crate::tools::ToolContext;

/// Messages at the end that are kept word for word.
const KEPT: usize = 6;
/// Bytes of text that are estimated as a token.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens that are estimated for an image.
const IMAGE_TOKENS: u64 = 1_200;
const INSTRUCTION: &str = "Summarise the conversation so far for yourself: it replaces the messages above. State the task, what \
     was done and with which results, what is still to do, values and ids that are still needed, and what did not work. Do not \
     call a tool, and do not continue the task.";

impl Turn<'_> {
    /// Whether the messages take four fifths of the context window.
    pub(super) fn is_nearly_full(&self, model: &Model) -> bool {
        let Some(window) = model.context_window.filter(|window| *window > 0) else { return false };
        let used = self.last_input.unwrap_or_else(|| self.estimated());
        used.saturating_mul(5) >= window.saturating_mul(4)
    }

    /// The tokens of the next request, estimated by its bytes.
    fn estimated(&self) -> u64 {
        let tools = self.tools.iter().map(|tool| tool.description.len() + tool.parameters.to_string().len());
        let bytes = self.system.len() + tools.sum::<usize>() + self.entries.iter().map(Entry::bytes).sum::<usize>();
        let images: usize = self.entries.iter().map(Entry::pictures).sum();
        bytes as u64 / BYTES_PER_TOKEN + images as u64 * IMAGE_TOKENS
    }

    /// Replaces the messages between the first and the last ones by a summary of the model. Without a summary nothing
    /// changes.
    pub(super) fn condense(&mut self, model: &Model, client: &Client) -> Result<(), Error> {
        let Some(from) = kept_from(&self.entries) else { return Ok(()) };
        let mut messages = self.messages();
        for message in &mut messages {
            message.parts.retain(|part| !matches!(part, Part::Image { .. }));
        }
        messages.push(Message::text(Role::User, INSTRUCTION));
        let mut draft = Draft::default();
        let summary = match self.request(client, &ChatRequest::new(messages)) {
            Ok(answer) => {
                self.count(model, &answer, &mut draft);
                self.offer.cover(&answer.text)
            }
            Err(_) if self.cancel.is_set() => return Ok(()),
            Err(error) => {
                draft.system(format!("The conversation could not be condensed: {error}."));
                self.last_input = None;
                return self.commit(draft).map(drop);
            }
        };
        let mut text = format!("Summary of the conversation until here:\n{summary}");
        if let Some(todos) = self.todos() {
            text.push_str(&format!("\n\nThe to-do list:\n{todos}"));
        }
        let tail = self.entries.split_off(from);
        let before = self.entries.len() + tail.len();
        self.entries.truncate(1);
        self.entries.push(Entry::user(Kind::Summary, text));
        self.entries.extend(tail);
        self.last_input = None;
        let bodies = self.entries.iter().map(Entry::body).collect();
        draft.change(|batch| batch.rewrite_messages(1, bodies));
        let event = AgentEvent::system(format!(
            "Condensed: {before} messages became {}, because the context window is nearly full.",
            self.entries.len()
        ));
        draft.event(AGENT_EVENT, event.with("summary", summary).into_value());
        self.commit(draft).map(drop)
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
    use serde_json::json;

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
