//! Screenshots in a file: their size, their format and their sides.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::error::ImportError;

/// The most screenshots of a recording.
pub(super) const MAX_PICTURES: usize = 4_000;
/// The most bytes of a screenshot.
pub(super) const MAX_BYTES: usize = 2 << 20;
/// The longest side of a screenshot, in pixels.
const MAX_SIDE: u32 = 8_192;
const JPEG: &str = "image/jpeg";
const PNG: &str = "image/png";

/// The bytes of a screenshot in base64, after their checks.
pub(super) fn decode(place: &str, media_type: &str, base64: &str) -> Result<Vec<u8>, ImportError> {
    let at = |part: &str| format!("{place}.{part}");
    let too_large = || {
        let problem = format!("the screenshot has more than {MAX_BYTES} bytes");
        ImportError::new(at("base64"), problem, "scale it down")
    };
    // Four characters for each three bytes.
    if base64.len() / 4 > MAX_BYTES / 3 + 1 {
        return Err(too_large());
    }
    let bytes = STANDARD.decode(base64).map_err(|_| {
        ImportError::new(at("base64"), "not valid base64", "write the bytes of the image in base64 with padding")
    })?;
    if bytes.len() > MAX_BYTES {
        return Err(too_large());
    }
    let found = if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        JPEG
    } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        PNG
    } else {
        let problem = "the bytes are neither a JPEG nor a PNG image";
        return Err(ImportError::new(at("base64"), problem, "write the bytes of a JPEG or PNG image in base64"));
    };
    if media_type != found {
        let problem = format!("the image is {found}");
        return Err(ImportError::new(at("media_type"), problem, format!("write {found}")));
    }
    let sides = if found == JPEG { jpeg_sides(&bytes) } else { png_sides(&bytes) };
    match sides {
        Some((width, height)) if (1..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height) => Ok(bytes),
        Some((width, height)) => {
            let problem = format!("the image has {width} x {height} pixels");
            let advice = format!("write an image with sides from 1 to {MAX_SIDE} pixels");
            Err(ImportError::new(at("base64"), problem, advice))
        }
        None => {
            let problem = "the image does not say its width and height";
            Err(ImportError::new(at("base64"), problem, "write a complete image"))
        }
    }
}

/// Width and height from the first chunk of a PNG image.
fn png_sides(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.get(8..24)?;
    let side = |from: usize| Some(u32::from_be_bytes(header.get(from..from + 4)?.try_into().ok()?));
    (header.get(..8)? == b"\x00\x00\x00\x0dIHDR").then_some(())?;
    Some((side(8)?, side(12)?))
}

/// Width and height from the first start-of-frame segment of a JPEG image.
fn jpeg_sides(bytes: &[u8]) -> Option<(u32, u32)> {
    let short = |from: usize| Some(u16::from_be_bytes(bytes.get(from..from + 2)?.try_into().ok()?));
    let mut at = 2;
    loop {
        (*bytes.get(at)? == 0xff).then_some(())?;
        match *bytes.get(at + 1)? {
            // Padding.
            0xff => at += 1,
            // Start of frame, except the tables that share its numbers.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((u32::from(short(at + 7)?), u32::from(short(at + 5)?)));
            }
            // Markers without a length.
            0x01 | 0xd0..=0xd7 => at += 2,
            // Image data or the end, without a frame before.
            0xd8..=0xda => return None,
            _ => {
                let length = usize::from(short(at + 2)?);
                (length >= 2).then_some(())?;
                at += 2 + length;
            }
        }
    }
}
