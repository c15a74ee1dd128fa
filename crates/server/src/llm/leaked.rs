//! Tool calls that a model wrote as text instead of requesting them, recovered where they are unambiguous.
//!
//! Open models fall back to the notation of their training when a server does not parse it: JSON in `<tool_call>`
//! (Hermes, Qwen), `<function=NAME><parameter=KEY>` (Qwen-Coder), `<invoke name="NAME"><parameter name="KEY">`.
//!
//! A text may also quote such a notation: documentation, the content of a page, an example. Therefore calls are only
//! recovered at the end of a text: they begin a line outside of code fences, and nothing but further calls follows. They
//! must be whole, with their end tags, and name an offered tool; if one cannot be read, none is recovered.

use serde_json::{Map, Value};

use super::types::{Answer, FunctionCall, ToolCall, ToolSpec};

/// Maximum number of recovered calls of one answer; with more, none is recovered.
const MOST: usize = 16;
/// Maximum number of places of a text where calls are looked for.
const MOST_PLACES: usize = 64;
/// Maximum indentation of the first call, in spaces; more is a code block in Markdown.
const MOST_INDENT: usize = 3;
/// Finish reasons of answers that were cut off.
const CUT_OFF: [&str; 2] = ["length", "max_tokens"];

/// Moves calls from the text, or else from the reasoning, of an answer without calls into its tool calls. Reports calls
/// that cannot be read in [`Answer::unreadable_calls`].
pub(super) fn recover(answer: &mut Answer, tools: &[ToolSpec]) {
    if !answer.tool_calls.is_empty() || tools.is_empty() {
        return;
    }
    let is_cut_off = CUT_OFF.iter().any(|finish| answer.finish.eq_ignore_ascii_case(finish));
    let is_silent = answer.text.trim().is_empty();
    let text = if is_silent { &mut answer.reasoning } else { &mut answer.text };
    match at_end(text, tools) {
        Ending::Text => {}
        Ending::Calls { at, calls } if !is_cut_off && calls.len() <= MOST => {
            text.truncate(at);
            *text = text.trim().to_owned();
            answer.tool_calls = calls.into_iter().map(|call| ToolCall::new(String::new(), call)).collect();
            answer.is_recovered = true;
        }
        Ending::Calls { .. } | Ending::Unreadable => answer.unreadable_calls = true,
    }
}

/// What a text ends with.
#[derive(Debug)]
enum Ending {
    /// No calls.
    Text,
    /// Calls, which begin at this byte.
    Calls { at: usize, calls: Vec<FunctionCall> },
    /// Calls, of which at least one cannot be read.
    Unreadable,
}

fn at_end(text: &str, tools: &[ToolSpec]) -> Ending {
    let (mut fence, mut from, mut places) = (None, 0, 0);
    while let Some(line) = text.get(from..).filter(|rest| !rest.is_empty()) {
        let end = line.find('\n').map_or(text.len(), |length| from + length + 1);
        let inner = line.trim_start_matches(' ');
        let at = from + line.len() - inner.len();
        from = end;
        if is_fence(inner, &mut fence) || fence.is_some() || line.len() - inner.len() > MOST_INDENT {
            continue;
        }
        if Notation::at(inner).is_none() {
            continue;
        }
        places += 1;
        if places > MOST_PLACES {
            break;
        }
        let Run { calls, is_unreadable, rest } = run(inner, tools);
        if !rest.trim().is_empty() {
            // A quotation: text follows. The rest of its last line cannot begin with a call.
            let behind = text.len() - rest.len();
            from = text.get(behind..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| behind + length + 1);
        } else if is_unreadable {
            return Ending::Unreadable;
        } else if calls.is_empty() {
            return Ending::Text;
        } else {
            return Ending::Calls { at, calls };
        }
    }
    Ending::Text
}

/// Whether a line begins or ends a code fence; keeps the open one.
fn is_fence<'t>(line: &'t str, open: &mut Option<&'t str>) -> bool {
    let line = line.split('\n').next().unwrap_or_default().trim();
    let mark = |mark: char| line.len() - line.trim_start_matches(mark).len();
    let length = mark('`').max(mark('~'));
    match *open {
        Some(begin) => {
            let ends = length >= begin.len() && line.len() == length && line.starts_with(&begin[..1]);
            if ends {
                *open = None;
            }
            ends
        }
        // Behind backticks, the line has no others: else it is code within a line.
        None if length >= 3 && !(line.starts_with('`') && line[length..].contains('`')) => {
            *open = Some(&line[..length]);
            true
        }
        None => false,
    }
}

