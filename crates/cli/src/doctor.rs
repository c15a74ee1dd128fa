//! `cdpilot doctor`: checks that browsers work on this machine and in the home, and says how to fix problems.
//!
//! The checks are those of `GET /doctor`. The running server makes them, since it knows its browsers; without a server they
//! are made here.

use std::time::Duration;

use serde::Serialize;

use super::args::{Doctor, Global};
use super::client::{Client, NoAnswer, Request, ServerAddress, Source, of_answer};
use super::connect::{Connector, warn_of_environment};
use super::failure::{Exit, Failure};
use super::output::{Out, WaitIndicator, clean};
use super::settings::Settings;
use super::tool_settings::Catalog;
use cdpilot::browser::is_suspended;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::operations as op;
use cdpilot_server::config::{Config, Home, Running};
use cdpilot_server::control::{Check, CheckStatus as Status, Control, Fixed, Overrides, doctor_of};
use cdpilot_server::server::settings_check;

/// Time limit for all checks together.
const CHECKS_LIMIT: Duration = Duration::from_secs(40);
/// How long to wait for a server that may be stopping; stopping takes at most five seconds.
const STOP_LIMIT: Duration = Duration::from_secs(6);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Said of a server whose answer cannot be parsed.
const UNREADABLE: &str =
    "returned an invalid response; it may be of another version: restart it with `cdpilot serve --stop`";

pub(super) fn run(args: &Doctor, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let connector = Connector::new(global)?;
    // A missing home is reported, not created.
    let home = connector.home.as_ref().filter(|home| home.root().is_dir());
    let fixed = if args.fix { home.map(fix).unwrap_or_default() } else { Vec::new() };
    let checks = {
        let _waiting = WaitIndicator::start(out);
        checks(&connector, settings, out)?
    };
    checks.iter().for_each(|check| print(check, out));
    for done in &fixed {
        out.line(&format!("{} {:<14} {}", out.style.green("fixed"), done.id, done.summary));
    }
    Ok(finish(checks, fixed, out))
}

fn checks(connector: &Connector, settings: &Settings, out: &Out) -> Result<Vec<Check>, Failure> {
    let found = connector.find();
    // A server given by --url or CDPILOT_URL is asked directly.
    if let Ok(found) = &found
        && matches!(found.source, Source::Flag | Source::Environment)
    {
        return asked(found, connector, settings).map_err(Failure::from);
    }
    let alone = || match &connector.home {
        Some(home) => {
            let mut checks = doctor_of(home, Overrides::env(), settings.deadline(CHECKS_LIMIT));
            // Without the file there is nothing to check, and opening the catalog may create folders.
            if home.config().is_file()
                && let Some(catalog) = Config::of(home).ok().and_then(|config| Catalog::open(home, &config).ok())
            {
                settings_check::complete(&mut checks, home, &catalog.registry);
            }
            checks
        }
        None => vec![check("home", "the home folder is unknown", "set CDPILOT_HOME to a writable folder")],
    };
    let serving = connector.home.as_ref().and_then(|home| Some((home, Running::of(home).ok().flatten()?)));
    let Some((home, running)) = serving else { return Ok(alone()) };
    warn_of_environment(&running, out);
    let problem = match ServerAddress::running(running.clone())
        .map_err(NoAnswer::from)
        .and_then(|at| asked(&at, connector, settings))
    {
        Ok(checks) => return Ok(checks),
        Err(none) => Failure::from(none).error,
    };
    // It may be stopping.
    let ending = Deadline::after(STOP_LIMIT);
    while !ending.passed() {
        match Running::of(home) {
            Ok(Some(now)) if now == running => cdpilot::sync::pause(POLL_INTERVAL),
            _ => return Ok(alone()),
        }
        if is_suspended(running.pid) {
            break;
        }
    }
    let silent = check(
        "server",
        format!("the server of this home (process {}) does not answer: {problem}", running.pid),
        "stop it with `cdpilot serve --stop`; the next browser command starts a new one",
    );
    let mut checks = alone();
    match checks.iter_mut().find(|check| check.id == silent.id) {
        Some(known) => *known = silent,
        None => checks.push(silent),
    }
    Ok(checks)
}

/// Asks a server for its checks.
fn asked(found: &ServerAddress, connector: &Connector, settings: &Settings) -> Result<Vec<Check>, NoAnswer> {
    let client = Client::new(found, connector.home.as_ref())?;
    let answer = client.send(&Request::of(op::DOCTOR), settings.timeout(CHECKS_LIMIT))?;
    if let Some(failure) = of_answer(&answer) {
        return Err(failure.into());
    }
    let checks = serde_json::from_value(answer.value["checks"].clone());
    checks.map_err(|_| Failure::unreachable(format!("the server at {} {UNREADABLE}", found.base())).into())
}

fn check(id: &str, summary: impl Into<String>, hint: &str) -> Check {
    Check { id: id.to_owned(), status: Status::Fail, summary: summary.into(), fix_hint: Some(hint.to_owned()) }
}

/// Makes all safe repairs; a running server is not disturbed.
fn fix(home: &Home) -> Vec<Fixed> {
    let Ok(config) = Config::of(home) else { return Vec::new() };
    Control::open(home.clone(), config, Overrides::env()).map(|control| control.fix()).unwrap_or_default()
}

fn print(check: &Check, out: &Out) {
    if out.quiet && check.status == Status::Pass {
        return;
    }
    let style = out.style;
    let mark = match check.status {
        Status::Pass => style.green(style.pick("✓", "ok  ")),
        Status::Warn => style.yellow(style.pick("!", "warn")),
        Status::Fail => style.red(style.pick("✗", "FAIL")),
    };
    out.line(&format!("{mark} {:<14} {}", clean(&check.id), clean(&check.summary)));
    if let Some(hint) = &check.fix_hint {
        let indent = style.pick("", "   ");
        out.line(&format!("{indent}                 {} {}", style.pick("→", "->"), clean(hint)));
    }
}

fn finish(checks: Vec<Check>, fixed: Vec<Fixed>, out: &Out) -> Exit {
    #[derive(Serialize)]
    struct Report {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        checks: Vec<Check>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fixed: Vec<Fixed>,
    }
    let failed: Vec<&str> = checks.iter().filter(|c| c.status == Status::Fail).map(|c| c.id.as_str()).collect();
    let warned = checks.iter().filter(|c| c.status == Status::Warn).count();
    let error = (!failed.is_empty()).then(|| format!("failed checks: {}; see the hints above", failed.join(", ")));
    let no_browser = failed.iter().any(|id| matches!(*id, "browser" | "launch" | "endpoint"));
    let code = error.as_ref().map(|_| if no_browser { Code::BrowserNotRunning } else { Code::Internal });
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
    match &error {
        Some(error) => out.line(&format!("\n{}", out.style.red(error))),
        None if out.quiet => {}
        None if warned == 0 => out.line("\nall checks passed"),
        None => out.line(&format!("\nno check failed, {warned} with a warning")),
    }
    out.object(&Report { ok: error.is_none(), error, code, checks, fixed });
    exit
}
