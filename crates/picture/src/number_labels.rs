//! Labels with numbers: a box around an element, and its number on a tag beside it.

use crate::{Canvas, Rect, digits};

/// An element with a number.
#[derive(Debug, Clone)]
pub struct NumberLabel {
    /// The number on the label.
    pub number: u32,
    /// Its visible part, in the unit and with the origin of the area.
    pub part: Rect,
    /// The visible parts of its lines, when it has several.
    pub lines: Vec<Rect>,
}

/// Tag colours for white text (contrast 4.5 and more), for light pages.
const DARK: [[u8; 3]; 7] = [
    [0x0b, 0x57, 0xd0],
    [0xb3, 0x26, 0x1e],
    [0x0b, 0x6e, 0x3b],
    [0x6b, 0x2f, 0xb3],
    [0x9a, 0x4b, 0x00],
    [0x00, 0x67, 0x7a],
    [0xa8, 0x12, 0x7a],
];
/// Tag colours for black text, for dark pages.
const LIGHT: [[u8; 3]; 7] = [
    [0x8a, 0xb4, 0xf8],
    [0xf2, 0x8b, 0x82],
    [0x81, 0xc9, 0x95],
    [0xd7, 0xae, 0xfb],
    [0xfc, 0xc9, 0x34],
    [0x78, 0xd9, 0xec],
    [0xff, 0x9b, 0xd5],
];
const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [0; 3];
/// A background darker than this grey level is dark.
const DARK_BELOW: u32 = 110;
/// Padding around the digits of a tag, in columns and rows.
const PAD: (i64, i64) = (3, 2);
/// Line width of boxes.
const LINE: i64 = 2;
/// Maximum distance of a tag from its box, in tag heights.
const FAR: i64 = 5;

/// A rectangle in whole pixels: left, top, right, bottom; the last two are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pixels(i64, i64, i64, i64);

impl Pixels {
    fn shared(&self, other: &Self) -> i64 {
        let width = self.2.min(other.2) - self.0.max(other.0);
        let height = self.3.min(other.3) - self.1.max(other.1);
        if width > 0 && height > 0 { width * height } else { 0 }
    }

    fn holds(&self, other: &Self) -> bool {
        self.0 <= other.0 && self.1 <= other.1 && self.2 >= other.2 && self.3 >= other.3
    }

    /// Moved inside an image.
    fn within(self, width: i64, height: i64) -> Self {
        let (x, y) = ((width - self.2).min(0), (height - self.3).min(0));
        let (x, y) = (x.max(-self.0), y.max(-self.1));
        Self(self.0 + x, self.1 + y, self.2 + x, self.3 + y)
    }
}

/// A label with its position.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// The index of its element in the list of labels.
    pub mark: usize,
    tag: Pixels,
    around: Pixels,
    /// Whether it is apart from its box.
    away: bool,
}

/// A rectangle of the page in pixels of the screenshot.
#[must_use]
pub fn in_picture(part: &Rect, area: &Rect, width: u32, height: u32) -> Rect {
    let (sx, sy) = (f64::from(width) / area.width, f64::from(height) / area.height);
    let hundredth = |pixels: f64| (pixels * 100.0).round() / 100.0;
    Rect {
        x: hundredth((part.x - area.x) * sx),
        y: hundredth((part.y - area.y) * sy),
        width: hundredth(part.width * sx),
        height: hundredth(part.height * sy),
    }
}

/// Digits are doubled where a CSS pixel is about two pixels of the image.
fn zoom(area: &Rect, width: u32) -> i64 {
    let scale = f64::from(width) / area.width;
    if scale >= 2.75 {
        3
    } else if scale >= 1.6 {
        2
    } else {
        1
    }
}

fn whole(rect: &Rect) -> Pixels {
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
    let pixel = |at: f64| at.round() as i64;
    Pixels(pixel(rect.x), pixel(rect.y), pixel(rect.right()), pixel(rect.bottom()))
}

