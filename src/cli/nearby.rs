//! Tools that concern the folder that a command was typed in, and not the server's: files, pictures, commands, questions. They are
//! done by the command itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::Failure;
use crate::config::{Config, Home};
use crate::control::Session;
use crate::mcp::server::{Backend as _, INSTRUCTIONS, Peer, ToolServer};
use crate::mcp::{Fault, Request};
use crate::sync::Cancel;
use crate::tools::toolsets::Toolsets;
use crate::tools::{AskUser, Scope, ToolboxOptions, enabled, folder_tools, needs_browser};

/// The tools of the folder that we are in, as far as they are on.
pub(super) struct Nearby {
    offer: ToolServer,
}

impl Nearby {
    /// Those that are on for a platform or a session, without some toolsets. With somebody to ask, or nobody.
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
        // Toolsets that only the server knows of come to nothing here, and it is the server that says so.
        let known = Toolsets::new(Arc::clone(&registry), config.custom_toolsets.clone());
        let on = enabled(&config, &known, platform, toolsets);
        Ok(Self { offer: ToolServer::new(registry, known, on, Scope::new(home, &config, &options), INSTRUCTIONS) })
    }

    /// Whether a call is done here: by a tool that can be called at the moment, and that needs no browser for it.
    pub(super) fn does(&self, name: &str, arguments: &Value) -> bool {
        self.offer.tools().iter().any(|tool| &*tool.name == name) && !needs_browser(name, arguments)
    }

    /// What it offers.
    pub(super) fn offer(&self) -> &ToolServer {
        &self.offer
    }

    /// Calls a tool: the result as it is told to a model.
    pub(super) fn call(&self, name: &str, arguments: Value) -> Result<Value, Fault> {
        let params = json!({ "name": name, "arguments": arguments });
        let params = params.as_object().cloned().unwrap_or_default();
        let request = Request { id: None, method: "tools/call".to_owned(), params };
        let (cancel, session) = (Cancel::new(), Session::default());
        self.offer.call(&request, &Peer { notify: &|_| {}, cancel: &cancel, session: &session })
    }
}
