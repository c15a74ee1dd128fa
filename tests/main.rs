//! The one integration test crate: behaviour through public interfaces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
// Tests fail by panicking; that is what these are for here.

mod cdp_answers;
mod cdp_endings;
mod cdp_events;
mod cdp_faults;
mod cdp_leaks;
#[cfg(unix)]
mod cdp_pipe;
mod cdp_properties;
mod cdp_sessions;
#[cfg(feature = "tls")]
mod cdp_tls;
mod cdp_wire;
#[cfg(feature = "cli")]
mod cli_commands;
#[cfg(feature = "cli")]
mod cli_run;
#[cfg(feature = "cli")]
mod cli_supervise;
mod project;
mod support;
