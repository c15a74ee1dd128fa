//! What tools and toolsets there are, and what of them is on where.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::failure::Failure;
use super::super::output::{Out, Waiting};
use super::super::settings::env;
use crate::browser::Backend;
use crate::config::{Config, Home, RawCdp};
use crate::control::{Control, Overrides};
use crate::mcp::client::Servers;
use crate::sync::Deadline;
use crate::tools::toolsets::{DEFINED, Enabled, Kind, Toolsets, suggestion};
use crate::tools::{Registry, Scope, Toolbox, ToolboxOptions, enabled};

/// What platforms' toolsets begin with.
const PREFIX: &str = "cdpilot-";
/// What MCP servers' toolsets begin with.
const MCP: &str = "mcp-";
/// The platform of a command that names none.
pub(super) const CLI: &str = "cli";

/// The tools and toolsets of a home.
pub(in super::super) struct Catalog {
    pub(in super::super) registry: Arc<Registry>,
    pub(super) toolsets: Toolsets,
    /// In which it is asked whether a tool can be called.
    pub(super) scope: Scope,
    /// Where the tools of MCP servers come from. They run as long as this is there.
    pub(super) _servers: Option<Servers>,
}

/// Whether a tool can be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum There {
    /// At once.
    Now,
    /// When something else is done first, or set.
    When(Cow<'static, str>),
    /// It is none of ours.
    Elsewhere,
    /// It stands for the tools of an MCP server, which is started when they are used.
    Server,
}

impl There {
    /// In a word or two, for people. Nothing when there is nothing to say.
    pub(in super::super) fn told(&self) -> &str {
        match self {
            Self::Now => "",
            Self::When(why) => why,
            Self::Elsewhere => "not there; an MCP server or plugin may bring it",
            Self::Server => "an MCP server, started when it is used",
        }
    }
}

/// A tool, or the tools of an MCP server together.
#[derive(Debug, Clone)]
pub(in super::super) struct Row {
    pub(in super::super) name: String,
    pub(super) toolset: String,
    pub(in super::super) description: String,
    pub(super) on: bool,
    pub(in super::super) there: There,
}

impl Catalog {
    /// That of a home. Nothing is started.
    pub(in super::super) fn open(home: &Home, config: &Config) -> Result<Self, Failure> {
        let control = Control::open(home.clone(), config.clone(), Overrides::default())
            .map_err(|problem| Failure::new(problem.code(), problem.to_string()))?;
        let toolbox = Toolbox::open(&Arc::new(control), &ToolboxOptions::default())
            .map_err(|problem| Failure::internal(problem.to_string()))?;
        let servers = Some(Servers::attach(&toolbox));
        let (registry, toolsets) = (Arc::clone(toolbox.registry()), toolbox.toolsets().clone());
        Ok(Self { registry, toolsets, scope: toolbox.scope().clone(), _servers: servers })
    }

    /// Starts the MCP servers and asks them for their tools. What fails is told, and takes nothing from the others.
    pub(super) fn load(&self, deadline: Deadline, out: &Out) {
        let all = self.registry.sources().iter().map(|toolset| toolset.to_string()).collect();
        let _waiting = Waiting::start(out);
        for (toolset, problem) in self.registry.load(&all, deadline) {
            out.aside(&format!("{toolset}: {problem}"));
        }
    }

    /// What is on for a platform by these settings.
    pub(super) fn enabled(&self, config: &Config, platform: &str) -> Enabled {
        enabled(config, &self.toolsets, platform, &[])
    }

    /// Names of the tools that are on, whether they are there or not.
    pub(super) fn on(&self, config: &Config, platform: &str) -> BTreeSet<String> {
        self.enabled(config, platform).names(&self.toolsets).0
    }

    /// Whether a tool or a whole toolset is on.
    pub(super) fn is_on(&self, config: &Config, platform: &str, name: &str) -> bool {
        let enabled = self.enabled(config, platform);
        let on = enabled.names(&self.toolsets).0;
        if !self.is_toolset(config, name) {
            return on.contains(name);
        }
        if enabled.off.contains(name) {
            return false;
        }
        let mut tools = self.toolsets.resolve(name).tools;
        // Those that were turned off one by one do not count.
        tools.retain(|tool| !enabled.off.contains(tool));
        enabled.toolsets.iter().any(|set| set == name) || (!tools.is_empty() && tools.is_subset(&on))
    }

