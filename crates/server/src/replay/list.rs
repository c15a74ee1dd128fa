//! Steps that work through a list: which actions belong to which of its entries, and what is done in a list as it is now.
//!
//! An entry is a row, an item or a card with a title. A recording also tells the titles of the entries that nothing was done in: an
//! entry that it does not know is decided by nobody but a model, unless each recorded entry was worked on, and the text of the step
//! has no condition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::{FastAction, What};
use super::same::{folded, key};
use super::target::name;
use crate::record::{Container, Event};
use crate::routine::Step;

/// The longest title that a list tells, in characters.
const TITLE: usize = 120;
/// Words of a condition: not each entry is meant.
const CONDITIONS: [&str; 27] = [
    "whose",
    "which",
    "that",
    "with",
    "without",
    "where",
    "when",
    "if",
    "unless",
    "except",
    "only",
    "but",
    "not",
    "no",
    "named",
    "titled",
    "called",
    "containing",
    "contains",
    "until",
    "first",
    "last",
    "other",
    "older",
    "newer",
    "more",
    "less",
];
/// The longest text between `For each` and what is done, in words.
const MOST_WORDS: usize = 6;
/// The most entries that something is done in.
const MOST_ENTRIES: usize = 500;
/// Names of what leads to more entries, in lower case.
const PAGERS: [&str; 26] = [
    "next",
    "next page",
    "next ›",
    "next »",
    "next →",
    "more",
    "load more",
    "show more",
    "see more",
    "view more",
    "older",
    "older posts",
    "weiter",
    "nächste",
    "nächste seite",
    "mehr",
    "mehr laden",
    "mehr anzeigen",
    "suivant",
    "page suivante",
    "siguiente",
    "successivo",
    "›",
    "»",
    "→",
    ">",
];

/// The list that a step works through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FastList {
    /// The entries that something is done in. Two may have the same title.
    pub entries: Vec<ListEntry>,
    /// How many entries of each title were recorded, by the key of the title.
    known: BTreeMap<String, u32>,
    /// Whether the same is done in each entry.
    whole: bool,
    /// Whether what is done in an entry begins with the same element in all of them.
    alike: bool,
    /// Positions of the entries that are there without such an element.
    pub lacking: Vec<usize>,
}

/// What a list has: its entries, and those with the element that the work in an entry begins with. By title, how often each occurs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The entries.
    pub entries: BTreeMap<String, u32>,
    /// Those with the element.
    pub usable: BTreeMap<String, u32>,
}

/// An entry of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListEntry {
    /// Its title.
    pub title: String,
    /// Where its main link leads; empty if it has none.
    pub href: String,
}

/// What a look at a list came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Surveyed {
    /// The actions up to this position are for entries that are there.
    Until(usize),
    /// It has entries that were not recorded: their titles.
    Unknown(Vec<String>),
}

