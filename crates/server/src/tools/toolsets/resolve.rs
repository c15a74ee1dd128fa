//! Resolves toolset names to tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::super::Registry;
use super::defined::{DEFINED, defined};
use crate::config::nearest;

/// Names that mean all toolsets.
const ALL: [&str; 2] = ["all", "*"];
/// Prefix of another program's toolsets, and of the equivalent ones here.
const RENAMED: (&str, &str) = ("hermes-", "cdpilot-");
/// Prefix of toolsets of MCP servers.
const MCP: &str = "mcp-";

/// A problem with a toolset. The rest of the toolset is resolved all the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Problem {
    /// No toolset or tool has this name.
    #[error("unknown toolset or tool {name:?}{}", .nearest.as_ref().map_or_else(String::new, |n| format!("; did you mean {n:?}?")))]
    Unknown {
        /// The name that was not found.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// The toolset includes itself.
    #[error("the toolset {} includes itself: {}", .path.first().map_or("", String::as_str), .path.join(" → "))]
    Cycle {
        /// The chain of inclusions, from the toolset to itself.
        path: Vec<String>,
    },
}

/// The tools of resolved toolsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Names of tools; some may not be registered yet.
    pub tools: BTreeSet<String>,
    /// Toolsets whose tools come from a [`Source`](crate::tools::Source).
    pub sources: BTreeSet<String>,
    /// Problems found while resolving.
    pub problems: BTreeSet<Problem>,
}

/// Description of a toolset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Name of the toolset.
    pub name: String,
    /// What its tools are for; shown to people, not to models.
    pub description: String,
    /// Tools that it lists itself, without those of included toolsets.
    pub direct_tools: BTreeSet<String>,
    /// Names of the toolsets that it includes.
    pub includes: Vec<String>,
    /// All tools, including those of included toolsets.
    pub resolved_tools: BTreeSet<String>,
    /// Number of resolved tools.
    pub tool_count: usize,
    /// Whether it includes other toolsets.
    pub is_composite: bool,
}

/// Definition of a toolset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Set {
    description: String,
    tools: BTreeSet<String>,
    includes: Vec<String>,
}

/// State of a traversal of toolsets.
struct Walk<'a> {
    registered: bool,
    off: &'a BTreeSet<String>,
    path: Vec<String>,
    done: BTreeSet<String>,
    found: Resolved,
}

/// All toolsets: predefined, registered and custom ones.
#[derive(Debug, Clone)]
pub struct Toolsets {
    registry: Arc<Registry>,
    custom: BTreeMap<String, Vec<String>>,
}

impl Toolsets {
    /// Creates the toolsets of a registry and custom toolsets: names with their tools and toolsets.
    #[must_use]
    pub fn new(registry: Arc<Registry>, custom: BTreeMap<String, Vec<String>>) -> Self {
        Self { registry, custom }
    }

