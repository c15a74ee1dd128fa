//! Phase 1: the JSON description as a plain model.
//!
//! The model holds facts only: names, types, flags. Descriptions are dropped on reading. Every construct that the model does not know is an error, never
//! skipped: a new one upstream has to be looked at.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::Error;

/// A whole protocol, domains sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protocol {
    /// Version as the description states it, `1.3` for years.
    pub version: String,
    /// Domains by their protocol name.
    pub domains: BTreeMap<String, Domain>,
}

/// One domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domain {
    /// Stability.
    pub flags: Flags,
    /// Named types.
    pub types: BTreeMap<String, TypeDef>,
    /// Commands.
    pub commands: BTreeMap<String, Command>,
    /// Events; the fields are their parameters.
    pub events: BTreeMap<String, Event>,
}

/// Marks that any element may carry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// May change without notice.
    pub experimental: bool,
    /// Going away.
    pub deprecated: bool,
}

/// A named type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDef {
    /// Stability.
    pub flags: Flags,
    /// What it is.
    pub shape: Shape,
}

/// A command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Stability.
    pub flags: Flags,
    /// What the caller sends.
    pub params: Vec<Field>,
    /// What the browser answers.
    pub returns: Vec<Field>,
    /// The domain that really serves it. The command is still sent under its own name.
    pub redirect: Option<String>,
}

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Stability.
    pub flags: Flags,
    /// What the browser sends.
    pub fields: Vec<Field>,
}

/// A member of an object, in wire order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Wire name.
    pub name: String,
    /// Stability.
    pub flags: Flags,
    /// May be left out.
    pub optional: bool,
    /// Its type.
    pub shape: Shape,
}

/// A type, named or in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A named type.
    Ref(TypeRef),
    /// Text.
    String,
    /// Whole number.
    Integer,
    /// Any number.
    Number,
    /// Truth value.
    Boolean,
    /// Any JSON value.
    Any,
    /// Bytes, in Base64 on the wire.
    Binary,
    /// Object without stated members.
    Free,
    /// List.
    Array(Box<Shape>),
    /// Text out of a list.
    Enum(Vec<String>),
    /// Object with stated members; only as a named type.
    Struct(Vec<Field>),
}

impl Shape {
    /// True if a named type of this shape is only another name for it in Rust. Objects, enums and
    /// text get a type of their own.
    #[must_use]
    pub fn is_alias(&self) -> bool {
        !matches!(self, Self::Struct(_) | Self::Enum(_) | Self::String)
    }
}

/// The full name of a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeRef {
    /// Protocol name of the domain.
    pub domain: String,
    /// Protocol name of the type.
    pub name: String,
}

impl TypeRef {
    /// A reference by its two names.
    #[must_use]
    pub fn new(domain: &str, name: &str) -> Self {
        Self { domain: domain.to_owned(), name: name.to_owned() }
    }
}

impl std::fmt::Display for TypeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.domain, self.name)
    }
}

impl Protocol {
    /// Reads one description, as published or as answered by a browser at `/json/protocol`.
    ///
    /// # Errors
    /// The text is not JSON, or not a protocol description this model knows.
    pub fn parse(what: &str, text: &str) -> Result<Self, Error> {
        let value: Value =
            serde_json::from_str(text).map_err(|source| Error::Json { what: what.to_owned(), source })?;
        let part = |name: &str| value["version"][name].as_str().unwrap_or("?").to_owned();
        let mut protocol = Self { version: format!("{}.{}", part("major"), part("minor")), domains: BTreeMap::new() };
        for entry in list(&value, "domains", what)? {
            let name = text_of(entry, "domain", what)?;
            let domain = read_domain(&name, entry)?;
            insert(&mut protocol.domains, what, name, domain)?;
        }
        Ok(protocol)
    }

    /// Adds the domains of another description.
    ///
    /// # Errors
    /// Both have a domain of the same name.
    pub fn merge(&mut self, other: Self) -> Result<(), Error> {
        for (name, domain) in other.domains {
            insert(&mut self.domains, "merge", name, domain)?;
        }
        Ok(())
    }

    /// The named type.
    ///
    /// # Errors
    /// There is none.
    pub fn type_def(&self, name: &TypeRef) -> Result<&TypeDef, Error> {
        self.domains
            .get(&name.domain)
            .and_then(|domain| domain.types.get(&name.name))
            .ok_or_else(|| Error::Unknown { name: name.to_string() })
    }

    /// Checks that every reference leads to a type.
    ///
    /// # Errors
    /// Names the first reference that does not.
    pub fn check_refs(&self) -> Result<(), Error> {
        let mut bad = None;
        self.each_shape(&mut |at, shape| {
            if let Shape::Ref(to) = shape
                && self.type_def(to).is_err()
            {
                bad.get_or_insert_with(|| Error::schema(at, format!("refers to missing `{to}`")));
            }
        });
        bad.map_or(Ok(()), Err)
    }

