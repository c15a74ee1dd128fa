//! Results: median and range over the rounds.

use serde::Serialize;

use super::plan::Part;

/// Unit of a result. Rates are better when high, all others when low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Unit {
    #[serde(rename = "us")]
    Micros,
    #[serde(rename = "ms")]
    Millis,
    #[serde(rename = "per_s")]
    PerSecond,
    #[serde(rename = "KiB")]
    Kibibytes,
    #[serde(rename = "MiB")]
    Mebibytes,
    #[serde(rename = "%")]
    Percent,
    #[serde(rename = "count")]
    Count,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) part: Part,
    pub(super) id: &'static str,
    pub(super) what: String,
    pub(super) unit: Unit,
    /// `null` when unknown.
    pub(super) median: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    /// Number of measurements.
    pub(super) rounds: usize,
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) all: Vec<Row>,
}

impl Rows {
    /// Adds a result; it is unknown when one of its measurements is.
    pub(super) fn add(
        &mut self,
        part: Part,
        (id, what): (&'static str, impl Into<String>),
        unit: Unit,
        samples: impl IntoIterator<Item = Option<f64>>,
    ) {
        let samples: Vec<Option<f64>> = samples.into_iter().collect();
        let rounds = samples.len();
        let mut known: Vec<f64> = samples.into_iter().collect::<Option<_>>().unwrap_or_default();
        known.sort_by(f64::total_cmp);
        let (min, max) = (known.first().copied(), known.last().copied());
        self.all.push(Row { part, id, what: what.into(), unit, median: median(&known), min, max, rounds });
    }

    /// Adds a result whose measurements are all known.
    pub(super) fn add_known(
        &mut self,
        part: Part,
        name: (&'static str, impl Into<String>),
        unit: Unit,
        samples: Vec<f64>,
    ) {
        self.add(part, name, unit, samples.into_iter().map(Some));
    }
}

/// Median of sorted values.
fn median(sorted: &[f64]) -> Option<f64> {
    let (lower, upper) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_median_and_the_range() {
        let mut rows = Rows::default();
        rows.add_known(Part::Calls, ("odd", "odd"), Unit::Micros, vec![3.0, 1.0, 2.0]);
        rows.add_known(Part::Calls, ("even", "even"), Unit::Micros, vec![4.0, 1.0, 2.0, 3.0]);
        rows.add(Part::Calls, ("unknown", "unknown"), Unit::Micros, [Some(1.0), None]);
        rows.add_known(Part::Calls, ("none", "none"), Unit::Micros, vec![]);
        let figures: Vec<_> = rows.all.iter().map(|row| (row.median, row.min, row.max, row.rounds)).collect();
        assert_eq!(figures[0], (Some(2.0), Some(1.0), Some(3.0), 3));
        assert_eq!(figures[1], (Some(2.5), Some(1.0), Some(4.0), 4));
        assert_eq!(figures[2], (None, None, None, 2));
        assert_eq!(figures[3], (None, None, None, 0));
    }
}
