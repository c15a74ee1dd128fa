//! Scrolling: by the mouse wheel, or by script where the wheel does not reach.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::frame_geometry::FramePoints;
use super::super::input::{Sent, UNANSWERED, wheeled};
use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::actionability::Needs;
use super::input_probe::LOST_AFTER_FRAMES;
use super::{Act, Direction, Input, Locator, Performed};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

#[derive(Serialize)]
struct ScrollerArgs {
    id: Option<u32>,
    along: &'static str,
    pixels: Option<f64>,
    /// Whether an element without a scroll container gets the wheel itself.
    own: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Scroller {
    id: u32,
    pixels: f64,
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    none: bool,
    gone: bool,
}

/// The scrollable element and its document.
struct ScrollTarget {
    frame: FrameId,
    doc: Doc,
    scroller: Scroller,
}

/// The distance scrolled, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Moved {
    x: f64,
    y: f64,
    /// Whether the page handles the wheel by a script, so that other things may have moved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    handled_by_page: bool,
    /// The distance to turn the wheel by once more.
    #[serde(skip_serializing)]
    more: Option<f64>,
}

/// How often the wheel is turned for one action, where the page changes the distance.
const MOST_TURNS: u32 = 3;

impl Direction {
    fn along(self) -> &'static str {
        match self {
            Self::Up | Self::Down => "y",
            Self::Left | Self::Right => "x",
        }
    }

    fn sign(self) -> f64 {
        match self {
            Self::Up | Self::Left => -1.0,
            Self::Down | Self::Right => 1.0,
        }
    }
}

impl Tab {
    /// Scrolls an element into view.
    pub(super) fn scroll_into_view(
        &self,
        at: &Locator,
        force: bool,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let ready = self.ready(at, Needs::VIEW, force, deadline)?;
        Ok(Performed { rescued: ready.rescued, element: Some(ready.shown), ..Performed::default() })
    }

    /// Scrolls the page or a container.
    pub(super) fn scroll_by(
        &self,
        act: &Act,
        at: &Locator,
        direction: Direction,
        pixels: Option<f64>,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        if pixels.is_some_and(|pixels| !pixels.is_finite() || pixels < 0.0) {
            let problem = "pixels must be 0 or more; use direction to scroll the other way".to_owned();
            return Err(Error::BadRequest { problem });
        }
        let mut rescued = false;
        let (frame, node) = if at.reference.is_some() || at.selector.is_some() {
            let ready = self.ready(at, Needs::PRESENT, act.force, deadline)?;
            rescued = ready.rescued;
            (ready.node.frame.clone(), Some(ready.node))
        } else {
            let frame = at.frame_id.as_deref().map(FrameId::from);
            (frame.map_or_else(|| self.top(), Ok)?, None)
        };
        let along = direction.along();
        let Some(found) = self.scroller(frame, node, along, pixels, deadline)? else {
            return Ok(Performed { result: Some(json!(Moved::default())), rescued, ..Performed::default() });
        };
        let by = found.scroller.pixels * direction.sign();
        let input = if act.input == Some(Input::Synthetic) {
            let ask = json!({ "id": found.scroller.id, "along": along, "by": by });
            let goes = self.call_in::<bool>(&found.frame, &found.doc, "syntheticWheel", &ask, deadline)?;
            if !goes.result {
                let input = Some(Input::Synthetic);
                return Ok(Performed { result: Some(json!(Moved::default())), input, rescued, ..Performed::default() });
            }
            Some(Input::Synthetic)
        } else {
            None
        };
        let (mut turn, mut turns) = (by, 0);
        let moved = loop {
            turns += 1;
            let wheel = input.is_none() && self.wheel(&found, along, turn, deadline)?;
            let ask = json!({ "by": by, "wheel": wheel, "last": turns == MOST_TURNS });
            let moved = self.call_in::<Moved>(&found.frame, &found.doc, "scrolled", &ask, deadline)?;
            match moved.result.more {
                Some(more) => turn = more,
                None => break moved,
            }
        };
        Ok(Performed {
            result: Some(json!(moved.result)),
            input,
            rescued: rescued || moved.rescued,
            ..Performed::default()
        })
    }

    /// The scrollable element around an element, or around the frame it is in.
    fn scroller(
        &self,
        mut frame: FrameId,
        mut node: Option<Node>,
        along: &'static str,
        pixels: Option<f64>,
        deadline: Deadline<'_>,
    ) -> Result<Option<ScrollTarget>, Error> {
        let given = node.clone();
        let mut own = false;
        loop {
            let ask = ScrollerArgs { id: node.as_ref().map(|node| node.id), along, pixels, own };
            let (doc, scroller) = match &node {
                Some(node) => {
                    let reply = self.call_in::<Scroller>(&node.frame, &node.doc, "scroller", &ask, deadline)?;
                    (node.doc.clone(), reply.result)
                }
                None => {
                    let (doc, reply) = self.call::<Scroller>(&frame, "scroller", &ask, deadline)?;
                    (doc, reply.result)
                }
            };
            if scroller.gone {
                return Err(Error::DocumentGone { frame: frame.to_string() });
            }
            if !scroller.none {
                return Ok(Some(ScrollTarget { frame, doc, scroller }));
            }
            (frame, node) = match (self.holder(&frame, deadline)?, &given) {
                (Some(holder), _) => (holder.frame.clone(), Some(holder)),
                (None, Some(given)) if !own => {
                    own = true;
                    (given.frame.clone(), Some(given.clone()))
                }
                (None, _) => return Ok(None),
            };
        }
    }

    /// Turns the wheel over the scrollable element. Returns whether that was possible.
    fn wheel(&self, found: &ScrollTarget, along: &str, by: f64, deadline: Deadline<'_>) -> Result<bool, Error> {
        let scroller = &found.scroller;
        if scroller.points.is_empty() || by == 0.0 {
            return Ok(false);
        }
        let places = FramePoints { points: scroller.points.clone(), size: scroller.size, hit: true, presses: 0 };
        let Ok(at) = self.lift(&found.frame, places, deadline)? else { return Ok(false) };
        let delta = if along == "x" { (by, 0.0) } else { (0.0, by) };
        let held = self.mouse.lock().buttons;
        let turn = wheeled(at, delta, held);
        let sent = self.send_mouse(vec![turn], deadline.within(UNANSWERED))?;
        if matches!(sent, Sent::Unanswered | Sent::Busy) {
            // It may still arrive. The rest is scrolled by script.
            let node = Node { frame: found.frame.clone(), doc: found.doc.clone(), id: scroller.id };
            self.missed(&node, &[], LOST_AFTER_FRAMES, deadline)?;
            return Ok(true);
        }
        Ok(matches!(sent, Sent::Handled { .. }))
    }
}
