//! Detection of replayed calls, by the last number of each document.

use std::collections::HashMap;

use super::Nonce;

/// Maximum number of tracked documents; the least recently active one is dropped first. An old call of a dropped
/// document could be accepted again, which is harmless: its page could also make a new call.
const DOCUMENTS: usize = 1024;

#[derive(Default)]
pub(super) struct Seen {
    /// The last number, and the time of the call.
    last: HashMap<u128, (u64, u64)>,
    calls: u64,
}

impl Seen {
    /// Number of tracked documents.
    #[cfg(test)]
    pub(super) fn documents(&self) -> usize {
        self.last.len()
    }

    /// Records a call. Returns false if it, or a later call of its document, was recorded before.
    pub(super) fn take(&mut self, nonce: Nonce) -> bool {
        self.calls += 1;
        let now = self.calls;
        if let Some((last, when)) = self.last.get_mut(&nonce.document) {
            let new = nonce.number > *last;
            if new {
                (*last, *when) = (nonce.number, now);
            }
            return new;
        }
        if self.last.len() >= DOCUMENTS {
            let oldest = self.last.iter().min_by_key(|(_, (_, when))| *when).map(|(document, _)| *document);
            oldest.map(|document| self.last.remove(&document));
        }
        self.last.insert(nonce.document, (nonce.number, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_document_must_grow() {
        let mut seen = Seen::default();
        let mut take = |document, number| seen.take(Nonce { document, number });
        assert!(take(1, 1) && take(1, 2) && take(2, 1) && take(1, 5));
        assert!(!take(1, 5) && !take(1, 3) && !take(2, 1));
        assert!(take(1, 6));
    }

    #[test]
    fn memory_is_bounded_and_who_speaks_is_remembered() {
        let mut seen = Seen::default();
        for document in 0..3 * DOCUMENTS as u128 {
            assert!(seen.take(Nonce { document, number: 1 }));
            // The first document becomes active again.
            assert!(seen.take(Nonce { document: 0, number: 2 + u64::try_from(document).unwrap_or_default() }));
        }
        assert_eq!(seen.documents(), DOCUMENTS);
        assert!(!seen.take(Nonce { document: 0, number: 1 }));
    }
}
