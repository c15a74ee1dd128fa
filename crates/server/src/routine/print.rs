//! From routine to text.

use std::collections::BTreeMap;
use std::fmt;

use super::model::{Input, Place, Routine, SourceLine};
use super::placeholders::{PlaceholderKind, placeholders};
use super::starting_url::filled;

/// Prints the normal form of the text that was parsed.
impl fmt::Display for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.source {
            writeln!(f, "{}", line.text)?;
        }
        Ok(())
    }
}

/// The Markdown of a routine with its inputs filled in, for a model to read.
///
/// Inputs without a value take their default. Placeholders of sensitive inputs, secrets, values of steps and inputs
/// without value or default stay as they are, and the defaults of sensitive inputs are left out of `## Inputs`. Line
/// breaks in values become blanks, `{{` becomes `{ {`, and a value cannot begin a heading, a code block or a label.
/// In the Starting URL, values are encoded as in [`address`].
#[must_use]
pub fn fill(routine: &Routine, values: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for line in &routine.source {
        match line.place {
            Place::StartingUrl => text.push_str(&filled(&line.text, |name| value(routine, values, name))),
            Place::Inputs => text.push_str(&without_sensitive_default(line, &routine.inputs)),
            place if place.takes_placeholders() => {
                fill_line(&line.text, |name| value(routine, values, name), &mut text)
            }
            _ => text.push_str(&line.text),
        }
        text.push('\n');
    }
    text
}

/// The Starting URL of a routine with its inputs filled in, as for [`fill`]. The navigation policy has to be asked
/// again about this address, as inputs may name the host.
///
/// Behind the host, values are percent-encoded and can change neither path segments nor parameters.
#[must_use]
pub fn address(routine: &Routine, values: &BTreeMap<String, String>) -> String {
    filled(&routine.starting_url, |name| value(routine, values, name))
}

/// What a declared input that is not sensitive is filled with.
fn value(routine: &Routine, values: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let input = routine.input(name).filter(|input| !input.sensitive)?;
    values.get(name).or(input.default.as_ref()).cloned()
}

fn without_sensitive_default(line: &SourceLine, inputs: &[Input]) -> String {
    let name = line.text.trim_start_matches("- ").split([' ', '(']).next().unwrap_or_default();
    match inputs.iter().find(|input| input.name == name) {
        Some(input) if input.sensitive && input.default.is_some() => format!("- {name} (sensitive)"),
        _ => line.text.clone(),
    }
}

fn fill_line(line: &str, value: impl Fn(&str) -> Option<String>, out: &mut String) {
    let begin = out.len();
    let mut from = 0;
    for found in placeholders(line) {
        push_text(line.get(from..found.range.start).unwrap_or_default(), begin, out);
        from = found.range.start;
        let PlaceholderKind::Input(name) = &found.kind else { continue };
        let Some(value) = value(name) else { continue };
        from = found.range.end;
        push_value(&value, begin, out);
    }
    push_text(line.get(from..).unwrap_or_default(), begin, out);
}

/// Appends text of the routine. A brace of a value above it cannot join one of the text.
fn push_text(text: &str, begin: usize, out: &mut String) {
    if text.starts_with('{') && !text.starts_with("{{") && out.len() > begin && out.ends_with('{') {
        out.push(' ');
    }
    out.push_str(text);
}

fn push_value(value: &str, begin: usize, out: &mut String) {
    let before = out.get(begin..).unwrap_or_default();
    let is_markup = value.trim_start().starts_with(['#', '`', '~']) || value.trim_start().starts_with("**");
    if before.trim().is_empty() && is_markup {
        out.push('\\');
    }
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        let is_break = matches!(c, '\r' | '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if c == '{' && out.len() > begin && out.ends_with('{') {
            out.push(' ');
        }
        out.push(if is_break { ' ' } else { c });
    }
}