/// Marks the actions of a step that works through a list with the entries that they belong to. An error is why a model has to do it.
pub(super) fn listed(actions: &mut [FastAction], step: &Step, events: &[Event]) -> Result<FastList, String> {
    let known = known(actions, events);
    let mut list = FastList { known, ..FastList::default() };
    let mut now: Option<usize> = None;
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    for at in 0..actions.len() {
        let (before, rest) = actions.split_at_mut(at);
        let Some(action) = rest.first_mut() else { break };
        let container = if is_pager(action) { None } else { entry_of(action) };
        match container {
            Some(container) => {
                let is_same = now.and_then(|now| list.entries.get(now)).is_some_and(|entry| {
                    folded(&entry.title) == folded(&container.title) && entry.href == container.href
                });
                let first = now.and_then(|now| before.get(*firsts.get(&now)?));
                // The same again is the next one of two entries with this title.
                let is_next =
                    list.count(&container.title) > 1 && first.is_some_and(|first| shape(first) == shape(action));
                if !is_same || is_next {
                    let (title, href) = (container.title.clone(), container.href.clone());
                    list.entries.push(ListEntry { title, href });
                    now = Some(list.entries.len() - 1);
                    firsts.insert(list.entries.len() - 1, at);
                }
                action.entry = now;
            }
            None if is_pager(action) => now = None,
            None => action.entry = now,
        }
    }
    if list.entries.is_empty() {
        return Err(
            "it works through a list, and its recorded actions are in no row, item or card with a title".to_owned()
        );
    }
    if list.known.is_empty() {
        return Err("it works through a list, whose other entries were not recorded".to_owned());
    }
    let units: Vec<Vec<String>> = (0..list.entries.len()).map(|entry| shapes(actions, entry)).collect();
    let is_outside = |action: &FastAction| {
        action.entry.is_some() && entry_of(action).is_none() && !matches!(action.what, What::Dialog { .. })
    };
    let is_uniform = units.iter().all(|unit| Some(unit) == units.first());
    if actions.iter().any(is_outside) && !(is_uniform && units.len() > 1) {
        return Err("it is not recorded which of its actions belong to an entry of the list".to_owned());
    }
    let worked_on = |title: &String| list.entries.iter().filter(|entry| short_key(&entry.title) == *title).count();
    let is_all = list.known.iter().all(|(title, count)| u32::try_from(worked_on(title)) == Ok(*count));
    let firsts: Vec<Option<&String>> = units.iter().map(|unit| unit.first()).collect();
    list.alike = firsts.iter().all(|first| Some(first) == firsts.first());
    list.whole = is_all && is_uniform && units.len() > 1 && has_no_condition(step);
    Ok(list)
}

impl FastList {
    /// Whether what is done in an entry begins with the same element in all of them.
    #[must_use]
    pub fn is_alike(&self) -> bool {
        self.alike
    }

    fn count(&self, title: &str) -> u32 {
        self.known.get(&short_key(title)).copied().unwrap_or_default()
    }

    /// A title as lists tell it.
    #[must_use]
    pub fn short(title: &str) -> String {
        title.chars().take(TITLE).collect()
    }

    /// Whether two titles are of the same entry.
    #[must_use]
    pub fn is_same_title(one: &str, other: &str) -> bool {
        short_key(one) == short_key(other)
    }

    /// Whether an entry with this title was recorded.
    #[must_use]
    pub fn is_known(&self, title: &str) -> bool {
        self.known.contains_key(&short_key(title))
    }

    /// Titles of entries that something is still to be done in, from the action `at` on.
    #[must_use]
    pub fn open(&self, actions: &[FastAction], at: usize) -> Vec<&str> {
        let rest = actions.get(at..).unwrap_or_default();
        let entries = rest.iter().filter_map(|action| self.entries.get(action.entry?));
        entries.map(|entry| entry.title.as_str()).collect()
    }

    /// Orders the actions from `at` on by a list as it is. What is there now is done now; what is not may come on a later page; where
    /// an entry has no element to begin with, as when it was done before, there is nothing to do. `is_closing`: its work is
    /// done; what is new then may be what the work has changed.
    pub fn survey(&mut self, actions: &mut Vec<FastAction>, at: usize, seen: &Seen, is_closing: bool) -> Surveyed {
        let (present, usable) = (by_key(&seen.entries), by_key(&seen.usable));
        let usable = |title: &str, count: u32| match self.alike {
            true => count.min(usable.get(title).map_or(0, |(count, _)| *count)),
            false => count,
        };
        let mut new: Vec<(String, u32, String)> = Vec::new();
        for (title, (count, text)) in &present {
            let known = self.known.get(title).copied().unwrap_or_default();
            let more = usable(title, count.saturating_sub(known));
            if more > 0 {
                new.push((title.clone(), known + more, (*text).to_owned()));
            }
        }
        if !new.is_empty() && (!self.whole || is_closing || self.entries.len() > MOST_ENTRIES) {
            return Surveyed::Unknown(new.into_iter().map(|(_, _, text)| text).collect());
        }
        let at = at.min(actions.len());
        let rest = actions.split_off(at);
        let template = self.template(actions, &rest);
        let (mut later, mut place): (Vec<FastAction>, Vec<FastAction>) = (Vec::new(), Vec::new());
        let mut left: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for (title, (count, _)) in &present {
            left.insert(title, (*count, usable(title, *count)));
        }
        let mut turns: BTreeMap<usize, Turn> = BTreeMap::new();
        for action in rest {
            let Some(entry) = action.entry else {
                place.push(action);
                continue;
            };
            let title = self.entries.get(entry).map(|entry| short_key(&entry.title)).unwrap_or_default();
            let turn = *turns.entry(entry).or_insert_with(|| match left.get_mut(&*title) {
                Some((count, usable)) if *count > 0 && *usable > 0 => {
                    (*count, *usable) = (*count - 1, *usable - 1);
                    Turn::Now
                }
                Some((count, _)) if *count > 0 => {
                    *count -= 1;
                    Turn::Never
                }
                _ => Turn::Later,
            });
            match turn {
                Turn::Now => actions.push(action),
                Turn::Later => later.push(action),
                Turn::Never => {}
            }
        }
        self.lacking.extend(turns.into_iter().filter(|(_, turn)| *turn == Turn::Never).map(|(entry, _)| entry));
        for (title, count, text) in new {
            let before = self.known.insert(title, count).unwrap_or_default();
            for _ in before..count {
                self.entries.push(ListEntry { title: text.clone(), href: String::new() });
                actions.extend(template.iter().map(|action| for_entry(action, self.entries.len() - 1, &text)));
            }
        }
        let until = actions.len();
        // What is not there may come behind the next action that leads on.
        if !place.is_empty() {
            actions.push(place.remove(0));
            actions.append(&mut later);
            actions.append(&mut place);
        }
        Surveyed::Until(until)
    }

