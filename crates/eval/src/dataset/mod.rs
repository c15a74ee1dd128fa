//! Tests: what a model is told, and the events that count as done.
//!
//! | file | contents |
//! |---|---|
//! | `node` | YAML with the line of each key and value |
//! | `test` | tests, criteria and patterns |
//! | `load` | reading a test, strictly |
//! | `traces` | event lists that prove each criterion: passing, nearly passing, nothing done |

mod load;
mod node;
mod test;
mod traces;

use std::collections::HashMap;

pub use load::{Faulty, parse};
pub use test::{Condition, Criterion, Difficulty, Expect, Final, Pattern, Test};
pub use traces::{CriterionTraces, FaultyTraces, Traces};

use super::assets::{Assets, AssetsError};

/// Why a dataset cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file cannot be read.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// A test is not written correctly.
    #[error("{file}:{fault}")]
    Test {
        /// The file.
        file: String,
        /// Line and problem.
        fault: Faulty,
    },
    /// The traces of a test are missing, or do not prove it.
    #[error("{file}: {fault}")]
    Traces {
        /// The file.
        file: String,
        /// What is wrong.
        fault: FaultyTraces,
    },
    /// Two files contain tests with the same id.
    #[error("{file}: the id {id:?} is also that of {other}; ids are unique")]
    SameId {
        /// The file.
        file: String,
        /// The id.
        id: String,
        /// The other file.
        other: String,
    },
    /// There are no tests.
    #[error("{0} contains no tests; a test is a file NAME.yaml")]
    Empty(String),
}

/// Checks a test with its traces.
fn prove(test: &Test, traces: &Assets) -> Result<(), DatasetError> {
    let path = format!("{}.json", test.id);
    let proven = match traces.read(&path)? {
        Some(bytes) => Traces::parse(&bytes).and_then(|traces| traces.check(test)),
        None => Err(FaultyTraces::Missing { id: test.id.clone() }),
    };
    proven.map_err(|fault| DatasetError::Traces { file: traces.shown(&path), fault })
}

/// All tests, in the order of their file names.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The tests.
    pub tests: Vec<Test>,
}

impl Dataset {
    /// Reads all tests (`*.yaml`) with their traces (`ID.json` of `traces`), and checks them. Without `traces` nothing shows that
    /// the criteria measure what they say.
    ///
    /// # Errors
    /// The first fault of a file.
    pub fn load(tests: &Assets, traces: Option<&Assets>) -> Result<Self, DatasetError> {
        let mut loaded: Vec<Test> = Vec::new();
        let mut files: HashMap<String, String> = HashMap::new();
        for path in tests.ending(".yaml")? {
            let file = tests.shown(&path);
            let bytes = tests.read(&path)?.unwrap_or_default();
            let test = parse(&String::from_utf8_lossy(&bytes))
                .map_err(|fault| DatasetError::Test { file: file.clone(), fault })?;
            if let Some(other) = files.insert(test.id.clone(), file.clone()) {
                return Err(DatasetError::SameId { file, id: test.id, other });
            }
            if let Some(traces) = traces {
                prove(&test, traces)?;
            }
            loaded.push(test);
        }
        if loaded.is_empty() {
            return Err(DatasetError::Empty(tests.shown("")));
        }
        Ok(Self { tests: loaded })
    }

    /// A test by its id.
    #[must_use]
    pub fn test(&self, id: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// The id that resembles this one most.
    #[must_use]
    pub fn nearest(&self, id: &str) -> Option<&str> {
        load::nearest(id, self.tests.iter().map(|test| test.id.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_tests_are_proved_by_their_traces() {
        let dataset = Dataset::load(&Assets::embedded("dataset"), Some(&Assets::embedded("fixtures"))).unwrap();
        let ids: Vec<&str> = dataset.tests.iter().map(|test| test.id.as_str()).collect();
        for of_the_seed in [
            "gbr",
            "gbr_detailed",
            "techforum",
            "techforum_reply",
            "cloudstack",
            "cloudstack_interactive",
            "finviz_simple",
            "finviz_complex",
            "dataflow",
            "bluebook_simple",
            "bluebook_complex",
            "northstar_add_bag",
        ] {
            assert!(ids.contains(&of_the_seed), "{of_the_seed}");
        }
        assert!(ids.len() >= 26, "{ids:?}");
        let seed: f64 = dataset
            .tests
            .iter()
            .filter(|test| test.currency == "CNY" && test.routine_file.is_none())
            .map(Test::max)
            .sum();
        assert!((seed - 68.5).abs() < 1e-9, "the points of the seed's tests are {seed}");
    }
}
