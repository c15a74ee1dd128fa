//! Enabled toolsets minus disabled tools.

use std::collections::BTreeSet;

use super::super::{Registry, Scope, Tool, ToolError};
use super::resolve::{Problem, Toolsets};
use cdpilot::setters;
use cdpilot::sync::Deadline;

/// The enabled toolsets of a session or an entry point. Disabling a toolset removes only tools that no other enabled
/// toolset includes; disabling a tool removes it from all toolsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enabled {
    /// Enabled toolsets and single tools.
    pub toolsets: Vec<String>,
    /// Disabled toolsets and single tools.
    pub off: BTreeSet<String>,
}

impl Enabled {
    /// These toolsets, with all their tools.
    #[must_use]
    pub fn new(toolsets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { toolsets: toolsets.into_iter().map(Into::into).collect(), off: BTreeSet::new() }
    }
}

setters! { Enabled:
    off(each String),
}

impl Enabled {
    /// Names of the enabled tools, and problems with the names of enabled toolsets.
    #[must_use]
    pub fn names(&self, toolsets: &Toolsets) -> (BTreeSet<String>, BTreeSet<Problem>) {
        let resolved = toolsets.resolve_all(&self.toolsets, &self.off);
        (resolved.tools, resolved.problems)
    }

    /// Problems with disabled names: an unknown name disables nothing.
    #[must_use]
    pub fn wrong_off(&self, toolsets: &Toolsets) -> BTreeSet<Problem> {
        self.off.iter().filter_map(|name| toolsets.wrong_off(name)).collect()
    }

    /// Loads the tools of enabled toolsets that have a source, which starts MCP servers. Returns failures by toolset;
    /// they do not affect other toolsets.
    #[must_use]
    pub fn load(&self, toolsets: &Toolsets, registry: &Registry, deadline: Deadline<'_>) -> Vec<(String, ToolError)> {
        registry.load(&toolsets.resolve_all(&self.toolsets, &self.off).sources, deadline)
    }

    /// The enabled tools that are registered and available, by name.
    #[must_use]
    pub fn tools(&self, toolsets: &Toolsets, registry: &Registry, scope: &Scope) -> Vec<Tool> {
        let (names, _) = self.names(toolsets);
        names.iter().filter_map(|name| registry.get(name)).filter(|tool| tool.is_available(scope)).collect()
    }
}
