//! Text of a console message, as developer tools show it: previews of values, format specifiers, groups, tables.
//!
//! All data comes with the event; nothing is requested from the page. It is untrusted, and bounded by [`MAX`].

use super::console_table;
use crate::cdp::protocol::runtime::{
    ConsoleApiCalledEvent, ObjectPreview, PropertyPreview, PropertyPreviewType, RemoteObject, StackTrace,
};

/// Longest text, in bytes; a page may log megabytes.
pub(super) const MAX: usize = 4096;
/// Maximum number of stack frames of `console.trace`.
const CALLS: usize = 10;
/// Maximum indentation by groups; deeper ones stay at this depth.
const INDENTED: usize = 8;
/// Maximum length of function source that is shown in full, in bytes.
const FUNCTION: usize = 200;

/// A text that grows up to [`MAX`].
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    cut: bool,
}

impl Text {
    pub(super) fn push(&mut self, more: &str) {
        let room = MAX - self.text.len().min(MAX);
        if self.cut || more.len() > room {
            self.text.push_str(if self.cut { "" } else { start(more, room) });
            self.cut = true;
        } else {
            self.text.push_str(more);
        }
    }

    /// Whether the limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.cut
    }

    /// The text, with `…` at its end if it was truncated.
    pub(super) fn finish(mut self) -> String {
        if self.cut {
            let end = start(&self.text, MAX - '…'.len_utf8()).len();
            self.text.truncate(end);
            self.text.push('…');
        }
        self.text
    }
}

/// The first bytes of a text, at most `most`, cut between characters.
fn start(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// A text within the limit.
pub(super) fn bounded(text: &str) -> String {
    let mut all = Text::default();
    all.push(text);
    all.finish()
}

/// The text of a message inside `groups` open groups. `None` where developer tools show no line.
pub(super) fn message(event: &ConsoleApiCalledEvent<'_>, groups: usize) -> Option<String> {
    let mut out = Text::default();
    (0..groups.min(INDENTED)).for_each(|_| out.push("  "));
    match event.r#type.as_str() {
        "endGroup" => return None,
        "clear" => out.push("Console was cleared"),
        "startGroup" => arguments_after("▼ ", &event.args, &mut out),
        "startGroupCollapsed" => arguments_after("▶ ", &event.args, &mut out),
        "assert" => arguments_after("Assertion failed: ", &event.args, &mut out),
        "trace" => {
            arguments(&event.args, &mut out);
            calls(event.stack_trace.as_ref(), &mut out);
        }
        "table" => match event.args.first().and_then(|first| first.preview.as_ref()) {
            Some(preview) => console_table::table(preview, &mut out),
            None => arguments(&event.args, &mut out),
        },
        _ => arguments(&event.args, &mut out),
    }
    Some(out.finish())
}

fn arguments_after(prefix: &str, args: &[RemoteObject], out: &mut Text) {
    out.push(prefix);
    arguments(args, out);
}

/// The arguments with spaces between them; the first one may be a format.
fn arguments(args: &[RemoteObject], out: &mut Text) {
    let mut rest = args;
    if let Some((first, others)) = args.split_first()
        && !others.is_empty()
        && let Some(format) = string_of(first)
    {
        let used = formatted(&format, others, out);
        rest = others.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            out.push(" ");
        }
    }
    for (nth, object) in rest.iter().enumerate() {
        if out.is_full() {
            return;
        }
        if nth > 0 {
            out.push(" ");
        }
        value(object, out);
    }
}

/// Expands the specifiers of a format. Returns the number of arguments used.
fn formatted(format: &str, args: &[RemoteObject], out: &mut Text) -> usize {
    let mut used = 0;
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, specifier) = rest.split_at(at);
        out.push(before);
        let letter = specifier[1..].chars().next();
        let argument = args.get(used);
        match (letter, argument) {
            (Some('%'), _) => out.push("%"),
            (Some('c'), Some(_)) => used += 1, // a style
            (Some(letter @ ('s' | 'd' | 'i' | 'f' | 'o' | 'O')), Some(object)) => {
                used += 1;
                specified(letter, object, out);
            }
            _ => {
                out.push("%");
                rest = &specifier[1..];
                continue;
            }
        }
        rest = &specifier[2..];
    }
    out.push(rest);
    used
}

fn specified(letter: char, object: &RemoteObject, out: &mut Text) {
    match (letter, string_of(object)) {
        ('o' | 'O', Some(text)) => out.push(&quoted(&text)),
        // V8 has already converted `%d`, `%i` and `%f` to numbers and most `%s` to strings.
        (_, Some(text)) => out.push(&text),
        ('s', None) => match &object.description {
            Some(description) => out.push(description),
            None => value(object, out),
        },
        _ => value(object, out),
    }
}

