//! Rectangles with fractional coordinates, of pages and of pictures.

use serde::{Deserialize, Serialize};

/// A rectangle. The unit and the origin are those of the field that has it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rect {
    /// Distance of the left edge from the origin.
    pub x: f64,
    /// Distance of the top edge from the origin.
    pub y: f64,
    /// Width, to the right.
    pub width: f64,
    /// Height, downwards.
    pub height: f64,
}

impl Rect {
    /// A rectangle with this top left corner and size.
    #[must_use]
    pub const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }
    /// The right edge.
    #[must_use]
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// The bottom edge.
    #[must_use]
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// The intersection, if there is one.
    #[must_use]
    pub fn and(&self, other: &Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let (width, height) = (self.right().min(other.right()) - x, self.bottom().min(other.bottom()) - y);
        (width > 0.0 && height > 0.0).then_some(Self { x, y, width, height })
    }

    /// The rectangle, moved by `x` and `y`.
    #[must_use]
    pub fn moved(&self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..*self }
    }

    /// Whether it contains another rectangle, within half a pixel.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        let near = |inner: f64, outer: f64| inner <= outer + 0.5;
        near(self.x, other.x)
            && near(self.y, other.y)
            && near(other.right(), self.right())
            && near(other.bottom(), self.bottom())
    }
}
