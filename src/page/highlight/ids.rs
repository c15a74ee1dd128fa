//! Element ids: six characters that stay with an element while its document does, and are the same for the same key in
//! another document.

use std::collections::{HashMap, HashSet};

use super::super::world::Node;

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

/// A node of a look, and what is known of its past.
#[derive(Debug, Clone)]
pub(super) struct Redrawn<'a> {
    pub(super) node: &'a Node,
    /// The node that it replaces, if it means the same and that one is gone or means something else.
    pub(super) was: Option<Node>,
    /// Whether the node means something else than before, in another setting.
    pub(super) recycled: bool,
}

/// The ids that were assigned in a tab: a node keeps its id as long as it means the same, an element that is drawn anew has the id of
/// the one before, and a key keeps its id too unless another node has that one.
#[derive(Debug, Default)]
pub(in super::super) struct Ids {
    by_key: HashMap<String, String>,
    /// What the element of each id means: role, name and setting.
    meanings: HashMap<String, String>,
    taken: HashSet<String>,
    by_node: HashMap<Node, String>,
    nodes: HashMap<String, Node>,
    /// The ids of the nodes that are there now.
    present: HashSet<String>,
}

/// What a key contains that is a place among siblings.
const PLACE: &str = ":nth-of-type(";

/// Maximum number of ids that are kept; at more, all are assigned anew.
const MOST_IDS: usize = 50_000;

