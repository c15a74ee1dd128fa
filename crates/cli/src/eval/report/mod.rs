//! The report of an evaluation: `report.html` for people, `report.json`, `report.xml` (JUnit).
//!
//! All three follow from the plan, the dataset and the stored runs, so that scoring again writes the same bytes.

mod html;
mod junit;
mod shrink;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::super::failure::Failure;
use super::super::files::{Readers, write as write_file};
use super::inputs::{PerfectPlay, perfect_play};
use super::plan::{Plan, file_name};
use super::record::{self, Record};
use super::results::{Totals, totals};
use cdpilot::code::Code;
use cdpilot_eval::dataset::Dataset;
use cdpilot_server::config::Guard;

/// So many tests that were left out are listed by name.
const FEW: usize = 4;

#[derive(Serialize)]
struct Json<'a> {
    version: &'static str,
    track: &'a str,
    stamp: &'a str,
    rates: &'a BTreeMap<String, f64>,
    /// Approvals of the safety track.
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<Guard>,
    /// Runs without a result.
    missing: usize,
    excluded: &'a BTreeMap<String, String>,
    totals: &'a [Totals],
    /// What the oracle needed, by test.
    perfect_play: &'a BTreeMap<String, PerfectPlay>,
    results: Vec<&'a Record>,
}

/// Writes the reports of a folder.
pub(super) fn write(folder: &Path, plan: &Plan, dataset: &Dataset, records: &[Record]) -> Result<(), Failure> {
    let totals = totals(records, plan);
    let mut perfect = perfect_play(plan.dataset.as_deref());
    perfect.retain(|test, _| plan.tests.contains(test));
    let json = |totals: &[Totals], results: Vec<&Record>, path: &Path| {
        let json = Json {
            version: env!("CARGO_PKG_VERSION"),
            track: &plan.track,
            stamp: &plan.stamp,
            rates: &plan.rates.0,
            guard: plan.guard(),
            missing: missing(plan, records),
            excluded: &plan.excluded,
            totals,
            perfect_play: &perfect,
            results,
        };
        record::write_json(path, &serde_json::to_value(&json).unwrap_or_default())
    };
    for of in &totals {
        let own = records.iter().filter(|record| record.model == of.model).collect();
        let path = folder.join(file_name(&of.model)).join("report.json");
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.map_err(|problem| {
            Failure::new(Code::Internal, format!("cannot create a folder for {}: {problem}", path.display()))
        })?;
        json(std::slice::from_ref(of), own, &path)?;
    }
    json(&totals, records.iter().collect(), &folder.join("report.json"))?;
    let text = |name: &str, text: String| {
        let path = folder.join(name);
        let written = write_file(&path, Readers::Usual, text.as_bytes());
        written.map_err(|problem| Failure::new(Code::Internal, format!("cannot write {}: {problem}", path.display())))
    };
    text("report.xml", junit::text(plan, records))?;
    text("report.html", html::page(folder, plan, dataset, records, &totals, &perfect))
}

/// How many runs of a plan have no result.
fn missing(plan: &Plan, records: &[Record]) -> usize {
    plan.jobs().len().saturating_sub(records.len())
}

/// The tests that were left out, by their reason: one line for each test, or for many of them.
pub(super) fn left_out(plan: &Plan) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, why) in &plan.excluded {
        reasons.entry(why).or_default().push(test);
    }
    let line = |(why, tests): (&str, Vec<&str>)| match tests.as_slice() {
        tests if tests.len() > FEW => format!("left out: {} tests: {why}", tests.len()),
        tests => format!("left out: {}: {why}", tests.join(", ")),
    };
    reasons.into_iter().map(line).collect()
}

/// Text of models and pages in HTML and XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no other control characters, and direction marks would reorder the report.
            '\t' | '\n' => escaped.push(c),
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}
