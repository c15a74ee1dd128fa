//! What two descriptions have and the other has not.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{Field, Protocol, Shape};

/// Where a fact stands: domain, kind, name, and further in.
type Path = Vec<String>;

/// Compares domains, commands, events, types, fields, enum values and field types; not flags, and
/// not binary marks, which a browser does not tell.
///
/// A line starts with `-` for what only `left` has, `+` for what only `right` has, and `~` for a
/// field that both have with different types. Contents of a missing item are not listed.
#[must_use]
pub fn diff(left: &Protocol, right: &Protocol) -> Vec<String> {
    let (left, right) = (facts(left), facts(right));
    let paths: BTreeSet<&Path> = left.keys().chain(right.keys()).collect();
    let mut lines = Vec::new();
    for path in paths {
        let inside = |side: &BTreeMap<Path, String>| (1..path.len()).all(|end| side.contains_key(&path[..end]));
        let name = path.join(".");
        match (left.get(path), right.get(path)) {
            (Some(_), None) if inside(&right) => lines.push(format!("- {name}")),
            (None, Some(_)) if inside(&left) => lines.push(format!("+ {name}")),
            (Some(a), Some(b)) if a != b => lines.push(format!("~ {name}: {a} -> {b}")),
            _ => {}
        }
    }
    lines
}

fn facts(protocol: &Protocol) -> BTreeMap<Path, String> {
    let mut facts = BTreeMap::new();
    for (name, domain) in &protocol.domains {
        let root = vec![name.clone()];
        facts.insert(root.clone(), String::new());
        for kind in ["types", "commands", "events"] {
            facts.insert(child(&root, kind), String::new());
        }
        for (id, def) in &domain.types {
            let path = child(&child(&root, "types"), id);
            facts.insert(path.clone(), kind_of(&def.shape));
            inner(&mut facts, &path, &def.shape);
        }
        for (id, command) in &domain.commands {
            let path = child(&child(&root, "commands"), id);
            facts.insert(path.clone(), String::new());
            for (part, list) in [("parameters", &command.params), ("returns", &command.returns)] {
                let path = child(&path, part);
                facts.insert(path.clone(), String::new());
                fields(&mut facts, &path, list);
            }
        }
        for (id, event) in &domain.events {
            let path = child(&child(&root, "events"), id);
            facts.insert(path.clone(), String::new());
            fields(&mut facts, &path, &event.fields);
        }
    }
    facts
}

fn child(path: &[String], name: &str) -> Path {
    let mut path = path.to_vec();
    path.push(name.to_owned());
    path
}

fn fields(facts: &mut BTreeMap<Path, String>, path: &[String], list: &[Field]) {
    for field in list {
        let optional = if field.optional { "optional " } else { "" };
        let path = child(path, &field.name);
        facts.insert(path.clone(), format!("{optional}{}", kind_of(&field.shape)));
        inner(facts, &path, &field.shape);
    }
}

fn inner(facts: &mut BTreeMap<Path, String>, path: &[String], shape: &Shape) {
    match shape {
        Shape::Struct(list) => fields(facts, path, list),
        Shape::Enum(values) => {
            for value in values {
                facts.insert(child(path, value), String::new());
            }
        }
        _ => {}
    }
}

fn kind_of(shape: &Shape) -> String {
    match shape {
        Shape::Ref(name) => name.to_string(),
        Shape::Array(item) => format!("list of {}", kind_of(item)),
        Shape::String | Shape::Binary => "string".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Any => "any".to_owned(),
        Shape::Free => "object".to_owned(),
        Shape::Enum(_) => "enum".to_owned(),
        Shape::Struct(_) => "object with members".to_owned(),
    }
}
