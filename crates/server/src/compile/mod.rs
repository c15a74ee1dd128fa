//! Compiling a recording into a routine: the facts of the recording that a model works with, and the rules for what it submits.
//!
//! This module is pure: no browser, no store, no model. The conversation in which a model compiles is in `agent`.
//!
//! | file | contents |
//! |---|---|
//! | `ambiguities` | what the events of a recording leave open |

mod ambiguities;

pub use ambiguities::{Ambiguity, AmbiguityKind, ambiguities};
