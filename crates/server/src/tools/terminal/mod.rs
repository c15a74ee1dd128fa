//! Shell commands: in the foreground one per call, in the background several at a time. Disabled by default
//! (`tools.terminal.enabled`).
//!
//! A command runs in the workspace with the permissions of the user who runs cdpilot; it is not confined to the
//! workspace. Secrets are removed from its environment. Its descendants end with it, at its time limit, and when
//! cdpilot ends, also after a crash or SIGKILL.
//!
//! | file | what it holds |
//! |---|---|
//! | `foreground` | `terminal` |
//! | `background` | `process` |
//! | `table` | background processes of a session |
//! | `job` | life cycle of one command and its descendants |
//! | `unix`, `windows` | starting and ending processes |
//! | `lines` | output of a command, bounded |
//! | `environment` | environment variables of commands |

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
use cdpilot::redact::Secrets;
use table::Table;

/// The toolset.
const TERMINAL: &str = "terminal";
/// What the tools require while they are disabled.
const NEEDS: &str =
    "tools.terminal.enabled: true in config.yaml, and then a restart of the server (cdpilot serve --stop)";

/// Settings shared by the tools.
struct Shell {
    settings: Terminal,
    secrets: Secrets,
    /// The background processes of each session.
    tables: PerSession<Table>,
}

/// Registers the tools. Background processes end with their session; those of the default session end when the last of
/// these tools is dropped.
///
/// # Errors
/// A name is taken.
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