    /// The actions of one entry, for others.
    fn template(&self, done: &[FastAction], rest: &[FastAction]) -> Vec<FastAction> {
        let all = || done.iter().chain(rest);
        let first = all().find_map(|action| action.entry);
        all().filter(|action| first.is_some() && action.entry == first).cloned().collect()
    }
}

/// When something is done in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Now,
    Later,
    Never,
}

/// How often each title occurs, by its key, with one of the texts.
fn by_key(seen: &BTreeMap<String, u32>) -> BTreeMap<String, (u32, &str)> {
    let mut all: BTreeMap<String, (u32, &str)> = BTreeMap::new();
    for (title, count) in seen {
        all.entry(short_key(title)).or_insert((0, title)).0 += count;
    }
    all
}

fn for_entry(action: &FastAction, entry: usize, title: &str) -> FastAction {
    let mut new = FastAction { entry: Some(entry), ..action.clone() };
    if let Some(element) = &mut new.element {
        element.selectors.clear();
        element.test_id.clear();
        if let Some(container) = &mut element.container {
            (container.title, container.href) = (title.to_owned(), String::new());
        }
    }
    new
}

/// The title of an entry that an action is in, and that another entry had, too.
pub(super) fn doubled(actions: &[FastAction], events: &[Event]) -> Option<String> {
    let known = known(actions, events);
    let mut titles = actions.iter().filter_map(entry_of).filter(|container| container.href.is_empty());
    let title = titles.find(|container| known.get(&short_key(&container.title)).is_some_and(|count| *count > 1))?;
    Some(title.title.clone())
}

/// The titles of the lists in the pages that the actions are in, with how often each occurs.
fn known(actions: &[FastAction], events: &[Event]) -> BTreeMap<String, u32> {
    let own = |action: &FastAction| events.iter().find(|event| event.event_index == action.event);
    let pages: Vec<(&str, usize)> =
        actions.iter().filter_map(|action| Some((page(own(action)?), action.frame.len()))).collect();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for event in events.iter().filter(|event| pages.contains(&(page(event), event.frame.len()))) {
        // Titles of one event that differ in case or blanks only are added up.
        let mut of_event: BTreeMap<String, u32> = BTreeMap::new();
        for one in event.data.get("list").and_then(serde_json::Value::as_array).into_iter().flatten() {
            let (title, count) = (one["title"].as_str().unwrap_or_default(), one["count"].as_u64().unwrap_or_default());
            *of_event.entry(short_key(title)).or_default() += u32::try_from(count).unwrap_or_default();
        }
        for (title, count) in of_event {
            let most = known.entry(title).or_default();
            *most = count.max(*most);
        }
    }
    known
}

