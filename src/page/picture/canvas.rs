//! Pixels: reading what the browser sends, putting one picture on another, making it smaller.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use super::super::Error;

/// Bytes of a pixel.
const RGB: usize = 3;

/// A picture of 8-bit RGB pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Canvas {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<u8>,
}

/// What cannot be done with pixels.
pub(super) fn failed(doing: &'static str, problem: impl ToString) -> Error {
    Error::Screenshot { doing, problem: problem.to_string() }
}

impl Canvas {
    /// A white one.
    pub(super) fn white(width: u32, height: u32) -> Self {
        let pixels = vec![255; at(width, 0, i64::from(height))];
        Self { width, height, pixels }
    }

    /// Reads a PNG. What is see-through is shown on white.
    pub(super) fn decode(png: &[u8]) -> Result<Self, Error> {
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
                pixels.chunks_exact(4).flat_map(|p| [0, 1, 2].map(|i| on_white(p[i], p[3]))).collect()
            }
            png::ColorType::Grayscale => pixels.iter().flat_map(|level| [*level; RGB]).collect(),
            png::ColorType::GrayscaleAlpha => {
                pixels.chunks_exact(2).flat_map(|p| [on_white(p[0], p[1]); RGB]).collect()
            }
            png::ColorType::Indexed => return Err(failed("read", "its pixels are not expanded")),
        };
        Ok(Self { width: frame.width, height: frame.height, pixels })
    }

    /// The sides of a PNG, in pixels, without reading the rest.
    pub(super) fn sides(png: &[u8]) -> Result<(u32, u32), Error> {
        let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().map_err(|e| failed("read", e))?;
        Ok((reader.info().width, reader.info().height))
    }

    /// The same with other sides. Every source pixel counts, so that thin lines and text stay.
    pub(super) fn resized(&self, width: u32, height: u32) -> Result<Self, Error> {
        if (width, height) == (self.width, self.height) {
            return Ok(self.clone());
        }
        let source = ImageRef::new(self.width, self.height, &self.pixels, PixelType::U8x3)
            .map_err(|error| failed("resize", error))?;
        let mut resized = Image::new(width, height, PixelType::U8x3);
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        Resizer::new().resize(&source, &mut resized, &options).map_err(|error| failed("resize", error))?;
        Ok(Self { width, height, pixels: resized.into_vec() })
    }

    /// Puts another picture on this one; what falls outside is left out.
    pub(super) fn paste(&mut self, other: &Self, left: i64, top: i64) {
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

    /// Paints a rectangle; what falls outside is left out.
    pub(super) fn fill(&mut self, left: i64, top: i64, width: i64, height: i64, colour: [u8; RGB]) {
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

/// Where a pixel is in the bytes.
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
