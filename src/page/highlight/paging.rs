//! Pages: which elements are labelled together, so that no label hides or touches anything but its own element.

use super::super::screenshot::Rect;

/// Height of a label, in pixels of the picture.
pub(super) const LABEL_HEIGHT: f64 = 26.0;
/// Least distance of a label from every other label, and from every box that it does not belong to.
pub(super) const GAP: f64 = 6.0;
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

/// Distributes boxes over pages of a picture with some `size`. All boxes are in pixels of the picture, inside it; labels
/// are `label_width` wide. A label is above the top left corner of its box; below it at the top edge of the picture;
/// inside where neither fits.
///
/// On one page, boxes do not overlap, but one may hold another. Each box is on exactly one page. In reading order; a box
/// that does not fit comes on a later page.
pub(super) fn pages(boxes: &[Rect], label_width: f64, size: (f64, f64)) -> Vec<Vec<Placed>> {
    let mut waiting = reading_order(boxes);
    let mut pages = Vec::new();
    while !waiting.is_empty() {
        let mut page: Vec<Placed> = Vec::new();
        waiting.retain(|index| {
            let Some(own) = boxes.get(*index) else { return false };
            let label = label_of(own, label_width, size);
            // The first box of a page is always placed, so that the loop ends.
            let goes_with = |other: &Placed| {
                boxes.get(other.index).is_some_and(|there| goes_with((own, &label), (there, &other.label)))
            };
            let fits = page.len() < MOST && page.iter().all(goes_with);
            if fits {
                page.push(Placed { index: *index, label });
            }
            !fits
        });
        pages.push(page);
    }
    pages
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

/// The label of a box.
pub(super) fn label_of(own: &Rect, width: f64, size: (f64, f64)) -> Rect {
    let y = if own.y >= LABEL_HEIGHT {
        own.y - LABEL_HEIGHT
    } else if own.bottom() + LABEL_HEIGHT <= size.1 {
        own.bottom()
    } else {
        own.y.max(0.0)
    };
    // At the right edge it would be cut off.
    let x = own.x.min(size.0 - width).max(0.0);
    Rect { x, y, width, height: LABEL_HEIGHT }
}

fn goes_with((own, label): (&Rect, &Rect), (there, other): (&Rect, &Rect)) -> bool {
    let nested = own.holds(there) || there.holds(own);
    if !nested && own.and(there).is_some() {
        return false;
    }
    // The label of an inner box is in the box around it.
    let clear = |label: &Rect, own: &Rect, rect: &Rect| rect.holds(own) || !is_near(label, rect);
    !is_near(label, other) && clear(label, own, there) && clear(other, there, own)
}

fn is_near(label: &Rect, rect: &Rect) -> bool {
    let around =
        Rect { x: label.x - GAP, y: label.y - GAP, width: label.width + 2.0 * GAP, height: label.height + 2.0 * GAP };
    around.and(rect).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: (f64, f64) = (1280.0, 720.0);
    const WIDTH: f64 = 64.0;

    fn rect(x: f64, y: f64, width: f64, height: f64) -> Rect {
        Rect { x, y, width, height }
    }

    fn indexes(boxes: &[Rect]) -> Vec<Vec<usize>> {
        pages(boxes, WIDTH, SIZE).iter().map(|page| page.iter().map(|placed| placed.index).collect()).collect()
    }

    #[test]
    fn labels_are_above_the_corner_and_below_only_at_the_top_edge() {
        assert_eq!(label_of(&rect(100.0, 80.0, 50.0, 20.0), WIDTH, SIZE), rect(100.0, 54.0, WIDTH, 26.0));
        assert_eq!(label_of(&rect(100.0, 26.0, 50.0, 20.0), WIDTH, SIZE), rect(100.0, 0.0, WIDTH, 26.0));
        assert_eq!(label_of(&rect(100.0, 10.0, 50.0, 20.0), WIDTH, SIZE), rect(100.0, 30.0, WIDTH, 26.0));
        // As high as the picture: inside. At the right edge: inside the picture.
        assert_eq!(label_of(&rect(0.0, 0.0, 1280.0, 720.0), WIDTH, SIZE).y, 0.0);
        assert_eq!(label_of(&rect(1270.0, 80.0, 10.0, 20.0), WIDTH, SIZE).x, 1216.0);
    }

    #[test]
    fn overlapping_boxes_are_apart_and_nested_ones_may_be_together() {
        let half = [rect(100.0, 100.0, 100.0, 100.0), rect(150.0, 150.0, 100.0, 100.0)];
        assert_eq!(indexes(&half), [[0], [1]]);
        let nested = [rect(100.0, 100.0, 400.0, 400.0), rect(150.0, 200.0, 100.0, 100.0)];
        assert_eq!(indexes(&nested), [[0, 1]]);
        // Boxes side by side, wide and far enough for their labels; touching ones are not.
        let touching = [rect(100.0, 100.0, 80.0, 30.0), rect(180.0, 100.0, 80.0, 30.0)];
        assert_eq!(indexes(&touching), [[0], [1]]);
        let beside = [rect(100.0, 100.0, 80.0, 30.0), rect(186.0, 100.0, 80.0, 30.0)];
        assert_eq!(indexes(&beside), [[0, 1]]);
        // The labels of narrow ones would touch.
        let narrow = [rect(100.0, 100.0, 30.0, 30.0), rect(130.0, 100.0, 30.0, 30.0), rect(190.0, 100.0, 30.0, 30.0)];
        assert_eq!(indexes(&narrow), [vec![0, 2], vec![1]]);
        // Rows of a table: each label would be on the row above.
        let rows: Vec<Rect> = (0..4).map(|row| rect(10.0, 100.0 + 20.0 * f64::from(row), 200.0, 20.0)).collect();
        assert_eq!(indexes(&rows), [vec![0, 3], vec![1], vec![2]]);
    }

    #[test]
    fn a_page_has_a_maximum_number_of_elements() {
        let boxes: Vec<Rect> =
            (0..200).map(|at| rect(f64::from(at % 16) * 80.0, 30.0 + f64::from(at / 16) * 50.0, 70.0, 16.0)).collect();
        let pages = pages(&boxes, WIDTH, SIZE);
        assert!(pages.iter().all(|page| page.len() <= MOST) && pages.iter().map(Vec::len).sum::<usize>() == 200);
    }

    #[test]
    fn the_first_page_begins_at_the_top_left() {
        let boxes = [rect(500.0, 404.0, 90.0, 20.0), rect(10.0, 400.0, 90.0, 20.0), rect(300.0, 60.0, 90.0, 20.0)];
        assert_eq!(indexes(&boxes), [[2, 1, 0]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn every_box_is_on_one_page_and_nothing_overlaps(
            raw in proptest::collection::vec((0.0..1270.0f64, 0.0..715.0f64, 1.0..400.0f64, 1.0..300.0f64), 0..40),
        ) {
            let inside = |(x, y, width, height): (f64, f64, f64, f64)| {
                rect(x.floor(), y.floor(), width.floor().min(1280.0 - x.floor()), height.floor().min(720.0 - y.floor()))
            };
            let boxes: Vec<Rect> = raw.into_iter().map(inside).collect();
            let pages = pages(&boxes, WIDTH, SIZE);
            let mut seen: Vec<usize> = pages.iter().flatten().map(|placed| placed.index).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..boxes.len()).collect::<Vec<_>>());
            for page in &pages {
                for (at, one) in page.iter().enumerate() {
                    let label = &one.label;
                    prop_assert!(label.x >= 0.0 && label.right() <= SIZE.0 && label.y >= 0.0 && label.bottom() <= SIZE.1);
                    for other in &page[at + 1..] {
                        let (a, b) = (&boxes[one.index], &boxes[other.index]);
                        prop_assert!(a.holds(b) || b.holds(a) || a.and(b).is_none(), "{a:?} {b:?}");
                        prop_assert!(!is_near(&one.label, &other.label));
                        prop_assert!(b.holds(a) || !is_near(&one.label, b));
                        prop_assert!(a.holds(b) || !is_near(&other.label, a));
                    }
                }
            }
        }
    }
}
