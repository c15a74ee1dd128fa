//! Items of lists that were used: by their position, or by their name.

use std::collections::HashMap;

use super::elements;
use super::items::Use;
use super::text::quoted;
use super::{AmbiguityKind, Found};

/// One ambiguity for each item, whatever was done with it.
pub(super) fn find(uses: &[Use<'_>]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for one in uses.iter().filter(|one| !one.is_toggle) {
        let position = *known.entry((&one.page, &one.key)).or_insert(found.len());
        if let Some(earlier) = found.get_mut(position) {
            earlier.events.push(one.event);
            continue;
        }
        let item = name(one);
        found.push(Found {
            kind: AmbiguityKind::PositionOrIdentity,
            events: vec![one.event],
            problem: format!(
                "In a list, {item} was used; nothing shows whether it was chosen by its position or by its name."
            ),
            question: format!(
                "Should each run use {item}, or whatever is at its position in the list, such as the first one?"
            ),
        });
    }
    found
}

/// `"Boots"`, or `"Details" of "Boots"` if the used element is called otherwise than its item.
fn name(one: &Use<'_>) -> String {
    let own = elements::name(one.element).trim();
    let title = one.item.map_or("", |item| item.title.trim());
    match (own, title) {
        ("", "") => "an item without a name".to_owned(),
        ("", title) => quoted(title),
        (own, title) if title.is_empty() || own.contains(title) => quoted(own),
        (own, title) => format!("{} of {}", quoted(own), quoted(title)),
    }
}
