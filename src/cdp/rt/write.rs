//! Encoding.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// An object that is being written, field by field.
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
