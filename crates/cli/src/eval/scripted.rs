//! Models of the program itself: the oracle, and models that must not pass. Their endpoint and their entries in the settings of
//! the server exist for the time of an evaluation.

use serde_json::{Value, json};

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::Failure;
use super::models;
use cdpilot_eval::Assets;
use cdpilot_eval::oracle::{Oracle, is_scripted};
use cdpilot_server::api::operations as op;

/// How often the models are added again.
const TRIES: usize = 5;
/// What they are offered, unless --toolsets says something else.
pub(super) const TOOLSETS: [&str; 2] = ["visual", "browser"];

/// The endpoint, and the models that were added to the settings.
pub(super) struct Scripted {
    oracle: Oracle,
    names: Vec<String>,
}

impl Scripted {
    /// Starts the endpoint if one of these models needs it: a scripted one that the settings do not have. `sites`: the files of
    /// the sites.
    pub(super) fn begin(link: &Link<'_>, wanted: &[String], sites: Assets) -> Result<Option<Self>, Failure> {
        let settings = link.ask(&Request::of(op::MODELS))?;
        let is_known = |name: &str| !settings["models"][name].is_null();
        let names: Vec<String> = wanted.iter().filter(|name| is_scripted(name) && !is_known(name)).cloned().collect();
        if names.is_empty() {
            return Ok(None);
        }
        let oracle = Oracle::start(sites)
            .map_err(|problem| Failure::internal(format!("cannot start the endpoint of the oracle: {problem}")))?;
        let scripted = Self { oracle, names };
        scripted.add(link)?;
        Ok(Some(scripted))
    }

    fn add(&self, link: &Link<'_>) -> Result<(), Failure> {
        self.change(link, |models| {
            // Entries of evaluations that were killed.
            models.retain(|alias, model| !is_ours(alias) || models::is_there(model));
            for name in &self.names {
                let price = json!({ "input": 0, "output": 0, "currency": "USD" });
                let model = json!({ "model": name, "base_url": self.oracle.url(), "price": price });
                models.insert(self.alias(name), model);
            }
        })
    }

    /// Adds the models again if somebody who changed the settings at the same time has removed them.
    pub(super) fn keep(&self, link: &Link<'_>) -> Result<(), Failure> {
        for _ in 0..TRIES {
            let settings = link.ask(&Request::of(op::MODELS))?;
            if self.names.iter().all(|name| !settings["models"][self.alias(name)].is_null()) {
                return Ok(());
            }
            self.add(link)?;
        }
        Ok(())
    }

    /// The name of a model in the settings: that of a scripted one ends with its port, so that evaluations do not share it.
    pub(super) fn alias(&self, name: &str) -> String {
        match self.names.iter().any(|own| own == name) {
            true => format!("{name}@{}", self.oracle.port()),
            false => name.to_owned(),
        }
    }

    /// Looks for a value in what the models receive from now on.
    pub(super) fn look_for(&self, secret: &str) {
        self.oracle.look_for(secret);
    }

    /// Whether a model has received a value.
    pub(super) fn has_received(&self, secret: &str) -> bool {
        self.oracle.has_received(secret)
    }

    /// Removes the models from the settings.
    pub(super) fn end(&self, link: &Link<'_>) {
        let aliases: Vec<String> = self.names.iter().map(|name| self.alias(name)).collect();
        // What stays is removed by the next evaluation.
        let _ = self.change(link, |models| models.retain(|alias, _| !aliases.contains(alias)));
    }

    fn change(&self, link: &Link<'_>, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Result<(), Failure> {
        let mut settings = link.ask(&Request::of(op::MODELS))?;
        let mut models = settings["models"].as_object().cloned().unwrap_or_default();
        change(&mut models);
        let default = settings["default"].take();
        link.ask(&Request::of(op::SET_MODELS).and(&json!({ "models": models, "default": default }))).map(drop)
    }
}

fn is_ours(alias: &str) -> bool {
    alias.rsplit_once('@').is_some_and(|(name, port)| is_scripted(name) && port.parse::<u16>().is_ok())
}
