//! Options and results of screenshots.

use serde::{Deserialize, Serialize};

use super::super::Error;
use crate::cdp::protocol::target::TargetId;
use crate::setters;
use cdpilot_picture::{Fit, JPEG_SIDE, PictureType, Rect, sides_within};

/// What to capture, and how to encode it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ScreenshotOptions {
    /// Capture the whole page, not only the viewport.
    pub full_page: bool,
    /// Capture only the element of this ref.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Capture only the first element that matches this CSS selector, over open shadow roots.
    pub element: Option<String>,
    /// The frame of `element`: a frame id, or the ref of its `<iframe>`. Default: the top frame.
    pub frame: Option<String>,
    /// The file type. Default PNG.
    #[serde(rename = "type")]
    pub kind: PictureType,
    /// JPEG quality, 1 to 100. Default 80.
    pub quality: Option<u8>,
    /// Draw boxes around interactive elements, with the numbers of their refs.
    pub labels: bool,
    /// Maximum width in pixels; scaled down in proportion.
    pub max_width: Option<u32>,
    /// Maximum height in pixels; scaled down in proportion.
    pub max_height: Option<u32>,
    /// Scale factor, above 0 and at most 1, of the natural size (device pixels).
    pub scale: Option<f64>,
    /// Limits of the file, kept by lower quality and size.
    pub fit: Option<Fit>,
}

impl ScreenshotOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { ScreenshotOptions:
    full_page(bool),
    reference(some into String),
    element(some into String),
    frame(some into String),
    kind(PictureType),
    quality(some u8),
    labels(bool),
    max_width(some u32),
    max_height(some u32),
    scale(some f64),
    fit(some Fit),
}

impl ScreenshotOptions {
    /// Options for a model: the viewport, within the default limits.
    #[must_use]
    pub fn for_model() -> Self {
        Self { fit: Some(Fit::default()), ..Self::default() }
    }

    /// Checks the options.
    pub(super) fn check(&self) -> Result<(), Error> {
        let bad = |problem: &str| Err(Error::BadRequest { problem: problem.to_owned() });
        if self.full_page && (self.reference.is_some() || self.element.is_some()) {
            return bad("fullPage captures the whole page, ref and element a part of it; use one of them");
        }
        if self.reference.is_some() && self.element.is_some() {
            return bad("ref and element both name the element to capture; use one of them");
        }
        if self.frame.is_some() && self.element.is_none() {
            return bad("frame needs element; add element, or leave out frame");
        }
        if self.quality.is_some_and(|quality| !(1..=100).contains(&quality)) {
            return bad("quality must be 1 to 100");
        }
        if self.quality.is_some() && self.kind == PictureType::Png {
            return bad("quality is not supported for PNG; use type jpeg");
        }
        if self.scale.is_some_and(|scale| !(scale > 0.0 && scale <= 1.0)) {
            return bad("scale must be above 0 and at most 1");
        }
        let none = |side: Option<u32>| side == Some(0);
        if none(self.max_width) || none(self.max_height) || self.fit.is_some_and(|fit| fit.max_side == 0) {
            return bad("maxWidth and maxHeight must be 1 or more");
        }
        Ok(())
    }

    /// The final sides, from the natural ones.
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

/// A label in a screenshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Annotation {
    /// The ref of the element.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The number on the label: that of the ref.
    pub number: u32,
    /// The ARIA role of the element, such as `button`.
    pub role: String,
    /// The accessible name. Untrusted.
    pub name: String,
    /// The visible part of the element, in pixels of the screenshot.
    #[serde(rename = "box")]
    pub bounds: Rect,
}

/// The number of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelCounts {
    /// Number of labels drawn.
    pub placed: usize,
    /// Left out: beyond the maximum, or without a free position.
    pub skipped: usize,
}

/// A screenshot: the image file, its size, and what it shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Screenshot {
    /// The encoded image file.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// The file type: JPEG instead of PNG when the limits require it.
    #[serde(rename = "pictureType")]
    pub kind: PictureType,
    /// Width of the image in pixels.
    pub width: u32,
    /// Height of the image in pixels.
    pub height: u32,
    /// The target id of the tab.
    pub target_id: TargetId,
    /// The URL of the tab.
    pub url: String,
    /// Pixels of the screenshot per CSS pixel of the page.
    pub scale: f64,
    /// The elements of the labels, in document order. Only with `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation>>,
    /// The number of labels. Only with `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelCounts>,
    /// Where a longer page or element was cut, in CSS pixels from its top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_at: Option<f64>,
    /// Notes about the screenshot, such as that it was cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// A script of the page was terminated to capture it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
}
