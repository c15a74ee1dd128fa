//! The macros that generated code is written in.

/// Implements `Deserialize` and `Decode` for a type that is a [`Record`]; with a lifetime if it has one.
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

/// Implements the four encoding traits of a text type: `as_str` writes, `From<&str>` reads.
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

/// An enum of texts that may grow: unlisted values are kept in `Other`.
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

/// An id or other opaque text with its own type; clones share the text.
macro_rules! string_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(std::sync::Arc<str>);
        impl $name {
            /// Creates it from a text.
            pub fn new(text: impl Into<std::sync::Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id as the protocol writes it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
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
