//! Positions of labels: around and inside their elements, where they hide the least.

use crate::Rect;

/// Height of a label, in pixels of the picture.
pub const LABEL_HEIGHT: f64 = 18.0;
/// Least distance between labels.
pub const GAP: f64 = 2.0;
/// How far a label stands off at most, in pixels of the picture.
const FAR: f64 = 46.0;
/// Width of the border that neighbours may share.
const SHARED_BORDER: f64 = 1.0;
/// Maximum number of positions across a box.
const STEPS: f64 = 48.0;
/// Distance between a box and a label that stands off.
const OFF: f64 = 10.0;
/// Least distance of a label from a word before or after it.
const BESIDE: f64 = 3.0;
/// How much of a line of text may be covered before it counts as hidden: less than a character, in pixels, and this part of its height.
const HIDDEN_WIDTH: f64 = 4.0;
const HIDDEN_HEIGHT: f64 = 0.25;

/// A line of text, in pixels of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextLine {
    /// Its box, in pixels of the picture.
    pub rect: Rect,
    /// Whether it is the value of a field, the text of a label, of a control or of a heading.
    pub vital: bool,
}

/// What a label may cover, from the strictest to whatever there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leave {
    /// Neither text nor other targets.
    Nothing,
    /// A small part of other text.
    LittleText,
    /// Other text, and parts of targets that have no label on the page; neither vital text nor the centre of a target.
    Text,
    /// Everything but the centres of other targets.
    Targets,
    /// Everything.
    Anything,
}

/// What is in a picture besides the labels.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// Width and height of the picture.
    pub size: (f64, f64),
    /// Width of every label, in pixels.
    pub label_width: f64,
    /// The boxes of all targets.
    pub boxes: &'a [Rect],
    /// The lines of text in view.
    pub lines: &'a [TextLine],
}

/// What may be near a label of one box.
#[derive(Debug)]
pub struct Near<'a> {
    own: &'a Rect,
    boxes: Vec<&'a Rect>,
    lines: Vec<&'a TextLine>,
    candidates: Vec<Rect>,
}

/// The area in common.
fn shared(one: &Rect, other: &Rect) -> f64 {
    one.and(other).map_or(0.0, |part| part.width * part.height)
}

/// Whether a part of a line is hidden by a label.
pub fn hides(label: &Rect, line: &Rect) -> bool {
    label.and(line).is_some_and(|part| part.width > HIDDEN_WIDTH && part.height > HIDDEN_HEIGHT * line.height)
}

fn holds_point(rect: &Rect, (x, y): (f64, f64)) -> bool {
    rect.x <= x && x <= rect.right() && rect.y <= y && y <= rect.bottom()
}

/// The middle of a box.
pub fn centre(rect: &Rect) -> (f64, f64) {
    (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0)
}

/// Whether two boxes overlap by more than the border that neighbours share.
pub fn overlap(one: &Rect, other: &Rect) -> bool {
    one.and(other).is_some_and(|part| part.width > SHARED_BORDER && part.height > SHARED_BORDER)
}

/// Whether two labels are too near to each other.
pub fn is_near(label: &Rect, rect: &Rect) -> bool {
    let around =
        Rect { x: label.x - GAP, y: label.y - GAP, width: label.width + 2.0 * GAP, height: label.height + 2.0 * GAP };
    around.and(rect).is_some()
}

