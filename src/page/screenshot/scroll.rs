//! Scrolling to elements out of view, and back.

use serde::{Deserialize, Serialize};

use super::super::world::Node;
use super::super::{Error, Tab};
use super::highlight::UNTIL_SEEN;
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// A scroll position before: the node, or 0 for the viewport, and both offsets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ScrollPosition {
    #[serde(default)]
    before: Vec<(u32, f64, f64)>,
    #[serde(default, skip_serializing)]
    gone: bool,
}

impl Tab {
    /// Scrolls a node into view in its own frame and all frames around it. Returns the positions before.
    pub(super) fn bring(&self, node: &Node, deadline: Deadline<'_>) -> Result<Vec<(FrameId, ScrollPosition)>, Error> {
        let mut chain = vec![node.clone()];
        let mut frame = node.frame.clone();
        while let Some(owner) = self.owner(&frame, deadline)? {
            frame = owner.frame.clone();
            chain.push(owner);
        }
        // In a background tab the frames of other processes would not draw.
        self.emulate_focus();
        let mut befores = Vec::new();
        for node in chain.into_iter().rev() {
            let id = serde_json::json!({ "id": node.id });
            match self.call_in::<ScrollPosition>(&node.frame, &node.doc, "bring", &id, deadline) {
                Ok(done) if !done.gone => befores.push((node.frame, done.result)),
                outcome => {
                    self.put_back(befores, deadline);
                    let gone = Error::DocumentGone { frame: node.frame.to_string() };
                    return Err(outcome.err().unwrap_or(gone));
                }
            }
        }
        // From the innermost frame: its content is captured once it and all frames around it have drawn.
        let frames = if befores.len() > 1 { UNTIL_SEEN } else { 2 };
        for (frame, _) in befores.iter().rev() {
            let _ = self.call::<()>(frame, "drawn", &frames, deadline);
        }
        Ok(befores)
    }

    /// Scrolls back. A frame that has navigated needs no scrolling.
    pub(super) fn put_back(&self, befores: Vec<(FrameId, ScrollPosition)>, deadline: Deadline<'_>) {
        for (frame, before) in befores.into_iter().rev() {
            if let Err(error) = self.call::<()>(&frame, "putBack", &before, deadline) {
                tracing::debug!(%frame, %error, "cannot scroll back");
            }
        }
    }
}
