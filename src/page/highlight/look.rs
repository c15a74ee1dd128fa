//! A look at the viewport: its usable elements, and the picture of one page of them.

use std::time::Duration;

use super::super::error::Error;
use cdpilot_picture::{Canvas, Fit, PictureType, Rect, TextSize, text_width};

use super::super::screenshot::{BoxOptions, Frame, encode_picture};
use super::super::world::{Doc, Node};
use super::super::{Shown, Tab};
use super::discover::Found;
use super::draw;
use super::element::{ElementType, Hint, VisibleElement};
use super::paging::{Placed, Target, TextLine, pages};
use super::ready::{Readiness, Signs};
use crate::setters;
use crate::sync::{Deadline, pause};
use cdpilot_picture::placing::hides;

/// Pauses before a page that is not ready is looked at again.
const RETRIES: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(500)];
/// Maximum size of a picture, in pixels.
const MOST_WIDTH: u32 = 1280;
const MOST_HEIGHT: u32 = 720;
/// A larger PNG becomes a JPEG.
const MOST_BYTES: usize = 1024 * 1024;
/// Characters of an id.
const ID_LENGTH: u32 = 6;
/// How many elements are measured again after the capture.
const SAMPLES: usize = 12;
/// An element has moved when its centre is this far away, in CSS pixels; a greater part of the samples is too many.
const MOVED: f64 = 24.0;
const MANY_MOVED: f64 = 0.3;
const MANY_GONE: f64 = 0.25;
const RETAKES: usize = 2;

/// What to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LookOptions {
    /// Which elements.
    pub element_type: ElementType,
    /// The page of the picture, from 1.
    pub page: Option<usize>,
    /// Only elements whose text, name or lasting attribute (`data-*` included) is one of these. White space is folded, case ignored.
    pub keywords: Option<Vec<String>>,
}

impl LookOptions {
    /// All elements, the first page.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { LookOptions:
    element_type(ElementType),
    page(some usize),
    keywords(some Vec<String>),
}

/// A picture for a model: at most 1280x720 pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// The image file.
    pub bytes: Vec<u8>,
    /// Its type: PNG, or JPEG above 1 MiB.
    pub kind: PictureType,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// What is to be seen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Look {
    /// The elements of this page of the picture, in reading order.
    pub elements: Vec<VisibleElement>,
    /// All elements of the requested type, in document order.
    pub all: Vec<VisibleElement>,
    /// The page, from 1.
    pub page: usize,
    /// The number of pages; 1 when there are no elements.
    pub pages: usize,
    /// The picture with the labels of the page.
    pub picture: Picture,
    /// How many lines of text the labels of this page hide.
    pub hidden_lines: usize,
    /// The present texts of status elements and alerts in the viewport. Untrusted.
    pub status: Vec<String>,
    /// How far the page was drawn.
    pub readiness: Readiness,
    /// Whether elements were moving: labels may be misplaced.
    pub moving: bool,
    /// The address of the page.
    pub url: String,
    /// The title of the page. Untrusted.
    pub title: String,
    /// The document of the top frame.
    pub doc: Doc,
    /// Whether a script of the page was terminated meanwhile.
    pub rescued: bool,
}

/// A captured viewport.
struct Shot {
    png: Vec<u8>,
    found: Found,
    moving: bool,
}

