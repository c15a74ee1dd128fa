//! Drawing frames and lines of text.

use std::convert::Infallible;

use embedded_graphics::Drawable as _;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoTextStyle, ascii};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor as _};
use embedded_graphics::text::{Baseline, Text};

use crate::{Canvas, Rect};

/// The size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSize {
    /// 7x13 pixels a character: for labels, of which many are in a picture.
    Small,
    /// 9x15 pixels a character: for a line above a picture.
    Large,
}

impl TextSize {
    /// Width and height of a character.
    fn character(self) -> (f64, i32) {
        match self {
            Self::Small => (7.0, 13),
            Self::Large => (9.0, 15),
        }
    }

    /// Space at both sides of a text.
    fn padding(self) -> f64 {
        match self {
            Self::Small => 4.0,
            Self::Large => 5.0,
        }
    }
}

/// The width of a text with `characters` characters and the space beside it, in pixels.
#[must_use]
pub fn text_width(characters: u32, size: TextSize) -> f64 {
    f64::from(characters) * size.character().0 + 2.0 * size.padding()
}

/// A line between two points, one pixel wide.
#[expect(clippy::cast_precision_loss, reason = "pixels of a picture")]
pub fn line_between(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), colour: [u8; 3]) {
    let (across, down) = (to.0 - from.0, to.1 - from.1);
    let steps = pixel(across.abs().max(down.abs())).max(1);
    for step in 0..=steps {
        let part = step as f64 / steps as f64;
        canvas.fill(pixel(from.0 + across * part), pixel(from.1 + down * part), 1, 1, colour);
    }
}

/// A frame around a rectangle, beginning `out` pixels outside, `line` pixels wide.
pub fn outline(canvas: &mut Canvas, rect: &Rect, out: i64, line: i64, colour: [u8; 3]) {
    let (left, top) = (pixel(rect.x) - out, pixel(rect.y) - out);
    let (right, bottom) = (pixel(rect.right()) + out, pixel(rect.bottom()) + out);
    let (width, height) = (right - left, bottom - top);
    canvas.fill(left, top, width, line, colour);
    canvas.fill(left, bottom - line, width, line, colour);
    canvas.fill(left, top, line, height, colour);
    canvas.fill(right - line, top, line, height, colour);
}

/// Writes a line of ASCII text on a rectangle of the colour `back`.
pub fn write_on(canvas: &mut Canvas, place: &Rect, text: &str, size: TextSize, (back, ink): ([u8; 3], [u8; 3])) {
    let (left, top) = (pixel(place.x), pixel(place.y));
    canvas.fill(left, top, pixel(place.width), pixel(place.height), back);
    let [red, green, blue] = ink;
    let font = match size {
        TextSize::Small => &ascii::FONT_7X13_BOLD,
        TextSize::Large => &ascii::FONT_9X15_BOLD,
    };
    let style = MonoTextStyle::new(font, Rgb888::new(red, green, blue));
    let small = |at: i64| i32::try_from(at).unwrap_or(i32::MAX);
    let down = (small(pixel(place.height)) - size.character().1) / 2;
    let at = Point::new(small(left + pixel(size.padding())), small(top) + down);
    // Its characters are drawn within the picture only, which cannot fail.
    let _ = Text::with_baseline(text, at, style, Baseline::Top).draw(&mut Pixels(canvas));
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
fn pixel(at: f64) -> i64 {
    at.round() as i64
}

/// A picture as what the font is drawn on.
struct Pixels<'a>(&'a mut Canvas);

impl OriginDimensions for Pixels<'_> {
    fn size(&self) -> Size {
        Size::new(self.0.width, self.0.height)
    }
}

impl DrawTarget for Pixels<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in pixels {
            self.0.fill(x.into(), y.into(), 1, 1, [colour.r(), colour.g(), colour.b()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every id is six characters: each has a look of its own, inside its label.
    #[test]
    fn characters_of_labels_differ() {
        for size in [TextSize::Small, TextSize::Large] {
            let mut seen = std::collections::BTreeMap::new();
            for letter in ('a'..='z').chain('0'..='9') {
                let mut canvas = Canvas::white(30, 30);
                let place = Rect { x: 2.0, y: 2.0, width: text_width(1, size), height: 18.0 };
                write_on(&mut canvas, &place, &letter.to_string(), size, ([200; 3], [0; 3]));
                let dark = canvas.pixels.chunks(3).filter(|pixel| *pixel == [0, 0, 0]).count();
                assert!(dark > 8, "{letter}");
                assert_eq!(seen.insert(canvas.pixels, letter), None, "{letter}");
            }
        }
    }
}