/// The stack frames of a trace, one per line.
fn calls(stack: Option<&StackTrace>, out: &mut Text) {
    for call in stack.iter().flat_map(|stack| &stack.call_frames).take(CALLS) {
        let name = if call.function_name.is_empty() { "(anonymous)" } else { &call.function_name };
        let url = if call.url.is_empty() { "<anonymous>" } else { &call.url };
        // Counted from 0 and untrusted, so the addition must not overflow.
        let (line, column) = (call.line_number.saturating_add(1), call.column_number.saturating_add(1));
        out.push(&format!("\n    {name} ({url}:{line}:{column})"));
    }
}

/// The text of a string.
fn string_of(object: &RemoteObject) -> Option<String> {
    let value = object.value.as_ref().filter(|_| object.r#type.as_str() == "string")?;
    serde_json::from_str(value.get()).ok()
}

/// A value as a top-level argument: strings without quotes.
pub(super) fn value(object: &RemoteObject, out: &mut Text) {
    if let Some(text) = string_of(object) {
        return out.push(&text);
    }
    let subtype = object.subtype.as_ref().map(|subtype| subtype.as_str());
    let description = object.description.as_deref();
    match (object.r#type.as_str(), subtype) {
        ("undefined", _) => out.push("undefined"),
        ("object", Some("null")) => out.push("null"),
        ("function", _) => function(description.unwrap_or_default(), out),
        // A date has its text, an element its selector, an error its stack.
        ("object", Some("date" | "node" | "error" | "regexp")) if description.is_some() => {
            out.push(description.unwrap_or_default());
        }
        _ => match (&object.preview, &object.unserializable_value, &object.value) {
            (Some(preview), ..) => self::preview(preview, out),
            (_, Some(number), _) => out.push(number.as_ref()),
            (.., Some(json)) => out.push(json.get()),
            _ => out.push(description.unwrap_or(object.r#type.as_str())),
        },
    }
}

/// `ƒ name(a, b) { … }`.
fn function(source: &str, out: &mut Text) {
    let source = source.trim();
    let whole = source.len() <= FUNCTION;
    let body = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = || body(start(source, FUNCTION).split(['{', '\n']).next().unwrap_or_default());
    if source.strip_prefix("class").is_some_and(|rest| rest.starts_with(['{', ' ', '\n', '\t'])) {
        return out.push(&if whole { body(source) } else { format!("{} {{…}}", head()) });
    }
    let (prefix, rest) = if let Some(rest) = source.strip_prefix("async function*") {
        ("async ƒ* ", rest)
    } else if let Some(rest) = source.strip_prefix("async function") {
        ("async ƒ ", rest)
    } else if let Some(rest) = source.strip_prefix("function*") {
        ("ƒ* ", rest)
    } else if let Some(rest) = source.strip_prefix("function") {
        ("ƒ ", rest)
    } else if source.contains("=>") {
        ("", source)
    } else {
        ("ƒ ", source) // a method
    };
    out.push(prefix);
    if whole {
        return out.push(&body(rest));
    }
    let head = head();
    let head = head.get(source.len() - rest.len()..).unwrap_or(&head).trim();
    out.push(&format!("{head} {{…}}"));
}

/// An object with its first properties or entries.
pub(super) fn preview(of: &ObjectPreview, out: &mut Text) {
    let description = of.description.as_deref().unwrap_or_default();
    let subtype = of.subtype.as_ref().map_or("", |subtype| subtype.as_str());
    match (of.r#type.as_str(), subtype) {
        ("object", "arraybuffer" | "dataview" | "error" | "null" | "regexp" | "webassemblymemory" | "trustedtype")
        | ("object", "date" | "node") => return out.push(first_line(description)),
        ("object", _) => {}
        ("function", _) => return out.push("ƒ"),
        ("string", _) => return out.push(&quoted(description)),
        _ => return out.push(description),
    }
    let is_array = matches!(subtype, "array" | "typedarray");
    let name = name(description, is_array);
    if !name.is_empty() {
        out.push(&name);
        out.push(" ");
    }
    let mut inside = List { out, any: false };
    inside.out.push(if is_array { "[" } else { "{" });
    if let Some(entries) = &of.entries {
        for entry in entries {
            inside.next();
            if let Some(key) = &entry.key {
                nested(key, inside.out);
                inside.out.push(" => ");
            }
            nested(&entry.value, inside.out);
        }
    } else if is_array {
        items(of, &mut inside);
    } else {
        properties(of, subtype, &mut inside);
    }
    if of.overflow {
        inside.next();
        inside.out.push("…");
    }
    out.push(if is_array { "]" } else { "}" });
}

/// The prefix before the braces: `Map(2)`, `(3)`, `Uint8Array(8)`; nothing for a plain object.
fn name(description: &str, is_array: bool) -> String {
    if !is_array {
        return if description == "Object" { String::new() } else { first_line(description).to_owned() };
    }
    let (class, length) = (class(description), array_length(description).unwrap_or(0));
    match (class, length) {
        ("Array", 0 | 1) => String::new(),
        ("Array", length) => format!("({length})"),
        (class, 0 | 1) => class.to_owned(),
        (class, length) => format!("{class}({length})"),
    }
}

/// `Uint8Array` of `Uint8Array(8)`.
fn class(description: &str) -> &str {
    description.split_once(['(', '[']).map_or(description, |(class, _)| class)
}

fn array_length(description: &str) -> Option<u64> {
    let (_, length) = description.rsplit_once(['(', '['])?;
    length.trim_end_matches([')', ']']).parse().ok()
}

/// A list separated by `, `.
struct List<'a> {
    out: &'a mut Text,
    any: bool,
}

impl List<'_> {
    fn next(&mut self) {
        if self.any {
            self.out.push(", ");
        }
        self.any = true;
    }
}

fn items(of: &ObjectPreview, inside: &mut List<'_>) {
    let index = |property: &PropertyPreview| property.name.parse::<u64>().ok();
    let length = array_length(of.description.as_deref().unwrap_or_default()).unwrap_or(0);
    // Holes of sparse arrays are known only if no entry is left out.
    let (mut expected, all_known) = (0, !of.overflow);
    for property in &of.properties {
        let Some(at) = index(property) else { continue };
        if all_known && at > expected {
            inside.next();
            empty(at - expected, inside.out);
        }
        inside.next();
        if !all_known && at != expected {
            inside.out.push(&format!("{at}: "));
        }
        expected = at.saturating_add(1);
        property_value(property, inside.out);
    }
    if all_known && length > expected {
        inside.next();
        empty(length - expected, inside.out);
    }
    for property in of.properties.iter().filter(|property| index(property).is_none()) {
        named(property, inside);
    }
}

fn empty(count: u64, out: &mut Text) {
    out.push(&if count == 1 { "empty".to_owned() } else { format!("empty × {count}") });
}

fn properties(of: &ObjectPreview, subtype: &str, inside: &mut List<'_>) {
    let is_function = |property: &&PropertyPreview| property.r#type == PropertyPreviewType::Function;
    let shown = || of.properties.iter().filter(|property| property.r#type != PropertyPreviewType::Accessor);
    let values = shown().filter(|property| !is_function(property));
    let mut all = values.chain(shown().filter(is_function)).peekable();
    while let Some(property) = all.next() {
        match (subtype, property.name.as_str()) {
            ("promise", "[[PromiseState]]") => {
                let state = property.value.as_deref().unwrap_or_default();
                inside.next();
                inside.out.push(&format!("<{state}>"));
                if let Some(result) = all.next_if(|next| next.name == "[[PromiseResult]]")
                    && state != "pending"
                {
                    inside.out.push(": ");
                    property_value(result, inside.out);
                }
            }
            ("generator", "[[GeneratorState]]") => {
                inside.next();
                inside.out.push(&format!("<{}>", property.value.as_deref().unwrap_or_default()));
            }
            (_, "[[PrimitiveValue]]") => {
                inside.next();
                property_value(property, inside.out);
            }
            _ => named(property, inside),
        }
    }
}

fn named(property: &PropertyPreview, inside: &mut List<'_>) {
    inside.next();
    let name = &property.name;
    let plain = !name.is_empty() && name.trim() == name && !name.contains('\n');
    inside.out.push(&if plain { name.clone() } else { quoted(name) });
    inside.out.push(": ");
    property_value(property, inside.out);
}

/// A value inside an object.
pub(super) fn property_value(property: &PropertyPreview, out: &mut Text) {
    let subtype = property.subtype.as_ref().map(|subtype| subtype.as_str());
    let text = property.value.as_deref().unwrap_or_default();
    out.push(&short(property.r#type.as_str(), subtype, text));
}

fn nested(of: &ObjectPreview, out: &mut Text) {
    let subtype = of.subtype.as_ref().map(|subtype| subtype.as_str());
    out.push(&short(of.r#type.as_str(), subtype, of.description.as_deref().unwrap_or_default()));
}

fn short(kind: &str, subtype: Option<&str>, text: &str) -> String {
    match (kind, subtype) {
        ("accessor", _) => "(…)".to_owned(),
        ("function", _) => "ƒ".to_owned(),
        ("string", _) => quoted(text),
        ("object", None) if text == "Object" => "{…}".to_owned(),
        ("object", _) => first_line(text).to_owned(),
        _ => text.to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A string as a literal, in the quotes that need no escape.
fn quoted(text: &str) -> String {
    let quote = ['\'', '"', '`'].into_iter().find(|quote| !text.contains(*quote)).unwrap_or('\'');
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push(quote);
    for letter in text.chars() {
        match letter {
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            '\\' => literal.push_str("\\\\"),
            letter if letter == quote => literal.extend(['\\', letter]),
            letter if letter.is_control() => literal.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => literal.push(letter),
        }
    }
    literal.push(quote);
    literal
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "console_text_tests.rs"]
mod tests;
