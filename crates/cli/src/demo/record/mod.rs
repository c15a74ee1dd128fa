//! `cdpilot demo record`: records a purchase in a local shop, each step verified.
//!
//! A browser, a server with a temporary home and the shop of the evaluation are started. A second CDP client acts in the browser as a
//! person does, so that the server knows of it only what it records.

mod follow;
mod steps;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::super::args;
use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::super::settings::{Settings, headless};
use super::show::steps::{Step, Steps};
use super::show::{Problem, Screen};
use cdpilot::browser::Switch;
use cdpilot::sync::Deadline;

/// What to run the demo with.
struct Options {
    executable: PathBuf,
    headless: Switch,
    /// Folder for the results; `None` for a new temporary one.
    out: Option<PathBuf>,
    /// Limit of each step; `None` for the usual one.
    timeout: Option<Duration>,
}

impl Options {
    /// The limit of a step.
    fn deadline(&self) -> Deadline<'static> {
        Deadline::after(self.timeout.unwrap_or(Duration::from_secs(30)))
    }
}

/// The JSON result.
#[derive(Debug, Default, Serialize)]
struct Report {
    browser: Option<String>,
    steps: Vec<Step>,
    /// The events, in order.
    events: Vec<Value>,
    /// The steps of the draft, in sentences.
    draft: Vec<String>,
    /// The folder with the results.
    folder: Option<PathBuf>,
    keyframes: Vec<PathBuf>,
    exports: Vec<PathBuf>,
    total_ms: u64,
}

#[derive(Serialize)]
struct Output<'a> {
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    #[serde(flatten)]
    report: &'a Report,
}

pub(super) fn run(args: &args::DemoRecord, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    // Fails before anything is printed.
    let executable = cdpilot::browser::find::find(args.browser.as_deref())?.path;
    let options = Options {
        executable,
        headless: headless(args.headless, Switch::Auto),
        out: args.out.clone(),
        timeout: settings.own_timeout(),
    };
    let began = Instant::now();
    let screen = Screen { write: &|text| out.text(text), style: out.style, quiet: out.quiet };
    if !out.quiet {
        out.line(&out.style.bold("cdpilot demo record: a person buys candles, and every action becomes an event"));
    }
    let mut steps = Steps::new(&screen, steps::STEPS);
    let mut report = Report::default();
    steps::all(&options, &mut steps, &mut report);
    report.total_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let failure = steps.failure.take().map(Failure::from);
    report.steps = steps.done;
    let seconds = began.elapsed().as_secs_f64();
    match &failure {
        None if out.quiet => {}
        None => {
            let done = out.style.green(out.style.pick("✓ all steps passed", "all steps passed"));
            out.line(&format!("{done} in {seconds:.1} s"));
        }
        Some(failure) => out.line(&out.style.red(&format!("the demo failed after {seconds:.1} s: {}", failure.error))),
    }
    let exit = failure.as_ref().map_or(Exit::Done, |failure| match failure.exit {
        Exit::NoBrowser => Exit::NoBrowser,
        _ => Exit::Failed,
    });
    out.object(&Output { ok: failure.is_none(), failure: failure.as_ref(), report: &report });
    Ok(exit)
}
