//! Which events satisfy which criteria.
//!
//! Events are read in their order. A criterion takes the first event that satisfies one of its patterns; one that is ordered
//! after another takes the first such event behind the event of the other, so that no event serves both. Taking the first
//! leaves most events for those that follow, so further events never take away what was satisfied. The exception is what a
//! test calls `final`: of each group of such events only the last one counts.

use std::collections::HashMap;

use serde_json::Value;

use super::dataset::{Condition, Expect, Pattern, Test};
use super::placeholders::Places;

/// The event of each criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matches(Vec<Option<usize>>);

impl Matches {
    /// Index of the event that satisfied a criterion; for a number of events, of the last one that was needed.
    #[must_use]
    pub fn of(&self, criterion: usize) -> Option<usize> {
        self.0.get(criterion).copied().flatten()
    }
}

/// Finds the event of each criterion. `places`: what the placeholders of the test stand for.
#[must_use]
pub fn matches(test: &Test, events: &[Value], placeholders: &Places) -> Matches {
    let counts = counting(test, events);
    let mut found: Vec<Option<usize>> = Vec::with_capacity(test.criteria.len());
    for criterion in &test.criteria {
        let from = match criterion.after {
            None => Some(0),
            Some(earlier) => found.get(earlier).copied().flatten().map(|at| at + 1),
        };
        let first = from.and_then(|from| {
            criterion.patterns.iter().filter_map(|pattern| pattern.first(events, from, &counts, placeholders)).min()
        });
        found.push(first);
    }
    Matches(found)
}

/// Whether each event counts: of a group of `final` events, only the last one does.
fn counting(test: &Test, events: &[Value]) -> Vec<bool> {
    let mut counts = vec![true; events.len()];
    for last in &test.finals {
        let mut groups: HashMap<String, usize> = HashMap::new();
        for (index, event) in events.iter().enumerate() {
            if event["eventType"] != last.event_type.as_str() {
                continue;
            }
            let group: Vec<&Value> = last.by.iter().map(|field| &event[field.as_str()]).collect();
            let group = serde_json::to_string(&group).unwrap_or_default();
            if let Some(older) = groups.insert(group, index)
                && let Some(counted) = counts.get_mut(older)
            {
                *counted = false;
            }
        }
    }
    counts
}

impl Pattern {
    fn first(&self, events: &[Value], from: usize, counts: &[bool], places: &Places) -> Option<usize> {
        let mut satisfying = events.iter().enumerate().skip(from).filter(|(index, event)| {
            counts.get(*index).copied().unwrap_or_default()
                && self.expects.iter().all(|expect| expect.holds(event, places))
                && self.count.as_ref().is_none_or(|(condition, _)| condition.holds(event))
        });
        let most = self.count.as_ref().map_or(1, |(_, count)| *count);
        let index = satisfying.nth(usize::try_from(most.saturating_sub(1)).unwrap_or(usize::MAX))?;
        Some(index.0)
    }
}

impl Condition {
    fn holds(&self, event: &Value) -> bool {
        match self {
            Self::EventType(name) => event["eventType"] == name.as_str(),
            Self::ChatInteractions => matches!(
                (event["eventType"].as_str(), event["elementId"].as_str()),
                (Some("input" | "keydown_enter"), Some("chat-input")) | (Some("click"), Some("send-btn"))
            ),
        }
    }
}

impl Expect {
    fn holds(&self, event: &Value, places: &Places) -> bool {
        let fill = |text: &str| places.fill(text).map_or_else(|_| text.to_owned(), |text| text.into_owned());
        match self {
            Self::Equal(field, wanted) => {
                event.get(field).is_some_and(|value| is_equal(value, &places.fill_value(wanted)))
            }
            Self::Contains(field, part) => event[*field].as_str().is_some_and(|text| text.contains(&fill(part))),
            Self::ValueContains(parts) => {
                let value = event.get("value").or_else(|| event.get("inputValue")).and_then(Value::as_str);
                value.is_some_and(|text| parts.iter().any(|part| text.contains(&fill(part))))
            }
            Self::ValueLengthMin(least) => event["valueLength"].as_f64().is_some_and(|length| length >= *least),
        }
    }
}

/// Equal, type included: `true` is not `"true"`. 1 and 1.0 are the same number, as in JSON.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}
