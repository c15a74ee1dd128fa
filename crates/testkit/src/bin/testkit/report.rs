//! The report at the end of a run.

use std::collections::BTreeMap;

use crate::run::{Outcome, TestResult};

/// How many of the most expensive tests are listed.
const DEAREST: usize = 10;

#[derive(Default)]
struct Sum {
    tests: usize,
    launches: usize,
    cpu: f64,
    wall: f64,
}

/// Prints CPU time and launches by group, and the most expensive tests.
pub(crate) fn print(outcome: &Outcome) {
    let mut groups: BTreeMap<&str, Sum> = BTreeMap::new();
    for result in &outcome.results {
        let sum = groups.entry(result.test.group()).or_default();
        sum.tests += 1;
        sum.launches += outcome.launches.iter().filter(|name| **name == result.test.name).count();
        sum.cpu += result.cpu.unwrap_or_default();
        sum.wall += result.wall;
    }
    let is_measured = outcome.results.iter().any(|result| result.cpu.is_some());
    println!("\n{:<18} {:>6} {:>9} {:>8} {:>8}", "group", "tests", "browsers", "CPU s", "wall s");
    let mut rows: Vec<(&str, Sum)> = groups.into_iter().collect();
    rows.sort_by(|(_, one), (_, other)| {
        (other.cpu, other.wall).partial_cmp(&(one.cpu, one.wall)).unwrap_or(std::cmp::Ordering::Equal)
    });
    for (name, sum) in &rows {
        println!("{name:<18} {:>6} {:>9} {:>8.1} {:>8.1}", sum.tests, sum.launches, sum.cpu, sum.wall);
    }
    let cpu: f64 = rows.iter().map(|(_, sum)| sum.cpu).sum();
    println!(
        "{:<18} {:>6} {:>9} {cpu:>8.1} {:>8.1}",
        "all",
        outcome.results.len(),
        outcome.launches.len(),
        outcome.seconds
    );
    if !is_measured {
        println!("CPU time was not measured: that needs Linux and the right to create control groups");
    }
    println!("\nmost expensive tests (CPU s, wall s):");
    let mut dearest: Vec<&TestResult> = outcome.results.iter().collect();
    let cost = |result: &TestResult| (result.cpu.unwrap_or_default(), result.wall);
    dearest.sort_by(|one, other| cost(other).partial_cmp(&cost(one)).unwrap_or(std::cmp::Ordering::Equal));
    for result in dearest.iter().take(DEAREST) {
        println!("{:>8.1} {:>8.1}  {}", result.cpu.unwrap_or_default(), result.wall, result.test.name);
    }
    let mut omitted: BTreeMap<&str, usize> = BTreeMap::new();
    outcome
        .results
        .iter()
        .filter_map(|result| result.omitted.as_deref())
        .for_each(|why| *omitted.entry(why).or_default() += 1);
    for (why, tests) in omitted {
        println!("OMITTED: {tests} tests, {why}");
    }
}

/// Prints which tests failed. Whether the run passed: a test that passes only when it is run again is a defect, which CI reports
/// without failing.
pub(crate) fn verdict(outcome: &Outcome) -> bool {
    println!();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let (mut failed, mut flaky) = (0, 0);
    for result in outcome.failed() {
        let name = &result.test.name;
        if outcome.retried.iter().any(|again| again.test.name == *name && again.passed) {
            println!("FLAKY: {name} failed with the other tests and passed alone");
            flaky += 1;
        } else if outcome.retried.is_empty() {
            println!("FAILED: {name}");
            failed += 1;
        } else {
            println!("FAILED twice: {name}");
            failed += 1;
        }
    }
    let passed = failed == 0 && (flaky == 0 || is_ci);
    println!(
        "test result: {}. {} passed; {failed} failed; {flaky} flaky; {:.0} CPU s in {:.0} s",
        if passed { "ok" } else { "FAILED" },
        outcome.results.len() - failed - flaky,
        outcome.results.iter().filter_map(|result| result.cpu).sum::<f64>(),
        outcome.seconds
    );
    passed
}
