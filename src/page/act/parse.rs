//! Parsing the JSON of an action. Unknown kinds and fields are refused by name.

use serde_json::{Map, Value};

use super::super::Error;
use super::Act;

/// Fields of every action.
const COMMON: [&str; 6] = ["kind", "timeoutMs", "input", "force", "delta", "settle"];
const LOCATOR: [&str; 5] = ["ref", "selector", "locator", "nth", "frameId"];

/// All kinds, with their fields beside the common ones.
const KINDS: [(&str, bool, &[&str]); 20] = [
    // kind, whether it has a locator, fields
    ("click", true, &["double", "button", "modifiers"]),
    ("hover", true, &[]),
    ("focus", true, &[]),
    ("scrollIntoView", true, &[]),
    ("clickCoords", false, &["x", "y", "double", "button"]),
    ("mouse", false, &["events"]),
    ("type", true, &["text", "submit", "slowly", "append"]),
    ("insertText", false, &["text"]),
    ("press", true, &["key", "repeat"]),
    (
        "drag",
        false,
        &[
            "startRef",
            "startSelector",
            "startLocator",
            "start",
            "endRef",
            "endSelector",
            "endLocator",
            "end",
            "steps",
            "frameId",
        ],
    ),
    ("select", true, &["values"]),
    ("check", true, &[]),
    ("uncheck", true, &[]),
    ("fill", false, &["fields", "submit"]),
    ("scroll", true, &["direction", "pixels"]),
    (
        "wait",
        false,
        &[
            "timeMs",
            "text",
            "textGone",
            "selector",
            "url",
            "loadState",
            "fn",
            "ref",
            "locator",
            "nth",
            "state",
            "frameId",
        ],
    ),
    ("resize", false, &["width", "height"]),
    ("close", false, &[]),
    ("evaluate", false, &["fn", "ref", "locator", "frameId"]),
    ("batch", false, &["actions", "stopOnError"]),
];
const FIELD: [&str; 6] = ["ref", "selector", "locator", "nth", "frameId", "value"];

impl Act {
    /// Reads an action from JSON.
    ///
    /// # Errors
    /// [`Error::UnknownKind`], [`Error::UnknownField`] also for the actions of a batch and the fields of a form,
    /// [`Error::BadRequest`] for invalid values.
    pub fn parse(value: Value) -> Result<Self, Error> {
        check(&value, "")?;
        let act: Self =
            serde_json::from_value(value).map_err(|problem| Error::BadRequest { problem: problem.to_string() })?;
        Ok(act)
    }
}

/// Refuses unknown kinds and fields, with their path in the request.
fn check(value: &Value, place: &str) -> Result<(), Error> {
    let bad = |problem: String| Error::BadRequest { problem };
    let map = value.as_object().ok_or_else(|| bad(format!("{place}an action must be a JSON object")))?;
    let kinds = || KINDS.map(|(kind, ..)| kind).join(", ");
    let kind = map.get("kind").ok_or_else(|| bad(format!("{place}kind is missing; known kinds: {}", kinds())))?;
    let kind = kind.as_str().ok_or_else(|| bad(format!("{place}kind must be a string")))?;
    let Some((_, located, own)) = KINDS.iter().find(|(known, ..)| *known == kind) else {
        return Err(Error::UnknownKind { kind: kind.chars().take(40).collect(), known: kinds() });
    };
    let located: &[&str] = if *located { &LOCATOR } else { &[] };
    known(map, &[&COMMON, located, own], place, kind)?;
    for (index, action) in list(map, "actions").iter().enumerate() {
        check(action, &format!("{place}actions[{index}]."))?;
    }
    for (index, field) in list(map, "fields").iter().enumerate() {
        if let Some(field) = field.as_object() {
            known(field, &[&FIELD], &format!("{place}fields[{index}]."), kind)?;
        }
    }
    Ok(())
}

fn list<'a>(map: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    map.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn known(map: &Map<String, Value>, fields: &[&[&str]], place: &str, kind: &str) -> Result<(), Error> {
    let all = || fields.iter().flat_map(|part| part.iter().copied());
    match map.keys().find(|key| !all().any(|field| field == key.as_str())) {
        None => Ok(()),
        Some(key) => Err(Error::UnknownField {
            field: format!("{place}{}", key.chars().take(40).collect::<String>()),
            of: kind.to_owned(),
            known: all().collect::<Vec<_>>().join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_that_there_is_has_its_fields() {
        let least = json!({
            "click": {}, "hover": {}, "focus": {}, "scrollIntoView": {}, "clickCoords": {"x": 1, "y": 2}, "mouse": {"events": []},
            "type": {"text": ""}, "insertText": {"text": ""}, "press": {"key": "a"}, "drag": {}, "select": {"values": []},
            "check": {}, "uncheck": {}, "fill": {"fields": []}, "scroll": {"direction": "up"}, "wait": {},
            "resize": {"width": 1, "height": 1}, "close": {}, "evaluate": {"fn": "1"}, "batch": {"actions": []},
        });
        for (kind, located, fields) in KINDS {
            let mut act = least[kind].clone();
            act["kind"] = kind.into();
            let parsed = Act::parse(act).unwrap();
            let back = serde_json::to_value(&parsed).unwrap();
            let mut known: Vec<&str> = COMMON.into_iter().chain(fields.iter().copied()).collect();
            known.extend(if located { LOCATOR.as_slice() } else { &[] });
            for key in back.as_object().unwrap().keys() {
                assert!(known.contains(&key.as_str()), "{kind}: {key}");
            }
        }
        let all = least.as_object().unwrap().len();
        assert_eq!(all, KINDS.len());
    }

    #[test]
    fn what_is_not_known_is_named_with_its_place() {
        let error = |value: Value| Act::parse(value).unwrap_err();
        assert_eq!(error(json!({"kind": "fly"})).code(), "UNKNOWN_KIND");
        assert_eq!(error(json!({})).code(), "BAD_REQUEST");
        assert_eq!(error(json!([])).code(), "BAD_REQUEST");
        assert_eq!(error(json!({"kind": "click", "ref": "e1", "x": 1})).code(), "UNKNOWN_FIELD");
        let nested = json!({"kind": "batch", "actions": [{"kind": "hover"}, {"kind": "press", "key": "a", "keys": 1}]});
        assert!(error(nested).to_string().contains("actions[1].keys"));
        let field = json!({"kind": "fill", "fields": [{"ref": "e1", "value": "x", "type": "text"}]});
        assert!(error(field).to_string().contains("fields[0].type"));
        assert_eq!(error(json!({"kind": "scroll", "direction": "north"})).code(), "BAD_REQUEST");
    }
}
