//! `cdpilot tools list`: prints tools or toolsets.

use std::collections::BTreeSet;

use serde::Serialize;

use super::super::output::{Out, one_line};
use super::catalog::{Availability, Catalog, Row, widths};
use cdpilot_server::config::{Config, Layers};
use cdpilot_server::tools::toolsets::{DEFINED, Kind};

/// A tool in JSON output.
#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    toolset: &'a str,
    on: bool,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    /// What decides whether it is on: `default`, `config.yaml` or `tools.json`.
    from: &'static str,
    description: &'a str,
}

/// A toolset in JSON output.
#[derive(Serialize)]
struct Set {
    name: String,
    kind: &'static str,
    description: String,
    /// Tools and toolsets that it contains.
    members: Vec<String>,
    /// Number of its tools; of those, how many are on and available.
    tools: usize,
    on: usize,
    available: usize,
}

/// Prints all tools of a platform.
pub(super) fn tools(catalog: &Catalog, layers: &Layers, platform: &str, out: &Out) {
    let config = &layers.config();
    #[derive(Serialize)]
    struct Output<'a> {
        ok: bool,
        platform: &'a str,
        toolsets: Vec<String>,
        off: BTreeSet<String>,
        problems: Vec<String>,
        tools: Vec<Tool<'a>>,
    }
    let enabled = catalog.enabled(config, platform);
    let rows = catalog.rows(config, platform);
    let origin = Origin::new(catalog, layers, platform, &rows);
    let problems = problems(catalog, config, platform);
    problems.iter().for_each(|problem| out.aside(&format!("config.yaml: {problem}")));
    let (name, toolset) = widths(&rows);
    let on = rows.iter().filter(|row| row.on).count();
    out.line(&out.style.bold(&format!(
        "{platform}: {on} of {} tools on, from {}",
        rows.len(),
        shown(&enabled.toolsets)
    )));
    let (elsewhere, here): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.availability == Availability::External);
    for row in here {
        let mark = if row.on { out.style.green("on ") } else { out.style.dim("off") };
        let from = Some(origin.of(row)).filter(|from| *from != DEFAULT).map(|from| format!("({from})"));
        let remark = [row.availability.explanation(), from.as_deref().unwrap_or_default()].join(" ");
        let line = format!("{mark}  {:name$}  {:toolset$}  {}", row.name, row.toolset, out.style.dim(remark.trim()));
        out.line(line.trim_end());
    }
    for (on, word) in [(true, "on "), (false, "off")] {
        let names: Vec<&str> = elsewhere.iter().filter(|row| row.on == on).map(|row| row.name.as_str()).collect();
        if !names.is_empty() {
            out.line(&format!("{word}  {}", out.style.dim("not built in; an MCP server can provide them:")));
            wrapped(&names).iter().for_each(|line| out.line(&format!("     {line}")));
        }
    }
    let is_available = |row: &'_ Row| -> bool { row.availability == Availability::Available };
    let tools = rows.iter().map(|row| Tool {
        name: &row.name,
        toolset: &row.toolset,
        on: row.on,
        available: is_available(row),
        why: (!is_available(row)).then(|| row.availability.explanation()),
        from: origin.of(row),
        description: &row.description,
    });
    out.object(&Output {
        ok: true,
        platform,
        toolsets: enabled.toolsets.clone(),
        off: enabled.off.clone(),
        problems,
        tools: tools.collect(),
    });
}

/// The origin of a tool's state when no setting decides it.
const DEFAULT: &str = "default";

/// Which file decides which tools are on.
struct Origin {
    by_default: BTreeSet<String>,
    by_file: BTreeSet<String>,
    /// The tools that `tools.json` allows or forbids.
    terminal: &'static [&'static str],
}

impl Origin {
    fn new(catalog: &Catalog, layers: &Layers, platform: &str, rows: &[Row]) -> Self {
        let file = &layers.file;
        let mut none = file.clone();
        none.toolsets = Config::default().toolsets;
        none.tools.disabled.clear();
        none.tools.platforms.clear();
        let is_chosen = layers.config().tools.terminal.enabled != file.tools.terminal.enabled;
        Self {
            by_default: catalog.shown_on(&none, platform, rows),
            by_file: catalog.shown_on(file, platform, rows),
            terminal: if is_chosen { &["terminal", "process"] } else { &[] },
        }
    }

