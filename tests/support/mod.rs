//! Shared test support.

#[cfg(feature = "agent")]
pub(crate) mod agent_home;
#[cfg(feature = "agent")]
pub(crate) mod agent_plan;
#[cfg(feature = "agent")]
pub(crate) mod agent_wire;
#[cfg(feature = "server")]
pub(crate) mod api;
pub(crate) mod bridged;
pub(crate) mod chrome;
pub(crate) mod driver;
#[cfg(feature = "eval")]
pub(crate) mod eval_model;
pub(crate) mod fake_cdp;
mod fake_cdp_link;
mod fake_cdp_rules;
mod fake_cdp_serve;
pub(crate) mod fake_cdp_wire;
pub(crate) mod fake_grid;
#[cfg(feature = "server")]
pub(crate) mod fake_mcp;
#[cfg(feature = "server")]
pub(crate) mod fake_model;
pub(crate) mod fake_pages;
#[cfg(all(feature = "cli", unix))]
pub(crate) mod grid;
#[cfg(feature = "server")]
pub(crate) mod har_peer;
#[cfg(all(feature = "cli", target_os = "linux"))]
pub(crate) mod home_processes;
#[cfg(feature = "page")]
pub(crate) mod input_stage;
pub(crate) mod leaks;
pub(crate) mod lease;
pub(crate) mod ledger;
#[cfg(feature = "server")]
pub(crate) mod mcp_peers;
#[cfg(all(feature = "cli", unix))]
pub(crate) mod mcp_process;
#[cfg(feature = "server")]
pub(crate) mod page_libraries;
#[cfg(feature = "page")]
pub(crate) mod pixels;
#[cfg(feature = "page")]
pub(crate) mod pointer_log;
#[cfg(unix)]
#[cfg(feature = "server")]
pub(crate) mod port_attempts;
pub(crate) mod proxy;
#[cfg(all(feature = "cli", unix))]
pub(crate) mod pty;
#[cfg(feature = "server")]
pub(crate) mod raw;
pub(crate) mod renderers;
#[cfg(feature = "server")]
pub(crate) mod schema;
#[cfg(feature = "server")]
pub(crate) mod session_client;
#[cfg(feature = "page")]
pub(crate) mod settle_tab;
pub(crate) mod share;
pub(crate) mod site;
#[cfg(feature = "server")]
pub(crate) mod stage;
#[cfg(feature = "server")]
pub(crate) mod streaming_model;
#[cfg(feature = "server")]
pub(crate) mod test_home;
#[cfg(feature = "page")]
pub(crate) mod test_tab;
pub(crate) mod tls;
#[cfg(feature = "server")]
pub(crate) mod tool_home;
#[cfg(feature = "server")]
pub(crate) mod tool_workspace;

use std::path::PathBuf;
use std::time::Duration;

use cdpilot::sync::Deadline;

/// Limit of every wait for a fact. Only a hang reaches it, however busy the machine is. A shorter limit belongs only where the
/// limit itself is tested.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// The deadline of a wait for a fact.
pub(crate) fn soon() -> Deadline<'static> {
    Deadline::after(LIMIT)
}

/// Held by tests that start many browsers, and by tests that measure how soon
/// something ends, so that they run one at a time.
pub(crate) fn busy_machine() -> parking_lot::MutexGuard<'static, ()> {
    static BUSY: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    BUSY.lock()
}

/// The browser for tests: the one that the library finds. If `CDPILOT_REQUIRE_BROWSER` is `1`, a
/// missing one is a failure, so that no test is skipped unnoticed. `CDPILOT_TEST_BROWSER=none` simulates a missing one.
pub(crate) fn browser_path() -> Option<PathBuf> {
    if std::env::var("CDPILOT_TEST_BROWSER").is_ok_and(|value| value == "none") {
        return None;
    }
    let found = cdpilot::browser::find::find(None).map(|found| found.path);
    let required = std::env::var("CDPILOT_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    assert!(found.is_ok() || !required, "CDPILOT_REQUIRE_BROWSER=1, but: {found:?}");
    found.ok()
}

/// Held by a test that listens on the default port of the server.
#[cfg(feature = "cli")]
pub(crate) static DEFAULT_PORT: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
