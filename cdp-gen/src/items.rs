//! The item list: reading it, and finding the lines that the sources no longer use.

use crate::error::Error;
use crate::names;
use crate::schema::Protocol;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Protocol name of the domain.
    pub domain: String,
    /// Name of the command, event or type.
    pub name: String,
}

/// Reads a list: one `Domain.name` a line, sorted, no line twice. Empty lines and lines that start
/// with `#` are skipped.
///
/// # Errors
/// A line is malformed or out of order.
pub fn parse(text: &str) -> Result<Vec<Item>, Error> {
    let mut items: Vec<Item> = Vec::new();
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = |problem: String| Error::Items { line: index + 1, problem };
        let Some((domain, name)) = line.split_once('.') else {
            return Err(bad(format!("`{line}` is not `Domain.name`")));
        };
        if line <= before {
            return Err(bad(format!("`{line}` must stand before `{before}`, and only once")));
        }
        before = line;
        items.push(Item { domain: domain.to_owned(), name: name.to_owned() });
    }
    Ok(items)
}

/// The lines of the list that none of the sources uses.
///
/// A line is used when, outside comments, some source has
/// - a path that ends in `module::Name`, where `module` is the domain's module and `Name` is the
///   Rust name of the type, of the command (or its `…Returns`), or of the event (`…Event`);
/// - the same with the name anywhere inside a group, `module::{…, Name, …}`, also across lines;
/// - or the line itself in quotes, `"Domain.name"`.
///
/// A glob import (`module::*`) or a renamed module is not seen; neither is a type that the code
/// only meets as a field of another (no line is needed for those).
///
/// # Errors
/// The list is malformed, or a line names nothing in the protocol.
pub fn unused(list: &str, protocol: &Protocol, sources: &[&str]) -> Result<Vec<String>, Error> {
    let sources: Vec<String> = sources.iter().map(|source| without_comments(source)).collect();
    let mut unused = Vec::new();
    for item in parse(list)? {
        let line = format!("{}.{}", item.domain, item.name);
        let module = names::module(&item.domain)?;
        let wanted = rust_names(protocol, &item)?;
        let quoted = format!("\"{line}\"");
        let used = sources.iter().any(|source| source.contains(&quoted) || names_any(source, &module, &wanted));
        if !used {
            unused.push(line);
        }
    }
    Ok(unused)
}

fn rust_names(protocol: &Protocol, item: &Item) -> Result<Vec<String>, Error> {
    let unknown = || Error::Unknown { name: format!("{}.{}", item.domain, item.name) };
    let domain = protocol.domains.get(&item.domain).ok_or_else(unknown)?;
    let mut wanted = Vec::new();
    if domain.types.contains_key(&item.name) {
        wanted.push(names::item(&item.domain, &item.name, "")?);
    }
    if domain.commands.contains_key(&item.name) {
        wanted.push(names::item(&item.domain, &item.name, "")?);
        wanted.push(names::item(&item.domain, &item.name, "Returns")?);
    }
    if domain.events.contains_key(&item.name) {
        wanted.push(names::item(&item.domain, &item.name, "Event")?);
    }
    if wanted.is_empty() { Err(unknown()) } else { Ok(wanted) }
}

fn names_any(source: &str, module: &str, wanted: &[String]) -> bool {
    let path = format!("{module}::");
    for (start, _) in source.match_indices(&path) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if source[..start].chars().next_back().is_some_and(word) {
            continue;
        }
        let rest = &source[start + path.len()..];
        let group = rest.starts_with('{').then(|| &rest[..group_end(rest)]);
        let mut idents = group.unwrap_or(rest).split(|c: char| !word(c));
        let hit = if group.is_some() {
            idents.any(|ident| wanted.iter().any(|name| name == ident))
        } else {
            idents.next().is_some_and(|ident| wanted.iter().any(|name| name == ident))
        };
        if hit {
            return true;
        }
    }
    false
}

/// Length of a braced group, braces included.
fn group_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Takes out `//` and `/* */` comments; text in quotes stays.
fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            let keep = match c {
                '"' => quoted_len(rest),
                // A quote as a character must not open a text.
                '\'' if rest.starts_with("'\"'") => 3,
                '\'' if rest.starts_with("'\\\"'") => 4,
                _ => c.len_utf8(),
            };
            out.push_str(&rest[..keep]);
            keep
        };
        rest = &rest[skip..];
    }
    out
}

fn quoted_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
