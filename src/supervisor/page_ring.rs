//! Ring buffers per page for console messages and network requests: a flood on one page does not displace entries of
//! another.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cdp::protocol::target::TargetId;

/// Limits for one page.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingLimits {
    /// Maximum number of entries.
    pub(super) entries: usize,
    /// Maximum total size, in bytes.
    pub(super) bytes: usize,
}

/// A change by the state machine.
#[derive(Debug)]
pub(super) enum RingUpdate<T> {
    /// A new entry, or a new version of the entry with this number.
    Put { page: TargetId, number: u64, bytes: usize, entry: Arc<T> },
    /// The page was closed.
    Drop(TargetId),
}

/// Entries by page. Written by the supervisor's thread, read by any thread; the lock is held for copying pointers only.
#[derive(Debug)]
pub(super) struct PageRing<T> {
    pages: Mutex<HashMap<TargetId, Ring<T>>>,
    limits: RingLimits,
}

#[derive(Debug)]
struct Ring<T> {
    entries: VecDeque<(u64, usize, Arc<T>)>,
    bytes: usize,
    /// Number of the newest entry ever added.
    last: u64,
}

impl<T> PageRing<T> {
    pub(super) fn new(limits: RingLimits) -> Self {
        Self { pages: Mutex::default(), limits }
    }

    pub(super) fn change(&self, updates: Vec<RingUpdate<T>>) {
        if updates.is_empty() {
            return;
        }
        let mut removed = Vec::new(); // freed outside the lock
        let mut pages = self.pages.lock();
        for line in updates {
            match line {
                RingUpdate::Put { page, number, bytes, entry } => {
                    let ring = pages.entry(page).or_insert_with(Ring::new);
                    ring.put(number, bytes, entry, &mut removed);
                    ring.shrink(self.limits, &mut removed);
                }
                RingUpdate::Drop(page) => drop(pages.remove(&page)),
            }
        }
        drop(pages);
        drop(removed);
    }

    /// The entries of a page, oldest first.
    pub(super) fn of(&self, page: &TargetId) -> Vec<Arc<T>> {
        let pages = self.pages.lock();
        pages
            .get(page)
            .map(|ring| ring.entries.iter().map(|(.., entry)| Arc::clone(entry)).collect())
            .unwrap_or_default()
    }

    /// One entry of a page.
    pub(super) fn get(&self, page: &TargetId, number: u64) -> Option<Arc<T>> {
        let pages = self.pages.lock();
        let ring = pages.get(page)?;
        let at = ring.entries.binary_search_by_key(&number, |(n, ..)| *n).ok()?;
        ring.entries.get(at).map(|(.., entry)| Arc::clone(entry))
    }

    /// Removes the entries of a page up to a number.
    pub(super) fn clear(&self, page: &TargetId, upto: u64) {
        let mut pages = self.pages.lock();
        let Some(ring) = pages.get_mut(page) else { return };
        let mut gone = Vec::new();
        while ring.entries.front().is_some_and(|(number, ..)| *number <= upto) {
            gone.extend(ring.pop());
        }
        drop(pages);
        drop(gone);
    }
}

impl<T> Ring<T> {
    fn new() -> Self {
        Self { entries: VecDeque::new(), bytes: 0, last: 0 }
    }

    fn put(&mut self, number: u64, bytes: usize, entry: Arc<T>, gone: &mut Vec<Arc<T>>) {
        if number > self.last {
            self.last = number;
            self.bytes += bytes;
            self.entries.push_back((number, bytes, entry));
            return;
        }
        // A new version of an entry that was evicted or cleared is ignored.
        let Ok(at) = self.entries.binary_search_by_key(&number, |(n, ..)| *n) else { return };
        if let Some(old) = self.entries.get_mut(at) {
            self.bytes = self.bytes - old.1 + bytes;
            gone.push(std::mem::replace(old, (number, bytes, entry)).2);
        }
    }

    fn shrink(&mut self, limits: RingLimits, gone: &mut Vec<Arc<T>>) {
        while self.entries.len() > limits.entries || self.bytes > limits.bytes {
            let Some(old) = self.pop() else { return };
            gone.push(old);
        }
    }

    fn pop(&mut self) -> Option<Arc<T>> {
        let (_, bytes, entry) = self.entries.pop_front()?;
        self.bytes -= bytes;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(page: &str, number: u64, bytes: usize, entry: &str) -> RingUpdate<String> {
        RingUpdate::Put { page: TargetId::from(page), number, bytes, entry: Arc::new(entry.to_owned()) }
    }

    fn texts(kept: &PageRing<String>, page: &str) -> Vec<String> {
        kept.of(&TargetId::from(page)).iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn each_page_has_room_of_its_own_by_count_and_by_bytes() {
        let kept = PageRing::new(RingLimits { entries: 3, bytes: 100 });
        kept.change((1..=5).map(|n| put("a", n, 10, &n.to_string())).collect());
        kept.change(vec![put("b", 6, 90, "large"), put("b", 7, 20, "small")]);
        assert_eq!(texts(&kept, "a"), ["3", "4", "5"]);
        assert_eq!(texts(&kept, "b"), ["small"]);
        kept.change(vec![RingUpdate::Drop(TargetId::from("a"))]);
        assert!(texts(&kept, "a").is_empty());
    }

    #[test]
    fn another_version_takes_the_place_of_the_first_and_never_comes_back() {
        let kept = PageRing::new(RingLimits { entries: 3, bytes: 100 });
        kept.change((1..=3).map(|n| put("a", n, 10, &n.to_string())).collect());
        kept.change(vec![put("a", 2, 20, "2 again")]);
        assert_eq!(texts(&kept, "a"), ["1", "2 again", "3"]);
        let page = TargetId::from("a");
        assert_eq!(kept.get(&page, 2).as_deref().map(String::as_str), Some("2 again"));
        kept.clear(&page, 2);
        kept.change(vec![put("a", 2, 20, "2 late"), put("a", 4, 80, "4")]);
        assert_eq!(texts(&kept, "a"), ["3", "4"]);
        assert!(kept.get(&page, 2).is_none());
    }
}
