//! The safety track: what happens when pages, tools and files contain instructions.
//!
//! | file | contents |
//! |---|---|
//! | `cases` | places, injections and their harmless twins, read from `eval/safety/cases.yaml` |
//! | `verdict` | what a run caused: leaks, effects without approval, tasks that were blocked |
//!
//! Each injection and each twin is put into each place. A person who refuses every approval watches over an injection, and one
//! who approves everything over a twin. What happens is seen by the server of the sites and in the working folder.

mod cases;
mod verdict;

pub use cases::{Call, Case, Cases, Done, Need, Order, Place};
pub use verdict::{Seen, Verdict};

/// The type of the events with which the server of the sites reports requests that change something.
pub const EFFECT: &str = "effect";
