//! Inspection of pixels in screenshots.

use base64::Engine as _;
use cdpilot::page::{PictureType, Screenshot};

/// A picture as 8-bit RGB.
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    rgb: Vec<u8>,
}

impl Pixels {
    pub fn of(picture: &Screenshot) -> Self {
        assert_eq!(picture.kind, PictureType::Png);
        Self::decode(&picture.bytes)
    }

    pub fn decode(png: &[u8]) -> Self {
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

    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let index = ((y * self.width + x) * 3) as usize;
        [self.rgb[index], self.rgb[index + 1], self.rgb[index + 2]]
    }

    /// Where pixels have a colour, from the top. The search is done by a library that is optimised in debug builds: there are
    /// millions of pixels.
    pub fn places(&self, colour: [u8; 3]) -> impl Iterator<Item = (u32, u32)> {
        let (finder, mut from) = (memchr::memmem::Finder::new(&colour).into_owned(), 0);
        std::iter::from_fn(move || {
            loop {
                let at = from + finder.find(self.rgb.get(from..)?)?;
                if at.is_multiple_of(3) {
                    from = at + 3;
                    let pixel = u32::try_from(at / 3).unwrap();
                    return Some((pixel % self.width, pixel / self.width));
                }
                from = at + 1;
            }
        })
    }

    /// How many pixels have a colour.
    pub fn count(&self, colour: [u8; 3]) -> usize {
        self.places(colour).count()
    }

    /// The box around all pixels of a colour: left, top, right, bottom; the last two are outside.
    pub fn bounds(&self, colour: [u8; 3]) -> Option<(u32, u32, u32, u32)> {
        around(self.places(colour))
    }
}

/// The box around places: left, top, right, bottom; the last two are outside.
pub fn around(places: impl Iterator<Item = (u32, u32)>) -> Option<(u32, u32, u32, u32)> {
    places.fold(None, |bounds, (x, y)| {
        let (l, t, r, b) = bounds.unwrap_or((x, y, x + 1, y + 1));
        Some((l.min(x), t.min(y), r.max(x + 1), b.max(y + 1)))
    })
}

pub fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Writes a picture where somebody can look at it, when `CDPILOT_TEST_PICTURES` names a folder.
pub fn keep(picture: &Screenshot) {
    let Some(folder) = std::env::var_os("CDPILOT_TEST_PICTURES") else { return };
    let thread = std::thread::current();
    cdpilot::page::save(folder.as_ref(), thread.name().unwrap_or("picture"), picture.kind.ending(), &picture.bytes)
        .unwrap();
}
