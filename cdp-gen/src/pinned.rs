//! The pinned protocol: the copy this crate carries, and the text form it is kept in.

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::schema::{Field, Flags, Protocol, Shape};

const BROWSER: &str = include_str!("../protocol/browser.json");
const JS: &str = include_str!("../protocol/js.json");

/// Where the pinned copy comes from: the npm package and its version, and the protocol's version.
pub const VERSION: &str = include_str!("../protocol/VERSION");

/// The pinned protocol as imported, without corrections.
///
/// # Errors
/// The carried files do not fit the model.
pub fn protocol() -> Result<Protocol, Error> {
    let mut protocol = Protocol::parse("protocol/browser.json", BROWSER)?;
    protocol.merge(js()?)?;
    protocol.check_refs()?;
    Ok(protocol)
}

/// The part of it that the JavaScript engine serves.
pub(crate) fn js() -> Result<Protocol, Error> {
    Protocol::parse("protocol/js.json", JS)
}

/// The text a protocol is pinned in: minified, one domain a line, so that a new version is a
/// readable difference.
#[must_use]
pub fn to_json(protocol: &Protocol) -> String {
    let version = &protocol.version;
    let (major, minor) = version.split_once('.').unwrap_or((version, ""));
    let version = json!({ "major": major, "minor": minor });
    let lines = protocol.domains.iter().map(|(name, domain)| write_domain(name, domain).to_string());
    let domains: Vec<String> = lines.collect();
    format!("{{\"version\":{version},\"domains\":[\n{}\n]}}\n", domains.join(",\n"))
}

fn write_domain(name: &str, domain: &crate::schema::Domain) -> Value {
    let mut out = start(domain.flags, "domain", name);
    let types = domain.types.iter().map(|(id, def)| {
        let mut entry = start(def.flags, "id", id);
        write_shape(name, &def.shape, &mut entry);
        Value::Object(entry)
    });
    put_list(&mut out, "types", types.collect());
    let commands = domain.commands.iter().map(|(id, command)| {
        let mut entry = start(command.flags, "name", id);
        put_list(&mut entry, "parameters", write_fields(name, &command.params));
        put_list(&mut entry, "returns", write_fields(name, &command.returns));
        if let Some(to) = &command.redirect {
            entry.insert("redirect".to_owned(), json!(to));
        }
        Value::Object(entry)
    });
    put_list(&mut out, "commands", commands.collect());
    let events = domain.events.iter().map(|(id, event)| {
        let mut entry = start(event.flags, "name", id);
        put_list(&mut entry, "parameters", write_fields(name, &event.fields));
        Value::Object(entry)
    });
    put_list(&mut out, "events", events.collect());
    Value::Object(out)
}

fn write_fields(domain: &str, fields: &[Field]) -> Vec<Value> {
    let write = |field: &Field| {
        let mut entry = start(field.flags, "name", &field.name);
        if field.optional {
            entry.insert("optional".to_owned(), json!(true));
        }
        write_shape(domain, &field.shape, &mut entry);
        Value::Object(entry)
    };
    fields.iter().map(write).collect()
}

fn write_shape(domain: &str, shape: &Shape, out: &mut Map<String, Value>) {
    let kind = match shape {
        Shape::Ref(to) => {
            let text = if to.domain == domain { to.name.clone() } else { to.to_string() };
            out.insert("$ref".to_owned(), json!(text));
            return;
        }
        Shape::String => "string",
        Shape::Integer => "integer",
        Shape::Number => "number",
        Shape::Boolean => "boolean",
        Shape::Any => "any",
        Shape::Binary => "binary",
        Shape::Free => "object",
        Shape::Array(item) => {
            let mut entry = Map::new();
            write_shape(domain, item, &mut entry);
            out.insert("items".to_owned(), Value::Object(entry));
            "array"
        }
        Shape::Enum(values) => {
            out.insert("enum".to_owned(), json!(values));
            "string"
        }
        Shape::Struct(fields) => {
            let fields = write_fields(domain, fields);
            out.insert("properties".to_owned(), Value::Array(fields));
            "object"
        }
    };
    out.insert("type".to_owned(), json!(kind));
}

fn start(flags: Flags, key: &str, name: &str) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert(key.to_owned(), json!(name));
    if flags.experimental {
        out.insert("experimental".to_owned(), json!(true));
    }
    if flags.deprecated {
        out.insert("deprecated".to_owned(), json!(true));
    }
    out
}

fn put_list(out: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        out.insert(key.to_owned(), Value::Array(list));
    }
}
