//! The tools and toolsets of a home, and which are on for each platform.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::failure::Failure;
use super::super::output::{Out, WaitIndicator};
use super::super::settings::env;
use cdpilot::browser::Backend;
use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home, RawCdp};
use cdpilot_server::control::{Control, Overrides};
use cdpilot_server::mcp::client::Servers;
use cdpilot_server::tools::toolsets::{DEFINED, Enabled, Kind, Toolsets, suggestion};
use cdpilot_server::tools::{Registry, Scope, Toolbox, ToolboxOptions, enabled};

/// Prefix of the platforms' toolsets.
const PREFIX: &str = "cdpilot-";
/// Prefix of the MCP servers' toolsets.
const MCP: &str = "mcp-";
/// The default platform.
pub(super) const CLI: &str = "cli";

/// The tools and toolsets of a home.
pub(in super::super) struct Catalog {
    pub(in super::super) registry: Arc<Registry>,
    pub(super) toolsets: Toolsets,
    /// The scope in which availability is checked.
    pub(super) scope: Scope,
    /// Keeps the MCP servers running.
    pub(super) _servers: Option<Servers>,
}

/// Availability of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Availability {
    /// Available.
    Available,
    /// Available under a condition, such as a setting.
    Conditional(Cow<'static, str>),
    /// Not built in.
    External,
    /// The tools of an MCP server, which is started when they are used.
    McpServer,
}

