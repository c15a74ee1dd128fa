//! `cdpilot ui`: prints a one-time URL of the web UI.

use std::time::Duration;

use super::args::Global;
use super::client::{Request, of_answer};
use super::connect::{Connector, ask};
use super::failure::{Exit, Failure};
use super::output::{Out, clean};
use super::settings::Settings;
use cdpilot_server::api::operations as op;

pub(super) fn run(global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let connector = Connector::new(global)?;
    let found = connector.find()?;
    let patience = settings.timeout(Duration::from_secs(10));
    let answer = ask(&connector, found, true, &Request::of(op::UI_TICKET), patience, out)?;
    if let Some(failure) = of_answer(&answer) {
        return Err(failure);
    }
    out.raw(&answer.text);
    out.line(&clean(answer.value["url"].as_str().unwrap_or_default()));
    out.aside("open it within 60 seconds; it works once");
    Ok(Exit::Done)
}
