//! Messages as they are stored, and as a model gets them.
//!
//! A stored message is `{"role", "content", "tool_calls"?, "tool_call_id"?, "images"?, "kind"?}`: the fields of the chat
//! completions API, with references to stored images in place of these.

use serde_json::{Value, json};

use crate::llm::{Message, Part, Role, ToolCall};
use cdpilot::text::escaped_json;

/// The text of a message whose images were dropped.
pub(super) const DROPPED: &str = "[picture dropped]";

/// What a message is for, beyond its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// What the user, the model or a tool said.
    #[default]
    Plain,
    /// Images of tool results.
    Pictures,
    /// A text of the program to the model.
    Notice,
    /// A summary of earlier messages.
    Summary,
}

impl Kind {
    fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Pictures => Some("pictures"),
            Self::Notice => Some("notice"),
            Self::Summary => Some("summary"),
        }
    }

    fn of(body: &Value) -> Self {
        let all = [Self::Pictures, Self::Notice, Self::Summary];
        all.into_iter().find(|kind| kind.as_str() == body["kind"].as_str()).unwrap_or_default()
    }
}

/// A message of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// As the model gets it, with its images.
    pub(super) message: Message,
    /// Paths of its images, or references to images of the batch that stores it.
    pub(super) images: Vec<String>,
}

impl Entry {
    pub(super) fn new(kind: Kind, message: Message) -> Self {
        Self { kind, message, images: Vec::new() }
    }

    pub(super) fn user(kind: Kind, text: impl Into<String>) -> Self {
        Self::new(kind, Message::text(Role::User, text))
    }

    pub(super) fn result(call: &ToolCall, result: &Value) -> Self {
        // What is not seen, or changes the direction of other text, is written as an escape: the same JSON.
        Self::new(Kind::Plain, Message::result(call, escaped_json(&result.to_string()).into_owned()))
    }

    /// As it is stored.
    pub(super) fn body(&self) -> Value {
        let text = text_of(&self.message);
        let content = if text.is_empty() && !self.message.tool_calls.is_empty() { Value::Null } else { text.into() };
        let mut body = json!({ "role": self.message.role, "content": content });
        if !self.message.tool_calls.is_empty() {
            body["tool_calls"] = json!(self.message.tool_calls);
        }
        if let Some(id) = &self.message.tool_call_id {
            body["tool_call_id"] = id.as_str().into();
        }
        if !self.images.is_empty() {
            body["images"] = json!(self.images);
        }
        if let Some(kind) = self.kind.as_str() {
            body["kind"] = kind.into();
        }
        body
    }

    /// Reads a stored message. `image` returns the media type and the bytes of an image by its path; without images for a
    /// model that accepts none, and for images that are no longer kept, the message has a text only.
    pub(super) fn read(body: &Value, image: impl Fn(&str) -> Option<(String, Vec<u8>)>) -> Self {
        let role = serde_json::from_value(body["role"].clone()).unwrap_or(Role::User);
        let mut message = Message::text(role, body["content"].as_str().unwrap_or_default());
        let calls: Vec<ToolCall> = serde_json::from_value(body["tool_calls"].clone()).unwrap_or_default();
        if !calls.is_empty() && body["content"].is_null() {
            message.parts.clear();
        }
        message.tool_calls = calls;
        message.tool_call_id = body["tool_call_id"].as_str().map(ToOwned::to_owned);
        let mut entry = Self::new(Kind::of(body), message);
        let paths = body["images"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for path in paths {
            if let Some((media_type, bytes)) = image(path) {
                entry.message = entry.message.with_image(&media_type, bytes);
                entry.images.push(path.to_owned());
            }
        }
        if entry.kind == Kind::Pictures && entry.images.is_empty() {
            return Self::user(Kind::Notice, DROPPED);
        }
        entry
    }

    /// The number of images in it.
    pub(super) fn pictures(&self) -> usize {
        self.message.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count()
    }

    /// Whether it calls a tool that uses a page.
    pub(super) fn uses_browser(&self) -> bool {
        let is_of_browser =
            |name: &str| matches!(name, "tab" | "highlight" | "element_interaction") || name.starts_with("browser_");
        self.message.tool_calls.iter().any(|call| is_of_browser(&call.function.name))
    }

    /// An estimate of its size in bytes of text.
    pub(super) fn bytes(&self) -> usize {
        let calls = self.message.tool_calls.iter().map(|call| call.function.arguments.len() + 60);
        text_of(&self.message).len() + calls.sum::<usize>() + 20
    }
}

/// The texts of a message.
pub(super) fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    texts.collect()
}

/// The calls at the end of a conversation that have no result.
pub(super) fn unanswered<'a>(messages: impl DoubleEndedIterator<Item = &'a Message>) -> Vec<ToolCall> {
    let mut answered: Vec<&str> = Vec::new();
    for message in messages.rev() {
        match message.role {
            Role::Tool => answered.extend(message.tool_call_id.as_deref()),
            Role::Assistant => {
                let open = message.tool_calls.iter().filter(|call| !answered.contains(&call.id.as_str()));
                return open.cloned().collect();
            }
            Role::User | Role::System => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::FunctionCall;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, FunctionCall::new("look", "{}"))
    }

    #[test]
    fn messages_are_read_as_they_were_stored() {
        let mut pictures = Entry::user(Kind::Pictures, "Picture of look (c1).");
        pictures.message = pictures.message.with_image("image/png", vec![1]);
        pictures.images.push("/agent/conversations/x/images/1".to_owned());
        let all = [
            Entry::user(Kind::Plain, "Hello"),
            Entry::new(Kind::Plain, Message::calls([call("c1")])),
            Entry::result(&call("c1"), &json!({ "success": true })),
            pictures,
            Entry::user(Kind::Notice, "Careful."),
        ];
        for entry in &all {
            let read = Entry::read(&entry.body(), |_| Some(("image/png".to_owned(), vec![1])));
            assert_eq!((read.kind, &read.message, &read.images), (entry.kind, &entry.message, &entry.images));
        }
        let dropped = Entry::read(&all[3].body(), |_| None);
        assert_eq!((dropped.pictures(), text_of(&dropped.message).as_str()), (0, DROPPED));
    }

    #[test]
    fn only_the_last_calls_can_be_unanswered() {
        let calls = Message::calls([call("c1"), call("c2")]);
        let result = |id: &str| Message::result(&call(id), "{}");
        let open = |messages: &[Message]| -> Vec<String> {
            unanswered(messages.iter()).into_iter().map(|call| call.id).collect()
        };
        assert_eq!(open(&[]), Vec::<String>::new());
        assert_eq!(open(std::slice::from_ref(&calls)), ["c1", "c2"]);
        assert_eq!(open(&[calls.clone(), result("c2")]), ["c1"]);
        assert_eq!(open(&[calls.clone(), result("c1"), result("c2")]), Vec::<String>::new());
        assert_eq!(open(&[calls.clone(), Message::text(Role::User, "x")]), ["c1", "c2"]);
    }
}
