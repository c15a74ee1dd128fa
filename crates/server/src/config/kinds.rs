//! Values of settings with a fixed set of words.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// `auto`, `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoSwitch {
    /// Decided by cdpilot, with a reason in the status.
    #[default]
    Auto,
    /// `true`: always.
    On,
    /// `false`: never.
    Off,
}

impl From<bool> for AutoSwitch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl JsonSchema for AutoSwitch {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AutoSwitch".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "enum": ["auto", "true", "false"] }] })
    }
}

impl Serialize for AutoSwitch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::On => serializer.serialize_bool(true),
            Self::Off => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for AutoSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = AutoSwitch;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("auto, true or false")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<AutoSwitch, E> {
                Ok(on.into())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<AutoSwitch, E> {
                match text {
                    "auto" => Ok(AutoSwitch::Auto),
                    "true" => Ok(AutoSwitch::On),
                    "false" => Ok(AutoSwitch::Off),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Which actions of the visual tools show a preview that has to be confirmed: `always`, `auto` or `never`; `true` and `false` mean
/// `always` and `never`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confirm {
    /// `always`: each click, input, choice and drag.
    Always,
    /// `auto`: all for small models; for others those on elements without a label in the last picture, on elements found by keyword
    /// among several, and those that the guard classifies.
    #[default]
    Auto,
    /// `never`: none.
    Never,
}

impl Confirm {
    /// The word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Auto => "auto",
            Self::Never => "never",
        }
    }
}

impl JsonSchema for Confirm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Confirm".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string", "enum": ["always", "auto", "never"] }, { "type": "boolean" }] })
    }
}

impl Serialize for Confirm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Confirm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Confirm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("always, auto or never")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Confirm, E> {
                Ok(if on { Confirm::Always } else { Confirm::Never })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Confirm, E> {
                match text {
                    "always" | "true" => Ok(Confirm::Always),
                    "auto" => Ok(Confirm::Auto),
                    "never" | "false" => Ok(Confirm::Never),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// The transport to a browser that the server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A pipe, which no other program can use; additionally a port for profiles with their own `cdp_port`.
    #[default]
    Auto,
    /// A pipe, and a local port for other programs.
    Port,
    /// A pipe only: no other program can use the browser.
    Pipe,
}

/// Where values of secrets are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretsIn {
    /// In the keyring of the system where there is one, else in a file.
    #[default]
    Auto,
    /// In `secrets.json` in the home, readable by its owner only.
    File,
}

/// Which raw CDP commands are allowed: `false`, `read`, `act`, or `all` (same as `true`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RawCdp {
    /// No raw command is allowed.
    Off,
    /// Commands that only read.
    Read,
    /// Also commands that change pages.
    Act,
    /// All except those that endanger supervision or the navigation policy.
    All,
}

impl RawCdp {
    /// The word in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "false",
            Self::Read => "read",
            Self::Act => "act",
            Self::All => "all",
        }
    }
}

impl Serialize for RawCdp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::All => serializer.serialize_bool(true),
            level => serializer.serialize_str(level.word()),
        }
    }
}

impl<'de> Deserialize<'de> for RawCdp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = RawCdp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, read, act or all")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<RawCdp, E> {
                Ok(if on { RawCdp::All } else { RawCdp::Off })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawCdp, E> {
                match text {
                    "true" | "all" => Ok(RawCdp::All),
                    "false" => Ok(RawCdp::Off),
                    "read" => Ok(RawCdp::Read),
                    "act" => Ok(RawCdp::Act),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for RawCdp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawCdp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words = ["read", "act", "all", "true", "false"];
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "enum": words }] })
    }
}

/// Whether the navigation policy applies to requests of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subresources {
    /// As for documents, if the policy refuses anything.
    #[default]
    Same,
    /// It does not apply.
    Allow,
}

/// The user agent of started browsers: `auto`, `native` or a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserAgent {
    /// The browser's own, without `HeadlessChrome`.
    #[default]
    Auto,
    /// The browser's own user agent string, unchanged.
    Native,
    /// This user agent string.
    Text(String),
}

impl Serialize for UserAgent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Text(text) => text,
        })
    }
}

impl<'de> Deserialize<'de> for UserAgent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(deserializer)?.trim() {
            "auto" => Self::Auto,
            "native" => Self::Native,
            text => Self::Text(text.to_owned()),
        })
    }
}

impl JsonSchema for UserAgent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UserAgent".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// How dialogs are handled that no armed answer matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// They stay open until they are answered.
    #[default]
    MustRespond,
    /// They are dismissed at once.
    AutoDismiss,
    /// They are accepted at once.
    AutoAccept,
}

/// When to use the dialog bridge, for endpoints that answer native dialogs by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bridge {
    /// Where it is needed.
    #[default]
    Auto,
    /// For every page.
    Always,
    /// For no page.
    Never,
}