/// Calls that follow each other with nothing but white space between them.
struct Run<'t> {
    calls: Vec<FunctionCall>,
    /// Whether one of them could not be read.
    is_unreadable: bool,
    /// The text behind the last one.
    rest: &'t str,
}

fn run<'t>(text: &'t str, tools: &[ToolSpec]) -> Run<'t> {
    let mut run = Run { calls: Vec::new(), is_unreadable: false, rest: text };
    loop {
        let next = run.rest.trim_start();
        if let Some(rest) = WRAPPERS.iter().find_map(|wrapper| next.strip_prefix(wrapper.end)) {
            // Some models leave out the start tag of the wrapper.
            run.rest = rest;
            continue;
        }
        let Some((notation, inner)) = Notation::at(next) else { return run };
        if let Some((calls, rest)) = notation.read(inner, tools) {
            run.calls.extend(calls);
            run.rest = rest;
            continue;
        }
        match notation.skip(inner) {
            Some(rest) => (run.is_unreadable, run.rest) = (true, rest),
            None => {
                run.rest = inner;
                return run;
            }
        }
    }
}

/// Tags around calls.
#[derive(Debug, Clone, Copy)]
struct Wrapper {
    start: &'static str,
    end: &'static str,
}

const WRAPPERS: [Wrapper; 3] = [
    Wrapper { start: "<tool_call>", end: "</tool_call>" },
    Wrapper { start: "<function_call>", end: "</function_call>" },
    Wrapper { start: "<function_calls>", end: "</function_calls>" },
];

/// Tags of a call whose arguments are elements. A name ends at `name_end`, and its tag at `>`.
#[derive(Debug, Clone, Copy)]
struct Tags {
    start: &'static str,
    end: &'static str,
    parameter: &'static str,
    name_end: char,
}

const TAGS: [Tags; 2] = [
    Tags { start: "<function=", end: "</function>", parameter: "<parameter=", name_end: '>' },
    Tags { start: "<invoke name=\"", end: "</invoke>", parameter: "<parameter name=\"", name_end: '"' },
];
const PARAMETER_END: &str = "</parameter>";

/// A notation of calls.
#[derive(Debug, Clone, Copy)]
enum Notation {
    /// Calls as JSON or in other notations, between tags.
    Wrapped(Wrapper),
    /// A call whose arguments are elements.
    Tagged(Tags),
}

impl Notation {
    /// The notation that a text begins with, and the text behind its start.
    fn at(text: &str) -> Option<(Self, &str)> {
        let wrapped = WRAPPERS.iter().find_map(|w| Some((Self::Wrapped(*w), text.strip_prefix(w.start)?)));
        wrapped.or_else(|| TAGS.iter().find_map(|tags| Some((Self::Tagged(*tags), text.strip_prefix(tags.start)?))))
    }

    /// Reads the calls behind the start. Returns them and the text behind their end; `None` if one cannot be read.
    fn read<'t>(self, text: &'t str, tools: &[ToolSpec]) -> Option<(Vec<FunctionCall>, &'t str)> {
        match self {
            Self::Tagged(tags) => {
                let (call, rest, is_ended) = tags.read(text, tools)?;
                is_ended.then(|| (vec![call], rest))
            }
            Self::Wrapped(wrapper) => wrapper.read(text, tools),
        }
    }

    /// The text behind a call that cannot be read; `None` if what follows the start looks like no call.
    fn skip(self, text: &str) -> Option<&str> {
        let (end, tags) = match self {
            Self::Wrapped(wrapper) => (wrapper.end, None),
            Self::Tagged(tags) => (tags.end, Some(tags)),
        };
        if let Some((_, rest)) = text.split_once(end) {
            return Some(rest);
        }
        // Without an end it is a call that was cut off, if it has begun as one.
        let is_begun = match tags {
            None => {
                let inner = text.trim_start();
                inner.is_empty() || inner.starts_with(['{', '[', '<', '`'])
            }
            Some(tags) => match text.split_once('>') {
                None => !text.contains(char::is_whitespace),
                Some((_, inner)) => inner.trim().is_empty() || inner.trim_start().starts_with(tags.parameter),
            },
        };
        is_begun.then_some("")
    }
}

