//! Areas that Chromium does not capture at once: they are captured in tiles and joined.

use super::super::Error;
use cdpilot_picture::Rect;
use cdpilot_picture::{Canvas, PictureType, QUALITY, encode};

/// A longer side is captured in tiles, in device pixels. Graphics processors draw at most 16,384; what is beyond is
/// missing or repeated.
const AT_ONCE: f64 = 16_000.0;
/// The same for the number of pixels, because of the size of a message.
const PIXELS_AT_ONCE: f64 = 32.0 * 1000.0 * 1000.0;
/// Maximum side of a tile, in device pixels.
const TILE: f64 = 8_000.0;
/// Tiles start at multiples of this, in CSS pixels: whole device pixels at all common ratios.
const GRID: f64 = 100.0;

/// The tiles of an area, in CSS pixels, row by row; one tile if it can be captured at once.
pub(super) fn of(area: &Rect, ratio: f64) -> Vec<Rect> {
    let (width, height) = (area.width * ratio, area.height * ratio);
    if width.max(height) <= AT_ONCE && width * height <= PIXELS_AT_ONCE {
        return vec![*area];
    }
    let step = |most: f64| ((most / ratio / GRID).floor() * GRID).max(GRID);
    let across = step(TILE);
    let down = step(TILE.min(PIXELS_AT_ONCE / width.min(TILE)));
    let mut tiles = Vec::new();
    for (y, height) in cuts(area.height, down) {
        for (x, width) in cuts(area.width, across) {
            tiles.push(Rect { x: area.x + x, y: area.y + y, width, height });
        }
    }
    tiles
}

fn cuts(length: f64, step: f64) -> Vec<(f64, f64)> {
    let mut cuts = Vec::new();
    let mut at = 0.0;
    while at < length {
        cuts.push((at, step.min(length - at)));
        at += step;
    }
    cuts
}

/// Tiles being joined.
pub(super) struct Assembly {
    canvas: Canvas,
    area: Rect,
    ratio: f64,
}

impl Assembly {
    pub(super) fn new(area: &Rect, ratio: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sides have limits")]
        let side = |length: f64| (length * ratio).round().max(1.0) as u32;
        Self { canvas: Canvas::white(side(area.width), side(area.height)), area: *area, ratio }
    }

    /// Adds a captured tile.
    pub(super) fn add(&mut self, png: &[u8], tile: &Rect) -> Result<(), Error> {
        #[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
        let pixel = |at: f64| (at * self.ratio).round() as i64;
        let (left, top) = (pixel(tile.x - self.area.x), pixel(tile.y - self.area.y));
        self.canvas.paste(&Canvas::decode(png)?, left, top);
        Ok(())
    }

    pub(super) fn png(&self) -> Result<Vec<u8>, Error> {
        Ok(encode(&self.canvas, PictureType::Png, QUALITY)?.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(width: f64, height: f64) -> Rect {
        Rect { x: -3.0, y: -40.0, width, height }
    }

    #[test]
    fn tiles_cover_an_area_once_and_none_is_larger_than_what_is_drawn_at_once() {
        assert_eq!(of(&area(1280.0, 16_000.0), 1.0), [area(1280.0, 16_000.0)]);
        for (width, height, ratio) in [
            (1280.0, 30_000.0, 1.0),
            (390.0, 9_999.0, 3.0),
            (20_000.0, 3_000.0, 1.0),
            (4_000.0, 15_000.0, 1.0),
            (1280.0, 13_345.5, 1.25),
        ] {
            let all = area(width, height);
            let tiles = of(&all, ratio);
            assert!(tiles.len() > 1, "{width}x{height}");
            let covered: f64 = tiles.iter().map(|tile| tile.width * tile.height).sum();
            assert!((covered - width * height).abs() < 1.0, "{width}x{height}: {covered}");
            for tile in &tiles {
                let (x, y) = ((tile.x - all.x) * ratio, (tile.y - all.y) * ratio);
                assert!(all.holds(tile) && tile.width.max(tile.height) * ratio <= TILE, "{tile:?}");
                assert!((x - x.round()).abs() < 1e-6 && (y - y.round()).abs() < 1e-6, "{tile:?}");
                assert!(tile.width * tile.height * ratio * ratio <= PIXELS_AT_ONCE + 1.0, "{tile:?}");
            }
        }
    }
}
