//! Closed shadow roots: scripts in a page cannot find them, the browser can.
//!
//! `DOM.performSearch` for `<` counts all elements of a session's documents, including those in closed roots and
//! excluding those in the browser's own roots, in 2 ms for 8,000 elements (Chromium 156). If the number equals that of
//! the page script, no closed root is unknown, which is nearly always so. If it is larger, the whole document is
//! requested once, at a hundred times that cost, and its closed roots are passed to the page script.
#![allow(deprecated)] // `DOM.getDocument` nests its answer deeper than JSON parsers allow

use std::collections::HashMap;
use std::sync::Arc;

use super::super::Tab;
use super::super::script;
use crate::cdp::protocol::dom::{
    BackendNodeId, Disable, DiscardSearchResults, Enable, GetFlattenedDocument, Node, NodeId, PerformSearch,
    ResolveNode, ShadowRootType,
};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::CallFunctionOn;
use crate::supervisor::{self, FrameRef};
use crate::sync::Deadline;

/// Element counts of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ElementCount {
    /// Elements that remain unexplained after the whole document was searched.
    unexplained: i64,
}

/// A session with closed roots that were unknown.
pub(super) struct UnknownRoots {
    session: Arc<str>,
    pub(super) frames: Vec<FrameId>,
    there: i64,
}

/// Sessions, each with its frames.
pub(super) type Sessions = Vec<(Arc<str>, Vec<FrameId>)>;

/// A count of all elements, requested together with the trees.
pub(super) struct CountRequest {
    pub(super) search: Vec<(FrameRef, PerformSearch)>,
    pub(super) sessions: Sessions,
}

fn at(frames: &[FrameId]) -> Option<FrameRef> {
    frames.first().map(|frame| FrameRef::Id(frame.clone()))
}

fn sum(frames: &[FrameId], counted: &HashMap<FrameId, u64>) -> Option<i64> {
    let all = frames.iter().map(|frame| counted.get(frame).copied()).sum::<Option<u64>>()?;
    i64::try_from(all).ok()
}

/// The text that every element's start tag contains.
const ANY: &str = "<";

impl Tab {
    /// The commands that count all elements, and their sessions.
    pub(super) fn count_asked(&self, frames: &[FrameId], deadline: Deadline<'_>) -> CountRequest {
        let sessions = self.sessions(frames);
        let known = self.snapshot_cache.lock().counted.clone();
        let new: Vec<_> = sessions.iter().filter(|(session, _)| !known.contains_key(session)).collect();
        let enable = new.iter().filter_map(|(_, frames)| Some((at(frames)?, Enable::new()))).collect();
        let enabled = self.supervisor.session_calls(enable, deadline);
        for ((session, _), enabled) in new.into_iter().zip(enabled) {
            if enabled.is_ok() {
                self.snapshot_cache.lock().counted.insert(Arc::clone(session), ElementCount::default());
            }
        }
        let search = sessions.iter().filter_map(|(_, frames)| Some((at(frames)?, PerformSearch::new(ANY))));
        CountRequest { search: search.collect(), sessions }
    }

    /// Passes unknown closed shadow roots to the page script. `found` is the count of the browser, `counted` the number
    /// of elements in the tree of each frame. Returns the sessions whose frames must be read again.
    pub(super) fn find_closed(
        &self,
        sessions: Sessions,
        found: supervisor::Outcomes<PerformSearch>,
        counted: &HashMap<FrameId, u64>,
        deadline: Deadline<'_>,
    ) -> Vec<UnknownRoots> {
        let mut again = Vec::new();
        for ((session, frames), found) in sessions.into_iter().zip(found) {
            let (Some(at), Ok(found)) = (at(&frames), found) else { continue };
            self.supervisor.post(&at, &DiscardSearchResults::new(found.result.search_id));
            let there = found.result.result_count;
            let Some(expected) = sum(&frames, counted) else {
                continue; // a frame was not read, so the counts cannot be compared
            };
            let more = there - expected;
            let known = self.snapshot_cache.lock().counted.get(&session).map_or(0, |known| known.unexplained);
            if more <= 0 || more == known {
                continue;
            }
            if self.adopt_closed(&at, &frames, deadline) {
                again.push(UnknownRoots { session, frames, there });
            } else {
                self.snapshot_cache.lock().counted.insert(session, ElementCount { unexplained: more });
            }
        }
        again
    }

    /// Remembers what remains unexplained after the second read, so that it is not searched again each time.
    pub(super) fn explained(&self, found: &[UnknownRoots], counted: &HashMap<FrameId, u64>) {
        for UnknownRoots { session, frames, there } in found {
            let unexplained = sum(frames, counted).map_or(0, |expected| there - expected);
            self.snapshot_cache.lock().counted.insert(Arc::clone(session), ElementCount { unexplained });
        }
    }

