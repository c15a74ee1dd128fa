//! Encoding as PNG or JPEG, within size limits.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::canvas::{Canvas, failed};

/// The type of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PictureType {
    /// PNG: lossless, larger.
    #[default]
    Png,
    /// JPEG: lossy, smaller.
    Jpeg,
}

impl PictureType {
    /// The file extension without dot: `png` or `jpg`.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    /// The media type: `image/png` or `image/jpeg`.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

/// Limits of an image for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Fit {
    /// Maximum length of the longer side, in pixels.
    pub max_side: u32,
    /// Maximum size of the file, in bytes.
    pub max_bytes: usize,
}

impl Default for Fit {
    fn default() -> Self {
        Self { max_side: 2000, max_bytes: 5 * 1024 * 1024 }
    }
}

impl Fit {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`max_side`](field@Self::max_side).
    #[must_use]
    pub fn max_side(mut self, max_side: u32) -> Self {
        self.max_side = max_side;
        self
    }

    /// Sets [`max_bytes`](field@Self::max_bytes).
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

/// Sides that are tried in turn for an image with too many bytes.
const SIDES: [u32; 7] = [2000, 1800, 1600, 1400, 1200, 1000, 800];
const QUALITIES: [u8; 6] = [85, 75, 65, 55, 45, 35];
/// Default JPEG quality: text stays clean.
pub const QUALITY: u8 = 80;
/// Maximum side of a JPEG.
pub const JPEG_SIDE: u32 = 65_535;

/// An encoded image.
#[derive(Debug)]
pub struct Encoded {
    /// The encoded image file.
    pub bytes: Vec<u8>,
    /// The type of the file.
    pub kind: PictureType,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// Encodes an image.
///
/// # Errors
/// A side is zero, or too long for a JPEG.
pub fn encode(canvas: &Canvas, kind: PictureType, quality: u8) -> Result<Encoded, Error> {
    let bytes = match kind {
        PictureType::Png => png(canvas)?,
        PictureType::Jpeg => jpeg(canvas, quality)?,
    };
    Ok(Encoded { bytes, kind, width: canvas.width, height: canvas.height })
}

/// Encodes an image in at most `max_bytes`: as a JPEG of lower quality and size if necessary. If even the smallest is
/// larger, returns that. `drawn` draws the image at a width and height in pixels.
///
/// # Errors
/// Those of [`encode`] and of `drawn`.
pub fn encode_within(
    canvas: &Canvas,
    kind: PictureType,
    quality: u8,
    fit: &Fit,
    drawn: impl Fn(&Canvas, u32, u32) -> Result<Canvas, Error>,
) -> Result<Encoded, Error> {
    let longest = canvas.width.max(canvas.height);
    let first = sides_within(canvas.width, canvas.height, f64::from(fit.max_side.max(1)) / f64::from(longest));
    let mut best = encode(&drawn(canvas, first.0, first.1)?, kind, quality)?;
    if best.bytes.len() <= fit.max_bytes {
        return Ok(best);
    }
    let limit = first.0.max(first.1);
    let mut side = limit;
    let mut smaller = SIDES.into_iter().filter(|next| *next < limit);
    loop {
        let (width, height) = sides_within(canvas.width, canvas.height, f64::from(side) / f64::from(longest));
        let sized = drawn(canvas, width, height)?;
        for quality in QUALITIES.into_iter().filter(|lower| kind == PictureType::Png || *lower < quality) {
            let tried = encode(&sized, PictureType::Jpeg, quality)?;
            if tried.bytes.len() < best.bytes.len() {
                best = tried;
            }
            if best.bytes.len() <= fit.max_bytes {
                return Ok(best);
            }
        }
        if side <= 16 {
            return Ok(best);
        }
        side = smaller.next().unwrap_or(side / 2);
    }
}

/// Sides scaled down in proportion, at least 1, never enlarged.
#[must_use]
pub fn sides_within(width: u32, height: u32, scale: f64) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most what it was")]
    let scaled = |side: u32| ((f64::from(side) * scale.min(1.0)).round() as u32).max(1);
    (scaled(width), scaled(height))
}

fn png(canvas: &Canvas) -> Result<Vec<u8>, Error> {
    let problem = |error: png::EncodingError| failed("write", error);
    let mut bytes = Vec::with_capacity(canvas.pixels.len() / 8);
    let mut encoder = png::Encoder::new(&mut bytes, canvas.width, canvas.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(problem)?;
    writer.write_image_data(&canvas.pixels).map_err(problem)?;
    writer.finish().map_err(problem)?;
    Ok(bytes)
}

fn jpeg(canvas: &Canvas, quality: u8) -> Result<Vec<u8>, Error> {
    let side = |side: u32| u16::try_from(side).map_err(|error| failed("write", error));
    let mut bytes = Vec::with_capacity(canvas.pixels.len() / 10);
    let mut encoder = Encoder::new(&mut bytes, quality.clamp(1, 100));
    // Thin coloured text needs a high quality.
    let sampling = if quality >= 90 { SamplingFactor::R_4_4_4 } else { SamplingFactor::R_4_2_0 };
    encoder.set_sampling_factor(sampling);
    encoder
        .encode(&canvas.pixels, side(canvas.width)?, side(canvas.height)?, ColorType::Rgb)
        .map_err(|error| failed("write", error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What compresses badly.
    fn noise(width: u32, height: u32) -> Canvas {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u8::try_from(state >> 24).unwrap()
        };
        let pixels = (0..width * height * 3).map(|_| next()).collect();
        Canvas { width, height, pixels }
    }

    fn within(canvas: &Canvas, kind: PictureType, max_side: u32, max_bytes: usize) -> Encoded {
        encode_within(canvas, kind, QUALITY, &Fit { max_side, max_bytes }, Canvas::resized).unwrap()
    }

    #[test]
    fn a_picture_within_the_limits_stays_what_it_is() {
        let canvas = noise(60, 40);
        let got = within(&canvas, PictureType::Png, 2000, 1 << 20);
        assert_eq!((got.kind, got.width, got.height), (PictureType::Png, 60, 40));
        assert_eq!(Canvas::decode(&got.bytes).unwrap(), canvas);
    }

    #[test]
    fn too_long_a_side_is_cut_down_in_proportion() {
        let got = within(&noise(60, 400), PictureType::Png, 200, 1 << 20);
        assert_eq!((got.kind, got.width, got.height), (PictureType::Png, 30, 200));
    }

    #[test]
    fn too_many_bytes_make_it_a_jpeg_that_gets_smaller_until_it_fits() {
        let canvas = noise(900, 900);
        let png = encode(&canvas, PictureType::Png, QUALITY).unwrap().bytes.len();
        let got = within(&canvas, PictureType::Png, 2000, png / 2);
        assert_eq!((got.kind, got.width), (PictureType::Jpeg, 900));
        let got = within(&canvas, PictureType::Png, 2000, png / 40);
        assert!(got.bytes.len() <= png / 40 && got.width < 800, "{} {}", got.bytes.len(), got.width);
        assert_eq!(got.width, got.height);
    }

    #[test]
    fn limits_that_nothing_can_keep_give_the_smallest_there_is() {
        let got = within(&noise(300, 200), PictureType::Jpeg, 2000, 1);
        assert_eq!(got.kind, PictureType::Jpeg);
        assert!(got.bytes.len() < 2000, "{}", got.bytes.len());
    }
}
