//! Commands: one after another in the foreground, some at a time in the background. Off unless the settings turn it on.
//!
//! A command runs in the workspace as whoever runs cdpilot; it is not confined to the workspace. Its environment has no
//! secrets. Whatever it started ends with it, at its time limit, and with cdpilot, however cdpilot ends.
//!
//! | file | what it holds |
//! |---|---|
//! | `foreground` | `terminal` |
//! | `background` | `process` |
//! | `table` | the background processes |
//! | `job` | one command and whatever it started, from its start to its end |
//! | `unix`, `windows` | how the system starts and ends them |
//! | `lines` | what a command wrote, bounded |
//! | `environment` | the variables that a command gets |

mod background;
mod environment;
mod foreground;
mod job;
mod lines;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
mod table;

use std::sync::Arc;

use super::{Registry, RegistryError};
use crate::config::Terminal;
use crate::control::PerSession;
use crate::redact::Secrets;
use table::Table;

/// The toolset.
const TERMINAL: &str = "terminal";
/// Without which there is none.
const NEEDS: &str =
    "tools.terminal.enabled: true in config.yaml, and then a restart of the server (cdpilot serve --stop)";

/// What commands are run with.
struct Shell {
    settings: Terminal,
    secrets: Secrets,
    /// The background processes of each session.
    tables: PerSession<Table>,
}

/// Adds the tools. Background processes end with their session; those of the default session when the last of these tools
/// is dropped.
///
/// # Errors
/// Others are called like them.
pub(super) fn register(registry: &Registry, settings: &Terminal, secrets: &Secrets) -> Result<(), RegistryError> {
    let most = settings.max_processes;
    let shell = Arc::new(Shell {
        settings: settings.clone(),
        secrets: secrets.clone(),
        tables: PerSession::new(move || Table::of(most)),
    });
    registry.register(TERMINAL, foreground::tool(&shell).needing(NEEDS))?;
    registry.register(TERMINAL, background::tool(&shell).needing(NEEDS))
}
