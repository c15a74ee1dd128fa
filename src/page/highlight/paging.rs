//! Pages: which elements are labelled together, so that no label hides or touches anything but its own element.

use super::super::screenshot::Rect;
pub(super) use cdpilot_picture::placing::TextLine;
use cdpilot_picture::placing::{Leave, Near, Scene, centre, is_near, overlap};

/// Maximum number of elements of a page: their lines have to fit into an observation.
const MOST: usize = 90;
/// Elements whose tops differ by less are in one row.
const ROW: f64 = 12.0;

/// A label on its page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    /// The index of its element.
    pub(super) index: usize,
    /// The label.
    pub(super) label: Rect,
}

/// An element to label: its box in pixels of the picture, inside it, and whether its label is the least important: it is disabled,
/// behind a fixed part, or only a container.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) bounds: Rect,
    pub(super) last: bool,
}

/// Distributes targets over pages of a picture. Each is on exactly one page. On one page, boxes do not overlap, but one may hold another,
/// and a label neither touches another label nor overlaps a box that does not hold its own.
///
/// A page takes, in reading order, every target whose label hides nothing there; then those whose label hides little. What comes last is
/// placed after all others. Where no label of a page is without harm, the least harmful positions are used.
pub(super) fn pages(targets: &[Target], lines: &[TextLine], label_width: f64, size: (f64, f64)) -> Vec<Vec<Placed>> {
    let boxes: Vec<Rect> = targets.iter().map(|target| target.bounds).collect();
    let scene = Scene { size, label_width, boxes: &boxes, lines };
    let near: Vec<Near<'_>> = boxes.iter().map(|own| scene.near(own)).collect();
    let mut waiting = reading_order(&boxes);
    waiting.sort_by_key(|index| targets.get(*index).is_some_and(|target| target.last) || is_container(*index, &boxes));
    let mut pages = Vec::new();
    while !waiting.is_empty() {
        let mut page: Vec<Placed> = Vec::new();
        for leave in [Leave::Nothing, Leave::LittleText, Leave::Text, Leave::Targets, Leave::Anything] {
            // The first page hides no line of text. A page with a label is a page, so that the loop ends.
            if leave > Leave::LittleText && (pages.is_empty() || leave > Leave::Text) && !page.is_empty() {
                break;
            }
            waiting.retain(|index| {
                let placed = near
                    .get(*index)
                    .filter(|_| page.len() < MOST)
                    .and_then(|near| place(*index, near, leave, &page, &boxes));
                page.extend(placed);
                placed.is_none()
            });
        }
        if page.is_empty() {
            break;
        }
        pages.push(page);
    }
    pages
}

/// The label of a target on a page; `None` if there is no place for it.
fn place(index: usize, near: &Near<'_>, leave: Leave, page: &[Placed], boxes: &[Rect]) -> Option<Placed> {
    let own = boxes.get(index)?;
    let others = || page.iter().filter_map(|placed| boxes.get(placed.index).map(|there| (there, &placed.label)));
    // The label of an inner box may be in the box around it.
    let clear = |label: &Rect, own: &Rect, rect: &Rect| rect.holds(own) || label.and(rect).is_none();
    let is_apart = |there: &Rect, label: &Rect| {
        (own.holds(there) || there.holds(own) || !overlap(own, there)) && clear(label, there, own)
    };
    if !others().all(|(there, label)| is_apart(there, label)) {
        return None;
    }
    let is_free = |label: &Rect| others().all(|(there, other)| !is_near(label, other) && clear(label, own, there));
    near.best(leave, is_free).map(|label| Placed { index, label })
}

/// Whether a press of the middle of a box presses another target in it, or it holds several: what it holds is labelled first.
fn is_container(index: usize, boxes: &[Rect]) -> bool {
    let Some(own) = boxes.get(index) else { return false };
    let (x, y) = centre(own);
    let inner = boxes.iter().enumerate().filter(|(other, there)| *other != index && own.holds(there) && *there != own);
    let mut count = 0;
    for (_, there) in inner {
        count += 1;
        if count > 2 || there.x <= x && x <= there.right() && there.y <= y && y <= there.bottom() {
            return true;
        }
    }
    false
}

