//! Pictures and papers: screenshots with labels, PDF, and a frame around an element for people who watch.
//!
//! A picture is taken in its natural size (device pixels) and everything else is done with its pixels
//! afterwards: it is made smaller, labels are drawn on it, it is written as PNG or JPEG. Nothing is drawn
//! in the page.
//!
//! | file | what it holds |
//! |---|---|
//! | `options` | what can be asked for, and what comes of it |
//! | `take` | the browser's part: viewport, page, element |
//! | `frames` | frames that the browser leaves white |
//! | `tiles` | areas that the browser does not draw at once |
//! | `scroll` | there and back again |
//! | `boxes` | where nodes of any frame lie in the top viewport |
//! | `canvas`, `encode` | pixels; files of them and their limits |
//! | `draw`, `font` | labels |
//! | `highlight` | a frame around an element |
//! | `pdf` | paper |
//! | `save` | into a folder |

mod boxes;
mod canvas;
mod draw;
mod encode;
mod font;
mod frames;
mod highlight;
mod options;
mod pdf;
mod save;
mod scroll;
mod take;
mod tiles;

use canvas::Canvas;
pub use encode::{Fit, PictureType};
pub(super) use highlight::Highlighted;
pub use options::{Annotation, LabelCounts, Rect, Screenshot, ScreenshotOptions};
pub use pdf::PdfOptions;
pub use save::save;
use take::{Mark, Shot};

use super::{Error, Tab};
use crate::sync::Deadline;

/// A picture that is so much smaller than the page is hard to read.
const HARD_TO_READ: f64 = 0.4;

impl Tab {
    /// A picture of the viewport, of the whole page, or of one element in any frame. It is taken without
    /// bringing the tab to the front.
    ///
    /// The page is not scrolled and its viewport stays, with two exceptions, which are undone: an element
    /// that is hidden in a scrolled container or a frame out of view is scrolled to, and so are frames of
    /// other processes out of view for a picture of the whole page, since Chromium draws them only there.
    /// For what is out of the viewport Chromium lays the page out anew: it sees a `resize` event, at the end
    /// with the sizes that it had (in a background tab now and then with others in between), and listeners
    /// of media queries may be called. A picture of the viewport, or of an element in it, is not noticed.
    ///
    /// A side has at most 30,000 pixels; [`Screenshot::cut_at`] says where a higher page or element was cut.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::BadRef`], [`Error::StaleRef`], [`Error::NoMatch`]; [`Error::NotCaptured`]
    /// when the browser does not manage it, which says nothing of the page; [`Error::NotActionable`] for an element that is not visible; those of the supervisor, with
    /// `BLOCKED_BY_DIALOG` under a dialog at once:
    /// [`last_picture`](crate::supervisor::Supervisor::last_picture) has what was seen before it.
    pub fn screenshot(&self, options: &ScreenshotOptions, deadline: Deadline) -> Result<Screenshot, Error> {
        options.check()?;
        let mut shot = self.unhighlighted(deadline, |tab| tab.take(options, deadline))?;
        let natural = Canvas::sides(&shot.png)?;
        let (width, height) = options.sides(natural.0, natural.1);
        let untouched = (width, height) == natural && options.kind == PictureType::Png && shot.marks.is_empty();
        let fits = options.fit.is_none_or(|fit| shot.png.len() <= fit.max_bytes && width.max(height) <= fit.max_side);
        let encoded = if untouched && fits {
            encode::Encoded { bytes: std::mem::take(&mut shot.png), kind: options.kind, width, height }
        } else {
            encoded(&mut shot, options, width, height)?
        };
        let scale = f64::from(encoded.width) / shot.area.width;
        if scale < HARD_TO_READ {
            let percent = (scale * 100.0).round();
            shot.notes.push(format!(
                "shown at {percent} % of its size: text may be unreadable; take the viewport, or an element"
            ));
        }
        if encoded.kind != options.kind {
            shot.notes.push("written as JPEG to stay within the limits".to_owned());
        }
        let counts = options.labels.then(|| {
            let placed = draw::placed(&shot.marks, &shot.area, encoded.width, encoded.height);
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

/// Pixels made smaller, drawn on, and written.
fn encoded(shot: &mut Shot, options: &ScreenshotOptions, width: u32, height: u32) -> Result<encode::Encoded, Error> {
    let canvas = Canvas::decode(&std::mem::take(&mut shot.png))?;
    let canvas =
        if (width, height) == (canvas.width, canvas.height) { canvas } else { canvas.resized(width, height)? };
    let quality = options.quality.unwrap_or(encode::QUALITY);
    match options.fit {
        Some(fit) => encode::encode_within(&canvas, options.kind, quality, &fit, |canvas, width, height| {
            let mut sized = canvas.resized(width, height)?;
            draw::draw(&mut sized, &shot.marks, &shot.area);
            Ok(sized)
        }),
        None => {
            let mut canvas = canvas;
            draw::draw(&mut canvas, &shot.marks, &shot.area);
            encode::encode(&canvas, options.kind, quality)
        }
    }
}

/// What the labels stand for. Boxes in pixels of the picture.
fn annotations(shot: &Shot, placed: &[draw::Placed], width: u32, height: u32) -> Vec<Annotation> {
    let told = |mark: &Mark| Annotation {
        reference: format!("e{}", mark.number),
        number: mark.number,
        role: mark.shown.role.clone(),
        name: mark.shown.name.clone(),
        bounds: draw::in_picture(&mark.part, &shot.area, width, height),
    };
    placed.iter().filter_map(|placed| shot.marks.get(placed.mark)).map(told).collect()
}
