//! Raw CDP commands.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::guard::check_raw;
use super::super::{Outcome, Scope, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools};
use crate::config::RawCdp;
use crate::control::RawCall;

/// Reference of the protocol.
const DOCS: &str = "https://chromedevtools.github.io/devtools-protocol/";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Command {
    /// Domain.command
    method: String,
    #[serde(default)]
    params: Map<String, Value>,
    /// Tab id
    target_id: Option<String>,
    /// Frame id, also out of process
    frame_id: Option<String>,
    /// Seconds [30]
    timeout: Option<u32>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let (availability, browser) = (browser.clone(), browser.clone());
    let is_available = move |scope: &Scope| {
        availability.is_reachable(scope) && availability.control.config().browser.raw_cdp_enabled != RawCdp::Off
    };
    vec![
        Tool::when(
            "browser_cdp",
            "Send a raw Chrome DevTools Protocol command when no other tool fits.",
            is_available,
            move |call, command| send(&browser.on(call), call, command),
        )
        .needing("a running browser (start it with browser_navigate) and browser.raw_cdp_enabled in config.yaml"),
    ]
}

fn send(browser: &Browser<'_>, call: &ToolContext<'_>, command: Command) -> Result<Outcome, ToolError> {
    call.scope.check_script()?;
    let params = Value::Object(command.params);
    let at = format!("{:?} {:?}", command.target_id, command.frame_id);
    check_raw(call, &command.method, &params, &at)?;
    let time = Duration::from_secs(command.timeout.unwrap_or(30).clamp(1, 300).into());
    let raw = RawCall {
        method: command.method.clone(),
        params,
        target: command.target_id.clone(),
        frame: command.frame_id.clone(),
    };
    let sent = browser.profile()?.raw(raw, call.deadline.within(time));
    let result =
        sent.map_err(|error| ToolError::from(error).with("method", command.method.as_str()).with("cdp_docs", DOCS))?;
    let mut outcome = browser.with_result(Outcome::default().with("method", command.method), result)?;
    for (name, given) in [("target_id", command.target_id), ("frame_id", command.frame_id)] {
        if let Some(given) = given {
            outcome = outcome.with(name, given);
        }
    }
    Ok(browser.finished(outcome))
}
