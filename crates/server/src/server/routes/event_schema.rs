//! The schema of the data of events, from the types of the event log.

use schemars::{JsonSchema as _, SchemaGenerator};
use serde_json::{Map, Value, json};

use cdpilot::supervisor::LogEvent;
use cdpilot::text::camel_case;

/// The schema of the data of all events: one object for each kind, whose title is the kind.
pub(in crate::server) fn event_schema(generator: &mut SchemaGenerator) -> Value {
    let all = LogEvent::json_schema(generator).to_value();
    let mut kinds: Vec<Value> = Vec::new();
    for variant in all["anyOf"].as_array().into_iter().flatten() {
        let variant = resolved(variant, generator);
        let kind = variant["title"].as_str().unwrap_or_default().to_owned();
        let one = of_kind(&kind, &variant, generator);
        match kinds.iter_mut().find(|known| known["title"] == one["title"]) {
            Some(known) => merge(known, &one),
            None => kinds.push(one),
        }
    }
    let reason = json!({ "enum": ["other_start", "events_lost"], "description": "Why: the given id belongs to another log, \
        which ended with the server or the profile; or events are not retained any more." });
    let reset = json!({
        "title": "reset",
        "description": "Earlier events are missing; all retained events follow.",
        "properties": { "reason": reason },
        "required": ["reason"],
    });
    kinds.push(of_kind("reset", &reset, generator));
    json!({ "description": "Data of an event of `GET /events`; `type` is its kind.", "oneOf": kinds })
}

/// A variant with the properties of the type that it refers to.
fn resolved(variant: &Value, generator: &SchemaGenerator) -> Value {
    let name = variant["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let Some(definition) = name.and_then(|name| generator.definitions().get(name)) else { return variant.clone() };
    let mut whole = definition.clone();
    for name in ["title", "description"] {
        if let Some(own) = variant.get(name) {
            whole[name] = own.clone();
        }
    }
    whole
}

/// The object of a kind, with the fields that `GET /events` sends.
fn of_kind(kind: &str, variant: &Value, generator: &mut SchemaGenerator) -> Value {
    let is_dialog = matches!(kind, "dialog_opened" | "dialog_closed");
    let named = |name: &str| if is_dialog { name.to_owned() } else { camel_case(name) };
    let mut properties = Map::new();
    for (name, field) in variant["properties"].as_object().into_iter().flatten() {
        let mut field = field.clone();
        if kind == "console" && matches!(&**name, "line" | "column") {
            let counted = field["description"].as_str().unwrap_or_default().replace("from 0", "from 1");
            field["description"] = counted.into();
        }
        if kind == "download" && name == "state" {
            field = json!({
                "enum": ["inProgress", "completed", "canceled", "lost", "failed"],
                "description": "Its state. `lost`: the connection to the browser was lost meanwhile.",
            });
        }
        properties.insert(named(name), field);
    }
    let names = variant["required"].as_array().into_iter().flatten().filter_map(Value::as_str).map(named);
    let mut required: Vec<String> = names.collect();
    if is_dialog {
        // `type` is the kind of the event.
        properties.remove("type");
        let dialog = if kind == "dialog_opened" {
            generator.subschema_for::<cdpilot::supervisor::Dialog>()
        } else {
            generator.subschema_for::<cdpilot::supervisor::ClosedDialog>()
        };
        let mut dialog = dialog.to_value();
        dialog["description"] = "The dialog, with its own `type`.".into();
        properties.insert("dialog".to_owned(), dialog);
        required.push("dialog".to_owned());
    }
    for (name, schema) in [
        ("seq", json!({ "type": "integer", "minimum": 0, "description": "Number of the event in its log." })),
        ("ts", json!({ "type": "number", "description": "The time, in Unix seconds." })),
        ("type", json!({ "const": kind })),
    ] {
        properties.insert(name.to_owned(), schema);
        required.push(name.to_owned());
    }
    if kind != "reset" {
        let target =
            json!({ "type": "string", "description": "Target id of the tab that it is about, if it is about one." });
        properties.insert("targetId".to_owned(), target);
    }
    required.sort_unstable();
    required.dedup();
    json!({
        "title": kind,
        "description": variant["description"],
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

/// Joins two forms of a kind: what only one of them has is optional.
fn merge(known: &mut Value, other: &Value) {
    if let (Some(required), Some(others)) = (known["required"].as_array().cloned(), other["required"].as_array()) {
        known["required"] = required.into_iter().filter(|name| others.contains(name)).collect();
    }
    for (name, field) in other["properties"].as_object().into_iter().flatten() {
        if known["properties"].get(name).is_none() {
            known["properties"][name] = field.clone();
        }
    }
}
