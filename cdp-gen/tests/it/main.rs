//! Tests of the generator, in one crate. What it writes for `synthetic.json` is compiled in here,
//! on the root crate's runtime, so the tests can use it.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod browser;
#[allow(dead_code, unreachable_pub, unused_macros, unused_imports)]
mod cdp;
mod check_items;
mod golden;
mod names;
mod pinned;
mod select;
mod support;
mod wire;