impl<'a> Scene<'a> {
    /// What is near a box.
    pub fn near(&self, own: &'a Rect) -> Near<'a> {
        let candidates = self.candidates(own);
        let reach = FAR + self.label_width;
        let around = Rect {
            x: own.x - reach,
            y: own.y - reach,
            width: own.width + 2.0 * reach,
            height: own.height + 2.0 * reach,
        };
        let is_other = |other: &&Rect| !std::ptr::eq(*other, own) && around.and(other).is_some();
        Near {
            own,
            boxes: self.boxes.iter().filter(is_other).collect(),
            lines: self.lines.iter().filter(|line| around.and(&line.rect).is_some()).collect(),
            candidates,
        }
    }

    /// Positions for the label of a box, the most natural first: at its edges, inside it, and standing off.
    fn candidates(&self, own: &Rect) -> Vec<Rect> {
        let (wide, high) = (self.label_width, LABEL_HEIGHT);
        let (left, right, top, bottom) = (own.x, own.right() - wide, own.y - high, own.bottom());
        let middle = own.y + (own.height - high) / 2.0;
        let across = own.x + (own.width - wide) / 2.0;
        let mut places = vec![(left, top), (right, top), (own.right(), middle), (left - wide, middle)];
        places.extend([(left, bottom), (right, bottom), (across, top), (across, bottom)]);
        places.extend([(left - wide, own.y), (own.right(), own.y)]);
        places.extend([(own.right(), own.bottom() - high), (left - wide, own.bottom() - high)]);
        let (inner_right, inner_bottom) = (own.right() - wide, own.bottom() - high);
        if own.width >= wide && own.height >= high {
            places.extend([(inner_right, own.y), (left, own.y), (inner_right, inner_bottom), (left, inner_bottom)]);
            places.extend([(inner_right, middle), (left, middle), (across, own.y), (across, inner_bottom)]);
            // Between the texts of a row.
            let step = (wide / 8.0).max(own.width / STEPS);
            let mut x = left + step;
            while x < inner_right {
                places.extend([(x, middle), (x, own.y), (x, inner_bottom)]);
                x += step;
            }
        }
        let mut off = OFF;
        while off <= FAR {
            for x in [left, across, right, left - wide, own.right()] {
                places.extend([(x, top - off), (x, bottom + off)]);
            }
            places.extend([(own.right() + off, middle), (left - wide - off, middle)]);
            off += high;
        }
        let is_inside =
            |rect: &Rect| rect.x >= 0.0 && rect.y >= 0.0 && rect.right() <= self.size.0 && rect.bottom() <= self.size.1;
        let rect = |(x, y): (f64, f64)| Rect { x: x.round(), y: y.round(), width: wide, height: high };
        let mut all: Vec<Rect> = places.iter().copied().map(rect).filter(is_inside).collect();
        // Near the edges of the picture, moved inside.
        let moved = |(x, y): (f64, f64)| {
            let x = x.min(self.size.0 - wide).max(0.0);
            rect((x, y.min(self.size.1 - high).max(0.0)))
        };
        all.extend([(left, top), (left, bottom), (own.right(), middle), (left, own.y)].map(moved));
        all
    }
}

impl Near<'_> {
    /// The best position for the label among those that `is_free` admits and that cover no more than they may.
    pub fn best(&self, leave: Leave, is_free: impl Fn(&Rect) -> bool) -> Option<Rect> {
        let mut best: Option<(f64, Rect)> = None;
        for (rank, label) in (0_u16..).zip(&self.candidates) {
            if best.is_some_and(|(cost, _)| cost <= f64::from(rank) * 0.05) {
                break; // each of the rest costs more
            }
            let Some(cost) = self.cost(label, leave).map(|cost| cost + f64::from(rank) * 0.05) else { continue };
            if best.is_none_or(|(least, _)| cost < least) && is_free(label) {
                best = Some((cost, *label));
            }
        }
        best.map(|(_, label)| label)
    }

    /// What a label costs here; `None` if it covers what it may not.
    fn cost(&self, label: &Rect, leave: Leave) -> Option<f64> {
        let mut cost = 0.0;
        for line in &self.lines {
            let covered = shared(label, &line.rect);
            if covered <= 0.0 {
                // A label that touches a word looks like a part of it.
                let beside = Rect { x: label.x - BESIDE, width: label.width + 2.0 * BESIDE, ..*label };
                if leave == Leave::Nothing && beside.and(&line.rect).is_some() {
                    return None;
                }
                continue;
            }
            let is_allowed = match leave {
                Leave::Nothing => false,
                Leave::LittleText => !line.vital && !hides(label, &line.rect),
                Leave::Text => !line.vital,
                Leave::Targets | Leave::Anything => true,
            };
            if !is_allowed {
                return None;
            }
            cost += covered * if line.vital { 8.0 } else { 2.0 };
        }
        for other in &self.boxes {
            // One around it is there for what it holds.
            if other.holds(self.own) {
                if leave < Leave::Anything && holds_point(label, centre(other)) && !self.own.holds(label) {
                    return None;
                }
                continue;
            }
            let covered = shared(label, other);
            if covered <= 0.0 {
                continue;
            }
            let is_allowed = match leave {
                Leave::Nothing | Leave::LittleText => false,
                Leave::Text | Leave::Targets => !holds_point(label, centre(other)),
                Leave::Anything => true,
            };
            if !is_allowed {
                return None;
            }
            cost += covered;
        }
        Some(cost)
    }
}
