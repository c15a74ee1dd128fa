//! YAML as a tree in which each key and value knows its line.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

/// A value with the line on which it begins, from 1.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A text, a number, `true`, `false` or `null`.
    Scalar(Value),
    List(Vec<Node>),
    /// Keys in the order of the file, each with its line.
    Map(Vec<(String, u64, Node)>),
}

/// The problem of a text that is no YAML, with its line, if it has one.
pub(super) fn parse(text: &str) -> Result<Node, (u64, String)> {
    serde_saphyr::from_str::<Node>(text).map_err(|problem| {
        let line = problem.location().map_or(1, |at| at.line());
        let shown = problem.without_snippet().to_string();
        // The first line says what is wrong; others show the text.
        let first = shown.lines().next().unwrap_or("it is not YAML");
        // What follows is advice for users of the library.
        let first = first.split(", set DuplicateKeyPolicy").next().unwrap_or(first);
        (line.max(1), first.replace(" rejected by the configured policy", " is not allowed").trim().to_owned())
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), kind: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Kinds)
    }
}

struct Kinds;

impl<'de> Visitor<'de> for Kinds {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        Kind::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = access.next_element()? {
            list.push(item);
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = access.next_key::<Spanned<String>>()? {
            fields.push((key.value, key.referenced.line(), access.next_value()?));
        }
        Ok(Kind::Map(fields))
    }
}
