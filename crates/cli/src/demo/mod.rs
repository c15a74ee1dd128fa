//! `cdpilot demo`: demonstrates dialog and frame handling on local pages in a temporary browser, and verifies each step.

mod dialogs;
mod processes;
mod run;
mod site;
mod steps;
mod tree;

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use super::args;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::Settings;
use cdpilot::supervisor::FrameTree;
use steps::{Step, Steps};

/// The JSON result of the demo.
#[derive(Debug, Default, Serialize)]
struct Report {
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    browser: Option<String>,
    executable: Option<PathBuf>,
    steps: Vec<Step>,
    frame_tree: Option<FrameTree>,
    dialogs: Vec<dialogs::DialogRecord>,
    titles: Vec<Title>,
    screenshot: Option<PathBuf>,
    total_ms: u64,
}

/// Title of a frame, read by a script in that frame.
#[derive(Debug, Serialize)]
struct Title {
    frame_id: String,
    url: String,
    is_oopif: bool,
    title: String,
}

pub(super) fn run(args: &args::Demo, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    // Fails before anything is printed.
    let executable = cdpilot::browser::find::find(args.browser.as_deref())?.path;
    let began = Instant::now();
    if !out.quiet {
        out.line(&out.style.bold("cdpilot demo: dialogs and nested frames, which routinely hang browser automation"));
    }
    let mut steps = Steps::new(out, run::STEPS);
    let mut report = Report { executable: Some(executable.clone()), ..Report::default() };
    run::all(args, executable, settings, &mut steps, &mut report);
    report.total_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.ok = steps.failure.is_none();
    report.failure = steps.failure;
    report.steps = steps.done;
    conclude(&report, out);
    let exit = match &report.failure {
        None => Exit::Done,
        Some(Failure { exit: Exit::NoBrowser, .. }) => Exit::NoBrowser,
        Some(_) => Exit::Failed,
    };
    out.object(&report);
    Ok(exit)
}

fn conclude(report: &Report, out: &Out) {
    if report.ok && out.quiet {
        return;
    }
    let seconds = report.total_ms as f64 / 1000.0;
    match &report.failure {
        None => {
            let done = out.style.green(out.style.pick("✓ all steps passed", "all steps passed"));
            out.line(&format!("{done} in {seconds:.1} s"));
        }
        Some(failure) => out.line(&out.style.red(&format!("the demo failed after {seconds:.1} s: {}", failure.error))),
    }
}