    /// Calls `visit` with the path and shape of every type, field and list element.
    pub fn each_shape(&self, visit: &mut dyn FnMut(&str, &Shape)) {
        for (name, domain) in &self.domains {
            for (id, def) in &domain.types {
                walk(&format!("{name}.{id}"), &def.shape, visit);
            }
            for (id, command) in &domain.commands {
                for field in command.params.iter().chain(&command.returns) {
                    walk(&format!("{name}.{id}.{}", field.name), &field.shape, visit);
                }
            }
            for (id, event) in &domain.events {
                for field in &event.fields {
                    walk(&format!("{name}.{id}.{}", field.name), &field.shape, visit);
                }
            }
        }
    }
}

fn walk(at: &str, shape: &Shape, visit: &mut dyn FnMut(&str, &Shape)) {
    visit(at, shape);
    match shape {
        Shape::Array(item) => walk(&format!("{at}[]"), item, visit),
        Shape::Struct(fields) => {
            for field in fields {
                walk(&format!("{at}.{}", field.name), &field.shape, visit);
            }
        }
        _ => {}
    }
}

fn insert<T>(map: &mut BTreeMap<String, T>, at: &str, name: String, item: T) -> Result<(), Error> {
    if map.contains_key(&name) {
        return Err(Error::schema(at, format!("`{name}` stands twice")));
    }
    map.insert(name, item);
    Ok(())
}

fn read_domain(name: &str, value: &Value) -> Result<Domain, Error> {
    let mut domain = Domain { flags: flags(value), ..Domain::default() };
    for entry in optional_list(value, "types", name)? {
        let id = text_of(entry, "id", name)?;
        let at = format!("{name}.{id}");
        let shape = read_shape(name, &at, entry, true)?;
        insert(&mut domain.types, name, id, TypeDef { flags: flags(entry), shape })?;
    }
    for entry in optional_list(value, "commands", name)? {
        let id = text_of(entry, "name", name)?;
        let at = format!("{name}.{id}");
        let command = Command {
            flags: flags(entry),
            params: read_fields(name, &at, entry, "parameters")?,
            returns: read_fields(name, &at, entry, "returns")?,
            redirect: entry["redirect"].as_str().map(str::to_owned),
        };
        insert(&mut domain.commands, name, id, command)?;
    }
    for entry in optional_list(value, "events", name)? {
        let id = text_of(entry, "name", name)?;
        let fields = read_fields(name, &format!("{name}.{id}"), entry, "parameters")?;
        insert(&mut domain.events, name, id, Event { flags: flags(entry), fields })?;
    }
    Ok(domain)
}

fn read_fields(domain: &str, at: &str, value: &Value, key: &str) -> Result<Vec<Field>, Error> {
    let mut fields: Vec<Field> = Vec::new();
    for entry in optional_list(value, key, at)? {
        let name = text_of(entry, "name", at)?;
        if fields.iter().any(|field| field.name == name) {
            return Err(Error::schema(at, format!("`{name}` stands twice")));
        }
        fields.push(Field {
            shape: read_shape(domain, &format!("{at}.{name}"), entry, false)?,
            flags: flags(entry),
            optional: entry["optional"].as_bool().unwrap_or(false),
            name,
        });
    }
    Ok(fields)
}

fn read_shape(domain: &str, at: &str, value: &Value, named: bool) -> Result<Shape, Error> {
    if let Some(target) = value["$ref"].as_str() {
        let (domain, name) = target.split_once('.').unwrap_or((domain, target));
        return Ok(Shape::Ref(TypeRef::new(domain, name)));
    }
    let kind = text_of(value, "type", at)?;
    if let Some(values) = value["enum"].as_array() {
        if kind != "string" {
            return Err(Error::schema(at, format!("enum of `{kind}`")));
        }
        let values: Option<Vec<String>> = values.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        return values.map(Shape::Enum).ok_or_else(|| Error::schema(at, "enum value is not text"));
    }
    Ok(match kind.as_str() {
        "string" => Shape::String,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "any" => Shape::Any,
        "binary" => Shape::Binary,
        "array" => {
            let item = read_shape(domain, &format!("{at}[]"), &value["items"], false)?;
            if matches!(item, Shape::Enum(_)) {
                return Err(Error::schema(at, "list of a nameless enum"));
            }
            Shape::Array(Box::new(item))
        }
        "object" if value.get("properties").is_none() => Shape::Free,
        "object" if named => Shape::Struct(read_fields(domain, at, value, "properties")?),
        other => {
            return Err(Error::schema(at, format!("type `{other}` is not known here")));
        }
    })
}

fn flags(value: &Value) -> Flags {
    let flag = |name: &str| value[name].as_bool().unwrap_or(false);
    Flags { experimental: flag("experimental"), deprecated: flag("deprecated") }
}

fn text_of(value: &Value, key: &str, at: &str) -> Result<String, Error> {
    let text = value[key].as_str().map(str::to_owned);
    text.ok_or_else(|| Error::schema(at, format!("`{key}` is missing")))
}

fn list<'v>(value: &'v Value, key: &str, at: &str) -> Result<&'v [Value], Error> {
    let items = value[key].as_array().map(Vec::as_slice);
    items.ok_or_else(|| Error::schema(at, format!("`{key}` is not a list")))
}

fn optional_list<'v>(value: &'v Value, key: &str, at: &str) -> Result<&'v [Value], Error> {
    if value.get(key).is_none() { Ok(&[]) } else { list(value, key, at) }
}
