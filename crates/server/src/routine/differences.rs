//! Differences between two texts, by lines.

use std::fmt::Write as _;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Above this product of the changed line counts, everything changed is shown as removed and added.
const MAX_COMPARED: usize = 4_000_000;
/// Unchanged lines that a unified difference shows around changes.
const CONTEXT: usize = 3;

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Whether the line is in both texts, in the old one, or in the new one.
    pub kind: DifferenceKind,
    /// Line of the old text, from 1, unless the line was added.
    pub old_line: Option<usize>,
    /// Line of the new text, from 1, unless the line was removed.
    pub new_line: Option<usize>,
    /// The line without its end.
    pub text: String,
}

/// Which text has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceKind {
    /// Both.
    Same,
    /// The old one.
    Removed,
    /// The new one.
    Added,
}

/// All lines of both texts in order, removed lines above those that were added in their place.
#[must_use]
pub fn differences(old: &str, new: &str) -> Vec<Difference> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    operations(&old, &new).iter().flat_map(|operation| rows(operation, &old, &new)).collect()
}

/// The differences in unified form, with 3 lines around each change; empty if no line differs.
#[must_use]
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = String::new();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        if out.is_empty() {
            out.push_str("--- old\n+++ new\n");
        }
        let old_range = range(first.old_range().start, last.old_range().end);
        let new_range = range(first.new_range().start, last.new_range().end);
        let _ = writeln!(out, "@@ -{old_range} +{new_range} @@");
        for row in hunk.iter().flat_map(|operation| rows(operation, &old, &new)) {
            let sign = match row.kind {
                DifferenceKind::Same => ' ',
                DifferenceKind::Removed => '-',
                DifferenceKind::Added => '+',
            };
            let _ = writeln!(out, "{sign}{}", row.text);
        }
    }
    out
}

/// First line and count, as `@@` lines have them.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let above = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(above..).unwrap_or_default(), new.get(above..).unwrap_or_default());
    let below = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (removed, added) = (old_rest.len() - below, new_rest.len() - below);
    if removed.saturating_mul(added) <= MAX_COMPARED {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let same = |index, len| DiffOp::Equal { old_index: index, new_index: index, len };
    let changed = DiffOp::Replace { old_index: above, old_len: removed, new_index: above, new_len: added };
    let rest = DiffOp::Equal { old_index: above + removed, new_index: above + added, len: below };
    let all = [same(0, above), changed, rest];
    all.into_iter().filter(|operation| !operation.old_range().is_empty() || !operation.new_range().is_empty()).collect()
}

fn rows(operation: &DiffOp, old: &[&str], new: &[&str]) -> Vec<Difference> {
    let row = |kind, old_line, new_line, text: Option<&&str>| Difference {
        kind,
        old_line,
        new_line,
        text: text.map_or(String::new(), |text| (*text).to_owned()),
    };
    if let DiffOp::Equal { old_index, new_index, len } = *operation {
        let same =
            |i| row(DifferenceKind::Same, Some(old_index + i + 1), Some(new_index + i + 1), old.get(old_index + i));
        return (0..len).map(same).collect();
    }
    let removed = operation.old_range().map(|i| row(DifferenceKind::Removed, Some(i + 1), None, old.get(i)));
    let added = operation.new_range().map(|i| row(DifferenceKind::Added, None, Some(i + 1), new.get(i)));
    removed.chain(added).collect()
}
