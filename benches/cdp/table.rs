//! The rows of the result and how they are printed.

use serde::Serialize;

/// Which values of a ratio are better.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// Lower is better.
    AtMost(f64),
    /// Higher is better.
    AtLeast(f64),
    /// The figure of cdpilot counts, not the ratio; lower is better.
    Below(f64),
    /// Reported, without a goal.
    Told,
}

/// One line of the table.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) transport: &'static str,
    pub(crate) raw: f64,
    pub(crate) ours: f64,
    pub(crate) ratio: f64,
    pub(crate) unit: &'static str,
    pub(crate) goal: String,
    pub(crate) met: Option<bool>,
}

impl Row {
    pub(crate) fn new(
        workload: impl Into<String>,
        transport: &'static str,
        (raw, ours, ratio): (f64, f64, f64),
        unit: &'static str,
        goal: Goal,
    ) -> Self {
        let (goal, met) = match goal {
            Goal::AtMost(limit) => (format!("<= {limit:.2}"), Some(ratio <= limit)),
            Goal::AtLeast(limit) => (format!(">= {limit:.2}"), Some(ratio >= limit)),
            Goal::Below(limit) => (format!("ours < {limit}"), Some(ours < limit)),
            Goal::Told => (String::new(), None),
        };
        Self { workload: workload.into(), transport, raw, ours, ratio, unit, goal, met }
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The rows as a text table.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut cells = vec![["workload", "transport", "raw", "ours", "ratio", "unit", "goal", ""].map(str::to_owned)];
    for row in rows {
        cells.push([
            row.workload.clone(),
            row.transport.to_owned(),
            number(row.raw),
            number(row.ours),
            format!("{:.2}", row.ratio),
            row.unit.to_owned(),
            row.goal.clone(),
            row.met.map_or("", |met| if met { "ok" } else { "missed" }).to_owned(),
        ]);
    }
    let width = |column: usize| cells.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..8).map(width).collect();
    let mut out = String::new();
    for line in &cells {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            let piece =
                if (2..5).contains(&column) { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
            out.push_str(&piece);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}
