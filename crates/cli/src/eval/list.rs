//! `cdpilot eval list`.

use serde::Serialize;

use super::super::failure::{Exit, Failure};
use super::super::output::{Out, clean};
use super::args::List;
use super::inputs;
use super::run::REPLAY;
use cdpilot_eval::dataset::Difficulty;

#[derive(Serialize)]
struct Output<'a> {
    ok: bool,
    tests: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    difficulty: Difficulty,
    points: f64,
    time_limit: f64,
    cost_limit: f64,
    currency: &'a str,
    track: &'a str,
}

pub(super) fn run(args: &List, out: &Out) -> Result<Exit, Failure> {
    let mut dataset = inputs::dataset(&args.inputs, &args.track, out)?;
    dataset.tests.retain(|test| args.track != REPLAY || test.routine_file.is_some());
    let width = dataset.tests.iter().map(|test| test.id.len()).max().unwrap_or_default();
    for test in &dataset.tests {
        let difficulty =
            Difficulty::ALL.iter().find(|(_, known)| *known == test.difficulty).map_or("", |(name, _)| name);
        let replay = if test.routine_file.is_some() { " (replay)" } else { "" };
        let limits = format!("{:>4} s  {:>5} {}", test.time_limit, test.cost_limit, test.currency);
        out.line(&format!(
            "{:width$}  {difficulty:9}  {:>5} points  {limits}  {}{replay}",
            test.id,
            test.max(),
            clean(&test.description)
        ));
    }
    let listed = dataset.tests.iter().map(|test| Listed {
        id: &test.id,
        name: &test.name,
        description: &test.description,
        difficulty: test.difficulty,
        points: test.max(),
        time_limit: test.time_limit,
        cost_limit: test.cost_limit,
        currency: &test.currency,
        track: if test.routine_file.is_some() { "replay" } else { &args.track },
    });
    out.object(&Output { ok: true, tests: listed.collect() });
    Ok(Exit::Done)
}