impl Wrapper {
    /// The calls up to the end tag, or up to the end of the text if the last call has an end tag of its own.
    fn read<'t>(self, text: &'t str, tools: &[ToolSpec]) -> Option<(Vec<FunctionCall>, &'t str)> {
        let (mut calls, mut rest, mut is_ended) = (Vec::new(), text, false);
        loop {
            let next = rest.trim_start();
            if let Some(behind) = next.strip_prefix(self.end) {
                return (!calls.is_empty()).then_some((calls, behind));
            }
            if next.is_empty() {
                return (is_ended && !calls.is_empty()).then_some((calls, next));
            }
            if calls.len() > MOST {
                return None;
            }
            match Notation::at(next) {
                Some((Notation::Tagged(tags), inner)) => {
                    let (call, behind, has_end) = tags.read(inner, tools)?;
                    // Without its own end tag, that of the wrapper follows.
                    if !has_end && !behind.trim_start().starts_with(self.end) {
                        return None;
                    }
                    calls.push(call);
                    (rest, is_ended) = (behind, has_end);
                }
                // Some models leave out the end tag of the wrapper.
                Some((Notation::Wrapped(_), _)) if is_ended => return Some((calls, next)),
                Some((Notation::Wrapped(_), _)) => return None,
                None if is_ended && !next.starts_with(['{', '[', '`']) => return Some((calls, next)),
                None => {
                    let behind = from_json(next, tools, &mut calls)?;
                    (rest, is_ended) = (behind, false);
                }
            }
        }
    }
}

/// Reads a call or a list of calls as JSON, also in a code fence. Returns the text behind it.
fn from_json<'t>(text: &'t str, tools: &[ToolSpec], calls: &mut Vec<FunctionCall>) -> Option<&'t str> {
    let bare = text.trim_start_matches('`');
    let is_fenced = bare.len() < text.len();
    let bare = if is_fenced { bare.strip_prefix("json").unwrap_or(bare) } else { bare };
    let mut values = serde_json::Deserializer::from_str(bare).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = bare.get(values.byte_offset()..)?;
    let rest = if is_fenced { rest.trim_start().trim_start_matches('`') } else { rest };
    match value {
        Value::Array(items) if !items.is_empty() => {
            for item in &items {
                calls.push(described(item, tools)?);
            }
        }
        value => calls.push(described(&value, tools)?),
    }
    Some(rest)
}

