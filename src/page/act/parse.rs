//! Parsing the JSON of an action. Unknown kinds and fields are refused by name.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::super::Error;
use super::{ACTIONS, Act, ActKind, ActionSpec, FieldSpec, FieldType, Input, Locator};
use crate::fields::{self, Misfit, Problem, Style};

/// Characters of the path of an unknown field that an error repeats.
const LONGEST_PATH: usize = 80;

impl Act {
    /// Reads an action from JSON.
    ///
    /// # Errors
    /// [`Error::UnknownKind`], [`Error::UnknownField`] also for the actions of a batch and the fields of a form,
    /// [`Error::BadRequest`] for invalid values.
    pub fn parse(value: Value) -> Result<Self, Error> {
        let fitted = fitted(value, "")?;
        // Every field has fitted its type.
        let act: Self = serde_json::from_value(fitted).map_err(|_| bad("the action is not valid".to_owned()))?;
        effective(&act, "")?;
        Ok(act)
    }
}

/// Refuses `force` and `input: synthetic` where they have no effect, with their path in the request.
fn effective(act: &Act, path: &str) -> Result<(), Error> {
    let (kind, spec) = (act.kind.name(), act.kind.spec());
    let refuse = |field: &str| {
        let instead = if kind == "batch" { "give it to the actions of the batch" } else { "leave it out" };
        Err(Error::BadRequest { problem: format!("{path}{field}: it has no effect on {kind}; {instead}") })
    };
    if act.force && spec.is_some_and(|spec| !spec.takes_force) {
        return refuse("force");
    }
    if act.input == Some(Input::Synthetic) && spec.is_some_and(|spec| !spec.takes_input) {
        return refuse("input");
    }
    if let ActKind::Batch { actions, .. } = &act.kind {
        for (index, act) in actions.iter().enumerate() {
            effective(act, &format!("{path}actions[{index}]."))?;
        }
    }
    Ok(())
}

/// The action with each value in the type of its field. Unknown kinds and fields are refused with their path in the request.
fn fitted(value: Value, place: &str) -> Result<Value, Error> {
    let Value::Object(mut map) = value else { return Err(bad(format!("{place}an action must be a JSON object"))) };
    let kinds = || ACTIONS.iter().map(|action| action.kind).collect::<Vec<_>>().join(", ");
    let kind = map.get("kind").ok_or_else(|| bad(format!("{place}kind is missing; known kinds: {}", kinds())))?;
    let kind = kind.as_str().ok_or_else(|| bad(format!("{place}kind must be a string")))?;
    let Some((action, schema)) = SCHEMAS.iter().find(|(action, _)| action.kind == kind) else {
        return Err(Error::UnknownKind { kind: kind.chars().take(40).collect(), known: kinds() });
    };
    if let Some(Value::Array(actions)) = map.get_mut("actions").filter(|_| has_actions(action)) {
        for (index, action) in actions.iter_mut().enumerate() {
            *action = fitted(action.take(), &format!("{place}actions[{index}]."))?;
        }
    }
    fields::fit(Value::Object(map), schema, Style::Exact).map_err(|misfit| refused(misfit, place, action.kind))
}

fn has_actions(action: &ActionSpec) -> bool {
    action.fields.iter().any(|field| matches!(field.value, FieldType::List(FieldType::Action)))
}

/// All actions with their schemas.
static SCHEMAS: LazyLock<Vec<(&ActionSpec, Value)>> =
    LazyLock::new(|| ACTIONS.iter().map(|action| (action, object(&[Act::FIELDS, action.fields]))).collect());

