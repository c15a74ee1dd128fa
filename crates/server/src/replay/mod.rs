//! Verifying a run of a routine against its recording: whether each step did what was recorded, and had the recorded effects.
//!
//! This module is pure: it compares the events of two recordings, that of the person and that of the run.
//!
//! | file | contents |
//! |---|---|
//! | `steps` | which recorded events belong to a step |
//! | `verify` | the comparison |
//! | `same` | when elements, names and addresses are the same |

mod same;
mod steps;
#[cfg(test)]
mod tests;
mod verify;

pub use same::Replaced;
pub use steps::{Recorded, actions, with_effects};
pub use verify::{Miss, StepTrace, verify_end, verify_refused, verify_steps};
