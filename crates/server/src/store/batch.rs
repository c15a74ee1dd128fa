//! One step of the agent's loop, stored in one transaction.

use serde_json::Value;

use super::{ConversationState, IntentOutcome, QuestionKind, RunChange, now};
#[cfg(doc)]
use super::{Error, KEPT_IMAGES};

/// Start of a reference to an image of the same batch.
pub(super) const REFERENCE: &str = "@image:";

/// Changes of one conversation that are stored together or not at all: one step of the agent's loop.
///
/// Within a batch, messages are rewritten first, then replaced, then appended; intents and questions are opened before
/// others are closed.
#[derive(Debug, Clone, Default)]
#[must_use = "a batch does nothing until it is committed"]
pub struct Batch {
    pub(super) state: Option<ConversationState>,
    pub(super) model: Option<String>,
    pub(super) title: Option<String>,
    pub(super) settings: Option<Value>,
    pub(super) usage: Option<Value>,
    pub(super) unfinished: Option<bool>,
    pub(super) rewritten: Option<(u64, Vec<Value>)>,
    pub(super) replaced: Vec<(u64, Value)>,
    pub(super) messages: Vec<Value>,
    pub(super) images: Vec<(String, Vec<u8>)>,
    pub(super) events: Vec<(String, Value, f64)>,
    pub(super) intents: Vec<(String, String, Value)>,
    pub(super) closed: Vec<(String, IntentOutcome)>,
    pub(super) questions: Vec<(String, String, QuestionKind, Value)>,
    pub(super) answers: Vec<(String, Value)>,
    pub(super) actions: Vec<(u64, Value)>,
    pub(super) run: Option<RunChange>,
    pub(super) compilation: Option<(String, Value)>,
}

/// The reference to an image of the same batch, by its place from 0. As the top-level field `image` of an event or a
/// message, or as an item of its top-level field `images`, it is replaced by the path of the image,
/// `/agent/conversations/ID/images/N`, when the batch is committed. Other texts and fields are stored as they are.
#[must_use]
pub fn image_reference(index: usize) -> String {
    format!("{REFERENCE}{index}")
}

/// The place in a reference to an image; `None` for other texts.
pub(crate) fn image_place(reference: &str) -> Option<u64> {
    reference.strip_prefix(REFERENCE)?.parse().ok()
}

impl Batch {
    /// A batch without changes; committing it only updates `updated_at`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the state.
    pub fn state(self, state: ConversationState) -> Self {
        Self { state: Some(state), ..self }
    }

    /// Sets the alias of the model.
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Sets the title to the first 100 characters of a text, unless the conversation has one.
    pub fn title(self, text: impl Into<String>) -> Self {
        Self { title: Some(text.into()), ..self }
    }

    /// Replaces the settings.
    pub fn settings(self, settings: Value) -> Self {
        Self { settings: Some(settings), ..self }
    }

    /// Replaces the usage.
    pub fn usage(self, usage: Value) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Sets whether the last turn is unfinished and can be continued.
    pub fn unfinished(self, unfinished: bool) -> Self {
        Self { unfinished: Some(unfinished), ..self }
    }

    /// Appends a message.
    pub fn message(mut self, body: Value) -> Self {
        self.messages.push(body);
        self
    }

    /// Replaces one message by its number, from 1.
    pub fn replace_message(mut self, n: u64, body: Value) -> Self {
        self.replaced.push((n, body));
        self
    }

    /// Replaces all messages from number `from_n` (from 1) to the last one. The number of messages may change.
    pub fn rewrite_messages(self, from_n: u64, bodies: Vec<Value>) -> Self {
        Self { rewritten: Some((from_n, bodies)), ..self }
    }

    /// Adds an image. Its reference in events and messages of this batch is [`image_reference`] of the number of images
    /// added before it. Only the newest [`KEPT_IMAGES`] of a conversation are kept.
    pub fn image(mut self, media_type: impl Into<String>, bytes: Vec<u8>) -> Self {
        self.images.push((media_type.into(), bytes));
        self
    }

    /// Appends an event with the present time.
    pub fn event(self, event: impl Into<String>, data: Value) -> Self {
        self.event_at(event, data, now())
    }

    /// Appends an event with its time, in seconds since 1970.
    pub fn event_at(mut self, event: impl Into<String>, data: Value, ts: f64) -> Self {
        self.events.push((event.into(), data, ts));
        self
    }

    /// Adds what was done in a page, as event `n` of a recording, from 1.
    pub fn action(mut self, n: u64, event: Value) -> Self {
        self.actions.push((n, event));
        self
    }

    /// Opens the intent of a tool call that is about to be performed. A closed intent with the same call id is replaced:
    /// models repeat ids. An open one is an [`Error::Conflict`].
    pub fn open_intent(mut self, call_id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        self.intents.push((call_id.into(), tool.into(), arguments));
        self
    }

    /// Closes an open intent.
    pub fn close_intent(mut self, call_id: impl Into<String>, outcome: IntentOutcome) -> Self {
        self.closed.push((call_id.into(), outcome));
        self
    }

    /// Asks the user a question. The id must be new.
    pub fn ask(mut self, id: impl Into<String>, call_id: impl Into<String>, kind: QuestionKind, body: Value) -> Self {
        self.questions.push((id.into(), call_id.into(), kind, body));
        self
    }

    /// Closes an open question with the answer of the user; null when it is withdrawn.
    pub fn answer(mut self, question: impl Into<String>, answer: Value) -> Self {
        self.answers.push((question.into(), answer));
        self
    }

    /// Replaces the state of a compilation of a recording, by the id of the recording. Ignored if another conversation has begun to
    /// compile it, see [`begin_compilation`](super::Store::begin_compilation).
    pub fn compilation(self, recording: impl Into<String>, state: Value) -> Self {
        Self { compilation: Some((recording.into(), state)), ..self }
    }

    /// Changes the run of the conversation, which must [exist](super::Store::create_run).
    pub fn run(self, change: RunChange) -> Self {
        Self { run: Some(change), ..self }
    }
}
