//! Phase 5: Rust text.
//!
//! One file per domain and a root file that includes them. Everything is sorted by protocol name,
//! so the same input gives the same bytes.

mod item;
mod shape;
mod structure;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::names::{self, Scope};
use crate::schema::{Domain, Flags, Protocol};
use crate::select::{Layout, Selection};

/// Lints that machine-written text may break, with what would break them: members carry the
/// protocol's names and no descriptions; deprecated items refer to each other; `new` takes every
/// required parameter; enum values may share a prefix; a domain may hold nothing but aliases.
const ALLOWED: &str = "missing_docs, deprecated, unused_imports, clippy::too_many_arguments, \
                       clippy::enum_variant_names, clippy::large_enum_variant";

/// What the emitting functions look things up in.
#[derive(Debug)]
pub(crate) struct Context<'p> {
    pub(crate) protocol: &'p Protocol,
    pub(crate) selection: &'p Selection,
    pub(crate) layout: &'p Layout,
    /// Protocol name of the domain being written.
    pub(crate) domain: &'p str,
}

/// Writes the selection as files, by name.
///
/// # Errors
/// A name has no Rust form, two meet in one scope, or a type refers to a missing one.
pub fn emit(protocol: &Protocol, selection: &Selection, layout: &Layout) -> Result<BTreeMap<String, String>, Error> {
    let mut files = BTreeMap::new();
    let mut modules = Scope::new("protocol");
    let mut root = format!("// Written by cdp-gen from {}.\n", origin());
    for name in selection.domains() {
        let Some(domain) = protocol.domains.get(name) else {
            return Err(Error::Unknown { name: name.to_owned() });
        };
        let module = names::module(name)?;
        modules.claim(&module)?;
        let file = format!("{}.rs", module.trim_start_matches("r#"));
        root += &format!(
            "\n/// Domain [`{name}`]({}).{}\n#[allow({ALLOWED})]\npub mod {module} {{\n    \
             include!(\"{file}\");\n}}\n",
            page(name, ""),
            remark(domain.flags),
        );
        let context = Context { protocol, selection, layout, domain: name };
        files.insert(file, context.module(domain)?);
    }
    let root_file = "protocol.rs".to_owned();
    if files.insert(root_file.clone(), root).is_some() {
        return Err(Error::Collision { scope: "files".to_owned(), name: root_file });
    }
    Ok(files)
}

fn origin() -> String {
    crate::pinned::VERSION.lines().collect::<Vec<_>>().join(", ")
}

/// The documentation page of a domain, or of a place in it.
fn page(domain: &str, anchor: &str) -> String {
    format!("https://chromedevtools.github.io/devtools-protocol/tot/{domain}/{anchor}")
}

/// What documentation says of the flags, with a space before.
fn remark(flags: Flags) -> &'static str {
    match (flags.experimental, flags.deprecated) {
        (false, false) => "",
        (true, false) => " Experimental.",
        (false, true) => " Deprecated.",
        (true, true) => " Experimental. Deprecated.",
    }
}

/// The flags of an item together with those of its domain.
fn both(outer: Flags, inner: Flags) -> Flags {
    Flags { experimental: outer.experimental || inner.experimental, deprecated: outer.deprecated || inner.deprecated }
}

impl Context<'_> {
    fn module(&self, domain: &Domain) -> Result<String, Error> {
        let mut scope = Scope::new(self.domain);
        let mut out = String::from("use crate::cdp::rt;\n");
        for (name, ways) in self.selection.types() {
            if name.domain == self.domain {
                let def = self.protocol.type_def(name)?;
                out += &self.type_def(&mut scope, domain, name, def, ways)?;
            }
        }
        let mine = |(owner, _): &&(String, String)| owner == self.domain;
        for (_, name) in self.selection.commands.iter().filter(mine) {
            if let Some(command) = domain.commands.get(name) {
                out += &self.command(&mut scope, domain, name, command)?;
            }
        }
        for (_, name) in self.selection.events.iter().filter(mine) {
            if let Some(event) = domain.events.get(name) {
                out += &self.event(&mut scope, domain, name, event)?;
            }
        }
        Ok(out)
    }
}
