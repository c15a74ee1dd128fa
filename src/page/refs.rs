//! The refs of a tab: numbers that stand for one DOM node each.
//!
//! A number is given when a node is shown first, belongs to that node as long as its document stays, and
//! is never given again in the tab. Nothing is matched anew: a node that is gone is gone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::{Error, Shown};
use super::world::{Doc, Node};
use crate::cdp::protocol::page::FrameId;

/// The refs that a tab has given.
#[derive(Debug, Default)]
pub(super) struct Refs {
    last: u32,
    shown: HashMap<u32, (Node, Shown)>,
    numbers: HashMap<Doc, HashMap<u32, u32>>,
    /// The numbers in the last snapshot.
    latest: Latest,
}

/// What the last snapshot showed.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The numbers, in the order of the page.
    pub(super) numbers: Vec<u32>,
    /// The loaders of the frames in it.
    pub(super) loaders: HashMap<FrameId, Arc<str>>,
}

impl Refs {
    /// The number of a node, which is shown as `shown` from now on.
    pub(super) fn show(&mut self, node: Node, shown: Shown) -> u32 {
        let of_doc = self.numbers.entry(node.doc.clone()).or_default();
        let number = *of_doc.entry(node.id).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.shown.insert(number, (node, shown));
        number
    }

    /// The number of a node that is not shown yet. What it was shown as, if it was, stays.
    pub(super) fn reserve(&mut self, node: Node, now: Shown) -> u32 {
        match self.number(&node) {
            Some(number) => number,
            None => self.show(node, now),
        }
    }

    /// What a ref was given for.
    ///
    /// # Errors
    /// [`Error::BadRef`], [`Error::StaleRef`].
    pub(super) fn get(&self, text: &str) -> Result<(Node, Shown), Error> {
        let number = parse(text)?;
        let stale = |why| Error::StaleRef { reference: format!("e{number}"), why };
        if number > self.last {
            return Err(stale("no snapshot of this tab has shown it"));
        }
        self.shown.get(&number).cloned().ok_or_else(|| stale("its frame shows another document"))
    }

    /// Keeps what a snapshot showed, in place of the one before.
    pub(super) fn set_latest(&mut self, latest: Latest) {
        self.latest = latest;
    }

    /// The numbers in the last snapshot, and what they were shown as. `is_current`: whether a frame has this loader.
    pub(super) fn latest(
        &self,
        is_current: impl Fn(&FrameId, &str) -> bool,
    ) -> impl Iterator<Item = (u32, &Node, &Shown)> {
        let known = |number: &u32| self.shown.get(number).map(|(node, shown)| (*number, node, shown));
        let current = move |frame| self.latest.loaders.get(frame).is_some_and(|loader| is_current(frame, loader));
        self.latest.numbers.iter().filter_map(known).filter(move |(_, node, _)| current(&node.frame))
    }

    /// The number of a node that was shown.
    pub(super) fn number(&self, node: &Node) -> Option<u32> {
        self.numbers.get(&node.doc)?.get(&node.id).copied()
    }

    /// Forgets the refs of documents that are gone.
    pub(super) fn keep(&mut self, present: impl Fn(&Node) -> bool) {
        self.shown.retain(|_, (node, _)| present(node));
        let docs: HashSet<&Doc> = self.shown.values().map(|(node, _)| &node.doc).collect();
        self.numbers.retain(|doc, _| docs.contains(doc));
    }
}

/// `e12`, `@e12` or `12`.
fn parse(text: &str) -> Result<u32, Error> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let digits = digits.strip_prefix('e').unwrap_or(digits);
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.filter(|number| *number > 0).ok_or_else(|| Error::BadRef { text: text.chars().take(40).collect() })
}
