//! Streamed answers: Server-Sent Events, and the parts of an answer that they bring.

use serde::Deserialize;
use serde_json::Value;

use super::types::{Answer, FunctionCall, ToolCall, Usage, joined};

/// A part of an answer that has just arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
}

/// Why a stream cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// The endpoint reports an error in the stream.
    Reported(String),
    /// It is not a stream of an answer.
    Malformed(String),
}

/// Puts the events of a stream together.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The lines of `data` of the current event.
    data: String,
    answer: Answer,
    calls: Vec<PartialCall>,
    is_done: bool,
    has_chunk: bool,
}

/// A tool call of which parts have arrived.
#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl PartialCall {
    /// Whether a part with a name belongs to another call, since this one is complete.
    fn ends_before(&self, name: &str) -> bool {
        let is_complete = || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok();
        !self.name.is_empty() && (is_complete() || self.arguments.is_empty() && self.name != name)
    }
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta {
    content: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

impl Assembly {
    /// Reads a line without its end. Returns the parts of the answer that it brings.
    pub(super) fn line(&mut self, line: &str) -> Result<Vec<Piece>, Broken> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            return self.event();
        }
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        // Comments, names and ids of events carry nothing.
        Ok(Vec::new())
    }

    /// Whether the last event of the stream has been read.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the answer is complete: only token counts may be missing.
    pub(super) fn is_whole(&self) -> bool {
        self.is_done || !self.answer.finish.is_empty()
    }

    /// The answer, after the last line.
    pub(super) fn finish(mut self) -> Result<Answer, Broken> {
        self.event()?;
        if !self.is_whole() {
            let problem = if self.has_chunk { "the stream ended before the answer did" } else { "the stream is empty" };
            return Err(Broken::Malformed(problem.to_owned()));
        }
        self.answer.tool_calls = self
            .calls
            .into_iter()
            .map(|call| ToolCall::new(call.id, FunctionCall::new(call.name, call.arguments)))
            .collect();
        Ok(self.answer)
    }

    fn event(&mut self) -> Result<Vec<Piece>, Broken> {
        let data = std::mem::take(&mut self.data);
        let data = data.trim();
        if data.is_empty() {
            return Ok(Vec::new());
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(Vec::new());
        }
        let chunk: Chunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            // The stream was cut behind the end of the answer.
            Err(_) if self.is_whole() => return Ok(Vec::new()),
            Err(problem) => return Err(Broken::Malformed(problem.to_string())),
        };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let message = error.get("message").unwrap_or(&error);
            return Err(Broken::Reported(message.as_str().map_or_else(|| message.to_string(), str::to_owned)));
        }
        self.has_chunk = true;
        if let Some(usage) = chunk.usage.filter(Value::is_object) {
            self.answer.usage = Some(Usage::read(&usage));
        }
        let mut pieces = Vec::new();
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(pieces) };
        if let Some(finish) = choice.finish_reason.filter(|finish| !finish.is_empty()) {
            self.answer.finish = finish;
        }
        let delta = choice.delta.unwrap_or_default();
        let reasoning = delta.reasoning_content.or(delta.reasoning).map(joined).unwrap_or_default();
        if !reasoning.is_empty() {
            self.answer.reasoning.push_str(&reasoning);
            pieces.push(Piece::Reasoning(reasoning));
        }
        let text = delta.content.map(joined).unwrap_or_default();
        if !text.is_empty() {
            self.answer.text.push_str(&text);
            pieces.push(Piece::Text(text));
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call(call);
        }
        Ok(pieces)
    }

    /// Adds a part of a tool call. Parts of one call have the same index. Some endpoints number all calls 0, or none, and
    /// send each as a whole: there another id begins another call, and so does a name behind a call that is complete.
    /// Some count the parts: a part with neither id nor name under a new index continues the call before it.
    fn call(&mut self, part: CallDelta) {
        let id = part.id.filter(|id| !id.is_empty());
        let name = part.function.as_ref().and_then(|function| function.name.as_deref()).filter(|name| !name.is_empty());
        let is_same = |call: &PartialCall| {
            (part.index.is_none() || call.index == part.index)
                && id.as_ref().is_none_or(|id| call.id.is_empty() || call.id == *id)
        };
        let has_same_id = |call: &PartialCall| id.as_ref().is_some_and(|id| call.id == *id);
        let at = self.calls.iter().rposition(is_same);
        let at = at.filter(|at| {
            self.calls
                .get(*at)
                .is_some_and(|call| has_same_id(call) || !name.is_some_and(|name| call.ends_before(name)))
        });
        let continues = || (id.is_none() && name.is_none()).then(|| self.calls.len().checked_sub(1)).flatten();
        let index = at.or_else(continues).unwrap_or_else(|| {
            self.calls.push(PartialCall { index: part.index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(index) else { return };
        if let Some(id) = id {
            call.id = id;
        }
        let Some(function) = part.function else { return };
        if let Some(name) = function.name.filter(|name| !name.is_empty() && call.name.is_empty()) {
            call.name = name;
        }
        match function.arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            None | Some(Value::Null) => {}
            Some(parsed) => call.arguments.push_str(&parsed.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(lines: &[&str]) -> (Result<Answer, Broken>, Vec<Piece>) {
        let (mut assembly, mut pieces) = (Assembly::default(), Vec::new());
        for line in lines {
            match assembly.line(line) {
                Ok(new) => pieces.extend(new),
                Err(broken) => return (Err(broken), pieces),
            }
        }
        (assembly.finish(), pieces)
    }

    #[test]
    fn texts_and_calls_are_put_together() {
        let (answer, pieces) = assembled(&[
            ": keep-alive",
            "event: message",
            r#"data: {"choices":[{"delta":{"role":"assistant","content":"","reasoning_content":"Hm"}}]}"#,
            "",
            r#"data: {"choices":[{"delta":{"content":"Let me "}}]}"#,
            "",
            r#"data: {"choices":[{"delta":{"content":"look."}}]}"#,
            "",
            r#"data:{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":""}}]}}]}"#,
            "",
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"at\""}},{"index":1,"id":"b","function":{"name":"tap","arguments":{"x":1}}}]}}]}"#,
            "",
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}"#,
            "",
            r#"data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}}"#,
            "",
            "data: [DONE]",
        ]);
        let answer = answer.unwrap();
        assert_eq!((&*answer.text, &*answer.reasoning, &*answer.finish), ("Let me look.", "Hm", "tool_calls"));
        let calls: Vec<_> =
            answer.tool_calls.iter().map(|call| (&*call.id, &*call.function.name, &*call.function.arguments)).collect();
        assert_eq!(calls, [("a", "look", "{\"at\":1}"), ("b", "tap", "{\"x\":1}")]);
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.cached_input, usage.output, usage.reasoning), (7, 2, 3, 1));
        assert_eq!(pieces, [Piece::Reasoning("Hm".into()), Piece::Text("Let me ".into()), Piece::Text("look.".into())]);
    }

    #[test]
    fn calls_with_the_same_index_but_other_ids_are_different_calls() {
        let (answer, _) = assembled(&[
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}}]}"#,
            "",
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"two","arguments":"{}"}}]},"finish_reason":"stop"}]}"#,
            "",
        ]);
        let names: Vec<String> = answer.unwrap().tool_calls.into_iter().map(|call| call.function.name).collect();
        assert_eq!(names, ["one", "two"]);
    }

    #[test]
    fn calls_without_usable_index_and_id_are_told_apart_by_their_names() {
        let events = |parts: &[serde_json::Value]| {
            let chunk = |part: &serde_json::Value| {
                format!("data: {}", serde_json::json!({ "choices": [{ "delta": { "tool_calls": [part] } }] }))
            };
            let end = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
            let mut lines: Vec<String> = parts.iter().flat_map(|part| [chunk(part), String::new()]).collect();
            lines.push(end.to_owned());
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let calls = assembled(&lines).0.unwrap().tool_calls;
            calls.into_iter().map(|call| (call.function.name, call.function.arguments)).collect::<Vec<_>>()
        };
        let whole = |name: &str, arguments: &str| serde_json::json!({ "name": name, "arguments": arguments });
        let two = [("look".to_owned(), "{\"at\":1}".to_owned()), ("look".to_owned(), "{\"at\":2}".to_owned())];
        let (one, other) = (whole("look", "{\"at\":1}"), whole("look", "{\"at\":2}"));
        for (first, second) in [
            (serde_json::json!({ "index": 0, "id": "" }), serde_json::json!({ "index": 0, "id": "" })),
            (serde_json::json!({ "index": 0 }), serde_json::json!({ "index": 0 })),
            (serde_json::json!({}), serde_json::json!({})),
            (serde_json::json!({ "id": "" }), serde_json::json!({ "id": null })),
            (serde_json::json!({ "id": "a" }), serde_json::json!({ "id": "b" })),
            (serde_json::json!({ "id": "a", "index": 0 }), serde_json::json!({ "index": 0 })),
        ] {
            let with = |mut part: serde_json::Value, function: &serde_json::Value| {
                part["function"] = function.clone();
                part
            };
            assert_eq!(events(&[with(first.clone(), &one), with(second, &other)]), two, "{first}");
        }
        let function = |function: serde_json::Value| serde_json::json!({ "index": 0, "function": function });
        let split = [
            function(whole("look", "")),
            function(serde_json::json!({ "arguments": "{\"at\"" })),
            function(whole("look", ":1}")),
            function(whole("look", "{\"at\":2")),
            function(serde_json::json!({ "name": "", "arguments": "}" })),
        ];
        assert_eq!(events(&split), two, "a name that is repeated in the middle of a call");
        let same = serde_json::json!({ "index": 0, "id": "a", "function": whole("look", "{}") });
        let empty = serde_json::json!({ "index": 0, "id": "a", "function": whole("look", "") });
        assert_eq!(events(&[same, empty]).len(), 1, "the same id is the same call");
        let names: Vec<_> = events(&[function(whole("one", "")), function(whole("two", ""))]);
        assert_eq!(names.len(), 2, "calls without arguments");
    }

    #[test]
    fn arguments_under_another_index_belong_to_the_call_before_them() {
        let event = |calls: serde_json::Value| {
            format!("data: {}", serde_json::json!({ "choices": [{ "delta": { "tool_calls": calls } }] }))
        };
        let named = |index: u64, id: &str| serde_json::json!({ "index": index, "id": id, "function": { "name": id, "arguments": "" } });
        let part = |index: u64, text: &str| serde_json::json!({ "index": index, "function": { "arguments": text } });
        let end = r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned();
        let counted = [
            event(serde_json::json!([named(0, "a")])),
            event(serde_json::json!([part(1, "{\"x\"")])),
            event(serde_json::json!([part(2, ":1}")])),
            event(serde_json::json!([named(3, "b"), part(4, "{}")])),
            end,
        ];
        let lines: Vec<&str> = counted.iter().flat_map(|line| [line.as_str(), ""]).collect();
        let calls = assembled(&lines).0.unwrap().tool_calls;
        let calls: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.function.arguments)).collect();
        assert_eq!(calls, [("a", "{\"x\":1}"), ("b", "{}")]);
    }

    #[test]
    fn an_answer_is_whole_with_its_finish_reason() {
        let finished = r#"data: {"choices":[{"delta":{"content":"whole"},"finish_reason":"stop"}]}"#;
        for behind in [&["", "data: {\"choices\": [], \"usa"][..], &["", "data: {", ""], &[""]] {
            let lines: Vec<&str> = [finished].into_iter().chain(behind.iter().copied()).collect();
            assert_eq!(assembled(&lines).0.unwrap().text, "whole", "{behind:?}");
        }
        let reported = r#"data: {"error":{"message":"overloaded"}}"#;
        assert_eq!(assembled(&[finished, "", reported, ""]).0, Err(Broken::Reported("overloaded".into())));
    }

    #[test]
    fn what_is_cut_or_reported_is_an_error() {
        let half = r#"data: {"choices":[{"delta":{"content":"half"}}]}"#;
        assert_eq!(assembled(&[half, ""]).0, Err(Broken::Malformed("the stream ended before the answer did".into())));
        assert_eq!(assembled(&[]).0, Err(Broken::Malformed("the stream is empty".into())));
        let reported = r#"data: {"error":{"message":"overloaded","code":503}}"#;
        assert_eq!(assembled(&[half, "", reported, ""]).0, Err(Broken::Reported("overloaded".into())));
        assert!(matches!(assembled(&["data: {\"choices\":", ""]).0, Err(Broken::Malformed(_))));
        let finished = r#"data: {"choices":[{"delta":{"content":"whole"},"finish_reason":"stop"}]}"#;
        assert_eq!(assembled(&[finished]).0.unwrap().text, "whole", "without an empty line and [DONE]");
    }
}
