//! Prints the results as a table.

use super::super::output::{Out, Style};
use super::row::{Row, Unit};
use super::{Part, Report};

fn heading(part: Part) -> &'static str {
    match part {
        Part::Memory => "memory of one browser",
        Part::Tabs => "tabs",
        Part::Browsers => "additional browsers",
        Part::Contexts => "browser contexts with one tab each",
        Part::Startup => "starting and stopping a browser",
        Part::Calls => "calls",
        Part::Events => "events",
        Part::Dialogs => "dialogs",
    }
}

fn unit(unit: Unit, style: Style) -> &'static str {
    match unit {
        Unit::Micros => style.pick("µs", "us"),
        Unit::Millis => "ms",
        Unit::PerSecond => "/s",
        Unit::Kibibytes => "KiB",
        Unit::Mebibytes => "MiB",
        Unit::Percent => "%",
        Unit::Count => "",
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 || v.fract() == 0.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The cells of a row: name, median with unit, range, rounds.
fn cells(row: &Row, style: Style) -> [String; 4] {
    let median = row.median.map_or("unknown".to_owned(), |v| format!("{} {}", number(v), unit(row.unit, style)));
    let range = row.min.zip(row.max).filter(|_| row.rounds > 1);
    let range = range.map(|(min, max)| format!("{} to {}", number(min), number(max))).unwrap_or_default();
    [row.what.clone(), median.trim_end().to_owned(), range, row.rounds.to_string()]
}

pub(super) fn print(report: &Report, out: &Out) {
    let style = out.style;
    if report.rows.is_empty() {
        return;
    }
    let browser = report.browser.as_deref().unwrap_or("unknown browser");
    let over = match report.transport {
        "attached" => " (already running)".to_owned(),
        transport => format!(" over a {transport}"),
    };
    if !out.quiet {
        out.line(&style.bold(&format!("cdpilot {} on {browser}{over}", report.version)));
    }
    let lines: Vec<(Part, [String; 4])> = report.rows.iter().map(|row| (row.part, cells(row, style))).collect();
    let head = ["", "median", "range", "rounds"].map(str::to_owned);
    let width = |n: usize| lines.iter().map(|(_, c)| &c[n]).chain([&head[n]]).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..4).map(|n| width(n).unwrap_or_default()).collect();
    let line = |c: &[String; 4]| {
        let [a, b, d, e] = [widths[0], widths[1], widths[2], widths[3]];
        format!("  {:<a$}  {:>b$}  {:>d$}  {:>e$}", c[0], c[1], c[2], c[3])
    };
    out.line(&style.dim(&line(&head)));
    let mut part = None;
    for (of, cells) in &lines {
        if part != Some(*of) {
            out.line(&style.bold(heading(*of)));
            part = Some(*of);
        }
        out.line(&line(cells));
    }
    if !out.quiet {
        out.line("");
        report.machine.lines().iter().for_each(|line| out.line(line));
        out.line(&format!("measured in {:.1} s", report.total_ms as f64 / 1000.0));
    }
}
