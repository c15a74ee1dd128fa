//! Prints the description and arguments of a tool.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::output::{Out, clean};

/// Description and argument schema of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Value,
}

impl Described {
    /// Example arguments: the required ones.
    pub(super) fn example(&self) -> String {
        example(&self.schema, "").to_string()
    }
}

pub(super) fn show(tool: &Described, out: &Out) {
    #[derive(Serialize)]
    struct Output<'a> {
        ok: bool,
        name: &'a str,
        description: &'a str,
        schema: &'a Value,
    }
    out.line(&out.style.bold(&tool.name));
    out.line(&clean(&tool.description));
    let mut rows = Vec::new();
    rows_of(&tool.schema, 0, &mut rows);
    out.line("");
    if rows.is_empty() {
        out.line("No arguments.");
    }
    let width = |at: fn(&Row) -> &str| rows.iter().map(|row| at(row).chars().count()).max().unwrap_or_default();
    let (name, kind) = (width(|row| &row.name), width(|row| &row.kind).min(40));
    for row in &rows {
        let need = if row.required { "required" } else { "" };
        let line = format!("  {:name$}  {:kind$}  {need:8}  {}", row.name, row.kind, row.about);
        out.line(clean(&line).trim_end());
    }
    out.line(&format!("\n  cdpilot tool {} '{}'", tool.name, tool.example()));
    out.object(&Output { ok: true, name: &tool.name, description: &tool.description, schema: &tool.schema });
}

/// An argument, as printed.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    kind: String,
    required: bool,
    about: String,
}

fn rows_of(schema: &Value, depth: usize, rows: &mut Vec<Row>) {
    let required = schema["required"].as_array();
    // Required arguments first.
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|there| there == name));
    let all = schema["properties"].as_object();
    let mut properties: Vec<(&String, &Value)> = all.into_iter().flatten().collect();
    properties.sort_by_key(|(name, _)| !is_required(name));
    for (name, property) in properties {
        let mut about = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        if let Some(default) = property.get("default") {
            let gap = if about.is_empty() { "" } else { " " };
            about.push_str(&format!("{gap}[default: {default}]"));
        }
        rows.push(Row {
            name: format!("{}{name}", "  ".repeat(depth)),
            kind: kind(property),
            required: is_required(name),
            about,
        });
        // Deeper levels are shown with --json only.
        if depth < 3 {
            rows_of(property, depth + 1, rows);
            rows_of(&property["items"], depth + 1, rows);
        }
    }
}

/// The type of an argument in a few words.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned));
        return words.collect::<Vec<_>>().join(" | ");
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.as_str().map_or_else(|| fixed.to_string(), str::to_owned);
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(several) = schema[several].as_array() {
            let mut kinds: Vec<String> = several.iter().map(kind).collect();
            kinds.dedup();
            return kinds.join(" | ");
        }
    }
    match &schema["type"] {
        Value::String(one) if one == "array" => match kind(&schema["items"]).as_str() {
            "object" => "list of objects".to_owned(),
            inner => format!("list of {inner}"),
        },
        Value::String(one) => plain(one).to_owned(),
        Value::Array(several) => several.iter().filter_map(Value::as_str).map(plain).collect::<Vec<_>>().join(" | "),
        _ => "any value".to_owned(),
    }
}

fn plain(kind: &str) -> &str {
    match kind {
        "string" => "string",
        "integer" => "integer",
        "boolean" => "true | false",
        other => other,
    }
}

/// An example value.
fn example(schema: &Value, name: &str) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(first) = schema[several].as_array().and_then(|several| several.first()) {
            return example(first, name);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(several) => several.first().and_then(Value::as_str),
        one => one.as_str(),
    };
    match (kind, name) {
        (Some("object"), _) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Value::Object(
                required
                    .map(|name| (name.to_owned(), example(&schema["properties"][name], name)))
                    .collect::<Map<_, _>>(),
            )
        }
        (Some("array"), _) => json!([example(&schema["items"], name)]),
        (Some("integer" | "number"), _) => json!(1),
        (Some("boolean"), _) => json!(true),
        (_, "url") => json!("https://example.com"),
        (_, "ref") => json!("e3"),
        (_, "key") => json!("Enter"),
        _ => json!("…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(schema: Value) -> Described {
        Described { name: "t".to_owned(), description: String::new(), schema }
    }

    #[test]
    fn an_example_holds_what_is_required() {
        let schema = json!({
            "type": "object",
            "required": ["ref", "fields", "action", "count"],
            "properties": {
                "ref": { "type": "string" },
                "note": { "type": "string" },
                "action": { "enum": ["accept", "dismiss"] },
                "count": { "type": ["integer", "null"] },
                "fields": { "type": "array", "items": { "type": "object", "required": ["value"], "properties": {
                    "value": { "anyOf": [{ "type": "boolean" }, { "type": "string" }] },
                } } },
            },
        });
        let example: Value = serde_json::from_str(&described(schema).example()).unwrap();
        assert_eq!(example, json!({ "ref": "e3", "fields": [{ "value": true }], "action": "accept", "count": 1 }));
        assert_eq!(described(json!({ "type": "object", "properties": {} })).example(), "{}");
    }

    #[test]
    fn kinds_are_words() {
        assert_eq!(kind(&json!({ "enum": ["a", 1] })), "a | 1");
        assert_eq!(kind(&json!({ "type": "array", "items": { "type": "string" } })), "list of string");
        assert_eq!(kind(&json!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }] })), "true | false | string");
        assert_eq!(kind(&json!({ "type": ["integer", "null"] })), "integer | null");
        assert_eq!(kind(&json!(true)), "any value");
    }

    #[test]
    fn what_is_required_comes_first_and_parts_are_shown_below() {
        let schema = json!({
            "type": "object",
            "required": ["z"],
            "properties": {
                "a": { "type": "string", "description": "One", "default": "x" },
                "z": { "type": "array", "items": { "type": "object", "properties": { "in": { "type": "number" } } } },
            },
        });
        let mut rows = Vec::new();
        rows_of(&schema, 0, &mut rows);
        let shown: Vec<(&str, bool, &str)> =
            rows.iter().map(|row| (row.name.as_str(), row.required, row.about.as_str())).collect();
        assert_eq!(shown, [("z", true, ""), ("  in", false, ""), ("a", false, "One [default: \"x\"]")]);
    }
}