    /// Names of all toolsets, sorted.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let defined = DEFINED.iter().map(|defined| defined.name.to_owned());
        let registered = self.registry.all().into_iter().map(|(_, toolset)| toolset.to_string());
        let sources = self.registry.sources().into_iter().map(|toolset| toolset.to_string());
        defined.chain(registered).chain(sources).chain(self.custom.keys().cloned()).collect()
    }

    /// Whether a name means all toolsets.
    #[must_use]
    pub fn means_all(name: &str) -> bool {
        ALL.contains(&name)
    }

    /// Whether a name means a toolset, or all of them.
    #[must_use]
    pub fn is_known(&self, name: &str) -> bool {
        ALL.contains(&name) || self.set(name, true).is_some()
    }

    /// Describes a toolset. `registered` includes tools that were registered into it.
    #[must_use]
    pub fn info(&self, name: &str, registered: bool) -> Option<Info> {
        let set = self.set(name, registered)?;
        let resolved_tools = self.walk(name, registered, &BTreeSet::new()).tools;
        Some(Info {
            name: name.to_owned(),
            description: set.description,
            direct_tools: set.tools,
            is_composite: !set.includes.is_empty(),
            includes: set.includes,
            tool_count: resolved_tools.len(),
            resolved_tools,
        })
    }

    /// Resolves one toolset with all that it includes. An unknown name is a [`Problem`] of the result.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Resolved {
        self.walk(name, true, &BTreeSet::new())
    }

    /// Resolves several toolsets or single tools. Names in `off` are left out: a toolset with the tools that only it
    /// includes, a tool everywhere.
    #[must_use]
    pub fn resolve_all<S: AsRef<str>>(&self, names: &[S], off: &BTreeSet<String>) -> Resolved {
        names.iter().fold(Resolved::default(), |mut all, name| {
            let one = self.walk(name.as_ref(), true, off);
            all.tools.extend(one.tools);
            all.sources.extend(one.sources);
            all.problems.extend(one.problems);
            all
        })
    }

    fn walk(&self, name: &str, registered: bool, off: &BTreeSet<String>) -> Resolved {
        let mut walk = Walk { registered, off, path: Vec::new(), done: BTreeSet::new(), found: Resolved::default() };
        if ALL.contains(&name) {
            for name in self.names() {
                self.visit(&name, &mut walk);
            }
        } else {
            self.visit(name, &mut walk);
        }
        let mut found = walk.found;
        // A toolset may have the same name as its tool; then `off` means the toolset.
        found.tools.retain(|tool| !off.contains(tool) || self.is_toolset(tool));
        found
    }

    fn visit(&self, name: &str, walk: &mut Walk<'_>) {
        let source = self.source(name).filter(|_| walk.registered);
        if walk.off.contains(name) || source.as_ref().is_some_and(|source| self.is_off(source, walk.off)) {
            return;
        }
        if let Some(at) = walk.path.iter().position(|before| before == name) {
            let mut cycle = walk.path.get(at..).unwrap_or_default().to_vec();
            cycle.push(name.to_owned());
            walk.found.problems.insert(Problem::Cycle { path: cycle });
            return;
        }
        if !walk.done.insert(name.to_owned()) {
            return; // already visited
        }
        walk.found.sources.extend(source);
        let Some(set) = self.set(name, walk.registered) else {
            if self.is_tool(name) {
                walk.found.tools.insert(name.to_owned());
            } else {
                walk.found.problems.insert(self.unknown(name));
            }
            return;
        };
        walk.found.tools.extend(set.tools);
        walk.path.push(name.to_owned());
        for include in &set.includes {
            self.visit(include, walk);
        }
        walk.path.pop();
    }

    /// The definition of a name: predefined, custom and registered parts combined. Toolsets of MCP servers are also
    /// known by the bare name of the server.
    fn set(&self, name: &str, registered: bool) -> Option<Set> {
        let mut set = defined(name).map(|defined| Set {
            description: defined.description.to_owned(),
            tools: defined.tools.iter().map(|tool| (*tool).to_owned()).collect(),
            includes: defined.includes.iter().map(|name| (*name).to_owned()).collect(),
        });
        if let Some(custom) = self.custom.get(name) {
            let set = set.get_or_insert_with(|| Set { description: "A custom toolset.".to_owned(), ..Set::default() });
            for part in custom {
                if (part != name && self.is_toolset(part)) || !self.is_tool(part) {
                    set.includes.push(part.clone());
                } else {
                    set.tools.insert(part.clone());
                }
            }
        }
        if registered {
            let of = |wanted: &str| {
                let all = self.registry.all().into_iter();
                all.filter(|(_, toolset)| **toolset == *wanted)
                    .map(|(tool, _)| tool.to_string())
                    .collect::<BTreeSet<_>>()
            };
            let mut tools = of(name);
            if tools.is_empty() && set.is_none() {
                tools = of(&format!("{MCP}{name}"));
            }
            if !tools.is_empty() {
                let described = || Set { description: described(name), ..Set::default() };
                set.get_or_insert_with(described).tools.extend(tools);
            } else if set.is_none() && self.source(name).is_some() {
                set = Some(Set { description: described(name), ..Set::default() });
            }
        }
        set
    }

    /// Whether the toolset of a source is disabled, by its own name or its server's.
    fn is_off(&self, source: &str, off: &BTreeSet<String>) -> bool {
        off.contains(source) || off.iter().any(|name| self.source(name).as_deref() == Some(source))
    }

    /// The source toolset that a name means: its own name, or the bare name of a server.
    fn source(&self, name: &str) -> Option<String> {
        let prefixed = format!("{MCP}{name}");
        let sources = self.registry.sources();
        let is = |wanted: &str| sources.iter().any(|source| **source == *wanted);
        if is(name) {
            return Some(name.to_owned());
        }
        (defined(name).is_none() && !self.custom.contains_key(name) && is(&prefixed)).then_some(prefixed)
    }

    fn is_toolset(&self, name: &str) -> bool {
        defined(name).is_some()
            || self.custom.contains_key(name)
            || self.source(name).is_some()
            || self.registry.all().iter().any(|(_, toolset)| **toolset == *name || **toolset == *format!("{MCP}{name}"))
    }

    fn is_tool(&self, name: &str) -> bool {
        DEFINED.iter().any(|defined| defined.tools.contains(&name)) || self.registry.get(name).is_some()
    }

    /// The problem with a disabled name. A name similar to none may belong to a server whose tools have not been
    /// loaded.
    pub(super) fn wrong_off(&self, name: &str) -> Option<Problem> {
        if self.is_toolset(name) || self.is_tool(name) {
            return None;
        }
        let unknown = self.unknown(name);
        let may_come = matches!(unknown, Problem::Unknown { nearest: None, .. }) && !self.registry.sources().is_empty();
        (!may_come).then_some(unknown)
    }

    fn unknown(&self, name: &str) -> Problem {
        let sets = self.names().into_iter();
        let tools = self.registry.all().into_iter().map(|(tool, _)| tool.to_string());
        let known: Vec<String> = sets.chain(tools).collect();
        let nearest = suggestion(name, known.iter().map(String::as_str));
        Problem::Unknown { name: name.to_owned(), nearest }
    }
}

/// The known name that an unknown one most likely stands for: `cdpilot-cli` for `hermes-cli`, else the most similar
/// one.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    match name.strip_prefix(RENAMED.0) {
        Some(rest) => {
            let ours = DEFINED.iter().map(|defined| defined.name).filter(|name| name.starts_with(RENAMED.1));
            let wanted = format!("{}{rest}", RENAMED.1);
            let exact = ours.clone().find(|name| *name == wanted);
            exact.or_else(|| nearest(&wanted, ours)).map(str::to_owned)
        }
        None => nearest(name, known).map(str::to_owned),
    }
}

fn described(name: &str) -> String {
    match name.strip_prefix(MCP) {
        Some(server) => format!("Tools of the MCP server {server}."),
        None => "Registered tools.".to_owned(),
    }
}
