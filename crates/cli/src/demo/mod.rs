//! `cdpilot demo`: demonstrates dialog and frame handling; the steps are in `show`. `record`: `cdpilot demo record`.

mod record;
mod show;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use super::args;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::{Settings, headless};
use cdpilot::browser::Switch;
use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};
use show::{Options, Problem, Report, Screen, Sites};

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
    if let Some(args::DemoOf::Record(args)) = &args.what {
        return record::run(args, settings, out);
    }
    // Fails before anything is printed.
    let executable = cdpilot::browser::find::find(args.browser.as_deref())?.path;
    let options = Options {
        serve: &serve,
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

/// Serves the pages of the demo.
fn serve() -> io::Result<Sites> {
    let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let server = HttpServer::start(listener, Limits::default(), Arc::new(Pages))?;
    Ok(Sites { port: server.address().port(), _server: Box::new(server) })
}

struct Pages;

impl Handler for Pages {
    fn admit(&self, _: &Head) -> Result<(), Answer> {
        Ok(())
    }

    fn lane(&self, _: &Head) -> Lane {
        Lane::Control
    }

    fn handle(&self, request: Request) -> Answer {
        match show::page(request.header("host").unwrap_or_default(), &request.path) {
            None => Answer::bytes(StatusCode::NOT_FOUND, "text/plain", Vec::new()),
            Some((media_type, text)) => Answer::bytes(StatusCode::OK, media_type, text.into_bytes()),
        }
    }
}
