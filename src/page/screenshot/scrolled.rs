//! Capturing areas beyond the viewport, tile by tile.
//!
//! Chromium 156 can lay the page out in another size for this (`captureBeyondViewport`), at 1x1 pixels for a moment: pages
//! rebuild, and lose what was typed. Here the page is scrolled instead, and back; scripts of it do not receive the scroll
//! events. What keeps its place in the viewport is shown once.

use serde::Deserialize;
use serde_json::json;

use super::super::world::Node;
use super::super::{Error, Tab};
use super::boxes::{BoxOptions, View};
use super::highlight::UNTIL_SEEN;
use super::take::{Frame, on_pixels};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;
use cdpilot_picture::{Canvas, PictureType, QUALITY, Rect, encode};
use std::time::{Duration, Instant};

/// How long to wait for images that load when they are scrolled to, for all of them.
const IMAGES: Duration = Duration::from_secs(3);
/// Time for scrolling back after an error.
const RESTORE: Duration = Duration::from_secs(2);

/// The answer of the in-page call `captureAt`.
#[derive(Deserialize)]
struct TileView {
    view: View,
    /// The width and height of what is shown, without scroll bars.
    room: (f64, f64),
    /// How many images in view are still loading.
    missing: u32,
}

/// An area that scrolls by itself: the answer of the in-page call `innerScroller`. The name is untrusted.
#[derive(Deserialize)]
pub(super) struct InnerScroller {
    name: String,
    height: f64,
    all: f64,
}

impl InnerScroller {
    pub(super) fn note(&self) -> String {
        format!(
            "{} scrolls by itself: the screenshot shows {:.0} of its {:.0} CSS pixels; scroll it, or capture elements in it",
            self.name, self.height, self.all
        )
    }
}

/// A picture of an area, and what to say about it.
pub(super) struct Scrolled {
    pub(super) png: Vec<u8>,
    pub(super) rescued: bool,
    pub(super) notes: Vec<String>,
}

impl Tab {
    /// Captures an area of the document, in tiles of the size of the viewport.
    pub(super) fn grab_scrolled(&self, frame: &Frame, deadline: Deadline<'_>) -> Result<Scrolled, Error> {
        let top = self.top()?;
        if frame.view.hidden {
            self.emulate_focus();
            self.keep_drawing();
        }
        let area = frame.area.moved(frame.view.x, frame.view.y);
        let others = self.other_frames(deadline)?;
        self.call::<()>(&top, "captureBegins", &(), deadline)?;
        let outcome = self.grab_tiles(&top, &area, frame.view.ratio, &others, deadline);
        if let Err(error) = self.call::<()>(&top, "captureEnds", &(), deadline.renewed(RESTORE)) {
            tracing::debug!(target: "cdpilot::page", %error, "cannot scroll back");
        }
        outcome
    }

