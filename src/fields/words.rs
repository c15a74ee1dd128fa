//! Schemas and values in words.

use serde_json::Value;

use super::Style;

/// Characters of a given word that an error repeats.
pub(super) const SHOWN: usize = 40;

/// The values of a boolean.
const SWITCH: [&str; 2] = ["true", "false"];

/// The strings that a schema accepts, if it accepts only some.
pub(super) fn words(schema: &Value) -> Option<Vec<String>> {
    if let Some(word) = schema["const"].as_str() {
        return Some(vec![word.to_owned()]);
    }
    if let Some(all) = schema["enum"].as_array() {
        let words: Vec<String> = all.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        return Some(words).filter(|words| !words.is_empty());
    }
    let any = branches(schema)?;
    any.iter().map(words).collect::<Option<Vec<_>>>().map(|all| all.concat())
}

/// The alternatives of a union.
pub(super) fn branches(schema: &Value) -> Option<&[Value]> {
    ["anyOf", "oneOf"].iter().find_map(|keyword| schema[*keyword].as_array()).map(Vec::as_slice)
}

/// The types that a schema accepts, without `null`.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    let all = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|kind| *kind != "null").collect()
}

/// What a schema expects; in the lenient style with its description.
pub(super) fn expected(schema: &Value, style: Style) -> String {
    let expected = alternatives(schema, style);
    let expected = match expected.split_last() {
        None => "another value".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    };
    match schema["description"].as_str().filter(|_| style == Style::Lenient) {
        Some(about) => format!("{expected} ({about})"),
        None => expected,
    }
}

/// The words of a union of words and a boolean; `None` for other schemas.
pub(super) fn switch_words(schema: &Value, style: Style) -> Option<Vec<String>> {
    let any = branches(schema)?;
    let is_one = |one: &Value| one["type"] == "null" || one["type"] == "boolean" || words(one).is_some();
    any.iter().all(is_one).then(|| alternatives(schema, style))
}

/// All that a schema accepts: words before types.
fn alternatives(schema: &Value, style: Style) -> Vec<String> {
    if let Some(words) = words(schema) {
        return words;
    }
    if let Some(any) = branches(schema) {
        let any = any.iter().filter(|one| one["type"] != "null");
        let (words, types): (Vec<&Value>, Vec<&Value>) = any.partition(|one| words(one).is_some());
        let mut all: Vec<String> = Vec::new();
        for one in words.into_iter().chain(types).flat_map(|one| alternatives(one, style)) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        return all;
    }
    let of_types = types(schema).into_iter().flat_map(|kind| match kind {
        "boolean" => SWITCH.map(str::to_owned).to_vec(),
        kind => vec![of_type(kind, schema, style)],
    });
    of_types.collect()
}

fn of_type(kind: &str, schema: &Value, style: Style) -> String {
    match kind {
        "string" => "a string".to_owned(),
        "integer" => whole_number(schema, style),
        "number" => "a number".to_owned(),
        "array" => match &schema["items"]["type"] {
            Value::String(kind) if kind == "string" => "a list of strings".to_owned(),
            Value::String(kind) if kind == "object" => format!("a list of {}", fields(&schema["items"], "objects")),
            _ => "a list".to_owned(),
        },
        "object" => fields(schema, "an object"),
        other => other.to_owned(),
    }
}

/// `an object with x and y`: the required fields.
fn fields(schema: &Value, what: &str) -> String {
    let required: Vec<String> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    match required.split_last() {
        None => what.to_owned(),
        Some((only, [])) => format!("{what} with {only}"),
        Some((last, others)) => format!("{what} with {} and {last}", others.join(", ")),
    }
}

/// The range of an integer: that of its type. Other limits are left to whoever uses the number, who says what they are for;
/// models get the lower one here.
pub(super) fn range(schema: &Value, style: Style) -> (i128, i128) {
    let (least, most): (i128, i128) = match schema["format"].as_str() {
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint" | "uint64") => (0, i128::MAX),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN.into(), i64::MAX.into()),
        _ => (i128::MIN, i128::MAX),
    };
    match schema["minimum"].as_i64() {
        Some(minimum) if style == Style::Lenient => (least.max(minimum.into()), most),
        Some(0..) => (least.max(0), most),
        _ => (least, most),
    }
}

fn whole_number(schema: &Value, style: Style) -> String {
    match range(schema, style) {
        // The ends of larger types are no limits that a person has in mind.
        (least, most) if least >= 0 && most <= u16::MAX.into() => format!("a whole number from {least} to {most}"),
        (least, _) if least >= 0 => format!("a whole number, {least} or more"),
        _ => "a whole number".to_owned(),
    }
}

/// What a value is: its type; a number itself, if the style repeats it.
pub(super) fn given(value: &Value, style: Style) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if matches!(style, Style::Exact | Style::Text) => return number.to_string(),
        Value::Number(_) => "a number",
        Value::String(text) if style == Style::Text => {
            return format!("{:?}", text.chars().take(SHOWN).collect::<String>());
        }
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    kind.to_owned()
}

/// `list, open or close`.
pub(super) fn listed(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}
