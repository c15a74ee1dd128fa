//! `cdpilot demo`: demonstrates dialog and frame handling. The steps are in `show`.

mod show;

use serde::Serialize;

use super::args;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::{Settings, headless};
use cdpilot::browser::Switch;
use show::{Options, Problem, Report, Screen};

/// The JSON result of the demo.
#[derive(Serialize)]
struct Output<'a> {
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    #[serde(flatten)]
    report: &'a Report,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Browser(error) => error.into(),
            Problem::Supervisor(error) => error.into(),
            Problem::Other { code, text } => Self::new(code, text),
        }
    }
}

pub(super) fn run(args: &args::Demo, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    // Fails before anything is printed.
    let executable = cdpilot::browser::find::find(args.browser.as_deref())?.path;
    let options = Options {
        executable,
        headless: headless(args.headless, Switch::On),
        screenshot: args.screenshot.clone(),
        timeout: settings.own_timeout(),
    };
    let screen = Screen { write: &|text| out.text(text), style: out.style, quiet: out.quiet };
    let mut report = show::run(&options, &screen);
    let failure = report.failure.take().map(Failure::from);
    let exit = match &failure {
        None => Exit::Done,
        Some(Failure { exit: Exit::NoBrowser, .. }) => Exit::NoBrowser,
        Some(_) => Exit::Failed,
    };
    out.object(&Output { ok: failure.is_none(), failure: failure.as_ref(), report: &report });
    Ok(exit)
}
