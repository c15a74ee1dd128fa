//! `llm.json`: which models there are, and how they are reached.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::config::Home;

/// How much a model can do at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// One of the large ones.
    #[default]
    Big,
    /// One that needs short prompts and few tools.
    Small,
}

/// What a million tokens cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// Sent.
    pub input: f64,
    /// Sent before and kept by the endpoint.
    pub cached_input: Option<f64>,
    /// Answered.
    pub output: f64,
    /// `USD`, `EUR`.
    pub currency: String,
}

/// A model and its endpoint.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What the endpoint calls it.
    pub model: String,
    /// Where it is: `https://api.example.com/v1`.
    pub base_url: String,
    /// The key itself.
    #[serde(default, skip_serializing)]
    pub api_key: Option<String>,
    /// The environment variable that holds it.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// How much it can do at once.
    #[serde(default)]
    pub profile: Size,
    /// Tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// What it costs.
    #[serde(default)]
    pub price: Option<Price>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No address: there may be a key in it.
        f.debug_struct("Model").field("model", &self.model).finish_non_exhaustive()
    }
}

/// All models that are set up, by alias.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Models {
    /// By alias.
    pub models: BTreeMap<String, Model>,
    /// The alias of the one that is meant when none is named.
    pub default: Option<String>,
}

impl Models {
    /// Those of a home; none when it has no `llm.json`.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Wrong`].
    pub fn of(home: &Home) -> Result<Self, Error> {
        let path = home.root().join("llm.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(problem) => return Err(Error::File { path, problem: problem.to_string() }),
        };
        let mut reader = serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let at = error.path().to_string();
            Error::Wrong { path, at, problem: error.into_inner().to_string() }
        })
    }

    /// The model of an alias, or the default one.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::None`].
    pub fn find(&self, alias: Option<&str>) -> Result<(&str, &Model), Error> {
        let only = || match self.models.len() {
            1 => self.models.keys().next().map(String::as_str),
            _ => None,
        };
        let wanted = match alias.filter(|alias| *alias != "default") {
            Some(alias) => Some(alias),
            None => self.default.as_deref().or_else(only),
        };
        let Some(wanted) = wanted else {
            return if self.models.is_empty() { Err(Error::None) } else { Err(self.unknown("default")) };
        };
        let found = self.models.get_key_value(wanted);
        found.map(|(alias, model)| (alias.as_str(), model)).ok_or_else(|| self.unknown(wanted))
    }

    fn unknown(&self, name: &str) -> Error {
        Error::Unknown { name: name.to_owned(), known: self.models.keys().cloned().collect() }
    }
}
