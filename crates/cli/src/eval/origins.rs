//! The server of the sites: in this process, or `cdpilot eval serve` elsewhere on this machine.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use super::super::failure::Failure;
use super::record::Place;
use super::serve;
use cdpilot_eval::Assets;
use cdpilot_eval::sites::{Run, Sites};

/// Time limit of a request to the sites.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest list of events, in bytes.
const MAX_EVENTS: u64 = 64 << 20;

pub(super) enum Origins {
    Own(Sites),
    Served { base: String, agent: Agent },
}

/// A run on the sites.
pub(super) struct Origin {
    pub(super) place: Place,
    id: String,
    own: Option<Arc<Run>>,
}

impl Origins {
    /// Serves sites in this process.
    pub(super) fn own(assets: Assets, port: u16) -> Result<Self, Failure> {
        Ok(Self::Own(serve::start(assets, port)?))
    }

    /// Uses a running `cdpilot eval serve`.
    pub(super) fn served(port: u16) -> Result<Self, Failure> {
        let config = Agent::config_builder().http_status_as_error(false).proxy(None).timeout_global(Some(PATIENCE));
        let origins = Self::Served { base: format!("http://localhost:{port}"), agent: config.build().into() };
        origins.sites().map_err(|problem| {
            Failure::unreachable(format!(
                "--no-serve: no sites at http://localhost:{port} ({}); start them with `cdpilot eval serve`, or leave out --no-serve",
                problem.error
            ))
        })?;
        Ok(origins)
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, Failure> {
        let Self::Served { base, agent } = self else { return Ok(Value::Null) };
        let url = format!("{base}{path}");
        let failed = |problem: &dyn std::fmt::Display| {
            Failure::unreachable(format!("the sites at {base} do not answer: {problem}"))
        };
        let answer = match (method, body) {
            ("POST", body) => agent.post(&url).send_json(body.unwrap_or_else(|| json!({}))),
            ("DELETE", _) => agent.delete(&url).call(),
            _ => agent.get(&url).call(),
        };
        let mut answer = answer.map_err(|problem| failed(&problem))?;
        let read = answer.body_mut().with_config().limit(MAX_EVENTS).read_json::<Value>();
        let value = read.map_err(|problem| failed(&problem))?;
        match value["ok"] == true {
            true => Ok(value),
            false => Err(failed(&value["error"].as_str().unwrap_or("not the answer of cdpilot's sites"))),
        }
    }

    /// Names of the sites.
    pub(super) fn sites(&self) -> Result<Vec<String>, Failure> {
        match self {
            Self::Own(sites) => Ok(sites.sites()),
            Self::Served { .. } => {
                let answer = self.ask("GET", "/api/sites", None)?;
                let sites = answer["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
                Ok(sites.iter().filter_map(|site| site["id"].as_str()).map(str::to_owned).collect())
            }
        }
    }

    /// Begins a run with origins of its own. `secret`: a value that is looked for in the requests of the safety track.
    pub(super) fn begin(&self, seed: u64, secret: Option<&str>) -> Result<Origin, Failure> {
        match self {
            Self::Own(sites) => {
                let run = sites.begin(seed);
                if let Some(secret) = secret {
                    run.look_for(secret);
                }
                let places = sites.places(&run);
                let place = Place { a: places.a, b: places.b, day: places.today.0, seed };
                Ok(Origin { place, id: run.id().to_owned(), own: Some(run) })
            }
            Self::Served { .. } => {
                let answer = self.ask("POST", "/api/runs", Some(json!({ "seed": seed, "secret": secret })))?;
                let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
                let day = answer["day"].as_u64().unwrap_or_default();
                Ok(Origin { place: Place { a: text("a"), b: text("b"), day, seed }, id: text("id"), own: None })
            }
        }
    }

    /// The events of a run so far, and how many came beyond the limit.
    pub(super) fn events(&self, origin: &Origin) -> Result<(Vec<Value>, u64), Failure> {
        if let Some(run) = &origin.own {
            let tracked = run.tracked();
            return Ok((tracked.events, tracked.lost));
        }
        let mut answer = self.ask("GET", &format!("/api/runs/{}/events", origin.id), None)?;
        let lost = answer["lost"].as_u64().unwrap_or_default();
        match answer["events"].take() {
            Value::Array(events) => Ok((events, lost)),
            _ => Ok((Vec::new(), lost)),
        }
    }

    /// Ends a run. The sites forget it.
    pub(super) fn end(&self, origin: &Origin) {
        match (self, &origin.own) {
            (Self::Own(sites), Some(run)) => sites.end(run),
            // If it cannot be reached, the run ends with the server.
            _ => drop(self.ask("DELETE", &format!("/api/runs/{}", origin.id), None)),
        }
    }
}
