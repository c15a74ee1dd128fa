//! `llm.json`: the configured models.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Error, Usage};
use crate::config::{Home, nearest};
use cdpilot::fields::{self, Misfit, Problem, Style, schema_of};
use cdpilot::setters;

/// The capability class of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// A large model: full prompts, all tools.
    #[default]
    Big,
    /// A small model, for which prompts are short and tools few.
    Small,
}

/// Prices per 1,000,000 tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// Price of input tokens that were not cached.
    pub input: f64,
    /// Price of input tokens that the endpoint had cached. Default `None`: the same as `input`.
    pub cached_input: Option<f64>,
    /// Price of output tokens.
    pub output: f64,
    /// The currency, such as `USD` or `EUR`.
    pub currency: String,
}

setters!(Price: cached_input(some f64));

impl Price {
    /// Prices of 1,000,000 input and output tokens. Cached input costs as much as other input.
    #[must_use]
    pub fn new(input: f64, output: f64, currency: impl Into<String>) -> Self {
        Self { input, cached_input: None, output, currency: currency.into() }
    }

    /// The cost of a request and its answer, in the currency.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_input.min(usage.input);
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens")]
        let million = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        million(usage.input - cached, self.input)
            + million(cached, self.cached_input.unwrap_or(self.input))
            + million(usage.output, self.output)
    }
}

/// A model and its endpoint.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name of the model at the endpoint.
    pub model: String,
    /// The base URL, such as `https://api.example.com/v1`.
    pub base_url: String,
    /// The API key, sent as a bearer token. Secret; never written back.
    #[serde(default, skip_serializing)]
    pub api_key: Option<String>,
    /// The environment variable with the API key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The capability class. Default [`Size::Big`].
    #[serde(default)]
    pub profile: Size,
    /// Maximum number of tokens of a request and its answer together.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// Whether the model accepts images. Default true.
    #[serde(default = "sees")]
    pub vision: bool,
    /// Maximum number of output tokens; limits what a request asks for.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Additional HTTP headers, by name. They may contain keys.
    #[serde(default, skip_serializing)]
    pub headers: BTreeMap<String, String>,
    /// Prices, to compute costs. Default `None`: costs are unknown.
    #[serde(default)]
    pub price: Option<Price>,
}

setters!(Model:
    api_key(some into String),
    api_key_env(some into String),
    profile(Size),
    context_window(some u64),
    vision(bool),
    max_output_tokens(some u32),
    headers(BTreeMap<String, String>),
    price(some Price),
);

impl Model {
    /// A large model that accepts images, without a key: the name of the model at the endpoint, and the base URL, such
    /// as `https://api.example.com/v1`.
    #[must_use]
    pub fn new(model: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            base_url: base_url.into(),
            api_key: None,
            api_key_env: None,
            profile: Size::default(),
            context_window: None,
            vision: sees(),
            max_output_tokens: None,
            headers: BTreeMap::new(),
            price: None,
        }
    }

    /// Whether it has a key, or names an environment variable for it.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.api_key.is_some() || self.api_key_env.is_some()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No URL: it may contain a key.
        f.debug_struct("Model").field("model", &self.model).finish_non_exhaustive()
    }
}

fn sees() -> bool {
    true
}

/// The content of `llm.json`: models by alias, and which one is used by default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Models {
    /// The models, by alias.
    pub models: BTreeMap<String, Model>,
    /// The alias of the default model.
    pub default: Option<String>,
}

impl Models {
    /// No models and no default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the alias of the default model.
    #[must_use]
    pub fn default_model(mut self, alias: impl Into<String>) -> Self {
        self.default = Some(alias.into());
        self
    }

    /// Adds a model under an alias, or replaces it.
    #[must_use]
    pub fn model(mut self, alias: impl Into<String>, model: Model) -> Self {
        self.models.insert(alias.into(), model);
        self
    }

    /// The models of a home; none without `llm.json`.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Syntax`], [`Error::Wrong`].
    pub fn of(home: &Home) -> Result<Self, Error> {
        let path = home.root().join("llm.json");
        let text = match home.read(&path) {
            Ok(text) => text,
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(problem) => return Err(Error::File { path, problem: problem.to_string() }),
        };
        let value: Value = match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(value) => value,
            Err(problem) => return Err(Error::Syntax { path, problem: problem.to_string() }),
        };
        read(value).map_err(|misfit| Error::Wrong { path, problem: in_words(&misfit.problem), at: misfit.at })
    }

    /// The model of an alias, or the default model.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::None`].
    pub fn find(&self, alias: Option<&str>) -> Result<(&str, &Model), Error> {
        let only = || match self.models.len() {
            1 => self.models.keys().next().map(String::as_str),
            _ => None,
        };
        let alias = alias.filter(|alias| *alias != "default");
        let is_default = alias.is_none();
        let wanted = match alias {
            Some(alias) => Some(alias),
            None => self.default.as_deref().or_else(only),
        };
        let Some(wanted) = wanted else {
            return if self.models.is_empty() { Err(Error::None) } else { Err(self.unknown("default", false)) };
        };
        let found = self.models.get_key_value(wanted);
        found.map(|(alias, model)| (alias.as_str(), model)).ok_or_else(|| self.unknown(wanted, is_default))
    }

    fn unknown(&self, name: &str, is_default: bool) -> Error {
        Error::Unknown { name: name.to_owned(), is_default, known: self.models.keys().cloned().collect() }
    }
}

/// The schema of `llm.json`.
static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Models>);

/// Reads models. No error repeats a value, which may be a key.
pub(super) fn read(value: Value) -> Result<Models, Misfit> {
    fields::read(value, &SCHEMA, Style::Discreet)
}

/// Why a setting does not fit; `None` for the field if it is unknown.
pub(super) fn in_words(problem: &Problem) -> String {
    let Problem::Unknown { name, known, .. } = problem else { return problem.to_string() };
    let hint = nearest(name, known.iter().map(String::as_str)).map(|known| format!(" (did you mean {known}?)"));
    format!("unknown field{}; known fields: {}", hint.unwrap_or_default(), known.join(", "))
}