/// Positions of the labels: beside their boxes, covering as little of other boxes as possible, never another label. A
/// label without such a position near its box is left out.
#[must_use]
pub fn place_numbers(marks: &[&NumberLabel], area: &Rect, width: u32, height: u32) -> Vec<Placed> {
    let zoom = zoom(area, width);
    let (right, bottom) = (i64::from(width), i64::from(height));
    // The label of a wrapped link is at its first line.
    let first = |mark: &NumberLabel| mark.lines.first().copied().unwrap_or(mark.part);
    let boxes: Vec<Pixels> = marks.iter().map(|mark| whole(&in_picture(&first(mark), area, width, height))).collect();
    let mut placed: Vec<Placed> = Vec::new();
    for (mark, around) in boxes.iter().enumerate() {
        let Some(number) = marks.get(mark).map(|mark| mark.number) else { continue };
        let wide = (digits::width_of(number) + 2 * PAD.0) * zoom;
        let high = (digits::HEIGHT + 2 * PAD.1) * zoom;
        let at = |x: i64, y: i64| Pixels(x, y, x + wide, y + high).within(right, bottom);
        let free = |tag: &Pixels| placed.iter().all(|other| other.tag.shared(tag) == 0);
        let covers = |tag: &Pixels| -> i64 {
            let others = boxes.iter().enumerate().filter(|(other, there)| *other != mark && !there.holds(around));
            let own = around.shared(tag) * 2;
            own + others.map(|(_, there)| there.shared(tag)).sum::<i64>()
        };
        let Pixels(l, t, r, b) = *around;
        let edge = LINE * zoom;
        let near = [
            at(l - edge, t - high),
            at(r - wide + edge, t - high),
            at(l - wide, t - edge),
            at(r, t - edge),
            at(l - edge, b),
            at(r - wide + edge, b),
            at(r - wide, t),
            at(l, t),
            at(r - wide, b - high),
            at(l, b - high),
        ];
        let best = near.into_iter().filter(free).min_by_key(covers);
        let tag = best.map(|tag| (tag, false)).or_else(|| {
            let ring = |step: i64| {
                let (dx, dy) = (step * wide / 2, step * high);
                [(0, -dy), (dx, -dy), (-dx, -dy), (dx, 0), (-dx, 0), (0, dy), (dx, dy), (-dx, dy)]
            };
            let far = (1..=FAR).flat_map(ring).map(|(dx, dy)| at(l + dx, t - high / 2 + dy));
            far.into_iter().find(free).map(|tag| (tag, true))
        });
        placed.extend(tag.map(|(tag, away)| Placed { mark, tag, around: *around, away }));
    }
    placed
}

/// Draws boxes and labels.
pub fn draw_numbers(canvas: &mut Canvas, marks: &[&NumberLabel], area: &Rect) {
    if marks.is_empty() {
        return;
    }
    let zoom = zoom(area, canvas.width);
    let placed = place_numbers(marks, area, canvas.width, canvas.height);
    let coloured: Vec<(&Placed, u32, [u8; 3], [u8; 3])> = placed
        .iter()
        .filter_map(|placed| {
            let number = marks.get(placed.mark)?.number;
            let dark = is_dark(canvas, &placed.around);
            let pick = usize::try_from(number).unwrap_or(0) % DARK.len();
            let colours = if dark { (LIGHT.get(pick)?, BLACK) } else { (DARK.get(pick)?, WHITE) };
            Some((placed, number, *colours.0, colours.1))
        })
        .collect();
    for (placed, _, colour, _) in &coloured {
        let lines = marks.get(placed.mark).map_or(&[][..], |mark| &mark.lines);
        for line in lines {
            let line = whole(&in_picture(line, area, canvas.width, canvas.height));
            outline(canvas, &line, LINE * zoom, *colour);
        }
        if lines.is_empty() {
            outline(canvas, &placed.around, LINE * zoom, *colour);
        }
    }
    for (placed, _, colour, _) in coloured.iter().filter(|(placed, ..)| placed.away) {
        lead(canvas, placed, zoom, *colour);
    }
    for (Placed { tag, .. }, number, colour, ink) in &coloured {
        canvas.fill(tag.0, tag.1, tag.2 - tag.0, tag.3 - tag.1, *colour);
        for (x, y) in digits::ink(*number) {
            canvas.fill(tag.0 + (PAD.0 + x) * zoom, tag.1 + (PAD.1 + y) * zoom, zoom, zoom, *ink);
        }
    }
}

/// A line around a box, outside it: text that fills the box stays readable.
fn outline(canvas: &mut Canvas, Pixels(l, t, r, b): &Pixels, line: i64, colour: [u8; 3]) {
    // At the edge of the image it is drawn inside.
    let edge = |at: i64, most: u32| at.clamp(0, (i64::from(most) - line).max(0));
    let (left, top) = (edge(l - line, canvas.width), edge(t - line, canvas.height));
    let (right, bottom) = (edge(*r, canvas.width), edge(*b, canvas.height));
    canvas.fill(left, top, right + line - left, line, colour);
    canvas.fill(left, bottom, right + line - left, line, colour);
    canvas.fill(left, top, line, bottom + line - top, colour);
    canvas.fill(right, top, line, bottom + line - top, colour);
}

