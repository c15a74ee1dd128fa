//! What is sent to a model and what comes back.

use base64::Engine as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What holds throughout.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// What a tool gave.
    Tool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture: `image/png` or `image/jpeg`, and the file.
    Image {
        /// Its media type.
        media_type: String,
        /// The file.
        bytes: Vec<u8>,
    },
}

/// A function that a model wants called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Its name.
    pub name: String,
    /// JSON, as the model wrote it.
    #[serde(deserialize_with = "written")]
    pub arguments: String,
}

/// Arguments as text. Some endpoints have read what the model wrote already.
fn written<'de, D: Deserializer<'de>>(given: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(given)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        read => read.to_string(),
    })
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What its result is told under.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// What is called.
    pub function: FunctionCall,
}

fn function() -> String {
    "function".to_owned()
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part>,
    /// What the model wants called.
    pub tool_calls: Vec<ToolCall>,
    /// Which call it is the result of.
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text(text.into())], tool_calls: Vec::new(), tool_call_id: None }
    }

    /// The result of a call.
    #[must_use]
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.id.clone()), ..Self::text(Role::Tool, text) }
    }

    /// Adds a picture.
    #[must_use]
    pub fn with_image(mut self, media_type: &str, bytes: Vec<u8>) -> Self {
        self.parts.push(Part::Image { media_type: media_type.to_owned(), bytes });
        self
    }

    pub(super) fn to_value(&self) -> Value {
        let content = match self.parts.as_slice() {
            [] => Value::Null,
            [Part::Text(text)] => Value::String(text.clone()),
            parts => Value::Array(parts.iter().map(part).collect()),
        };
        let mut told = json!({ "role": self.role, "content": content });
        if !self.tool_calls.is_empty() {
            told["tool_calls"] = json!(self.tool_calls);
        }
        if let Some(id) = &self.tool_call_id {
            told["tool_call_id"] = json!(id);
        }
        told
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image { media_type, bytes } => {
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            json!({ "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{data}") } })
        }
    }
}

/// A tool that a model may ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// Tokens of the answer at most.
    pub max_tokens: Option<u32>,
    /// From 0, always the likeliest, to 2.
    pub temperature: Option<f64>,
}

impl Ask {
    pub(super) fn to_value(&self, model: &str, most: Option<u32>) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(Message::to_value).collect();
        let mut told = json!({ "model": model, "messages": messages });
        if !self.tools.is_empty() {
            let tool = |tool: &ToolSpec| {
                let function =
                    json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
                json!({ "type": "function", "function": function })
            };
            told["tools"] = self.tools.iter().map(tool).collect();
        }
        if let Some(most) = self.max_tokens.into_iter().chain(most).min() {
            told["max_tokens"] = json!(most);
        }
        if let Some(temperature) = self.temperature {
            told["temperature"] = json!(temperature);
        }
        told
    }
}

/// Tokens that were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Sent.
    pub input: u64,
    /// Of these, kept by the endpoint from before.
    pub cached_input: u64,
    /// Answered.
    pub output: u64,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What it says.
    pub text: String,
    /// What it wants called.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped: `stop`, `length`, `tool_calls`.
    pub finish: String,
    /// Tokens that were used, where the endpoint says so.
    pub usage: Option<Usage>,
}

impl Answer {
    /// It as a message of the conversation.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let parts = if self.text.is_empty() { Vec::new() } else { vec![Part::Text(self.text.clone())] };
        Message { role: Role::Assistant, parts, tool_calls: self.tool_calls.clone(), tool_call_id: None }
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let told: Told = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let choice = told.choices.into_iter().next().ok_or("there is no choice in it")?;
        // Some leave parts of it out, or say null.
        let usage = told.usage.filter(Value::is_object).map(|usage| {
            let count = |at: &str| usage.pointer(at).and_then(Value::as_u64).unwrap_or_default();
            Usage {
                input: count("/prompt_tokens"),
                cached_input: count("/prompt_tokens_details/cached_tokens"),
                output: count("/completion_tokens"),
            }
        });
        Ok(Self {
            text: choice.message.content.map(joined).unwrap_or_default(),
            tool_calls: choice.message.tool_calls.unwrap_or_default(),
            finish: choice.finish_reason.unwrap_or_default(),
            usage,
        })
    }
}

#[derive(Deserialize)]
struct Told {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: ToldMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ToldMessage {
    content: Option<Value>,
    tool_calls: Option<Vec<ToolCall>>,
}

/// What a message says: a text, or the texts of a list of parts.
fn joined(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