/// A call from an object with its name and arguments.
fn described(value: &Value, tools: &[ToolSpec]) -> Option<FunctionCall> {
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

impl Tags {
    /// Reads a call behind its start: the name, and parameters up to what is none. Returns the call, the text behind it, and
    /// whether it has an end tag.
    fn read<'t>(self, text: &'t str, tools: &[ToolSpec]) -> Option<(FunctionCall, &'t str, bool)> {
        let (name, mut rest) = self.named(text)?;
        let tool = tools.iter().find(|tool| tool.name == name)?;
        let mut arguments = Map::new();
        while let Some(inner) = rest.trim_start().strip_prefix(self.parameter) {
            let (key, inner) = self.named(inner)?;
            let (value, behind) = inner.split_once(PARAMETER_END)?;
            let value = value.strip_prefix('\n').unwrap_or(value);
            let value = value.strip_suffix('\n').unwrap_or(value);
            arguments.insert(key.to_owned(), typed(value, &tool.parameters["properties"][key]));
            rest = behind;
        }
        let call = FunctionCall::new(name, Value::Object(arguments).to_string());
        let rest = rest.trim_start();
        Some(match rest.strip_prefix(self.end) {
            Some(behind) => (call, behind, true),
            None => (call, rest, false),
        })
    }

    /// A name, and the text behind its tag.
    fn named(self, text: &str) -> Option<(&str, &str)> {
        let (name, rest) = text.split_once(self.name_end)?;
        let rest = if self.name_end == '>' { rest } else { rest.split_once('>')?.1 };
        Some((name.trim(), rest))
    }
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

    const WHOLE: &str = "<tool_call>{\"name\": \"highlight\", \"arguments\": {\"action\": \"7\"}}</tool_call>";

    fn tools() -> Vec<ToolSpec> {
        let properties = json!({ "action": { "type": "string" }, "page": { "type": ["integer", "null"] } });
        vec![ToolSpec::new("highlight", "", json!({ "type": "object", "properties": properties }))]
    }

    fn ended(text: &str, reasoning: &str, finish: &str) -> Answer {
        let mut answer = Answer {
            text: text.to_owned(),
            reasoning: reasoning.to_owned(),
            finish: finish.to_owned(),
            ..Answer::default()
        };
        recover(&mut answer, &tools());
        answer
    }

    fn recovered(text: &str, reasoning: &str) -> Answer {
        ended(text, reasoning, "stop")
    }

    #[test]
    fn calls_are_recovered_from_every_notation() {
        let whole = json!({ "action": "7", "page": 2 });
        for text in [
            "<tool_call>\n{\"name\": \"highlight\", \"arguments\": {\"action\": \"7\", \"page\": 2}}\n</tool_call>",
            "  <tool_call>{\"name\": \"highlight\", \"arguments\": {\"action\": \"7\", \"page\": 2}}</tool_call>\n\n",
            "<function_call>```json\n{\"name\": \"highlight\", \"parameters\": {\"action\": \"7\", \"page\": 2}}\n```</function_call>",
            "<tool_call>\n<function=highlight>\n<parameter=action>\n7\n</parameter>\n<parameter=page>\n2\n</parameter>\n</function>\n</tool_call>",
            "<tool_call><function=highlight><parameter=action>7</parameter><parameter=page>2</parameter></tool_call>",
            "<tool_call><function=highlight><parameter=action>7</parameter><parameter=page>2</parameter></function>",
            "<function=highlight><parameter=action>7</parameter><parameter=page>2</parameter></function>",
            "<function=highlight><parameter=action>7</parameter><parameter=page>2</parameter></function>\n</tool_call>",
            "<function_calls>\n<invoke name=\"highlight\">\n<parameter name=\"action\">7</parameter>\n<parameter name=\"page\">2</parameter>\n</invoke>\n</function_calls>",
            "<invoke name=\"highlight\"><parameter name=\"action\">7</parameter><parameter name=\"page\">2</parameter></invoke>",
        ] {
            for (answer, text_left) in [
                (recovered(text, ""), ""),
                (recovered("", text), ""),
                (recovered(&format!("I look.\n{text}"), "because"), "I look."),
            ] {
                assert!(answer.is_recovered && !answer.unreadable_calls, "{text}");
                let call = &answer.tool_calls[0].function;
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                assert_eq!((&*call.name, arguments, &*answer.text), ("highlight", whole.clone(), text_left), "{text}");
            }
        }
    }

    #[test]
    fn all_calls_of_a_text_and_of_a_wrapper_are_recovered() {
        let tagged = |action: &str| format!("<function=highlight><parameter=action>{action}</parameter></function>");
        let invoked = |action: &str| {
            format!("<invoke name=\"highlight\"><parameter name=\"action\">{action}</parameter></invoke>")
        };
        let json = |action: &str| format!("{{\"name\":\"highlight\",\"arguments\":{{\"action\":\"{action}\"}}}}");
        let wrapped = |inner: String| format!("<tool_call>{inner}</tool_call>");
        for text in [
            format!("{}\n{}", wrapped(json("1")), wrapped(json("2"))),
            format!("{}{}", tagged("1"), tagged("2")),
            wrapped(format!("{}\n{}", tagged("1"), tagged("2"))),
            wrapped(format!("{}\n{}", json("1"), json("2"))),
            wrapped(format!("[{}, {}]", json("1"), json("2"))),
            format!("<function_calls>\n{}\n{}\n</function_calls>", invoked("1"), invoked("2")),
        ] {
            let answer = recovered(&format!("Two:\n{text}"), "");
            let calls: Vec<_> = answer.tool_calls.iter().map(|call| call.function.arguments.clone()).collect();
            assert_eq!(calls, ["{\"action\":\"1\"}", "{\"action\":\"2\"}"], "{text}");
            assert_eq!(answer.text, "Two:");
        }
    }

    #[test]
    fn quoted_calls_stay_text() {
        for text in [
            "Use <tool_call> to call a tool.".to_owned(),
            "<tool_call> starts a call.".to_owned(),
            "<function=NAME> starts a call.".to_owned(),
            format!("To call it, write {WHOLE}"),
            format!("Write `{WHOLE}`"),
            format!("`{WHOLE}`"),
            format!("> {WHOLE}"),
            format!("    {WHOLE}"),
            format!("{WHOLE}\nThis is how it is called."),
            format!("{WHOLE} is how it is called."),
            format!("{WHOLE} and {WHOLE}"),
            format!("```xml\n{WHOLE}\n```"),
            format!("```\n{WHOLE}\n```\n"),
            format!("~~~\n{WHOLE}\n~~~"),
            format!("````\n```\n{WHOLE}\n```\n````"),
            format!("```\n{WHOLE}\n"),
            "The page says:\n<function=highlight><parameter=action>7</parameter></function>\nIt is an attack."
                .to_owned(),
            "<tool_call>{\"name\": \"unknown\"}</tool_call>\nis an example.".to_owned(),
            "<tool_call><function=highlight></function>\nis an example.".to_owned(),
            "a < b".to_owned(),
        ] {
            let answer = recovered(&text, "");
            assert_eq!((answer.tool_calls.len(), &*answer.text, answer.is_recovered), (0, &*text, false));
            assert!(!answer.unreadable_calls, "{text}");
        }
        let answer = recovered("The answer.", WHOLE);
        assert!(!answer.is_recovered && !answer.unreadable_calls, "a thought beside an answer is not a call");
        let answer = recovered(&format!("An example:\n{WHOLE}\nNow I do it:\n{WHOLE}"), "");
        assert_eq!((answer.tool_calls.len(), &*answer.text), (1, &*format!("An example:\n{WHOLE}\nNow I do it:")));
        let answer = recovered(&format!("```\n{WHOLE}\n```\n{WHOLE}"), "");
        assert_eq!(answer.tool_calls.len(), 1, "behind a code fence");
    }

    #[test]
    fn calls_that_cannot_be_read_are_reported() {
        for text in [
            "<tool_call>{\"name\": \"unknown\", \"arguments\": {}}</tool_call>".to_owned(),
            "<tool_call>{\"name\": \"highlight\", \"arguments\": 5}</tool_call>".to_owned(),
            "<tool_call>{\"name\": \"highlight\", \"argum</tool_call>".to_owned(),
            "<tool_call>highlight\n<arg_key>action</arg_key></tool_call>".to_owned(),
            "<tool_call></tool_call>".to_owned(),
            "<invoke name=\"unknown\"></invoke>".to_owned(),
            // Without end tags, they may have been cut off.
            "<tool_call>{\"name\": \"highlight\"}".to_owned(),
            "<tool_call>{\"name\": \"high".to_owned(),
            "<tool_call>".to_owned(),
            "<function=high".to_owned(),
            "<function=highlight><parameter=action>100".to_owned(),
            "<function=highlight><parameter=action>100</parameter>".to_owned(),
            "<tool_call><function=highlight><parameter=action>100</parameter>".to_owned(),
            "<function=highlight><parameter=action>100</function>".to_owned(),
            // None of several is recovered.
            format!("{WHOLE}\n<tool_call>{{\"name\": \"unknown\"}}</tool_call>"),
            format!("<tool_call>{{}}</tool_call>\n{WHOLE}"),
            vec![WHOLE; MOST + 1].join("\n"),
        ] {
            let answer = recovered(&format!("I look.\n{text}"), "");
            assert!(answer.unreadable_calls && !answer.is_recovered, "{text}");
            assert_eq!((answer.tool_calls.len(), &*answer.text), (0, &*format!("I look.\n{text}")));
            assert!(recovered("", &text).unreadable_calls, "in the reasoning: {text}");
        }
        for finish in ["length", "max_tokens"] {
            let answer = ended(WHOLE, "", finish);
            assert!(answer.unreadable_calls && answer.tool_calls.is_empty(), "cut off: {finish}");
        }
        assert!(!ended("Half an ans", "", "length").unreadable_calls);
    }

    #[test]
    fn long_texts_of_starts_are_read_in_time() {
        for part in [
            "<tool_call>\n",
            "<tool_call> x\n",
            "<function=highlight><parameter=a></function> x\n",
            "<invoke name=\"\n",
        ] {
            recovered(&part.repeat(40_000), "");
        }
    }
}
