//! Placeholders such as `{{city}}`, `{{secret:shop}}` and `{{step2.price}}`.

use std::collections::BTreeSet;
use std::ops::Range;

use super::model::{InstructionKind, Place, Routine, Step};
use super::names::{is_name, is_secret_name, name_from, nearest};
use super::problem::{Problems, quoted};

/// A placeholder in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// What it refers to.
    pub kind: PlaceholderKind,
    /// Bytes of the text, with the braces.
    pub range: Range<usize>,
}

/// What a placeholder refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceholderKind {
    /// `{{name}}`: an input.
    Input(String),
    /// `{{secret:NAME}}`: a stored secret.
    Secret(String),
    /// `{{stepN.name}}`: a value that a step reads.
    Value {
        /// Number of the step.
        step: u32,
        /// Name of the value.
        name: String,
    },
    /// Two braces that begin none of these; the range goes to the closing braces or to the end of the line.
    Malformed,
}

/// All placeholders of a text, in order. A placeholder stands on one line and has no blanks inside.
#[must_use]
pub fn placeholders(text: &str) -> Vec<Placeholder> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("{{")) {
        let begin = from + at;
        let inner = text.get(begin + 2..).unwrap_or_default();
        let line = inner.split('\n').next().unwrap_or_default();
        let (kind, end) = match line.find("}}") {
            Some(length) => (kind(line.get(..length).unwrap_or_default()), begin + 2 + length + 2),
            None => (PlaceholderKind::Malformed, begin + 2 + line.len()),
        };
        found.push(Placeholder { kind, range: begin..end });
        from = end;
    }
    found
}

fn kind(inner: &str) -> PlaceholderKind {
    if let Some(name) = inner.strip_prefix("secret:").filter(|name| is_secret_name(name)) {
        return PlaceholderKind::Secret(name.to_owned());
    }
    if let Some((step, name)) = inner.strip_prefix("step").and_then(|rest| rest.split_once('.')) {
        let step = step.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == step);
        return match step.filter(|_| is_name(name)) {
            Some(step) => PlaceholderKind::Value { step, name: name.to_owned() },
            None => PlaceholderKind::Malformed,
        };
    }
    if is_name(inner) { PlaceholderKind::Input(inner.to_owned()) } else { PlaceholderKind::Malformed }
}

/// Names of the stored secrets that a routine uses, in placeholders and as values of inputs, sorted, each once.
#[must_use]
pub fn secrets_used(routine: &Routine) -> Vec<String> {
    let mut names: BTreeSet<String> = routine.inputs.iter().filter_map(|input| input.secret.clone()).collect();
    for line in routine.source.iter().filter(|line| line.place.takes_placeholders()) {
        names.extend(placeholders(&line.text).into_iter().filter_map(|found| match found.kind {
            PlaceholderKind::Secret(name) => Some(name),
            _ => None,
        }));
    }
    names.into_iter().collect()
}

impl Place {
    /// Whether `{{…}}` is a placeholder here.
    pub(super) fn takes_placeholders(self) -> bool {
        !matches!(self, Self::Other | Self::Inputs | Self::Keywords | Self::Schema)
    }

    /// The number of steps that are done before this line counts. `None`: the values of no step can be used.
    fn steps_before(self) -> Option<usize> {
        match self {
            Self::Title(step) | Self::Instruction(step) | Self::Reasoning(step) => Some(step),
            Self::Result => Some(usize::MAX),
            _ => None,
        }
    }
}

