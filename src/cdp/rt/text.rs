//! Text and bytes in messages.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Text of an event: borrowed from the message unless it contains escapes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Str<'a>(Cow<'a, str>);

impl Str<'_> {
    /// The text as a slice, escapes resolved.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether no copy was made.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// The text as an owned string.
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

/// Base64 text as received; decoded on demand.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(String);

/// Base64 text of an event, as received.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64Str<'a>(#[serde(borrow)] Str<'a>);

/// A value is not valid Base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid Base64: {0}")]
pub struct NotBase64(#[from] base64::DecodeError);

/// Like [`STANDARD`], with optional padding: not all implementations of the protocol pad.
const READER: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Base64 {
    /// The Base64 text of these bytes, with padding.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes))
    }

    /// Wraps text that is already Base64.
    #[must_use]
    pub fn from_wire(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Decodes the bytes.
    ///
    /// # Errors
    /// The text is not Base64.
    pub fn decode(&self) -> Result<Vec<u8>, NotBase64> {
        Ok(READER.decode(&self.0)?)
    }

    /// The Base64 text as received, not decoded.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Base64Str<'_> {
    /// Decodes the bytes.
    ///
    /// # Errors
    /// The text is not Base64.
    pub fn decode(&self) -> Result<Vec<u8>, NotBase64> {
        Ok(READER.decode(self.as_str())?)
    }

    /// The Base64 text as received, not decoded.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same value, not borrowed from the message.
    #[must_use]
    pub fn into_owned(self) -> Base64 {
        Base64(self.0.into_owned())
    }
}
