//! Recordings of routines, used by their runs: what can be done without a model, and whether a run did what was recorded.
//!
//! This module is pure: it works on the events of recordings, that of the person and that of the run.
//!
//! | file | contents |
//! |---|---|
//! | `steps` | which recorded events belong to a step |
//! | `plan` | the actions of a run without a model |
//! | `heal` | elements that a model has used in place of recorded ones |
//! | `list` | the entries of a list that a step works through |
//! | `reads` | where values stand that steps read |
//! | `values` | values of a run in place of recorded ones |
//! | `target` | which element of a page is the recorded one |
//! | `verify` | the comparison |
//! | `export` | routines as scripts of other programs |
//! | `same` | when elements, names and addresses are the same |

pub mod export;
mod heal;
mod list;
mod plan;
mod reads;
mod same;
mod steps;
mod target;
#[cfg(test)]
mod tests;
mod values;
mod verify;

pub use heal::{Found, found};
pub use list::{FastList, Seen, Surveyed};
pub use plan::{FastAction, FastStep, Plan, What, digests, plan, recorded_inputs, tabs_used};
pub use reads::{ReadNow, ReadPlace, described_place, read_now, value_key, values_of};
pub use same::Replaced;
pub use steps::{Recorded, actions, with_effects};
pub use target::{Candidate, Strictness, Target, described, is_same_dialog, is_same_frame, query, target};
pub use verify::{Miss, StepTrace, verify_end, verify_refused, verify_steps};
