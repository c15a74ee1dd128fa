//! Screenshots with labels, PDF, and highlights for a person.
//!
//! A screenshot is captured in its natural size (device pixels). Everything else is done with these pixels afterwards:
//! resizing, drawing labels, encoding as PNG or JPEG. Nothing is drawn in the page.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options and results |
//! | `take` | capturing viewport, page or element |
//! | `scrolled` | areas beyond the viewport, tile by tile |
//! | `scroll` | scrolling to elements and back |
//! | `boxes` | positions of nodes in the top viewport |
//! | `canvas`, `encode` | pixels; image files and their limits |
//! | `draw`, `font` | labels |
//! | `hidden` | stored secrets are painted over |
//! | `highlight` | a coloured area over an element |
//! | `pdf` | printing to PDF |
//! | `save` | writing files |
//!
//! A side has a maximum length; `cutAt` says where a picture was cut. A highlight for people is removed while a
//! screenshot is captured.

mod boxes;
mod hidden;
mod highlight;
mod options;
mod pdf;
mod save;
mod scroll;
mod scrolled;
mod take;

pub(super) use boxes::{BoxOptions, Edges, Layout, NodePosition, View};
pub use cdpilot_picture::{Fit, PictureType, Rect};
pub(super) use highlight::Highlighted;
pub use options::{Annotation, LabelCounts, Screenshot, ScreenshotOptions};
pub use pdf::PdfOptions;
pub use save::save;
pub(super) use take::Frame;
use take::{Mark, Shot};

use cdpilot_picture::{
    Canvas, Encoded, Placed, QUALITY, draw_numbers, encode, encode_within, in_picture, place_numbers,
};

use super::{Error, Tab};
use crate::sync::Deadline;

/// A screenshot smaller than this part of its natural size is hard to read.
const HARD_TO_READ: f64 = 0.4;

impl Tab {
    /// Captures the viewport, the whole page, or one element in any frame, without bringing the tab to the front.
    ///
    /// The size of the page does not change. What is outside the viewport is scrolled to, and the page is scrolled back;
    /// its listeners do not receive these scroll events (except one for capturing that it added to its window before). An
    /// element that is fixed or sticky is shown once. What the page loads when it comes into view is loaded, and waited for.
    ///
    /// A side has at most 30,000 pixels; [`Screenshot::cut_at`] says where a longer page or element was cut.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::BadRef`], [`Error::StaleRef`], [`Error::NoMatch`]; [`Error::NotCaptured`] when
    /// the browser fails, which does not affect the page; [`Error::NotActionable`] for an element that is not visible;
    /// those of the supervisor. While a dialog is open, `BLOCKED_BY_DIALOG` at once:
    /// [`last_picture`](crate::supervisor::Supervisor::last_picture) returns the last screenshot before it.
    pub fn screenshot(&self, options: &ScreenshotOptions, deadline: Deadline<'_>) -> Result<Screenshot, Error> {
        options.check()?;
        let mut shot = self.unhighlighted(deadline, |tab| tab.take(options, deadline))?;
        let natural = Canvas::sides(&shot.png)?;
        let (width, height) = options.sides(natural.0, natural.1);
        let untouched = (width, height) == natural && options.kind == PictureType::Png && shot.marks.is_empty();
        let fits = options.fit.is_none_or(|fit| shot.png.len() <= fit.max_bytes && width.max(height) <= fit.max_side);
        let encoded = if untouched && fits {
            Encoded { bytes: std::mem::take(&mut shot.png), kind: options.kind, width, height }
        } else {
            encoded(&mut shot, options, width, height)?
        };
        let scale = f64::from(encoded.width) / shot.area.width;
        if scale < HARD_TO_READ {
            let percent = (scale * 100.0).round();
            shot.notes.push(format!(
                "scaled to {percent} % of its size: text may be unreadable; capture the viewport or one element"
            ));
        }
        if encoded.kind != options.kind {
            shot.notes.push("encoded as JPEG to stay within the size limit".to_owned());
        }
        let counts = options.labels.then(|| {
            let placed = place_numbers(&shot.labels(), &shot.area, encoded.width, encoded.height);
            (annotations(&shot, &placed, encoded.width, encoded.height), placed.len())
        });
        let skipped = |placed: usize| shot.marks.len() + shot.over - placed;
        Ok(Screenshot {
            kind: encoded.kind,
            width: encoded.width,
            height: encoded.height,
            bytes: encoded.bytes,
            target_id: self.target.clone(),
            url: shot.url,
            scale,
            labels: counts.as_ref().map(|(_, placed)| LabelCounts { placed: *placed, skipped: skipped(*placed) }),
            annotations: counts.map(|(annotations, _)| annotations),
            cut_at: shot.cut_at,
            notes: shot.notes,
            rescued: shot.rescued,
        })
    }
}

/// Resizes, draws the labels, and encodes.
fn encoded(shot: &mut Shot, options: &ScreenshotOptions, width: u32, height: u32) -> Result<Encoded, Error> {
    let canvas = Canvas::decode(&std::mem::take(&mut shot.png))?;
    let canvas =
        if (width, height) == (canvas.width, canvas.height) { canvas } else { canvas.resized(width, height)? };
    let quality = options.quality.unwrap_or(QUALITY);
    let labels = shot.labels();
    let encoded = match options.fit {
        Some(fit) => encode_within(&canvas, options.kind, quality, &fit, |canvas, width, height| {
            let mut sized = canvas.resized(width, height)?;
            draw_numbers(&mut sized, &labels, &shot.area);
            Ok(sized)
        }),
        None => {
            let mut canvas = canvas;
            draw_numbers(&mut canvas, &labels, &shot.area);
            encode(&canvas, options.kind, quality)
        }
    };
    Ok(encoded?)
}

/// Encodes a picture as PNG, within limits of its size.
pub(super) fn encode_picture(canvas: &Canvas, fit: &Fit) -> Result<(Vec<u8>, PictureType, u32, u32), Error> {
    let resized = |canvas: &Canvas, width, height| canvas.resized(width, height);
    let encoded = encode_within(canvas, PictureType::Png, QUALITY, fit, resized)?;
    Ok((encoded.bytes, encoded.kind, encoded.width, encoded.height))
}

/// The annotations of the labels, with boxes in pixels of the screenshot.
fn annotations(shot: &Shot, placed: &[Placed], width: u32, height: u32) -> Vec<Annotation> {
    let annotation = |mark: &Mark| Annotation {
        reference: format!("e{}", mark.label.number),
        number: mark.label.number,
        role: mark.shown.role.clone(),
        name: mark.shown.name.clone(),
        bounds: in_picture(&mark.label.part, &shot.area, width, height),
    };
    placed.iter().filter_map(|placed| shot.marks.get(placed.mark)).map(annotation).collect()
}
