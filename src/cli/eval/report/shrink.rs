//! Screenshots in a report: half as wide, as JPEG, so that a report of many runs can still be opened.

use fast_image_resize::images::Image;
use fast_image_resize::{PixelType, Resizer};
use jpeg_encoder::{ColorType, Encoder};
use png::{Decoder, Transformations};

/// JPEG quality, 1 to 100.
const QUALITY: u8 = 65;
/// Width from which an image is halved, in pixels.
const WIDE: u32 = 900;

/// A PNG as a smaller JPEG; `None` if it cannot be read.
pub(super) fn shrink(png: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    let (kind, color) = match info.color_type.samples() {
        1 => (PixelType::U8, ColorType::Luma),
        3 => (PixelType::U8x3, ColorType::Rgb),
        4 => (PixelType::U8x4, ColorType::Rgba),
        _ => return None,
    };
    pixels.truncate(info.buffer_size());
    let whole = Image::from_vec_u8(info.width, info.height, pixels, kind).ok()?;
    let step = if info.width > WIDE { 2 } else { 1 };
    let mut small = Image::new((info.width / step).max(1), (info.height / step).max(1), kind);
    Resizer::new().resize(&whole, &mut small, None).ok()?;
    let (width, height) = (u16::try_from(small.width()).ok()?, u16::try_from(small.height()).ok()?);
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, QUALITY).encode(small.buffer(), width, height, color).ok()?;
    Some(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_screenshots_are_halved_and_other_files_are_left_alone() {
        let png = |width: u32, height: u32| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, width, height);
            encoder.set_color(png::ColorType::Rgb);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(&vec![200; (width * height * 3) as usize]).unwrap();
            writer.finish().unwrap();
            bytes
        };
        // Height and width stand behind the marker of the frame.
        let size = |jpeg: &[u8]| {
            let at = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
            let number = |at: usize| u32::from(jpeg[at]) * 256 + u32::from(jpeg[at + 1]);
            (number(at + 7), number(at + 5))
        };
        assert_eq!(size(&shrink(&png(1280, 720)).unwrap()), (640, 360));
        assert_eq!(size(&shrink(&png(400, 301)).unwrap()), (400, 301));
        assert_eq!(shrink(b"not a picture"), None);
    }
}
