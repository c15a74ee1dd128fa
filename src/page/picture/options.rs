//! What can be asked of a picture, and what comes of it.

use serde::{Deserialize, Serialize};

use super::super::Error;
use super::encode::{Fit, JPEG_SIDE, PictureType, sides_within};
use crate::cdp::protocol::target::TargetId;

/// What a picture is to show, and how it is written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScreenshotOptions {
    /// The whole page, not the viewport only.
    pub full_page: bool,
    /// Only the element of this ref.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Only the first element that matches this CSS selector, over open shadow roots.
    pub element: Option<String>,
    /// The frame that `element` is looked for in, by its id or the ref of its element. Default: the top frame.
    pub frame: Option<String>,
    /// PNG or JPEG.
    #[serde(rename = "type")]
    pub kind: PictureType,
    /// Quality of a JPEG, 1 to 100. Default 80.
    pub quality: Option<u8>,
    /// With boxes around what can be acted on and the numbers of their refs beside them.
    pub labels: bool,
    /// Made smaller, in proportion, to be at most so many pixels wide.
    pub max_width: Option<u32>,
    /// Made smaller, in proportion, to be at most so many pixels high.
    pub max_height: Option<u32>,
    /// Made smaller by this factor, above 0 and at most 1, of its natural size (device pixels).
    pub scale: Option<f64>,
    /// Limits of the picture as a file; kept by lower quality and size.
    pub fit: Option<Fit>,
}

impl ScreenshotOptions {
    /// Options of a picture of the viewport for a model: within the default limits.
    #[must_use]
    pub fn for_model() -> Self {
        Self { fit: Some(Fit::default()), ..Self::default() }
    }

    /// Whether it can be asked for like this.
    pub(super) fn check(&self) -> Result<(), Error> {
        let bad = |problem: &str| Err(Error::BadRequest { problem: problem.to_owned() });
        if self.full_page && (self.reference.is_some() || self.element.is_some()) {
            return bad("fullPage shows the whole page and ref or element a part of it; use one of them");
        }
        if self.reference.is_some() && self.element.is_some() {
            return bad("ref and element both name what is shown; use one of them");
        }
        if self.frame.is_some() && self.element.is_none() {
            return bad("frame says where element is looked for; add element, or leave it out");
        }
        if self.quality.is_some_and(|quality| !(1..=100).contains(&quality)) {
            return bad("quality goes from 1 to 100");
        }
        if self.quality.is_some() && self.kind == PictureType::Png {
            return bad("a PNG has no quality; use type jpeg with it");
        }
        if self.scale.is_some_and(|scale| !(scale > 0.0 && scale <= 1.0)) {
            return bad("scale is above 0 and at most 1");
        }
        let none = |side: Option<u32>| side == Some(0);
        if none(self.max_width) || none(self.max_height) || self.fit.is_some_and(|fit| fit.max_side == 0) {
            return bad("a picture cannot be 0 pixels wide or high");
        }
        Ok(())
    }

    /// The sides that a picture of natural size gets.
    pub(super) fn sides(&self, width: u32, height: u32) -> (u32, u32) {
        let at_most = |side: Option<u32>, of: u32| side.map_or(1.0, |side| f64::from(side) / f64::from(of));
        let longest = (self.kind == PictureType::Jpeg).then_some(JPEG_SIDE);
        let limits = [
            self.scale.unwrap_or(1.0),
            at_most(self.max_width, width),
            at_most(self.max_height, height),
            at_most(longest, width.max(height)),
            at_most(self.fit.map(|fit| fit.max_side), width.max(height)),
        ];
        sides_within(width, height, limits.into_iter().fold(1.0, f64::min))
    }
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct Rect {
    /// Its left side.
    pub x: f64,
    /// Its upper side.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Rect {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// What both cover. `None` when that is nothing.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let (width, height) = (self.right().min(other.right()) - x, self.bottom().min(other.bottom()) - y);
        (width > 0.0 && height > 0.0).then_some(Self { x, y, width, height })
    }

    pub(super) fn moved(&self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..*self }
    }

    /// Whether another is in it, half a pixel aside.
    pub(super) fn holds(&self, other: &Self) -> bool {
        let near = |inner: f64, outer: f64| inner <= outer + 0.5;
        near(self.x, other.x)
            && near(self.y, other.y)
            && near(other.right(), self.right())
            && near(other.bottom(), self.bottom())
    }
}

/// A label in a picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct Annotation {
    /// The ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The number that is drawn: that of the ref.
    pub number: u32,
    /// Its role.
    pub role: String,
    /// Its accessible name: untrusted.
    pub name: String,
    /// What is seen of the element, in pixels of the picture.
    #[serde(rename = "box")]
    pub bounds: Rect,
}

/// How many labels there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct LabelCounts {
    /// In the picture.
    pub placed: usize,
    /// Left out: beyond the greatest number of labels, or without a free place.
    pub skipped: usize,
}

/// A picture of a tab.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Screenshot {
    /// The file.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// What it is written as. JPEG instead of PNG when the limits ask for it.
    #[serde(rename = "pictureType")]
    pub kind: PictureType,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The tab.
    pub target_id: TargetId,
    /// What it showed.
    pub url: String,
    /// Pixels of the picture for one CSS pixel of the page.
    pub scale: f64,
    /// What the labels stand for, in the order of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation>>,
    /// How many labels there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelCounts>,
    /// Where it was cut because the page or element is too high, in CSS pixels from its upper side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_at: Option<f64>,
    /// What is to be known of the picture: whether it was cut, and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// A script of the page was ended to get it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
}
