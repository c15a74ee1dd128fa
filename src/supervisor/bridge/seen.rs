//! Which calls came already: the last number of each document.

use std::collections::HashMap;

use super::Nonce;

/// Documents that are remembered. The one that was silent for longest is forgotten first; of a
/// forgotten one an old call could be accepted again, which says nothing that its page could not say
/// by calling again.
const DOCUMENTS: usize = 1024;

#[derive(Default)]
pub(super) struct Seen {
    /// The last number, and when it came.
    last: HashMap<u128, (u64, u64)>,
    calls: u64,
}

impl Seen {
    /// How many documents are remembered.
    #[cfg(test)]
    pub(super) fn documents(&self) -> usize {
        self.last.len()
    }

    /// Takes a call. False when it, or a later one of its document, came before.
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
            // The first one goes on speaking.
            assert!(seen.take(Nonce { document: 0, number: 2 + u64::try_from(document).unwrap_or_default() }));
        }
        assert_eq!(seen.documents(), DOCUMENTS);
        assert!(!seen.take(Nonce { document: 0, number: 1 }));
    }
}
