//! Phase 4: protocol names as Rust names.
//!
//! A name is cut into words (`getDOMCounters` is get, DOM, Counters) and put together again. Two
//! names that meet in one scope are an error: leaving one out in silence would lose an item.

use std::collections::BTreeSet;

use crate::error::Error;

/// Names the emitted code itself uses, so no protocol type may take them.
const TAKEN: &[&str] = &[
    "Box", "Clone", "Debug", "Default", "Err", "Into", "None", "Ok", "Option", "Result", "Self", "Some", "String",
    "Vec",
];

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords that may not even be written raw.
const NEVER_RAW: &[&str] = &["crate", "self", "super"];

/// The variant an open enum keeps for values it does not know.
const CATCH_ALL: &str = "Other";

/// `captureScreenshot` as `CaptureScreenshot`, `AXNode` as `AxNode`.
#[must_use]
pub fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in words(name) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.extend(chars.map(|c| c.to_ascii_lowercase()));
    }
    out
}

/// `documentURL` as `document_url`; no care for keywords.
#[must_use]
pub fn snake(name: &str) -> String {
    words(name).join("_").to_ascii_lowercase()
}

/// The module of a domain.
///
/// # Errors
/// The name is empty or starts with a digit.
pub fn module(domain: &str) -> Result<String, Error> {
    identifier("protocol", domain, snake(domain))
}

/// A type, command or event, with the emitter's suffix.
///
/// # Errors
/// The name is no identifier, or one that the emitted code needs itself.
pub fn item(domain: &str, name: &str, suffix: &str) -> Result<String, Error> {
    let rust = identifier(domain, name, pascal(name) + suffix)?;
    if TAKEN.contains(&rust.as_str()) {
        return Err(Error::Collision { scope: domain.to_owned(), name: rust });
    }
    Ok(rust)
}

/// A field.
///
/// # Errors
/// The name has no letters.
pub fn field(scope: &str, name: &str) -> Result<String, Error> {
    identifier(scope, name, snake(name))
}

/// A variant of an open enum. A leading minus is spelled out, a leading digit gets an `N`, and the
/// value `other` makes room for the catch-all.
///
/// # Errors
/// The value has no letters or digits.
pub fn variant(scope: &str, value: &str) -> Result<String, Error> {
    let body = pascal(value);
    let name = match (value.chars().next(), body.chars().next()) {
        (None, _) => "Empty".to_owned(),
        (Some('-'), Some(_)) => format!("Minus{body}"),
        (_, Some(first)) if first.is_ascii_digit() => format!("N{body}"),
        _ if body == CATCH_ALL => "OtherValue".to_owned(),
        _ if body == "Self" => "SelfValue".to_owned(),
        _ => body,
    };
    identifier(scope, value, name)
}

fn identifier(scope: &str, name: &str, rust: String) -> Result<String, Error> {
    let valid = rust.chars().next().is_some_and(|first| !first.is_ascii_digit())
        && rust.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid {
        return Err(Error::Name { scope: scope.to_owned(), name: name.to_owned() });
    }
    Ok(if NEVER_RAW.contains(&rust.as_str()) {
        rust + "_"
    } else if KEYWORDS.contains(&rust.as_str()) {
        format!("r#{rust}")
    } else {
        rust
    })
}

/// Cuts at anything that is no letter or digit, before a capital that follows a small letter or
/// digit, and before the last capital of a run that a small letter follows (`HTTPHeaders`), unless
/// that is a plural (`IDs`).
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let mut words = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        let before = if i == 0 { ' ' } else { at(i - 1) };
        let plural = at(i + 1) == 's' && !at(i + 2).is_ascii_lowercase();
        let ends_run = before.is_ascii_uppercase() && at(i + 1).is_ascii_lowercase() && !plural;
        let starts = before.is_ascii_lowercase() || before.is_ascii_digit() || ends_run;
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && starts) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (is_part(c), words.last_mut()) {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Separators are dropped; a sign that stands for something stays and makes the name invalid.
fn is_part(c: char) -> bool {
    !matches!(c, '-' | '_' | ' ' | '.' | '/' | ':')
}

/// The names taken in one scope.
#[derive(Debug)]
pub struct Scope {
    name: String,
    taken: BTreeSet<String>,
}

impl Scope {
    /// An empty scope, named for error messages.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), taken: BTreeSet::new() }
    }

    /// Takes a name.
    ///
    /// # Errors
    /// It is taken.
    pub fn claim(&mut self, name: &str) -> Result<(), Error> {
        if self.taken.insert(name.to_owned()) {
            return Ok(());
        }
        Err(Error::Collision { scope: self.name.clone(), name: name.to_owned() })
    }
}
