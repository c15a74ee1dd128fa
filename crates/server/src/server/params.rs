//! Parses query parameters and JSON bodies. Unknown names are rejected with the nearest known one.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::config::nearest;
use cdpilot::code::Code;
use cdpilot::text::serde_in_words;

/// Characters of a name or value that an error quotes.
const SHOWN: usize = 60;

/// How a query parameter is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParamType {
    Text,
    Boolean,
    Integer,
    Number,
}

/// The properties of a schema as query parameters.
pub(super) fn parameters(schema: &Value) -> Vec<(String, ParamType)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let reads = |schema: &Value| {
        let text = schema.get("type").map(ToString::to_string).unwrap_or_default();
        match () {
            () if text.contains("boolean") => ParamType::Boolean,
            () if text.contains("integer") => ParamType::Integer,
            () if text.contains("number") => ParamType::Number,
            () => ParamType::Text,
        }
    };
    properties.into_iter().flatten().map(|(name, schema)| (name.clone(), reads(schema))).collect()
}

/// Parses a query into a JSON object.
pub(super) fn query(pairs: &[(String, String)], known: &[(String, ParamType)]) -> Result<Map<String, Value>, ApiError> {
    let mut map = Map::new();
    for (name, value) in pairs {
        let Some((_, reads)) = known.iter().find(|(known, _)| known == name) else {
            return Err(unknown("query parameter", name, known.iter().map(|(name, _)| name.as_str())));
        };
        let wrong = |wanted: &str| ApiError::bad(format!("query parameter {name}={}: expected {wanted}", shown(value)));
        let value = match reads {
            ParamType::Text => Value::from(value.as_str()),
            ParamType::Boolean => match value.as_str() {
                // The bare name; HTTP libraries append an equals sign.
                "true" | "1" | "" => true.into(),
                "false" | "0" => false.into(),
                _ => return Err(wrong("true, false, 1, 0, or the bare name")),
            },
            ParamType::Integer => {
                let range = if name == "timeoutMs" { "of milliseconds above 0" } else { "of 0 or more" };
                value.parse::<u64>().map_err(|_| wrong(&format!("an integer {range}")))?.into()
            }
            ParamType::Number => {
                let number: Option<f64> = value.parse().ok();
                number.and_then(serde_json::Number::from_f64).ok_or_else(|| wrong("a number"))?.into()
            }
        };
        if map.insert(name.clone(), value).is_some() {
            return Err(ApiError::bad(format!("query parameter {name} is given twice; send it once")));
        }
    }
    Ok(map)
}

/// Parses the body of a request as a JSON object; an empty body is `{}`.
pub(super) fn body(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(mut map)) => {
            map.values_mut().for_each(whole_numbers);
            Ok(map)
        }
        Ok(_) => {
            Err(ApiError::bad("the body is not a JSON object; send one, such as {\"url\": \"https://example.com\"}"))
        }
        Err(problem) => Err(ApiError::bad(format!("the body is not valid JSON: {problem}"))),
    }
}

/// Turns `5.0` into `5`: some clients send integers with a fraction of zero.
fn whole_numbers(value: &mut Value) {
    /// Up to 2^53, doubles represent integers exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT);
            // Formatted without a fraction, it parses as an integer.
            if let Some(whole) = whole.and_then(|whole| format!("{whole:.0}").parse::<i64>().ok()) {
                *value = whole.into();
            }
        }
        Value::Array(all) => all.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// Deserialises the fields of a route. Errors name the path of the wrong field.
pub(super) fn fields<T: DeserializeOwned>(map: Map<String, Value>) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(Value::Object(map)).map_err(|problem| {
        let path = problem.path().to_string();
        let problem = problem.into_inner().to_string();
        if let Some(rest) = problem.strip_prefix("unknown field ") {
            let mut names = rest.split('`').skip(1).step_by(2);
            let name = names.next().unwrap_or_default().to_owned();
            let known: Vec<&str> = names.collect();
            // The path ends with the unknown name or its parent.
            let place = Some(path.strip_suffix(&format!(".{name}")).unwrap_or(&path));
            let place = place.filter(|place| !matches!(*place, "" | ".") && *place != name);
            let full = place.map_or_else(|| name.clone(), |place| format!("{place}.{name}"));
            let mut failure = unknown("field", &name, known.into_iter());
            if full != name {
                failure.error = format!("{full}: {}", failure.error);
            }
            return failure;
        }
        ApiError::bad(serde_in_words(&path, &problem))
    })
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
    use serde::Deserialize;

    use super::*;

    fn known() -> Vec<(String, ParamType)> {
        [
            ("flag", ParamType::Boolean),
            ("limit", ParamType::Integer),
            ("name", ParamType::Text),
            ("x", ParamType::Number),
        ]
        .map(|(name, reads)| (name.to_owned(), reads))
        .to_vec()
    }

    fn read(pairs: &[(&str, &str)]) -> Result<Map<String, Value>, ApiError> {
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        query(&pairs, &known())
    }

    #[test]
    fn booleans_are_true_1_or_the_name_alone() {
        for (text, flag) in [("true", true), ("1", true), ("", true), ("false", false), ("0", false)] {
            assert_eq!(read(&[("flag", text)]).unwrap()["flag"], flag, "{text}");
        }
        assert_eq!(read(&[("flag", "yes")]).unwrap_err().code, Code::BadRequest);
    }

    #[test]
    fn what_is_unknown_is_named_with_what_is_near() {
        let failure = read(&[("limti", "1")]).unwrap_err();
        assert_eq!(failure.code, Code::UnknownField);
        assert!(failure.error.contains("limti") && failure.error.contains("did you mean limit?"), "{}", failure.error);
        assert_eq!(read(&[("limit", "-1")]).unwrap_err().code, Code::BadRequest);
        assert_eq!(read(&[("x", "NaN")]).unwrap_err().code, Code::BadRequest);
        assert_eq!(read(&[("limit", "1"), ("limit", "1")]).unwrap_err().code, Code::BadRequest);
        assert_eq!(read(&[("limit", "7"), ("x", "1.5")]).unwrap()["limit"], 7);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Outer {
        #[allow(dead_code)] // only read from JSON
        inner_one: Inner,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)] // only read from JSON
        width: u32,
    }

    #[test]
    fn bodies_are_refused_with_the_place() {
        let error = |text: &str| body(text.as_bytes()).and_then(fields::<Outer>).unwrap_err();
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
        assert!(body(b" \n").unwrap().is_empty());
        let numbers = body(br#"{"a": 5.0, "b": [-2.0, 1.5], "c": 1e300}"#).unwrap();
        assert_eq!(Value::Object(numbers).to_string(), r#"{"a":5,"b":[-2,1.5],"c":1e+300}"#);
    }
}
