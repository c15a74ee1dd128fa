//! Drawing boxes and labels into a captured picture.

use std::convert::Infallible;

use embedded_graphics::Drawable as _;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoTextStyle, ascii};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor as _};
use embedded_graphics::text::{Baseline, Text};

use super::super::screenshot::{Canvas, Rect};
use super::element::Use;
use super::paging::{LABEL_HEIGHT, Placed};

/// Width of a character of a label.
const CHARACTER: f64 = 9.0;
/// Height of a character.
const CHARACTER_HEIGHT: i32 = 15;
/// Space at both sides of the text of a label.
const PADDING: f64 = 5.0;
/// Width of the lines of boxes.
const LINE: i64 = 2;
/// Width of the line around a confirmation.
const CONFIRM_LINE: i64 = 4;
const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];
/// The colour of confirmations.
const YELLOW: [u8; 3] = [0xff, 0xd4, 0x00];

/// The colour of a kind of element, and the colour of text on it (contrast 4.5 or more).
fn colours(kind: Use) -> ([u8; 3], [u8; 3]) {
    match kind {
        Use::Clickable => ([0x00, 0x5a, 0xe0], WHITE),
        Use::Inputable => ([0xff, 0x99, 0x00], BLACK),
        Use::Selectable => ([0xff, 0x6b, 0x6b], BLACK),
        Use::Scrollable => ([0x00, 0xcc, 0x66], BLACK),
        Use::Hoverable => ([0x7a, 0x3f, 0xf2], WHITE),
    }
}

/// The width of a label with `characters` characters, in pixels.
pub(super) fn label_width(characters: u32) -> f64 {
    f64::from(characters) * CHARACTER + 2.0 * PADDING
}

/// Draws the boxes and labels of a page. All in pixels of the picture.
pub(super) fn draw_page(canvas: &mut Canvas, page: &[Placed], boxes: &[Rect], labels: &[(&str, Use)]) {
    let of = |placed: &Placed| boxes.get(placed.index).zip(labels.get(placed.index));
    for (rect, (_, kind)) in page.iter().filter_map(of) {
        // A light line outside and a dark one inside keep the box visible on any background.
        outline(canvas, rect, 2, 1, WHITE);
        outline(canvas, rect, 1, LINE, colours(*kind).0);
    }
    for placed in page {
        let Some((_, (text, kind))) = of(placed) else { continue };
        let (back, ink) = colours(*kind);
        write_on(canvas, &placed.label, text, back, ink);
    }
}

/// Draws the box of an element that is to be confirmed.
pub(super) fn draw_confirmation(canvas: &mut Canvas, rect: &Rect) {
    outline(canvas, rect, CONFIRM_LINE + 1, 1, BLACK);
    outline(canvas, rect, CONFIRM_LINE, CONFIRM_LINE, YELLOW);
}

/// A picture with a line of text above it.
pub(super) fn with_banner(canvas: &Canvas, text: &str) -> Canvas {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a constant")]
    let high = LABEL_HEIGHT as u32 + 4;
    let mut whole = Canvas::white(canvas.width, canvas.height + high);
    whole.paste(canvas, 0, i64::from(high));
    let banner = Rect { x: 0.0, y: 0.0, width: f64::from(canvas.width), height: f64::from(high) };
    write_on(&mut whole, &banner, text, YELLOW, BLACK);
    whole
}

/// A frame around a rectangle, beginning `out` pixels outside, `line` pixels wide.
fn outline(canvas: &mut Canvas, rect: &Rect, out: i64, line: i64, colour: [u8; 3]) {
    let (left, top) = (pixel(rect.x) - out, pixel(rect.y) - out);
    let (right, bottom) = (pixel(rect.right()) + out, pixel(rect.bottom()) + out);
    let (width, height) = (right - left, bottom - top);
    canvas.fill(left, top, width, line, colour);
    canvas.fill(left, bottom - line, width, line, colour);
    canvas.fill(left, top, line, height, colour);
    canvas.fill(right - line, top, line, height, colour);
}

fn write_on(canvas: &mut Canvas, place: &Rect, text: &str, back: [u8; 3], ink: [u8; 3]) {
    let (left, top) = (pixel(place.x), pixel(place.y));
    canvas.fill(left, top, pixel(place.width), pixel(place.height), back);
    let [red, green, blue] = ink;
    let style = MonoTextStyle::new(&ascii::FONT_9X15_BOLD, Rgb888::new(red, green, blue));
    let small = |at: i64| i32::try_from(at).unwrap_or(i32::MAX);
    let down = (small(pixel(place.height)) - CHARACTER_HEIGHT) / 2;
    let at = Point::new(small(left + pixel(PADDING)), small(top) + down);
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
        let mut seen = std::collections::BTreeMap::new();
        for letter in ('a'..='z').chain('0'..='9') {
            let mut canvas = Canvas::white(30, 30);
            let place = Rect { x: 2.0, y: 2.0, width: 19.0, height: 26.0 };
            write_on(&mut canvas, &place, &letter.to_string(), [200; 3], BLACK);
            let dark = canvas.pixels.chunks(3).filter(|pixel| *pixel == [0, 0, 0]).count();
            assert!(dark > 8, "{letter}");
            assert_eq!(seen.insert(canvas.pixels, letter), None, "{letter}");
        }
    }

    #[test]
    fn text_has_enough_contrast() {
        let light = |[red, green, blue]: [u8; 3]| {
            let linear = |level: u8| {
                let level = f64::from(level) / 255.0;
                if level <= 0.040_45 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        for kind in [Use::Clickable, Use::Inputable, Use::Selectable, Use::Scrollable, Use::Hoverable] {
            let (back, ink) = colours(kind);
            let (a, b) = (light(back).max(light(ink)), light(back).min(light(ink)));
            assert!((a + 0.05) / (b + 0.05) >= 4.5, "{kind:?}");
        }
    }
}
