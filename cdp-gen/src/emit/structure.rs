//! Objects: the struct, its constructor, its reading and writing half.

use std::fmt::Write as _;

use super::shape::Place;
use super::{Context, remark};
use crate::error::Error;
use crate::names::{self, Scope};
use crate::schema::{Field, Shape, TypeRef};
use crate::select::Ways;

/// What a struct is made from.
pub(crate) struct Structure<'s> {
    /// Rust name.
    pub(crate) name: String,
    /// What enums in place put before the field's name.
    pub(crate) prefix: String,
    /// Name for error messages, `Domain.item`.
    pub(crate) wire: String,
    /// Documentation and attributes, whole lines.
    pub(crate) head: String,
    pub(crate) fields: &'s [Field],
    pub(crate) place: Place,
    pub(crate) ways: Ways,
    /// What follows the struct's own impls, whole lines.
    pub(crate) tail: String,
    /// The named type it is, if it is one.
    pub(crate) owner: Option<&'s TypeRef>,
}

/// A field with what is known of it in Rust.
struct Member<'s> {
    wire: &'s str,
    name: String,
    /// Without the `Option`.
    kind: String,
    optional: bool,
    text: bool,
    remark: &'static str,
}

impl Context<'_> {
    /// Writes the structure and the enums of its fields.
    pub(crate) fn structure(&self, scope: &mut Scope, s: &Structure<'_>) -> Result<String, Error> {
        scope.claim(&s.name)?;
        let mut enums = String::new();
        let mut members = Vec::new();
        let mut taken = Scope::new(&s.wire);
        for field in s.fields {
            let mut inline = None;
            if let Shape::Enum(values) = &field.shape {
                let name = format!("{}{}", s.prefix, names::pascal(&field.name));
                let doc = format!("/// Values of `{}` in `{}`.\n", field.name, s.wire);
                enums += &self.open_enum(scope, &name, &doc, values)?;
                inline = Some(name);
            }
            let name = names::field(&s.wire, &field.name)?;
            taken.claim(&name)?;
            let mut kind = self.rust_type(&field.shape, s.place, inline.as_deref())?;
            let key = |owner: &TypeRef| (owner.clone(), field.name.clone());
            if s.owner.is_some_and(|owner| self.layout.boxed.contains(&key(owner))) {
                kind = format!("Box<{kind}>");
            }
            members.push(Member {
                wire: &field.name,
                name,
                kind,
                optional: field.optional,
                text: field.shape == Shape::String,
                remark: remark(field.flags).trim_start(),
            });
        }
        let lifetime = members.iter().any(|member| member.kind.contains("'a"));
        let generics = if lifetime { "<'a>" } else { "" };
        let mut out = String::new();
        definition(&mut out, s, &members, generics);
        if s.ways.to {
            constructor(&mut out, s, &members, generics);
            writer(&mut out, s, &members, generics);
        }
        if s.ways.read() {
            reader(&mut out, s, &members, generics);
        }
        out += &s.tail;
        Ok(out + &enums)
    }
}

fn definition(out: &mut String, s: &Structure<'_>, members: &[Member<'_>], generics: &str) {
    let bare = s.ways.to && members.iter().all(|member| member.optional);
    let default = if bare { ", Default" } else { "" };
    let _ = write!(out, "\n{}#[derive(Debug, Clone{default})]\n", s.head);
    if members.is_empty() {
        let _ = writeln!(out, "pub struct {}{generics} {{}}", s.name);
        return;
    }
    let _ = writeln!(out, "pub struct {}{generics} {{", s.name);
    for Member { name, kind, optional, remark, .. } in members {
        if !remark.is_empty() {
            let _ = writeln!(out, "    /// {remark}");
        }
        let _ = match optional {
            true => writeln!(out, "    pub {name}: Option<{kind}>,"),
            false => writeln!(out, "    pub {name}: {kind},"),
        };
    }
    out.push_str("}\n");
}

