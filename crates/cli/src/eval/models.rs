//! The models of the server, and whether their endpoints answer.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::Failure;
use cdpilot_eval::oracle::{is_scripted, scripted_names};
use cdpilot_server::api::operations as op;

/// How long an endpoint may take for its first answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The models to run: those that are wanted, else the default one. Each is configured, and its endpoint answers.
pub(super) fn reachable(link: &Link<'_>, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let settings = link.ask(&Request::of(op::MODELS))?;
    let known = &settings["models"];
    let mut models: Vec<String> = Vec::new();
    for name in wanted {
        if !models.contains(name) {
            models.push(name.clone());
        }
    }
    if models.is_empty() {
        let Some(name) = settings["default"].as_str() else {
            return Err(Failure::usage(
                "no model is configured; add one in the web UI (`cdpilot ui`, Models) or in llm.json, see docs/configuration.md; --model oracle needs none",
            ));
        };
        models.push(name.to_owned());
    }
    for name in &models {
        let model = &known[name.as_str()];
        if model.is_null() && is_scripted(name) {
            continue;
        }
        if model.is_null() {
            let names: Vec<&str> =
                known.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
            let names = if names.is_empty() {
                "none is configured".to_owned()
            } else {
                format!("configured are {}", names.join(", "))
            };
            return Err(Failure::usage(format!(
                "there is no model {name:?}; {names}; models of the program are {}",
                scripted_names().join(", ")
            )));
        }
        answers(name, model)?;
    }
    Ok(models)
}

/// Whether the endpoint of a model answers.
pub(super) fn is_there(model: &Value) -> bool {
    answers("", model).is_ok()
}

/// Any HTTP answer of `GET BASE/models` shows that the endpoint is there.
fn answers(name: &str, model: &Value) -> Result<(), Failure> {
    let base = model["base_url"].as_str().unwrap_or_default().trim_end_matches('/');
    let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).max_redirects(0);
    let agent: Agent = config.build().into();
    match agent.get(format!("{base}/models")).call() {
        Ok(_) => Ok(()),
        Err(problem) => {
            // The address may contain a key.
            let host = base.split("//").nth(1).unwrap_or(base).split('/').next().unwrap_or_default();
            let host = host.rsplit('@').next().unwrap_or_default();
            Err(Failure::usage(format!(
                "the endpoint of the model {name:?} at {host} does not answer: {}; start it, or correct base_url in llm.json",
                without_address(&problem)
            )))
        }
    }
}

fn without_address(problem: &ureq::Error) -> String {
    match problem {
        ureq::Error::Timeout(_) => format!("nothing within {} s", PATIENCE.as_secs()),
        ureq::Error::Io(problem) => problem.kind().to_string(),
        ureq::Error::HostNotFound => "unknown host".to_owned(),
        ureq::Error::ConnectionFailed => "it does not accept connections".to_owned(),
        _ => "not an HTTP answer".to_owned(),
    }
}
