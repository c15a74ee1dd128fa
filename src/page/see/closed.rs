//! Closed shadow roots: no script in a page can find them, the browser can.
//!
//! `DOM.performSearch` for `<` counts all elements of a session's documents, those in closed roots
//! included and those of the browser's own roots not, in 2 ms for 8,000 elements (Chromium 156). When that
//! is what our walks counted there is no closed root that we do not know, which is nearly always so. When
//! it is more, the whole document is asked for once, at a hundred times that cost, and the roots in it are
//! handed to the script.
#![allow(deprecated)] // `DOM.getDocument` nests its answer, deeper than JSON readers go

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

/// What is known of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    /// Elements that stay unexplained after the whole document was looked through.
    unexplained: i64,
}

/// A session that had closed roots we did not know.
pub(super) struct Found {
    session: Arc<str>,
    pub(super) frames: Vec<FrameId>,
    there: i64,
}

/// Sessions, each with its frames.
pub(super) type Sessions = Vec<(Arc<str>, Vec<FrameId>)>;

/// A count of all elements, to be asked for beside the walks.
pub(super) struct Counting {
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

/// What every element's start begins with.
const ANY: &str = "<";

impl Tab {
    /// What is to be asked for a count of all elements, and the sessions that are asked.
    pub(super) fn count_asked(&self, frames: &[FrameId], deadline: Deadline) -> Counting {
        let sessions = self.sessions(frames);
        let known = self.seen.lock().counted.clone();
        let new: Vec<_> = sessions.iter().filter(|(session, _)| !known.contains_key(session)).collect();
        let enable = new.iter().filter_map(|(_, frames)| Some((at(frames)?, Enable::new()))).collect();
        let enabled = self.supervisor.session_calls(enable, deadline);
        for ((session, _), enabled) in new.into_iter().zip(enabled) {
            if enabled.is_ok() {
                self.seen.lock().counted.insert(Arc::clone(session), Counted::default());
            }
        }
        let search = sessions.iter().filter_map(|(_, frames)| Some((at(frames)?, PerformSearch::new(ANY))));
        Counting { search: search.collect(), sessions }
    }

    /// Hands closed shadow roots to the script where there are any that it does not know. `found` is what was
    /// found beside the walks, `counted` how many elements the walk of each frame met. Gives the sessions
    /// whose frames are to be walked again.
    pub(super) fn find_closed(
        &self,
        sessions: Sessions,
        found: supervisor::Outcomes<PerformSearch>,
        counted: &HashMap<FrameId, u64>,
        deadline: Deadline,
    ) -> Vec<Found> {
        let mut again = Vec::new();
        for ((session, frames), found) in sessions.into_iter().zip(found) {
            let (Some(at), Ok(found)) = (at(&frames), found) else { continue };
            self.supervisor.post(&at, &DiscardSearchResults::new(found.result.search_id));
            let there = found.result.result_count;
            let Some(expected) = sum(&frames, counted) else {
                continue; // one was not walked, so there is nothing to compare with
            };
            let more = there - expected;
            let known = self.seen.lock().counted.get(&session).map_or(0, |known| known.unexplained);
            if more <= 0 || more == known {
                continue;
            }
            if self.adopt_closed(&at, &frames, deadline) {
                again.push(Found { session, frames, there });
            } else {
                self.seen.lock().counted.insert(session, Counted { unexplained: more });
            }
        }
        again
    }

    /// Remembers what stays unexplained after the second walk, so that it is not looked for each time.
    pub(super) fn explained(&self, found: &[Found], counted: &HashMap<FrameId, u64>) {
        for Found { session, frames, there } in found {
            let unexplained = sum(frames, counted).map_or(0, |expected| there - expected);
            self.seen.lock().counted.insert(Arc::clone(session), Counted { unexplained });
        }
    }

    /// All frames of each session that has one of those.
    fn sessions(&self, asked: &[FrameId]) -> Sessions {
        let now = self.supervisor.view();
        let mut sessions: HashMap<Arc<str>, Vec<FrameId>> = HashMap::new();
        for frame in now.frames_of(self.target.as_str()) {
            if let Some(session) = &frame.session_id {
                sessions.entry(Arc::clone(session)).or_default().push(frame.frame_id.clone());
            }
        }
        self.seen.lock().counted.retain(|session, _| sessions.contains_key(session));
        sessions.into_iter().filter(|(_, frames)| frames.iter().any(|frame| asked.contains(frame))).collect()
    }

    /// Whether some were found.
    fn adopt_closed(&self, at: &FrameRef, frames: &[FrameId], deadline: Deadline) -> bool {
        let mut whole = GetFlattenedDocument::new();
        (whole.depth, whole.pierce) = (Some(-1), Some(true));
        let told = self.supervisor.session_call(at, &whole, deadline);
        // Otherwise the browser would tell of every change of what it has listed.
        self.supervisor.post(at, &Disable::new());
        self.supervisor.post(at, &Enable::new());
        let Ok(told) = told else { return false };
        let mut by_frame: HashMap<FrameId, Vec<BackendNodeId>> = HashMap::new();
        let own = self.outermost(frames);
        for (root, frame) in closed_roots(&told.result.nodes) {
            if let Some(frame) = frame.or_else(|| own.clone()) {
                by_frame.entry(frame).or_default().push(root);
            }
        }
        // Each in its own document only: a node has one wrapper in our worlds of a process, of whichever
        // document it was asked for in first.
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

    /// Of the frames of a session the one that the others are in.
    fn outermost(&self, frames: &[FrameId]) -> Option<FrameId> {
        let now = self.supervisor.view();
        let parent = |frame: &FrameId| now.frame(frame.as_str()).and_then(|frame| frame.parent_frame_id.clone());
        frames.iter().find(|frame| parent(frame).is_none_or(|parent| !frames.contains(&parent))).cloned()
    }
}

/// The closed roots in a list of all nodes, each with the frame it is in; `None` for the outermost one.
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
        // A list that is no tree may go in circles.
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