/// Checks that placeholders refer to what the routine has, and that inputs are used.
pub(super) fn check(routine: &Routine, problems: &mut Problems) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for (i, line) in routine.source.iter().enumerate() {
        if !line.place.takes_placeholders() {
            continue;
        }
        for found in placeholders(&line.text) {
            let written = line.text.get(found.range.clone()).unwrap_or_default();
            let problem = match &found.kind {
                PlaceholderKind::Input(name) => {
                    let known = routine.inputs.iter().map(|input| input.name.as_str());
                    used.extend(routine.input(name).map(|input| input.name.as_str()).or_else(|| nearest(name, known)));
                    check_input(routine, name, line.place)
                }
                PlaceholderKind::Secret(name) => match line.place {
                    Place::Instruction(_) => None,
                    _ => Some((
                        "SECRET_PLACE",
                        format!(
                            "`{{{{secret:{name}}}}}` is outside of an instruction; write it in the instruction that \
                         types it"
                        ),
                    )),
                },
                PlaceholderKind::Value { step, name } => check_value(routine, *step, name, line.place),
                PlaceholderKind::Malformed => Some(("PLACEHOLDER_SYNTAX", malformed(written))),
            };
            if let Some((code, message)) = problem {
                problems.add(i + 1, code, message);
            }
        }
    }
    for input in routine.inputs.iter().filter(|input| input.line > 0 && !used.contains(input.name.as_str())) {
        let name = &input.name;
        let message =
            format!("the input `{name}` is never used; write `{{{{{name}}}}}` where it is needed, or remove the line");
        problems.add(input.line, "INPUT_UNUSED", message);
    }
}

fn check_input(routine: &Routine, name: &str, place: Place) -> Option<(&'static str, String)> {
    if let Some(input) = routine.input(name) {
        let message = format!(
            "the input `{name}` is sensitive, and an address is shown and logged; write it in an instruction, or remove \
             `sensitive`"
        );
        return (input.sensitive && place == Place::StartingUrl).then_some(("SENSITIVE_PLACE", message));
    }
    if name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        let instead = if place == Place::StartingUrl { "the address of the site" } else { "the text that is meant" };
        let message =
            format!("the placeholder `{{{{{name}}}}}` of a test is not filled in; write {instead} in its place");
        return Some(("UNFILLED_PLACEHOLDER", message));
    }
    let message = match nearest(name, routine.inputs.iter().map(|input| input.name.as_str())) {
        Some(near) => {
            format!("`{{{{{name}}}}}` is not an input of this routine; write `{{{{{near}}}}}`, or declare `- {name}`")
        }
        None => format!("`{{{{{name}}}}}` is not an input of this routine; write `- {name}` below `## Inputs`"),
    };
    Some(("INPUT_UNDECLARED", message))
}

fn check_value(routine: &Routine, number: u32, name: &str, place: Place) -> Option<(&'static str, String)> {
    let shown = format!("`{{{{step{number}.{name}}}}}`");
    let Some((position, step)) = routine.steps.iter().enumerate().find(|(_, step)| step.n == number) else {
        let message =
            format!("{shown} refers to a step that does not exist; write the number of the step that reads it");
        return Some(("VALUE_UNKNOWN", message));
    };
    if !reads(step).any(|known| known == name) {
        let near = nearest(name, reads(step)).map(|near| format!("write `{{{{step{number}.{near}}}}}`, or "));
        let message = format!(
            "step {number} reads no value `{name}`; {}write `Read {name}: …` in a line of step {number}",
            near.unwrap_or_default()
        );
        return Some(("VALUE_UNKNOWN", message));
    }
    match place.steps_before() {
        Some(before) if position < before => None,
        Some(_) => {
            let message = format!(
                "{shown} is used before step {number} is done; write it in a step after step {number}, or read the value earlier"
            );
            Some(("VALUE_LATER", message))
        }
        None => {
            let message = format!(
                "{shown} is not known before the run; write it in a step after step {number}, or use an input here"
            );
            Some(("VALUE_LATER", message))
        }
    }
}

/// Names of the values that a step reads.
pub(super) fn reads(step: &Step) -> impl Iterator<Item = &str> {
    step.instructions.iter().filter_map(|instruction| match &instruction.kind {
        InstructionKind::Read { name } => Some(name.as_str()),
        _ => None,
    })
}

fn malformed(written: &str) -> String {
    let inner = written.trim_matches(['{', '}']).trim();
    let suggestion = match kind(inner) {
        PlaceholderKind::Malformed => inner
            .rsplit(':')
            .next()
            .and_then(name_from)
            .map(|name| format!("`{{{{{name}}}}}` for an input, `{{{{secret:NAME}}}}` or `{{{{step2.name}}}}`")),
        _ => Some(format!("`{{{{{inner}}}}}`")),
    };
    let suggestion = suggestion.unwrap_or_else(|| "`{{name}}`, `{{secret:NAME}}` or `{{step2.name}}`".to_owned());
    format!("{} is not a placeholder; write {suggestion}", quoted(written))
}
