//! From a point of a frame to the point of the top viewport that shows it.
//!
//! Each document around is asked in its own world: it knows where the element that holds the frame is drawn,
//! transforms and zoom included, scrolls it into view, and tests what is hit there.

use serde::{Deserialize, Serialize};

use super::act::Point;
use super::world::Node;
use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor;
use crate::sync::Deadline;

/// Why events at a point do not get into a frame.
#[derive(Debug, Clone)]
pub(super) struct Barred {
    /// In words.
    pub(super) reason: String,
    /// What lies over it.
    pub(super) covered_by: Option<String>,
}

/// Points of a frame's viewport, and its size, CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) size: (f64, f64),
    /// Whether events have to get there; else being in view is enough.
    pub(super) hit: bool,
    /// So many presses are kept from the documents around, should they go there.
    pub(super) presses: u8,
}

#[derive(Serialize)]
struct Ask {
    id: u32,
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    hit: bool,
    presses: u8,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Answer {
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    gone: bool,
    not: Option<String>,
    covered: Option<String>,
}

impl Tab {
    /// The first of some points of a frame's viewport that gets events through all frames around it, in
    /// the top viewport, CSS pixels. The documents around are scrolled so that it is in view.
    pub(super) fn lift(
        &self,
        frame: &FrameId,
        mut places: Places,
        deadline: Deadline,
    ) -> Result<Result<Point, Barred>, Error> {
        let barred = |reason: &str| Barred { reason: reason.to_owned(), covered_by: None };
        let mut frame = frame.clone();
        while let Some(owner) = self.holder(&frame, deadline)? {
            let Places { points, size, hit, presses } = places;
            let ask = Ask { id: owner.id, points, size, hit, presses };
            let answer: Answer = self.call_in(&owner.frame, &owner.doc, "through", &ask, deadline)?.result;
            if answer.gone {
                return Ok(Err(barred("its frame is gone")));
            }
            if let Some(reason) = answer.not {
                return Ok(Err(Barred { reason, covered_by: answer.covered }));
            }
            places = Places { points: answer.points, size: answer.size, hit, presses };
            frame = owner.frame;
        }
        let first = places.points.first().map(|(x, y)| Point { x: *x, y: *y });
        Ok(first.ok_or_else(|| barred("it is outside of the viewport and cannot be scrolled into it")))
    }

    /// The element that holds a frame. What was known of the document around it may be out of date: a call
    /// into it finds out.
    pub(super) fn holder(&self, frame: &FrameId, deadline: Deadline) -> Result<Option<Node>, Error> {
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
