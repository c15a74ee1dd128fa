//! MCP client: the configured MCP servers, started when their tools are first requested.
//!
//! An entry point keeps [`Servers`] beside its toolbox; the processes end with it. A server that crashes, hangs or
//! cannot be started costs an error for the calls under way and nothing else; the next call starts it again.
//!
//! | file | what it holds |
//! |---|---|
//! | `server` | life cycle of one server: start, supervision, restart |
//! | `process`, `unix`, `windows` | its process and the threads of its streams |
//! | `lines`, `stderr` | its output, within bounds |
//! | `link` | the connection: requests, responses, notifications |
//! | `handshake` | protocol revision and list of tools |
//! | `listing` | conversion of its tools: names, descriptions, schemas |
//! | `relist` | rate limit for listing its tools again |
//! | `results`, `salvage` | results of calls; attribution of responses that cannot be decoded |
//!
//! Threads: `mcp-NAME` supervises a running server, `mcp-in-NAME`, `mcp-out-NAME` and `mcp-err-NAME` handle its
//! streams. The registry owns the tools, the tools own their server, and the server refers to the registry weakly.

mod handshake;
mod lines;
mod link;
mod listing;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
mod process;
mod relist;
mod results;
mod salvage;
mod server;
mod stderr;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::config::McpServer;
use crate::tools::{Registry, Source as _, Toolbox};
use server::Server;

/// Prefix of the toolset of a server.
const PREFIX: &str = "mcp-";

/// The toolset of a server.
fn toolset(server: &str) -> String {
    format!("{PREFIX}{server}")
}

/// Time limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Start of a server, until its tools are listed.
    pub start: Duration,
    /// Wait for an answer to `server/discover` before `initialize` is sent.
    pub probe: Duration,
    /// A call; the call's own deadline may be earlier.
    pub call: Duration,
    /// Answer to a health check after a call that timed out.
    pub alive: Duration,
    /// Grace period after closing stdin before SIGTERM is sent, and again before the process is killed.
    pub patience: Duration,
    /// Pause before the first restart; doubled for each further failure.
    pub first_pause: Duration,
    /// Maximum pause before a restart.
    pub longest_pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(20),
            probe: Duration::from_secs(2),
            call: Duration::from_secs(120),
            alive: Duration::from_secs(10),
            patience: Duration::from_secs(1),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
        }
    }
}

/// The MCP servers of a home. Dropping it ends their processes, in parallel and within a few seconds, and removes their
/// tools.
#[derive(Debug)]
pub struct Servers {
    all: Vec<Arc<Server>>,
}

impl Servers {
    /// Registers the configured servers of a toolbox: one toolset `mcp-<server>` each. A server is started when its
    /// toolset is first requested.
    #[must_use]
    pub fn attach(toolbox: &Toolbox) -> Self {
        Self::of(&toolbox.control().config().mcp_servers, toolbox.registry(), Limits::default())
    }

    /// Like [`attach`](Self::attach), for any servers and registry.
    #[must_use]
    pub fn of(servers: &BTreeMap<String, McpServer>, registry: &Arc<Registry>, limits: Limits) -> Self {
        let one = |(name, settings): (&String, &McpServer)| {
            let server = Server::new(name, settings.clone(), registry, limits.clone());
            registry.add_source(Arc::<Server>::clone(&server));
            server
        };
        Self { all: servers.iter().map(one).collect() }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let threads: Vec<_> = self.all.iter().filter_map(|server| server.end()).collect();
        drop(threads); // waits for them
        for server in &self.all {
            if let Some(registry) = server.registry() {
                registry.remove_source(server.toolset());
                registry.deregister(server.toolset());
            }
        }
    }
}
