//! Text that a model types: it is stored only once its field is known to be no secret one, such as a password field.

use serde_json::{Map, Value};

use crate::redact::Secrets;
use crate::tools::SECRET_FIELD;

/// The arguments of a call without the text that it types; `None` if it types none.
pub(super) fn withheld(tool: &str, arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
    let types = matches!(tool, "element_interaction" | "browser_type" | "browser_fill");
    let mut arguments = arguments.clone();
    (types && cover(&mut arguments)).then_some(arguments)
}

/// Covers the texts of arguments. Whether there are any.
fn cover(arguments: &mut Map<String, Value>) -> bool {
    let mut has_any = false;
    for name in ["text", "value", "values"] {
        if name != "text" && arguments.contains_key("action") {
            continue; // options of a list, the position of a slider
        }
        if let Some(text @ Value::String(_)) = arguments.get_mut(name)
            && text != ""
        {
            *text = Secrets::COVER.into();
            has_any = true;
        }
    }
    let fields = arguments.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten();
    for field in fields.filter_map(Value::as_object_mut) {
        has_any |= cover(field);
    }
    has_any
}

/// Whether a typed text stays out of the database: its field is secret, or the call failed before the field was known. The
/// mark is removed from the result: it is not for the model.
pub(super) fn take_is_secret(result: &mut Value) -> bool {
    let mark = result.as_object_mut().and_then(|result| result.remove(SECRET_FIELD));
    mark.and_then(|mark| mark.as_bool()).unwrap_or(result["success"] != true)
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
            ("element_interaction", json!({ "action": "keyboard_input", "text": "" }), None),
            ("browser_type", json!({ "ref": "e1", "text": "x" }), Some(json!({ "ref": "e1", "text": "[secret]" }))),
            (
                "browser_fill",
                json!({ "fields": [{ "ref": "e1", "value": "x" }, { "ref": "e2", "value": true }] }),
                Some(json!({ "fields": [{ "ref": "e1", "value": "[secret]" }, { "ref": "e2", "value": true }] })),
            ),
            ("todo", json!({ "text": "x" }), None),
        ] {
            assert_eq!(withheld(tool, given), expected, "{tool}");
        }
        let mut result = json!({ "success": true, "secret_field": true });
        assert!(take_is_secret(&mut result));
        assert_eq!(result, json!({ "success": true }));
        assert!(!take_is_secret(&mut result));
        assert!(take_is_secret(&mut json!({ "success": false })));
        assert!(!take_is_secret(&mut json!({ "success": false, "secret_field": false })));
    }
}
