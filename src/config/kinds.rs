//! Values of settings that are one of a few words.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// `auto`, `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoSwitch {
    /// cdpilot decides, and says why.
    #[default]
    Auto,
    /// Yes.
    On,
    /// No.
    Off,
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
                Ok(if on { AutoSwitch::On } else { AutoSwitch::Off })
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

/// How the server talks to a browser that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A pipe for us, and a port of this machine beside it for others.
    #[default]
    Auto,
    /// A port of this machine.
    Port,
    /// A pipe, which nobody else can reach.
    Pipe,
}

/// What happens to dialogs that nobody has an answer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// They wait for an answer.
    #[default]
    MustRespond,
    /// They are dismissed at once.
    AutoDismiss,
    /// They are accepted at once.
    AutoAccept,
}

/// When dialogs go over the bridge, for endpoints that answer native ones by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bridge {
    /// Where it is needed.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
