//! Requests to models, and their answers.

use base64::Engine as _;
use cdpilot::setters;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the program that calls the model.
    System,
    /// The user's text.
    User,
    /// The model's own answer, with its tool calls.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// An image, for models with [`vision`](super::Model::vision).
    Image {
        /// The media type: `image/png` or `image/jpeg`.
        media_type: String,
        /// The encoded image file, not Base64.
        bytes: Vec<u8>,
    },
}

impl Part {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. } => None,
        }
    }
}

/// A function to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Name of the function: that of a [`ToolSpec`].
    pub name: String,
    /// The arguments as JSON, as the model wrote them.
    #[serde(deserialize_with = "written")]
    pub arguments: String,
}

impl FunctionCall {
    /// A call of a function; the arguments are JSON text.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: arguments.into() }
    }
}

/// Arguments as text. Some endpoints return parsed JSON.
fn written<'de, D: Deserializer<'de>>(given: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(given)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        read => read.to_string(),
    })
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id for its result.
    #[serde(default)]
    pub id: String,
    /// The type of the call; always `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// The function to call.
    pub function: FunctionCall,
}

impl ToolCall {
    /// A call of a function. The id connects it with its result.
    #[must_use]
    pub fn new(id: impl Into<String>, function: FunctionCall) -> Self {
        Self { id: id.into(), kind: self::function(), function }
    }
}

fn function() -> String {
    "function".to_owned()
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who wrote the message.
    pub role: Role,
    /// Texts and images, in order; empty for a message that only calls tools.
    pub parts: Vec<Part>,
    /// Tool calls of the model.
    pub tool_calls: Vec<ToolCall>,
    /// The tool call that this message is the result of.
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of one text, by this author.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text(text.into())], tool_calls: Vec::new(), tool_call_id: None }
    }

    /// The result of a tool call.
    #[must_use]
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.id.clone()), ..Self::text(Role::Tool, text) }
    }

    /// A message of the model that calls tools.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let tool_calls = calls.into_iter().collect();
        Self { role: Role::Assistant, parts: Vec::new(), tool_calls, tool_call_id: None }
    }

    /// Adds an image behind the other parts: its media type (`image/png`, `image/jpeg`) and the file.
    #[must_use]
    pub fn with_image(mut self, media_type: &str, bytes: Vec<u8>) -> Self {
        self.parts.push(Part::Image { media_type: media_type.to_owned(), bytes });
        self
    }

    pub(super) fn to_value(&self, forms: &Forms) -> Value {
        let parts: Vec<Part> = match forms.images {
            true => self.parts.clone(),
            false => self.parts.iter().map(without_image).collect(),
        };
        let texts: Option<Vec<&str>> = parts.iter().map(Part::as_text).collect();
        let content = match texts {
            _ if parts.is_empty() => Value::Null,
            // Some endpoints accept lists of parts for images only, or not at all.
            Some(texts) => Value::String(texts.join("\n")),
            None => Value::Array(parts.iter().map(part).collect()),
        };
        let mut body = json!({ "role": self.role, "content": content });
        if !self.tool_calls.is_empty() {
            body["tool_calls"] = json!(self.tool_calls);
        }
        if let Some(id) = &self.tool_call_id {
            body["tool_call_id"] = json!(id);
        }
        body
    }

    /// A result of one of these calls.
    fn is_result_of(&self, calls: &[ToolCall]) -> bool {
        self.role == Role::Tool && calls.iter().any(|call| Some(&call.id) == self.tool_call_id.as_ref())
    }
}

/// What stands for an image where none is accepted.
const NO_IMAGE: &str = "[a picture was left out: the model does not accept images]";

fn without_image(part: &Part) -> Part {
    match part {
        Part::Text(text) => Part::Text(text.clone()),
        Part::Image { .. } => Part::Text(NO_IMAGE.to_owned()),
    }
}

