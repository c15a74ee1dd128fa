//! Bodies and answers of the routes for secrets. No answer contains a value.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::secrets::SecretInfo;

/// `POST /secrets`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// Its name: 1 to 64 letters, digits, `_`, `-` or `.`. A secret with this name is replaced.
    pub name: String,
    /// The origin of the pages in which it may be typed, such as `https://example.com`. Without `value`, it is left out, and
    /// `fields` are added to the secret with this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What is typed, 4 to 4,096 characters; or `totp:KEY` or `otpauth://totp/…` for one-time codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<SecretValue>,
    /// Fields that it may be typed into, besides those for passwords and one-time codes: label, `name` or `id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// A value that no error and no log repeats.
#[derive(Serialize)]
#[serde(transparent)]
pub struct SecretValue(pub String);

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("expected a string")),
        }
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue")
    }
}

impl JsonSchema for SecretValue {
    fn schema_name() -> Cow<'static, str> {
        "SecretValue".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "minLength": 4, "maxLength": 4096 })
    }
}

/// `GET /secrets`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SecretList {
    /// The secrets by name, without their values.
    pub secrets: Vec<SecretInfo>,
}

/// `POST /secrets`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SecretStored {
    /// The secret, without its value.
    pub secret: SecretInfo,
}
