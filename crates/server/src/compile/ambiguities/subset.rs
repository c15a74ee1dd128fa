//! The same action on several items of a list.

use std::collections::{HashMap, HashSet};

use super::elements;
use super::items::Use;
use super::text::{list, quoted};
use super::{AmbiguityKind, Found};

/// The ambiguities, and the uses of other items.
pub(super) fn find(uses: Vec<Use<'_>>) -> (Vec<Found>, Vec<Use<'_>>) {
    let by_action = groups(&uses, |one| one.item.map(|_| one.action.clone()));
    let mut taken: HashSet<usize> = by_action.iter().flatten().copied().collect();
    // Links to items have other names, but lead to alike addresses.
    let is_left = |position: usize| !taken.contains(&position);
    let positions: Vec<usize> = (0..uses.len()).filter(|position| is_left(*position)).collect();
    let left: Vec<&Use<'_>> = positions.iter().filter_map(|position| uses.get(*position)).collect();
    let by_shape = groups(&left, |one| one.shape.clone());
    let by_shape: Vec<Vec<usize>> = by_shape
        .into_iter()
        .map(|group| group.into_iter().filter_map(|at| positions.get(at).copied()).collect())
        .collect();
    taken.extend(by_shape.iter().flatten());
    let mut groups = by_action;
    groups.extend(by_shape);
    let mut found: Vec<Found> = Vec::new();
    // Several actions on the same items are one question.
    let mut known: HashMap<(String, Vec<String>), Vec<usize>> = HashMap::new();
    let mut order = Vec::new();
    for group in groups {
        let members: Vec<&Use<'_>> = group.iter().filter_map(|at| uses.get(*at)).collect();
        let Some(first) = members.first() else { continue };
        let mut items: Vec<String> = members.iter().map(|one| one.key.clone()).collect();
        items.sort_unstable();
        items.dedup();
        let key = (first.page.clone(), items);
        if !known.contains_key(&key) {
            order.push(key.clone());
        }
        known.entry(key).or_default().extend(group);
    }
    let mut items: HashSet<(String, String)> = HashSet::new();
    for key in order {
        let mut group = known.remove(&key).unwrap_or_default();
        group.sort_unstable();
        let members: Vec<&Use<'_>> = group.iter().filter_map(|at| uses.get(*at)).collect();
        items.extend(members.iter().map(|one| (one.page.clone(), one.key.clone())));
        found.push(subset(&members));
    }
    let rest = uses
        .into_iter()
        .enumerate()
        .filter(|(position, one)| !taken.contains(position) && !items.contains(&(one.page.clone(), one.key.clone())));
    let rest = rest.map(|(_, one)| one).collect();
    (found, rest)
}

/// Uses of at least two items with the same key, on the same page and in the same kind of container.
fn groups<'u, 'e: 'u, T: std::borrow::Borrow<Use<'e>>>(
    uses: &'u [T],
    key: impl Fn(&Use<'e>) -> Option<String>,
) -> Vec<Vec<usize>> {
    let mut order: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (position, one) in uses.iter().enumerate() {
        let one = one.borrow();
        let Some(key) = key(one) else { continue };
        let kind = one.item.map_or("", |item| item.kind.as_str());
        let key = format!("{}\u{1f}{kind}\u{1f}{key}", one.page);
        let at = *known.entry(key).or_insert(order.len());
        match order.get_mut(at) {
            Some(group) => group.push(position),
            None => order.push(vec![position]),
        }
    }
    order.retain(|group| {
        let mut items = group.iter().filter_map(|at| uses.get(*at)).map(|one| &one.borrow().key);
        let first = items.next();
        items.any(|item| Some(item) != first)
    });
    order
}

fn subset(members: &[&Use<'_>]) -> Found {
    // Names that only one item has, as those of links to items, are no names of an action.
    let mut named: HashMap<&str, (usize, &str, &str)> = HashMap::new();
    for (position, one) in members.iter().enumerate() {
        let name = if one.action == "link open" { "" } else { elements::name(one.element) };
        let (_, item, _) = named.entry(&one.action).or_insert((position, &one.key, name));
        if *item != one.key {
            *item = "";
        }
    }
    named.retain(|_, (_, item, name)| item.is_empty() && !name.trim().is_empty());
    let mut seen = HashSet::new();
    let items = members.iter().filter(|one| seen.insert(one.key.as_str()));
    let items: Vec<String> = items.map(|one| title(one, named.contains_key(one.action.as_str()))).collect();
    let mut actions: Vec<(usize, &str, &str)> = named.into_values().collect();
    actions.sort_unstable();
    let actions: Vec<String> = actions.into_iter().map(|(_, _, name)| quoted(without_count(name))).collect();
    let with = if actions.is_empty() { String::new() } else { format!(" with {}", list(&actions)) };
    let (count, items) = (items.len(), list(&items));
    Found {
        kind: AmbiguityKind::Subset,
        events: members.iter().map(|one| one.event).collect(),
        problem: format!(
            "{count} items of a list were used{with} ({items}), and nothing shows which items belong to it."
        ),
        question: format!("You chose {items}{with}: by which rule should each run choose the items of the list?"),
    }
}

/// A name without the number at its end, which differs between items.
fn without_count(name: &str) -> &str {
    let is_counted = name.trim_end_matches([')', ']']).ends_with(|c: char| c.is_ascii_digit());
    let short = name.trim_end_matches(|c: char| !c.is_alphabetic());
    if is_counted && !short.is_empty() { short } else { name }
}

/// The name of an item: its title, or the name of the link to it.
fn title(one: &Use<'_>, is_named_action: bool) -> String {
    let title = one.item.map_or("", |item| item.title.trim());
    let name = elements::name(one.element).trim();
    let is_link = (elements::role(one.element) == "link" && !is_named_action) || title.is_empty();
    quoted(if is_link && !name.is_empty() { name } else { title })
}
