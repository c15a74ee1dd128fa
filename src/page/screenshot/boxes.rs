//! Positions of nodes of any frame in the top viewport.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;
use cdpilot_picture::Rect;

/// The viewport of a frame. Lengths in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(in super::super) struct View {
    pub(in super::super) width: f64,
    pub(in super::super) height: f64,
    /// The scroll position.
    pub(in super::super) x: f64,
    pub(in super::super) y: f64,
    /// Device pixels per CSS pixel.
    pub(in super::super) ratio: f64,
    /// The width of the scroll bar.
    pub(in super::super) bars: f64,
    /// Whether the tab is not visible in a window.
    pub(in super::super) hidden: bool,
    /// Pinch zoom: the left and top of what is shown of the viewport, and its scale.
    pub(in super::super) pinch: (f64, f64, f64),
}

impl View {
    /// The viewport as a rectangle at its own origin.
    pub(in super::super) fn rect(&self) -> Rect {
        Rect { x: 0.0, y: 0.0, width: self.width, height: self.height }
    }

    /// Where a part of the viewport is shown on the screen, in CSS pixels of it; `None` if it is not.
    pub(in super::super) fn shown(&self, part: &Rect) -> Option<Rect> {
        let (left, top, scale) = self.pinch;
        let side = |from: f64, to: f64, start: f64, room: f64| {
            let from = ((from - start) * scale).max(0.0);
            (from, ((to - start) * scale).min(room) - from)
        };
        let (x, width) = side(part.x, part.right(), left, self.width);
        let (y, height) = side(part.y, part.bottom(), top, self.height);
        (width > 0.5 && height > 0.5).then_some(Rect { x, y, width, height })
    }
}

/// The position of a node, in CSS pixels of the top viewport.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct NodePosition {
    /// The whole box; `None` when the node is not rendered or not visible.
    pub(in super::super) all: Option<Rect>,
    /// The visible part, clipped by frames and containers around it.
    pub(in super::super) part: Option<Rect>,
    /// The visible parts of its lines, when it has several.
    pub(in super::super) lines: Vec<Rect>,
}

/// How positions are computed.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct BoxOptions {
    /// Include what is outside the top viewport.
    pub(in super::super) whole: bool,
    /// Exclude what is covered by other elements.
    pub(in super::super) uncovered: bool,
}

#[derive(Serialize)]
struct BoxArgs<'a> {
    ids: &'a [u32],
    holes: &'a [u32],
    whole: bool,
    uncovered: bool,
}

#[derive(Deserialize)]
struct BoxReply {
    view: View,
    boxes: Vec<Option<NodeBox>>,
    holes: Vec<Option<FrameBox>>,
}

#[derive(Deserialize)]
struct NodeBox {
    all: Option<Edges>,
    part: Option<Edges>,
    lines: Vec<Edges>,
}

/// The position of a document in the frame around it.
#[derive(Clone, Copy, Deserialize)]
struct FrameBox {
    x: f64,
    y: f64,
    sx: f64,
    sy: f64,
    part: Option<Edges>,
}

#[derive(Clone, Copy, Deserialize)]
pub(in super::super) struct Edges(f64, f64, f64, f64);

impl From<(f64, f64, f64, f64)> for Edges {
    fn from((x, y, width, height): (f64, f64, f64, f64)) -> Self {
        Self(x, y, width, height)
    }
}

impl From<Edges> for Rect {
    fn from(Edges(x, y, width, height): Edges) -> Self {
        Self { x, y, width, height }
    }
}

/// The transform from a frame's viewport to the top one.
#[derive(Clone, Copy)]
struct FrameTransform {
    x: f64,
    y: f64,
    sx: f64,
    sy: f64,
    /// The visible part of the frame, in the top viewport; `None` for the top frame.
    shown: Option<Rect>,
    is_top: bool,
}

impl FrameTransform {
    const TOP: Self = Self { x: 0.0, y: 0.0, sx: 1.0, sy: 1.0, shown: None, is_top: true };

    fn of(&self, rect: Rect) -> Rect {
        Rect {
            x: self.x + self.sx * rect.x,
            y: self.y + self.sy * rect.y,
            width: self.sx * rect.width,
            height: self.sy * rect.height,
        }
    }

    /// A point of the top viewport in the viewport of the frame.
    fn inside(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.x) / self.sx, (y - self.y) / self.sy)
    }

    fn shown_of(&self, part: Edges) -> Option<Rect> {
        let lifted = self.of(part.into());
        if self.is_top { Some(lifted) } else { self.shown?.and(&lifted) }
    }

    fn into_hole(self, hole: &FrameBox) -> Self {
        Self {
            x: self.x + self.sx * hole.x,
            y: self.y + self.sy * hole.y,
            sx: self.sx * hole.sx,
            sy: self.sy * hole.sy,
            shown: hole.part.and_then(|part| self.shown_of(part)),
            is_top: false,
        }
    }
}

/// The request to one frame.
#[derive(Default)]
struct FrameRequest {
    ids: Vec<u32>,
    /// The position of each id in `ids`.
    index: HashMap<u32, usize>,
    holes: Vec<u32>,
}

impl FrameRequest {
    fn add(&mut self, id: u32) {
        if let Entry::Vacant(free) = self.index.entry(id) {
            free.insert(self.ids.len());
            self.ids.push(id);
        }
    }
}

impl Tab {
    /// The positions of nodes of all frames, and the top viewport. `None` for a removed node.
    pub(super) fn places(
        &self,
        nodes: &[Node],
        how: BoxOptions,
        deadline: Deadline<'_>,
    ) -> Result<(View, Vec<Option<NodePosition>>), Error> {
        let layout = self.layout(nodes, how, deadline)?;
        Ok((layout.view, nodes.iter().map(|node| layout.position(node)).collect()))
    }

