//! Lenient decoding of arguments: accepts numbers as strings, strings as numbers, `null` for omitted fields and one
//! value for a list, where only one meaning is possible. Anything else is refused with the name of the field and the
//! expected value. Errors never repeat a given value, which may be a password.

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::ToolError;
use crate::config::nearest;
use cdpilot::code::Code;
use cdpilot::text::serde_in_words;

/// Decodes arguments with the schema derived from their type.
///
/// # Errors
/// `BAD_REQUEST`.
pub(super) fn read<I: DeserializeOwned>(schema: &Value, arguments: Map<String, Value>) -> Result<I, ToolError> {
    let refused = |problem: String| ToolError::new(Code::BadRequest, format!("invalid arguments: {problem}"));
    let fitted = object(arguments, schema, "").map_err(refused)?;
    serde_path_to_error::deserialize(Value::Object(fitted)).map_err(|error| {
        let path = error.path().to_string();
        refused(serde_in_words(&path, &error.into_inner().to_string()))
    })
}

fn object(given: Map<String, Value>, schema: &Value, at: &str) -> Result<Map<String, Value>, String> {
    let Some(known) = schema["properties"].as_object() else { return Ok(given) };
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let mut fitted = Map::new();
    for (name, value) in given {
        match known.get(&name) {
            // Optional fields may be null.
            Some(_) if value.is_null() && !required.contains(&name.as_str()) => {}
            Some(schema) => {
                let value = fit(value, schema, &path(&name))?;
                fitted.insert(name, value);
            }
            None if schema["additionalProperties"] == false => {
                let near = nearest(&name, known.keys().map(String::as_str));
                let hint = near.map_or_else(String::new, |near| format!("did you mean {}? ", path(near)));
                return Err(format!("unknown argument {}; {hint}{}", path(&name), all_of(known, &required)));
            }
            None => {
                fitted.insert(name, value);
            }
        }
    }
    match required.iter().find(|name| !fitted.contains_key(**name)) {
        Some(name) => Err(format!("{} is missing; expected {}", path(name), described(&known[*name]))),
        None => Ok(fitted),
    }
}

/// Lists the accepted arguments for an error.
fn all_of(known: &Map<String, Value>, required: &[&str]) -> String {
    let (needed, others): (Vec<&str>, Vec<&str>) =
        known.keys().map(String::as_str).partition(|name| required.contains(name));
    match (needed.as_slice(), others.as_slice()) {
        ([], []) => "no arguments are accepted".to_owned(),
        ([], others) => format!("optional: {}", others.join(", ")),
        (needed, []) => format!("required: {}", needed.join(", ")),
        (needed, others) => format!("required: {}; optional: {}", needed.join(", "), others.join(", ")),
    }
}

/// Converts a value to the type of its schema.
fn fit(value: Value, schema: &Value, at: &str) -> Result<Value, String> {
    let wrong = |value: &Value| Err(format!("{at}: expected {}, got {}", described(schema), kind_of(value)));
    let Some(kind) = schema["type"].as_str() else {
        // Several types or any type: left to the deserializer.
        return if value.is_null() && schema.get("type").is_some() { wrong(&value) } else { Ok(value) };
    };
    match (kind, value) {
        ("string", Value::Number(number)) => fit(Value::String(number.to_string()), schema, at),
        ("string", Value::String(text)) => match schema["enum"].as_array() {
            Some(words) => {
                let same = |word: &&Value| word.as_str().is_some_and(|word| word.eq_ignore_ascii_case(text.trim()));
                // Without the value: it may be a password in the wrong argument.
                let unknown = || Err(format!("{at}: unknown value; use {}", listed(words)));
                words.iter().find(same).cloned().map_or_else(unknown, Ok)
            }
            None => Ok(Value::String(text)),
        },
        ("integer", Value::String(text)) => match text.trim().parse::<Number>() {
            Ok(number) => fit(Value::Number(number), schema, at),
            Err(_) => wrong(&Value::String(text)),
        },
        ("integer", Value::Number(number)) => {
            let Some(whole) = whole(&number) else { return wrong(&Value::Number(number)) };
            match schema["minimum"].as_f64() {
                Some(least) if whole.as_f64().is_some_and(|whole| whole < least) => {
                    Err(format!("{at}: expected {}", described(schema)))
                }
                _ => Ok(Value::Number(whole)),
            }
        }
        ("number", Value::String(text)) => match text.trim().parse::<Number>() {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => wrong(&Value::String(text)),
        },
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => wrong(&Value::String(text)),
        },
        ("array", Value::Array(all)) => {
            let each = all.into_iter().enumerate();
            let all: Result<Vec<Value>, String> =
                each.map(|(number, one)| fit(one, &schema["items"], &format!("{at}[{number}]"))).collect();
            all.map(Value::Array)
        }
        ("array", Value::Null) => wrong(&Value::Null),
        ("array", Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Array(all)) => fit(Value::Array(all), schema, at),
            _ => fit(Value::Array(vec![Value::String(text)]), schema, at),
        },
        ("array", one) => fit(Value::Array(vec![one]), schema, at),
        ("object", Value::Object(map)) => object(map, schema, at).map(Value::Object),
        ("object", Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => object(map, schema, at).map(Value::Object),
            _ => wrong(&Value::String(text)),
        },
        ("number", value @ Value::Number(_)) | ("boolean", value @ Value::Bool(_)) => Ok(value),
        (_, value) => wrong(&value),
    }
}

/// A whole number, also when written as `3.0`.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // the range is checked
fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < (1_u64 << 53) as f64)?;
    Some(Number::from(value as i64))
}

/// Describes the expected value of a schema for errors.
fn described(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join(" or ");
    }
    let of = |kind: &str| match kind {
        "string" => "a string".to_owned(),
        "integer" if schema["minimum"] == 0 => "a whole number, 0 or more".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match &schema["items"]["type"] {
            Value::String(kind) if kind == "string" => "a list of strings".to_owned(),
            Value::String(kind) if kind == "object" => format!("a list of {}", described(&schema["items"])),
            _ => "a list".to_owned(),
        },
        "object" => match schema["properties"].as_object() {
            Some(known) => format!("{{{}}}", known.keys().map(String::as_str).collect::<Vec<_>>().join(", ")),
            None => "an object".to_owned(),
        },
        other => other.to_owned(),
    };
    let kinds = match &schema["type"] {
        Value::String(kind) => of(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(of).collect::<Vec<_>>().join(", or "),
        _ => "a value".to_owned(),
    };
    match schema["description"].as_str() {
        Some(about) => format!("{kinds} ({about})"),
        None => kinds,
    }
}

/// `list, open or close`.
fn listed(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
