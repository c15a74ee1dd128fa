//! Which pages belong to the supervisors of this process.
//!
//! Several supervisors may be connected to one browser. Each one is attached to every new page, which waits, and releases those of
//! others. Chromium 156 resumes a waiting popup with an opener as soon as one of its sessions says so, even if another one has not
//! set up what it needs: its first request then precedes the navigation policy of its owner. So a popup whose opener belongs to
//! another supervisor is released without resuming it; its owner does that. (Only detaching from a popup that nobody else resumes would
//! leave its opener waiting.) Supervisors of other processes are not known here.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::TargetId;

/// The pages of each supervisor, by its number.
static OWNED: Mutex<BTreeMap<u64, HashSet<TargetId>>> = Mutex::new(BTreeMap::new());

/// The pages of one supervisor. Dropping it gives them up.
#[derive(Debug)]
pub(super) struct Claim(u64);

impl Claim {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Replaces the pages of the supervisor.
    pub(super) fn set(&self, pages: impl Iterator<Item = TargetId>) {
        let pages: HashSet<TargetId> = pages.collect();
        OWNED.lock().insert(self.0, pages);
    }

    /// Whether a page belongs to another supervisor of this process.
    pub(super) fn is_of_another(&self, page: &TargetId) -> bool {
        OWNED.lock().iter().any(|(number, pages)| *number != self.0 && pages.contains(page))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        OWNED.lock().remove(&self.0);
    }
}
