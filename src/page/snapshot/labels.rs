//! The elements that labels of a screenshot number.

use super::super::Tab;
use super::super::error::{Error, Shown};
use super::super::world::Node;
use super::SnapshotOptions;
use crate::sync::Deadline;

/// The number of a ref, its node, and the role and name it is shown with.
pub(in super::super) type Actionable = (u32, Node, Shown);

impl Tab {
    /// The interactive elements with the numbers of their refs, in document order; and whether a script of the page was
    /// terminated meanwhile. Does not change the snapshot that `diff` compares with.
    pub(in super::super) fn actionable(&self, deadline: Deadline<'_>) -> Result<(Vec<Actionable>, bool), Error> {
        let seen = self.collect(&SnapshotOptions::default(), deadline)?;
        let mut refs = self.refs.lock();
        let mut found = Vec::new();
        for item in seen.items {
            let wanted = item.is_usable();
            let Some(node) = item.node.filter(|_| wanted) else { continue };
            let shown = Shown::new(item.role, item.name);
            found.push((refs.show(node.clone(), shown.clone()), node, shown));
        }
        Ok((found, seen.rescued))
    }
}