/// `new` takes what is required, in the protocol's order.
fn constructor(out: &mut String, s: &Structure<'_>, members: &[Member<'_>], generics: &str) {
    let _ = writeln!(out, "impl{generics} {}{generics} {{", s.name);
    let required: Vec<&Member<'_>> = members.iter().filter(|member| !member.optional).collect();
    let parameters: Vec<String> = required
        .iter()
        .map(|Member { name, kind, text, .. }| match text {
            true => format!("{name}: impl Into<{kind}>"),
            false => format!("{name}: {kind}"),
        })
        .collect();
    out.push_str("    /// Takes what is required; the rest is left out.\n    #[must_use]\n");
    if parameters.iter().map(|parameter| parameter.len() + 2).sum::<usize>() < 75 {
        let _ = writeln!(out, "    pub fn new({}) -> Self {{", parameters.join(", "));
    } else {
        out.push_str("    pub fn new(\n");
        filled(out, 8, parameters.iter().map(|parameter| format!("{parameter},")));
        out.push_str("    ) -> Self {\n");
    }
    if required.is_empty() {
        out.push_str("        Self::default()\n");
    } else {
        let values: Vec<String> = members
            .iter()
            .map(|Member { name, optional, text, .. }| match (optional, text) {
                (true, _) => format!("{name}: None"),
                (false, true) => format!("{name}: {name}.into()"),
                (false, false) => name.clone(),
            })
            .collect();
        literal(out, &values, "");
    }
    out.push_str("    }\n}\n");
}

fn writer(out: &mut String, s: &Structure<'_>, members: &[Member<'_>], generics: &str) {
    let _ = writeln!(out, "impl{generics} serde::Serialize for {}{generics} {{", s.name);
    out.push_str("    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {\n");
    if members.is_empty() {
        out.push_str("        rt::Out::object(to_)?.end()\n    }\n}\n");
        return;
    }
    out.push_str("        let mut to_ = rt::Out::object(to_)?;\n");
    for Member { wire, name, optional, .. } in members {
        let verb = if *optional { "opt" } else { "put" };
        let _ = writeln!(out, "        to_.{verb}({wire:?}, &self.{name})?;");
    }
    out.push_str("        to_.end()\n    }\n}\n");
}

/// The locals end in an underscore, as no field does, so that none hides another.
fn reader(out: &mut String, s: &Structure<'_>, members: &[Member<'_>], generics: &str) {
    let (decl, of) = if generics.is_empty() { ("<'de>", "'de") } else { ("<'a>", "'a") };
    let _ = writeln!(out, "impl{decl} rt::Record<{of}> for {}{generics} {{", s.name);
    let _ = writeln!(out, "    const NAME: &'static str = {:?};", s.wire);
    let _ = writeln!(out, "    fn read<A: rt::MapAccess<{of}>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {{");
    if members.is_empty() {
        out.push_str("        while from_.key()?.is_some() {\n            from_.skip()?;\n");
        out.push_str("        }\n        Ok(Self {})\n    }\n}\n");
    } else {
        filled(out, 8, members.iter().map(|Member { name, .. }| format!("let mut {name} = None;")));
        out.push_str("        while let Some(key_) = from_.key()? {\n");
        out.push_str("            match key_.as_str() {\n");
        for Member { wire, name, optional, .. } in members {
            let _ = match optional {
                true => writeln!(out, "                {wire:?} => {name} = from_.value({wire:?})?,"),
                false => {
                    writeln!(out, "                {wire:?} => {name} = Some(from_.value({wire:?})?),")
                }
            };
        }
        out.push_str("                _ => from_.skip()?,\n            }\n        }\n");
        let values: Vec<String> = members
            .iter()
            .map(|Member { wire, name, optional, .. }| match optional {
                true => name.clone(),
                false => format!("{name}: rt::need({name}, {wire:?})?"),
            })
            .collect();
        literal(out, &values, "Ok");
        out.push_str("    }\n}\n");
    }
    let _ = writeln!(out, "rt::record!({}{generics});", s.name);
}

/// The value of `Self` that ends a function, in a wrapper such as `Ok`.
fn literal(out: &mut String, values: &[String], wrapper: &str) {
    let (open, close) = if wrapper.is_empty() { ("", "") } else { ("(", ")") };
    if values.iter().map(|value| value.len() + 2).sum::<usize>() < 80 {
        let _ = writeln!(out, "        {wrapper}{open}Self {{ {} }}{close}", values.join(", "));
    } else {
        let _ = writeln!(out, "        {wrapper}{open}Self {{");
        filled(out, 12, values.iter().map(|value| format!("{value},")));
        let _ = writeln!(out, "        }}{close}");
    }
}

/// Writes short pieces side by side, as many as a line holds.
fn filled(out: &mut String, indent: usize, pieces: impl Iterator<Item = String>) {
    let mut width = 0;
    for piece in pieces {
        if width > 0 && width + 1 + piece.len() > 100 {
            out.push('\n');
            width = 0;
        }
        if width == 0 {
            out.push_str(&" ".repeat(indent));
            width = indent;
        } else {
            out.push(' ');
            width += 1;
        }
        out.push_str(&piece);
        width += piece.len();
    }
    out.push('\n');
}
