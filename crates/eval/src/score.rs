//! Points, efficiency and usage of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dataset::Test;
use super::matching::matches;
use super::placeholders::Places;

/// Part of the points that are not optional with which a test is passed.
pub const PASS: f64 = 0.8;
/// Sums of points are compared with this tolerance.
const TOLERANCE: f64 = 1e-9;

/// What a run took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Seconds from the first message to the end.
    pub seconds: f64,
    /// What the model cost; `None` if its price is not known.
    pub cost: Option<Cost>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Whether the cost limit ended it.
    pub over_cost: bool,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The amount.
    pub amount: f64,
    /// Currency, as an ISO 4217 code.
    pub currency: String,
}

/// The score of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Earned points.
    pub score: f64,
    /// All points of the test, optional ones included.
    pub max: f64,
    /// Whether at least [`PASS`] of the points that are not optional were earned.
    pub passed: bool,
    /// `1 - seconds / limit`, 0 unless passed in time.
    pub efficiency: f64,
    /// `1 - cost / limit`, 0 unless passed within it; `None` if the cost is not known, or in another currency without a rate.
    pub usage: Option<f64>,
    /// `0.6 passed + 0.2 efficiency + 0.2 usage`; `None` if the usage is not known.
    pub composite: Option<f64>,
    /// Each criterion of the test, in its order.
    pub criteria: Vec<CriterionScore>,
}

/// A criterion in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionScore {
    /// What had to happen.
    pub description: String,
    /// Its points.
    pub points: f64,
    /// Whether it was satisfied.
    pub earned: bool,
    /// Whether a test passes without it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub optional: bool,
    /// Index of the event that satisfied it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<usize>,
}

impl Score {
    /// The score of a run: its events in their order, and what it took. `in_limit_currency` converts its cost into the currency
    /// of the limit, if a rate is known.
    #[must_use]
    pub fn of(
        test: &Test,
        events: &[Value],
        placeholders: &Places,
        facts: &Facts,
        in_limit_currency: impl Fn(&Cost) -> Option<f64>,
    ) -> Self {
        let found = matches(test, events, placeholders);
        let satisfied = (0..test.criteria.len()).map(|index| (found.of(index).is_some(), found.of(index)));
        Self::of_criteria(test, satisfied, facts, in_limit_currency)
    }

    /// The score of a run whose criteria were judged elsewhere; `earned` has one entry for each.
    #[must_use]
    pub fn judged(
        test: &Test,
        earned: &[bool],
        facts: &Facts,
        in_limit_currency: impl Fn(&Cost) -> Option<f64>,
    ) -> Self {
        Self::of_criteria(test, earned.iter().map(|earned| (*earned, None)), facts, in_limit_currency)
    }

    fn of_criteria(
        test: &Test,
        satisfied: impl Iterator<Item = (bool, Option<usize>)>,
        facts: &Facts,
        in_limit_currency: impl Fn(&Cost) -> Option<f64>,
    ) -> Self {
        let criteria: Vec<CriterionScore> = test
            .criteria
            .iter()
            .zip(satisfied)
            .map(|(criterion, (earned, event))| CriterionScore {
                description: criterion.description.clone(),
                points: criterion.points,
                earned,
                optional: criterion.optional,
                event,
            })
            .collect();
        let sum = |wanted: &dyn Fn(&CriterionScore) -> bool| -> f64 {
            // An empty sum of floats is -0.
            criteria.iter().filter(|criterion| wanted(criterion)).map(|criterion| criterion.points).sum::<f64>() + 0.0
        };
        let earned = sum(&|criterion| criterion.earned && !criterion.optional);
        let passed = earned + TOLERANCE >= PASS * test.needed();
        let share =
            |used: f64, limit: f64| if passed && used <= limit { (1.0 - used / limit).clamp(0.0, 1.0) } else { 0.0 };
        let efficiency = if facts.timed_out { 0.0 } else { share(facts.seconds, test.time_limit) };
        let usage = match &facts.cost {
            Some(cost) if cost.amount == 0.0 => Some(share(0.0, test.cost_limit)),
            Some(cost) => in_limit_currency(cost).map(|amount| share(amount, test.cost_limit)),
            None => None,
        };
        let usage = if facts.over_cost { usage.map(|_| 0.0) } else { usage };
        let pass = if passed { 0.6 } else { 0.0 };
        let composite = usage.map(|usage| rounded(pass + 0.2 * efficiency + 0.2 * usage));
        Self {
            score: sum(&|criterion| criterion.earned),
            max: test.max(),
            passed,
            efficiency: rounded(efficiency),
            usage: usage.map(rounded),
            composite,
            criteria,
        }
    }
}

/// Rounded to six decimals, so that scores are the same on every machine.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
