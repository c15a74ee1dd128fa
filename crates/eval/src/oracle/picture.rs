//! Whether a screenshot shows a picture, judged by its pixels.
//!
//! Both are averaged over the same cells. A coarse grid of few cells finds the likely places and sizes, a finer one moves
//! each of them to where it fits best, and the finest one decides: every cell must be about as bright as in the picture.

use super::super::assets::Assets;

/// Smallest width of a shown picture, in pixels of the screenshot: its text must be readable.
const MIN_WIDTH: usize = 320;
/// Distance between the widths and places that are tried first, in pixels.
const STRIDE: usize = 16;
/// Cells in a row when places are looked for, when they are improved, and when it is decided.
const COARSE: usize = 8;
const MIDDLE: usize = 24;
const FINE: usize = 60;
/// Number of places that are improved.
const PLACES: usize = 8;
/// Correlation of the coarse cells from which a place is likely; 1 is equal.
const LIKELY: f64 = 0.5;
/// Correlation of the fine cells from which the picture is there.
const ALIKE: f64 = 0.85;
/// Most that the brightness of an equal cell differs, of 255.
const TOLERANCE: f64 = 20.0;
/// Part of the cells that must be equal; buttons lie on the others.
const EQUAL: f64 = 0.95;

/// Brightness of a picture: sums from its top left corner, row by row.
struct Grey {
    width: usize,
    height: usize,
    sums: Vec<u64>,
}

/// Where a picture may be on the screen, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    left: usize,
    top: usize,
    width: usize,
}

impl Grey {
    /// Reads a PNG; `None` if it is none.
    fn read(png: &[u8]) -> Option<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
        let mut pixels = vec![0; reader.output_buffer_size()?];
        let info = reader.next_frame(&mut pixels).ok()?;
        let (width, height) = (info.width as usize, info.height as usize);
        let channels = info.color_type.samples();
        let mut sums = vec![0; width + 1];
        sums.reserve((width + 1) * height);
        for row in pixels.chunks_exact(width * channels).take(height) {
            let mut sum = 0;
            sums.push(0);
            for pixel in row.chunks_exact(channels) {
                sum += match pixel {
                    [red, green, blue, ..] => (u64::from(*red) + u64::from(*green) + u64::from(*blue)) / 3,
                    [grey, ..] => u64::from(*grey),
                    [] => 0,
                };
                let above = sums.get(sums.len() - width - 1)?;
                sums.push(above + sum);
            }
        }
        Some(Self { width, height, sums })
    }

    /// The height of the picture in another width.
    fn height_at(&self, width: usize) -> usize {
        (self.height * width / self.width.max(1)).max(1)
    }

    fn sum(&self, x: usize, y: usize) -> f64 {
        self.sums.get(y * (self.width + 1) + x).map_or(0.0, |sum| *sum as f64)
    }

    /// Average brightness of the cells of a grid over a part of the picture, row by row.
    fn cells(&self, place: Place, height: usize, columns: usize, rows: usize) -> Vec<f64> {
        let mut cells = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            let (top, bottom) = (place.top + row * height / rows, place.top + (row + 1) * height / rows);
            for column in 0..columns {
                let left = place.left + column * place.width / columns;
                let right = place.left + (column + 1) * place.width / columns;
                let sum = self.sum(right, bottom) - self.sum(left, bottom) - self.sum(right, top) + self.sum(left, top);
                cells.push(sum / ((right - left) * (bottom - top)).max(1) as f64);
            }
        }
        cells
    }
}

