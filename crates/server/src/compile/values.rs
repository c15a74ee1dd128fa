//! Values of a step: typed texts, chosen options and sensitive fields appear in its instructions as they were recorded, or as
//! placeholders.

use serde_json::Value;

use super::submission::{folded, problem};
use super::view::quoted;
use crate::record::{Element, Event, EventType};
use crate::routine::{PlaceholderKind, Problem, Routine, Step, placeholders};

/// How much of a long value an instruction must have, in characters.
const BEGINNING: usize = 60;
/// Longest value in a problem, in characters.
const MOST_TEXT: usize = 80;

/// The last value of a field in a step.
enum Entered {
    Text(String),
    /// Value and label of an option.
    Option(String, String),
    Sensitive,
}

/// Checks that a step says what was entered in it.
pub(super) fn check_values(routine: &Routine, step: &Step, events: &[&Event], problems: &mut Vec<Problem>) {
    let text: String = step.instructions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    let plain = folded(&text);
    let used = placeholders(&text);
    let has_value =
        used.iter().any(|one| matches!(one.kind, PlaceholderKind::Input(_) | PlaceholderKind::Value { .. }));
    for (element, entered) in last_values(events) {
        let field = [&element.label, &element.name].into_iter().find(|name| !name.is_empty());
        let field = quoted(field.map_or("", String::as_str), MOST_TEXT);
        let (code, message) = match entered {
            Entered::Sensitive => {
                let is_secret = used.iter().any(|one| match &one.kind {
                    PlaceholderKind::Secret(_) => true,
                    PlaceholderKind::Input(name) => routine.input(name).is_some_and(|input| input.sensitive),
                    _ => false,
                });
                if is_secret || plain.contains("ask ") {
                    continue;
                }
                let message = format!(
                    "the field {field} is sensitive and its value was not recorded; write {{{{secret:NAME}}}}, use a sensitive input, \
                     or ask the person for a code that is sent to them"
                );
                ("SECRET_MISSING", message)
            }
            Entered::Text(value) => {
                let beginning: String = folded(&value).chars().take(BEGINNING).collect();
                if beginning.is_empty() || has_value || plain.contains(&beginning) {
                    continue;
                }
                let message = format!(
                    "the recorded text of the field {field} is {}, which the step does not have; write it as recorded, or use an input \
                     with it as default",
                    quoted(&value, MOST_TEXT)
                );
                ("VALUE_NOT_RECORDED", message)
            }
            Entered::Option(value, label) => {
                let wanted = if value.trim().is_empty() { &label } else { &value };
                if wanted.trim().is_empty() || has_value || plain.contains(&folded(wanted)) {
                    continue;
                }
                let message = format!(
                    "the recorded option of {field} has the value {} and the label {}; write the value as recorded, with the label in \
                     parentheses",
                    quoted(&value, MOST_TEXT),
                    quoted(&label, MOST_TEXT)
                );
                ("OPTION_NOT_RECORDED", message)
            }
        };
        problems.push(problem(step.line, code, message));
    }
}

/// The last value of each field.
fn last_values<'e>(events: &[&'e Event]) -> Vec<(&'e Element, Entered)> {
    let mut all: Vec<(&Element, Entered)> = Vec::new();
    for event in events {
        let Some(element) = &event.element else { continue };
        let Some(entered) = entered(event, element) else { continue };
        let is_known = |known: &Element| {
            known.role == element.role && known.name == element.name && known.selectors == element.selectors
        };
        match all.iter_mut().find(|(known, _)| is_known(known)) {
            Some((_, before)) => *before = entered,
            None => all.push((element, entered)),
        }
    }
    all
}

fn entered(event: &Event, element: &Element) -> Option<Entered> {
    if !matches!(event.event_type, EventType::Input | EventType::Change) {
        return None;
    }
    if element.sensitive {
        return Some(Entered::Sensitive);
    }
    if let Some(first) = event.data.get("values").and_then(Value::as_array).and_then(|all| all.first()) {
        let part = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
        return Some(Entered::Option(part("value"), part("label")));
    }
    match event.data.get("value")? {
        Value::String(text) => Some(Entered::Text(text.clone())),
        Value::Number(number) => Some(Entered::Text(number.to_string())),
        _ => None,
    }
}
