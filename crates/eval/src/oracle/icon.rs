//! Whether the yellow box of a preview contains an icon, judged by its pixels.
//!
//! An icon is given as a sketch: lines of text, where `#` is dark and all else is light. What the box contains is brought to the
//! size of the sketch and compared with it.

/// The colour of the box.
const YELLOW: [u8; 3] = [0xff, 0xd4, 0x00];
/// Width of its line, in pixels.
const LINE: usize = 4;
/// Difference in brightness from the ground from which a pixel belongs to the icon.
const INK: f32 = 60.0;
/// Correlation from which an icon is that of the sketch; 1 is equal.
const ALIKE: f32 = 0.8;

/// A decoded picture.
struct Raster {
    width: usize,
    height: usize,
    channels: usize,
    bytes: Vec<u8>,
}

/// A part of a picture: its first column and row, and those behind its last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Raster {
    /// Decodes a PNG; `None` if it is none.
    fn read(png: &[u8]) -> Option<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
        let mut bytes = vec![0; reader.output_buffer_size()?];
        let info = reader.next_frame(&mut bytes).ok()?;
        let channels = info.color_type.samples();
        Some(Self { width: info.width as usize, height: info.height as usize, channels, bytes })
    }

    fn colours(&self, x: usize, y: usize) -> Option<&[u8]> {
        let at = (y * self.width + x) * self.channels;
        self.bytes.get(at..at + self.channels.min(3))
    }

    fn is_yellow(&self, x: usize, y: usize) -> bool {
        self.colours(x, y).is_some_and(|colours| colours == YELLOW)
    }

    fn brightness(&self, x: usize, y: usize) -> f32 {
        let colours = self.colours(x, y).unwrap_or_default();
        colours.iter().map(|value| f32::from(*value)).sum::<f32>() / colours.len().max(1) as f32
    }

    /// The smallest part with all pixels of `within` that are meant.
    fn bounds(within: Part, is_meant: impl Fn(usize, usize) -> bool) -> Option<Part> {
        let mut found: Option<Part> = None;
        for y in within.top..within.bottom {
            for x in (within.left..within.right).filter(|x| is_meant(*x, y)) {
                let part = found.get_or_insert(Part { left: x, top: y, right: x + 1, bottom: y + 1 });
                (part.left, part.right, part.bottom) = (part.left.min(x), part.right.max(x + 1), y + 1);
            }
        }
        found
    }

    /// The icon in the yellow box, without the space around it.
    fn icon(&self) -> Option<Part> {
        // The question stands above the picture, on yellow as wide as the picture.
        let top = (0..self.height).find(|y| !self.is_yellow(0, *y))?;
        let picture = Part { left: 0, top, right: self.width, bottom: self.height };
        let line = Self::bounds(picture, |x, y| self.is_yellow(x, y))?;
        let inner = Part {
            left: line.left + LINE,
            top: line.top + LINE,
            right: line.right.saturating_sub(LINE),
            bottom: line.bottom.saturating_sub(LINE),
        };
        let ground = self.brightness(inner.left, inner.top);
        Self::bounds(inner, |x, y| (self.brightness(x, y) - ground).abs() > INK)
    }

    /// Brightness at a place of a part, given by shares of its width and height.
    fn sample(&self, part: Part, across: f32, down: f32) -> f32 {
        let (left, right, x) = between(part.left, part.right, across);
        let (top, bottom, y) = between(part.top, part.bottom, down);
        let mix = |one: f32, other: f32, share: f32| one + (other - one) * share;
        let above = mix(self.brightness(left, top), self.brightness(right, top), x);
        let below = mix(self.brightness(left, bottom), self.brightness(right, bottom), x);
        mix(above, below, y)
    }
}

/// The two pixels that a place is between, and how near it is to the second one.
fn between(from: usize, to: usize, share: f32) -> (usize, usize, f32) {
    let at = (share * (to - from) as f32 - 0.5).max(0.0);
    let first = from + at as usize;
    (first, (first + 1).min(to - 1), at.fract())
}

/// How alike two rows of numbers are: -1 to 1; 0 if one of them is uniform.
fn correlation(one: &[f32], other: &[f32]) -> f32 {
    let count = one.len() as f32;
    let (mean, others_mean) = (one.iter().sum::<f32>() / count, other.iter().sum::<f32>() / count);
    let (mut both, mut square, mut others_square) = (0.0, 0.0, 0.0);
    for (a, b) in one.iter().zip(other).map(|(a, b)| (a - mean, b - others_mean)) {
        both += a * b;
        square += a * a;
        others_square += b * b;
    }
    let spread = square * others_square;
    if spread > 0.0 { both / spread.sqrt() } else { 0.0 }
}

/// Whether the yellow box of a preview (PNG) contains the icon of a sketch.
pub(super) fn is_like(preview: &[u8], sketch: &[&str]) -> bool {
    let Some(raster) = Raster::read(preview) else { return false };
    let Some(part) = raster.icon() else { return false };
    let (mut drawn, mut seen) = (Vec::new(), Vec::new());
    for (row, line) in sketch.iter().enumerate() {
        for (column, sign) in line.bytes().enumerate() {
            let (across, down) = ((column as f32 + 0.5) / line.len() as f32, (row as f32 + 0.5) / sketch.len() as f32);
            drawn.push(if sign == b'#' { 0.0 } else { 255.0 });
            seen.push(raster.sample(part, across, down));
        }
    }
    correlation(&drawn, &seen) > ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARROW: [&str; 5] = ["..#..", ".###.", "#.#.#", "..#..", "..#.."];
    const FRAME: [&str; 5] = ["#####", "#...#", "#...#", "#...#", "#####"];

    /// A preview: its question, an icon in the yellow box, and another one beside it.
    fn preview(icon: &[&str], pixels: usize) -> Vec<u8> {
        let (width, height, side) = (200, 150, icon.len() * pixels);
        let colour = |x: usize, y: usize| {
            let near = |space: usize| {
                (60 - space..60 + side + space).contains(&x) && (70 - space..70 + side + space).contains(&y)
            };
            let sign =
                |left: usize| icon.get((y - 70) / pixels).and_then(|line| line.as_bytes().get((x - left) / pixels));
            match (x, y) {
                (10..50, 5..15) => [0, 0, 0],
                (_, 0..20) => YELLOW,
                _ if near(0) && sign(60) == Some(&b'#') => [60, 50, 40],
                _ if near(10) => [250, 250, 240],
                _ if near(10 + LINE) => YELLOW,
                (140.., 70..) => [60, 50, 40],
                _ => [250, 250, 240],
            }
        };
        let bytes: Vec<u8> = (0..width * height).flat_map(|at| colour(at % width, at / width)).collect();
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&bytes).unwrap();
        writer.finish().unwrap();
        png
    }

    #[test]
    fn an_icon_is_recognised_in_every_size() {
        for pixels in [2, 3, 7] {
            assert!(is_like(&preview(&ARROW, pixels), &ARROW) && is_like(&preview(&FRAME, pixels), &FRAME), "{pixels}");
            assert!(
                !is_like(&preview(&ARROW, pixels), &FRAME) && !is_like(&preview(&FRAME, pixels), &ARROW),
                "{pixels}"
            );
        }
    }

    #[test]
    fn an_empty_box_and_no_picture_are_no_icon() {
        assert!(!is_like(&preview(&["....", "....", "....", "...."], 4), &ARROW));
        assert!(!is_like(b"no picture", &ARROW) && !is_like(&preview(&ARROW, 3), &[]));
    }
}