impl Availability {
    /// A short explanation; empty for available tools.
    pub(in super::super) fn explanation(&self) -> &str {
        match self {
            Self::Available => "",
            Self::Conditional(why) => why,
            Self::External => "not built in; an MCP server can provide it",
            Self::McpServer => "MCP server, started when used",
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
    pub(in super::super) availability: Availability,
}

impl Catalog {
    /// Opens the catalog of a home without starting anything.
    pub(in super::super) fn open(home: &Home, config: &Config) -> Result<Self, Failure> {
        let control = Control::open(home.clone(), config.clone(), Overrides::default())
            .map_err(|problem| Failure::new(problem.kind(), problem.to_string()))?;
        let toolbox = Toolbox::open(&Arc::new(control), &ToolboxOptions::default())
            .map_err(|problem| Failure::internal(problem.to_string()))?;
        let servers = Some(Servers::attach(&toolbox));
        let (registry, toolsets) = (Arc::clone(toolbox.registry()), toolbox.toolsets().clone());
        Ok(Self { registry, toolsets, scope: toolbox.scope().clone(), _servers: servers })
    }

    /// The toolsets.
    pub(in super::super) fn toolsets(&self) -> &Toolsets {
        &self.toolsets
    }

    /// Starts the MCP servers and lists their tools. A failed server is reported and does not affect the others.
    pub(super) fn load(&self, deadline: Deadline<'_>, out: &Out) {
        let all = self.registry.sources().iter().map(|toolset| toolset.to_string()).collect();
        let _waiting = WaitIndicator::start(out);
        for (toolset, problem) in self.registry.load(&all, deadline) {
            out.aside(&format!("{toolset}: {problem}"));
        }
    }

    /// What is on for a platform.
    pub(super) fn enabled(&self, config: &Config, platform: &str) -> Enabled {
        enabled(config, &self.toolsets, platform, &[])
    }

    /// Names of the tools that are on, available or not.
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
        // Tools that were turned off individually do not count.
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

    /// All platforms, `cli` first.
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

    /// Parses a platform name: `cli` or `cdpilot-cli`.
    pub(super) fn platform(config: &Config, typed: &str) -> Result<String, Failure> {
        let all = Self::platforms(config);
        let bare = typed.strip_prefix(PREFIX).unwrap_or(typed);
        if let Some(known) = all.iter().find(|known| **known == typed || **known == bare) {
            return Ok(known.clone());
        }
        let hint = suggestion(bare, all.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_else(|| format!("; give one of {}", all.join(", ")));
        Err(Failure::usage(format!("there is no platform {typed:?}{hint}")))
    }

    /// Checks that all names are tools or toolsets.
    pub(in super::super) fn check(&self, config: &Config, names: &[String]) -> Result<(), Failure> {
        let Some(name) = names.iter().find(|name| !self.is_toolset(config, name) && !self.is_tool(name)) else {
            return Ok(());
        };
        let tools = self.tools().into_iter().chain(self.toolsets.names());
        let servers = config.mcp_servers.keys().map(|server| format!("{MCP}{server}"));
        let known: Vec<String> = tools.chain(servers).collect();
        let hint = suggestion(name, known.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_else(|| "; `cdpilot tools list` shows all tools".to_owned());
        Err(Failure::usage(format!("there is no tool or toolset {name:?}{hint}")))
    }

    /// Names of all tools that are registered or named by a toolset.
    fn tools(&self) -> BTreeSet<String> {
        let defined = DEFINED.iter().flat_map(|defined| defined.tools).map(|tool| (*tool).to_owned());
        defined.chain(self.registry.all().into_iter().map(|(name, _)| name.to_string())).collect()
    }

    /// All tools of a platform, sorted by toolset and name.
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
                Row {
                    on: on.contains(&name),
                    availability: self.availability(config, &name),
                    toolset,
                    description,
                    name,
                }
            })
            .collect();
        for server in config.mcp_servers.keys() {
            let name = format!("{MCP}{server}");
            if registered.iter().any(|(_, toolset)| **toolset == *name) {
                continue;
            }
            let description = format!("Tools of the MCP server {server}.");
            let on = self.is_server_on(config, platform, &name);
            rows.push(Row { toolset: name.clone(), on, availability: Availability::McpServer, description, name });
        }
        // Built-in tools first.
        let rank = |row: &Row| (row.availability == Availability::External, row.toolset.clone(), row.name.clone());
        rows.sort_by_key(rank);
        rows
    }

    /// Names of the rows that are on.
    pub(super) fn shown_on(&self, config: &Config, platform: &str, rows: &[Row]) -> BTreeSet<String> {
        let on = self.on(config, platform);
        let is_on = |row: &&Row| match row.availability {
            Availability::McpServer => self.is_server_on(config, platform, &row.name),
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

    /// The tools that `cdpilot tool` can call: built in, and in these toolsets; without toolsets, those that are on for `cli`.
    pub(in super::super) fn callable(&self, config: &Config, toolsets: &[String]) -> Vec<Row> {
        let mut rows = self.rows(config, CLI);
        if !toolsets.is_empty() {
            let on = enabled(config, &self.toolsets, CLI, toolsets).names(&self.toolsets).0;
            rows.iter_mut().for_each(|row| row.on = on.contains(&row.name));
        }
        rows.retain(|row| row.on && matches!(row.availability, Availability::Available | Availability::Conditional(_)));
        rows
    }

    /// Why `cdpilot tool` cannot call a known tool.
    pub(in super::super) fn why_not(&self, config: &Config, name: &str) -> Option<String> {
        let row = self.rows(config, CLI).into_iter().find(|row| row.name == name)?;
        Some(match row.on {
            false => {
                let problems = self.enabled(config, CLI).names(&self.toolsets).1;
                match problems.first() {
                    Some(problem) => format!("it is off for cli; correct config.yaml, which names an {problem}"),
                    None => format!("it is off for cli; `cdpilot tools enable {name}` turns it on"),
                }
            }
            true if row.availability == Availability::Available => {
                "the running server has other settings; restart it with `cdpilot serve --stop`".to_owned()
            }
            true => row.availability.explanation().to_owned(),
        })
    }

    /// Availability of a tool.
    fn availability(&self, config: &Config, name: &str) -> Availability {
        let tool = self.registry.get(name);
        match (&tool, name) {
            (Some(tool), _) if tool.is_available(&self.scope) => Availability::Available,
            (_, "browser_cdp" | "browser_dialog") if is_without_cdp(config) => {
                Availability::Conditional("never available with a browser backend without CDP (rest+http)".into())
            }
            (_, "browser_cdp") if config.browser.raw_cdp_enabled == RawCdp::Off => {
                Availability::Conditional("needs browser.raw_cdp_enabled: true".into())
            }
            (_, "browser_cdp" | "browser_dialog") => Availability::Conditional("needs a running browser".into()),
            (Some(tool), "browser_vision" | "vision_analyze") => {
                Availability::Conditional(format!("needs {}", tool.needs().unwrap_or("a model in llm.json")).into())
            }
            (_, "please_help_me") => Availability::Conditional("in conversations only".into()),
            (_, "clarify") => Availability::Conditional("needs a user to ask".into()),
            (_, "web_search") if config.tools.search.url.is_none() => {
                Availability::Conditional("needs tools.search.url".into())
            }
            (_, "terminal" | "process") if !config.tools.terminal.enabled => {
                Availability::Conditional("needs tools.terminal.enabled: true".into())
            }
            (Some(_), _) => Availability::Conditional("unavailable at the moment".into()),
            (None, _) => Availability::External,
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

/// Column widths for names and toolsets, of built-in tools only.
pub(super) fn widths(rows: &[Row]) -> (usize, usize) {
    let here = || rows.iter().filter(|row| row.availability != Availability::External);
    let widest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or_default();
    (widest(&mut here().map(|row| row.name.len())), widest(&mut here().map(|row| row.toolset.len())))
}

/// The core toolset that contains a tool.
fn home_of(name: &str) -> &'static str {
    let core = DEFINED.iter().filter(|defined| defined.kind == Kind::Core);
    core.filter(|defined| defined.tools.contains(&name))
        .map(|defined| defined.name)
        .min_by_key(|name| name.len())
        .unwrap_or("")
}
