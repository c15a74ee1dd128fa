//! `cdpilot install`: installs a browser with the system's package manager.

use std::path::PathBuf;

use serde::Serialize;

use super::args::Install;
use super::failure::{Exit, Failure};
use super::output::Out;
use cdpilot::browser::install::{self, InstallPlan, Step};
use cdpilot::browser::{Error, find};
use cdpilot::code::Code;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    ok: bool,
    /// Whether this run installed a browser.
    installed: bool,
    /// Executable of the installed browser.
    browser: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manager: Option<&'static str>,
    /// Commands that were run, or would be with `--dry-run`.
    commands: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

pub(super) fn run(args: &Install, out: &Out) -> Result<Exit, Failure> {
    let there = match find::find(None) {
        Ok(found) => Some(found.path),
        // An unusable CDPILOT_BROWSER would still take precedence over an installed browser.
        Err(problem @ Error::Executable { .. }) if !args.dry_run => return Err(problem.into()),
        Err(_) => None,
    };
    if let (Some(path), false) = (&there, args.dry_run) {
        out.line(&format!("a browser is already installed: {}", path.display()));
        out.object(&Report { ok: true, browser: there, ..Report::default() });
        return Ok(Exit::Done);
    }
    let plan = install::plan().ok_or_else(|| {
        Failure::new(
            Code::NotFound,
            "found no supported package manager; install Chromium or Chrome by hand, or set CDPILOT_BROWSER to an executable",
        )
    })?;
    let mut report = Report::of(&plan);
    if args.dry_run {
        if let Some(path) = &there {
            out.line(&format!("a browser is already installed: {}; commands that would install one:", path.display()));
        }
        report.commands.iter().for_each(|command| out.line(&format!("$ {command}")));
        if let Some(note) = plan.note {
            out.line(&format!("note: {note}"));
        }
        report.browser = there;
        out.object(&report);
        return Ok(Exit::Done);
    }
    // stdout is for the result; the package manager's output goes to stderr.
    install::run(&plan, |line| out.aside(line))
        .map_err(|problem| Failure::new(Code::BrowserError, problem.to_string()))?;
    let found = find::find(None).map_err(|_| {
        Failure::new(
            Code::BrowserError,
            "the commands succeeded, but no browser was found afterwards; set CDPILOT_BROWSER to its executable",
        )
    })?;
    out.line(&format!("installed {}", found.path.display()));
    report.installed = true;
    report.browser = Some(found.path);
    out.object(&report);
    Ok(Exit::Done)
}

impl Report {
    fn of(plan: &InstallPlan) -> Self {
        Self {
            ok: true,
            manager: Some(plan.manager),
            commands: plan.steps.iter().map(Step::command_line).collect(),
            note: plan.note,
            ..Self::default()
        }
    }
}
