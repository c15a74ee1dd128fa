//! What comes of a call.

use std::collections::BTreeSet;

use crate::code::Code;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A picture beside the fields of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Beside `success`.
    pub fields: Map<String, Value>,
    /// For a model that sees.
    pub images: Vec<Image>,
    /// Fields whose secrets were covered before their text was put together. They are not searched again, because a
    /// search over the whole text would take structure for content.
    pub covered: BTreeSet<&'static str>,
}

impl Outcome {
    /// An outcome whose fields are those of something.
    ///
    /// # Errors
    /// It cannot be written as a JSON object.
    pub fn of(told: &impl Serialize) -> Result<Self, ToolError> {
        match serde_json::to_value(told) {
            Ok(Value::Object(fields)) => Ok(Self { fields, ..Self::default() }),
            Ok(_) => Err(ToolError::new("INTERNAL", "the result is no object")),
            Err(problem) => Err(ToolError::new("INTERNAL", format!("the result cannot be written: {problem}"))),
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a field whose secrets are covered already.
    #[must_use]
    pub fn with_covered(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.covered.insert(name);
        self.with(name, text.into())
    }

    /// Adds the fields of another outcome.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.fields.extend(other.fields);
        self.images.extend(other.images);
        self.covered.extend(other.covered);
        self
    }

    /// As it is told: `{"success": true, …}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut told = Map::from_iter([("success".to_owned(), Value::Bool(true))]);
        told.extend(self.fields.clone());
        Value::Object(told)
    }
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// `SCREAMING_SNAKE`, as over HTTP.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: String,
    /// More about it.
    pub details: Map<String, Value>,
}

impl ToolError {
    /// An error without details.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// What kind of error it is; `None` for a code that the program does not know.
    #[must_use]
    pub fn kind(&self) -> Option<Code> {
        Code::parse(self.code)
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// As it is told: `{"success": false, "error", "code", …}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut told = json!({ "success": false, "error": self.message, "code": self.code });
        if let Value::Object(told) = &mut told {
            for (name, value) in &self.details {
                told.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        told
    }
}
