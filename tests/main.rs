//! The one integration test crate: behaviour through public interfaces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
// Tests fail by panicking; that is what these are for here.

mod support;