impl Tab {
    /// The usable elements of the viewport, and a picture of it with the labels of one page of them.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a page that does not exist; [`Error::NotCaptured`]; those of the supervisor. While a
    /// dialog is open, `BLOCKED_BY_DIALOG` at once.
    pub fn look_at(&self, options: &LookOptions, deadline: Deadline<'_>) -> Result<Look, Error> {
        self.arrived(deadline)?;
        let readiness = self.wait_until_drawn(deadline)?;
        let Shot { png, found, moving } = self.shoot(options.keywords.as_deref(), deadline)?;
        let Found { view, mut elements, url, title, doc, rescued, lines, status, .. } = found;
        elements.retain(|element| options.element_type.includes(element));
        let natural = Canvas::sides(&png)?;
        let (width, height) = fitted(natural);
        let (sx, sy) = (f64::from(width) / view.width, f64::from(height) / view.height);
        let scaled = |rect: &Rect| on_picture(rect, (sx, sy), (width, height));
        let boxes: Vec<Rect> = elements.iter().map(|element| scaled(&element.bounds)).collect();
        let comes_last = |element: &VisibleElement| {
            [Hint::Disabled, Hint::UnderSticky].iter().any(|hint| element.hints.contains(hint))
        };
        let targets = boxes.iter().zip(&elements);
        let targets: Vec<Target> =
            targets.map(|(bounds, element)| Target { bounds: *bounds, last: comes_last(element) }).collect();
        let lines = lines.iter().map(|line| TextLine { rect: scaled(&line.rect), ..*line });
        let lines: Vec<TextLine> = lines.collect();
        let size = (f64::from(width), f64::from(height));
        let all_pages = pages(&targets, &lines, text_width(ID_LENGTH, TextSize::Small), size);
        let (page, total) = (options.page.unwrap_or(1), all_pages.len().max(1));
        if !(1..=total).contains(&page) {
            let problem = format!("there is no page {page}: these elements have the pages 1 to {total}");
            return Err(Error::BadRequest { problem });
        }
        let none: &[Placed] = &[];
        let placed = all_pages.get(page - 1).map_or(none, Vec::as_slice);
        let mut canvas = Canvas::decode(&png)?;
        if (canvas.width, canvas.height) != (width, height) {
            canvas = canvas.resized(width, height)?;
        }
        let labels: Vec<(&str, _)> = elements.iter().map(|element| (&*element.id, element.kind)).collect();
        draw::draw_page(&mut canvas, placed, &boxes, &labels);
        let shown = placed.iter().filter_map(|placed| elements.get(placed.index).cloned()).collect();
        let picture = encoded(&canvas)?;
        let is_hidden = |line: &&TextLine| placed.iter().any(|placed| hides(&placed.label, &line.rect));
        let hidden_lines = lines.iter().filter(is_hidden).count();
        Ok(Look {
            hidden_lines,
            status,
            elements: shown,
            all: elements,
            page,
            pages: total,
            picture,
            readiness,
            moving,
            url,
            title,
            doc,
            rescued,
        })
    }

    /// The viewport as a picture for a model, without labels.
    ///
    /// # Errors
    /// [`Error::NotCaptured`]; those of the supervisor.
    pub fn clean_picture(&self, deadline: Deadline<'_>) -> Result<Picture, Error> {
        self.arrived(deadline)?;
        let png = self.capture_viewport(deadline)?;
        let (width, height) = fitted(Canvas::sides(&png)?);
        let canvas = Canvas::decode(&png)?;
        encoded(&if (canvas.width, canvas.height) == (width, height) {
            canvas
        } else {
            canvas.resized(width, height)?
        })
    }

    /// The viewport in its natural size.
    pub(super) fn capture_viewport(&self, deadline: Deadline<'_>) -> Result<Vec<u8>, Error> {
        let view = self.view(deadline)?;
        let frame = Frame { area: view.rect(), view, clipped: false, beyond: false };
        self.unhighlighted(deadline, |tab| Ok(tab.grab(&frame, deadline)?.0))
    }

    /// Looks at how far the page is drawn, and twice again if it is not. Returns the last grade.
    fn wait_until_drawn(&self, deadline: Deadline<'_>) -> Result<Readiness, Error> {
        let mut retries = RETRIES.iter();
        loop {
            let signs = self.call::<Signs>(&self.top()?, "readiness", &(), deadline)?.1.result;
            let is_worth_waiting = signs.grade() == Readiness::NotReady || signs.moving;
            match retries.next() {
                Some(wait) if is_worth_waiting && deadline.left() > *wait * 2 => pause(*wait),
                _ => return Ok(signs.grade()),
            }
        }
    }

