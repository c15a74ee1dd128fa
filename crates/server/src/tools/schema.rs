//! JSON Schema of tool arguments and of queries, derived from their types.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use cdpilot::fields;

/// The schema of a type, as small as possible: no references, no titles.
pub(super) fn schema_of<I: JsonSchema>() -> Value {
    let mut schema = fields::schema_of::<I>();
    if let Value::Object(map) = &mut schema {
        map.remove("description");
        if !map.contains_key("properties") {
            map.insert("properties".to_owned(), Value::Object(Map::new()));
        }
    }
    tighten(&mut schema);
    schema
}

/// Removes what does not help a model: number formats, `null` beside a type, `null` defaults. Property names are never
/// treated as keywords: a property may be called `format`.
fn tighten(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    map.remove("format");
    map.remove("writeOnly"); // added for `skip_serializing`; irrelevant to callers
    without_null(map);
    for (keyword, below) in map.iter_mut() {
        match (keyword.as_str(), below) {
            ("properties" | "patternProperties" | "$defs", Value::Object(named)) => {
                named.values_mut().for_each(tighten)
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => list.iter_mut().for_each(tighten),
            ("items" | "additionalProperties" | "not", below) => tighten(below),
            _ => {}
        }
    }
}

/// Removes `null` from the accepted types: optional fields are omitted instead.
pub(crate) fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|one| one["type"] != "null");
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|one| !one.is_null());
    }
}
