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
    /// A pipe, which no other program can reach; a port beside it for profiles that have a `cdp_port` of their own.
    #[default]
    Auto,
    /// A pipe, and a port of this machine beside it for other programs.
    Port,
    /// A pipe alone.
    Pipe,
}

/// Which raw CDP commands may be sent: `false`, `read`, `act`, or `all`, which `true` means too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RawCdp {
    /// None.
    Off,
    /// Those that only read.
    Read,
    /// Those that change pages too.
    Act,
    /// All but those that endanger the supervision of pages or the navigation policy.
    All,
}

impl RawCdp {
    /// As it stands in the settings.
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

/// Whether requests of pages are held to the navigation policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subresources {
    /// As documents are, where the policy refuses anything.
    #[default]
    Same,
    /// They are not.
    Allow,
}

/// The user agent of browsers that the server starts: `auto`, `native` or a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserAgent {
    /// The browser's own without the word `HeadlessChrome`.
    #[default]
    Auto,
    /// The browser's own.
    Native,
    /// This text.
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
