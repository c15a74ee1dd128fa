//! Elements that listen to clicks without declaring it in their attributes.
//!
//! `DOMDebugger.getEventListeners` lists the listeners of a page's own scripts, those of a whole document in one call
//! (Chromium 156: 3 ms for 10,000 elements with 100 listeners; about 0.5 ms for a small page). Scripts of an isolated
//! world only see their own listeners. Numbers of nodes are remembered, so that only new listeners cost more than that
//! call.
//!
//! An element with a click listener has a ref, unless it contains more than 60 elements or has listeners for more than
//! 12 event types, as root elements of frameworks do. An element without a role also has a ref in these cases
//! (`script/state.js`, `script/tree.js`):
//!
//! - It has its own `:hover` style and is inside an element with a click listener, at most six levels up: items of a
//!   menu with one listener for all items.
//! - Its role is `none` or `presentation`, and it has a listener or a pointer cursor that is not inherited.
//! - It is hidden from the accessibility tree (`aria-hidden`), but a person sees and uses it: it has a listener, or
//!   such a cursor or `:hover` style; it draws something; its containers do not clip it; and a hit test in the viewport
//!   reaches it. It is shown with its role and text.
//! - It has the same tag and classes as an element that contains draggable items (`draggable`, grab or move cursor),
//!   and contains none itself: a drop target.
//!
//! An `option` or `treeitem` keeps its role if its list or tree is separated from it only by elements without a role;
//! Chromium drops the role in that case.

use std::collections::{HashMap, HashSet};

use super::super::Tab;
use super::super::error::Error;
use super::super::world::{Doc, Node};
use crate::cdp::protocol::dom::{BackendNodeId, DescribeNode, ResolveNode};
use crate::cdp::protocol::dom_debugger::GetEventListeners;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::RemoteObjectId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Events that make an element clickable, draggable or a drop target.
const CLICKS: [&str; 13] = [
    "click",
    "dblclick",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "contextmenu",
    "auxclick",
    "touchstart",
    "dragstart",
    "dragenter",
    "dragover",
    "drop",
];
/// Events of the mouse above an element.
const HOVERS: [&str; 4] = ["mouseenter", "mouseover", "pointerenter", "pointerover"];
/// An element that listens to more types of events than this delegates them: frameworks do so on the element that holds
/// an application.
const MOST_TYPES: usize = 12;
/// Maximum number of nodes whose numbers one snapshot requests.
const MOST_NEW: usize = 300;

/// The known listeners of one document.
#[derive(Debug)]
pub(super) struct ListenerCache {
    doc: Doc,
    /// The document in the main world.
    document: RemoteObjectId,
    numbers: HashMap<BackendNodeId, Option<u32>>,
    /// Those that listen to clicks.
    clicked: HashSet<BackendNodeId>,
    /// Those that listen to the mouse above them.
    hovered: HashSet<BackendNodeId>,
}

impl ListenerCache {
    fn numbers_of(&self, nodes: &HashSet<BackendNodeId>) -> Vec<u32> {
        nodes.iter().filter_map(|node| self.numbers.get(node).copied().flatten()).collect()
    }
}

