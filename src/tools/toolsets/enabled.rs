//! What is on: toolsets, minus tools that were turned off one by one.

use std::collections::BTreeSet;

use super::super::{Registry, Scope, Tool, ToolError};
use super::resolve::{Problem, Toolsets};
use crate::setters::setters;
use crate::sync::Deadline;

/// What is on for a session or a platform. A toolset that is turned off takes away only what no other one that is on has
/// too; a tool that is turned off is off wherever it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Enabled {
    /// Toolsets and single tools that are on.
    pub toolsets: Vec<String>,
    /// Toolsets and single tools that are off all the same.
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
    /// Names of the tools that are on, and what is wrong with the names of toolsets.
    #[must_use]
    pub fn names(&self, toolsets: &Toolsets) -> (BTreeSet<String>, BTreeSet<Problem>) {
        let resolved = toolsets.resolve_all(&self.toolsets, &self.off);
        (resolved.tools, resolved.problems)
    }

    /// Names that are to be off and mean nothing, so that what was meant is on.
    #[must_use]
    pub fn wrong_off(&self, toolsets: &Toolsets) -> BTreeSet<Problem> {
        self.off.iter().filter_map(|name| toolsets.wrong_off(name)).collect()
    }

    /// Brings the tools of toolsets that come from elsewhere, where they are on: starts MCP servers. What fails is told
    /// by toolset, and takes nothing from the others.
    #[must_use]
    pub fn load(&self, toolsets: &Toolsets, registry: &Registry, deadline: Deadline) -> Vec<(String, ToolError)> {
        registry.load(&toolsets.resolve_all(&self.toolsets, &self.off).sources, deadline)
    }

    /// The tools that are on, there, and can be called at the moment, by name.
    #[must_use]
    pub fn tools(&self, toolsets: &Toolsets, registry: &Registry, scope: &Scope) -> Vec<Tool> {
        let (names, _) = self.names(toolsets);
        names.iter().filter_map(|name| registry.get(name)).filter(|tool| tool.is_available(scope)).collect()
    }
}