/// A picture that is looked for on a screen, over a grid.
struct Search<'a> {
    screen: &'a Grey,
    picture: &'a Grey,
    columns: usize,
    rows: usize,
    cells: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(screen: &'a Grey, picture: &'a Grey, columns: usize) -> Self {
        let rows = picture.height_at(columns);
        let whole = Place { left: 0, top: 0, width: picture.width };
        Self { screen, picture, columns, rows, cells: picture.cells(whole, picture.height, columns, rows) }
    }

    fn fits(&self, place: Place) -> bool {
        place.width >= MIN_WIDTH
            && place.left + place.width <= self.screen.width
            && place.top + self.picture.height_at(place.width) <= self.screen.height
    }

    fn shown(&self, place: Place) -> Vec<f64> {
        self.screen.cells(place, self.picture.height_at(place.width), self.columns, self.rows)
    }

    /// How alike the screen at a place is to the picture: -1 to 1.
    fn alike(&self, place: Place) -> f64 {
        if self.fits(place) { correlation(&self.shown(place), &self.cells) } else { -1.0 }
    }

    /// The most likely places, the best one first.
    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for width in (MIN_WIDTH..=self.screen.width).step_by(STRIDE) {
            let height = self.picture.height_at(width);
            if height > self.screen.height {
                break;
            }
            for top in (0..=self.screen.height - height).step_by(STRIDE) {
                for left in (0..=self.screen.width - width).step_by(STRIDE) {
                    let place = Place { left, top, width };
                    let alike = self.alike(place);
                    if alike > LIKELY {
                        places.push((alike, place));
                    }
                }
            }
        }
        places.sort_by(|one, other| other.0.total_cmp(&one.0));
        places.into_iter().take(PLACES).map(|(_, place)| place).collect()
    }

    /// Moves a place and its size by smaller and smaller steps to where the screen is most like the picture.
    fn improved(&self, mut place: Place) -> Place {
        let mut best = self.alike(place);
        let mut step = STRIDE / 2;
        while step > 0 {
            let around = neighbours(place, step).map(|place| (self.alike(place), place));
            match around.into_iter().max_by(|one, other| one.0.total_cmp(&other.0)) {
                Some((alike, better)) if alike > best => (best, place) = (alike, better),
                _ => step /= 2,
            }
        }
        place
    }

    /// Whether the screen shows the picture at a place.
    fn shows(&self, place: Place) -> bool {
        let shown = self.shown(place);
        let equal = shown.iter().zip(&self.cells).filter(|(one, other)| (*one - *other).abs() < TOLERANCE).count();
        self.fits(place) && equal as f64 > EQUAL * shown.len() as f64 && correlation(&shown, &self.cells) > ALIKE
    }
}

/// The places beside one, and those that are narrower or wider around the same middle.
fn neighbours(place: Place, step: usize) -> [Place; 8] {
    let Place { left, top, width } = place;
    [
        Place { left: left.saturating_sub(step), ..place },
        Place { left: left + step, ..place },
        Place { top: top.saturating_sub(step), ..place },
        Place { top: top + step, ..place },
        Place { width: width.saturating_sub(step), ..place },
        Place { width: width + step, ..place },
        Place { left: left + step / 2, top: top + step / 2, width: width.saturating_sub(step) },
        Place { left: left.saturating_sub(step / 2), top: top.saturating_sub(step / 2), width: width + step },
    ]
}

/// How alike two rows of numbers are: -1 to 1; 0 if one of them is uniform.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let count = one.len() as f64;
    let (mean, others_mean) = (one.iter().sum::<f64>() / count, other.iter().sum::<f64>() / count);
    let (mut both, mut square, mut others_square) = (0.0, 0.0, 0.0);
    for (a, b) in one.iter().zip(other) {
        let (a, b) = (a - mean, b - others_mean);
        both += a * b;
        square += a * a;
        others_square += b * b;
    }
    let spread = square * others_square;
    if spread > 0.0 { both / spread.sqrt() } else { 0.0 }
}

/// Whether a screenshot (PNG) shows the picture of a site, for example `bluebook/img/p-0412.png`.
pub(super) fn shows(screenshot: &[u8], sites: &Assets, picture: &str) -> bool {
    let Ok(Some(picture)) = sites.read(picture) else { return false };
    is_shown(screenshot, &picture)
}

