//! Support code of generated protocol types: the traits of commands and events, the value types (text, ids, Base64,
//! open enums), and decoding and encoding.
//!
//! Decoding is lenient where browsers and proxies differ: unknown fields are skipped, unknown enum values are kept,
//! `null` counts as absent for an optional field, `1.0` is a whole number. It is strict where guessing would be wrong:
//! a missing required field is an error with its path, such as `` `frameTree.childFrames[2].frame.url`: required, but
//! missing ``.
//!
//! This module is independent of connections. Generated code is kept small through [`Record`]: each type adds one
//! function.

mod macros;
mod read;
mod text;
mod write;

pub use read::{Decode, Fields, Record, need, read_record};
pub use serde::de::MapAccess;
pub use serde_json::value::RawValue;
pub use text::{Base64, Base64Str, NotBase64, Str};
pub use write::Out;

pub(crate) use macros::{open_enum, record, string_id, text_type};

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};

/// A command: serialized, it is the `params` of its call.
pub trait Command: Serialize {
    /// Name on the wire, `Domain.method`.
    const METHOD: &'static str;
    /// Whether it may change without notice.
    const EXPERIMENTAL: bool = false;
    /// The domain that implements it. It is still sent under its own name.
    const REDIRECT: Option<&'static str> = None;
    /// The type of its result; [`Empty`] without a result.
    type Returns: DeserializeOwned;
}

/// An event: deserialized from its `params`, with texts borrowed where possible.
pub trait Event<'a>: Deserialize<'a> {
    /// Name on the wire, `Domain.event`.
    const METHOD: &'static str;
}

/// The result of a command that returns nothing. Accepts any JSON value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Empty;

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self)
    }
}
