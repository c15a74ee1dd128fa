//! Inspection of pixels in screenshots.

use base64::Engine as _;
use cdpilot::page::{PictureType, Screenshot};

/// A picture as 8-bit RGB.
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    rgb: Vec<u8>,
}

impl Pixels {
    pub(crate) fn of(picture: &Screenshot) -> Self {
        assert_eq!(picture.kind, PictureType::Png);
        Self::decode(&picture.bytes)
    }

    pub(crate) fn decode(png: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        decoder.set_limits(png::Limits { bytes: usize::MAX });
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut rgb).unwrap();
        if frame.color_type == png::ColorType::Rgba {
            rgb = rgb.chunks(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        }
        Self { width: frame.width, height: frame.height, rgb }
    }

    pub(crate) fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let index = ((y * self.width + x) * 3) as usize;
        [self.rgb[index], self.rgb[index + 1], self.rgb[index + 2]]
    }

    /// How many pixels have a colour.
    pub(crate) fn count(&self, colour: [u8; 3]) -> usize {
        self.rgb.chunks(3).filter(|pixel| *pixel == colour).count()
    }

    /// The box around all pixels of a colour: left, top, right, bottom; the last two are outside.
    pub(crate) fn bounds(&self, colour: [u8; 3]) -> Option<(u32, u32, u32, u32)> {
        let mut bounds = None;
        for (y, row) in (0..).zip(self.rgb.chunks(self.width as usize * 3)) {
            for (x, _) in (0..).zip(row.chunks(3)).filter(|(_, pixel)| *pixel == colour) {
                let (l, t, r, b) = bounds.unwrap_or((x, y, x + 1, y + 1));
                bounds = Some((l.min(x), t.min(y), r.max(x + 1), b.max(y + 1)));
            }
        }
        bounds
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Writes a picture where somebody can look at it, when `CDPILOT_TEST_PICTURES` names a folder.
pub(crate) fn keep(picture: &Screenshot) {
    let Some(folder) = std::env::var_os("CDPILOT_TEST_PICTURES") else { return };
    let thread = std::thread::current();
    cdpilot::page::save(folder.as_ref(), thread.name().unwrap_or("picture"), picture.kind.ending(), &picture.bytes)
        .unwrap();
}