/// Messages with one call each: every call of a message is followed by its result.
fn one_by_one(messages: &[Message]) -> Vec<Message> {
    let mut all = Vec::with_capacity(messages.len());
    let mut left = messages;
    while let Some((message, after)) = left.split_first() {
        left = after;
        if message.tool_calls.len() < 2 {
            all.push(message.clone());
            continue;
        }
        let results = after.iter().take_while(|one| one.is_result_of(&message.tool_calls)).count();
        let (results, rest) = after.split_at(results);
        left = rest;
        for (at, call) in message.tool_calls.iter().enumerate() {
            let parts = if at == 0 { message.parts.clone() } else { Vec::new() };
            all.push(Message { parts, tool_calls: vec![call.clone()], ..message.clone() });
            all.extend(results.iter().filter(|one| one.is_result_of(std::slice::from_ref(call))).cloned());
        }
    }
    all
}

/// The forms of a request that an endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Forms {
    pub(super) images: bool,
    pub(super) parallel_calls: bool,
    pub(super) tool_choice: bool,
    pub(super) stream_options: bool,
    pub(super) max_tokens: bool,
    pub(super) temperature: bool,
    pub(super) streams: bool,
}

impl Default for Forms {
    fn default() -> Self {
        Self {
            images: true,
            parallel_calls: true,
            tool_choice: true,
            stream_options: true,
            max_tokens: true,
            temperature: true,
            streams: true,
        }
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

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool, by which the model calls it.
    pub name: String,
    /// What the tool does and when to use it, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl ToolSpec {
    /// A tool: its name, its description and the JSON Schema of its arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The messages so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Maximum number of output tokens.
    pub max_tokens: Option<u32>,
    /// The sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Whether the model must call a tool. Default `None`: the model decides.
    pub tool_choice: Option<ToolChoice>,
}

/// Which tool a model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// Any one.
    Any,
    /// The tool with this name.
    Named(String),
}

impl ChatRequest {
    /// A request with these messages, without tools and with the limits of the model.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }
}

setters! { ChatRequest:
    tools(Vec<ToolSpec>),
    max_tokens(some u32),
    temperature(some f64),
    tool_choice(some ToolChoice),
}

impl ChatRequest {
    /// The body of the request; `streams`: the answer is wanted in parts.
    pub(super) fn to_value(&self, model: &str, most: Option<u32>, forms: &Forms, streams: bool) -> Value {
        let split = if forms.parallel_calls { Vec::new() } else { one_by_one(&self.messages) };
        let messages = if forms.parallel_calls { &self.messages } else { &split };
        let messages: Vec<Value> = messages.iter().map(|message| message.to_value(forms)).collect();
        let mut body = json!({ "model": model, "messages": messages });
        if streams && forms.streams {
            body["stream"] = json!(true);
            if forms.stream_options {
                body["stream_options"] = json!({ "include_usage": true });
            }
        }
        if !self.tools.is_empty() {
            let tool = |tool: &ToolSpec| {
                let function =
                    json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
                json!({ "type": "function", "function": function })
            };
            body["tools"] = self.tools.iter().map(tool).collect();
        }
        if let Some(most) = self.max_tokens.into_iter().chain(most).min() {
            body[if forms.max_tokens { "max_tokens" } else { "max_completion_tokens" }] = json!(most);
        }
        if let Some(temperature) = self.temperature.filter(|_| forms.temperature) {
            body["temperature"] = json!(temperature);
        }
        match self.tool_choice.as_ref().filter(|_| forms.tool_choice && !self.tools.is_empty()) {
            Some(ToolChoice::Any) => body["tool_choice"] = json!("required"),
            Some(ToolChoice::Named(name)) => {
                body["tool_choice"] = json!({ "type": "function", "function": { "name": name } });
            }
            None => {}
        }
        body
    }
}

