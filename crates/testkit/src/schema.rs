//! Validation of JSON against a schema: the subset of JSON Schema that our descriptions use.

use serde_json::Value;

/// Validates a value against a schema of a document; the error says where and why it fails.
pub fn fits(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(map) = schema.as_object() else {
        return if schema == &Value::Bool(false) { Err(format!("nothing fits, but {value}")) } else { Ok(()) };
    };
    for (word, wanted) in map {
        match word.as_str() {
            "$ref" => {
                let path = wanted.as_str().unwrap().trim_start_matches('#');
                fits(document, document.pointer(path).unwrap_or_else(|| panic!("no {path}")), value)?;
            }
            "allOf" => wanted.as_array().unwrap().iter().try_for_each(|one| fits(document, one, value))?,
            "anyOf" | "oneOf" => {
                let all = wanted.as_array().unwrap();
                let count = all.iter().filter(|one| fits(document, one, value).is_ok()).count();
                if count == 0 || (word == "oneOf" && count > 1) {
                    return Err(format!("{count} of {word} fit {value}"));
                }
            }
            "type" => {
                let is = |kind: &Value| match kind.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("type {other}"),
                };
                if !wanted.as_array().map_or_else(|| is(wanted), |all| all.iter().any(is)) {
                    return Err(format!("{value} is no {wanted}"));
                }
            }
            "enum" if !wanted.as_array().unwrap().contains(value) => return Err(format!("{value} is not in {wanted}")),
            "const" if wanted != value => return Err(format!("{value} is not {wanted}")),
            "minimum" if value.is_number() && value.as_f64() < wanted.as_f64() => {
                return Err(format!("{value} is below {wanted}"));
            }
            "maximum" if value.is_number() && value.as_f64() > wanted.as_f64() => {
                return Err(format!("{value} is above {wanted}"));
            }
            "required" => {
                let missing =
                    wanted.as_array().unwrap().iter().find(|name| value.get(name.as_str().unwrap()).is_none());
                if let Some(missing) = missing.filter(|_| value.is_object()) {
                    return Err(format!("{missing} is missing in {value}"));
                }
            }
            "properties" => {
                for (name, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        fits(document, schema, value).map_err(|problem| format!("{name}: {problem}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = map.get("properties").and_then(Value::as_object);
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        fits(document, wanted, value).map_err(|problem| format!("{name}: {problem}"))?;
                    }
                }
            }
            "items" => {
                for value in value.as_array().into_iter().flatten() {
                    fits(document, wanted, value)?;
                }
            }
            // Said in words, or of requests only.
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn schema_violations_are_detected() {
    use serde_json::json;

    let document = json!({ "s": { "Name": { "type": "string" } } });
    let schema = json!({
        "type": "object", "properties": { "a": { "$ref": "#/s/Name" }, "b": { "type": ["integer", "null"] } },
        "required": ["a"], "additionalProperties": false,
    });
    assert_eq!(fits(&document, &schema, &json!({ "a": "x", "b": null })), Ok(()));
    for bad in [json!({}), json!({ "a": 1 }), json!({ "a": "x", "b": 1.5 }), json!({ "a": "x", "c": 1 }), json!([])] {
        assert!(fits(&document, &schema, &bad).is_err(), "{bad}");
    }
    let schema = json!({ "items": { "anyOf": [{ "const": 1 }, { "enum": ["a"] }] } });
    assert_eq!(fits(&document, &schema, &json!([1, "a"])), Ok(()));
    assert!(fits(&document, &schema, &json!([2])).is_err());
}