fn is_shown(screenshot: &[u8], picture: &[u8]) -> bool {
    let (Some(screen), Some(picture)) = (Grey::read(screenshot), Grey::read(picture)) else { return false };
    let (middle, fine) = (Search::new(&screen, &picture, MIDDLE), Search::new(&screen, &picture, FINE));
    let places = Search::new(&screen, &picture, COARSE).places();
    places.into_iter().any(|place| fine.shows(middle.improved(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brightness of pixels.
    struct Canvas {
        width: usize,
        height: usize,
        pixels: Vec<u8>,
    }

    impl Canvas {
        fn new(width: usize, height: usize, colour: impl Fn(usize, usize) -> u8) -> Self {
            let pixels = (0..width * height).map(|at| colour(at % width, at / width)).collect();
            Self { width, height, pixels }
        }

        /// A page with a title, a table with these figures, and a wall behind it.
        fn table(figures: [usize; 6]) -> Self {
            Self::new(450, 562, |x, y| match (x, y) {
                (0..30, _) | (420.., _) => 110,
                (60..250, 45..75) => 40,
                (60..=390, 125..525) => {
                    let figure = figures[(y - 125) * 6 / 400];
                    let is_ink = (y - 125) % 67 > 40 && (x / 4) % 3 > 0;
                    if is_ink && (x < 210 || (250..260 + 20 * figure).contains(&x)) { 50 } else { 250 }
                }
                _ => 235,
            })
        }

        /// A page with rows of boxes.
        fn page() -> Self {
            Self::new(1280, 720, |x, y| match (x % 160, y % 90) {
                (0..12, _) | (_, 0..10) => 255,
                (12..60, 10..40) => 30,
                _ => 180,
            })
        }

        /// Draws another one at a place, in another width.
        fn draw(mut self, other: &Self, left: usize, top: usize, width: usize) -> Self {
            let height = other.height * width / other.width;
            let from = |at: usize, size: usize, full: usize| {
                (at * full / size)..((at + 1) * full / size).max(at * full / size + 1)
            };
            for y in 0..height {
                for x in 0..width {
                    let (mut sum, mut count) = (0, 0);
                    for v in from(y, height, other.height) {
                        for u in from(x, width, other.width) {
                            sum += usize::from(other.pixels[v * other.width + u]);
                            count += 1;
                        }
                    }
                    self.pixels[(top + y) * self.width + left + x] = u8::try_from(sum / count).unwrap();
                }
            }
            self
        }

        fn png(&self) -> Vec<u8> {
            let mut bytes = Vec::new();
            let size = [self.width, self.height].map(|side| u32::try_from(side).unwrap());
            let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
            encoder.set_color(png::ColorType::Grayscale);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(&self.pixels).unwrap();
            writer.finish().unwrap();
            bytes
        }
    }

    #[test]
    fn a_picture_is_seen_at_every_place_and_size() {
        let table = Canvas::table([3, 5, 2, 4, 1, 5]);
        for (left, top, width) in [(110, 20, 544), (0, 0, 576), (701, 13, 411), (955, 319, 320)] {
            let screen = Canvas::page().draw(&table, left, top, width);
            assert!(is_shown(&screen.png(), &table.png()), "{left} {top} {width}");
        }
    }

    #[test]
    fn small_things_may_lie_on_it() {
        let table = Canvas::table([3, 5, 2, 4, 1, 5]);
        let button = Canvas::new(40, 40, |_, _| 255);
        let screen = Canvas::page().draw(&table, 110, 20, 544).draw(&button, 124, 340, 40).draw(&button, 600, 340, 40);
        assert!(is_shown(&screen.png(), &table.png()));
    }

    #[test]
    fn what_is_covered_or_cut_is_not_seen() {
        let table = Canvas::table([3, 5, 2, 4, 1, 5]);
        let sheet = Canvas::new(544, 200, |x, y| if x % 40 < 20 && y % 20 < 8 { 60 } else { 240 });
        let covered = Canvas::page().draw(&table, 110, 20, 544).draw(&sheet, 110, 300, 544);
        let narrow = Canvas::page().draw(&table, 110, 20, 544).draw(&sheet, 110, 300, 272);
        assert!(!is_shown(&covered.png(), &table.png()) && !is_shown(&narrow.png(), &table.png()));
        let half = Canvas::new(450, 280, |x, y| table.pixels[y * table.width + x]);
        assert!(!is_shown(&Canvas::page().draw(&half, 110, 20, 544).png(), &table.png()));
    }

    #[test]
    fn nothing_else_is_taken_for_it() {
        let (table, other) = (Canvas::table([3, 5, 2, 4, 1, 5]), Canvas::table([1, 2, 5, 1, 5, 2]));
        let blank = Canvas::new(1280, 720, |_, _| 255);
        for screen in [Canvas::page().draw(&other, 110, 20, 544), Canvas::page(), blank] {
            assert!(!is_shown(&screen.png(), &table.png()));
        }
        // Too small to be read.
        assert!(!is_shown(&Canvas::page().draw(&table, 110, 20, 200).png(), &table.png()));
        assert!(!is_shown(b"no picture", &table.png()) && !is_shown(&table.png(), &[]));
    }
}
