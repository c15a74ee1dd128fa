//! The forms of a request that an endpoint accepts, learned from its refusals.

use serde_json::{Value, json};

use super::types::Forms;

/// What an endpoint refused, recognised by its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Statuses of refused requests.
const STATUSES: [u16; 5] = [400, 404, 415, 422, 501];
/// With 500, which is else transient, llama.cpp refuses images, and servers report chat templates that fail.
const REFUSED_WITH_500: &[&str] = &[
    "image input is not supported",
    "unsupported content part type",
    "single tool-calls at once",
    "single tool calls at once",
    "one tool call at once",
];

/// Phrases of a refusal.
const REFUSING: &[&str] = &[
    "not support",
    "not supported",
    "not supporting",
    "n't support",
    "isn't supported",
    "aren't supported",
    "cannot support",
    "unsupported",
    "only supported",
    "not accept",
    "not accepted",
    "n't accept",
    "not allowed",
    "not allow",
    "n't allowed",
    "not permitted",
    "not implemented",
    "not recognized",
    "unknown parameter",
    "unknown field",
    "unknown name",
    "unknown argument",
    "unknown variant",
    "unrecognized",
    "unrecognised",
    "unexpected keyword",
    "unexpected field",
    "unexpected property",
    "unexpected parameter",
    "unexpected argument",
    "incompatible",
    "deprecated",
];

/// Phrases about one image, not about images as such.
const ABOUT_AN_IMAGE: &[&str] = &[
    "format",
    "formats",
    "mime",
    "media type",
    "media_type",
    "mime_type",
    "too large",
    "too big",
    "too small",
    "too many",
    "size",
    "bytes",
    "pixels",
    "resolution",
    "dimensions",
    "decode",
    "corrupt",
    "corrupted",
    "invalid image",
    "download",
];

/// What an endpoint refused: its reason refuses a part that this request has. Only whole words count: `upstream` is no
/// stream. In the order of the tests: `stream_options` may be named together with streams, and a template that fails for
/// several calls may also name `tool_choice`.
pub(super) fn refusal(status: u16, reason: &str, request: &Value) -> Option<Refusal> {
    let reason = Words::of(reason);
    let may_refuse = STATUSES.contains(&status) || status == 500 && reason.has(REFUSED_WITH_500);
    if !may_refuse {
        return None;
    }
    let refuses = |more: &[&str]| reason.has(REFUSING) || reason.has(more);
    let sends = |field: &str| request.get(field).is_some();
    if reason.has(&["stream_options", "stream options"]) && sends("stream_options") && refuses(&[]) {
        return Some(Refusal::StreamOptions);
    }
    let names_calls = reason.has(&[
        "parallel_tool_calls",
        "parallel tool calls",
        "parallel tool call",
        "parallel tool calling",
        "multiple tool calls",
        "multiple tool_calls",
    ]);
    let allows_one = reason.has(&[
        "single tool-call",
        "single tool-calls",
        "single tool call",
        "single tool calls",
        "one tool call",
        "one tool-call",
    ]);
    let only = ["only", "at most", "exactly", "at once", "at a time"];
    if has_parallel_calls(request) && (names_calls || allows_one) && refuses(&only) {
        return Some(Refusal::ParallelCalls);
    }
    // Not: "Tool choice is required, but model did not call a tool".
    let of_choice =
        ["requires", "invalid tool_choice", "invalid tool_choice type", "may not be enabled", "must be auto"];
    if reason.has(&["tool_choice", "tool choice"]) && sends("tool_choice") && refuses(&of_choice) {
        return Some(Refusal::ToolChoice);
    }
    if reason.has(&["max_completion_tokens", "max_tokens"])
        && sends("max_tokens")
        && refuses(&["use max_completion_tokens", "use max_completion_tokens instead"])
    {
        return Some(Refusal::MaxTokens);
    }
    if reason.has(&["temperature"]) && sends("temperature") && refuses(&["allowed for this model", "only the default"])
    {
        return Some(Refusal::Temperature);
    }
    if has_images(request) && refuses_images(&reason) {
        return Some(Refusal::Images);
    }
    let of_streams = ["must be verified to stream"];
    if reason.has(&["stream", "streams", "streaming", "streamed"])
        && request.get("stream") == Some(&json!(true))
        && refuses(&of_streams)
    {
        return Some(Refusal::Streams);
    }
    None
}