impl Tab {
    /// The numbers of the elements of each frame that listen to clicks. Frames that do not answer are left out.
    pub(super) fn listening(&self, frames: &[FrameId], deadline: Deadline<'_>) -> HashMap<FrameId, Vec<u32>> {
        let mut found = HashMap::new();
        for frame in frames {
            match self.listening_in(frame, deadline) {
                Ok(ids) if !ids.is_empty() => {
                    found.insert(frame.clone(), ids);
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(target: "cdpilot::page", %error, "cannot read event listeners"),
            }
        }
        self.snapshot_cache.lock().listening.retain(|frame, _| frames.contains(frame));
        found
    }

    /// The numbers of the elements of a frame that listen to the mouse above them, as of the last snapshot.
    pub(in super::super) fn hovered_in(&self, frame: &FrameId) -> Vec<u32> {
        let seen = self.snapshot_cache.lock();
        seen.listening.get(frame).map(|known| known.numbers_of(&known.hovered)).unwrap_or_default()
    }

    fn listening_in(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<Vec<u32>, Error> {
        let doc = self.document(frame, deadline)?;
        let known = self
            .snapshot_cache
            .lock()
            .listening
            .get(frame)
            .filter(|known| known.doc == doc)
            .map(|k| k.document.clone());
        let document = match known {
            Some(document) => document,
            None => {
                let document = self.main_document(frame, &doc, deadline)?;
                let new = ListenerCache {
                    doc: doc.clone(),
                    document: document.clone(),
                    numbers: HashMap::new(),
                    clicked: HashSet::new(),
                    hovered: HashSet::new(),
                };
                self.snapshot_cache.lock().listening.insert(frame.clone(), new);
                document
            }
        };
        let mut get = GetEventListeners::new(document);
        // Includes shadow roots, but not frames of the same process: a node that is resolved in the world of another
        // document than its own keeps the types of that world permanently.
        (get.depth, get.pierce) = (Some(-1), Some(!self.has_frames_inside(frame)));
        let listeners = self.supervisor.session_call(&FrameRef::Id(frame.clone()), &get, deadline)?.result.listeners;
        let mut types: HashMap<BackendNodeId, HashSet<String>> = HashMap::new();
        for listener in listeners {
            if let Some(node) = listener.backend_node_id {
                types.entry(node).or_default().insert(listener.r#type);
            }
        }
        types.retain(|_, types| types.len() <= MOST_TYPES);
        let with = |names: &[&str]| -> HashSet<BackendNodeId> {
            let listens = |types: &HashSet<String>| types.iter().any(|name| names.contains(&name.as_str()));
            types.iter().filter(|(_, types)| listens(types)).map(|(node, _)| *node).collect()
        };
        let (clicked, hovered) = (with(&CLICKS), with(&HOVERS));
        types.retain(|node, _| clicked.contains(node) || hovered.contains(node));
        let new: Vec<BackendNodeId> = {
            let seen = self.snapshot_cache.lock();
            let known = seen.listening.get(frame).map(|known| &known.numbers);
            let is_new = |node: &&BackendNodeId| known.is_none_or(|known| !known.contains_key(*node));
            types.keys().filter(is_new).take(MOST_NEW).copied().collect()
        };
        let numbers = if new.is_empty() { Vec::new() } else { self.numbers(frame, &new, deadline)? };
        let mut seen = self.snapshot_cache.lock();
        let Some(known) = seen.listening.get_mut(frame).filter(|known| known.doc == doc) else { return Ok(Vec::new()) };
        known.numbers.retain(|node, _| types.contains_key(node));
        known.numbers.extend(new.into_iter().zip(numbers));
        (known.clicked, known.hovered) = (clicked, hovered);
        Ok(known.numbers_of(&known.clicked))
    }

    /// Whether a frame contains others of the same session.
    fn has_frames_inside(&self, frame: &FrameId) -> bool {
        let now = self.supervisor.view();
        let session = now.frame(frame.as_str()).and_then(|frame| frame.session_id.clone());
        now.frames_of(self.target.as_str())
            .any(|inner| inner.parent_frame_id.as_ref() == Some(frame) && inner.session_id == session)
    }

    /// The document of a frame in the main world.
    fn main_document(&self, frame: &FrameId, doc: &Doc, deadline: Deadline<'_>) -> Result<RemoteObjectId, Error> {
        let at = FrameRef::Id(frame.clone());
        let gone = || Error::DocumentGone { frame: frame.to_string() };
        let ours = self.object(&Node { frame: frame.clone(), doc: doc.clone(), id: 0 }, deadline)?;
        let mut describe = DescribeNode::new();
        describe.object_id = Some(ours.clone());
        let described = self.supervisor.session_call(&at, &describe, deadline);
        self.release(frame, ours);
        let mut resolve = ResolveNode::new();
        resolve.backend_node_id = Some(described?.result.node.backend_node_id);
        let resolved = self.supervisor.session_call(&at, &resolve, deadline)?;
        resolved.result.object.object_id.ok_or_else(gone)
    }
}
