//! Leaving out nodes: by the filters of a snapshot, and in long runs of similar siblings.

use super::super::world::Node;
use super::SnapshotOptions;
use super::collect::{Item, is_interactive};

/// Containers that carry no information without a name.
const CONTAINERS: [&str; 16] = [
    "application",
    "directory",
    "document",
    "generic",
    "grid",
    "group",
    "list",
    "listitem",
    "menu",
    "menubar",
    "paragraph",
    "rowgroup",
    "table",
    "tablist",
    "toolbar",
    "tree",
];
/// Similar siblings from this number on are a run.
const RUN: usize = 8;
/// How many of a run are shown.
const SHOWN: usize = 5;

/// Applies the filters of a snapshot.
pub(super) fn filtered(items: Vec<Item>, options: &SnapshotOptions) -> Vec<Item> {
    let mut items = items;
    if options.interactive {
        let kept = |item: &Item| is_interactive(&item.role, item.more.as_deref());
        items = lifted(items, kept, |item| &*item.role == "iframe");
    }
    if options.compact {
        let empty = |item: &Item| item.name.is_empty() && !item.has_ref && CONTAINERS.contains(&&*item.role);
        items = lifted(items, |item| !empty(item), |_| true);
    }
    if let Some(depth) = options.depth {
        items.retain(|item| item.depth <= depth);
    }
    items
}

/// Keeps some items. Children of a removed item move up, and so do children of an item that does not `nest`.
pub(super) fn lifted(items: Vec<Item>, keep: impl FnMut(&Item) -> bool, nests: impl Fn(&Item) -> bool) -> Vec<Item> {
    let mut keep = keep;
    let mut around: Vec<u32> = Vec::new(); // depths of the kept ancestors of the present item
    let mut kept = Vec::with_capacity(items.len());
    for mut item in items {
        while around.last().is_some_and(|depth| *depth >= item.depth) {
            around.pop();
        }
        if !keep(&item) {
            continue;
        }
        let depth = item.depth;
        item.depth = u32::try_from(around.len()).unwrap_or(u32::MAX);
        if nests(&item) {
            around.push(depth);
        }
        kept.push(item);
    }
    kept
}

/// Shows five of a run of eight or more siblings with one role. The run whose hidden part begins with `expand` is shown
/// completely.
pub(super) fn folded(items: Vec<Item>, expand: Option<&Node>) -> Vec<Item> {
    let mut out = Vec::with_capacity(items.len().min(1024));
    level(&items, 0, items.len(), expand, &mut out);
    out
}

/// Handles the siblings in a range.
fn level(items: &[Item], start: usize, end: usize, expand: Option<&Node>, out: &mut Vec<Item>) {
    let mut siblings = Vec::new(); // each with the start of the next one
    let mut at = start;
    while at < end {
        let depth = items[at].depth;
        let next = (at + 1..end).find(|&index| items[index].depth <= depth).unwrap_or(end);
        siblings.push((at, next));
        at = next;
    }
    let role = |index: usize| &*items[siblings[index].0].role;
    let mut first = 0;
    while first < siblings.len() {
        let run = (first..siblings.len()).take_while(|&index| role(index) == role(first)).count();
        let rest = siblings.get(first + SHOWN).map(|&(index, _)| &items[index]);
        let is_run = run >= RUN && role(first) != "text";
        let hidden = rest.filter(|rest| is_run && rest.node.is_some() && rest.node.as_ref() != expand);
        let shown = if hidden.is_some() { SHOWN } else { run };
        for &(at, next) in &siblings[first..first + shown] {
            out.push(items[at].clone());
            level(items, at + 1, next, expand, out);
        }
        if let Some(rest) = hidden {
            out.push(Item { folded: run - SHOWN, has_ref: true, more: None, ..rest.clone() });
        }
        first += run;
    }
}
