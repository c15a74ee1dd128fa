//! What is run: tests, models, repetitions. Kept as `plan.json`, so that an interrupted evaluation can be resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::failure::Failure;
use super::prepare::LOCK;
use super::safety;
use cdpilot_eval::Cost;
use cdpilot_eval::dataset::Test;
use cdpilot_server::config::{Confirm, Guard};

/// Longest part of a path that is made of a name, in characters.
const MAX_NAME: usize = 100;

/// Most repetitions of a test.
pub(super) const MAX_REPEAT: u32 = 1000;

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
    pub(super) guard: Option<Guard>,
    /// `--confirm`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) confirm: Option<Confirm>,
    /// Whether a registered browser is used; its id is a secret and is not stored.
    pub(super) registered_browser: bool,
    pub(super) rates: Rates,
    /// Tests that were left out, with the reason.
    pub(super) excluded: BTreeMap<String, String>,
    /// Folder of `--dataset`.
    pub(super) dataset: Option<PathBuf>,
    /// Folder of `--sites`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) sites: Option<PathBuf>,
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
        // The sites take 31 bits.
        u64::from(hash(bytes) & 0x7fff_ffff)
    }
}

/// FNV-1a.
fn hash(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A name as a part of a path. One that had to be changed, or is that of another file, ends with a hash of the name, so that two
/// names never have one folder.
pub(super) fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let text: String = name.chars().map(kept).take(MAX_NAME).collect();
    let is_file = name == LOCK || [".json", ".html", ".xml"].iter().any(|end| name.ends_with(end));
    if text == name && !text.starts_with('.') && !is_file {
        return text;
    }
    format!("{}-{:08x}", text.trim_start_matches('.'), hash(name.bytes()))
}

impl Plan {
    /// The approvals of the safety track.
    pub(super) fn guard(&self) -> Option<Guard> {
        (self.track == safety::TRACK).then(|| self.guard.unwrap_or(safety::GUARD))
    }

    /// What a person may have changed: nothing occurs twice, and the number of runs is that of the command line.
    pub(super) fn tidy(&mut self) {
        let mut seen = BTreeSet::new();
        self.models.retain(|model| seen.insert(model.clone()));
        seen.clear();
        self.tests.retain(|test| seen.insert(test.clone()));
        self.repeat = self.repeat.clamp(1, MAX_REPEAT);
    }

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
            if rates.insert(currency, rate).is_some_and(|before: f64| (before - rate).abs() > f64::EPSILON) {
                return Err(Failure::usage(format!("--rate {text}: there is another rate of this currency already")));
            }
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
        assert_eq!(job("dash-q_3.5", 2).folder(), Path::new("dash-q_3.5/gbr.2"));
        let names = ["x/y", "x_y", "x y", "\u{901a}", "\u{6587}", ".x", "plan.json", "lock", ".."].map(file_name);
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        assert!(names.iter().all(|name| !name.starts_with('.') && name != "plan.json" && name != "lock"), "{names:?}");
        assert_eq!(job("a", 1).seed(), job("b", 1).seed());
        assert_ne!(job("a", 1).seed(), job("a", 2).seed());
    }
}
