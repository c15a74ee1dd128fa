//! What a session has seen and what it is about to do.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::ToolError;
use super::action::Pending;
use cdpilot::code::Code;
use cdpilot::page::{Doc, IdMatch, Look, VisibleElement, matching_id};

/// Maximum number of tabs whose elements are remembered.
const MOST_TABS: usize = 64;
/// Maximum number of ids of earlier documents that are remembered.
const MOST_GONE: usize = 5_000;

/// The state of a session.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The action that waits for its confirmation.
    pub(super) pending: Option<Pending>,
    tabs: HashMap<String, Seen>,
    /// The tab that opened each tab, by target ids.
    openers: HashMap<String, String>,
}

/// What was seen of a tab.
#[derive(Debug)]
struct Seen {
    doc: Doc,
    /// All elements that were listed since the document was first seen, as they were last.
    elements: BTreeMap<String, VisibleElement>,
    /// The lines of the last full list of elements, and of those that were shown since then.
    listed: BTreeMap<String, String>,
    /// Ids of earlier documents.
    gone: HashSet<String>,
    /// Ids with a label in the last picture.
    labelled: HashSet<String>,
    /// Ids that the last look found by keywords, if these are several.
    by_keyword: HashSet<String>,
}

/// What a look has shown.
pub(super) struct Sight<'a> {
    pub(super) look: &'a Look,
    /// The lines of all its elements.
    pub(super) lines: Vec<(String, String)>,
    /// Whether these are the elements of all types.
    pub(super) is_all: bool,
    /// Whether they were found by keywords.
    pub(super) by_keyword: bool,
}

/// How a list of elements differs from the one before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) added: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) removed: Vec<String>,
}

impl State {
    /// Records what a look has shown, with the lines of the elements. If these are all elements of any type, they are compared
    /// with those before, provided that the document is the same.
    pub(super) fn saw(&mut self, tab: &str, sight: Sight<'_>) -> Option<Changes> {
        let Sight { look, lines, is_all, by_keyword } = sight;
        let (doc, elements) = (&look.doc, &look.all);
        if self.tabs.len() >= MOST_TABS && !self.tabs.contains_key(tab) {
            self.tabs.clear();
        }
        let mut gone = HashSet::new();
        if let Some(before) = self.tabs.get(tab).filter(|seen| seen.doc != *doc) {
            gone.extend(before.gone.iter().take(MOST_GONE).cloned());
            gone.extend(before.elements.keys().cloned());
            self.tabs.remove(tab);
        }
        let seen = self.tabs.entry(tab.to_owned()).or_insert_with(|| Seen {
            doc: doc.clone(),
            elements: BTreeMap::new(),
            listed: BTreeMap::new(),
            gone,
            labelled: HashSet::new(),
            by_keyword: HashSet::new(),
        });
        let ids = |elements: &[VisibleElement]| elements.iter().map(|element| element.id.clone()).collect();
        seen.labelled = ids(&look.elements);
        seen.by_keyword = if by_keyword && elements.len() > 1 { ids(elements) } else { HashSet::new() };
        for element in elements {
            seen.gone.remove(&element.id);
            seen.elements.insert(element.id.clone(), element.clone());
        }
        if !is_all {
            // The next full list reports their removal.
            if !seen.listed.is_empty() {
                seen.listed.extend(lines);
            }
            return None;
        }
        let before = std::mem::replace(&mut seen.listed, lines.iter().cloned().collect());
        if before.is_empty() {
            return None;
        }
        let mut changes = Changes::default();
        for (id, line) in &lines {
            match before.get(id) {
                None => changes.added.push(id.clone()),
                Some(was) if was != line => changes.changed.push(id.clone()),
                Some(_) => {}
            }
        }
        changes.removed = before.into_keys().filter(|id| !seen.listed.contains_key(id)).collect();
        Some(changes)
    }

    /// Whether it is plain which element an id means: it has a label in the last picture, which `is_blind` models do not get, and was not
    /// found by keywords among several.
    pub(super) fn is_plain(&self, tab: &str, id: &str, is_blind: bool) -> bool {
        let Some(seen) = self.tabs.get(tab) else { return false };
        (is_blind || seen.labelled.contains(id)) && !seen.by_keyword.contains(id)
    }

    /// Stores an element that was drawn anew in place of the one with its id.
    pub(super) fn replace(&mut self, tab: &str, element: &VisibleElement) {
        if let Some(seen) = self.tabs.get_mut(tab) {
            seen.elements.insert(element.id.clone(), element.clone());
        }
    }

    /// Adds elements that an error names.
    pub(super) fn add(&mut self, tab: &str, elements: &[VisibleElement]) {
        elements.iter().for_each(|element| self.replace(tab, element));
    }

    /// Stores which tab opened a tab.
    pub(super) fn opened_by(&mut self, tab: &str, opener: Option<&str>) {
        if self.openers.len() >= MOST_TABS && !self.openers.contains_key(tab) {
            self.openers.clear();
        }
        if let Some(opener) = opener {
            self.openers.insert(tab.to_owned(), opener.to_owned());
        }
    }

    /// The tab that opened a tab.
    pub(super) fn opener_of(&self, tab: &str) -> Option<String> {
        self.openers.get(tab).cloned()
    }

    /// The element of an id, and a note when the id was not spelt exactly.
    pub(super) fn element(&self, tab: &str, id: &str) -> Result<(VisibleElement, Option<String>), ToolError> {
        let stale = |why: &str| {
            ToolError::new(Code::StaleRef, format!("{id:?} {why}; call highlight to see the elements and their ids"))
        };
        let seen = self.tabs.get(tab).ok_or_else(|| stale("was not shown: this tab has not been looked at yet"))?;
        match matching_id(id, seen.elements.keys().map(String::as_str)) {
            IdMatch::Exact(id) => Ok((seen.elements.get(id).cloned().ok_or_else(|| stale("is unknown"))?, None)),
            IdMatch::Alike(like) => {
                let element = seen.elements.get(like).cloned().ok_or_else(|| stale("is unknown"))?;
                Ok((element, Some(format!("{id:?} was read as {like}."))))
            }
            IdMatch::Several => Err(stale("is spelt like several ids that differ in look-alike characters only")),
            IdMatch::None if seen.gone.contains(id) => Err(stale("is of an earlier document, which is gone")),
            IdMatch::None => Err(stale("is no id that was shown in this tab")),
        }
    }

    /// All ids of a tab that are known.
    pub(super) fn forget(&mut self, tab: &str) {
        self.tabs.remove(tab);
    }
}