    /// Finds the elements and captures the viewport, until both fit together.
    fn shoot(&self, keywords: Option<&[String]>, deadline: Deadline<'_>) -> Result<Shot, Error> {
        let mut before: Option<f64> = None;
        let mut tries = 0;
        loop {
            let found = self.discover(keywords, deadline)?;
            let png = self.capture_viewport(deadline)?;
            let (moved, gone) = self.drift(&found, deadline)?;
            let is_steady = moved < MANY_MOVED && gone < MANY_GONE && !found.lost;
            // A steady animation moves the same elements each time: another picture would not be better.
            let is_animation =
                before.is_some_and(|before| (before - moved).abs() < 0.1) && gone < MANY_GONE && !found.lost;
            if is_steady || is_animation || tries >= RETAKES {
                return Ok(Shot { png, found, moving: !is_steady });
            }
            before = Some(moved);
            tries += 1;
        }
    }

    /// The parts of some sample elements that have moved, and that have gone, since they were found.
    fn drift(&self, found: &Found, deadline: Deadline<'_>) -> Result<(f64, f64), Error> {
        let step = found.elements.len().div_ceil(SAMPLES).max(1);
        let samples: Vec<&VisibleElement> = found.elements.iter().step_by(step).collect();
        if samples.is_empty() {
            return Ok((0.0, 0.0));
        }
        let nodes: Vec<Node> =
            samples.iter().map(|element| element.place.as_ref().unwrap_or(&element.node).clone()).collect();
        let layout = self.layout(&nodes, BoxOptions { whole: false, uncovered: false }, deadline)?;
        let (mut moved, mut gone) = (0_u32, 0_u32);
        for (element, node) in samples.iter().zip(&nodes) {
            match layout.position(node).and_then(|place| layout.view.shown(&place.part?)) {
                Some(part) if distance(&part, &element.bounds) < MOVED => {}
                Some(_) => moved += 1,
                None => gone += 1,
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 12")]
        let of_all = |count: u32| f64::from(count) / samples.len() as f64;
        Ok((of_all(moved), of_all(gone)))
    }
}

/// The distance of the centres of two boxes, in CSS pixels.
pub(super) fn distance(a: &Rect, b: &Rect) -> f64 {
    let centre = |rect: &Rect| (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
    let ((ax, ay), (bx, by)) = (centre(a), centre(b));
    (ax - bx).hypot(ay - by)
}

/// Sides within the limits of a picture.
fn fitted((width, height): (u32, u32)) -> (u32, u32) {
    let scale = (f64::from(MOST_WIDTH) / f64::from(width)).min(f64::from(MOST_HEIGHT) / f64::from(height)).min(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not above the original")]
    let scaled = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
    (scaled(width), scaled(height))
}

/// A box in whole pixels of the picture, inside it.
fn on_picture(bounds: &Rect, (sx, sy): (f64, f64), (width, height): (u32, u32)) -> Rect {
    let side = |from: f64, to: f64, scale: f64, most: u32| {
        let most = f64::from(most);
        let start = (from * scale).round().clamp(0.0, most - 1.0);
        (start, ((to * scale).round().clamp(start + 1.0, most)) - start)
    };
    let (x, width) = side(bounds.x, bounds.right(), sx, width);
    let (y, height) = side(bounds.y, bounds.bottom(), sy, height);
    Rect { x, y, width, height }
}

/// PNG, or JPEG when that is larger than a megabyte.
pub(super) fn encoded(canvas: &Canvas) -> Result<Picture, Error> {
    let fit = Fit::new().max_side(MOST_WIDTH).max_bytes(MOST_BYTES);
    let (bytes, kind, width, height) = encode_picture(canvas, &fit)?;
    Ok(Picture { bytes, kind, width, height })
}

impl Shown {
    /// The role, and the name in quotes if there is one.
    pub(super) fn described(&self) -> String {
        if self.name.is_empty() { self.role.clone() } else { format!("{} {:?}", self.role, self.name) }
    }
}