/// Rows from top to bottom, in each row from left to right.
fn reading_order(boxes: &[Rect]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    let at = |index: &usize| boxes.get(*index).map_or((0.0, 0.0), |rect| (rect.y, rect.x));
    order.sort_by(|a, b| at(a).0.total_cmp(&at(b).0));
    let mut row = 0;
    while row < order.len() {
        let top = at(&order[row]).0;
        let end = row + order[row..].iter().take_while(|index| at(index).0 - top < ROW).count().max(1);
        order[row..end].sort_by(|a, b| at(a).1.total_cmp(&at(b).1));
        row = end;
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cdpilot_picture::placing::{LABEL_HEIGHT, hides};

    const SIZE: (f64, f64) = (1280.0, 720.0);
    const WIDTH: f64 = 50.0;

    fn rect(x: f64, y: f64, width: f64, height: f64) -> Rect {
        Rect { x, y, width, height }
    }

    fn targets(boxes: &[Rect]) -> Vec<Target> {
        boxes.iter().map(|bounds| Target { bounds: *bounds, last: false }).collect()
    }

    fn text(x: f64, y: f64, width: f64, height: f64) -> TextLine {
        TextLine { rect: rect(x, y, width, height), vital: false }
    }

    fn placed(boxes: &[Rect], lines: &[TextLine]) -> Vec<Vec<Placed>> {
        pages(&targets(boxes), lines, WIDTH, SIZE)
    }

    fn indexes(boxes: &[Rect]) -> Vec<Vec<usize>> {
        placed(boxes, &[]).iter().map(|page| page.iter().map(|placed| placed.index).collect()).collect()
    }

    fn label(bounds: Rect, lines: &[TextLine]) -> Rect {
        placed(&[bounds], lines)[0][0].label
    }

    #[test]
    fn labels_are_above_the_corner_unless_they_hide_something_there() {
        let own = rect(100.0, 80.0, 60.0, 20.0);
        assert_eq!(label(own, &[]), rect(100.0, 62.0, WIDTH, LABEL_HEIGHT));
        // A title above: at its right side. Text around it on all sides: it stands off.
        let title = text(90.0, 60.0, 200.0, 18.0);
        assert_eq!(label(own, &[title]), rect(160.0, 81.0, WIDTH, LABEL_HEIGHT));
        let around = [
            title,
            text(20.0, 82.0, 78.0, 16.0),
            text(105.0, 82.0, 50.0, 16.0),
            text(162.0, 82.0, 200.0, 16.0),
            text(90.0, 101.0, 200.0, 18.0),
        ];
        let off = label(own, &around);
        assert!(around.iter().all(|line| off.and(&line.rect).is_none()) && off.and(&own).is_none(), "{off:?}");
        // In a large box without text of its own there is room inside.
        let inside = label(rect(0.0, 0.0, 1280.0, 720.0), &[]);
        assert!(rect(0.0, 0.0, 1280.0, 720.0).holds(&inside));
        assert!(label(rect(1270.0, 80.0, 10.0, 20.0), &[]).right() <= SIZE.0);
    }

    #[test]
    fn values_and_labels_of_fields_are_not_covered_where_anything_else_is_possible() {
        let field = rect(300.0, 100.0, 200.0, 30.0);
        let everywhere = text(0.0, 0.0, 1280.0, 720.0);
        let value = TextLine { rect: field, vital: true };
        let [above, below] = [82.0, 130.0].map(|y| TextLine { rect: rect(300.0, y, 120.0, 18.0), vital: true });
        let own = label(field, &[everywhere, value, above, below]);
        assert!([value, above, below].iter().all(|line| own.and(&line.rect).is_none()), "{own:?}");
    }

    #[test]
    fn overlapping_boxes_are_apart_and_nested_ones_may_be_together() {
        let half = [rect(100.0, 100.0, 100.0, 100.0), rect(150.0, 150.0, 100.0, 100.0)];
        assert_eq!(indexes(&half), [[0], [1]]);
        let nested = [rect(100.0, 100.0, 400.0, 400.0), rect(150.0, 200.0, 100.0, 100.0)];
        assert_eq!(indexes(&nested), [[0, 1]]);
        // Boxes side by side, and rows of a table, which touch each other.
        let touching = [rect(100.0, 100.0, 80.0, 30.0), rect(180.0, 100.0, 80.0, 30.0)];
        assert_eq!(indexes(&touching), [[0, 1]]);
        let icons: Vec<Rect> = (0..3).map(|at| rect(100.0 + 30.0 * f64::from(at), 100.0, 24.0, 24.0)).collect();
        assert_eq!(indexes(&icons).len(), 1);
        let rows: Vec<Rect> = (0..8).map(|row| rect(100.0, 100.0 + 20.0 * f64::from(row), 200.0, 20.0)).collect();
        assert_eq!(indexes(&rows).len(), 1);
    }

    #[test]
    fn what_comes_last_does_not_take_the_place_of_others() {
        // A disabled button before a free one, where only one label fits between texts.
        let boxes = [rect(600.0, 100.0, 40.0, 20.0), rect(642.0, 100.0, 40.0, 20.0)];
        let gap = rect(600.0, 80.0, 82.0, 20.0);
        let lines = (0..36).map(|at| f64::from(at) * 20.0);
        let around: Vec<TextLine> = lines
            .flat_map(|y| match y < gap.y || y >= gap.bottom() + 20.0 {
                true => vec![text(0.0, y, 1280.0, 20.0)],
                false => vec![text(0.0, y, gap.x, 20.0), text(gap.right(), y, 500.0, 20.0)],
            })
            .collect();
        let order = |last: [bool; 2]| {
            let both = [0, 1].map(|at| Target { bounds: boxes[at], last: last[at] });
            let pages = pages(&both, &around, WIDTH, SIZE);
            pages.iter().map(|page| page.iter().map(|placed| placed.index).collect()).collect::<Vec<Vec<usize>>>()
        };
        assert_eq!(order([false, false])[0], [0]);
        assert_eq!(order([true, false])[0], [1], "the free one is on the first page");
        assert_eq!(order([true, false]).concat().len(), 2);
        // Of a container only what it holds is labelled first, also if it is before them.
        let group = [rect(100.0, 100.0, 300.0, 40.0), rect(110.0, 105.0, 80.0, 30.0), rect(200.0, 105.0, 150.0, 30.0)];
        assert_eq!(indexes(&group)[0][..2], [1, 2]);
    }

    #[test]
    fn a_page_has_a_maximum_number_of_elements() {
        let boxes: Vec<Rect> =
            (0..200).map(|at| rect(f64::from(at % 16) * 80.0, 30.0 + f64::from(at / 16) * 50.0, 70.0, 16.0)).collect();
        let pages = placed(&boxes, &[]);
        assert!(pages.iter().all(|page| page.len() <= MOST) && pages.iter().map(Vec::len).sum::<usize>() == 200);
    }

    #[test]
    fn the_first_page_begins_at_the_top_left() {
        let boxes = [rect(500.0, 404.0, 90.0, 20.0), rect(10.0, 400.0, 90.0, 20.0), rect(300.0, 60.0, 90.0, 20.0)];
        assert_eq!(indexes(&boxes), [[2, 1, 0]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]

        #[test]
        fn every_box_is_on_one_page_and_nothing_overlaps(
            raw in proptest::collection::vec((0.0..1270.0f64, 0.0..715.0f64, 1.0..400.0f64, 1.0..300.0f64), 0..40),
            texts in proptest::collection::vec((0.0..1200.0f64, 0.0..700.0f64, 1.0..400.0f64), 0..40),
        ) {
            let inside = |(x, y, width, height): (f64, f64, f64, f64)| {
                rect(x.floor(), y.floor(), width.floor().min(1280.0 - x.floor()), height.floor().min(720.0 - y.floor()))
            };
            let boxes: Vec<Rect> = raw.into_iter().map(inside).collect();
            let lines: Vec<TextLine> = texts.into_iter().map(|(x, y, width)| text(x, y, width, 16.0)).collect();
            let pages = placed(&boxes, &lines);
            let mut seen: Vec<usize> = pages.iter().flatten().map(|placed| placed.index).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..boxes.len()).collect::<Vec<_>>());
            if let Some(first) = pages.first().filter(|first| first.len() > 1) {
                for placed in first {
                    prop_assert!(lines.iter().all(|line| !hides(&placed.label, &line.rect)));
                }
            }
            for page in &pages {
                for (at, one) in page.iter().enumerate() {
                    let label = &one.label;
                    prop_assert!(label.x >= 0.0 && label.right() <= SIZE.0 && label.y >= 0.0 && label.bottom() <= SIZE.1);
                    for other in &page[at + 1..] {
                        let (a, b) = (&boxes[one.index], &boxes[other.index]);
                        prop_assert!(a.holds(b) || b.holds(a) || !overlap(a, b), "{a:?} {b:?}");
                        prop_assert!(!is_near(&one.label, &other.label));
                        prop_assert!(b.holds(a) || one.label.and(b).is_none());
                        prop_assert!(a.holds(b) || other.label.and(a).is_none());
                    }
                }
            }
        }
    }
}
