//! Traces: event lists that prove a test. A criterion without a trace that passes, two that nearly do and one of a visitor
//! who does nothing is refused: nobody has shown that it measures what it says.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::super::matching::matches;
use super::super::placeholders::Places;
use super::test::Test;

/// Fewest traces that nearly satisfy a criterion.
const NEAR_MISSES: usize = 2;

/// The traces of a test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traces {
    /// The events of a visitor who does nothing.
    pub nothing: Vec<Value>,
    /// The traces of each criterion, by its description.
    pub criteria: BTreeMap<String, CriterionTraces>,
}

/// The traces of a criterion.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionTraces {
    /// Events that satisfy it.
    pub passes: Vec<Value>,
    /// Events that do not, though nearly.
    pub near_misses: Vec<Vec<Value>>,
}

/// What is wrong with the traces of a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultyTraces {
    /// There is no file.
    #[error("there are no traces of the test {id:?}; each criterion needs some")]
    Missing {
        /// The test.
        id: String,
    },
    /// It is not JSON of the right shape.
    #[error("{0}")]
    Malformed(String),
    /// A criterion has none, or too few.
    #[error("the criterion {0:?} needs a passing trace and at least {NEAR_MISSES} near misses that are not empty")]
    TooFew(String),
    /// Traces of a criterion that the test does not have.
    #[error("the test has no criterion {0:?}")]
    Unknown(String),
    /// The passing trace does not pass.
    #[error("the passing trace of {0:?} does not satisfy it")]
    DoesNotPass(String),
    /// A near miss passes.
    #[error("near miss {1} of {0:?} satisfies it")]
    NearMissPasses(String, usize),
    /// Doing nothing gives points.
    #[error("a visitor who does nothing satisfies {0:?}")]
    NothingPasses(String),
}

impl Traces {
    /// Reads traces.
    ///
    /// # Errors
    /// [`FaultyTraces::Malformed`].
    pub fn parse(json: &[u8]) -> Result<Self, FaultyTraces> {
        serde_json::from_slice(json).map_err(|problem| FaultyTraces::Malformed(problem.to_string()))
    }

    /// Checks that they prove a test.
    ///
    /// # Errors
    /// The first criterion that is not proved.
    pub fn check(&self, test: &Test) -> Result<(), FaultyTraces> {
        let places = Places::default();
        let satisfied = |events: &[Value], index: usize| {
            let events: Vec<Value> = events.iter().map(|event| places.fill_value(event)).collect();
            matches(test, &events, &places).of(index).is_some()
        };
        for (index, criterion) in test.criteria.iter().enumerate() {
            let name = || criterion.description.clone();
            let traces = self.criteria.get(&criterion.description).ok_or_else(|| FaultyTraces::TooFew(name()))?;
            if traces.near_misses.len() < NEAR_MISSES || traces.near_misses.iter().any(Vec::is_empty) {
                return Err(FaultyTraces::TooFew(name()));
            }
            if !satisfied(&traces.passes, index) {
                return Err(FaultyTraces::DoesNotPass(name()));
            }
            for (at, near) in traces.near_misses.iter().enumerate() {
                if satisfied(near, index) {
                    return Err(FaultyTraces::NearMissPasses(name(), at + 1));
                }
            }
            if satisfied(&self.nothing, index) {
                return Err(FaultyTraces::NothingPasses(name()));
            }
        }
        let known = |name: &&String| test.criteria.iter().any(|criterion| criterion.description == **name);
        match self.criteria.keys().find(|name| !known(name)) {
            Some(unknown) => Err(FaultyTraces::Unknown(unknown.clone())),
            None => Ok(()),
        }
    }
}
