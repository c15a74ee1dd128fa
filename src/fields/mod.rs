//! Reads JSON from outside by its JSON Schema: requests, arguments of tools, query parameters, settings. What does not fit is
//! named with its path, in words of whoever wrote it; libraries and Rust types are not mentioned.
//!
//! Understood are the keywords that types derive: `type`, `enum`, `const`, `anyOf`, `oneOf`, `properties`, `required`,
//! `additionalProperties`, `items`, `minimum`, and `format` of integers and passwords. References are not followed: schemas are inline.
//! Lengths, patterns and other limits are left to whoever uses the value.

mod fit;
mod misfit;
mod words;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use misfit::{Misfit, Problem};

/// How strictly values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As JSON: each value has its type. Errors repeat wrong numbers and unknown words, but not for `format: password`.
    Exact,
    /// As [`Exact`](Self::Exact), for values that may be secret: errors repeat nothing.
    Discreet,
    /// As text, which is converted to the type: `"5"` is a number, `"1"` and `""` are true.
    Text,
    /// As models write: text for numbers and numbers for text, `null` for an omitted field, one value for a list, JSON in a
    /// string. Errors repeat nothing, and describe what is expected.
    Lenient,
}

/// The value with each part converted to the type of its schema.
///
/// # Errors
/// The first [`Misfit`].
pub fn fit(value: Value, schema: &Value, style: Style) -> Result<Value, Misfit> {
    fit::Fit { style }.value(value, schema, "")
}

/// A value that fits the schema of a type, as this type.
///
/// # Errors
/// What the type refuses although it fits: types that read themselves may. The path and what the schema expects there.
pub fn decode<T: DeserializeOwned>(value: Value, schema: &Value, style: Style) -> Result<T, Misfit> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        // Its message is not used: it may repeat the value.
        let (at, part) = fit::deepest(schema, error.path());
        Misfit { at, problem: Problem::Value { expected: words::expected(part, style), given: None } }
    })
}

/// Reads a value into a type, by the schema of the type.
///
/// # Errors
/// The first [`Misfit`].
pub fn read<T: DeserializeOwned>(value: Value, schema: &Value, style: Style) -> Result<T, Misfit> {
    decode(fit(value, schema, style)?, schema, style)
}

