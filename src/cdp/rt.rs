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

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
pub use serde::de::MapAccess;
pub use serde_json::value::RawValue;

// ---- commands and events -----------------------------------------------------------------------

/// A command: serialized, it is the `params` of its call.
pub trait Command: Serialize {
    /// Name on the wire, `Domain.method`.
    const METHOD: &'static str;
    /// May change without notice.
    const EXPERIMENTAL: bool = false;
    /// The domain that serves it behind the scenes. It is still sent under its own name.
    const REDIRECT: Option<&'static str> = None;
    /// What the browser answers; [`Empty`] when nothing.
    type Returns: de::DeserializeOwned;
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

// ---- text --------------------------------------------------------------------------------------

/// Text of an event: borrowed from the message unless it had escapes in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Str<'a>(Cow<'a, str>);

impl Str<'_> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if no copy was made.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// The text on its own.
    #[must_use]
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Str<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl From<Str<'_>> for String {
    fn from(text: Str<'_>) -> Self {
        text.into_owned()
    }
}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for Str<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text<'a>(PhantomData<&'a str>);
        impl<'de: 'a, 'a> Visitor<'de> for Text<'a> {
            type Value = Str<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Str<'a>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Str<'a>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Str<'a>, E> {
                Ok(Str(Cow::Owned(text)))
            }
        }
        from.deserialize_str(Text(PhantomData))
    }
}

// ---- Base64 ------------------------------------------------------------------------------------

/// Bytes as they stand on the wire; decoded only when asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(String);

/// Bytes of an event, as they stand on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64Str<'a>(#[serde(borrow)] Str<'a>);

/// A value that should be Base64 is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value is not Base64: {0}")]
pub struct NotBase64(#[from] base64::DecodeError);

/// As [`STANDARD`], but does not insist on padding: not every implementer of the protocol pads.
const READER: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Base64 {
    /// Encodes bytes to send.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes))
    }

    /// Takes text that is Base64 already.
    #[must_use]
    pub fn from_wire(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The bytes.
    ///
    /// # Errors
    /// The text is not Base64.
    pub fn decode(&self) -> Result<Vec<u8>, NotBase64> {
        Ok(READER.decode(&self.0)?)
    }

    /// The text as on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Base64Str<'_> {
    /// The bytes.
    ///
    /// # Errors
    /// The text is not Base64.
    pub fn decode(&self) -> Result<Vec<u8>, NotBase64> {
        Ok(READER.decode(self.as_str())?)
    }

    /// The text as on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same, independent of the message.
    #[must_use]
    pub fn into_owned(self) -> Base64 {
        Base64(self.0.into_owned())
    }
}

// ---- reading -----------------------------------------------------------------------------------

/// Reading as the protocol needs it: like [`Deserialize`], but lenient with whole numbers and with
/// the path in its errors, through lists and options.
pub trait Decode<'de>: Sized {
    /// Reads one value.
    ///
    /// # Errors
    /// The value has another type, or lacks a required field.
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

/// An object with known fields, read by one generated function.
pub trait Record<'de>: Sized {
    /// What to call it in errors, `Domain.Type`.
    const NAME: &'static str;

    /// Takes the fields it knows and skips the rest.
    ///
    /// # Errors
    /// A field has another type, or a required one is missing.
    fn read<A: MapAccess<'de>>(fields: Fields<A>) -> Result<Self, A::Error>;
}

/// Reads a record; every generated `Deserialize` ends here.
///
/// # Errors
/// The value is no object, a field has another type, or a required one is missing.
pub fn read_record<'de, T: Record<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);
    impl<'de, T: Record<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the object ")?;
            f.write_str(T::NAME)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read(Fields(map))
        }
    }
    from.deserialize_map(Object(PhantomData))
}

/// The fields of an object, one after the other.
#[derive(Debug)]
pub struct Fields<A>(A);

impl<A> Fields<A> {
    /// The next field's name.
    ///
    /// # Errors
    /// The message ends or is not JSON.
    pub fn key<'de>(&mut self) -> Result<Option<Str<'de>>, A::Error>
    where
        A: MapAccess<'de>,
    {
        self.0.next_key()
    }

    /// That field's value, required (as `T`) or optional (as `Option<T>`).
    ///
    /// # Errors
    /// The value has another type; the error's path starts with `name`.
    pub fn value<'de, T: Decode<'de>>(&mut self, name: &'static str) -> Result<T, A::Error>
    where
        A: MapAccess<'de>,
    {
        self.0.next_value_seed(Seed(PhantomData)).map_err(|error| at_field(name, &error))
    }

    /// Passes over that field's value.
    ///
    /// # Errors
    /// The message ends or is not JSON.
    pub fn skip<'de>(&mut self) -> Result<(), A::Error>
    where
        A: MapAccess<'de>,
    {
        self.0.next_value::<IgnoredAny>().map(|_| ())
    }
}

/// A required field's value.
///
/// # Errors
/// There is none.
pub fn need<T, E: de::Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::custom(format_args!("`{name}`: required, but missing")))
}

#[cold]
fn at_field<E: de::Error>(name: &str, error: &E) -> E {
    E::custom(with_path(name, &error.to_string()))
}

#[cold]
fn at_index<E: de::Error>(index: usize, error: &E) -> E {
    E::custom(with_path(&format!("[{index}]"), &error.to_string()))
}

