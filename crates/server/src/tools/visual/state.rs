//! What a session has seen and what it is about to do.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::ToolError;
use super::action::Pending;
use cdpilot::code::Code;
use cdpilot::page::{Doc, IdMatch, VisibleElement, matching_id};

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
    pub(super) fn saw(
        &mut self,
        tab: &str,
        doc: &Doc,
        elements: &[VisibleElement],
        lines: Vec<(String, String)>,
        is_all: bool,
    ) -> Option<Changes> {
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
        });
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
