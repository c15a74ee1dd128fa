//! Decoding.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::text::{Base64, Base64Str, Str};

/// Decoding as the protocol requires it: like [`Deserialize`], but lenient with whole numbers, and with the path in its
/// errors, also through lists and options.
pub trait Decode<'de>: Sized {
    /// Decodes a value.
    ///
    /// # Errors
    /// The value has another type, or lacks a required field.
    fn decode<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

/// An object with known fields, decoded by one generated function.
pub trait Record<'de>: Sized {
    /// Its name in errors, `Domain.Type`.
    const NAME: &'static str;

    /// Reads the known fields and skips all others.
    ///
    /// # Errors
    /// A field has another type, or a required one is missing.
    fn read<A: MapAccess<'de>>(fields: Fields<A>) -> Result<Self, A::Error>;
}

/// Decodes a record; used by every generated `Deserialize`.
///
/// # Errors
/// The value is not an object, a field has another type, or a required one is missing.
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

/// The fields of an object, in sequence.
#[derive(Debug)]
pub struct Fields<A>(A);

impl<A> Fields<A> {
    /// The next field's name.
    ///
    /// # Errors
    /// The message is truncated or not JSON.
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

    /// Skips that field's value.
    ///
    /// # Errors
    /// The message is truncated or not JSON.
    pub fn skip<'de>(&mut self) -> Result<(), A::Error>
    where
        A: MapAccess<'de>,
    {
        self.0.next_value::<IgnoredAny>().map(|_| ())
    }
}

/// The value of a required field.
///
/// # Errors
/// It is missing.
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

/// Prepends a step to the path at the start of an error message, if there is one.
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

/// A whole number, also when written as `1.0`, as by proxies that re-encode messages.
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

/// Implements [`Decode`] for types with a suitable `Deserialize`.
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
