//! What tests share: fakes, sites, leased browsers. Not published. The program `testkit` runs the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures.

pub mod agent_plan;
pub mod agent_wire;
pub mod bridged;
pub mod chrome;
pub mod driver;
pub mod eval_model;
pub mod fake_cdp;
mod fake_cdp_link;
mod fake_cdp_rules;
mod fake_cdp_serve;
pub mod fake_cdp_wire;
pub mod fake_grid;
pub mod fake_model;
pub mod fake_pages;
#[cfg(unix)]
pub mod grid;
pub mod har_peer;
#[cfg(target_os = "linux")]
pub mod home_processes;
pub mod input_stage;
#[cfg(unix)]
pub mod launched;
pub mod leaks;
pub mod lease;
pub mod ledger;
pub mod mcp_peers;
#[cfg(unix)]
pub mod mcp_process;
pub mod page_libraries;
pub mod person;
pub mod pixels;
pub mod playwright_peer;
pub mod pointer_log;
pub mod proxy;
#[cfg(unix)]
pub mod pty;
pub mod renderers;
pub mod schema;
pub mod settle_tab;
pub mod share;
pub mod site;
pub mod streaming_model;
pub mod test_tab;
pub mod tls;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::sync::Deadline;

/// Limit of every wait for a fact. Only a hang reaches it, however busy the machine is. A shorter limit belongs only where the
/// limit itself is tested.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The folder of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The deadline of a wait for a fact.
pub fn soon() -> Deadline<'static> {
    Deadline::after(LIMIT)
}

/// Held by tests that start many browsers, and by tests that measure how soon
/// something ends, so that they run one at a time.
pub fn busy_machine() -> parking_lot::MutexGuard<'static, ()> {
    static BUSY: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    BUSY.lock()
}

/// The browser for tests: the one that the library finds. If `CDPILOT_REQUIRE_BROWSER` is `1`, a
/// missing one is a failure, so that no test is skipped unnoticed. `CDPILOT_TEST_BROWSER=none` simulates a missing one.
pub fn browser_path() -> Option<PathBuf> {
    if std::env::var("CDPILOT_TEST_BROWSER").is_ok_and(|value| value == "none") {
        return None;
    }
    let found = cdpilot::browser::find::find(None).map(|found| found.path);
    let required = std::env::var("CDPILOT_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    assert!(found.is_ok() || !required, "CDPILOT_REQUIRE_BROWSER=1, but: {found:?}");
    found.ok()
}

/// Sends a signal, such as `-INT`, to a process.
pub fn kill(id: u32, signal: &str) {
    let _ = std::process::Command::new("kill").args([signal, &id.to_string()]).status();
}

/// Held by a test that listens on the default port of the server.
pub static DEFAULT_PORT: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
