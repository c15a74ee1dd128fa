//! Tool calls that a model wrote as text instead of requesting them, recovered where they are unambiguous.
//!
//! Open models fall back to the notation of their training when a server does not parse it: JSON in `<tool_call>`
//! (Hermes, Qwen), `<function=NAME><parameter=KEY>` (Qwen-Coder), `<invoke name="NAME"><parameter name="KEY">`. Only calls
//! of offered tools are recovered.

use serde_json::{Map, Value};

use super::types::{Answer, FunctionCall, ToolCall, ToolSpec};

/// Maximum number of recovered calls of one answer.
const MOST: usize = 16;

/// Moves calls from the text, or else from the reasoning, of an answer without calls into its tool calls.
pub(super) fn recover(answer: &mut Answer, tools: &[ToolSpec]) {
    if !answer.tool_calls.is_empty() || tools.is_empty() {
        return;
    }
    if let Some((calls, rest)) = calls_in(&answer.text, tools) {
        (answer.tool_calls, answer.text) = (calls, rest);
    } else if answer.text.trim().is_empty()
        && let Some((calls, rest)) = calls_in(&answer.reasoning, tools)
    {
        (answer.tool_calls, answer.reasoning) = (calls, rest);
    } else {
        return;
    }
    answer.is_recovered = true;
}

/// The calls in a text, and the text without them; `None` if there is none, or one that cannot be read.
fn calls_in(text: &str, tools: &[ToolSpec]) -> Option<(Vec<ToolCall>, String)> {
    let (mut calls, mut rest, mut left) = (Vec::new(), String::new(), text);
    while let Some((before, notation, after)) = next_start(left) {
        let (call, behind) = notation.read(after, tools)?;
        rest.push_str(before);
        calls.push(ToolCall::new(String::new(), call));
        left = behind;
        if calls.len() >= MOST {
            break;
        }
    }
    rest.push_str(left);
    (!calls.is_empty()).then(|| (calls, rest.trim().to_owned()))
}

/// A notation of calls.
#[derive(Debug, Clone, Copy)]
enum Notation {
    /// `<tool_call>`, with JSON or another notation in it; the end tag.
    Wrapped(&'static str),
    /// `<function=NAME>` with `<parameter=KEY>`.
    Assigned,
    /// `<invoke name="NAME">` with `<parameter name="KEY">`.
    Invoked,
}

const STARTS: [(&str, Notation); 5] = [
    ("<tool_call>", Notation::Wrapped("</tool_call>")),
    ("<function_call>", Notation::Wrapped("</function_call>")),
    ("<function_calls>", Notation::Wrapped("</function_calls>")),
    ("<function=", Notation::Assigned),
    ("<invoke name=\"", Notation::Invoked),
];

/// The first call: the text before it, its notation, and the text behind its start.
fn next_start(text: &str) -> Option<(&str, Notation, &str)> {
    let found = STARTS.iter().filter_map(|(start, notation)| Some((text.find(start)?, *start, *notation)));
    let (at, start, notation) = found.min_by_key(|(at, ..)| *at)?;
    Some((text.get(..at)?, notation, text.get(at + start.len()..)?))
}

impl Notation {
    /// Reads a call behind its start. Returns it and the text behind its end.
    fn read<'t>(self, text: &'t str, tools: &[ToolSpec]) -> Option<(FunctionCall, &'t str)> {
        match self {
            Self::Wrapped(end) => {
                // Without the end tag, the call ends with the answer.
                let (inner, behind) = text.split_once(end).unwrap_or((text, ""));
                let inner = inner.trim();
                let call = match next_start(inner) {
                    Some((before, notation, after)) if before.trim().is_empty() => notation.read(after, tools)?.0,
                    _ => from_json(inner, tools)?,
                };
                Some((call, behind))
            }
            Self::Assigned => tagged(text, '>', "</function>", ("<parameter=", ">"), tools),
            Self::Invoked => {
                let (call, behind) = tagged(text, '"', "</invoke>", ("<parameter name=\"", "\">"), tools)?;
                Some((call, behind.trim_start().strip_prefix("</function_calls>").unwrap_or(behind)))
            }
        }
    }
}

fn from_json(text: &str, tools: &[ToolSpec]) -> Option<FunctionCall> {
    let bare = text.trim_start_matches("```json").trim_matches('`').trim();
    let value: Value = serde_json::from_str(bare).ok()?;
    let name = value["name"].as_str()?;
    tools.iter().find(|tool| tool.name == name)?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(value @ Value::Object(_)) => value.to_string(),
        None => "{}".to_owned(),
        Some(_) => return None,
    };
    Some(FunctionCall::new(name, arguments))
}