/// The address of the page of an event, without what follows its path.
fn page(event: &Event) -> &str {
    event.page.url.split(['?', '#']).next().unwrap_or_default()
}

fn entry_of(action: &FastAction) -> Option<&Container> {
    action.element.as_ref()?.container.as_ref().filter(|container| container.is_entry())
}

fn short_key(title: &str) -> String {
    folded(&FastList::short(title))
}

/// Whether an action leads to more entries.
fn is_pager(action: &FastAction) -> bool {
    let Some(element) = action.element.as_ref().filter(|_| matches!(action.what, What::Click { .. })) else {
        return false;
    };
    let name = name(element).trim().to_lowercase();
    PAGERS.contains(&&*name) || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What is the same in the actions of alike entries.
fn shape(action: &FastAction) -> String {
    let element = action.element.as_ref();
    let what = match &action.what {
        What::Dialog { .. } => "dialog".to_owned(),
        other => format!("{other:?}"),
    };
    let (role, name) = element.map(|element| (&*element.role, key(name(element)))).unwrap_or_default();
    format!("{what} {role} {name}")
}

fn shapes(actions: &[FastAction], entry: usize) -> Vec<String> {
    actions.iter().filter(|action| action.entry == Some(entry)).map(shape).collect()
}

/// Whether the text of a step means each entry of its list.
fn has_no_condition(step: &Step) -> bool {
    let whole = step.instructions.iter().map(|one| &*one.text).collect::<Vec<_>>().join(" ").to_lowercase();
    let Some(at) = whole.find("for each") else { return false };
    let rest = whole.get(at + "for each".len()..).unwrap_or_default();
    let Some(end) = rest.find([',', ':']) else { return false };
    let which = rest.get(..end).unwrap_or_default();
    let mut words = whole.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    which.split_whitespace().count() <= MOST_WORDS && !words.any(|word| CONDITIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use cdpilot::page::Button;

    use super::*;
    use crate::record::draft::Anchor;
    use crate::routine::parse;

    fn click(name: &str, title: &str, event: u64) -> FastAction {
        let container = (!title.is_empty()).then(|| Container {
            kind: "row".to_owned(),
            title: title.to_owned(),
            ..Container::default()
        });
        let element = Anchor { tag: "button".to_owned(), name: name.to_owned(), container, ..Anchor::default() };
        let what = What::Click { button: Button::Left, double: false, modifiers: Vec::new() };
        let element = Some(element);
        FastAction {
            what,
            tab: 1,
            page: String::new(),
            frame: Vec::new(),
            element,
            effects: Vec::new(),
            event,
            seconds: 0.0,
            entry: None,
        }
    }

    fn step(text: &str) -> Step {
        let routine = format!(
            "# Workflow: Test\n\n## Prerequisites\nStarting URL: http://a.localhost/\n\n## Step 1: Work\n{text}\n"
        );
        parse(&routine).unwrap().steps.remove(0)
    }

    fn list_of(actions: &mut [FastAction], text: &str, known: &[&str]) -> Result<FastList, String> {
        let list = known.iter().map(|title| serde_json::json!({ "title": title, "count": 1 })).collect::<Vec<_>>();
        let events: Vec<Event> = actions
            .iter()
            .map(|action| {
                let mut event: Event = serde_json::from_value(serde_json::json!({
                    "event_index": action.event, "event_type": "click", "timestamp": 1.0, "by": "person", "tab": 1,
                    "frame": [], "page": { "url": "http://a.localhost/", "title": "" }, "data": {},
                }))
                .unwrap();
                event.data.insert("list".to_owned(), list.clone().into());
                event
            })
            .collect();
        listed(actions, &step(text), &events)
    }

    fn order(actions: &[FastAction]) -> Vec<String> {
        let element = |action: &FastAction| action.element.clone().unwrap();
        let title = |element: &Anchor| element.container.as_ref().map_or("", |one| one.title.as_str()).to_owned();
        actions
            .iter()
            .map(element)
            .map(|element| format!("{} {}", element.name, title(&element)).trim().to_owned())
            .collect()
    }

    /// A list with these titles; the button of those with a `-` is gone.
    fn seen(titles: &[&str]) -> Seen {
        let entries = titles.iter().map(|title| (title.trim_start_matches('-').to_owned(), 1)).collect();
        let usable = titles.iter().filter(|title| !title.starts_with('-')).map(|title| ((*title).to_owned(), 1));
        Seen { entries, usable: usable.collect() }
    }

    const WHOLE: &str = "For each row, press File.";
    const SOME: &str = "For each row whose title has an a, press File.";

    #[test]
    fn what_is_there_now_is_done_now_and_the_rest_on_later_pages() {
        let mut actions = vec![click("File", "Ash", 1), click("Next", "", 2), click("File", "Oak", 3)];
        let mut list = list_of(&mut actions, SOME, &["Ash", "Elm", "Oak"]).unwrap();
        assert_eq!(list.survey(&mut actions, 0, &seen(&["Oak", "Elm"]), false), Surveyed::Until(1));
        assert_eq!(order(&actions), ["File Oak", "Next", "File Ash"]);
        assert_eq!(list.survey(&mut actions, 2, &seen(&["Ash"]), false), Surveyed::Until(3));
        // Gone from the last page as well.
        assert_eq!(list.survey(&mut actions, 2, &seen(&["Elm"]), false), Surveyed::Until(2));
        assert_eq!(order(&actions), ["File Oak", "Next"]);
    }

    #[test]
    fn new_entries_are_done_only_where_each_is_meant() {
        let both = || vec![click("File", "Ash", 1), click("File", "Oak", 2)];
        let mut actions = both();
        let mut list = list_of(&mut actions, WHOLE, &["Ash", "Oak"]).unwrap();
        assert_eq!(list.survey(&mut actions, 0, &seen(&["Oak", "Fir"]), false), Surveyed::Until(2));
        assert_eq!(order(&actions), ["File Oak", "File Fir"]);
        // What was done before has no button any more.
        let mut again = both();
        let mut list = list_of(&mut again, WHOLE, &["Ash", "Oak"]).unwrap();
        assert_eq!(list.survey(&mut again, 0, &seen(&["-Ash", "Oak", "Fir", "-Elm"]), false), Surveyed::Until(2));
        assert_eq!((order(&again), &list.lacking), (vec!["File Oak".to_owned(), "File Fir".to_owned()], &vec![0]));
        // A condition, an entry that was left out, other actions in each.
        for (text, known, second) in [
            (SOME, &["Ash", "Oak"][..], "File"),
            (WHOLE, &["Ash", "Oak", "Elm"], "File"),
            (WHOLE, &["Ash", "Oak"], "Open"),
        ] {
            let mut actions = vec![click("File", "Ash", 1), click(second, "Oak", 2)];
            let mut list = list_of(&mut actions, text, known).unwrap();
            let unknown = list.survey(&mut actions, 0, &seen(&["Ash", "Fir"]), false);
            assert_eq!(unknown, Surveyed::Unknown(vec!["Fir".to_owned()]), "{text} {known:?} {second}");
            assert_eq!(actions.len(), 2, "nothing is lost");
        }
    }

    #[test]
    fn actions_outside_of_entries_belong_to_them_only_if_all_have_the_same() {
        let mut same =
            vec![click("Edit", "Ash", 1), click("Save", "", 2), click("Edit", "Oak", 3), click("Save", "", 4)];
        let mut list = list_of(&mut same, SOME, &["Ash", "Oak"]).unwrap();
        list.survey(&mut same, 0, &seen(&["Oak", "Ash"]), false);
        assert_eq!(order(&same), ["Edit Ash", "Save", "Edit Oak", "Save"]);
        let mut other = vec![click("Edit", "Ash", 1), click("Edit", "Oak", 2), click("Done", "", 3)];
        assert!(list_of(&mut other, SOME, &["Ash", "Oak"]).is_err());
        assert!(list_of(&mut [click("File", "Ash", 1)], SOME, &[]).is_err(), "the other entries are not known");
        assert!(list_of(&mut [click("File", "", 1)], SOME, &["Ash"]).is_err(), "no entry has a title");
    }
}
