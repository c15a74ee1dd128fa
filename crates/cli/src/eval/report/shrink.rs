//! Screenshots in a report: half as wide, as JPEG, so that a report of many runs can still be opened.

use cdpilot_picture::{Canvas, PictureType, encode};

/// JPEG quality, 1 to 100.
const QUALITY: u8 = 65;
/// Width from which an image is halved, in pixels.
const WIDE: u32 = 900;

/// A PNG as a smaller JPEG; `None` if it cannot be read.
pub(super) fn shrink(png: &[u8]) -> Option<Vec<u8>> {
    let whole = Canvas::decode(png).ok()?;
    let step = if whole.width > WIDE { 2 } else { 1 };
    let small = whole.resized((whole.width / step).max(1), (whole.height / step).max(1)).ok()?;
    Some(encode(&small, PictureType::Jpeg, QUALITY).ok()?.bytes)
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
        assert!(shrink(&png_of(1000, 600, png::ColorType::Grayscale)) == shrink(&png(1000, 600)), "the same picture");
        assert_eq!(size(&shrink(&png_of(1000, 600, png::ColorType::Rgba)).unwrap()), (500, 300));
        assert_eq!(shrink(b"not a picture"), None);
    }
}
