//! Named types, commands and events.

use std::fmt::Write as _;

use super::shape::Place;
use super::structure::Structure;
use super::{Context, both, page, remark};
use crate::error::Error;
use crate::names::{self, Scope};
use crate::schema::{Command, Domain, Event, Flags, Shape, TypeDef, TypeRef};
use crate::select::Ways;

impl Context<'_> {
    pub(crate) fn type_def(
        &self,
        scope: &mut Scope,
        domain: &Domain,
        name: &TypeRef,
        def: &TypeDef,
        ways: Ways,
    ) -> Result<String, Error> {
        let rust = names::item(self.domain, &name.name, "")?;
        let flags = both(domain.flags, def.flags);
        let head = self.doc("Type", &name.name, "type", flags);
        match &def.shape {
            Shape::Enum(values) => self.open_enum(scope, &rust, &head, values),
            Shape::String => {
                scope.claim(&rust)?;
                let lines = head.lines().map(|line| format!("    {line}\n")).collect::<String>();
                Ok(format!("\nrt::string_id! {{\n{lines}    {rust}\n}}\n"))
            }
            Shape::Struct(fields) => {
                let borrowed = self.layout.borrowed.contains(name);
                let structure = Structure {
                    prefix: rust.clone(),
                    name: rust,
                    wire: name.to_string(),
                    head,
                    fields,
                    place: if borrowed { Place::Event } else { Place::Owned },
                    ways,
                    tail: String::new(),
                    owner: Some(name),
                };
                self.structure(scope, &structure)
            }
            other => {
                scope.claim(&rust)?;
                let target = self.rust_type(other, Place::Owned, None)?;
                Ok(format!("\n{head}pub type {rust} = {target};\n"))
            }
        }
    }

    pub(crate) fn command(
        &self,
        scope: &mut Scope,
        domain: &Domain,
        name: &str,
        command: &Command,
    ) -> Result<String, Error> {
        let rust = names::item(self.domain, name, "")?;
        let flags = both(domain.flags, command.flags);
        let method = format!("{}.{name}", self.domain);
        let mut head = self.doc("Command", name, "method", flags);
        if let Some(to) = &command.redirect {
            let _ = writeln!(head, "///\n/// Served by [`{to}`]({}).", page(to, ""));
        }
        if flags.deprecated {
            head += "#[deprecated = \"deprecated in the protocol\"]\n";
        }
        let returns = if command.returns.is_empty() {
            "rt::Empty".to_owned()
        } else {
            names::item(self.domain, name, "Returns")?
        };
        let mut tail = format!("impl rt::Command for {rust} {{\n");
        let _ = writeln!(tail, "    const METHOD: &'static str = {method:?};");
        if flags.experimental {
            let _ = writeln!(tail, "    const EXPERIMENTAL: bool = true;");
        }
        if let Some(to) = &command.redirect {
            let _ = writeln!(tail, "    const REDIRECT: Option<&'static str> = Some({to:?});");
        }
        let _ = writeln!(tail, "    type Returns = {returns};\n}}");
        let mut out = self.structure(
            scope,
            &Structure {
                name: rust.clone(),
                prefix: rust.clone(),
                wire: method.clone(),
                head,
                fields: &command.params,
                place: Place::Owned,
                ways: Ways { to: true, ..Ways::default() },
                tail,
                owner: None,
            },
        )?;
        if !command.returns.is_empty() {
            out += &self.structure(
                scope,
                &Structure {
                    prefix: returns.clone(),
                    name: returns,
                    wire: method.clone(),
                    head: format!("/// What [`{rust}`] returns.\n"),
                    fields: &command.returns,
                    place: Place::Owned,
                    ways: Ways { from: true, ..Ways::default() },
                    tail: String::new(),
                    owner: None,
                },
            )?;
        }
        Ok(out)
    }

    pub(crate) fn event(&self, scope: &mut Scope, domain: &Domain, name: &str, event: &Event) -> Result<String, Error> {
        let rust = names::item(self.domain, name, "Event")?;
        let flags = both(domain.flags, event.flags);
        let method = format!("{}.{name}", self.domain);
        let borrows = event.fields.iter().any(|f| self.layout.borrows(self.protocol, &f.shape));
        let head =
            if borrows { format!("<'a> rt::Event<'a> for {rust}<'a>") } else { format!(" rt::Event<'_> for {rust}") };
        let tail = format!("impl{head} {{\n    const METHOD: &'static str = {method:?};\n}}\n");
        self.structure(
            scope,
            &Structure {
                name: rust,
                prefix: names::pascal(name),
                wire: method,
                head: self.doc("Event", name, "event", flags),
                fields: &event.fields,
                place: Place::Event,
                ways: Ways { event: true, ..Ways::default() },
                tail,
                owner: None,
            },
        )
    }

    pub(crate) fn open_enum(
        &self,
        scope: &mut Scope,
        name: &str,
        head: &str,
        values: &[String],
    ) -> Result<String, Error> {
        scope.claim(name)?;
        let mut variants = Scope::new(name);
        variants.claim("Other")?;
        let mut out = String::from("\nrt::open_enum! {\n");
        for line in head.lines() {
            let _ = writeln!(out, "    {line}");
        }
        let _ = writeln!(out, "    {name} {{");
        for value in values {
            let variant = names::variant(name, value)?;
            variants.claim(&variant)?;
            let _ = writeln!(out, "        {variant} = {value:?},");
        }
        out += "    }\n}\n";
        Ok(out)
    }

    /// The documentation line of an item. A deprecated command has an attribute besides.
    fn doc(&self, what: &str, name: &str, anchor: &str, flags: Flags) -> String {
        let url = page(self.domain, &format!("#{anchor}-{name}"));
        format!("/// {what} [`{}.{name}`]({url}).{}\n", self.domain, remark(flags))
    }
}
