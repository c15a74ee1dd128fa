//! The JSON schema of a result: only what is checked may stand in it.

use serde_json::{Map, Value};

use super::problem::quoted;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/// Keywords that are checked, and those that only explain.
const KEYWORDS: [&str; 17] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "minimum",
    "format",
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "$comment",
];

/// What is wrong with a schema, as a sentence; `None` if a result can be checked with it.
pub(super) fn fault(schema: &Map<String, Value>) -> Option<String> {
    object(schema, "the schema")
}

fn object(schema: &Map<String, Value>, at: &str) -> Option<String> {
    if let Some(unknown) = schema.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        let known = KEYWORDS.get(..10).unwrap_or_default().join(", ");
        return Some(format!("{at} has {}, which is not checked; remove it, and write only {known}", quoted(unknown)));
    }
    if let Some(kind) = schema.get("type") {
        let names: Vec<&Value> = kind.as_array().map_or_else(|| vec![kind], |all| all.iter().collect());
        let is_type = |name: &&Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        if let Some(wrong) = names.iter().find(|name| !is_type(name)) {
            return Some(format!(
                "the type {} of {at} is none; write one of {}",
                quoted(&text(wrong)),
                TYPES.join(", ")
            ));
        }
    }
    let properties = match schema.get("properties") {
        None => None,
        Some(Value::Object(all)) => Some(all),
        Some(_) => return Some(format!("`properties` of {at} is not an object; write names with their schemas")),
    };
    for (name, one) in properties.into_iter().flatten() {
        if let Some(fault) = part(one, &quoted(name)) {
            return Some(fault);
        }
    }
    if let Some(required) = schema.get("required") {
        let names = required.as_array().map(|all| all.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let Some(Some(names)) = names else {
            return Some(format!("`required` of {at} is not a list; write the names of properties"));
        };
        let unknown = names.iter().find(|name| !properties.is_some_and(|all| all.contains_key(**name)));
        if let Some(unknown) = unknown {
            return Some(format!(
                "`required` of {at} names {}, which is not among its properties; write its schema there, or remove the name",
                quoted(unknown)
            ));
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(fault) = schema.get(keyword).and_then(|one| part(one, &format!("`{keyword}` of {at}"))) {
            return Some(fault);
        }
    }
    for keyword in ["anyOf", "oneOf", "enum"] {
        let Some(given) = schema.get(keyword) else { continue };
        let Some(all) = given.as_array().filter(|all| !all.is_empty()) else {
            return Some(format!("`{keyword}` of {at} is not a list with entries; write at least one"));
        };
        let parts = all.iter().filter(|_| keyword != "enum");
        if let Some(fault) = parts.filter_map(|one| part(one, &format!("`{keyword}` of {at}"))).next() {
            return Some(fault);
        }
    }
    None
}

fn part(schema: &Value, at: &str) -> Option<String> {
    match schema {
        Value::Object(schema) => object(schema, at),
        Value::Bool(_) => None,
        _ => Some(format!("{at} is not a schema; write a JSON object such as `{{\"type\": \"string\"}}`")),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
