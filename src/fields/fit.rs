//! Converts values to the types of a schema.

use serde_json::{Map, Number, Value};

use super::words::{self, branches, types};
use super::{Misfit, Problem, Style};

pub(super) struct Fit {
    pub(super) style: Style,
}

impl Fit {
    pub(super) fn value(&self, value: Value, schema: &Value, at: &str) -> Result<Value, Misfit> {
        if let Some(known) = words::words(schema) {
            return self.word(value, &known, schema, at);
        }
        if let Some(any) = branches(schema) {
            return self.union(value, any, schema, at);
        }
        let types = types(schema);
        if value.is_null() && (types.is_empty() || accepts_null(schema)) {
            return Ok(value);
        }
        match types.as_slice() {
            [] => Ok(value),
            [kind] => self.typed(kind, value, schema, at),
            kinds if kinds.iter().any(|kind| is(kind, &value)) => Ok(value),
            [first, ..] => self.typed(first, value.clone(), schema, at).map_err(|_| self.wrong(&value, schema, at)),
        }
    }

    /// The first alternative that fits. If none does, the error is that of the only one with the type of the value.
    fn union(&self, value: Value, any: &[Value], schema: &Value, at: &str) -> Result<Value, Misfit> {
        let is_null = |one: &&Value| one["type"] == "null";
        if value.is_null() && any.iter().any(|one| is_null(&one)) {
            return Ok(value);
        }
        let others: Vec<&Value> = any.iter().filter(|one| !is_null(one)).collect();
        if let [only] = others.as_slice() {
            return self.value(value, only, at);
        }
        let has_type = |one: &&&Value| types(one).iter().any(|kind| is(kind, &value));
        let exact: Vec<&Value> = others.iter().filter(has_type).copied().collect();
        if let Some(fitting) = exact.iter().chain(&others).find_map(|one| self.value(value.clone(), one, at).ok()) {
            return Ok(fitting);
        }
        match exact.as_slice() {
            [only] if words::words(only).is_none() => self.value(value, only, at),
            _ => match (&value, words::switch_words(schema, self.style)) {
                (Value::String(text), Some(known)) => Err(self.unknown_word(text, &known, at)),
                _ => Err(self.wrong(&value, schema, at)),
            },
        }
    }

    /// One of some words; in the lenient style in any case, and with space around it.
    fn word(&self, value: Value, known: &[String], schema: &Value, at: &str) -> Result<Value, Misfit> {
        if value.is_null() && accepts_null(schema) {
            return Ok(value);
        }
        let Value::String(text) = value else {
            return Err(self.wrong(&value, schema, at));
        };
        let is = |word: &&String| match self.style {
            Style::Lenient => word.eq_ignore_ascii_case(text.trim()),
            _ => **word == text,
        };
        match known.iter().find(is) {
            Some(word) => Ok(word.as_str().into()),
            None => Err(self.unknown_word(&text, known, at)),
        }
    }

    fn unknown_word(&self, text: &str, known: &[String], at: &str) -> Misfit {
        let repeats = matches!(self.style, Style::Exact | Style::Text);
        let given = repeats.then(|| text.chars().take(words::SHOWN).collect());
        Misfit { at: at.to_owned(), problem: Problem::Word { given, known: known.to_vec() } }
    }