    /// The sessions of some frames, each with all of its frames.
    fn sessions(&self, asked: &[FrameId]) -> Sessions {
        let now = self.supervisor.view();
        let mut sessions: HashMap<Arc<str>, Vec<FrameId>> = HashMap::new();
        for frame in now.frames_of(self.target.as_str()) {
            if let Some(session) = &frame.session_id {
                sessions.entry(Arc::clone(session)).or_default().push(frame.frame_id.clone());
            }
        }
        self.snapshot_cache.lock().counted.retain(|session, _| sessions.contains_key(session));
        sessions.into_iter().filter(|(_, frames)| frames.iter().any(|frame| asked.contains(frame))).collect()
    }

    /// Returns whether closed roots were found.
    fn adopt_closed(&self, at: &FrameRef, frames: &[FrameId], deadline: Deadline<'_>) -> bool {
        let mut whole = GetFlattenedDocument::new();
        (whole.depth, whole.pierce) = (Some(-1), Some(true));
        let reply = self.supervisor.session_call(at, &whole, deadline);
        // Otherwise the browser would report every change of the listed nodes.
        self.supervisor.post(at, &Disable::new());
        self.supervisor.post(at, &Enable::new());
        let Ok(reply) = reply else { return false };
        let mut by_frame: HashMap<FrameId, Vec<BackendNodeId>> = HashMap::new();
        let own = self.outermost(frames);
        for (root, frame) in closed_roots(&reply.result.nodes) {
            if let Some(frame) = frame.or_else(|| own.clone()) {
                by_frame.entry(frame).or_default().push(root);
            }
        }
        // Each in its own document only: a node has one wrapper in the isolated worlds of a process, that of the
        // document that requested it first.
        let mut any = false;
        for (frame, roots) in by_frame {
            let Some(context) = self.context(&frame, deadline) else { continue };
            let resolve = roots.iter().map(|root| {
                let mut resolve = ResolveNode::new();
                resolve.backend_node_id = Some(*root);
                resolve.execution_context_id = Some(context);
                (at.clone(), resolve)
            });
            let resolved = self.supervisor.session_calls(resolve.collect(), deadline);
            let objects: Vec<_> =
                resolved.into_iter().filter_map(|outcome| outcome.ok()?.result.object.object_id).collect();
            let adopt = objects.iter().map(|object| {
                let mut adopt = CallFunctionOn::new(script::ADOPT);
                adopt.object_id = Some(object.clone());
                adopt.silent = Some(true);
                (at.clone(), adopt)
            });
            any |= !objects.is_empty();
            drop(self.supervisor.session_calls(adopt.collect(), deadline));
            for object in objects {
                self.release(&frame, object);
            }
        }
        any
    }

    /// The frame of a session that contains the others.
    fn outermost(&self, frames: &[FrameId]) -> Option<FrameId> {
        let now = self.supervisor.view();
        let parent = |frame: &FrameId| now.frame(frame.as_str()).and_then(|frame| frame.parent_frame_id.clone());
        frames.iter().find(|frame| parent(frame).is_none_or(|parent| !frames.contains(&parent))).cloned()
    }
}

/// The closed roots in a list of all nodes, each with its frame; `None` for the outermost one.
fn closed_roots(nodes: &[Node]) -> Vec<(BackendNodeId, Option<FrameId>)> {
    let mut parents: HashMap<NodeId, NodeId> = HashMap::new();
    let mut documents: HashMap<NodeId, FrameId> = HashMap::new();
    for node in nodes {
        parents.extend(node.parent_id.map(|parent| (node.node_id, parent)));
        parents.extend(node.shadow_roots.iter().flatten().map(|root| (root.node_id, node.node_id)));
        if let (Some(document), Some(frame)) = (&node.content_document, &node.frame_id) {
            documents.insert(document.node_id, frame.clone());
        }
    }
    let frame_of = |start: NodeId| {
        let mut node = start;
        // An inconsistent list may contain cycles.
        for _ in 0..=parents.len() {
            if let Some(frame) = documents.get(&node) {
                return Some(frame.clone());
            }
            node = *parents.get(&node)?;
        }
        None
    };
    let hosted = nodes.iter().flat_map(|host| host.shadow_roots.iter().flatten().map(move |root| (host, root)));
    let closed = hosted.filter(|(_, root)| root.shadow_root_type == Some(ShadowRootType::Closed));
    closed.map(|(host, root)| (root.backend_node_id, frame_of(host.node_id))).collect()
}
