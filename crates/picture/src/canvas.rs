//! Pixels: decoding captures, pasting, resizing.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::{Error, Rect};

/// Bytes per pixel.
const RGB: usize = 3;

/// An image of 8-bit RGB pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Three bytes for each pixel, row by row.
    pub pixels: Vec<u8>,
}

/// An error of image processing.
pub(crate) fn failed(doing: &'static str, problem: impl ToString) -> Error {
    Error { doing, problem: problem.to_string() }
}

impl Canvas {
    /// A white image.
    #[must_use]
    pub fn white(width: u32, height: u32) -> Self {
        let pixels = vec![255; at(width, 0, i64::from(height))];
        Self { width, height, pixels }
    }

    /// Decodes a PNG. Transparent pixels become white.
    ///
    /// # Errors
    /// The bytes are not a PNG, or the image is larger than memory.
    pub fn decode(png: &[u8]) -> Result<Self, Error> {
        let problem = |error: png::DecodingError| failed("read", error);
        let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(png), png::Limits { bytes: usize::MAX });
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(problem)?;
        let size = reader.output_buffer_size().ok_or_else(|| failed("read", "it is too large"))?;
        let mut pixels = vec![0; size];
        let frame = reader.next_frame(&mut pixels).map_err(problem)?;
        pixels.truncate(frame.buffer_size());
        let on_white = |level: u8, alpha: u8| {
            let mixed = u32::from(level) * u32::from(alpha) + 255 * (255 - u32::from(alpha));
            u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
        };
        let pixels = match frame.color_type {
            png::ColorType::Rgb => pixels,
            png::ColorType::Rgba => {
                let mut rgb = vec![255; pixels.len() / 4 * RGB];
                for (to, from) in rgb.chunks_exact_mut(RGB).zip(pixels.chunks_exact(4)) {
                    match from[3] {
                        255 => to.copy_from_slice(&from[..RGB]),
                        alpha => to.iter_mut().zip(from).for_each(|(to, from)| *to = on_white(*from, alpha)),
                    }
                }
                rgb
            }
            png::ColorType::Grayscale => pixels.iter().flat_map(|level| [*level; RGB]).collect(),
            png::ColorType::GrayscaleAlpha => {
                pixels.chunks_exact(2).flat_map(|p| [on_white(p[0], p[1]); RGB]).collect()
            }
            png::ColorType::Indexed => return Err(failed("read", "its pixels are not expanded")),
        };
        Ok(Self { width: frame.width, height: frame.height, pixels })
    }

    /// Width and height of a PNG in pixels, from its header.
    ///
    /// # Errors
    /// The bytes are not a PNG.
    pub fn sides(png: &[u8]) -> Result<(u32, u32), Error> {
        let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().map_err(|e| failed("read", e))?;
        Ok((reader.info().width, reader.info().height))
    }

    /// Decodes a JPEG.
    ///
    /// # Errors
    /// The bytes are not a JPEG, or one of its sides is longer than 16,384 pixels.
    pub fn decode_jpeg(jpeg: &[u8]) -> Result<Self, Error> {
        use zune_jpeg::zune_core::bytestream::ZCursor;
        use zune_jpeg::zune_core::colorspace::ColorSpace;
        use zune_jpeg::zune_core::options::DecoderOptions;
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(jpeg), options);
        let pixels = decoder.decode().map_err(|error| failed("read", error))?;
        let (width, height) = decoder.dimensions().ok_or_else(|| failed("read", "it has no size"))?;
        let side = |length: usize| u32::try_from(length).map_err(|_| failed("read", "it is too large"));
        let (width, height) = (side(width)?, side(height)?);
        if pixels.len() != at(width, 0, i64::from(height)) {
            return Err(failed("read", "it is incomplete"));
        }
        Ok(Self { width, height, pixels })
    }

    /// The resized image. Every source pixel counts, so that thin lines and text stay visible.
    ///
    /// # Errors
    /// A side is zero.
    pub fn resized(&self, width: u32, height: u32) -> Result<Self, Error> {
        if (width, height) == (self.width, self.height) {
            return Ok(self.clone());
        }
        // With the pixel type known here, the program holds the code for this one only.
        let source = TypedImageRef::<U8x3>::from_buffer(self.width, self.height, &self.pixels)
            .map_err(|error| failed("resize", error))?;
        let mut resized = Self { width, height, pixels: vec![0; at(width, 0, i64::from(height))] };
        let mut target = TypedImage::<U8x3>::from_buffer(width, height, &mut resized.pixels)
            .map_err(|error| failed("resize", error))?;
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        Resizer::new().resize_typed(&source, &mut target, &options).map_err(|error| failed("resize", error))?;
        Ok(resized)
    }

    /// Pastes another image; parts outside are clipped.
    pub fn paste(&mut self, other: &Self, left: i64, top: i64) {
        for row in 0..i64::from(other.height) {
            let first = (-left).max(0);
            let last = i64::from(other.width).min(i64::from(self.width) - left);
            if top + row < 0 || top + row >= i64::from(self.height) || first >= last {
                continue;
            }
            let from = at(other.width, first, row);
            let to = at(self.width, left + first, top + row);
            let length = usize::try_from(last - first).unwrap_or_default() * RGB;
            if let (Some(to), Some(from)) =
                (self.pixels.get_mut(to..to + length), other.pixels.get(from..from + length))
            {
                to.copy_from_slice(from);
            }
        }
    }

    /// A part of the picture; what is outside is left out.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the picture")]
    #[must_use]
    pub fn cut(&self, part: &Rect) -> Self {
        let side = |from: f64, to: f64, most: u32| {
            let start = (from.round().max(0.0) as u32).min(most.saturating_sub(1));
            (start, (to.round().max(0.0) as u32).clamp(start + 1, most.max(start + 1)) - start)
        };
        let (left, width) = side(part.x, part.right(), self.width);
        let (top, height) = side(part.y, part.bottom(), self.height);
        let mut cut = Self::white(width, height);
        cut.paste(self, -i64::from(left), -i64::from(top));
        cut
    }

    /// Fills a rectangle; parts outside are clipped.
    pub fn fill(&mut self, left: i64, top: i64, width: i64, height: i64, colour: [u8; RGB]) {
        let (right, bottom) = ((left + width).min(self.width.into()), (top + height).min(self.height.into()));
        let (left, top) = (left.max(0), top.max(0));
        if left >= right {
            return;
        }
        for row in top..bottom {
            let range = at(self.width, left, row)..at(self.width, right, row);
            let Some(pixels) = self.pixels.get_mut(range) else { continue };
            pixels.chunks_exact_mut(RGB).for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }
}