/// Puts a step in front of the path an error text starts with, if it does.
fn with_path(step: &str, error: &str) -> String {
    match error.strip_prefix('`') {
        Some(rest) if rest.starts_with('[') => format!("`{step}{rest}"),
        Some(rest) => format!("`{step}.{rest}"),
        None => format!("`{step}`: {error}"),
    }
}

struct Seed<T>(PhantomData<T>);

impl<'de, T: Decode<'de>> DeserializeSeed<'de> for Seed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        T::decode(from)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Option<T> {
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Maybe<T>(PhantomData<T>);
        impl<'de, T: Decode<'de>> Visitor<'de> for Maybe<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }

            fn visit_none<E: de::Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
                T::decode(from).map(Some)
            }
        }
        from.deserialize_option(Maybe(PhantomData))
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);
        impl<'de, T: Decode<'de>> Visitor<'de> for List<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
                let mut list = Vec::new();
                loop {
                    match seq.next_element_seed(Seed(PhantomData)) {
                        Ok(Some(item)) => list.push(item),
                        Ok(None) => return Ok(list),
                        Err(error) => return Err(at_index(list.len(), &error)),
                    }
                }
            }
        }
        from.deserialize_seq(List(PhantomData))
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Box<T> {
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::decode(from).map(Self::new)
    }
}

/// A whole number, also when written `1.0`, as proxies do that re-encode messages.
impl<'de> Decode<'de> for i64 {
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = i64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
                Ok(value)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
                let unexpected = de::Unexpected::Unsigned(value);
                Self::try_from_u64(value).ok_or_else(|| E::invalid_value(unexpected, &self))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<i64, E> {
                let unexpected = de::Unexpected::Float(value);
                Self::try_from_f64(value).ok_or_else(|| E::invalid_value(unexpected, &self))
            }
        }
        impl Whole {
            fn try_from_u64(value: u64) -> Option<i64> {
                i64::try_from(value).ok()
            }

            fn try_from_f64(value: f64) -> Option<i64> {
                const BEYOND: f64 = 9_223_372_036_854_775_808.0;
                let fits = value.fract() == 0.0 && (-BEYOND..BEYOND).contains(&value);
                fits.then_some(value as i64)
            }
        }
        from.deserialize_i64(Whole)
    }
}

/// Gives types that serde reads well enough the second trait.
macro_rules! decode_by_serde {
    ($($name:ty),*) => {$(
        impl<'de> Decode<'de> for $name {
            fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize(from)
            }
        }
    )*};
}
decode_by_serde!(bool, f64, String, Base64, Str<'de>, Base64Str<'de>, &'de RawValue, Box<RawValue>);

// ---- writing -----------------------------------------------------------------------------------

/// An object being written, field by field.
#[derive(Debug)]
pub struct Out<M>(M);

impl<M: SerializeMap> Out<M> {
    /// Starts an object.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn object<S: Serializer<SerializeMap = M>>(out: S) -> Result<Self, S::Error> {
        out.serialize_map(None).map(Self)
    }

    /// Writes a field.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn put<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), M::Error> {
        self.0.serialize_entry(name, value)
    }

    /// Writes a field if it has a value.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn opt<T: Serialize>(&mut self, name: &str, value: &Option<T>) -> Result<(), M::Error> {
        value.as_ref().map_or(Ok(()), |value| self.0.serialize_entry(name, value))
    }

    /// Ends the object.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

// ---- macros of the generated code --------------------------------------------------------------

/// The two reading traits for a type that is a [`Record`]; a lifetime is named if it has one.
macro_rules! record {
    ($name:ident) => {
        $crate::cdp::rt::record!(@impl 'de, $name);
    };
    ($name:ident <$lt:lifetime>) => {
        $crate::cdp::rt::record!(@impl $lt, $name<$lt>);
    };
    (@impl $lt:lifetime, $name:ty) => {
        impl<$lt> serde::Deserialize<$lt> for $name {
            fn deserialize<D: serde::Deserializer<$lt>>(from: D) -> Result<Self, D::Error> {
                $crate::cdp::rt::read_record(from)
            }
        }
        impl<$lt> $crate::cdp::rt::Decode<$lt> for $name {
            fn decode<D: serde::Deserializer<$lt>>(from: D) -> Result<Self, D::Error> {
                $crate::cdp::rt::read_record(from)
            }
        }
    };
}
pub(crate) use record;

/// The four encoding traits of a type that is text on the wire: `as_str` writes, `From<&str>` reads.
macro_rules! text_type {
    ($name:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text: $crate::cdp::rt::Str<'de> = serde::Deserialize::deserialize(from)?;
                Ok(Self::from(text.as_str()))
            }
        }
        impl<'de> $crate::cdp::rt::Decode<'de> for $name {
            fn decode<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                serde::Deserialize::deserialize(from)
            }
        }
    };
}
pub(crate) use text_type;

/// Text out of a list that may grow: a value that is not in the list is kept in `Other`.
macro_rules! open_enum {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
            /// A value that the pinned protocol does not list.
            Other(Box<str>),
        }
        impl $name {
            /// The listed values, in the protocol's order.
            pub const LISTED: &'static [&'static str] = &[$($text),*];

            /// The value as on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::Other(text.into()),
                }
            }
        }
        $crate::cdp::rt::text_type!($name);
    };
}
pub(crate) use open_enum;

/// An id or other opaque text with a type of its own; a clone shares the text.
macro_rules! string_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(std::sync::Arc<str>);
        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<std::sync::Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.as_str())
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }
        $crate::cdp::rt::text_type!($name);
    };
}
pub(crate) use string_id;
