//! The frame tree of a page as a bounded list, so that a page with many ads does not flood a prompt.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;

use super::snapshot::{Frame, View};
use crate::cdp::protocol::page::FrameId;
use crate::setters;

/// Limits of a frame tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of child frames.
    pub entries: usize,
    /// Maximum depth of cross-process frames; deeper ones are omitted with their descendants. The top frame has depth
    /// 0, and every level counts.
    pub oopif_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 30, oopif_depth: 2 }
    }
}

setters!(Limits: entries(usize), oopif_depth(usize));

impl Limits {
    /// The default limits: 30 child frames, cross-process frames down to depth 2.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All frames are listed, at any depth.
    pub const NONE: Self = Self { entries: usize::MAX, oopif_depth: usize::MAX };
}

/// The frames of a page: the top frame, and all others breadth first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FrameTree {
    /// The top frame; absent until it is known.
    pub top: Option<FrameView>,
    /// The other frames, breadth first.
    pub children: Vec<FrameView>,
    /// Whether the limits omitted frames.
    pub truncated: bool,
}

/// One frame in a [`FrameTree`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FrameView {
    /// Id of the frame; stays the same when it changes its process.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub frame_id: FrameId,
    /// URL of its document.
    pub url: Arc<str>,
    /// Origin of its document, such as `https://example.com`.
    pub origin: Arc<str>,
    /// Whether it runs in its own process.
    pub is_oopif: bool,
    /// The CDP session of an out-of-process frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// Id of its parent frame; absent for the top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub parent_frame_id: Option<FrameId>,
    /// Its name, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
}

impl FrameView {
    fn of(frame: &Frame) -> Self {
        Self {
            frame_id: frame.frame_id.clone(),
            url: Arc::clone(&frame.url),
            origin: Arc::clone(&frame.origin),
            is_oopif: frame.is_oopif,
            session_id: frame.session_id.clone().filter(|_| frame.is_oopif),
            parent_frame_id: frame.parent_frame_id.clone(),
            name: Some(Arc::clone(&frame.name)).filter(|name| !name.is_empty()),
        }
    }
}

impl FrameTree {
    pub(super) fn of(snapshot: &View, target: &str, limits: Limits) -> Self {
        let frames: Vec<&Frame> = snapshot.frames_of(target).collect();
        let known = snapshot.page(target).and_then(|page| page.top_frame.as_ref());
        let top = frames
            .iter()
            .find(|f| known == Some(&f.frame_id))
            .or_else(|| frames.iter().find(|f| f.parent_frame_id.is_none()));
        let mut tree = Self { top: top.map(|f| FrameView::of(f)), children: Vec::new(), truncated: false };
        let mut queue: VecDeque<(&FrameId, usize)> = top.map(|f| (&f.frame_id, 0)).into_iter().collect();
        while let Some((parent, depth)) = queue.pop_front() {
            for child in frames.iter().filter(|f| f.parent_frame_id.as_ref() == Some(parent)) {
                if tree.children.len() >= limits.entries || (child.is_oopif && depth + 1 > limits.oopif_depth) {
                    tree.truncated = true;
                    continue;
                }
                tree.children.push(FrameView::of(child));
                queue.push_back((&child.frame_id, depth + 1));
            }
        }
        tree
    }
}
