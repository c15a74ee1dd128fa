//! Results and errors of calls.

use std::collections::BTreeSet;

use cdpilot::code::Code;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Field of results in conversations: whether the text that was typed is for a secret field, such as a password field.
pub(crate) const SECRET_FIELD: &str = "secret_field";

/// An image in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: &'static str,
    /// The encoded image file, not Base64.
    pub bytes: Vec<u8>,
}

impl Image {
    /// An image file of this media type, such as `image/png`.
    #[must_use]
    pub fn new(media_type: &'static str, bytes: Vec<u8>) -> Self {
        Self { media_type, bytes }
    }
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// All fields except `success`.
    pub fields: Map<String, Value>,
    /// Images for vision models.
    pub images: Vec<Image>,
    /// Fields whose secrets are already redacted. They are skipped by the final redaction, which would mistake structure
    /// for content.
    pub covered: BTreeSet<&'static str>,
}

impl Outcome {
    /// Creates an outcome from the fields of a serialisable value.
    ///
    /// # Errors
    /// `INTERNAL` when the value is not a JSON object.
    pub fn of(value: &impl Serialize) -> Result<Self, ToolError> {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => Ok(Self { fields, ..Self::default() }),
            Ok(_) => Err(ToolError::new(Code::Internal, "the result is not an object")),
            Err(problem) => Err(ToolError::new(Code::Internal, format!("cannot encode the result: {problem}"))),
        }
    }

    /// Adds a field to the result, or replaces it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a text field whose secrets are already redacted.
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

    /// The JSON of the result: `{"success": true, …}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut body = Map::from_iter([("success".to_owned(), Value::Bool(true))]);
        body.extend(self.fields.clone());
        Value::Object(body)
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// Error code, as in the HTTP API.
    pub code: Code,
    /// What failed, why, and what to do.
    pub message: String,
    /// Additional fields of the error.
    pub details: Map<String, Value>,
}

impl ToolError {
    /// An error without details.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// Adds a field to the details, or replaces it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The JSON of the error: `{"success": false, "error", "code", …}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut body = json!({ "success": false, "error": self.message, "code": self.code });
        if let Value::Object(body) = &mut body {
            for (name, value) in &self.details {
                body.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        body
    }
}
