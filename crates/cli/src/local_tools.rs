//! Tools that work in the command's current folder (files, images, shell commands, questions). They run in the command's own
//! process, not in the server.

use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::Failure;
use cdpilot::sync::Cancel;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::Session;
use cdpilot_server::mcp::server::{Backend as _, Peer, ToolServer};
use cdpilot_server::mcp::{Fault, Request};
use cdpilot_server::tools::toolsets::Toolsets;
use cdpilot_server::tools::{AskUser, Scope, ToolboxOptions, enabled, folder_tools, needs_browser};

/// The enabled tools of the current folder.
pub(super) struct LocalTools {
    offer: ToolServer,
}

impl LocalTools {
    /// The tools that are on for `platform` or in `toolsets`, except those of the toolsets `without`. `ask` answers questions
    /// of tools.
    pub(super) fn new(
        home: &Home,
        platform: &str,
        toolsets: &[String],
        without: &[&str],
        ask: Option<Arc<dyn AskUser>>,
    ) -> Result<Self, Failure> {
        let config = Config::of(home)?;
        let options = ToolboxOptions { ask, ..ToolboxOptions::default() };
        let registry = folder_tools(home, &config).map_err(|problem| Failure::internal(problem.to_string()))?;
        for toolset in without {
            registry.deregister(toolset);
        }
        // Toolsets that only the server knows are ignored here; the server reports unknown ones.
        let known = Toolsets::new(Arc::clone(&registry), config.custom_toolsets.clone());
        let on = enabled(&config, &known, platform, toolsets);
        Ok(Self { offer: ToolServer::new(registry, known, on, Scope::new(home, &config, &options)) })
    }

    /// Whether this tool runs here: it is available and needs no browser for these arguments.
    pub(super) fn does(&self, name: &str, arguments: &Value) -> bool {
        self.offer.tools().iter().any(|tool| &*tool.name == name) && !needs_browser(name, arguments)
    }

    /// The tools as an MCP server offers them.
    pub(super) fn offer(&self) -> &ToolServer {
        &self.offer
    }

    /// Calls a tool; the result is in the form for models.
    pub(super) fn call(&self, name: &str, arguments: Value) -> Result<Value, Fault> {
        let params = json!({ "name": name, "arguments": arguments });
        let params = params.as_object().cloned().unwrap_or_default();
        let request = Request { id: None, method: "tools/call".to_owned(), params };
        let (cancel, session) = (Cancel::new(), Session::default());
        self.offer.call(&request, &Peer { notify: &|_| {}, cancel: &cancel, session: &session })
    }
}
