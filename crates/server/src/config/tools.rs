//! `tools` and `mcp_servers`: the tools of models.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of `tools`: which are disabled, and how they work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// Tools and toolsets that are disabled everywhere.
    pub disabled: Vec<String>,
    /// Overrides per entry point ("platform"): `cli`, `mcp`, `acp`, `api-server`, …
    pub platforms: BTreeMap<String, Platform>,
    /// The working folder of file tools and terminal. Default: the folder in which cdpilot was started.
    pub workspace: Option<PathBuf>,
    /// The alias in `llm.json` of the vision model. Default: the default model.
    pub vision_model: Option<String>,
    /// Whether and how models may run commands.
    pub terminal: Terminal,
    /// The search engine of `web_search`.
    pub search: Search,
    /// The notes for later conversations.
    pub memory: Memory,
}

/// Settings of `tools.platforms.<name>`: tools of one entry point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Platform {
    /// Enabled toolsets and tools. Default: those of the entry point.
    pub toolsets: Option<Vec<String>>,
    /// Tools and toolsets that are disabled nevertheless.
    pub disabled: Vec<String>,
}

/// Settings of `tools.terminal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Terminal {
    /// Whether models may run commands.
    pub enabled: bool,
    /// Timeout of a foreground command, in seconds.
    pub timeout_s: u64,
    /// Maximum number of background processes.
    pub max_processes: usize,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { enabled: false, timeout_s: 120, max_processes: 8 }
    }
}

/// Settings of `tools.search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// A SearXNG instance with JSON output, such as `https://search.example.com`. Without it, there is no `web_search`.
    pub url: Option<String>,
    /// Timeout of a search, in seconds.
    pub timeout_s: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { url: None, timeout_s: 15 }
    }
}

/// Settings of `tools.memory`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Whether models keep notes without asking also after they have read untrusted text.
    pub unasked: bool,
}

/// `custom_toolsets.<name>`: names of tools and toolsets.
pub type CustomTools = Vec<String>;

/// Settings of `mcp_servers.<name>`: an MCP server that is started as a child process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpServer {
    /// The program to start: a path, or a name in `PATH`.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment variables for it.
    pub env: BTreeMap<String, String>,
    /// Which of its tools are used.
    pub tools: McpTools,
}

/// Settings of `mcp_servers.<name>.tools`: which tools of the server are used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpTools {
    /// If not empty, only these tools are used.
    pub include: Vec<String>,
    /// Tools that are not used.
    pub exclude: Vec<String>,
}