    /// Where nodes of all frames, and the frames around them, are in the top viewport.
    pub(in super::super) fn layout(
        &self,
        nodes: &[Node],
        how: BoxOptions,
        deadline: Deadline<'_>,
    ) -> Result<Layout, Error> {
        let top = self.top()?;
        let mut frame_requests: HashMap<FrameId, FrameRequest> =
            HashMap::from([(top.clone(), FrameRequest::default())]);
        let mut owners: HashMap<FrameId, Node> = HashMap::new();
        for node in nodes {
            let mut frame = node.frame.clone();
            // The enclosing frames are queried too.
            while frame != top && !owners.contains_key(&frame) {
                let Ok(Some(owner)) = self.owner(&frame, deadline) else { break };
                let around = owner.frame.clone();
                frame_requests.entry(around.clone()).or_default().holes.push(owner.id);
                owners.insert(frame, owner);
                frame = around;
            }
            frame_requests.entry(node.frame.clone()).or_default().add(node.id);
        }
        let frames: Vec<FrameId> = frame_requests.keys().cloned().collect();
        let ask = |frame: &FrameId| {
            let request = frame_requests.get(frame);
            let list = |of: fn(&FrameRequest) -> &Vec<u32>| request.map(of).map_or(&[][..], Vec::as_slice);
            let (ids, holes) = (list(|request| &request.ids), list(|request| &request.holes));
            BoxArgs { ids, holes, whole: how.whole && *frame == top, uncovered: how.uncovered }
        };
        let mut replies: HashMap<FrameId, (Doc, BoxReply)> = HashMap::new();
        for (frame, answer) in frames.iter().zip(self.call_all(&frames, "boxes", ask, deadline)) {
            match answer {
                Ok((doc, done)) => drop(replies.insert(frame.clone(), (doc, done.result))),
                Err(error) if *frame == top || error.is_blocked_by_dialog() => return Err(error),
                Err(_) => {}
            }
        }
        let view = replies.get(&top).map(|(_, reply)| reply.view);
        let view = view.ok_or_else(|| Error::DocumentGone { frame: top.to_string() })?;
        Ok(Layout { view, top, owners, frame_requests, replies })
    }
}

/// The positions of nodes and of the frames around them, as they were at one moment.
pub(in super::super) struct Layout {
    /// The top viewport.
    pub(in super::super) view: View,
    top: FrameId,
    owners: HashMap<FrameId, Node>,
    frame_requests: HashMap<FrameId, FrameRequest>,
    replies: HashMap<FrameId, (Doc, BoxReply)>,
}

impl Layout {
    /// The position of a node; `None` if it was removed, or not asked for.
    pub(in super::super) fn position(&self, node: &Node) -> Option<NodePosition> {
        let (doc, answer) = self.replies.get(&node.frame)?;
        if *doc != node.doc {
            return None;
        }
        let index = *self.frame_requests.get(&node.frame)?.index.get(&node.id)?;
        let boxed = answer.boxes.get(index)?.as_ref()?;
        let lift = self.transform(&node.frame)?;
        let all = boxed.all.map(|side| lift.of(side.into()));
        let lines = boxed.lines.iter().filter_map(|line| lift.shown_of(*line)).collect();
        Some(NodePosition { all, part: boxed.part.and_then(|part| lift.shown_of(part)), lines })
    }

    /// The element that holds a frame, and a point of the top viewport in the viewport of the document around the frame.
    /// `None` for the top frame.
    pub(in super::super) fn around(&self, frame: &FrameId, point: (f64, f64)) -> Option<(&Node, (f64, f64))> {
        let owner = self.owners.get(frame)?;
        Some((owner, self.transform(&owner.frame)?.inside(point)))
    }

    /// The visible part of a frame in the top viewport, nothing if it is not visible; `None` if the frame is not known.
    pub(super) fn frame(&self, frame: &FrameId) -> Option<Option<Rect>> {
        let lift = self.transform(frame)?;
        Some(if lift.is_top { Some(self.view.rect()) } else { lift.shown })
    }

    /// The visible parts of rectangles of a frame, in the top viewport; `None` if the frame is not known.
    pub(in super::super) fn parts(&self, frame: &FrameId, rects: &[Edges]) -> Option<Vec<Rect>> {
        let lift = self.transform(frame)?;
        Some(rects.iter().filter_map(|rect| lift.shown_of(*rect)).collect())
    }

    /// The visible part of each of some rectangles of a frame, in the top viewport; `None` where it is not visible, or the
    /// frame is not known.
    pub(in super::super) fn shown_parts(&self, frame: &FrameId, rects: &[Rect]) -> Vec<Option<Rect>> {
        let lift = self.transform(frame);
        let part = |rect: &Rect| lift.and_then(|lift| lift.shown_of(Edges(rect.x, rect.y, rect.width, rect.height)));
        rects.iter().map(part).collect()
    }

    fn transform(&self, frame: &FrameId) -> Option<FrameTransform> {
        if *frame == self.top {
            return Some(FrameTransform::TOP);
        }
        let owner = self.owners.get(frame)?;
        let outer = self.transform(&owner.frame)?;
        let (doc, around) = self.replies.get(&owner.frame)?;
        let index = self.frame_requests.get(&owner.frame)?.holes.iter().position(|id| *id == owner.id)?;
        let hole = around.holes.get(index)?.as_ref()?;
        (*doc == owner.doc).then(|| outer.into_hole(hole))
    }
}
