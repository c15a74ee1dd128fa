//! Frames of other processes that are blank in a full-page screenshot.

use super::super::world::Node;
use super::super::{Error, Tab};
use super::boxes::{BoxOptions, View};
use super::highlight::UNTIL_SEEN;
use super::take::{Frame, Shot, on_pixels};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;
use cdpilot_picture::Rect;
use cdpilot_picture::{Canvas, PictureType, QUALITY, encode};

/// Maximum number of tiles for frames out of view.
const MOST_TILES: usize = 48;

impl Tab {
    /// Adds frames of other processes that are out of view: Chromium only draws them in view. They are scrolled to,
    /// captured in tiles, and pasted into the screenshot.
    pub(super) fn add_frames(&self, shot: &mut Shot, view: &View, deadline: Deadline<'_>) -> Result<(), Error> {
        let frames = self.outer_frames();
        if frames.is_empty() {
            return Ok(());
        }
        let owners: Vec<(FrameId, Node)> =
            frames.into_iter().filter_map(|frame| Some((frame.clone(), self.owner(&frame, deadline).ok()??))).collect();
        let nodes: Vec<Node> = owners.iter().map(|(_, owner)| owner.clone()).collect();
        let (_, positions) = self.places(&nodes, BoxOptions { whole: true, uncovered: false }, deadline)?;
        let shown = Rect { width: view.width - view.bars, ..view.rect() };
        let mut tiles: Vec<(FrameId, Rect)> = Vec::new();
        for ((frame, _), position) in owners.into_iter().zip(positions) {
            let part = position.and_then(|position| position.part?.and(&shot.area));
            let Some(part) = part.filter(|part| !shown.holds(part)) else { continue };
            tiles.extend(tiled(&part, &shown).into_iter().map(|tile| (frame.clone(), tile.moved(view.x, view.y))));
        }
        if tiles.is_empty() {
            return Ok(());
        }
        if tiles.len() > MOST_TILES {
            shot.notes.push("some frames of other sites are blank: too many are out of view; capture them one by one (ref of the iframe)".to_owned());
            tiles.truncate(MOST_TILES);
        }
        let mut canvas = Canvas::decode(&shot.png)?;
        let outcome = tiles.iter().try_for_each(|(frame, tile)| -> Result<(), Error> {
            let (piece, at) = self.tile(frame, tile, deadline)?;
            let scale = f64::from(canvas.width) / shot.area.width;
            let from = |at: f64, origin: f64, scroll: f64| whole((at - origin - scroll) * scale);
            canvas.paste(&piece, from(at.x, shot.area.x, view.x), from(at.y, shot.area.y, view.y));
            Ok(())
        });
        self.scroll_to(view.x, view.y, deadline)?;
        outcome?;
        shot.png = encode(&canvas, PictureType::Png, QUALITY)?.bytes;
        Ok(())
    }

    /// Scrolls to a part of the document, in its CSS pixels, and captures it. Returns the visible part and its
    /// position.
    fn tile(&self, frame: &FrameId, tile: &Rect, deadline: Deadline<'_>) -> Result<(Canvas, Rect), Error> {
        let top = self.top()?;
        let view = self.view(deadline)?;
        let centred = |from: f64, length: f64, room: f64| (from - (room - length) / 2.0).max(0.0).floor();
        let (x, y) = (centred(tile.x, tile.width, view.width), centred(tile.y, tile.height, view.height));
        self.scroll_to(x, y, deadline)?;
        for (frame, frames) in [(&top, 2), (frame, UNTIL_SEEN)] {
            let _ = self.call::<()>(frame, "drawn", &frames, deadline);
        }
        let view = self.view(deadline)?;
        let shown = Rect { width: view.width - view.bars, ..view.rect() };
        let area = tile.moved(-view.x, -view.y).and(&shown).unwrap_or_default();
        let area = on_pixels(&area, &view);
        let (png, _) = self.grab(&Frame { area, view, clipped: true, beyond: false }, deadline)?;
        Ok((Canvas::decode(&png)?, area.moved(view.x, view.y)))
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
        let ids = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone());
        ids.filter(|id| is_other(id) && is_outer(id)).collect()
    }
}

/// Splits a rectangle into parts that fit into a viewport.
fn tiled(rect: &Rect, shown: &Rect) -> Vec<Rect> {
    let cuts = |from: f64, length: f64, step: f64| {
        let mut cuts = Vec::new();
        let mut at = 0.0;
        while at < length && cuts.len() < MOST_TILES {
            cuts.push((from + at, step.min(length - at)));
            at += step;
        }
        cuts
    };
    let rows = cuts(rect.y, rect.height, shown.height.max(1.0));
    let columns = cuts(rect.x, rect.width, shown.width.max(1.0));
    let row = |(y, height): (f64, f64)| columns.iter().map(move |(x, width)| Rect { x: *x, y, width: *width, height });
    rows.into_iter().flat_map(row).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
pub(super) fn whole(pixels: f64) -> i64 {
    pixels.round() as i64
}
