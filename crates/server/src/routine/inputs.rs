//! The section `## Inputs`.

use super::labels::without_mark;
use super::lines::Line;
use super::model::{Input, Place, SourceLine};
use super::names::{is_name, is_secret_name, name_from};
use super::problem::{Problems, quoted};
use super::text::MAX_INPUTS;

pub(super) fn inputs(
    heading_line: usize,
    lines: &[Line<'_>],
    source: &mut [SourceLine],
    problems: &mut Problems,
) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let mut has_line = false;
    for (line, source) in lines.iter().zip(source) {
        if line.is_blank() {
            continue;
        }
        has_line = true;
        source.place = Place::Inputs;
        let input = match input(line.text, line.number) {
            Ok(input) => input,
            Err(message) => {
                problems.add(line.number, "INPUT_SYNTAX", message);
                // Known by its name only, so that its uses are not reported too. Line 0: nor that it is unused.
                let name = meant_name(line.text).filter(|name| inputs.iter().all(|known| known.name != *name));
                inputs.extend(name.map(|name| Input { name, default: None, sensitive: false, secret: None, line: 0 }));
                continue;
            }
        };
        let twice = inputs.iter().find(|known| known.name.eq_ignore_ascii_case(&input.name));
        if let Some(first) = twice {
            let message = format!(
                "line {} declares `{}` already, and case makes no difference; remove this line or write another name",
                first.line, first.name
            );
            problems.add(line.number, "INPUT_TWICE", message);
            continue;
        }
        if inputs.len() == MAX_INPUTS {
            let message = format!("a routine has at most {MAX_INPUTS} inputs; remove this one and those below it");
            problems.add(line.number, "TOO_LONG", message);
            break;
        }
        inputs.push(input);
    }
    if !has_line {
        let message = "the section declares no input; write a line `- name` for each input, or remove the heading";
        problems.add(heading_line, "EMPTY_SECTION", message);
    }
    inputs
}

/// The name that a faulty line most likely declares: one or two words in front of what explains them.
fn meant_name(line: &str) -> Option<String> {
    let text = without_mark(line.trim()).split(['(', ':', '–', '—']).next().unwrap_or_default();
    let words = text.split(" - ").next().unwrap_or_default();
    if is_name(words.trim()) {
        return Some(words.trim().to_owned());
    }
    name_from(words).filter(|_| words.split_whitespace().count() <= 2)
}

/// Parses `- name (attribute, …)`, or says what to write instead.
fn input(line: &str, number: usize) -> Result<Input, String> {
    let Some(text) = line.strip_prefix("- ") else {
        let name = meant_name(line).unwrap_or_else(|| "name".to_owned());
        return Err(format!(
            "{} does not declare an input; write `- {name}` or `- {name} (default …)`, and explanations below \
             `## Prerequisites`",
            quoted(line.trim())
        ));
    };
    let (name, attributes) = match text.split_once(" (").or_else(|| text.split_once('(')) {
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')');
            let inner = inner
                .ok_or_else(|| "the attributes do not end with the line; write `)` as its last character".to_owned())?;
            (name, Some(inner))
        }
        None => (text, None),
    };
    if !is_name(name) {
        let wanted = meant_name(line).map_or_else(String::new, |name| format!(", such as `- {name}`"));
        return Err(format!(
            "{} is not a name; write one word that begins with a letter and has letters, digits, `_` and `-`{wanted}",
            quoted(name)
        ));
    }
    let mut input = Input { name: name.to_owned(), default: None, sensitive: false, secret: None, line: number };
    if let Some(attributes) = attributes {
        read_attributes(attributes, &mut input)?;
    }
    Ok(input)
}

fn read_attributes(text: &str, input: &mut Input) -> Result<(), String> {
    let mut rest = text.trim();
    let mut has_sensitive = false;
    loop {
        let begin = rest;
        if let Some(value) = rest.strip_prefix("default ") {
            let (value, behind) = default_value(value.trim_start())?;
            check_default(&value)?;
            if input.default.replace(value).is_some() {
                return Err(twice("default"));
            }
            rest = behind;
        } else {
            let (attribute, behind) = split_comma(rest);
            let secret = attribute.strip_prefix("secret ").map(str::trim);
            match (attribute, secret) {
                ("sensitive", _) if has_sensitive => return Err(twice("sensitive")),
                ("sensitive", _) => has_sensitive = true,
                (_, Some(_)) if input.secret.is_some() => return Err(twice("secret")),
                (_, Some(name)) if is_secret_name(name) => input.secret = Some(name.to_owned()),
                (_, Some(name)) => {
                    return Err(format!(
                        "{} is not the name of a secret; write `secret NAME` with letters, digits, `_`, `-` and `.`",
                        quoted(name)
                    ));
                }
                _ => return Err(unknown_attribute(attribute, input)),
            }
            rest = behind;
        }
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start(),
            None if rest.is_empty() => break,
            None => return Err(format!("{} has text after the closing quote; write a comma there", quoted(begin))),
        }
    }
    input.sensitive = has_sensitive || input.secret.is_some();
    if input.secret.is_some() && input.default.is_some() {
        return Err("the input has a default and a secret; write only one of them".to_owned());
    }
    Ok(())
}

/// The text up to the next comma, and the rest from the comma on.
fn split_comma(text: &str) -> (&str, &str) {
    let (attribute, rest) = text.split_at(text.find(',').unwrap_or(text.len()));
    (attribute.trim(), rest)
}

fn default_value(text: &str) -> Result<(String, &str), String> {
    let Some(quoted_text) = text.strip_prefix('"') else {
        let (value, rest) = split_comma(text);
        return if value.is_empty() {
            Err("the default is empty; write `default \"\"` for an empty text, or remove `default`".to_owned())
        } else {
            Ok((value.to_owned(), rest))
        };
    };
    let mut value = String::new();
    let mut chars = quoted_text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, quoted_text.get(at + 1..).unwrap_or_default().trim_start())),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                _ => {
                    return Err(
                        "the quoted default has a single backslash; write `\\\\` for a backslash and `\\\"` for a \
                                quote"
                            .to_owned(),
                    );
                }
            },
            _ => value.push(c),
        }
    }
    Err("the quoted default is not closed; write `\"` after its last character".to_owned())
}

fn check_default(value: &str) -> Result<(), String> {
    if value.contains("{{") {
        return Err(
            "a default cannot have a placeholder; write a plain text, or `(sensitive, secret NAME)` for a stored \
                    secret"
                .to_owned(),
        );
    }
    Ok(())
}

fn unknown_attribute(attribute: &str, input: &Input) -> String {
    let shown = quoted(attribute);
    match &input.default {
        Some(default) => format!(
            "{shown} is not an attribute of an input; write a default that has a comma in quotes: {}",
            quoted(&format!("(default \"{default}, {attribute}\")"))
        ),
        None => format!(
            "{shown} is not an attribute of an input; write `(default …)`, `(sensitive)` or `(sensitive, secret NAME)`"
        ),
    }
}

fn twice(attribute: &str) -> String {
    format!("the attribute `{attribute}` occurs twice; write it once")
}
