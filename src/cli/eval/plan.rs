//! What is run: tests, models, repetitions. Kept as `plan.json`, so that an interrupted evaluation can be resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::failure::Failure;
use crate::eval::Cost;
use crate::eval::dataset::Test;

/// The currency that rates refer to.
const BASE: &str = "CNY";

/// The plan of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) track: String,
    pub(super) tests: Vec<String>,
    pub(super) models: Vec<String>,
    pub(super) repeat: u32,
    pub(super) toolsets: Vec<String>,
    /// `--guard` of the safety track.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) guard: Option<String>,
    /// Whether a registered browser is used; its id is a secret and is not stored.
    pub(super) registered_browser: bool,
    pub(super) rates: Rates,
    /// Tests that were left out, with the reason.
    pub(super) excluded: BTreeMap<String, String>,
    /// Folder of `--dataset`.
    pub(super) dataset: Option<PathBuf>,
    /// When it began, as `YYYYMMDD_HHMMSS` in UTC.
    pub(super) stamp: String,
}

/// A run: a test with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) test: String,
    pub(super) model: String,
    /// From 1.
    pub(super) repeat: u32,
}

impl Job {
    /// Its folder below that of the evaluation.
    pub(super) fn folder(&self) -> PathBuf {
        let name = if self.repeat == 1 { self.test.clone() } else { format!("{}.{}", self.test, self.repeat) };
        Path::new(&file_name(&self.model)).join(name)
    }

    /// What is random in the sites follows from it: the same for all models.
    pub(super) fn seed(&self) -> u64 {
        let bytes = self.test.bytes().chain(self.repeat.to_le_bytes());
        u64::from(bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
    }
}

/// A name as a part of a path.
pub(super) fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let text: String = name.chars().map(kept).collect();
    if text.starts_with('.') { format!("_{text}") } else { text }
}

impl Plan {
    /// All runs, test by test.
    pub(super) fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for repeat in 1..=self.repeat {
            for test in &self.tests {
                for model in &self.models {
                    jobs.push(Job { test: test.clone(), model: model.clone(), repeat });
                }
            }
        }
        jobs
    }
}

/// Exchange rates: what 1 unit is in CNY.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Rates(pub(super) BTreeMap<String, f64>);

impl Rates {
    pub(super) fn parse(given: &[String]) -> Result<Self, Failure> {
        let mut rates = BTreeMap::new();
        for text in given {
            let rate = text.split_once('=').and_then(|(currency, rate)| {
                let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
                let rate = rate.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0)?;
                (is_code && currency != BASE).then(|| (currency.to_owned(), rate))
            });
            let Some((currency, rate)) = rate else {
                return Err(Failure::usage(format!(
                    "--rate {text}: give it as USD=7, which means that 1 USD is 7 {BASE}"
                )));
            };
            rates.insert(currency, rate);
        }
        Ok(Self(rates))
    }

    /// An amount in another currency, if that is possible with these rates.
    pub(super) fn convert(&self, cost: &Cost, to: &str) -> Option<f64> {
        if cost.currency == to {
            return Some(cost.amount);
        }
        let in_base = |currency: &str| if currency == BASE { Some(1.0) } else { self.0.get(currency).copied() };
        Some(cost.amount * in_base(&cost.currency)? / in_base(to)?)
    }

    /// A cost in the currency of a test's limit.
    pub(super) fn of_limit(&self, cost: &Cost, test: &Test) -> Option<f64> {
        self.convert(cost, &test.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_convert_into_both_directions_and_between_currencies() {
        let rates = Rates::parse(&["USD=7".into(), "EUR=8".into()]).unwrap();
        let cost = |amount, currency: &str| Cost { amount, currency: currency.to_owned() };
        assert_eq!(rates.convert(&cost(2.0, "USD"), "CNY"), Some(14.0));
        assert_eq!(rates.convert(&cost(14.0, "CNY"), "USD"), Some(2.0));
        assert_eq!(rates.convert(&cost(7.0, "EUR"), "USD"), Some(8.0));
        assert_eq!(rates.convert(&cost(1.0, "GBP"), "USD"), None);
        assert_eq!(Rates::default().convert(&cost(1.0, "GBP"), "GBP"), Some(1.0));
        for wrong in ["USD", "usd=7", "USD=0", "USD=x", "USD=inf", "CNY=1"] {
            assert!(Rates::parse(&[wrong.into()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn folders_of_models_are_below_the_evaluation() {
        let job = |model: &str, repeat| Job { test: "gbr".into(), model: model.into(), repeat };
        assert_eq!(job("dash/q 3.5", 1).folder(), Path::new("dash_q_3.5/gbr"));
        assert_eq!(job("..", 2).folder(), Path::new("_../gbr.2"));
        assert_eq!(job("a", 1).seed(), job("b", 1).seed());
        assert_ne!(job("a", 1).seed(), job("a", 2).seed());
    }
}
