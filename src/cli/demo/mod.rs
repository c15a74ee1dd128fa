//! `cdpilot demo`: what the supervisor does, shown on local pages in a browser of our own, and proved
//! step by step.

mod dialogs;
pub(super) mod family;
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
use crate::supervisor::FrameTree;
use steps::{Step, Steps};

/// What the demo found, for programs.
#[derive(Debug, Default, Serialize)]
struct Report {
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    browser: Option<String>,
    executable: Option<PathBuf>,
    steps: Vec<Step>,
    frame_tree: Option<FrameTree>,
    dialogs: Vec<dialogs::Shown>,
    titles: Vec<Title>,
    screenshot: Option<PathBuf>,
    total_ms: u64,
}

/// A frame's title, read by a script inside the frame.
#[derive(Debug, Serialize)]
struct Title {
    frame_id: String,
    url: String,
    is_oopif: bool,
    title: String,
}

pub(super) fn run(args: &args::Demo, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    // Looked for before anything is printed: without one there is nothing to show.
    let executable = crate::browser::find::find(args.browser.as_deref())?.path;
    let began = Instant::now();
    if !out.quiet {
        out.line(&out.look.bold("cdpilot demo: dialogs and frames that programs get stuck on"));
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
            let done = out.look.green(out.look.pick("✓ all of it worked", "all of it worked"));
            out.line(&format!("{done}, in {seconds:.1} s"));
        }
        Some(failure) => out.line(&out.look.red(&format!("the demo failed after {seconds:.1} s: {}", failure.error))),
    }
}
