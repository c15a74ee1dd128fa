//! Checks the names of tools and toolsets in the settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Registry;
use super::{DEFINED, Kind, Problem, Toolsets, suggestion};
use crate::config::Config;

/// Prefix of the toolsets of entry points.
const PREFIX: &str = "cdpilot-";
/// Prefix of the toolsets of MCP servers.
const MCP: &str = "mcp-";

/// Unknown tools and toolsets, toolsets that contain themselves and unknown platforms in the settings, each with its key. Names
/// that an MCP server may bring are not reported.
#[must_use]
pub fn setting_problems(config: &Config, registry: &Arc<Registry>) -> Vec<String> {
    let toolsets = Toolsets::new(Arc::clone(registry), config.custom_toolsets.clone());
    let is_server = |name: &str| config.mcp_servers.contains_key(name.strip_prefix(MCP).unwrap_or(name));
    let mut found = Vec::new();
    let mut report = |key: &str, problems: BTreeSet<Problem>| {
        for problem in problems {
            let is_known = matches!(&problem, Problem::Unknown { name, .. } if is_server(name));
            let entry = format!("{key}: {problem}");
            if !is_known && !found.contains(&entry) {
                found.push(entry);
            }
        }
    };
    let resolved = |names: &[String]| toolsets.resolve_all(names, &BTreeSet::new()).problems;
    let off = |names: &[String]| names.iter().filter_map(|name| toolsets.wrong_off(name)).collect::<BTreeSet<_>>();
    for name in config.custom_toolsets.keys() {
        report(&format!("custom_toolsets.{name}"), toolsets.resolve(name).problems);
    }
    // Problems within custom toolsets have been reported.
    let own =
        |names: &[String]| names.iter().filter(|name| !config.custom_toolsets.contains_key(*name)).cloned().collect();
    let own_of = |names: &[String]| -> BTreeSet<Problem> {
        let names: Vec<String> = own(names);
        resolved(&names)
    };
    report("toolsets", own_of(&config.toolsets));
    report("tools.disabled", off(&config.tools.disabled));
    for (name, platform) in &config.tools.platforms {
        let key = format!("tools.platforms.{name}");
        report(&format!("{key}.toolsets"), own_of(platform.toolsets.as_deref().unwrap_or_default()));
        report(&format!("{key}.disabled"), off(&platform.disabled));
    }
    let platforms = DEFINED.iter().filter(|defined| defined.kind == Kind::Platform);
    let platforms: Vec<&str> = platforms.filter_map(|defined| defined.name.strip_prefix(PREFIX)).collect();
    for name in config.tools.platforms.keys().filter(|name| !platforms.contains(&name.as_str())) {
        let near = suggestion(name, platforms.iter().copied()).map(|near| format!("; did you mean {near}?"));
        let near = near.unwrap_or_else(|| "; the platforms are cli, mcp, acp, api-server and others".to_owned());
        found.push(format!("tools.platforms.{name}: there is no such platform{near}"));
    }
    found
}
