//! Leaving out nodes: by the filters of a snapshot, and in long runs of similar siblings.

use std::collections::{BTreeSet, HashMap, HashSet};

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
/// Siblings of one role and shape from this number on are a run.
const RUN: usize = 8;
/// Siblings of one role from this number on are a run whatever their shapes.
const LONG_RUN: usize = 40;
/// How many of a run are shown.
const SHOWN: usize = 5;
/// Maximum characters of the text of an element in an `interactive` snapshot.
const MOST_OF_TEXT: usize = 120;

/// Applies the filters of a snapshot.
pub(super) fn filtered(items: Vec<Item>, options: &SnapshotOptions) -> Vec<Item> {
    let mut items = items;
    if options.interactive {
        items = interactive(items);
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

/// The interactive elements. One without a name keeps its text, without that of the elements inside it that are kept.
fn interactive(items: Vec<Item>) -> Vec<Item> {
    let is_kept = |item: &Item| is_interactive(&item.role, item.more.as_deref());
    let mut texts: Vec<Option<Item>> = Vec::new();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| is_kept(item)) {
        let has_text = item.name.is_empty() && &*item.role != "iframe";
        texts.push(if has_text { text_in(item, items.get(at + 1..).unwrap_or_default()) } else { None });
    }
    let kept = lifted(items, is_kept, |item| &*item.role == "iframe");
    let with_text = kept.into_iter().zip(texts).flat_map(|(item, text)| {
        let text = text.map(|text| Item { depth: item.depth + 1, ..text });
        [Some(item), text]
    });
    with_text.flatten().collect()
}

/// The text of an element as an item, from the items behind it.
fn text_in(element: &Item, behind: &[Item]) -> Option<Item> {
    let mut text = String::new();
    let mut skip = None; // the depth of a kept or named element, which stands for its content
    for item in behind.iter().take_while(|item| item.depth > element.depth) {
        if skip.is_some_and(|depth| item.depth > depth) {
            continue;
        }
        let is_own = is_interactive(&item.role, item.more.as_deref());
        skip = Some(item.depth).filter(|_| is_own || (!item.name.is_empty() && &*item.role != "text"));
        if !is_own && !item.name.is_empty() {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(&item.name);
        }
        if text.len() > 4 * MOST_OF_TEXT {
            break;
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if let Some((end, _)) = text.char_indices().nth(MOST_OF_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    let role = "text".into();
    (!text.is_empty()).then(|| Item {
        role,
        name: text.into(),
        node: None,
        has_ref: false,
        more: None,
        folded: 0,
        ..element.clone()
    })
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

/// Shows five of a run of eight or more siblings of one role that are alike, or of any 40 of one role. The run whose hidden
/// part begins with `expand` is shown
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
    let shapes: Vec<Shape<'_>> = siblings.iter().map(|&(at, next)| Shape::of(&items[at..next])).collect();
    let mut first = 0;
    while first < siblings.len() {
        let is_same = |&index: &usize| role(index) == role(first) && role(first) != "text";
        let same = (first..siblings.len()).take_while(is_same).count().max(1);
        for run in runs(&shapes[first..first + same]) {
            let (start, end) = (first + run.start, first + run.end);
            let rest = siblings.get(start + SHOWN).map(|&(index, _)| &items[index]).filter(|_| run.folds);
            let hidden = rest.filter(|rest| rest.node.is_some() && rest.node.as_ref() != expand);
            let shown = if hidden.is_some() { start + SHOWN } else { end };
            for &(at, next) in &siblings[start..shown] {
                out.push(items[at].clone());
                level(items, at + 1, next, expand, out);
            }
            if let Some(rest) = hidden {
                out.push(Item { folded: end - shown, has_ref: true, more: None, ..rest.clone() });
            }
        }
        first += same;
    }
}

/// Siblings of one role that are shown as a whole, or of which only the first ones are.
struct Run {
    start: usize,
    end: usize,
    folds: bool,
}

/// Divides siblings of one role into what is alike and what is not.
fn runs(shapes: &[Shape<'_>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut at = 0;
    while at < shapes.len() {
        let alike = if shapes.len() - at < RUN { 0 } else { alike(&shapes[at..]) };
        let (end, folds) = if alike >= RUN { (at + alike, true) } else { (at + 1, false) };
        match runs.last_mut().filter(|last| !folds && !last.folds) {
            Some(last) => last.end = end,
            None => runs.push(Run { start: at, end, folds }),
        }
        at = end;
    }
    for run in runs.iter_mut().filter(|run| run.end - run.start >= LONG_RUN) {
        run.folds = true;
    }
    runs
}

/// Lines of a diff, with `mark` in front. Of eight or more elements of one role and shape, such as the days of a
/// calendar, five are shown.
pub(super) fn folded_lines(lines: &[&str], mark: &str) -> Vec<String> {
    let keys: Vec<Option<(&str, Shape<'_>)>> = lines.iter().map(|line| key_of(line)).collect();
    let mut counts: HashMap<&(&str, Shape<'_>), (usize, usize)> = HashMap::new();
    for key in keys.iter().flatten() {
        counts.entry(key).or_default().0 += 1;
    }
    let mut out = Vec::with_capacity(lines.len());
    for (line, key) in lines.iter().zip(&keys) {
        let Some((all, seen)) = key.as_ref().and_then(|key| counts.get_mut(key)).filter(|(all, _)| *all >= RUN) else {
            out.push(format!("{mark}{line}"));
            continue;
        };
        *seen += 1;
        match *seen {
            ..=SHOWN => out.push(format!("{mark}{line}")),
            number if number == SHOWN + 1 => {
                let indent = line.len() - line.trim_start().len();
                let reference = own_ref(line).map(|reference| format!(" [ref={reference}]")).unwrap_or_default();
                out.push(format!("{mark}{:indent$}- {} more like these{reference}", "", *all - SHOWN));
            }
            _ => {}
        }
    }
    out
}

/// Role and shape of the element of a line; `None` for text and for elements without a name.
fn key_of(line: &str) -> Option<(&str, Shape<'_>)> {
    let rest = line.trim_start().strip_prefix("- ")?;
    let end = rest.find([' ', ':']).unwrap_or(rest.len());
    let (role, rest) = rest.split_at_checked(end)?;
    if matches!(role, "text" | "") || rest.starts_with(':') {
        return None;
    }
    let rest = rest.trim_start();
    let text = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\" [").map_or(quoted, |(name, _)| name),
        None => rest.split_once("]: ")?.1,
    };
    Some((role, Shape::of_text(text))).filter(|(_, shape)| *shape != Shape::Nameless)
}

/// The ref of a line. Text that looks like a ref in a name comes before it.
pub(super) fn own_ref(line: &str) -> Option<&str> {
    let (role, rest) = line.trim_start().strip_prefix("- ")?.split_once(' ')?;
    if role.ends_with(':') {
        return None;
    }
    let rest = match rest.strip_prefix('"') {
        Some(quoted) => {
            let mut escaped = false;
            let end = quoted.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            quoted.get(end + 1..)?.trim_start()
        }
        None => rest,
    };
    rest.strip_prefix("[ref=")?.split(']').next()
}

/// What siblings are compared by.
#[derive(PartialEq, Eq, Hash)]
enum Shape<'a> {
    /// Of one of many choices, the role says enough.
    Choice,
    /// One text without digits, such as the name of a button: another text is another thing.
    Text(&'a str),
    /// One text with digits: a day, a row number.
    Number,
    /// Nothing that tells it from others.
    Nameless,
    /// The roles of the elements inside.
    Roles(BTreeSet<&'a str>),
}

impl<'a> Shape<'a> {
    /// That of an item with the items inside it.
    fn of(items: &'a [Item]) -> Self {
        let Some((item, inside)) = items.split_first() else { return Self::Nameless };
        if matches!(&*item.role, "option" | "row") {
            return Self::Choice;
        }
        let pieces: Vec<&Item> = inside.iter().filter(|item| !CONTAINERS.contains(&&*item.role)).collect();
        match pieces.as_slice() {
            [] if item.name.is_empty() => match item.more.as_ref().and_then(|more| more.hint.as_deref()) {
                Some(hint) => Self::Text(hint),
                None => Self::Nameless,
            },
            [] => Self::of_text(&item.name),
            [only] if item.name.is_empty() => Self::of_text(&only.name),
            more => Self::Roles(more.iter().map(|item| &*item.role).collect()),
        }
    }

    fn of_text(text: &'a str) -> Self {
        match text.trim() {
            "" => Self::Nameless,
            text if text.contains(|c: char| c.is_ascii_digit()) => Self::Number,
            text => Self::Text(text),
        }
    }

    /// Whether the shown ones show what this one is.
    fn is_like(&self, shown: &HashSet<&Self>) -> bool {
        match self {
            Self::Nameless => false,
            Self::Roles(roles) => shown.iter().any(|one| matches!(one, Self::Roles(shown) if roles.is_subset(shown))),
            one => shown.contains(one),
        }
    }
}

/// How many siblings from the first on are alike: what is not shown is like one of those shown, and some are like the
/// first one, which otherwise belongs to what comes before.
fn alike(shapes: &[Shape<'_>]) -> usize {
    let Some((shown, rest)) = shapes.split_at_checked(SHOWN) else { return 0 };
    let all: HashSet<&Shape<'_>> = shown.iter().collect();
    let more = rest.iter().take_while(|shape| shape.is_like(&all)).count();
    let first: HashSet<&Shape<'_>> = shown.iter().take(1).collect();
    let recurs = rest.iter().take(more).any(|shape| shape.is_like(&first));
    if recurs { SHOWN + more } else { 0 }
}