/// A call whose arguments are elements: name up to a character, then the parameters up to the end tag.
fn tagged<'t>(
    text: &'t str,
    name_end: char,
    end: &str,
    (start, middle): (&str, &str),
    tools: &[ToolSpec],
) -> Option<(FunctionCall, &'t str)> {
    let (name, text) = text.split_once(name_end)?;
    let name = name.trim();
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let (mut inner, behind) = text.split_once(end).unwrap_or((text, ""));
    let mut arguments = Map::new();
    while let Some((_, after)) = inner.split_once(start) {
        let (key, after) = after.split_once(middle)?;
        let (value, after) = after.split_once("</parameter>").unwrap_or((after, ""));
        let key = key.trim().to_owned();
        let value = typed(value.trim_matches('\n'), &tool.parameters["properties"][&key]);
        arguments.insert(key, value);
        inner = after;
    }
    Some((FunctionCall::new(name, Value::Object(arguments).to_string()), behind))
}

/// A value as its schema has it: a text, or JSON where the schema allows no text.
fn typed(text: &str, schema: &Value) -> Value {
    let types = schema["type"].to_string();
    if schema["type"].is_null() || types.contains("string") {
        return Value::from(text);
    }
    serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::from(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let properties = json!({ "action": { "type": "string" }, "page": { "type": ["integer", "null"] } });
        vec![ToolSpec::new("highlight", "", json!({ "type": "object", "properties": properties }))]
    }

    fn recovered(text: &str, reasoning: &str) -> Answer {
        let mut answer = Answer { text: text.to_owned(), reasoning: reasoning.to_owned(), ..Answer::default() };
        recover(&mut answer, &tools());
        answer
    }

    #[test]
    fn calls_are_recovered_from_every_notation() {
        let whole = json!({ "action": "7", "page": 2 });
        for text in [
            "<tool_call>\n{\"name\": \"highlight\", \"arguments\": {\"action\": \"7\", \"page\": 2}}\n</tool_call>",
            "<tool_call>{\"name\": \"highlight\", \"arguments\": {\"action\": \"7\", \"page\": 2}}",
            "<function_call>```json\n{\"name\": \"highlight\", \"parameters\": {\"action\": \"7\", \"page\": 2}}\n```</function_call>",
            "<tool_call>\n<function=highlight>\n<parameter=action>\n7\n</parameter>\n<parameter=page>\n2\n</parameter>\n</function>\n</tool_call>",
            "<function=highlight><parameter=action>7</parameter><parameter=page>2</parameter></function>",
            "<function_calls>\n<invoke name=\"highlight\">\n<parameter name=\"action\">7</parameter>\n<parameter name=\"page\">2</parameter>\n</invoke>\n</function_calls>",
            "<invoke name=\"highlight\"><parameter name=\"action\">7</parameter><parameter name=\"page\">2</parameter></invoke>",
        ] {
            for (answer, text_left) in [
                (recovered(text, ""), ""),
                (recovered("", text), ""),
                (recovered(&format!("I look.\n{text}"), "because"), "I look."),
            ] {
                assert!(answer.is_recovered, "{text}");
                let call = &answer.tool_calls[0].function;
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                assert_eq!((&*call.name, arguments, &*answer.text), ("highlight", whole.clone(), text_left), "{text}");
            }
        }
        let twice =
            "<tool_call>{\"name\":\"highlight\"}</tool_call> and <tool_call>{\"name\":\"highlight\"}</tool_call>";
        let answer = recovered(twice, "");
        assert_eq!((answer.tool_calls.len(), &*answer.text), (2, "and"));
    }

    #[test]
    fn other_texts_stay_texts() {
        for text in [
            "Use <tool_call> to call a tool.",
            "<tool_call>{\"name\": \"unknown\", \"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"highlight\", \"arguments\": 5}</tool_call>",
            "<invoke name=\"unknown\"></invoke>",
            "a < b",
        ] {
            let answer = recovered(text, "");
            assert_eq!((answer.tool_calls.len(), &*answer.text, answer.is_recovered), (0, text, false));
        }
        let answer = recovered("The answer.", "<tool_call>{\"name\":\"highlight\"}</tool_call>");
        assert!(!answer.is_recovered, "a thought beside an answer is not a call");
    }
}