/// A line from a label to its box, when they are apart.
fn lead(canvas: &mut Canvas, placed: &Placed, zoom: i64, colour: [u8; 3]) {
    let middle = |Pixels(l, t, r, b): &Pixels| ((l + r) / 2, (t + b) / 2);
    let (from, aim) = (middle(&placed.tag), middle(&placed.around));
    let Pixels(l, t, r, b) = placed.around;
    let to = (aim.0.clamp(l, r.min(l + 12)), aim.1.clamp(t, b));
    let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
    for step in 0..=steps {
        let (x, y) = (from.0 + (to.0 - from.0) * step / steps, from.1 + (to.1 - from.1) * step / steps);
        canvas.fill(x, y, zoom, zoom, colour);
    }
}

/// Whether the surroundings of a box are dark.
fn is_dark(canvas: &Canvas, Pixels(l, t, r, b): &Pixels) -> bool {
    let mut levels = Vec::new();
    for step in 0..8 {
        let (x, y) = (l + (r - l) * step / 7, t + (b - t) * step / 7);
        for (x, y) in [(x, t - 4), (x, b + 3), (l - 4, y), (r + 3, y)] {
            let inside = x >= 0 && y >= 0 && x < i64::from(canvas.width) && y < i64::from(canvas.height);
            let index = usize::try_from(y * i64::from(canvas.width) + x).unwrap_or(0) * 3;
            if let (true, Some([red, green, blue])) = (inside, canvas.pixels.get(index..index + 3)) {
                levels.push((u32::from(*red) * 3 + u32::from(*green) * 6 + u32::from(*blue)) / 10);
            }
        }
    }
    levels.sort_unstable();
    levels.get(levels.len() / 2).is_some_and(|level| *level < DARK_BELOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u32, x: f64, y: f64, width: f64, height: f64) -> NumberLabel {
        NumberLabel { number, part: Rect { x, y, width, height }, lines: Vec::new() }
    }

    const AREA: Rect = Rect { x: 0.0, y: 0.0, width: 300.0, height: 200.0 };

    fn white(width: u32, height: u32) -> Canvas {
        Canvas { width, height, pixels: vec![255; (width * height * 3) as usize] }
    }

    #[test]
    fn labels_stand_beside_their_boxes_and_never_on_another_label() {
        let mut marks = Vec::new();
        for row in 0..6 {
            for column in 0..10 {
                marks.push(mark(100 + row * 10 + column, f64::from(column) * 29.0, f64::from(row) * 32.0, 26.0, 12.0));
            }
        }
        let placed = place_numbers(&marks.iter().collect::<Vec<_>>(), &AREA, 300, 200);
        assert!(placed.len() >= 50, "{}", placed.len());
        for (index, one) in placed.iter().enumerate() {
            assert!(placed[..index].iter().all(|other| other.tag.shared(&one.tag) == 0));
            assert!(Pixels(0, 0, 300, 200).holds(&one.tag), "{one:?}");
        }
    }

    #[test]
    fn labels_of_one_place_are_moved_apart_and_at_last_left_out() {
        let all: Vec<NumberLabel> = (1..=150).map(|number| mark(number, 140.0, 90.0, 20.0, 10.0)).collect();
        let marks: Vec<&NumberLabel> = all.iter().collect();
        let placed = place_numbers(&marks, &AREA, 300, 200);
        assert!(placed.len() > 8 && placed.len() < 150, "{}", placed.len());
        assert!(placed.iter().any(|placed| placed.away));
        let mut canvas = white(300, 200);
        draw_numbers(&mut canvas, &marks, &AREA);
        assert_ne!(canvas, white(300, 200));
    }

    #[test]
    fn only_lines_and_labels_are_painted() {
        let mut canvas = white(300, 200);
        let mark = mark(7, 100.0, 80.0, 60.0, 40.0);
        let marks = [&mark];
        let tag = place_numbers(&marks, &AREA, 300, 200)[0].tag;
        draw_numbers(&mut canvas, &marks, &AREA);
        for y in 0..200_i64 {
            for x in 0..300_i64 {
                let index = usize::try_from((y * 300 + x) * 3).unwrap();
                let changed = canvas.pixels[index..index + 3] != [255; 3];
                let on_tag = x >= tag.0 && x < tag.2 && y >= tag.1 && y < tag.3;
                let outside = (98..162).contains(&x) && (78..122).contains(&y);
                let inside = (100..160).contains(&x) && (80..120).contains(&y);
                assert!(on_tag || changed == (outside && !inside), "{x} {y}");
            }
        }
        assert_eq!((tag.3, tag.0), (80, 98), "above, at its left side");
    }

    #[test]
    fn dark_pages_get_light_labels() {
        let mut canvas = white(300, 200);
        canvas.fill(0, 0, 300, 200, [20, 20, 30]);
        draw_numbers(&mut canvas, &[&mark(1, 100.0, 80.0, 60.0, 40.0)], &AREA);
        assert!(canvas.pixels.chunks(3).any(|pixel| pixel == LIGHT[1]));
    }
}
