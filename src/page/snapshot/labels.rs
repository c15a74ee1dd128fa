//! What labels in a picture stand for.

use super::super::Tab;
use super::super::error::{Error, Shown};
use super::super::world::Node;
use super::SnapshotOptions;
use super::collect::is_interactive;
use crate::sync::Deadline;

/// The number of a ref, what it stands for, and as what it is shown.
pub(in super::super) type Actionable = (u32, Node, Shown);

impl Tab {
    /// What can be acted on, with the numbers of its refs, in the order of the page; and whether a script
    /// of the page was ended to know it. What `diff` compares with stays the last snapshot.
    pub(in super::super) fn actionable(&self, deadline: Deadline) -> Result<(Vec<Actionable>, bool), Error> {
        let seen = self.collect(&SnapshotOptions::default(), deadline)?;
        let mut refs = self.refs.lock();
        let mut found = Vec::new();
        for item in seen.items {
            let wanted = item.has_ref && &*item.role != "iframe" && is_interactive(&item.role, item.more.as_deref());
            let Some(node) = item.node.filter(|_| wanted) else { continue };
            let shown = Shown { role: item.role.into(), name: item.name.into() };
            found.push((refs.show(node.clone(), shown.clone()), node, shown));
        }
        Ok((found, seen.rescued))
    }
}
