//! Values that were entered after the page had shown them.

use std::collections::{HashMap, HashSet};

use super::fills::{Field, Fill, Holds};
use super::needles::Needles;
use super::text::{list, value_in};
use super::trace::Trace;
use super::{AmbiguityKind, Found};

/// The ambiguities, and the edits of their fields.
pub(super) fn find(trace: &Trace<'_>, fills: &[Fill<'_>], claimed: &HashSet<u64>) -> (Vec<Found>, HashSet<u64>) {
    let fields = || fills.iter().flat_map(|fill| fill.fields.iter()).filter(|field| is_text(field, claimed));
    let mut needles = Needles::new(fields().map(|field| field.value.trim()));
    needles.search(trace);
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut entered = HashSet::new();
    for fill in fills {
        let (mut events, mut values) = (Vec::new(), Vec::new());
        for field in fill.fields.iter().filter(|field| is_text(field, claimed)) {
            let first = field.events.first().copied().unwrap_or_default();
            let shown = needles.shown(field.value.trim()).filter(|shown| *shown < first);
            let Some(shown) = shown else { continue };
            values.push(value_in(&field.value, &field.label));
            events.push(shown);
            events.extend(&field.events);
            entered.extend(&field.events);
        }
        if values.is_empty() {
            continue;
        }
        let position = *known.entry(values.join("\u{1f}")).or_insert(found.len());
        if let Some(earlier) = found.get_mut(position) {
            earlier.events.extend(events);
            continue;
        }
        let (values, is_one) = (list(&values), values.len() == 1);
        let (was, it, this) =
            if is_one { ("was", "it was", "this value") } else { ("were", "they were", "these values") };
        found.push(Found {
            kind: AmbiguityKind::ComputedValue,
            events,
            problem: format!(
                "{values} {was} entered after the page had shown {this}, so {it} perhaps read from the page."
            ),
            question: format!(
                "You entered {values}: should each run read {this} from the page, or always enter the same?"
            ),
        });
    }
    (found, entered)
}

fn is_text(field: &Field<'_>, claimed: &HashSet<u64>) -> bool {
    let is_typed = matches!(field.holds, Holds::Text | Holds::Search);
    is_typed && !field.events.iter().any(|event| claimed.contains(event)) && is_distinct(field.value.trim())
}

/// Whether a value is long enough to be shown elsewhere by more than chance.
fn is_distinct(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3 || value.chars().count() >= 4
}
