//! Reading the results of a folder, totals; `cdpilot eval score` and `report`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::args::{Inputs, Score};
use super::plan::Plan;
use super::record::{self, RESULT, Record, Status, TRACK};
use super::run::PLAN;
use super::{inputs, report, safety};
use cdpilot_eval::dataset::Dataset;
use cdpilot_eval::safety::Verdict;

/// The plan of a folder of results, and its tests.
pub(super) fn plan(folder: &Path, given: &Inputs, out: &Out) -> Result<(Plan, Dataset), Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!("{} {what} {PLAN}; give the folder of an evaluation, OUT/STAMP", folder.display()))
    };
    let Ok(plan) = record::read_json::<Plan>(&folder.join(PLAN)) else { return Err(wrong("has a damaged")) };
    let Some(mut plan) = plan else { return Err(wrong("has no")) };
    plan.tidy();
    let inputs = Inputs { dataset: given.dataset.clone().or_else(|| plan.dataset.clone()) };
    let dataset = inputs::dataset(&inputs, &plan.track, out)?;
    if let Some(missing) = plan.tests.iter().find(|id| dataset.test(id).is_none()) {
        return Err(Failure::usage(format!(
            "the test {missing:?} of {} is not in the dataset; give its dataset with --dataset",
            folder.display()
        )));
    }
    Ok((plan, dataset))
}

/// The results of all runs that are over. One that cannot be read counts as missing.
pub(super) fn read(folder: &Path, plan: &Plan, out: &Out) -> Vec<Record> {
    let mut records = Vec::new();
    for job in plan.jobs() {
        match record::read_json::<Record>(&folder.join(job.folder()).join(RESULT)) {
            Ok(found) => records.extend(found),
            Err(failure) => out.warning(&format!("warning: {}; the run counts as not run", failure.error)),
        }
    }
    records
}

/// Writes the reports of stored runs. `again`: scores them again first.
pub(super) fn score(args: &Score, again: bool, out: &Out) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let (plan, dataset) = plan(folder, &args.inputs, out)?;
    let mut records = read(folder, &plan, out);
    let cases = (plan.track == safety::TRACK).then(safety::cases).transpose()?;
    let jobs = plan.jobs();
    if records.len() < jobs.len() {
        out.warning(&format!(
            "warning: {} of {} runs have no result; `cdpilot eval run --resume {}` runs them",
            jobs.len() - records.len(),
            jobs.len(),
            folder.display()
        ));
    }
    for record in records.iter_mut().filter(|_| again) {
        let Some(test) = dataset.test(&record.id) else { continue };
        let job = super::plan::Job { test: record.id.clone(), model: record.model.clone(), repeat: record.repeat };
        let place = folder.join(job.folder());
        let Some(tracked) = record::read_json::<Vec<Value>>(&place.join(TRACK))? else {
            out.warning(&format!("warning: {} has no {TRACK}; its score stays as it is", place.display()));
            continue;
        };
        record.score(test, &tracked, &plan.rates, cases.as_ref());
        record::write_json(&place.join(RESULT), record)?;
    }
    report::write(folder, &plan, &dataset, &records)?;
    print(&records, &plan, folder, out);
    let all_passed = records.len() == jobs.len() && records.iter().all(|record| record.status == Status::Passed);
    Ok(if all_passed { Exit::Done } else { Exit::Failed })
}

/// The totals of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Totals {
    pub(super) model: String,
    pub(super) runs: usize,
    pub(super) passed: usize,
    pub(super) errors: usize,
    pub(super) score: f64,
    pub(super) max: f64,
    /// Mean over all runs.
    pub(super) efficiency: f64,
    /// Mean over the runs of which it is known.
    pub(super) usage: Option<f64>,
    pub(super) composite: Option<f64>,
    pub(super) seconds: f64,
    pub(super) steps: u64,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    /// What was spent, by currency.
    pub(super) costs: BTreeMap<String, f64>,
    /// Runs whose cost is not known.
    pub(super) unknown_costs: usize,
    /// Of the safety track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) safety: Option<SafetyTotals>,
}

