//! Compiling a recording into a routine: the facts of the recording that a model works with, and the rules for what it submits.
//!
//! This module is pure: no browser, no store, no model. The conversation in which a model compiles is in `agent`.
//!
//! | file | contents |
//! |---|---|
//! | `evidence` | a recording that is compiled |
//! | `ambiguities` | what the events of a recording leave open |
//! | `view` | the recording as a model reads it |
//! | `submission`, `keywords`, `values` | what a model submits, and the rules for it |
//! | `state` | what is stored of a compilation |

mod ambiguities;
mod evidence;
mod keywords;
mod state;
mod submission;
mod values;
mod view;

pub use ambiguities::{Ambiguity, AmbiguityKind, ambiguities};
pub use evidence::Evidence;
pub use state::{Asked, Compilation, CompileFailure, CompileStatus, MOST_QUESTIONS, MOST_ROUNDS, MOST_STEPS, Review};
pub use submission::{LeftOut, Settled, Settlement, Submission, check, missing_actions};
pub use view::MOST_ROWS;
