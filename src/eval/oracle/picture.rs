//! Whether a screenshot shows a picture, judged by its pixels.
//!
//! Both are reduced to squares of brightness; the picture is tried in several sizes at every place.

use super::super::assets::Assets;

/// Side of a square of the screenshot, in pixels.
const SQUARE: usize = 8;
/// Widths in which the picture is looked for, in squares.
const WIDTHS: std::ops::RangeInclusive<usize> = 30..=110;
/// Correlation from which it is there; 1 is equal.
const ALIKE: f64 = 0.9;

/// Brightness of squares, row by row.
struct Grey {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Grey {
    /// Reads a PNG and averages it over `columns` by `rows` squares; `None` if it is none.
    fn read(png: &[u8], size: impl Fn(usize, usize) -> (usize, usize)) -> Option<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
        let mut pixels = vec![0; reader.output_buffer_size()?];
        let info = reader.next_frame(&mut pixels).ok()?;
        let (wide, high) = (info.width as usize, info.height as usize);
        let channels = info.color_type.samples();
        let (width, height) = size(wide, high);
        let mut values = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let (left, right) =
                    (column * wide / width, ((column + 1) * wide / width).max(column * wide / width + 1));
                let (top, bottom) = (row * high / height, ((row + 1) * high / height).max(row * high / height + 1));
                let (mut sum, mut count) = (0.0_f32, 0.0_f32);
                for y in top..bottom.min(high) {
                    for x in left..right.min(wide) {
                        let at = (y * wide + x) * channels;
                        let colours = pixels.get(at..at + channels.min(3))?;
                        sum += colours.iter().map(|value| f32::from(*value)).sum::<f32>() / colours.len() as f32;
                        count += 1.0;
                    }
                }
                values.push(sum / count.max(1.0));
            }
        }
        Some(Self { width, height, values })
    }

    fn at(&self, x: usize, y: usize) -> f32 {
        self.values.get(y * self.width + x).copied().unwrap_or_default()
    }

    /// How alike the part of this picture at a place is to the other one: -1 to 1.
    fn correlation(&self, other: &Self, left: usize, top: usize) -> f64 {
        let count = (other.width * other.height) as f64;
        let (mut own, mut others, mut both, mut own_square, mut other_square) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for y in 0..other.height {
            for x in 0..other.width {
                let (a, b) = (f64::from(self.at(left + x, top + y)), f64::from(other.at(x, y)));
                own += a;
                others += b;
                both += a * b;
                own_square += a * a;
                other_square += b * b;
            }
        }
        let covariance = both - own * others / count;
        let spread = (own_square - own * own / count) * (other_square - others * others / count);
        if spread <= 0.0 { 0.0 } else { covariance / spread.sqrt() }
    }
}

/// Whether a screenshot (PNG) shows the picture of a site, for example `bluebook/img/p-0412.png`.
pub(super) fn shows(screenshot: &[u8], sites: &Assets, picture: &str) -> bool {
    let Ok(Some(picture)) = sites.read(picture) else { return false };
    let Some(screen) = Grey::read(screenshot, |wide, high| (wide / SQUARE, high / SQUARE)) else { return false };
    WIDTHS.step_by(1).any(|width| {
        let small = Grey::read(&picture, |wide, high| (width, (high * width / wide.max(1)).max(1)));
        small.is_some_and(|small| {
            let fits = small.width <= screen.width && small.height <= screen.height && small.height > 8;
            fits && (0..=screen.height - small.height)
                .any(|top| (0..=screen.width - small.width).any(|left| screen.correlation(&small, left, top) > ALIKE))
        })
    })
}
