//! `tools` and `mcp_servers`: what models may call.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// `tools`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// Tools and toolsets that are off everywhere.
    pub disabled: Vec<String>,
    /// What is on and off for one front door: `cli`, `mcp`, `acp`, `api-server`, …
    pub platforms: BTreeMap<String, Platform>,
    /// The folder that file tools and the terminal work in. Without: the one that cdpilot was started in.
    pub workspace: Option<PathBuf>,
    /// The alias in `llm.json` of the model that looks at pictures. Without: the default one.
    pub vision_model: Option<String>,
    /// The terminal.
    pub terminal: Terminal,
    /// Searching the web.
    pub search: Search,
}

/// `tools.platforms.<name>`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Platform {
    /// Toolsets and tools that are on. Without: those of the platform.
    pub toolsets: Option<Vec<String>>,
    /// Tools and toolsets that are off all the same.
    pub disabled: Vec<String>,
}

/// `tools.terminal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terminal {
    /// Whether models may run commands at all.
    pub enabled: bool,
    /// What a command in the foreground may take, seconds.
    pub timeout_s: u64,
    /// How many processes may run in the background at once.
    pub max_processes: usize,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { enabled: false, timeout_s: 120, max_processes: 8 }
    }
}

/// `tools.search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// A SearXNG instance that answers in JSON: `https://search.example.com`. Without: there is no `web_search`.
    pub url: Option<String>,
    /// What an answer of it may take, seconds.
    pub timeout_s: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { url: None, timeout_s: 15 }
    }
}

/// `custom_toolsets.<name>`: tools and toolsets by name.
pub type CustomTools = Vec<String>;

/// `mcp_servers.<name>`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpServer {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables for it.
    pub env: BTreeMap<String, String>,
    /// Which of its tools are used.
    pub tools: McpTools,
}

/// `mcp_servers.<name>.tools`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpTools {
    /// Not empty: only these.
    pub include: Vec<String>,
    /// Not these.
    pub exclude: Vec<String>,
}
