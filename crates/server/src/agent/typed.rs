//! Text that a model types: it is stored only once its field is known to be no secret one, such as a password field.

use serde_json::{Map, Value};

use crate::tools::{SECRET_FIELD, is_only_secrets};
use cdpilot::redact::Secrets;

/// The arguments of a call without the text that it types; `None` if it types none.
pub(super) fn withheld(tool: &str, arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
    let types = matches!(tool, "element_interaction" | "browser_type" | "browser_fill");
    let mut arguments = arguments.clone();
    (types && cover(&mut arguments)).then_some(arguments)
}

/// Covers the texts of arguments. Whether there are any. Tools accept numbers as texts, and single values or JSON text as lists.
fn cover(arguments: &mut Map<String, Value>) -> bool {
    let mut has_any = false;
    // The text that it waits for is one of a page.
    if arguments.get("action").is_some_and(|action| action == "wait") {
        return false;
    }
    // Whatever else is given with a typed text may be that text under a wrong name.
    if arguments.get("action").and_then(Value::as_str).is_some_and(|action| action.contains("keyboard_input")) {
        let known = ["action", "element_id", "tab_id", "append", "submit", "text"];
        for (_, value) in arguments.iter_mut().filter(|(name, _)| !known.contains(&name.as_str())) {
            has_any |= cover_value(value);
        }
    }
    for name in ["text", "value", "values"] {
        if name != "text" && arguments.contains_key("action") {
            continue; // options of a list, the position of a slider
        }
        if let Some(text) = arguments.get_mut(name) {
            has_any |= cover_value(text);
        }
    }
    match arguments.get_mut("fields") {
        Some(Value::Object(field)) => has_any |= cover(field),
        Some(Value::Array(fields)) => {
            for field in fields {
                has_any |= match field {
                    Value::Object(field) => cover(field),
                    other => cover_value(other),
                };
            }
        }
        Some(other) => has_any |= cover_value(other),
        None => {}
    }
    has_any
}

/// Covers a value, unless it cannot be a secret. Whether it was covered.
fn cover_value(value: &mut Value) -> bool {
    if matches!(value, Value::Null | Value::Bool(_)) || *value == "" {
        return false;
    }
    // The name of a stored secret is none.
    if value.as_str().is_some_and(is_only_secrets) {
        return false;
    }
    *value = Secrets::COVER.into();
    true
}

/// Whether a call would type the cover of a text that was withheld from the history.
pub(super) fn types_cover(tool: &str, arguments: &Map<String, Value>) -> bool {
    // A confirmation repeats what the model reads in its own call; the text of the preview is typed.
    if arguments.get("action").and_then(Value::as_str).is_some_and(|action| action.starts_with("confirm")) {
        return false;
    }
    let has_cover = |value: &Value| *value == Secrets::COVER;
    let field = |field: &Value| ["text", "value"].iter().any(|name| has_cover(&field[*name]));
    withheld(tool, arguments).is_some()
        && (["text", "value", "values"].iter().any(|name| arguments.get(*name).is_some_and(has_cover))
            || arguments.get("fields").and_then(Value::as_array).is_some_and(|fields| fields.iter().any(field)))
}

/// Whether a typed text stays out of the database: its field is secret, or not known. The mark is removed from the result: it is
/// not for the model.
pub(super) fn take_is_secret(result: &mut Value) -> bool {
    let mark = result.as_object_mut().and_then(|result| result.remove(SECRET_FIELD));
    mark.and_then(|mark| mark.as_bool()).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_withheld_and_the_rest_is_kept() {
        let withheld = |tool: &str, arguments: Value| withheld(tool, arguments.as_object().unwrap()).map(Value::Object);
        for (tool, given, expected) in [
            (
                "element_interaction",
                json!({ "action": "keyboard_input", "element_id": "a1b2c3", "text": "x" }),
                Some(json!({ "action": "keyboard_input", "element_id": "a1b2c3", "text": "[secret]" })),
            ),
            ("element_interaction", json!({ "action": "select", "value": "red" }), None),
            ("element_interaction", json!({ "action": "wait", "text": "Ready" }), None),
            ("element_interaction", json!({ "action": "keyboard_input", "text": "" }), None),
            (
                "element_interaction",
                json!({ "action": "keyboard_input", "value": "x", "password": "y" }),
                Some(json!({ "action": "keyboard_input", "value": "[secret]", "password": "[secret]" })),
            ),
            ("browser_type", json!({ "ref": "e1", "text": "x" }), Some(json!({ "ref": "e1", "text": "[secret]" }))),
            (
                "browser_fill",
                json!({ "fields": [{ "ref": "e1", "value": "x" }, { "ref": "e2", "value": true }] }),
                Some(json!({ "fields": [{ "ref": "e1", "value": "[secret]" }, { "ref": "e2", "value": true }] })),
            ),
            ("todo", json!({ "text": "x" }), None),
            ("browser_type", json!({ "ref": "e1", "text": "{{secret:shop}}" }), None),
            ("browser_type", json!({ "text": "x {{secret:shop}}" }), Some(json!({ "text": "[secret]" }))),
            (
                "element_interaction",
                json!({ "action": "keyboard_input", "text": 482913 }),
                Some(json!({ "action": "keyboard_input", "text": "[secret]" })),
            ),
            ("browser_fill", json!({ "fields": "[{\"value\":\"x\"}]" }), Some(json!({ "fields": "[secret]" }))),
            (
                "browser_fill",
                json!({ "fields": { "value": ["x"] } }),
                Some(json!({ "fields": { "value": "[secret]" } })),
            ),
            ("browser_fill", json!({ "fields": ["x"] }), Some(json!({ "fields": ["[secret]"] }))),
        ] {
            assert_eq!(withheld(tool, given), expected, "{tool}");
        }
        let types = |tool: &str, arguments: Value| types_cover(tool, arguments.as_object().unwrap());
        assert!(types("browser_type", json!({ "text": "[secret]" })));
        assert!(types("browser_fill", json!({ "fields": [{ "value": "[secret]" }] })));
        assert!(!types("element_interaction", json!({ "action": "confirm_keyboard_input", "text": "[secret]" })));
        assert!(!types("browser_type", json!({ "text": "x" })) && !types("todo", json!({ "text": "[secret]" })));
        let mut result = json!({ "success": true, "secret_field": true });
        assert!(take_is_secret(&mut result));
        assert_eq!(result, json!({ "success": true }));
        assert!(take_is_secret(&mut json!({ "success": true })));
        assert!(take_is_secret(&mut json!({ "success": false })));
        assert!(!take_is_secret(&mut json!({ "success": true, "secret_field": false })));
        assert!(!take_is_secret(&mut json!({ "success": false, "secret_field": false })));
    }
}
