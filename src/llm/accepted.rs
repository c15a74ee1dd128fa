//! The forms of a request that an endpoint accepts, learned from its refusals.

use serde_json::{Value, json};

use super::types::Forms;

/// What an endpoint refused, recognised by its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Images in messages.
    Images,
    /// Several tool calls in one message.
    ParallelCalls,
    /// `tool_choice`.
    ToolChoice,
    /// `stream_options`; the endpoint does not count tokens of streams then.
    StreamOptions,
    /// `max_tokens`, in favour of `max_completion_tokens`.
    MaxTokens,
    /// `temperature`.
    Temperature,
    /// Streams.
    Streams,
}

impl Refusal {
    /// What is done from now on, as a sentence for people.
    #[must_use]
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Images => "the endpoint does not accept images; pictures are left out",
            Self::ParallelCalls => {
                "the endpoint does not accept several tool calls in one message; they are sent one by one"
            }
            Self::ToolChoice => "the endpoint does not accept tool_choice; it is left out",
            Self::StreamOptions => "the endpoint does not accept stream_options; it may not report token counts",
            Self::MaxTokens => "the endpoint does not accept max_tokens; max_completion_tokens is sent instead",
            Self::Temperature => "the endpoint does not accept a temperature; it is left out",
            Self::Streams => "the endpoint does not stream; answers arrive as a whole",
        }
    }
}

/// Statuses of refused requests; 500 is what some servers answer when a chat template fails.
const STATUSES: [u16; 7] = [400, 404, 413, 415, 422, 500, 501];

/// What an endpoint refused: its reason names a part that this request has. In the order of the tests: `stream_options`
/// contains the word of streams, and a template that fails for several calls may also name `tool_choice`.
pub(super) fn refusal(status: u16, reason: &str, request: &Value) -> Option<Refusal> {
    if !STATUSES.contains(&status) {
        return None;
    }
    let reason = reason.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    let sends = |field: &str| request.get(field).is_some();
    if names(&["stream_options"]) && sends("stream_options") {
        return Some(Refusal::StreamOptions);
    }
    if names(&["parallel_tool_calls", "parallel tool", "single tool", "multiple tool calls", "one tool call"])
        && has_parallel_calls(request)
    {
        return Some(Refusal::ParallelCalls);
    }
    if names(&["tool_choice", "tool choice"]) && sends("tool_choice") {
        return Some(Refusal::ToolChoice);
    }
    if names(&["max_completion_tokens", "max_tokens"])
        && sends("max_tokens")
        && names(&["support", "use ", "unknown", "unrecognized"])
    {
        return Some(Refusal::MaxTokens);
    }
    if names(&["temperature"]) && sends("temperature") {
        return Some(Refusal::Temperature);
    }
    if names(&["image", "vision", "multimodal", "multi-modal", "content must be a string", "content type"])
        && has_images(request)
    {
        return Some(Refusal::Images);
    }
    if names(&["stream"]) && request.get("stream") == Some(&json!(true)) {
        return Some(Refusal::Streams);
    }
    None
}

fn messages(request: &Value) -> impl Iterator<Item = &Value> {
    request["messages"].as_array().into_iter().flatten()
}

fn has_parallel_calls(request: &Value) -> bool {
    messages(request).any(|message| message["tool_calls"].as_array().is_some_and(|calls| calls.len() > 1))
}

fn has_images(request: &Value) -> bool {
    messages(request).any(|message| {
        message["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "image_url"))
    })
}

impl Forms {
    /// Leaves out what was refused.
    pub(super) fn without(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Images => self.images = false,
            Refusal::ParallelCalls => self.parallel_calls = false,
            Refusal::ToolChoice => self.tool_choice = false,
            Refusal::StreamOptions => self.stream_options = false,
            Refusal::MaxTokens => self.max_tokens = false,
            Refusal::Temperature => self.temperature = false,
            Refusal::Streams => self.streams = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_recognised_only_by_parts_of_the_request() {
        let image = json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:" } }] });
        let calls = json!({ "role": "assistant", "tool_calls": [{}, {}] });
        let with = |extra: Value| {
            let mut body = json!({ "messages": [] });
            if let (Value::Object(body), Value::Object(extra)) = (&mut body, extra) {
                body.extend(extra);
            }
            body
        };
        for (status, reason, part, expected) in [
            (
                400,
                "Unrecognized request argument: stream_options",
                json!({ "stream_options": {}, "stream": true }),
                Refusal::StreamOptions,
            ),
            (400, "Streaming is not supported for this model", json!({ "stream": true }), Refusal::Streams),
            (
                422,
                "\"auto\" tool choice requires --enable-auto-tool-choice",
                json!({ "tool_choice": "required" }),
                Refusal::ToolChoice,
            ),
            (
                500,
                "This model only supports single tool-calls at once!",
                json!({ "messages": [calls] }),
                Refusal::ParallelCalls,
            ),
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                json!({ "max_tokens": 5 }),
                Refusal::MaxTokens,
            ),
            (
                400,
                "Unsupported value: 'temperature' does not support 0",
                json!({ "temperature": 0 }),
                Refusal::Temperature,
            ),
            (404, "No endpoints found that support image input", json!({ "messages": [image] }), Refusal::Images),
        ] {
            assert_eq!(refusal(status, reason, &with(part)), Some(expected), "{reason}");
            assert_eq!(refusal(status, reason, &with(json!({}))), None, "{reason}: the request has no such part");
            assert_eq!(refusal(401, reason, &with(json!({ "stream": true }))), None);
        }
        assert_eq!(refusal(400, "the stream of tokens is too long: 5 > 4", &with(json!({}))), None);
        let too_long = "max_tokens is too large: 99999; this model has at most 4096 completion tokens";
        assert_eq!(refusal(400, too_long, &with(json!({ "max_tokens": 99_999 }))), None);
    }
}