/// What the runs of a model in the safety track caused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SafetyTotals {
    /// Runs with a harmful instruction.
    pub(super) injections: usize,
    /// Of these: runs in which the model received it. The others say nothing.
    pub(super) exposed: usize,
    /// Of these: runs in which a secret left, or the forbidden host was reached.
    pub(super) leaks: usize,
    /// Of these: runs with an effect that nobody approved.
    pub(super) unapproved: usize,
    /// Approvals that were requested in them, and refused.
    pub(super) injection_approvals: usize,
    /// Runs with a harmless instruction.
    pub(super) twins: usize,
    /// Of these: runs in which it was carried out.
    pub(super) carried_out: usize,
    /// Of these: runs in which it was not, because calls were refused.
    pub(super) blocked: usize,
    /// Approvals that were requested in them, and given.
    pub(super) twin_approvals: usize,
}

impl SafetyTotals {
    /// The numbers in the order of the columns of a report.
    pub(super) fn columns(&self) -> [usize; 9] {
        [
            self.injections,
            self.exposed,
            self.leaks,
            self.unapproved,
            self.injection_approvals,
            self.twins,
            self.carried_out,
            self.blocked,
            self.twin_approvals,
        ]
    }

    fn add(&mut self, verdict: &Verdict) {
        if verdict.twin {
            self.twins += 1;
            self.carried_out += usize::from(verdict.carried_out);
            self.blocked += usize::from(verdict.blocked);
            self.twin_approvals += verdict.approvals;
        } else {
            self.injections += 1;
            self.exposed += usize::from(verdict.exposed);
            self.leaks += usize::from(!verdict.leaks.is_empty());
            self.unapproved += usize::from(!verdict.unapproved.is_empty());
            self.injection_approvals += verdict.approvals;
        }
    }
}

/// `1 run`, `2 runs`.
pub(super) fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)] // a number of runs
    let count = numbers.len() as f64;
    (!numbers.is_empty()).then(|| rounded(numbers.iter().sum::<f64>() / count))
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// The totals of each model, in the order of the plan.
pub(super) fn totals(records: &[Record], plan: &Plan) -> Vec<Totals> {
    let of = |model: &String| {
        let runs: Vec<&Record> = records.iter().filter(|record| record.model == *model).collect();
        // A run that was not passed has no usage, whatever it cost. Without a price nothing is known.
        let is_priced = runs.iter().any(|run| run.score.usage.is_some());
        let known = |pick: fn(&Record) -> Option<f64>| -> Vec<f64> {
            let of = |run: &&Record| pick(run).or_else(|| (is_priced && !run.score.passed).then_some(0.0));
            runs.iter().filter_map(of).collect()
        };
        let mut totals = Totals { model: model.clone(), runs: runs.len(), ..Totals::default() };
        for run in &runs {
            totals.passed += usize::from(run.status == Status::Passed);
            totals.errors += usize::from(run.status == Status::Error);
            totals.score += run.score.score;
            totals.max += run.score.max;
            totals.seconds += run.facts.seconds;
            totals.steps += run.steps;
            if let Some(verdict) = &run.verdict {
                totals.safety.get_or_insert_default().add(verdict);
            }
            totals.prompt_tokens += run.tokens.prompt;
            totals.completion_tokens += run.tokens.completion;
            match &run.facts.cost {
                Some(cost) => *totals.costs.entry(cost.currency.clone()).or_default() += cost.amount,
                None => totals.unknown_costs += 1,
            }
        }
        totals.efficiency = mean(&known(|run| Some(run.score.efficiency))).unwrap_or_default();
        totals.usage = mean(&known(|run| run.score.usage));
        totals.composite = mean(&known(|run| run.score.composite));
        totals.costs.values_mut().for_each(|amount| *amount = rounded(*amount));
        totals.seconds = rounded(totals.seconds);
        totals
    };
    plan.models.iter().map(of).collect()
}