    pub(super) fn is_toolset(&self, config: &Config, name: &str) -> bool {
        let server = name.strip_prefix(MCP).unwrap_or(name);
        self.toolsets.is_known(name) || config.mcp_servers.contains_key(server)
    }

    fn is_tool(&self, name: &str) -> bool {
        self.registry.get(name).is_some() || DEFINED.iter().any(|defined| defined.tools.contains(&name))
    }

    /// All platforms, the command line first.
    pub(super) fn platforms(config: &Config) -> Vec<String> {
        let defined = DEFINED.iter().filter(|defined| defined.kind == Kind::Platform);
        let defined = defined.filter_map(|defined| defined.name.strip_prefix(PREFIX)).map(str::to_owned);
        let mut all = vec![CLI.to_owned()];
        for name in defined.chain(config.tools.platforms.keys().cloned()) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// The platform of a name that somebody typed: `cli` or `cdpilot-cli`.
    pub(super) fn platform(config: &Config, typed: &str) -> Result<String, Failure> {
        let all = Self::platforms(config);
        let bare = typed.strip_prefix(PREFIX).unwrap_or(typed);
        if let Some(known) = all.iter().find(|known| **known == typed || **known == bare) {
            return Ok(known.clone());
        }
        let hint = suggestion(bare, all.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_else(|| format!("; there are {}", all.join(", ")));
        Err(Failure::usage(format!("there is no platform called {typed:?}{hint}")))
    }

    /// Looks whether all these are names of tools or toolsets.
    pub(super) fn check(&self, config: &Config, names: &[String]) -> Result<(), Failure> {
        let Some(name) = names.iter().find(|name| !self.is_toolset(config, name) && !self.is_tool(name)) else {
            return Ok(());
        };
        let tools = self.tools().into_iter().chain(self.toolsets.names());
        let servers = config.mcp_servers.keys().map(|server| format!("{MCP}{server}"));
        let known: Vec<String> = tools.chain(servers).collect();
        let hint = suggestion(name, known.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_else(|| "; `cdpilot tools list` shows all of them".to_owned());
        Err(Failure::usage(format!("there is no tool and no toolset called {name:?}{hint}")))
    }

    /// Names of all tools that are there or that a toolset names.
    fn tools(&self) -> BTreeSet<String> {
        let defined = DEFINED.iter().flat_map(|defined| defined.tools).map(|tool| (*tool).to_owned());
        defined.chain(self.registry.all().into_iter().map(|(name, _)| name.to_string())).collect()
    }

    /// All tools, by toolset and name, as a platform has them.
    pub(super) fn rows(&self, config: &Config, platform: &str) -> Vec<Row> {
        let on = self.on(config, platform);
        let registered = self.registry.all();
        let mut rows: Vec<Row> = self
            .tools()
            .into_iter()
            .map(|name| {
                let toolset =
                    registered.iter().find(|(tool, _)| **tool == *name).map(|(_, toolset)| toolset.to_string());
                let toolset = toolset.unwrap_or_else(|| home_of(&name).to_owned());
                let description = match self.registry.get(&name) {
                    Some(tool) => tool.description.to_string(),
                    None => self.toolsets.info(&toolset, false).map(|info| info.description).unwrap_or_default(),
                };
                Row { on: on.contains(&name), there: self.there(config, &name), toolset, description, name }
            })
            .collect();
        for server in config.mcp_servers.keys() {
            let name = format!("{MCP}{server}");
            if registered.iter().any(|(_, toolset)| **toolset == *name) {
                continue;
            }
            let description = format!("Tools of the MCP server {server}.");
            let on = self.is_server_on(config, platform, &name);
            rows.push(Row { toolset: name.clone(), on, there: There::Server, description, name });
        }
        // What can be used comes first.
        let rank = |row: &Row| (row.there == There::Elsewhere, row.toolset.clone(), row.name.clone());
        rows.sort_by_key(rank);
        rows
    }

    /// Names of the rows that are on by these settings.
    pub(super) fn shown_on(&self, config: &Config, platform: &str, rows: &[Row]) -> BTreeSet<String> {
        let on = self.on(config, platform);
        let is_on = |row: &&Row| match row.there {
            There::Server => self.is_server_on(config, platform, &row.name),
            _ => on.contains(&row.name),
        };
        rows.iter().filter(is_on).map(|row| row.name.clone()).collect()
    }

    fn is_server_on(&self, config: &Config, platform: &str, toolset: &str) -> bool {
        let enabled = self.enabled(config, platform);
        let bare = toolset.strip_prefix(MCP).unwrap_or(toolset);
        let names = [toolset, bare];
        if names.iter().any(|name| enabled.off.contains(*name)) {
            return false;
        }
        let reached = self.toolsets.resolve_all(&enabled.toolsets, &enabled.off).sources;
        reached.contains(toolset) || enabled.toolsets.iter().any(|set| names.contains(&set.as_str()))
    }

    /// The tools that a command may call: on for the command line, and there at least at times.
    pub(in super::super) fn callable(&self, config: &Config) -> Vec<Row> {
        let mut rows = self.rows(config, CLI);
        rows.retain(|row| row.on && matches!(row.there, There::Now | There::When(_)));
        rows
    }

    /// Why a command may not call a tool that is known.
    pub(in super::super) fn why_not(&self, config: &Config, name: &str) -> Option<String> {
        let row = self.rows(config, CLI).into_iter().find(|row| row.name == name)?;
        Some(match row.on {
            false => format!("it is off for cli; `cdpilot tools enable {name}` turns it on"),
            true if row.there == There::Now => "the server that runs has other settings; start it anew".to_owned(),
            true => row.there.told().to_owned(),
        })
    }

    /// Whether a tool can be called, and if not, what it waits for.
    fn there(&self, config: &Config, name: &str) -> There {
        let tool = self.registry.get(name);
        match (&tool, name) {
            (Some(tool), _) if tool.is_available(&self.scope) => There::Now,
            (_, "browser_cdp" | "browser_dialog") if is_without_cdp(config) => {
                There::When("never with a backend without CDP (the address of the browser is rest+http)".into())
            }
            (_, "browser_cdp") if config.browser.raw_cdp_enabled == RawCdp::Off => {
                There::When("needs browser.raw_cdp_enabled: true".into())
            }
            (_, "browser_cdp" | "browser_dialog") => There::When("while a browser runs".into()),
            (Some(tool), "browser_vision" | "vision_analyze") => {
                There::When(format!("needs {}", tool.needs().unwrap_or("a model in llm.json")).into())
            }
            (_, "clarify") => There::When("while there is somebody to ask".into()),
            (_, "web_search") if config.tools.search.url.is_none() => There::When("needs tools.search.url".into()),
            (_, "terminal" | "process") if !config.tools.terminal.enabled => {
                There::When("needs tools.terminal.enabled: true".into())
            }
            (Some(_), _) => There::When("not at the moment".into()),
            (None, _) => There::Elsewhere,
        }
    }
}

/// Whether the default profile attaches to a service that has no CDP endpoint.
fn is_without_cdp(config: &Config) -> bool {
    let browser = &config.browser;
    let profile = env("CDPILOT_PROFILE").unwrap_or_else(|| browser.default_profile.clone());
    let own = || browser.profiles.get(&profile).and_then(|profile| profile.cdp_url.clone());
    let url = env("CDPILOT_CDP_URL").or_else(own).or_else(|| browser.cdp_url.clone());
    url.is_some_and(|url| Backend::parse(&url).is_ok_and(|backend| !backend.has_cdp()))
}

/// How wide names and toolsets are; those of tools that are not there do not count.
pub(super) fn widths(rows: &[Row]) -> (usize, usize) {
    let here = || rows.iter().filter(|row| row.there != There::Elsewhere);
    let widest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or_default();
    (widest(&mut here().map(|row| row.name.len())), widest(&mut here().map(|row| row.toolset.len())))
}

/// The first toolset that has a tool of its own.
fn home_of(name: &str) -> &'static str {
    let core = DEFINED.iter().filter(|defined| defined.kind == Kind::Core);
    core.filter(|defined| defined.tools.contains(&name))
        .map(|defined| defined.name)
        .min_by_key(|name| name.len())
        .unwrap_or("")
}
