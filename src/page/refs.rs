//! The refs of a tab: numbers of DOM nodes.
//!
//! A node gets its number when it is first shown and keeps it as long as its document stays; a number is never reused
//! in the tab. Refs are never matched anew: a removed node stays removed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::{Error, Shown, UNKNOWN_REF};
use super::world::{Doc, Node};
use crate::cdp::protocol::page::FrameId;

/// All refs of a tab.
#[derive(Debug, Default)]
pub(super) struct Refs {
    last: u32,
    shown: HashMap<u32, (Node, Shown)>,
    numbers: HashMap<Doc, HashMap<u32, u32>>,
    /// What elements must still be while something that was confirmed is done with them.
    bound: HashMap<u32, Arc<str>>,
    /// The refs of the last snapshot.
    latest: Latest,
}

/// The content of the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// Numbers of the refs, in document order.
    pub(super) numbers: Vec<u32>,
    /// Loader ids of the frames.
    pub(super) loaders: HashMap<FrameId, Arc<str>>,
}

impl Refs {
    /// The number of a node, shown with role and name `shown` from now on.
    pub(super) fn show(&mut self, node: Node, shown: Shown) -> u32 {
        let of_doc = self.numbers.entry(node.doc.clone()).or_default();
        let number = *of_doc.entry(node.id).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.shown.insert(number, (node, shown));
        number
    }

    /// The number of a node that is not shown yet. Role and name of an earlier snapshot stay.
    pub(super) fn reserve(&mut self, node: Node, now: Shown) -> u32 {
        match self.number(&node) {
            Some(number) => number,
            None => self.show(node, now),
        }
    }

    /// The node of a ref, and the role and name it was shown with.
    ///
    /// # Errors
    /// [`Error::BadRef`], [`Error::StaleRef`].
    pub(super) fn get(&self, text: &str) -> Result<(Node, Shown), Error> {
        let number = parse(text)?;
        let stale = |why| Error::StaleRef { reference: format!("e{number}"), why };
        if number > self.last {
            return Err(stale(UNKNOWN_REF));
        }
        self.shown.get(&number).cloned().ok_or_else(|| stale("its frame now shows another document"))
    }

    /// Stores the content of a new snapshot.
    pub(super) fn set_latest(&mut self, latest: Latest) {
        self.latest = latest;
    }

    /// The refs of the last snapshot, with role and name. `is_current` says whether a frame still has a loader id.
    pub(super) fn latest(
        &self,
        is_current: impl Fn(&FrameId, &str) -> bool,
    ) -> impl Iterator<Item = (u32, &Node, &Shown)> {
        let known = |number: &u32| self.shown.get(number).map(|(node, shown)| (*number, node, shown));
        let current = move |frame| self.latest.loaders.get(frame).is_some_and(|loader| is_current(frame, loader));
        self.latest.numbers.iter().filter_map(known).filter(move |(_, node, _)| current(&node.frame))
    }

    /// The number of a node, if it has one.
    pub(super) fn number(&self, node: &Node) -> Option<u32> {
        self.numbers.get(&node.doc)?.get(&node.id).copied()
    }

    /// Binds a node, or releases it.
    pub(super) fn bind(&mut self, node: &Node, seal: Option<&str>) {
        let Some(number) = self.number(node) else { return };
        match seal {
            Some(seal) => self.bound.insert(number, seal.into()),
            None => self.bound.remove(&number),
        };
    }

    /// What a node is bound to.
    pub(super) fn bound(&self, node: &Node) -> Option<Arc<str>> {
        self.bound.get(&self.number(node)?).cloned()
    }

    /// Forgets the refs of replaced documents.
    pub(super) fn keep(&mut self, present: impl Fn(&Node) -> bool) {
        self.shown.retain(|_, (node, _)| present(node));
        let docs: HashSet<&Doc> = self.shown.values().map(|(node, _)| &node.doc).collect();
        self.numbers.retain(|doc, _| docs.contains(doc));
    }
}

/// Parses `e12`, `@e12` or `12`.
fn parse(text: &str) -> Result<u32, Error> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let digits = digits.strip_prefix('e').unwrap_or(digits);
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.filter(|number| *number > 0).ok_or_else(|| Error::BadRef { text: text.chars().take(40).collect() })
}