/// The schema of an object with these fields.
fn object(fields: &[&[FieldSpec]]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields.iter().copied().flatten() {
        match field.value {
            FieldType::Internal => {}
            FieldType::Element => {
                properties
                    .extend(Locator::FIELDS.iter().map(|field| (field.name.to_owned(), optional(typed(field.value)))));
            }
            value if field.required => {
                required.push(field.name);
                properties.insert(field.name.to_owned(), typed(value));
            }
            value => {
                properties.insert(field.name.to_owned(), optional(typed(value)));
            }
        }
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn typed(value: FieldType) -> Value {
    match value {
        FieldType::Boolean => json!({ "type": "boolean" }),
        FieldType::Count | FieldType::Integer => json!({ "type": "integer", "minimum": 0 }),
        FieldType::Signed => json!({ "type": "integer", "format": "int32" }),
        FieldType::Number => json!({ "type": "number" }),
        FieldType::Choice(names) => json!({ "enum": names }),
        FieldType::FormValue => json!({ "anyOf": [
            { "type": "string" }, { "type": "number" }, { "type": "boolean" },
            { "type": "array", "items": { "type": "string" } },
        ] }),
        FieldType::List(inner) => json!({ "type": "array", "items": typed(*inner) }),
        FieldType::Object(fields) => object(&[fields]),
        FieldType::Either(types) => json!({ "anyOf": types.iter().map(|one| typed(*one)).collect::<Vec<_>>() }),
        FieldType::Action => json!({ "type": "object" }),
        FieldType::Text | FieldType::Element | FieldType::Internal => json!({ "type": "string" }),
    }
}

/// A field that may be omitted may be `null` too, except a switch.
fn optional(schema: Value) -> Value {
    if schema["type"] == "boolean" { schema } else { json!({ "anyOf": [schema, { "type": "null" }] }) }
}

/// A part that does not fit, as an error with its path in the request.
fn refused(misfit: Misfit, place: &str, kind: &str) -> Error {
    let Misfit { at, problem } = misfit;
    match problem {
        Problem::Unknown { known, .. } => Error::UnknownField {
            field: format!("{place}{}", at.chars().take(LONGEST_PATH).collect::<String>()),
            of: kind.to_owned(),
            known: known.join(", "),
        },
        problem => bad(Misfit { at: format!("{place}{at}"), problem }.to_string()),
    }
}

fn bad(problem: String) -> Error {
    Error::BadRequest { problem }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_that_there_is_has_its_fields() {
        let value = |field: &FieldSpec| match field.value {
            FieldType::Boolean => json!(true),
            FieldType::Count | FieldType::Integer => json!(1),
            FieldType::Number => json!(1.5),
            FieldType::Choice(names) => json!(names[0]),
            FieldType::List(_) => json!([]),
            _ => json!("a"),
        };
        for action in ACTIONS {
            let is_required = |field: &&FieldSpec| field.required && !matches!(field.value, FieldType::Element);
            let mut act = json!({ "kind": action.kind });
            for field in action.fields.iter().filter(is_required) {
                act[field.name] = value(field);
            }
            let parsed = Act::parse(act.clone()).unwrap();
            assert_eq!(parsed.kind.name(), action.kind);
            assert_eq!(serde_json::to_value(&parsed).unwrap(), act, "fields with their defaults are left out");
            for field in action.fields.iter().filter(is_required) {
                let mut without = act.clone();
                without.as_object_mut().unwrap().remove(field.name);
                assert!(Act::parse(without).is_err(), "{}: {}", action.kind, field.name);
            }
            for name in action.fields.iter().flat_map(FieldSpec::names) {
                assert!(name.chars().all(char::is_alphanumeric), "{}: {name} is not in camelCase", action.kind);
            }
        }
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
        let forced = json!({"kind": "batch", "actions": [{"kind": "resize", "width": 1, "height": 1, "force": true}]});
        assert!(error(forced).to_string().starts_with("actions[0].force: it has no effect on resize"));
        let synthetic = error(json!({"kind": "evaluate", "fn": "1", "input": "synthetic"}));
        assert!(synthetic.code() == "BAD_REQUEST" && synthetic.to_string().starts_with("input:"), "{synthetic}");
        for (act, problem) in [
            (
                json!({"kind": "click", "ref": "e1", "timeoutMs": "x"}),
                "timeoutMs: expected a whole number, 0 or more, got a string",
            ),
            (json!({"kind": "fill", "fields": [{"ref": "e2"}]}), "fields[0].value is missing"),
            (json!({"kind": "press"}), "key is missing"),
            (json!({"kind": "click", "ref": 5}), "ref: expected a string, got 5"),
            (
                json!({"kind": "scroll", "direction": "north"}),
                "direction: \"north\" is not valid; use up, down, left or right",
            ),
            (json!({"kind": "batch", "actions": {}}), "actions: expected a list of objects, got an object"),
            (json!({"kind": "batch", "actions": [{"kind": "resize", "width": 1}]}), "actions[0].height is missing"),
        ] {
            assert_eq!(error(act).to_string(), problem);
        }
        let internal = error(json!({"kind": "click", "ref": "e1", "read_only": true})).to_string();
        assert!(internal.contains("unknown field \"read_only\""), "{internal}");
        let fine = json!({"kind": "scroll", "direction": "up", "force": true, "input": "synthetic"});
        assert!(Act::parse(fine).is_ok());
    }
}
