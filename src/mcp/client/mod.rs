//! MCP client: the configured MCP servers, started when their tools are first requested.
//!
//! An entry point keeps [`Servers`] beside its toolbox; the processes end with it. A server that crashes, hangs or cannot
//! be started costs an error for the calls under way and nothing else; the next call starts it again.
//!
//! | file | what it holds |
//! |---|---|
//! | `server` | life cycle of one server: start, supervision, restart |
//! | `process`, `unix`, `windows` | its process, and the threads at its streams |
//! | `lines`, `stderr` | what it writes, within bounds |
//! | `link` | the connection: requests, responses, notifications |
//! | `handshake` | protocol revision and list of tools |
//! | `listing` | its tools as ours: names, descriptions, schemas |
//! | `relist` | how soon its tools are listed again |
//! | `results`, `salvage` | what it answers to a call; whose answer it is when it cannot be decoded |
//!
//! Threads: `mcp-NAME` looks after a server as long as it runs, `mcp-in-NAME`, `mcp-out-NAME` and `mcp-err-NAME` are at
//! its streams. The registry holds the tools, the tools hold their server, a server holds the registry weakly.

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

/// Time limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From the start of a server to the list of its tools.
    pub start: Duration,
    /// Until one that says nothing to `server/discover` is sent `initialize`.
    pub probe: Duration,
    /// A call, whatever its own deadline says.
    pub call: Duration,
    /// An answer to the question whether it still answers, after a call that has waited too long.
    pub alive: Duration,
    /// Between the end of its input and the request to end, and between that and its being killed.
    pub patience: Duration,
    /// Until it is started again after the first failure; each further one doubles it.
    pub first_pause: Duration,
    /// What that grows to.
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

/// The MCP servers of a home. Dropping it ends their processes, all at the same time and within a few seconds, and takes
/// their tools away.
#[derive(Debug)]
pub struct Servers {
    all: Vec<Arc<Server>>,
}

impl Servers {
    /// Gives a toolbox the tools of the servers in its settings: one toolset `mcp-<server>` each. No server is started
    /// before its toolset is asked for.
    #[must_use]
    pub fn attach(toolbox: &Toolbox) -> Self {
        Self::of(&toolbox.control().config().mcp_servers, toolbox.registry(), Limits::default())
    }

    /// The same for any servers and any registry.
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
        drop(threads); // waited for
        for server in &self.all {
            if let Some(registry) = server.registry() {
                registry.remove_source(server.toolset());
                registry.deregister(server.toolset());
            }
        }
    }
}