    fn typed(&self, kind: &str, value: Value, schema: &Value, at: &str) -> Result<Value, Misfit> {
        let lenient = self.style == Style::Lenient;
        let converts = lenient || self.style == Style::Text;
        match (kind, value) {
            ("string", Value::Number(number)) if lenient => Ok(Value::String(number.to_string())),
            ("integer", Value::Number(number)) => self.whole(&number, schema, at),
            ("integer", Value::String(text)) if converts => match text.trim().parse::<Number>() {
                Ok(number) => self.whole(&number, schema, at),
                Err(_) => Err(self.wrong(&Value::String(text), schema, at)),
            },
            ("number", Value::String(text)) if converts => match text.trim().parse::<Number>() {
                Ok(number) => Ok(Value::Number(number)),
                Err(_) => Err(self.wrong(&Value::String(text), schema, at)),
            },
            ("boolean", Value::String(text)) if converts => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                // The bare name of a query parameter; HTTP libraries append an equals sign.
                "" | "1" if !lenient => Ok(Value::Bool(true)),
                "0" if !lenient => Ok(Value::Bool(false)),
                _ => Err(self.wrong(&Value::String(text), schema, at)),
            },
            ("array", Value::Array(all)) => {
                let items = &schema["items"];
                let each = all.into_iter().enumerate();
                let all: Result<Vec<Value>, Misfit> =
                    each.map(|(number, one)| self.value(one, items, &format!("{at}[{number}]"))).collect();
                all.map(Value::Array)
            }
            ("array", Value::String(text)) if lenient => match serde_json::from_str(&text) {
                Ok(Value::Array(all)) => self.typed(kind, Value::Array(all), schema, at),
                _ => self.typed(kind, Value::Array(vec![Value::String(text)]), schema, at),
            },
            ("array", one) if lenient && !one.is_null() => self.typed(kind, Value::Array(vec![one]), schema, at),
            ("object", Value::Object(map)) => self.object(map, schema, at).map(Value::Object),
            ("object", Value::String(text)) if lenient => match serde_json::from_str(&text) {
                Ok(Value::Object(map)) => self.object(map, schema, at).map(Value::Object),
                _ => Err(self.wrong(&Value::String(text), schema, at)),
            },
            (kind, value) if is(kind, &value) => Ok(value),
            (_, value) => Err(self.wrong(&value, schema, at)),
        }
    }

    fn object(&self, given: Map<String, Value>, schema: &Value, at: &str) -> Result<Map<String, Value>, Misfit> {
        let nothing = Map::new();
        let known = schema["properties"].as_object().unwrap_or(&nothing);
        let others = &schema["additionalProperties"];
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fitted = Map::new();
        for (name, value) in given {
            let at = below(at, &name);
            match known.get(&name) {
                Some(_) if value.is_null() && self.style == Style::Lenient && !required.contains(&name.as_str()) => {}
                Some(schema) => {
                    let value = self.value(value, schema, &at)?;
                    fitted.insert(name, value);
                }
                None if *others == Value::Bool(false) => {
                    let required: Vec<String> = required.into_iter().map(str::to_owned).collect();
                    let optional = known.keys().filter(|name| !required.contains(name)).cloned();
                    let known = required.iter().cloned().chain(optional).collect();
                    return Err(Misfit { at, problem: Problem::Unknown { name, known, required } });
                }
                None => {
                    let value = self.value(value, others, &at)?;
                    fitted.insert(name, value);
                }
            }
        }
        match required.iter().find(|name| !fitted.contains_key(**name)) {
            Some(name) => {
                let described = || known.get(*name).map(|schema| words::expected(schema, self.style));
                let expected = if self.style == Style::Lenient { described() } else { None };
                Err(Misfit { at: below(at, name), problem: Problem::Missing { expected } })
            }
            None => Ok(fitted),
        }
    }

    /// A whole number, also when written as `3.0`.
    fn whole(&self, number: &Number, schema: &Value, at: &str) -> Result<Value, Misfit> {
        let wrong = || self.wrong(&Value::Number(number.clone()), schema, at);
        let whole = whole(number).ok_or_else(wrong)?;
        let (least, most) = words::range(schema, self.style);
        let value = whole.as_i128().filter(|whole| (least..=most).contains(whole));
        value.map(|_| Value::Number(whole)).ok_or_else(wrong)
    }

    fn wrong(&self, value: &Value, schema: &Value, at: &str) -> Misfit {
        // Not even a number: somebody's password.
        let is_secret = schema["format"] == "password" && self.style == Style::Exact;
        let given = Some(words::given(value, if is_secret { Style::Discreet } else { self.style }));
        Misfit { at: at.to_owned(), problem: Problem::Value { expected: words::expected(schema, self.style), given } }
    }
}

fn accepts_null(schema: &Value) -> bool {
    let in_list = |list: &Value, null: &Value| list.as_array().is_some_and(|all| all.contains(null));
    in_list(&schema["type"], &"null".into()) || in_list(&schema["enum"], &Value::Null)
}

/// Whether a value has a type of JSON Schema.
fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(|number| whole(number).is_some()),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[allow(clippy::cast_possible_truncation)] // the range is checked
fn whole(number: &Number) -> Option<Number> {
    /// Up to 2^53, doubles represent integers exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < EXACT)?;
    Some(Number::from(value as i64))
}

pub(super) fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// The deepest part of a schema on a path, with the path as far as the schema knows it.
pub(super) fn deepest<'a>(schema: &'a Value, path: &serde_path_to_error::Path) -> (String, &'a Value) {
    use serde_path_to_error::Segment;
    let (mut at, mut part) = (String::new(), schema);
    for segment in path {
        let (next, place) = match segment {
            Segment::Map { key } => {
                let known = part["properties"].get(key).or_else(|| part.get("additionalProperties"));
                (known, below(&at, key))
            }
            Segment::Seq { index } => (part.get("items"), format!("{at}[{index}]")),
            Segment::Enum { .. } | Segment::Unknown => (None, at.clone()),
        };
        let Some(next) = next.filter(|next| next.is_object()) else { break };
        (at, part) = (place, next);
    }
    (at, part)
}
