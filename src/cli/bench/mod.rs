//! `cdpilot bench`: measures the cost of browsers and the speed of calls on this machine.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | the parts to measure, and their sizes |
//! | `run_limit` | the deadline of the run, and signals |
//! | `browsers` | the measured browsers |
//! | `memory`, `machine` | memory of processes, properties of the machine |
//! | `row`, `table` | results, and printing them |
//! | `cost` | start, memory, tabs, contexts, browsers |
//! | `speed` | calls, events, dialogs |
//!
//! It measures through the supervisor, as programs use it, except for concurrent calls from one thread, which use the
//! connection below it.

mod browsers;
mod cost;
mod machine;
mod memory;
mod plan;
mod row;
mod run_limit;
mod speed;
mod table;

use std::time::Instant;

use serde::Serialize;

use super::args;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::Settings;
use browsers::BrowserSource;
use machine::Machine;
pub(super) use plan::Part;
use plan::Plan;
use row::{Row, Rows};
use run_limit::RunLimit;

/// The JSON result; `--help` describes it.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    version: &'static str,
    browser: Option<String>,
    transport: &'static str,
    machine: Machine,
    plan: Plan,
    rows: Vec<Row>,
    total_ms: u64,
}

/// Context of every part of the run.
struct Run<'a> {
    plan: &'a Plan,
    browsers: &'a BrowserSource,
    watch: &'a RunLimit,
    out: &'a Out,
}

impl Run<'_> {
    /// Shows progress on a terminal, and fails when the run has to end.
    fn step(&self, what: &str, round: usize, of: usize) -> Result<(), Failure> {
        self.watch.check()?;
        self.out.progress(&format!("{what}, {} of {of}", round + 1));
        Ok(())
    }
}

pub(super) fn run(args: &args::Bench, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let began = Instant::now();
    let plan = Plan::new(args)?;
    let watch = RunLimit::start(settings, plan.quick)?;
    // Fails before anything is measured.
    let browsers = BrowserSource::new(args)?;
    let mut machine = Machine::now();
    let mut rows = Rows::default();
    let outcome = parts(&Run { plan: &plan, browsers: &browsers, watch: &watch, out }, &mut rows);
    out.progress("");
    // An interruption may have caused the failure; then it is reported instead.
    let failure = outcome.err().map(|failure| watch.check().err().unwrap_or(failure));
    machine.finish();
    rows.all.sort_by_key(|row| row.part);
    let report = Report {
        ok: failure.is_none(),
        failure,
        version: env!("CARGO_PKG_VERSION"),
        browser: browsers.product(),
        transport: browsers.transport(),
        machine,
        plan,
        rows: rows.all,
        total_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    table::print(&report, out);
    out.object(&report);
    if let Some(failure) = report.failure.as_ref().filter(|_| !out.json) {
        out.failure(failure);
    }
    Ok(report.failure.map_or(Exit::Done, |failure| failure.exit))
}

/// Measures the parts. Memory comes first: memory that earlier parts had freed would falsify it.
fn parts(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    cost::memory(run, rows)?;
    if run.plan.wants(Part::Contexts) {
        cost::contexts(run, rows)?;
    }
    if run.plan.wants(Part::Startup) {
        cost::startup(run, rows)?;
    }
    if run.plan.wants(Part::Calls) {
        speed::calls(run, rows)?;
    }
    if run.plan.wants(Part::Events) {
        speed::events(run, rows)?;
    }
    if run.plan.wants(Part::Dialogs) {
        speed::dialogs(run, rows)?;
    }
    Ok(())
}
