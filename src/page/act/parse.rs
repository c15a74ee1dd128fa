//! Parsing the JSON of an action. Unknown kinds and fields are refused by name.

use serde_json::{Map, Value};

use super::super::Error;
use super::{ACTIONS, Act, ActKind, Field, FieldSpec, FieldType, Input, Locator};
use crate::text::serde_in_words;

impl Act {
    /// Reads an action from JSON.
    ///
    /// # Errors
    /// [`Error::UnknownKind`], [`Error::UnknownField`] also for the actions of a batch and the fields of a form,
    /// [`Error::BadRequest`] for invalid values.
    pub fn parse(value: Value) -> Result<Self, Error> {
        check(&value, "")?;
        let act: Self =
            serde_json::from_value(value).map_err(|problem| bad(serde_in_words("", &problem.to_string())))?;
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

/// Refuses unknown kinds and fields, with their path in the request.
fn check(value: &Value, place: &str) -> Result<(), Error> {
    let map = value.as_object().ok_or_else(|| bad(format!("{place}an action must be a JSON object")))?;
    let kinds = || ACTIONS.iter().map(|action| action.kind).collect::<Vec<_>>().join(", ");
    let kind = map.get("kind").ok_or_else(|| bad(format!("{place}kind is missing; known kinds: {}", kinds())))?;
    let kind = kind.as_str().ok_or_else(|| bad(format!("{place}kind must be a string")))?;
    let Some(action) = ACTIONS.iter().find(|action| action.kind == kind) else {
        return Err(Error::UnknownKind { kind: kind.chars().take(40).collect(), known: kinds() });
    };
    known(map, &[Act::FIELDS, action.fields], place, kind)?;
    for fields in [Act::FIELDS, action.fields] {
        fit(map, fields, place)?;
    }
    for (index, action) in list(map, "actions").iter().enumerate() {
        check(action, &format!("{place}actions[{index}]."))?;
    }
    for (index, field) in list(map, "fields").iter().enumerate() {
        if let Some(field) = field.as_object() {
            let place = format!("{place}fields[{index}].");
            known(field, &[Field::FIELDS], &place, kind)?;
            fit(field, Field::FIELDS, &place)?;
        }
    }
    Ok(())
}

/// Refuses missing fields and values of the wrong type, which serde would refuse without the name of the field.
fn fit(map: &Map<String, Value>, fields: &[FieldSpec], place: &str) -> Result<(), Error> {
    for field in fields {
        match field.value {
            FieldType::Element => fit(map, Locator::FIELDS, place)?,
            FieldType::Other | FieldType::Internal => {}
            kind => match map.get(field.name) {
                Some(value) if !value.is_null() => {
                    fits(value, kind).map_err(|problem| bad(format!("{place}{}{problem}", field.name)))?;
                }
                Some(_) => {}
                None if field.required => return Err(bad(format!("{place}{} is missing", field.name))),
                None => {}
            },
        }
    }
    Ok(())
}

/// Checks the type of a value. The error follows the name of the field.
fn fits(value: &Value, kind: FieldType) -> Result<(), String> {
    let expected = match kind {
        FieldType::Boolean if !value.is_boolean() => "true or false",
        FieldType::Text if !value.is_string() => "a string",
        FieldType::Count | FieldType::Integer if !value.is_u64() => "a whole number, 0 or more",
        FieldType::Number if !value.is_number() => "a number",
        FieldType::Choice(names) => match value.as_str() {
            Some(name) if names.contains(&name) => return Ok(()),
            given => {
                let known = names.split_last().map_or_else(String::new, |(last, first)| match first {
                    [] => (*last).to_owned(),
                    _ => format!("{} or {last}", first.join(", ")),
                });
                return Err(match given {
                    Some(name) => {
                        format!(": {:?} is not valid; use {known}", name.chars().take(40).collect::<String>())
                    }
                    None => format!(": expected {known}"),
                });
            }
        },
        FieldType::List(inner) => match value.as_array() {
            Some(values) => {
                for (index, value) in values.iter().enumerate() {
                    fits(value, *inner).map_err(|problem| format!("[{index}]{problem}"))?;
                }
                return Ok(());
            }
            None => "a list",
        },
        _ => return Ok(()),
    };
    Err(format!(": expected {expected}, got {}", type_of(value)))
}

/// What a value is, in words; a number as it is.
fn type_of(value: &Value) -> String {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) => return number.to_string(),
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    name.to_owned()
}

fn bad(problem: String) -> Error {
    Error::BadRequest { problem }
}

fn list<'a>(map: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    map.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn known(map: &Map<String, Value>, fields: &[&[FieldSpec]], place: &str, kind: &str) -> Result<(), Error> {
    let all = || fields.iter().copied().flatten().flat_map(FieldSpec::names);
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
            (json!({"kind": "batch", "actions": {}}), "actions: expected a list, got an object"),
            (json!({"kind": "batch", "actions": [{"kind": "resize", "width": 1}]}), "actions[0].height is missing"),
        ] {
            assert_eq!(error(act).to_string(), problem);
        }
        let internal = error(json!({"kind": "click", "ref": "e1", "read_only": true})).to_string();
        assert!(internal.contains("unknown field \"read_only\"") && !internal.contains("insert_lines"), "{internal}");
        let fine = json!({"kind": "scroll", "direction": "up", "force": true, "input": "synthetic"});
        assert!(Act::parse(fine).is_ok());
    }
}
