//! Screenshots in a report: half as wide, as JPEG, so that a report of many runs can still be opened.

use fast_image_resize::Resizer;
use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
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
    pixels.truncate(info.buffer_size());
    // One pixel type for all images: the library contains code for each type that is used, 1.7 MB for all of them.
    let rgb: Vec<u8> = match info.color_type.samples() {
        1 => pixels.iter().flat_map(|level| [*level; 3]).collect(),
        3 => pixels,
        4 => pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
        _ => return None,
    };
    let step = if info.width > WIDE { 2 } else { 1 };
    let (width, height) = ((info.width / step).max(1), (info.height / step).max(1));
    let whole = TypedImageRef::<U8x3>::from_buffer(info.width, info.height, &rgb).ok()?;
    let mut small = vec![0; width as usize * height as usize * 3];
    let mut target = TypedImage::<U8x3>::from_buffer(width, height, &mut small).ok()?;
    Resizer::new().resize_typed(&whole, &mut target, None).ok()?;
    let (width, height) = (u16::try_from(width).ok()?, u16::try_from(height).ok()?);
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, QUALITY).encode(&small, width, height, ColorType::Rgb).ok()?;
    Some(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_screenshots_are_halved_and_other_files_are_left_alone() {
        let png_of = |width: u32, height: u32, color: png::ColorType| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, width, height);
            encoder.set_color(color);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(&vec![200; width as usize * height as usize * color.samples()]).unwrap();
            writer.finish().unwrap();
            bytes
        };
        let png = |width: u32, height: u32| png_of(width, height, png::ColorType::Rgb);
        // Height and width stand behind the marker of the frame.
        let size = |jpeg: &[u8]| {
            let at = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
            let number = |at: usize| u32::from(jpeg[at]) * 256 + u32::from(jpeg[at + 1]);
            (number(at + 7), number(at + 5))
        };
        assert_eq!(size(&shrink(&png(1280, 720)).unwrap()), (640, 360));
        assert_eq!(size(&shrink(&png(400, 301)).unwrap()), (400, 301));
        for color in [png::ColorType::Grayscale, png::ColorType::Rgba] {
            assert_eq!(shrink(&png_of(1000, 600, color)), shrink(&png(1000, 600)), "{color:?}");
        }
        assert_eq!(shrink(b"not a picture"), None);
    }
}
