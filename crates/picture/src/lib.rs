//! Pictures for cdpilot: pixels, resizing, labels and encoding. **Unstable**, an inner part of the crate `cdpilot`.
//!
//! | file | contents |
//! |---|---|
//! | `canvas` | decoding captures, pasting, resizing |
//! | `encode` | PNG and JPEG, within limits |
//! | `number_labels`, `digits` | labels with numbers: positions, drawing, the shapes of the digits |
//! | `placing` | positions of labels around and inside elements |
//! | `text` | drawing frames and lines of text |
//! | `rect` | rectangles |

mod canvas;
mod digits;
mod encode;
mod number_labels;
pub mod placing;
mod rect;
mod text;

pub use canvas::Canvas;
pub use encode::{Encoded, Fit, JPEG_SIDE, PictureType, QUALITY, encode, encode_within, sides_within};
pub use number_labels::{NumberLabel, Placed, draw_numbers, in_picture, place_numbers};
pub use rect::Rect;
pub use text::{TextSize, line_between, outline, text_width, write_on};

/// A picture could not be processed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} a picture: {problem}")]
pub struct Error {
    /// What failed: `read`, `resize` or `write`.
    pub doing: &'static str,
    /// The message of the image library.
    pub problem: String,
}