/// Whether a reason refuses images as such, or content that is a list of parts.
fn refuses_images(reason: &Words) -> bool {
    let is_text_only = reason.has(&["content"])
        && reason.has(&[
            "must be a string",
            "should be a string",
            "expected a string",
            "expected string",
            "of type string",
        ]);
    let is_refused = reason.has(&[
        "at most 0 image",
        "at most 0 images",
        "not a multimodal model",
        "not a multi-modal model",
        "not a vision model",
        "text-only model",
        "no endpoints found that support image input",
        "missing data required for image input",
    ]);
    let names_images = reason.has(&[
        "image",
        "images",
        "image_url",
        "input_image",
        "support vision",
        "vision is",
        "vision input",
        "vision inputs",
        "multimodal",
        "multi-modal",
        "multimodal input",
        "content type",
        "content part type",
    ]);
    let is_refused = is_refused || names_images && reason.has(REFUSING);
    (is_text_only || is_refused) && !reason.has(ABOUT_AN_IMAGE)
}

/// A text in lower case, with one space before and behind each word. Words contain letters, digits, `_`, `-`, `/` and
/// apostrophes, but begin and end without punctuation.
struct Words(String);

impl Words {
    fn of(text: &str) -> Self {
        let in_word = |c: char| c.is_alphanumeric() || "_-/'\u{2019}".contains(c);
        let mut words = " ".to_owned();
        for word in text.to_lowercase().split(|c: char| !in_word(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').replace('\u{2019}', "'");
            if !word.is_empty() {
                words.push_str(&word);
                words.push(' ');
            }
        }
        Self(words)
    }

    /// Whether it contains one of these phrases, as whole words. `n't` is the end of a word.
    fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| {
            let begin = if phrase.starts_with("n't") { "" } else { " " };
            self.0.contains(&format!("{begin}{phrase} "))
        })
    }
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

    /// A request with every part that can be refused.
    fn request() -> Value {
        let image = json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:" } }] });
        let calls = json!({ "role": "assistant", "tool_calls": [{}, {}] });
        json!({ "messages": [image, calls], "stream": true, "stream_options": {}, "tool_choice": "required",
            "max_tokens": 5, "temperature": 0 })
    }

    #[test]
    fn refusals_of_real_servers_are_recognised() {
        for (status, reason, expected) in [
            // Azure, vLLM, Mistral, Gemini-compatible
            (400, "Unrecognized request argument supplied: stream_options. Please contact us", Refusal::StreamOptions),
            (400, "Validation error at #/stream_options: Extra inputs are not permitted", Refusal::StreamOptions),
            (
                400,
                "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {}}]",
                Refusal::StreamOptions,
            ),
            (
                422,
                "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\",\"include_usage\"],\"msg\":\"Extra inputs are not permitted\"}]}",
                Refusal::StreamOptions,
            ),
            (
                400,
                "Invalid JSON payload received. Unknown name \"stream_options\": Cannot find field.",
                Refusal::StreamOptions,
            ),
            (400, "unknown field stream_options", Refusal::StreamOptions),
            // OpenAI, and servers of models that answer as a whole
            (400, "Streaming is not supported for this model", Refusal::Streams),
            (400, "Unsupported value: 'stream' does not support true with this model.", Refusal::Streams),
            (400, "Your organization must be verified to stream this model.", Refusal::Streams),
            (501, "stream: not implemented", Refusal::Streams),
            // vLLM, LM Studio, DeepSeek, Anthropic-compatible, DashScope, llama.cpp
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                Refusal::ToolChoice,
            ),
            (
                400,
                "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
                Refusal::ToolChoice,
            ),
            (400, "deepseek-reasoner does not support this tool_choice", Refusal::ToolChoice),
            (400, "Thinking may not be enabled when tool_choice forces tool use.", Refusal::ToolChoice),
            (
                400,
                "The tool_choice parameter does not support being set to required or object in thinking mode",
                Refusal::ToolChoice,
            ),
            (400, "tool_choice 'specified' is incompatible with thinking enabled", Refusal::ToolChoice),
            (400, "tool_choice is not supported", Refusal::ToolChoice),
            // Templates of Llama models
            (400, "This model only supports single tool-calls at once!", Refusal::ParallelCalls),
            (500, "This model only supports single tool-calls at once!", Refusal::ParallelCalls),
            (400, "parallel_tool_calls is not supported by this model", Refusal::ParallelCalls),
            // OpenAI, Azure
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Refusal::MaxTokens,
            ),
            (
                400,
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                Refusal::Temperature,
            ),
            // Moonshot, Anthropic-compatible
            (400, "invalid temperature: only 1 is allowed for this model", Refusal::Temperature),
            (400, "`temperature` is deprecated for this model.", Refusal::Temperature),
            // OpenRouter, OpenAI, LM Studio, vLLM, Ollama, llama.cpp, Groq, DeepSeek
            (404, "No endpoints found that support image input", Refusal::Images),
            (400, "Invalid content type. image_url is only supported by certain models.", Refusal::Images),
            (400, "This model does not support image input", Refusal::Images),
            (400, "Model does not support images. Please use a model that does.", Refusal::Images),
            (400, "At most 0 image(s) may be provided in one request.", Refusal::Images),
            (400, "qwen3-8b is not a multimodal model", Refusal::Images),
            (
                400,
                "json: cannot unmarshal array into Go struct field Message.messages.content of type string",
                Refusal::Images,
            ),
            (
                500,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
                Refusal::Images,
            ),
            (500, "image input is not supported by this server", Refusal::Images),
            (
                500,
                "Failed to parse messages: Unsupported content part type: \"image_url\"; messages = [",
                Refusal::Images,
            ),
            (
                400,
                "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
                Refusal::Images,
            ),
            (400, "messages[0].content must be a string", Refusal::Images),
            (
                400,
                "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
                Refusal::Images,
            ),
        ] {
            assert_eq!(refusal(status, reason, &request()), Some(expected), "{reason}");
            assert_eq!(refusal(status, reason, &json!({ "messages": [] })), None, "{reason}: it has no such part");
            assert_eq!(refusal(401, reason, &request()), None);
            assert_eq!(refusal(503, reason, &request()), None);
        }
    }

    #[test]
    fn other_errors_are_no_refusals() {
        for (status, reason) in [
            (400, "upstream error"),
            (500, "upstream error: the stream is not supported"),
            (502, "streaming is not supported"),
            (400, "upstream provider does not support this region"),
            (400, "unexpected end of stream"),
            (400, "stream error: connection reset"),
            (400, "the stream of tokens is too long: 5 > 4"),
            (404, "the deployment is not provisioned; supported: none"),
            (400, "unsupported revision 5"),
            (400, "unsupported model llama-3.2-vision"),
            (400, "image too large: images of more than 5 MB are not supported"),
            (413, "images are not supported"),
            (400, "invalid image data"),
            (400, "Unsupported image format: use png or jpeg"),
            (
                400,
                "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png'].",
            ),
            (400, "Invalid MIME type. Only image types are supported."),
            (400, "At most 4 image(s) may be provided in one request."),
            (500, "image input could not be processed, try again"),
            (500, "temperature is not supported"),
            (400, "Tool choice is required, but model did not call a tool"),
            (400, "max_tokens is too large: 99999; this model has at most 4096 completion tokens"),
            (400, "temperature must be non-negative, got -1.0"),
            (400, "This model's maximum context length is 8192 tokens"),
            (400, "one tool call has invalid arguments"),
        ] {
            assert_eq!(refusal(status, reason, &request()), None, "{status} {reason}");
        }
    }
}
