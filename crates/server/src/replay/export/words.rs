//! Literals, names of variables and comments. What comes from pages never ends a literal or a comment.

use std::collections::BTreeMap;

use cdpilot::text::is_hidden;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    TypeScript,
    Python,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// As it stands.
    Text(String),
    /// The value of a variable.
    Variable(String),
}

/// A text with values of variables in it.
pub(super) type Parts = Vec<Part>;

/// Whether a text is the same in each run, and what it is then.
pub(super) fn fixed(parts: &[Part]) -> Option<String> {
    parts.iter().map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
}

/// A string literal. JSON has the escapes of both languages; what cannot be seen is escaped too.
pub(super) fn literal(text: &str, language: Language) -> String {
    let json = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned());
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let is_plain = c == ' ' || !(c.is_control() || c.is_whitespace() || is_hidden(c) || is_private(c));
        match (is_plain, u32::from(c), language) {
            (true, ..) => out.push(c),
            (false, code @ 0..=0xffff, _) => out.push_str(&format!("\\u{code:04x}")),
            (false, code, Language::TypeScript) => out.push_str(&format!("\\u{{{code:x}}}")),
            (false, code, Language::Python) => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out
}

/// Characters that no font has.
fn is_private(c: char) -> bool {
    matches!(u32::from(c), 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0xfff0..=0xffff | 0xe0000..=0x10_ffff)
}

/// An expression for a text.
pub(super) fn expression(parts: &[Part], language: Language) -> String {
    let each: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => literal(text, language),
            Part::Variable(name) => name.clone(),
        })
        .collect();
    if each.is_empty() { "\"\"".to_owned() } else { each.join(" + ") }
}

/// A text as lines of a comment, without what could end it or change how it is shown.
pub(super) fn comment(text: &str, mark: &str, indent: usize) -> String {
    let is_break = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let lines = text.split(is_break).filter(|line| !line.trim().is_empty());
    let line = |line: &str| {
        let plain: String = line.chars().filter(|c| !(c.is_control() || is_hidden(*c) || is_private(*c))).collect();
        format!("{:indent$}{mark} {}\n", "", plain.trim_end())
    };
    lines.map(line).collect()
}

/// Names of variables: each once.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, u32>);

impl Names {
    /// A name with letters, digits and `_` that begins with `prefix`, in capitals or not; numbered where another one is alike.
    pub(super) fn new_name(&mut self, prefix: &str, name: &str) -> String {
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = format!("{prefix}{plain}");
        // Variables of the environment differ in capitals only.
        let count = self.0.entry(name.to_lowercase()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}_{count}") }
    }
}