/// Number of tokens of one request and its answer, as the endpoint counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input: u64,
    /// Input tokens that the endpoint had cached.
    pub cached_input: u64,
    /// Tokens of the answer, those of the reasoning included.
    pub output: u64,
    /// Tokens of the reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// The counts of an answer. Some endpoints leave out parts of it, or send null.
    pub(super) fn read(usage: &Value) -> Self {
        let count = |at: &str| usage.pointer(at).and_then(Value::as_u64);
        Self {
            input: count("/prompt_tokens").unwrap_or_default(),
            // The second name is DeepSeek's.
            cached_input: count("/prompt_tokens_details/cached_tokens")
                .or_else(|| count("/prompt_cache_hit_tokens"))
                .unwrap_or_default(),
            output: count("/completion_tokens").unwrap_or_default(),
            reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        // Counts of an endpoint may be any numbers.
        self.input = self.input.saturating_add(more.input);
        self.cached_input = self.cached_input.saturating_add(more.cached_input);
        self.output = self.output.saturating_add(more.output);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
    }
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The text of the answer; empty if the model only calls tools.
    pub text: String,
    /// The requested tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// The finish reason: `stop`, `length` or `tool_calls`.
    pub finish: String,
    /// Token counts, if the endpoint reports them.
    pub usage: Option<Usage>,
    /// The reasoning that the endpoint shows (`reasoning_content`, `reasoning`); empty without.
    pub reasoning: String,
    /// Whether the tool calls were written as text, and recovered from it.
    pub is_recovered: bool,
    /// Whether it ends with tool calls written as text that could not be recovered: one is incomplete, has another form or
    /// names no offered tool, or the answer was cut off. None was recovered; they are still in the text.
    pub unreadable_calls: bool,
}

impl Answer {
    /// Whether it neither says nor calls anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tool_calls.is_empty()
    }

    /// Gives an id to calls without one, and to calls whose id another one has: a result belongs to one call.
    pub(super) fn with_ids(mut self) -> Self {
        let mut known: Vec<String> = Vec::new();
        for call in &mut self.tool_calls {
            if call.id.is_empty() || known.contains(&call.id) {
                call.id = format!("call_{:016x}", fastrand::u64(..));
            }
            known.push(call.id.clone());
        }
        self
    }

    /// The answer as a message of the conversation.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let parts = if self.text.is_empty() { Vec::new() } else { vec![Part::Text(self.text.clone())] };
        Message { role: Role::Assistant, parts, tool_calls: self.tool_calls.clone(), tool_call_id: None }
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let body: RawAnswer = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let choice = body.choices.into_iter().next().ok_or("it contains no choice")?;
        let usage = body.usage.filter(Value::is_object).map(|usage| Usage::read(&usage));
        let message = choice.message;
        Ok(Self {
            text: message.content.map(joined).unwrap_or_default(),
            tool_calls: message.tool_calls.unwrap_or_default(),
            finish: choice.finish_reason.unwrap_or_default(),
            usage,
            reasoning: message.reasoning_content.or(message.reasoning).map(joined).unwrap_or_default(),
            is_recovered: false,
            unreadable_calls: false,
        }
        .with_ids())
    }
}

#[derive(Deserialize)]
struct RawAnswer {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: RawMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct RawMessage {
    content: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<ToolCall>>,
}

/// The content of a message: a text, or the joined texts of a list of parts.
pub(super) fn joined(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_images_are_one_text() {
        let message = Message::text(Role::User, "The picture:").with_image("image/png", vec![1]);
        let shown = message.to_value(&Forms::default());
        assert_eq!(shown["content"].as_array().map(Vec::len), Some(2));
        let without = message.to_value(&Forms { images: false, ..Forms::default() });
        assert_eq!(without["content"], format!("The picture:\n{NO_IMAGE}"));
        let mut two = Message::text(Role::System, "one");
        two.parts.push(Part::Text("two".to_owned()));
        assert_eq!(two.to_value(&Forms::default())["content"], "one\ntwo");
        assert_eq!(Message::calls([]).to_value(&Forms::default())["content"], Value::Null);
    }

    #[test]
    fn counts_of_tokens_have_a_limit() {
        let most = Usage::read(&json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX,
            "prompt_tokens_details": { "cached_tokens": u64::MAX },
            "completion_tokens_details": { "reasoning_tokens": u64::MAX } }));
        let mut sum = most;
        sum += most;
        assert_eq!(sum, most);
    }
}