/// The byte offset of a pixel.
fn at(width: u32, x: i64, y: i64) -> usize {
    usize::try_from(y * i64::from(width) + x).unwrap_or(usize::MAX / RGB) * RGB
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, colour: [u8; 3]) -> Canvas {
        let pixels = colour.repeat((width * height) as usize);
        Canvas { width, height, pixels }
    }

    #[test]
    fn what_is_painted_or_pasted_over_the_edge_is_left_out() {
        let mut canvas = plain(4, 3, [0, 0, 0]);
        canvas.fill(-1, -1, 2, 2, [9, 9, 9]);
        canvas.paste(&plain(3, 3, [7, 7, 7]), 3, 2);
        canvas.paste(&plain(3, 3, [5, 5, 5]), -2, 2);
        canvas.fill(9, 9, 5, 5, [1, 1, 1]);
        canvas.fill(0, 0, -5, 5, [1, 1, 1]);
        let levels: Vec<u8> = canvas.pixels.chunks(3).map(|pixel| pixel[0]).collect();
        assert_eq!(levels, [9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 7]);
    }

    #[test]
    fn a_picture_that_is_made_smaller_keeps_its_colours() {
        let mut canvas = plain(40, 20, [255, 255, 255]);
        canvas.fill(0, 0, 20, 20, [255, 0, 0]);
        let small = canvas.resized(10, 5).unwrap();
        assert_eq!((small.width, small.height, small.pixels.len()), (10, 5, 150));
        assert_eq!((&small.pixels[..3], &small.pixels[27..30]), (&[255, 0, 0][..], &[255, 255, 255][..]));
    }
}
