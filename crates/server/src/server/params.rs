//! Parses query parameters and JSON bodies. Unknown names are rejected with the nearest known one.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::config::nearest;
use cdpilot::code::Code;
use cdpilot::fields::{self, Misfit, Problem, Style};

/// Characters of a name or value that an error quotes.
const SHOWN: usize = 60;

/// Parses a query into the fields of a schema.
pub(super) fn query(pairs: &[(String, String)], schema: &Value) -> Result<Map<String, Value>, ApiError> {
    let mut map = Map::new();
    for (name, value) in pairs {
        if map.insert(name.clone(), value.as_str().into()).is_some() {
            return Err(ApiError::bad(format!("query parameter {} is given twice; send it once", shown(name))));
        }
    }
    let fitted =
        fields::fit(Value::Object(map), schema, Style::Text).map_err(|misfit| refused(misfit, "query parameter"))?;
    Ok(object(fitted))
}

/// Parses the body of a request as a JSON object with the fields of a schema; an empty body is `{}`.
pub(super) fn body(bytes: &[u8], schema: &Value) -> Result<Map<String, Value>, ApiError> {
    let body = if bytes.iter().all(u8::is_ascii_whitespace) {
        Ok(Value::Object(Map::new()))
    } else {
        serde_json::from_slice::<Unique>(bytes).map(|unique| unique.0)
    };
    match body {
        Ok(body @ Value::Object(_)) => {
            Ok(object(fields::fit(body, schema, Style::Exact).map_err(|misfit| refused(misfit, "field"))?))
        }
        Ok(_) => {
            Err(ApiError::bad("the body is not a JSON object; send one, such as {\"url\": \"https://example.com\"}"))
        }
        Err(problem) => Err(ApiError::bad(format!("the body is not valid JSON: {problem}"))),
    }
}

/// JSON in which no object has a field twice: only one of the values would be used.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let Unique(value) = fields.next_value()?;
            if all.contains_key(&name) {
                return Err(A::Error::custom(format!("the field {} is given twice; send it once", shown(&name))));
            }
            all.insert(name, value);
        }
        Ok(all.into())
    }
}

/// The fields that have fitted the schema, as a type.
pub(super) fn decode<T: DeserializeOwned>(map: Map<String, Value>, schema: &Value) -> Result<T, ApiError> {
    fields::decode(Value::Object(map), schema, Style::Exact).map_err(|misfit| refused(misfit, "field"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A part of a request that does not fit; `what` it is a part of.
fn refused(misfit: Misfit, what: &str) -> ApiError {
    match &misfit.problem {
        Problem::Unknown { name, known, .. } => {
            let mut failure = unknown(what, name, known.iter().map(String::as_str));
            if misfit.at != *name {
                failure.error = format!("{}: {}", shown(&misfit.at), failure.error);
            }
            failure
        }
        _ if what == "field" => ApiError::bad(misfit.to_string()),
        _ => ApiError::bad(format!("{what} {misfit}")),
    }
}

/// An error for an unknown name, with the known ones.
pub(super) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> ApiError {
    let known: Vec<&str> = known.collect();
    let hint = nearest(name, known.iter().copied())
        .map(|suggestion| format!("; did you mean {suggestion}?"))
        .unwrap_or_default();
    let list =
        if known.is_empty() { "none are accepted here".to_owned() } else { format!("known: {}", known.join(", ")) };
    ApiError::new(Code::UnknownField, format!("unknown {what} {}{hint} ({list})", shown(name)))
        .with("field", &shown(name))
}

/// The beginning of a text from a client, without control characters, to be quoted in errors.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code)] // only read from JSON
    struct Query {
        flag: bool,
        limit: Option<usize>,
        name: Option<String>,
        x: Option<f64>,
    }

    fn parse(pairs: &[(&str, &str)]) -> Result<Map<String, Value>, ApiError> {
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        query(&pairs, &fields::schema_of::<Query>())
    }

    #[test]
    fn query_parameters_have_the_types_of_the_fields() {
        let all = parse(&[("flag", ""), ("limit", "7"), ("name", "5"), ("x", "1.5")]).unwrap();
        assert_eq!(Value::Object(all), serde_json::json!({ "flag": true, "limit": 7, "name": "5", "x": 1.5 }));
        for (wrong, message) in [
            ([("limit", "-1")].as_slice(), "query parameter limit: expected a whole number, 0 or more, got -1"),
            (&[("flag", "yes")], "query parameter flag: expected true or false, got \"yes\""),
            (&[("x", "NaN")], "query parameter x: expected a number, got \"NaN\""),
            (&[("limit", "1"), ("limit", "1")], "query parameter limit is given twice; send it once"),
        ] {
            let failure = parse(wrong).unwrap_err();
            assert_eq!((failure.code, failure.error.as_str()), (Code::BadRequest, message));
        }
        let failure = parse(&[("limti", "1")]).unwrap_err();
        assert_eq!(failure.code, Code::UnknownField);
        assert!(failure.error.contains("limti") && failure.error.contains("did you mean limit?"), "{}", failure.error);
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Outer {
        #[allow(dead_code)] // only read from JSON
        inner_one: Inner,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)] // only read from JSON
        width: u32,
    }

    #[test]
    fn bodies_are_refused_with_the_place() {
        let schema = fields::schema_of::<Outer>();
        let error = |text: &str| body(text.as_bytes(), &schema).unwrap_err();
        let unknown = error(r#"{"innerOne": {"width": 1, "heigth": 2}}"#);
        assert_eq!(unknown.code, Code::UnknownField);
        assert!(unknown.error.contains("innerOne.heigth"), "{}", unknown.error);
        let kind = error(r#"{"innerOne": {"width": "a"}}"#);
        assert_eq!(kind.code, Code::BadRequest);
        assert_eq!(kind.error, "innerOne.width: expected a whole number, 0 or more, got a string");
        assert_eq!(error(r#"{"innerOne": {}}"#).error, "innerOne.width is missing");
        assert_eq!(error("{}").error, "innerOne is missing");
        assert!(error("{\n  \"a\": }").error.contains("line 2"));
        assert_eq!(error("[]").code, Code::BadRequest);
        assert!(body(b" \n", &fields::schema_of::<Query>()).unwrap().is_empty());
    }
}
