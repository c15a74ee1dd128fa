//! All tools there are, by name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use serde_json::{Map, Value};

use super::{Call, Outcome, Tool, ToolError};

/// Characters of a name at most.
const LONGEST_NAME: usize = 64;

/// Why a tool cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Another toolset has one of that name.
    #[error("a tool called {name} is there already, in the toolset {toolset}; give the new one another name")]
    Taken {
        /// The name.
        name: String,
        /// Where it is.
        toolset: String,
    },
    /// It cannot be called that.
    #[error("{name:?} is no name for a tool; use letters, digits, _ and -, {LONGEST_NAME} at most")]
    BadName {
        /// The name.
        name: String,
    },
}

#[derive(Debug, Clone)]
struct Entry {
    tool: Tool,
    toolset: Arc<str>,
}

/// All tools there are. Cheap to share; tools come and go while it is used.
#[derive(Debug, Default)]
pub struct Registry {
    tools: RwLock<BTreeMap<Arc<str>, Entry>>,
    changes: AtomicU64,
}

impl Registry {
    /// One without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool to a toolset. One of the same toolset and name is replaced.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn register(&self, toolset: &str, tool: Tool) -> Result<(), RegistryError> {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if tool.name.is_empty() || tool.name.len() > LONGEST_NAME || !tool.name.chars().all(is_fine) {
            return Err(RegistryError::BadName { name: tool.name.to_string() });
        }
        let mut tools = self.tools.write();
        if let Some(there) = tools.get(&tool.name)
            && *there.toolset != *toolset
        {
            return Err(RegistryError::Taken { name: tool.name.to_string(), toolset: there.toolset.to_string() });
        }
        tools.insert(Arc::clone(&tool.name), Entry { tool, toolset: toolset.into() });
        drop(tools);
        self.changes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Takes a toolset's tools away. How many there were.
    pub fn deregister(&self, toolset: &str) -> usize {
        let mut tools = self.tools.write();
        let before = tools.len();
        tools.retain(|_, entry| *entry.toolset != *toolset);
        let gone = before - tools.len();
        drop(tools);
        if gone > 0 {
            self.changes.fetch_add(1, Ordering::Release);
        }
        gone
    }

    /// Grows whenever tools come or go.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.tools.read().get(name).map(|entry| entry.tool.clone())
    }

    /// Names of all tools and their toolsets, by name.
    #[must_use]
    pub fn all(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let tools = self.tools.read();
        tools.iter().map(|(name, entry)| (Arc::clone(name), Arc::clone(&entry.toolset))).collect()
    }

    /// Calls a tool by name.
    ///
    /// # Errors
    /// `UNKNOWN_TOOL`, `TOOL_UNAVAILABLE`, and what the tool itself says.
    pub fn call(&self, name: &str, call: &Call<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        let Some(tool) = self.get(name) else {
            return Err(ToolError::new("UNKNOWN_TOOL", format!("there is no tool called {name:?}; list the tools")));
        };
        if !tool.is_available() {
            let message = format!("{name} cannot be used at the moment; list the tools again");
            return Err(ToolError::new("TOOL_UNAVAILABLE", message));
        }
        tool.call(call, arguments)
    }
}