#[derive(Serialize)]
struct Output<'a> {
    ok: bool,
    folder: String,
    results: Vec<Line<'a>>,
    totals: Vec<Totals>,
    excluded: &'a BTreeMap<String, String>,
    /// Runs without a result.
    missing: usize,
}

/// A run, as `--json` shows it.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    id: &'a str,
    model: &'a str,
    repeat: u32,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    score: f64,
    max: f64,
    passed: bool,
    timed_out: bool,
    over_cost: bool,
    efficiency: f64,
    usage: Option<f64>,
    composite: Option<f64>,
    cost: Option<f64>,
    currency: Option<&'a str>,
    seconds: f64,
    steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
}

impl<'a> Line<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        Self {
            id: &record.id,
            model: &record.model,
            repeat: record.repeat,
            status: record.status,
            cause: record.cause.as_deref(),
            score: record.score.score,
            max: record.score.max,
            passed: record.score.passed,
            timed_out: record.facts.timed_out,
            over_cost: record.facts.over_cost,
            efficiency: record.score.efficiency,
            usage: record.score.usage,
            composite: record.score.composite,
            cost: record.facts.cost.as_ref().map(|cost| cost.amount),
            currency: record.facts.cost.as_ref().map(|cost| cost.currency.as_str()),
            seconds: record.facts.seconds,
            steps: record.steps,
            verdict: record.verdict.as_ref(),
        }
    }
}

fn shown(number: Option<f64>) -> String {
    number.map_or_else(|| "unknown".to_owned(), |number| format!("{number:.3}"))
}

/// The columns of the totals of the safety track.
const COLUMNS: [&str; 9] =
    ["injections", "read", "leaks", "unapproved", "refused", "twins", "carried out", "blocked", "approved"];

/// Prints the totals of the safety track.
fn safety_table(totals: &[Totals], width: usize, out: &Out) {
    if totals.iter().all(|of| of.safety.is_none()) {
        return;
    }
    out.line(&format!("\n{:width$}{}", "model", COLUMNS.map(|name| format!("  {name}")).concat()));
    for of in totals {
        let Some(safety) = &of.safety else { continue };
        let cells =
            COLUMNS.iter().zip(safety.columns()).map(|(name, number)| format!("  {number:width$}", width = name.len()));
        out.line(&format!("{:width$}{}", of.model, cells.collect::<String>()));
    }
    out.line("");
}

/// Prints the totals.
pub(super) fn print(records: &[Record], plan: &Plan, folder: &Path, out: &Out) {
    let totals = totals(records, plan);
    let width = totals.iter().map(|totals| totals.model.chars().count()).max().unwrap_or_default().max(5);
    out.line(&format!("{:width$}  passed   points        efficiency  usage    composite  cost", "model"));
    for of in &totals {
        let mut costs: Vec<String> =
            of.costs.iter().map(|(currency, amount)| format!("{amount:.4} {currency}")).collect();
        if of.unknown_costs > 0 {
            costs.push(format!("unknown for {}", counted(of.unknown_costs, "run")));
        }
        let passed = format!("{}/{}", of.passed, of.runs);
        let points = format!("{}/{}", of.score, of.max);
        out.line(&format!(
            "{:width$}  {passed:7}  {points:12}  {:10.3}  {:7}  {:9}  {}",
            of.model,
            of.efficiency,
            shown(of.usage),
            shown(of.composite),
            costs.join(", ")
        ));
    }
    safety_table(&totals, width, out);
    let missing = plan.jobs().len().saturating_sub(records.len());
    if missing > 0 {
        out.line(&format!("incomplete: {missing} of {} runs have no result", plan.jobs().len()));
    }
    let unknown: usize = records.iter().filter(|record| record.score.passed && record.score.usage.is_none()).count();
    if unknown > 0 {
        out.line(&format!("usage and composite are unknown for {} and left out of means", counted(unknown, "run")));
    }
    out.line(&format!("report: {}", folder.join("report.html").display()));
    let results = records.iter().map(Line::of).collect();
    out.object(&Output {
        ok: true,
        folder: folder.display().to_string(),
        results,
        totals,
        excluded: &plan.excluded,
        missing,
    });
}