impl Ids {
    /// Begins to assign ids to nodes: those of them that have one keep it, those that are drawn anew take it over.
    pub(super) fn begin<'a>(&mut self, nodes: impl Iterator<Item = Redrawn<'a>>) {
        if self.by_key.len() > MOST_IDS || self.by_node.len() > MOST_IDS {
            *self = Self::default();
        }
        let all: Vec<Redrawn<'_>> = nodes.collect();
        // All are taken before one is given: nodes may exchange their meanings.
        let taken_over = |one: &Redrawn<'_>| Some((one.node.clone(), self.by_node.get(one.was.as_ref()?)?.clone()));
        let taken_over: Vec<(Node, String)> = all.iter().filter_map(taken_over).collect();
        for one in all.iter().filter(|one| one.recycled || one.was.is_some()) {
            self.by_node.remove(one.node);
            one.was.iter().for_each(|was| drop(self.by_node.remove(was)));
        }
        for (node, id) in taken_over {
            self.rebind(&id, &node);
        }
        self.present = all.iter().filter_map(|one| self.by_node.get(one.node).cloned()).collect();
    }

    /// Gives an id to the node that was drawn in the place of the one before.
    pub(super) fn rebind(&mut self, id: &str, node: &Node) {
        if let Some(before) = self.nodes.insert(id.to_owned(), node.clone())
            && self.by_node.get(&before).is_some_and(|its| its == id)
        {
            self.by_node.remove(&before);
        }
        self.by_node.insert(node.clone(), id.to_owned());
    }

    /// The id of a node with a key and a meaning; nodes come in document order.
    pub(super) fn assign(&mut self, node: &Node, key: &str, meaning: &str) -> String {
        let id = self.id_for(node, key, meaning);
        // That of a container is not always known.
        if !meaning.is_empty() {
            self.meanings.insert(id.clone(), meaning.to_owned());
        }
        id
    }

    fn id_for(&mut self, node: &Node, key: &str, meaning: &str) -> String {
        if let Some(id) = self.by_node.get(node) {
            return id.clone();
        }
        let own = self.of_key(key);
        // A place in a list says nothing of what is there, and other keys may be used again for something else: the id of a node of
        // this document is not used for another meaning.
        let is_same = !key.contains(PLACE) && self.meanings.get(&own).is_none_or(|before| before == meaning);
        let was_anothers = || {
            let before = self.nodes.get(&own).filter(|before| *before != node);
            before.is_some_and(|before| (&before.frame, &before.doc) == (&node.frame, &node.doc))
        };
        let was_its_own = || self.nodes.get(&own) == Some(node);
        let salted = || (0..u32::MAX).map(|salt| id_of(&format!("{key}+"), salt));
        // Or something was inserted before an element that has the id, and whose key it has now.
        let id = if self.present.contains(&own) || !is_same && was_anothers() || was_its_own() {
            salted().find(|id| !self.nodes.contains_key(id) && !self.taken.contains(id)).unwrap_or(own)
        } else {
            own
        };
        if let Some(before) = self.nodes.insert(id.clone(), node.clone())
            && self.by_node.get(&before).is_some_and(|its| *its == id)
        {
            self.by_node.remove(&before);
        }
        self.by_node.insert(node.clone(), id.clone());
        self.present.insert(id.clone());
        id
    }

    fn of_key(&mut self, key: &str) -> String {
        if let Some(id) = self.by_key.get(key) {
            return id.clone();
        }
        let is_free = |id: &String| !self.taken.contains(id) && !self.nodes.contains_key(id);
        let free = (0..u32::MAX).map(|salt| id_of(key, salt)).find(is_free);
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
    use super::super::super::world::Doc;
    use super::*;

    fn seen(node: &Node) -> Redrawn<'_> {
        Redrawn { node, was: None, recycled: false }
    }

    #[test]
    fn an_id_goes_with_what_an_element_means() {
        let mut ids = Ids::default();
        let [a, b, c, d] = [1, 2, 3, 4].map(|id| Node { frame: "f".into(), doc: Doc("d".into()), id });
        ids.begin([&a, &b].map(seen).into_iter());
        let first = [ids.assign(&a, "li:nth-of-type(1)", "A"), ids.assign(&b, "li:nth-of-type(2)", "B")];
        // Drawn anew in another order.
        let redrawn = |node, was: &Node| Redrawn { node, was: Some(was.clone()), recycled: false };
        ids.begin([redrawn(&c, &b), redrawn(&d, &a)].into_iter());
        let second = [ids.assign(&c, "li:nth-of-type(1)", "B"), ids.assign(&d, "li:nth-of-type(2)", "A")];
        assert_eq!(second, [first[1].clone(), first[0].clone()]);
        // Both nodes mean what the other one meant.
        let recycled = |node, was: &Node| Redrawn { node, was: Some(was.clone()), recycled: true };
        ids.begin([recycled(&c, &d), recycled(&d, &c)].into_iter());
        let third = [ids.assign(&c, "li:nth-of-type(1)", "A"), ids.assign(&d, "li:nth-of-type(2)", "B")];
        assert_eq!(third, first);
        // A node that means something new has a new id, and a key that is used for something else, too.
        ids.begin(std::iter::once(Redrawn { node: &c, was: None, recycled: true }));
        assert!(!first.contains(&ids.assign(&c, "li:nth-of-type(1)", "C")));
        let (save, saved) = (Node { id: 8, ..a.clone() }, Node { id: 9, ..a });
        ids.begin(std::iter::once(seen(&save)));
        let one = ids.assign(&save, "#go", "Save");
        ids.begin(std::iter::once(seen(&saved)));
        assert_ne!(ids.assign(&saved, "#go", "Delete"), one);
    }

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
        let node = |doc: &str, id| Node { frame: "f".into(), doc: Doc(doc.into()), id };
        assert_eq!(ids.assign(&node("d", 1), "#a", ""), id_of("#a", 0));
        assert_eq!(ids.assign(&node("d", 2), "#b", ""), id_of("#b", 0));
        let other = node("e", 1);
        ids.begin(std::iter::once(seen(&other)));
        assert_eq!(ids.assign(&other, "#a", ""), id_of("#a", 0), "in another document");
        // A key whose hash is taken by another one.
        let mut ids = Ids::default();
        ids.taken.insert(id_of("#a", 0));
        assert_eq!(ids.assign(&node("d", 1), "#a", ""), id_of("#a", 1));
        assert_eq!(ids.assign(&node("d", 1), "#a", ""), id_of("#a", 1));
    }

    #[test]
    fn the_id_of_a_removed_row_is_not_used_for_another_one() {
        let mut ids = Ids::default();
        let node = |doc: &str, id| Node { frame: "f".into(), doc: Doc(doc.into()), id };
        let (row, key) = (node("d", 1), "ul>li:nth-of-type(1)");
        let first = ids.assign(&row, key, "");
        let other = node("d", 2);
        ids.begin(std::iter::once(seen(&other)));
        assert_ne!(ids.assign(&other, key, ""), first);
        // After a reload the first row has the first id again.
        let reloaded = node("e", 1);
        ids.begin(std::iter::once(seen(&reloaded)));
        assert_eq!(ids.assign(&reloaded, key, ""), first);
    }

    #[test]
    fn a_node_keeps_its_id_when_its_key_changes_and_a_key_when_its_node_is_replaced() {
        let mut ids = Ids::default();
        let node = |doc: &str, id| Node { frame: "f".into(), doc: Doc(doc.into()), id };
        let look = |ids: &mut Ids, all: &[(Node, &str)]| -> Vec<String> {
            ids.begin(all.iter().map(|(node, _)| seen(node)));
            all.iter().map(|(node, key)| ids.assign(node, key, "")).collect()
        };
        let [a, b, new, again] = [1, 2, 3, 4].map(|id| node("d", id));
        let first = look(&mut ids, &[(a.clone(), "li:1"), (b.clone(), "li:2")]);
        let second = look(&mut ids, &[(new.clone(), "li:1"), (a.clone(), "li:2"), (b.clone(), "li:3")]);
        assert_eq!(second[1..], first[..]);
        assert!(!first.contains(&second[0]));
        assert_eq!(look(&mut ids, &[(new, "li:1"), (a, "li:2"), (b.clone(), "li:3")]), second);
        // The first two are gone, and another one is where the first was: it has the id of the key.
        let third = look(&mut ids, &[(again, "li:1"), (b, "li:2")]);
        assert_eq!(third, [first[0].clone(), first[1].clone()]);
        let reloaded = look(&mut ids, &[(node("e", 1), "li:1"), (node("e", 2), "li:2")]);
        assert_eq!(reloaded, first);
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
