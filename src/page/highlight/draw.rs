//! Drawing boxes and labels into a captured picture.

use cdpilot_picture::{Canvas, Rect, TextSize, line_between, outline, write_on};

use super::element::Use;
use super::paging::Placed;
use cdpilot_picture::placing::centre;

/// Width of the lines of boxes.
const LINE: i64 = 2;
/// Height of the line of text above a picture.
const BANNER: u32 = 30;
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

/// Draws the boxes and labels of a page. All in pixels of the picture.
pub(super) fn draw_page(canvas: &mut Canvas, page: &[Placed], boxes: &[Rect], labels: &[(&str, Use)]) {
    let of = |placed: &Placed| boxes.get(placed.index).zip(labels.get(placed.index));
    for (rect, (_, kind)) in page.iter().filter_map(of) {
        // A light line outside and a dark one inside keep the box visible on any background.
        outline(canvas, rect, 2, 1, WHITE);
        outline(canvas, rect, 1, LINE, colours(*kind).0);
    }
    for placed in page {
        let Some((rect, (_, kind))) = of(placed) else { continue };
        lead(canvas, &placed.label, rect, colours(*kind).0);
    }
    for placed in page {
        let Some((_, (text, kind))) = of(placed) else { continue };
        write_on(canvas, &placed.label, text, TextSize::Small, colours(*kind));
    }
}

/// A thin line from a label that stands off to the nearest point of its box.
fn lead(canvas: &mut Canvas, label: &Rect, rect: &Rect, colour: [u8; 3]) {
    let touching = Rect { x: rect.x - 1.0, y: rect.y - 1.0, width: rect.width + 2.0, height: rect.height + 2.0 };
    if label.and(&touching).is_some() {
        return;
    }
    let nearest = |(x, y): (f64, f64), to: &Rect| (x.clamp(to.x, to.right()), y.clamp(to.y, to.bottom()));
    let end = nearest(centre(label), rect);
    line_between(canvas, nearest(end, label), end, colour);
}

/// Draws the box of an element that is to be confirmed.
pub(super) fn draw_confirmation(canvas: &mut Canvas, rect: &Rect) {
    outline(canvas, rect, CONFIRM_LINE + 1, 1, BLACK);
    outline(canvas, rect, CONFIRM_LINE, CONFIRM_LINE, YELLOW);
}

/// A picture with a line of text above it.
pub(super) fn with_banner(canvas: &Canvas, text: &str) -> Canvas {
    let mut whole = Canvas::white(canvas.width, canvas.height + BANNER);
    whole.paste(canvas, 0, i64::from(BANNER));
    let banner = Rect::new(0.0, 0.0, f64::from(canvas.width), f64::from(BANNER));
    write_on(&mut whole, &banner, text, TextSize::Large, (YELLOW, BLACK));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

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