    fn grab_tiles(
        &self,
        top: &FrameId,
        area: &Rect,
        ratio: f64,
        others: &[(FrameId, Rect)],
        deadline: Deadline<'_>,
    ) -> Result<Scrolled, Error> {
        let mut canvas: Option<Canvas> = None;
        let mut done = Scrolled { png: Vec::new(), rescued: false, notes: Vec::new() };
        let (mut images, mut missing, mut gaps) = (IMAGES, 0, false);
        let mut y = area.y;
        while y < area.bottom() - 0.5 {
            let (mut x, mut row_end) = (area.x, None::<f64>);
            while x < area.right() - 0.5 {
                let ms = u64::try_from(images.as_millis()).unwrap_or(0);
                let began = Instant::now();
                let args = json!({ "x": x.floor(), "y": y.floor(), "end": area.bottom(), "ms": ms });
                let Some(at) = self.call::<Option<TileView>>(top, "captureAt", &args, deadline)?.1.result else {
                    return Err(Error::DocumentGone { frame: top.to_string() });
                };
                if at.missing > 0 {
                    images = images.saturating_sub(began.elapsed());
                    missing = missing.max(at.missing);
                }
                let shown = Rect { x: at.view.x, y: at.view.y, width: at.room.0, height: at.room.1 };
                let rest = Rect { x, y, width: area.right() - x, height: area.bottom() - y };
                let Some(part) = rest.and(&shown) else {
                    gaps = true;
                    break;
                };
                // Frames of other processes draw on their own, once they are in view.
                for (frame, _) in others.iter().filter(|(_, place)| place.and(&shown).is_some()) {
                    let _ = self.call::<()>(frame, "drawn", &UNTIL_SEEN, deadline);
                }
                let clip = on_pixels(&part.moved(-at.view.x, -at.view.y), &at.view);
                let tile = Frame { area: clip, view: at.view, clipped: true, beyond: false };
                let (png, rescued) = self.grab(&tile, deadline)?;
                done.rescued |= rescued;
                let place = clip.moved(at.view.x, at.view.y);
                if canvas.is_none() && place.holds(area) {
                    done.png = png;
                } else {
                    let canvas = canvas.get_or_insert_with(|| blank(area, ratio));
                    canvas.paste(
                        &Canvas::decode(&png)?,
                        pixels((place.x - area.x) * ratio),
                        pixels((place.y - area.y) * ratio),
                    );
                }
                x = part.right();
                row_end = Some(row_end.map_or(part.bottom(), |end| end.min(part.bottom())));
            }
            match row_end {
                Some(end) if end > y => y = end,
                _ => break,
            }
        }
        if let Some(canvas) = canvas {
            done.png = encode(&canvas, PictureType::Png, QUALITY)?.bytes;
        }
        if done.png.is_empty() {
            return Err(Error::not_actionable("the page", "it does not scroll to what is to be captured"));
        }
        if gaps || y < area.bottom() - 0.5 {
            done.notes.push("parts are blank: the page does not scroll to them".to_owned());
        }
        if missing > 0 {
            done.notes.push(format!("{missing} image(s) in it had not loaded yet"));
        }
        Ok(done)
    }

    /// The outermost frames of other processes, and where they are in the document.
    fn other_frames(&self, deadline: Deadline<'_>) -> Result<Vec<(FrameId, Rect)>, Error> {
        let frames = self.outer_frames();
        if frames.is_empty() {
            return Ok(Vec::new());
        }
        let owners: Vec<(FrameId, Node)> =
            frames.into_iter().filter_map(|frame| Some((frame.clone(), self.owner(&frame, deadline).ok()??))).collect();
        let nodes: Vec<Node> = owners.iter().map(|(_, owner)| owner.clone()).collect();
        let (view, positions) = self.places(&nodes, BoxOptions { whole: true, uncovered: false }, deadline)?;
        let placed = |((frame, _), position): ((FrameId, Node), Option<super::NodePosition>)| {
            Some((frame, position?.part?.moved(view.x, view.y)))
        };
        Ok(owners.into_iter().zip(positions).filter_map(placed).collect())
    }

    /// The outermost frames of other processes.
    fn outer_frames(&self) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let is_other = |id: &FrameId| {
            now.frame(id.as_str())
                .is_some_and(|frame| frame.parent_frame_id.is_some() && frame.session_frame.as_ref() == Some(id))
        };
        let is_outer = |id: &FrameId| {
            let mut around = now.frame(id.as_str()).and_then(|frame| frame.parent_frame_id.clone());
            while let Some(parent) = around {
                if is_other(&parent) {
                    return false;
                }
                around = now.frame(parent.as_str()).and_then(|frame| frame.parent_frame_id.clone());
            }
            true
        };
        let frames = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone());
        frames.filter(|id| is_other(id) && is_outer(id)).collect()
    }
}

fn blank(area: &Rect, ratio: f64) -> Canvas {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sides have limits")]
    let side = |length: f64| (length * ratio).round().max(1.0) as u32;
    Canvas::white(side(area.width), side(area.height))
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
pub(super) fn pixels(length: f64) -> i64 {
    length.round() as i64
}
