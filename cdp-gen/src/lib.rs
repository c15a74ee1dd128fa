//! Turns the Chrome DevTools Protocol description into typed Rust.
//!
//! Five pure phases, a module each: [`schema`] (JSON to model), [`patch`] (named corrections),
//! [`select`] (which items, what they pull in), [`names`], [`emit`] (text). Beside them [`import`]
//! makes the pinned copy, [`diff`] compares it with a running browser, and [`items`] reads the list
//! of wanted items and finds the unused ones.
//!
//! The emitted code leans on `crate::cdp::rt` of the crate that includes it.

pub mod diff;
pub mod emit;
mod error;
#[cfg(feature = "import")]
pub mod http;
pub mod import;
pub mod items;
pub mod names;
pub mod patch;
pub mod pinned;
pub mod schema;
pub mod select;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use error::Error;
use schema::Protocol;
use select::{Layout, Selection};

/// The item list this crate carries: what the root crate uses.
pub const ITEMS: &str = include_str!("../items.txt");

/// What to generate.
#[derive(Debug, Clone)]
pub struct Options {
    /// Item list: a sorted `Domain.name` a line.
    pub items: String,
    /// Domains to write whole, by protocol name or module name.
    pub domains: Vec<String>,
    /// Write everything.
    pub full: bool,
    /// The description to generate from; the pinned one if there is none.
    pub protocol: Option<Protocol>,
    /// Corrections to make first.
    pub patches: &'static [patch::Patch],
}

impl Default for Options {
    fn default() -> Self {
        Self { items: ITEMS.to_owned(), domains: Vec::new(), full: false, protocol: None, patches: patch::PATCHES }
    }
}

/// Generates the files, by name; `protocol.rs` is the root that includes the others.
///
/// # Errors
/// The description or the item list is wrong, or names collide.
pub fn render(options: &Options) -> Result<BTreeMap<String, String>, Error> {
    let mut protocol = match &options.protocol {
        Some(protocol) => protocol.clone(),
        None => pinned::protocol()?,
    };
    protocol.check_refs()?;
    patch::apply(&mut protocol, options.patches)?;
    let whole = if options.full { protocol.domains.keys().cloned().collect() } else { options.domains.clone() };
    let items = items::parse(&options.items)?;
    let selection = Selection::new(&protocol, &items, &whole)?;
    emit::emit(&protocol, &selection, &Layout::new(&protocol))
}

/// Generates the files into a directory that exists.
///
/// # Errors
/// As [`render`], or a file cannot be written.
pub fn generate(options: &Options, out_dir: &Path) -> Result<(), Error> {
    for (name, text) in render(options)? {
        let path = out_dir.join(name);
        fs::write(&path, text).map_err(|source| Error::io(&path, source))?;
    }
    Ok(())
}

/// The lines of the item list that none of the given source texts uses; see [`items::unused`] for
/// what counts as use.
///
/// # Errors
/// The list is malformed or names something that the pinned protocol lacks.
pub fn check_items(sources: &[&str]) -> Result<Vec<String>, Error> {
    items::unused(ITEMS, &pinned::protocol()?, sources)
}
