//! Converts a point of a frame to the point of the top viewport that shows it.
//!
//! Each enclosing document is asked in its own world: it knows the box of the frame element, transforms and zoom
//! included, scrolls it into view, and runs the hit test there.

use serde::{Deserialize, Serialize};

use super::act::Point;
use super::world::Node;
use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor;
use crate::sync::Deadline;

/// Why events at a point do not reach a frame.
#[derive(Debug, Clone)]
pub(super) struct Obstruction {
    /// The reason, as part of a sentence.
    pub(super) reason: String,
    /// The element that covers the frame.
    pub(super) covered_by: Option<String>,
}

/// Points of a frame's viewport, and the size of that viewport, in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FramePoints {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) size: (f64, f64),
    /// Whether the point must receive events; otherwise it need only be in view.
    pub(super) hit: bool,
    /// The number of presses that enclosing documents block if they receive them.
    pub(super) presses: u8,
}

#[derive(Serialize)]
struct LiftArgs {
    id: u32,
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    hit: bool,
    presses: u8,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct LiftReply {
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    gone: bool,
    not: Option<String>,
    covered: Option<String>,
}

impl Tab {
    /// The first of some points of a frame's viewport that receives events through all enclosing frames, in CSS pixels
    /// of the top viewport. Scrolls the enclosing documents so that it is in view.
    pub(super) fn lift(
        &self,
        frame: &FrameId,
        mut places: FramePoints,
        deadline: Deadline<'_>,
    ) -> Result<Result<Point, Obstruction>, Error> {
        let obstruction = |reason: &str| Obstruction { reason: reason.to_owned(), covered_by: None };
        let mut frame = frame.clone();
        while let Some(owner) = self.holder(&frame, deadline)? {
            let FramePoints { points, size, hit, presses } = places;
            let ask = LiftArgs { id: owner.id, points, size, hit, presses };
            let answer: LiftReply = self.call_in(&owner.frame, &owner.doc, "through", &ask, deadline)?.result;
            if answer.gone {
                return Ok(Err(obstruction("its frame was removed")));
            }
            if let Some(reason) = answer.not {
                return Ok(Err(Obstruction { reason, covered_by: answer.covered }));
            }
            places = FramePoints { points: answer.points, size: answer.size, hit, presses };
            frame = owner.frame;
        }
        let first = places.points.first().map(|(x, y)| Point { x: *x, y: *y });
        Ok(first.ok_or_else(|| obstruction("it is outside the viewport and cannot be scrolled into view")))
    }

    /// The element that holds a frame. The known document around it may be outdated: a call into it finds out.
    pub(super) fn holder(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<Option<Node>, Error> {
        let owner = self.owner(frame, deadline);
        let Err(Error::DocumentGone { .. } | Error::Supervisor(supervisor::Error::FrameDetached { .. })) = owner else {
            return owner;
        };
        let now = self.supervisor.view();
        if let Some(parent) = now.frame(frame.as_str()).and_then(|frame| frame.parent_frame_id.as_ref()) {
            self.call::<(f64, f64)>(parent, "viewport", &(), deadline)?;
        }
        self.owner(frame, deadline)
    }
}
