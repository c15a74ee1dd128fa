//! Anchors: finding a recorded element again.
//!
//! One call in each frame returns all shown elements with the role and name of the recorded one, described as a recording
//! describes elements. Which of them it is, if any, is decided by the caller, from frame, container and the rest.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::act::Locator;
use super::error::Shown;
use super::world::Node;
use super::{Error, Match, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// Most elements of a frame that are described. Where there are more, the recorded one is not told apart.
const MOST: usize = 200;

/// What is known of a recorded element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnchorQuery {
    /// Its role as in snapshots, or the name of its tag if it has none; empty if it is not known: then it is a control.
    pub role: String,
    /// Its name, label or text: in lower case, with single blanks, without counters in brackets.
    pub key: String,
    /// For an element without a name: selectors that found it.
    pub selectors: Vec<String>,
    /// For an element without a name: its test id.
    pub test_id: String,
    /// Whether the entries of the lists are wanted that the elements are in.
    pub lists: bool,
}

/// An element that may be the recorded one.
#[derive(Debug, Clone)]
pub struct AnchorMatch {
    /// Its ref, as in a snapshot.
    pub reference: String,
    /// The frame that it is in.
    pub frame: FrameId,
    /// Its description, as in a recording. Untrusted.
    pub element: Value,
}

/// Entries of a list with the same title.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ListEntry {
    /// The title, cut to 120 characters. Untrusted.
    pub title: String,
    /// How many there are.
    pub count: u32,
}

/// The elements that may be a recorded one.
#[derive(Debug, Clone, Default)]
pub struct AnchorMatches {
    /// The elements, frame by frame in document order.
    pub matches: Vec<AnchorMatch>,
    /// Frames that did not answer. What they hold is not known.
    pub unread: Vec<FrameId>,
    /// Frames with more elements than are described.
    pub crowded: Vec<FrameId>,
    /// If they are wanted, the entries of each list that the elements of each frame are in; `None` for one that is too long to tell.
    pub entries: Vec<(FrameId, Vec<Option<Vec<ListEntry>>>)>,
}

/// An element as a recording has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Traced {
    /// Its description; null if it is gone. Untrusted.
    pub element: Value,
    /// What it holds, as the data of an event; null for what holds nothing. The value of a sensitive field is null.
    pub held: Value,
}

#[derive(Debug, Deserialize)]
struct Reply {
    total: usize,
    elements: Vec<Described>,
    entries: Vec<Option<Vec<ListEntry>>>,
}

#[derive(Debug, Deserialize)]
struct Described {
    id: u32,
    role: String,
    name: String,
    element: Value,
}

#[derive(Serialize)]
struct Arguments<'q> {
    #[serde(flatten)]
    query: &'q AnchorQuery,
    most: usize,
}

impl Tab {
    /// The shown elements of all frames that have the role and the name of a recorded element now.
    ///
    /// # Errors
    /// Those of the supervisor when the top frame does not answer, such as a dialog that blocks it.
    pub fn anchors(&self, query: &AnchorQuery, deadline: Deadline<'_>) -> Result<AnchorMatches, Error> {
        self.arrived(deadline)?;
        let top = self.top()?;
        let (frames, ..) = self.frames_below(&top);
        let answers = self.call_all::<Reply, _>(&frames, "anchors", |_| Arguments { query, most: MOST }, deadline);
        let mut all = AnchorMatches::default();
        for (frame, answer) in frames.into_iter().zip(answers) {
            match answer {
                Ok((doc, done)) => {
                    if done.result.total > done.result.elements.len() {
                        all.crowded.push(frame.clone());
                    }
                    if query.lists {
                        all.entries.push((frame.clone(), done.result.entries));
                    }
                    let mut refs = self.refs.lock();
                    for found in done.result.elements {
                        let node = Node { frame: frame.clone(), doc: doc.clone(), id: found.id };
                        let number = refs.show(node, Shown::new(&*found.role, &*found.name));
                        all.matches.push(AnchorMatch {
                            reference: format!("e{number}"),
                            frame: frame.clone(),
                            element: found.element,
                        });
                    }
                }
                Err(error) if error.is_blocked_by_dialog() || frame == top => return Err(error),
                Err(_) => all.unread.push(frame),
            }
        }
        Ok(all)
    }

    /// Scrolls the lists of a frame whose entries were told last: on by most of what is visible, or to their start. Returns whether
    /// any moved: at its end, none does.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn scroll_list(&self, frame: &FrameId, to_start: bool, deadline: Deadline<'_>) -> Result<bool, Error> {
        let doc = self.document(frame, deadline)?;
        Ok(self.call_in(frame, &doc, "scrollList", &json!({ "start": to_start }), deadline)?.result)
    }

    /// An element as a recording has it.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn traced(&self, node: &Node, deadline: Deadline<'_>) -> Result<Traced, Error> {
        Ok(self.call_in(&node.frame, &node.doc, "traced", &json!({ "id": node.id }), deadline)?.result)
    }

    /// The element of the top document that has the focus, as a recording has it, and its frame.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn traced_focus(&self, deadline: Deadline<'_>) -> Result<(FrameId, Traced), Error> {
        let top = self.top()?;
        let doc = self.document(&top, deadline)?;
        let traced = self.call_in(&top, &doc, "traced", &json!({ "id": 0 }), deadline)?.result;
        Ok((top, traced))
    }

    /// Shown elements whose name comes near a text, whatever their role: for telling what there is in place of a recorded one.
    #[must_use]
    pub fn similar(&self, text: &str, deadline: Deadline<'_>) -> Vec<Match> {
        self.near(text, &Locator::default(), deadline)
    }
}