/// The schema of a type, inline and without a title.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(map) = &mut schema {
        map.remove("title");
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A small schema, as types derive it.
    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["url"],
            "properties": {
                "url": { "type": "string", "description": "Where to go" },
                "count": { "type": ["integer", "null"], "format": "uint", "minimum": 0 },
                "quality": { "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 },
                "offset": { "type": "integer", "format": "int32" },
                "ratio": { "type": "number" },
                "on": { "type": "boolean" },
                "mode": { "anyOf": [{ "type": "boolean" }, { "type": "string", "enum": ["auto"] }] },
                "level": { "oneOf": [{ "const": "low" }, { "const": "high" }] },
                "names": { "type": "array", "items": { "type": "string" } },
                "pin": { "type": "string", "format": "password" },
                "inner": {
                    "type": "object",
                    "properties": { "width": { "type": "integer", "minimum": 1, "format": "uint32" } },
                    "required": ["width"],
                    "additionalProperties": false,
                },
            },
        })
    }

    fn error(value: Value, style: Style) -> String {
        fit(value, &schema(), style).unwrap_err().to_string()
    }

    fn with(name: &str, value: Value) -> Value {
        json!({ "url": "x", name: value })
    }

    #[test]
    fn values_that_do_not_fit_are_named_in_words() {
        for (value, message) in [
            (json!({}), "url is missing"),
            (with("count", "a".into()), "count: expected a whole number, 0 or more, got a string"),
            (with("count", (-1).into()), "count: expected a whole number, 0 or more, got -1"),
            (with("quality", 300.into()), "quality: expected a whole number from 0 to 255, got 300"),
            (with("offset", 1.5.into()), "offset: expected a whole number, got 1.5"),
            (with("ratio", json!([])), "ratio: expected a number, got a list"),
            (with("on", Value::Null), "on: expected true or false, got null"),
            (with("mode", "x".into()), "mode: \"x\" is not valid; use auto, true or false"),
            (with("mode", 1.into()), "mode: expected auto, true or false, got 1"),
            (with("level", "x".into()), "level: \"x\" is not valid; use low or high"),
            (with("level", 1.into()), "level: expected low or high, got 1"),
            (with("names", json!(["a", 2])), "names[1]: expected a string, got 2"),
            (with("names", "a".into()), "names: expected a list of strings, got a string"),
            (with("inner", json!({})), "inner.width is missing"),
            (with("inner", 3.into()), "inner: expected an object with width, got 3"),
            (with("inner", json!({ "width": 1, "heigth": 2 })), "unknown field heigth; known fields: width"),
            (json!([]), "expected an object with url, got a list"),
        ] {
            assert_eq!(error(value, Style::Exact), message);
        }
        let unknown = fit(json!({ "url": "x", "inner": { "b": 1 } }), &schema(), Style::Exact).unwrap_err();
        assert_eq!(unknown.at, "inner.b");
        for fine in [with("count", Value::Null), with("mode", "auto".into()), with("mode", true.into())] {
            assert_eq!(fit(fine.clone(), &schema(), Style::Exact).unwrap(), fine);
        }
        assert_eq!(fit(with("count", 5.0.into()), &schema(), Style::Exact).unwrap()["count"].to_string(), "5");
    }

    #[test]
    fn values_that_may_be_secret_are_not_repeated() {
        for style in [Style::Discreet, Style::Lenient] {
            for value in
                [with("count", "s3cret".into()), with("level", "s3cret".into()), with("ratio", json!(["s3cret"]))]
            {
                assert!(!error(value, style).contains("s3cret"));
            }
        }
        assert_eq!(error(with("level", "x".into()), Style::Discreet), "level: unknown value; use low or high");
        assert_eq!(error(with("pin", 482_913.into()), Style::Exact), "pin: expected a string, got a number");
    }

    #[test]
    fn text_becomes_the_type() {
        for (text, on) in [("true", true), ("1", true), ("", true), ("false", false), ("0", false)] {
            assert_eq!(fit(with("on", text.into()), &schema(), Style::Text).unwrap()["on"], on, "{text}");
        }
        let all = fit(json!({ "url": "1", "count": "7", "ratio": "1.5" }), &schema(), Style::Text).unwrap();
        assert_eq!(all, json!({ "url": "1", "count": 7, "ratio": 1.5 }));
        assert_eq!(error(with("on", "yes".into()), Style::Text), "on: expected true or false, got \"yes\"");
        assert!(error(with("ratio", "NaN".into()), Style::Text).starts_with("ratio: expected a number"));
    }

    #[test]
    fn models_may_write_values_in_other_types() {
        let given = json!({
            "url": 7, "count": null, "ratio": "2", "on": "True", "level": " HIGH ", "names": "a", "inner": "{\"width\": 3.0}",
        });
        let fitted = json!({
            "url": "7", "ratio": 2, "on": true, "level": "high", "names": ["a"], "inner": { "width": 3 },
        });
        assert_eq!(fit(given, &schema(), Style::Lenient).unwrap(), fitted);
        for (value, message) in [
            (json!({}), "url is missing; expected a string (Where to go)"),
            (json!({ "url": null }), "url: expected a string (Where to go), got null"),
            (with("inner", json!({ "width": 0 })), "inner.width: expected a whole number, 1 or more, got a number"),
            (with("names", json!(["a", null])), "names[1]: expected a string, got null"),
        ] {
            assert_eq!(error(value, Style::Lenient), message);
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[allow(dead_code)] // only read from JSON
        inner: std::net::IpAddr,
    }

    #[test]
    fn what_a_type_itself_refuses_has_a_path_and_no_value() {
        let schema = json!({ "type": "object", "properties": { "inner": { "type": "string" } } });
        let error = read::<Outer>(json!({ "inner": "s3cret" }), &schema, Style::Exact).unwrap_err();
        assert_eq!(error.to_string(), "inner: expected a string");
    }
}
