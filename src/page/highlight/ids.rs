//! Element ids: six characters that stay the same while the key of an element does.

use std::collections::{HashMap, HashSet};

/// Characters of an id.
const LENGTH: usize = 6;
const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// FNV-1a, 32 bits.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The id of a key: its hash in base 36. A `salt` above 0 distinguishes keys with equal hashes.
fn id_of(key: &str, salt: u32) -> String {
    let mut rest = if salt == 0 { fnv1a(key) } else { fnv1a(&format!("{key}:{salt}")) };
    let mut digits = [b'0'; LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 36) as usize];
        rest /= 36;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

/// The ids that were assigned in a tab, so that a key keeps its id and an id its key.
#[derive(Debug, Default)]
pub(in super::super) struct Ids {
    by_key: HashMap<String, String>,
    taken: HashSet<String>,
}

/// Maximum number of ids that are kept; at more, all are assigned anew.
const MOST_IDS: usize = 50_000;

impl Ids {
    /// The ids of some keys, which are in document order.
    pub(super) fn assign<'a>(&mut self, keys: impl Iterator<Item = &'a str>) -> Vec<String> {
        if self.by_key.len() > MOST_IDS {
            *self = Self::default();
        }
        keys.map(|key| self.one(key)).collect()
    }

    fn one(&mut self, key: &str) -> String {
        if let Some(id) = self.by_key.get(key) {
            return id.clone();
        }
        let free = (0..u32::MAX).map(|salt| id_of(key, salt)).find(|id| !self.taken.contains(id));
        let id = free.unwrap_or_default();
        self.taken.insert(id.clone());
        self.by_key.insert(key.to_owned(), id.clone());
        id
    }
}

/// An id that fits a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdMatch<'a> {
    /// Exactly this id.
    Exact(&'a str),
    /// The only id that differs in case and look-alike characters only: `0` and `o`, `1` and `l`, `5` and `s`, `8` and
    /// `b`.
    Alike(&'a str),
    /// Several ids differ in these only.
    Several,
    /// None.
    None,
}

/// Finds the id that a text means.
pub fn matching<'a>(text: &str, ids: impl Iterator<Item = &'a str>) -> IdMatch<'a> {
    let wanted = text.trim();
    let like = looks(wanted);
    let mut alike = Vec::new();
    for id in ids {
        if id == wanted {
            return IdMatch::Exact(id);
        }
        if looks(id) == like && !alike.contains(&id) {
            alike.push(id);
        }
    }
    match *alike {
        [] => IdMatch::None,
        [id] => IdMatch::Alike(id),
        _ => IdMatch::Several,
    }
}

/// A text with look-alike characters made equal.
fn looks(text: &str) -> String {
    let same = |letter: char| match letter.to_ascii_lowercase() {
        'o' => '0',
        'l' | 'i' => '1',
        's' => '5',
        'b' => '8',
        other => other,
    };
    text.chars().map(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_fnv1a_hash_in_base_36() {
        // 0xe40c292c, the published value for "a", is 3826002220.
        assert_eq!(fnv1a("a"), 0xe40c_292c);
        assert_eq!(id_of("a", 0), "r9wi7g"); // without the digit above 36^6
        assert_eq!(id_of("", 0).len(), 6);
    }

    #[test]
    fn a_key_keeps_its_id_and_equal_hashes_are_salted_in_document_order() {
        let mut ids = Ids::default();
        let first = ids.assign(["#a", "#b", "#a"].into_iter());
        assert_eq!(first[0], first[2]);
        assert_ne!(first[0], first[1]);
        // A key whose hash is taken by another one.
        let mut ids = Ids::default();
        ids.taken.insert(id_of("#a", 0));
        assert_eq!(ids.assign(["#a"].into_iter()), [id_of("#a", 1)]);
        assert_eq!(ids.assign(["#a"].into_iter()), [id_of("#a", 1)]);
    }

    #[test]
    fn case_and_look_alikes_are_forgiven_when_one_id_fits() {
        let ids = ["a0l5b8", "zzzzzz", "x1y2z3"];
        let find = |text| matching(text, ids.into_iter());
        assert_eq!(find("a0l5b8"), IdMatch::Exact("a0l5b8"));
        assert_eq!(find("AO1S8B"), IdMatch::Alike("a0l5b8"));
        assert_eq!(find(" ZZZZZZ "), IdMatch::Alike("zzzzzz"));
        assert_eq!(find("xly2z3"), IdMatch::Alike("x1y2z3"));
        assert_eq!(find("x1y2z4"), IdMatch::None);
        assert_eq!(matching("B0OOOO", ["b00000", "8ooooo"].into_iter()), IdMatch::Several);
    }
}
