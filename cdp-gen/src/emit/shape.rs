//! The Rust type of a protocol type, by place.

use super::Context;
use crate::error::Error;
use crate::names;
use crate::schema::{Shape, TypeRef};

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In something that owns what it holds.
    Owned,
    /// In an event, or in a type that only events use: may borrow for `'a`.
    Event,
}

impl Context<'_> {
    /// The type of a value. An enum in place has to be given the name it was emitted under.
    pub(crate) fn rust_type(&self, shape: &Shape, place: Place, inline: Option<&str>) -> Result<String, Error> {
        let event = place == Place::Event;
        Ok(match shape {
            Shape::String if event => "rt::Str<'a>".to_owned(),
            Shape::String => "String".to_owned(),
            Shape::Integer => "i64".to_owned(),
            Shape::Number => "f64".to_owned(),
            Shape::Boolean => "bool".to_owned(),
            Shape::Any | Shape::Free if event => "&'a rt::RawValue".to_owned(),
            Shape::Any | Shape::Free => "Box<rt::RawValue>".to_owned(),
            Shape::Binary if event => "rt::Base64Str<'a>".to_owned(),
            Shape::Binary => "rt::Base64".to_owned(),
            Shape::Array(item) => format!("Vec<{}>", self.rust_type(item, place, inline)?),
            Shape::Enum(_) | Shape::Struct(_) => match inline {
                Some(name) => name.to_owned(),
                None => return Err(Error::schema(self.domain, "a type in place has no name")),
            },
            Shape::Ref(name) => self.named_type(name, place)?,
        })
    }

    fn named_type(&self, name: &TypeRef, place: Place) -> Result<String, Error> {
        let def = self.protocol.type_def(name)?;
        if place == Place::Event && def.shape.is_alias() && self.layout.borrows(self.protocol, &def.shape) {
            return self.rust_type(&def.shape, place, None);
        }
        let rust = names::item(&name.domain, &name.name, "")?;
        let path =
            if name.domain == self.domain { rust } else { format!("super::{}::{rust}", names::module(&name.domain)?) };
        let lifetime =
            place == Place::Event && matches!(def.shape, Shape::Struct(_)) && self.layout.borrowed.contains(name);
        Ok(if lifetime { path + "<'a>" } else { path })
    }
}
