//! Integration tests of the evaluation that need neither browser nor program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures; that is what these are for here.

use testkit as support;

#[path = "eval/dataset.rs"]
mod eval_dataset;
#[path = "eval/matching.rs"]
mod eval_matching;
#[path = "eval/sites.rs"]
mod eval_sites;
