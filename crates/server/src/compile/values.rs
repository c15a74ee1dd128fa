//! Values of a step: typed texts, chosen options and sensitive fields appear in its instructions as they were recorded, or as
//! placeholders.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::submission::{folded, problem};
use super::view::quoted;
use crate::record::{Element, Event, EventType};
use crate::routine::{self, PlaceholderKind, Problem, Routine, Step, placeholders};

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
    // An input stands for the recorded value only if that is its default, or if it has none. One that is not declared is another problem.
    let stands_for = |values: &[&str]| {
        used.iter().any(|one| match &one.kind {
            PlaceholderKind::Input(name) => match routine.input(name) {
                None => true,
                Some(input) => match &input.default {
                    None => !input.sensitive,
                    Some(default) => values.iter().any(|value| folded(value) == folded(default)),
                },
            },
            _ => false,
        })
    };
    let has_value = used.iter().any(|one| matches!(one.kind, PlaceholderKind::Value { .. }));
    for (element, event, entered) in last_values(events) {
        let field = [&element.label, &element.name].into_iter().find(|name| !name.is_empty());
        let field = quoted(field.map_or("", String::as_str), MOST_TEXT);
        let (code, message) = match entered {
            Entered::Sensitive => {
                let is_stored =
                    |kind: &PlaceholderKind| matches!(kind, PlaceholderKind::Secret(_) | PlaceholderKind::Value { .. });
                let is_input = |kind: &PlaceholderKind| match kind {
                    PlaceholderKind::Input(name) => routine.input(name).is_some_and(|input| input.sensitive),
                    _ => false,
                };
                if used.iter().any(|one| is_stored(&one.kind)) || plain.contains("ask ") {
                    continue;
                }
                if used.iter().any(|one| is_input(&one.kind)) {
                    if let Some((own, start)) = elsewhere(routine, event) {
                        let message = format!(
                            "the field {field} is in a page of {own}, and a sensitive input is typed into pages of the Starting URL \
                             only ({start}); write {{{{secret:NAME}}}} with a secret stored for {own}, or ask the person to enter it"
                        );
                        problems.push(problem(step.line, "SECRET_ORIGIN", message));
                    }
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
                if beginning.is_empty() || has_value || stands_for(&[&value]) || plain.contains(&beginning) {
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
                if wanted.trim().is_empty()
                    || has_value
                    || stands_for(&[&value, &label])
                    || plain.contains(&folded(wanted))
                {
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

/// The origin of the page with the field of an event, and that of the Starting URL, if they differ.
fn elsewhere(routine: &Routine, event: &Event) -> Option<(String, String)> {
    let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin().ascii_serialization());
    let own = origin(event.frame.last().map_or(&event.page.url, |frame| &frame.url))?;
    let start = origin(&routine::address(routine, &BTreeMap::new()))?;
    (own != start).then_some((own, start))
}

/// The last value of each field.
fn last_values<'e>(events: &[&'e Event]) -> Vec<(&'e Element, &'e Event, Entered)> {
    let mut all: Vec<(&Element, &Event, Entered)> = Vec::new();
    for event in events {
        let Some(element) = &event.element else { continue };
        let Some(entered) = entered(event, element) else { continue };
        let is_known = |known: &Element| {
            known.role == element.role && known.name == element.name && known.selectors == element.selectors
        };
        match all.iter_mut().find(|(known, ..)| is_known(known)) {
            Some((_, _, before)) => *before = entered,
            None => all.push((element, event, entered)),
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
