//! Values that were entered and may differ in each run: one ambiguity for each form.

use std::collections::{HashMap, HashSet};

use super::elements;
use super::fills::{Field, Fill, Holds};
use super::text::{list, quoted, value_in};
use super::trace::Trace;
use super::words::{self, line};
use super::{AmbiguityKind, Found};

/// Values of forms, without secrets, fields that were cleared and those that the page had shown before.
pub(super) fn find(
    trace: &Trace<'_>,
    fills: &[Fill<'_>],
    claimed: &HashSet<u64>,
    computed: &HashSet<u64>,
) -> Vec<Found> {
    let is_open = |field: &&Field<'_>| {
        let is_taken = |event: &u64| claimed.contains(event) || computed.contains(event);
        field.holds != Holds::Secret && !field.value.trim().is_empty() && !field.events.iter().any(is_taken)
    };
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for fill in fills {
        let mut fields: Vec<&Field<'_>> = fill.fields.iter().filter(is_open).collect();
        let is_filter = is_filter(trace, fill);
        let has_other = fill.fields.iter().any(|field| field.holds != Holds::Place);
        fields.retain(|field| match field.holds {
            // In a form without other values, it is a filter.
            Holds::Place => !is_filter && has_other,
            Holds::Choice => !is_filter,
            _ => true,
        });
        if fields.is_empty() {
            continue;
        }
        let events = fields.iter().flat_map(|field| field.events.iter().copied());
        let values: Vec<String> = fields.iter().map(|field| value_in(&field.value, &field.label)).collect();
        // The same values of the same fields once more are the same question.
        let same: Vec<(&str, &str)> = fields.iter().map(|field| (field.label.as_str(), field.value.as_str())).collect();
        let position = *known.entry(format!("{same:?}")).or_insert(found.len());
        match found.get_mut(position) {
            Some(earlier) => earlier.events.extend(events),
            None => found.push(Found {
                kind: AmbiguityKind::VaryingValue,
                events: events.collect(),
                problem: problem(&values),
                question: question(&fields, &values),
            }),
        }
    }
    found
}

/// Whether a form filters a list, as the button after it says.
fn is_filter(trace: &Trace<'_>, fill: &Fill<'_>) -> bool {
    let button = trace.get(fill.ended_by).and_then(|seen| seen.event.element.as_ref());
    button.is_some_and(|button| words::says(&line(elements::name(button)), words::LISTING))
}

fn problem(values: &[String]) -> String {
    let (were, are) = if values.len() == 1 { ("The value", "it is") } else { ("The values", "they are") };
    let verb = if values.len() == 1 { "was" } else { "were" };
    format!("{were} {} {verb} entered, and nothing shows whether {are} the same in each run.", list(values))
}

fn question(fields: &[&Field<'_>], values: &[String]) -> String {
    match (fields, values) {
        ([one], _) if one.holds == Holds::Search => {
            let term = quoted(&one.value);
            format!("Should each run search for {term}, or can the search term differ from run to run?")
        }
        (_, [one]) => format!("Should each run enter {one}, or can this value differ from run to run?"),
        _ => format!("Should each run enter {}, or can some of these values differ from run to run?", list(values)),
    }
}
