//! What generated protocol types are made of: the traits of commands and events, the value types
//! (text, ids, Base64, open enums), and the reading and writing half of the encoding.
//!
//! Reading is lenient where browsers and proxies differ: unknown fields are skipped, unknown enum
//! values are kept, `null` counts as absent for an optional field, `1.0` is a whole number. It is
//! strict where a guess would lie: a missing required field is an error that names its path, as in
//! `` `frameTree.childFrames[2].frame.url`: required, but missing ``.
//!
//! Nothing here knows of connections. Generated code keeps its own share small by going through
//! [`Record`], so that what each type adds is one function.

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
    /// May change without notice.
    const EXPERIMENTAL: bool = false;
    /// The domain that serves it behind the scenes. It is still sent under its own name.
    const REDIRECT: Option<&'static str> = None;
    /// What the browser answers; [`Empty`] when nothing.
    type Returns: DeserializeOwned;
}

/// An event: deserialized from its `params`, borrowing from them where that pays.
pub trait Event<'a>: Deserialize<'a> {
    /// Name on the wire, `Domain.event`.
    const METHOD: &'static str;
}

/// The answer of a command that returns nothing. Reads any JSON value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Empty;

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self)
    }
}