    fn of(&self, row: &Row) -> &'static str {
        let by_file = self.by_file.contains(&row.name);
        if row.on != by_file || self.terminal.contains(&&*row.name) {
            "tools.json"
        } else if by_file != self.by_default.contains(&row.name) {
            "config.yaml"
        } else {
            DEFAULT
        }
    }
}

/// Prints all toolsets, with the number of tools that are on.
pub(super) fn toolsets(catalog: &Catalog, config: &Config, platform: &str, out: &Out) {
    #[derive(Serialize)]
    struct Output<'a> {
        ok: bool,
        platform: &'a str,
        problems: Vec<String>,
        toolsets: Vec<Set>,
    }
    let on = catalog.on(config, platform);
    let callable = |tool: &&String| catalog.registry.get(tool).is_some_and(|tool| tool.is_available(&catalog.scope));
    let mut sets: Vec<Set> = catalog
        .toolsets
        .names()
        .into_iter()
        .filter_map(|name| catalog.toolsets.info(&name, true))
        .map(|info| Set {
            kind: kind(config, &info.name),
            description: info.description,
            members: info.direct_tools.iter().cloned().chain(info.includes).collect(),
            tools: info.tool_count,
            on: info.resolved_tools.intersection(&on).count(),
            available: info.resolved_tools.iter().filter(callable).count(),
            name: info.name,
        })
        .collect();
    for server in config.mcp_servers.keys() {
        let name = format!("mcp-{server}");
        if !sets.iter().any(|set| set.name == name) {
            let description = format!("Tools of the MCP server {server}, started when used.");
            sets.push(Set { name, kind: "dynamic", description, members: Vec::new(), tools: 0, on: 0, available: 0 });
        }
    }
    let order = ["core", "composite", "platform", "dynamic", "custom"];
    sets.sort_by_key(|set| (order.iter().position(|kind| *kind == set.kind), set.name.clone()));
    let problems = problems(catalog, config, platform);
    problems.iter().for_each(|problem| out.aside(&format!("config.yaml: {problem}")));
    let width = sets.iter().map(|set| set.name.len()).max().unwrap_or_default();
    let mut last = "";
    out.line(&format!("Toolsets; on: number of tools that are on for {platform}, available: that can be called now."));
    for set in &sets {
        if set.kind != last {
            out.line(&out.style.bold(&format!("{:1$}  on  available  tools", set.kind, width + 2)));
            last = set.kind;
        }
        let counts = format!("{:>2}  {:>9}  {:>5}", set.on, set.available, set.tools);
        out.line(&format!("  {:width$}  {counts}  {}", set.name, out.style.dim(&one_line(&set.description))));
    }
    out.object(&Output { ok: true, platform, problems, toolsets: sets });
}

/// Wraps names to the width of a terminal.
fn wrapped(names: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < 72 => line.push_str(&format!(", {name}")),
            _ => lines.push((*name).to_owned()),
        }
    }
    let last = lines.len().saturating_sub(1);
    lines.into_iter().enumerate().map(|(at, line)| if at < last { line + "," } else { line }).collect()
}

fn kind(config: &Config, name: &str) -> &'static str {
    match DEFINED.iter().find(|defined| defined.name == name).map(|defined| defined.kind) {
        Some(Kind::Core) => "core",
        Some(Kind::Composite) => "composite",
        Some(Kind::Platform) => "platform",
        None if config.custom_toolsets.contains_key(name) => "custom",
        None => "dynamic",
    }
}

/// Problems with names in the settings.
fn problems(catalog: &Catalog, config: &Config, platform: &str) -> Vec<String> {
    let enabled = catalog.enabled(config, platform);
    let (_, mut problems) = enabled.names(&catalog.toolsets);
    problems.extend(enabled.wrong_off(&catalog.toolsets));
    let known = |problem: &cdpilot_server::tools::toolsets::Problem| match problem {
        // The toolset of an MCP server that was not started.
        cdpilot_server::tools::toolsets::Problem::Unknown { name, .. } => catalog.is_toolset(config, name),
        cdpilot_server::tools::toolsets::Problem::Cycle { .. } => false,
    };
    problems.into_iter().filter(|problem| !known(problem)).map(|problem| problem.to_string()).collect()
}

fn shown(toolsets: &[String]) -> String {
    if toolsets.is_empty() { "no toolset".to_owned() } else { toolsets.join(", ") }
}
