//! Elements that a page has drawn anew: found again by role, name and setting.

use serde::Deserialize;

use super::super::Tab;
use super::super::error::{Error, Shown};
use super::super::world::Node;
use super::element::{Hint, VisibleElement};
use crate::sync::Deadline;

/// Maximum number of elements that are listed in place of one that is gone.
const MOST_ALIKE: usize = 8;

/// What became of an element.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Presence {
    /// Its node is there.
    There,
    /// Its node is gone, and exactly one element of the same frame has its role, name and setting: this one, with the same id.
    Redrawn(Box<VisibleElement>),
    /// Its node is gone, and no element, or several, have its role, name and setting; or the page uses it for another row or card.
    Gone {
        /// The visible elements of its frame with the same role and name, at most 8.
        alike: Vec<VisibleElement>,
        /// Whether its node is there, in another row or card.
        recycled: bool,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Again {
    present: bool,
    recycled: bool,
    count: usize,
    id: u32,
    /// The node that is drawn in its place, or 0.
    place: u32,
    role: String,
    name: String,
    html: String,
    held: Option<String>,
    disabled: bool,
}

impl Tab {
    /// What became of an element that was looked at. One that is drawn anew keeps its id; numbers belong to names, unless they are a
    /// counter in brackets.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn presence(&self, element: &VisibleElement, deadline: Deadline<'_>) -> Result<Presence, Error> {
        let node = &element.node;
        let ask = serde_json::json!({ "id": node.id });
        let again: Again = match self.call_in(&node.frame, &node.doc, "redrawn", &ask, deadline) {
            Ok(done) => done.result,
            // The action itself says so.
            Err(Error::DocumentGone { .. }) => return Ok(Presence::There),
            Err(error) => return Err(error),
        };
        if again.present {
            return Ok(Presence::There);
        }
        if again.count != 1 {
            let mut alike = self.discover(None, deadline)?.elements;
            alike.retain(|other| other.node.frame == node.frame && other.shown.is_like(&element.shown));
            alike.truncate(MOST_ALIKE);
            return Ok(Presence::Gone { alike, recycled: again.recycled });
        }
        let now = Node { id: again.id, ..node.clone() };
        self.highlight_ids.lock().rebind(&element.id, &now);
        let shown = Shown::new(again.role, again.name);
        let reference = format!("e{}", self.refs.lock().show(now.clone(), shown.clone()));
        let place = (again.place > 0).then(|| Node { id: again.place, ..now.clone() });
        let mut redrawn = VisibleElement {
            node: now,
            place,
            shown,
            reference,
            html: again.html,
            held: again.held,
            ..element.clone()
        };
        redrawn.hints.retain(|hint| *hint != Hint::Disabled);
        if again.disabled {
            redrawn.hints.insert(0, Hint::Disabled);
        }
        Ok(Presence::Redrawn(Box::new(redrawn)))
    }
}
