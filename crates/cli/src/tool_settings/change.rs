//! Turns tools and toolsets on and off in the settings.

use std::collections::BTreeSet;

use super::super::failure::{Exit, Failure};
use super::catalog::{CLI, Catalog, Row};
use cdpilot::code::Code;
use cdpilot_server::config::Config;

/// Names for all toolsets.
const ALL: [&str; 2] = ["all", "*"];
/// Warning when the terminal tool is turned on.
pub(super) const DANGER: &str =
    "the terminal is enabled (tools.json in the home): models that are offered it may run commands on this machine";

/// Turn on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toggle {
    On,
    Off,
}

/// The result of a change.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) config: Config,
    /// Names that changed.
    pub(super) changed: Vec<String>,
    /// Names that were in that state already.
    pub(super) unchanged: Vec<String>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// Turns tools and toolsets on or off, for one platform or for all. An unknown name is an error, and nothing changes.
pub(super) fn turn(
    catalog: &Catalog,
    config: &Config,
    platform: Option<&str>,
    names: &[String],
    toggle: Toggle,
) -> Result<Changed, Failure> {
    catalog.check(config, names)?;
    let mut done = Changed { config: config.clone(), changed: Vec::new(), unchanged: Vec::new(), notes: Vec::new() };
    for name in names {
        let before = done.config.clone();
        match toggle {
            Toggle::On => turn_on(catalog, &mut done, platform, name)?,
            Toggle::Off => turn_off(catalog, &mut done, platform, name)?,
        }
        let which = if done.config == before { &mut done.unchanged } else { &mut done.changed };
        if !which.contains(name) {
            which.push(name.clone());
        }
    }
    Ok(done)
}

fn turn_on(catalog: &Catalog, done: &mut Changed, platform: Option<&str>, name: &str) -> Result<(), Failure> {
    let config = &mut done.config;
    let at = platform.unwrap_or(CLI);
    if platform.is_some() && config.tools.disabled.iter().any(|off| off == name) {
        let what = format!(
            "{name} is off on all platforms (tools.disabled in config.yaml), so it cannot be turned on for {at} alone"
        );
        let hint = format!("turn it on for all platforms with `cdpilot tools enable {name}`");
        return Err(Failure::new(Code::Conflict, format!("{what}; {hint}")).with(Exit::Failed));
    }
    if platform.is_none() {
        config.tools.disabled.retain(|off| off != name);
    }
    if let Some(settings) = config.tools.platforms.get_mut(at) {
        settings.disabled.retain(|off| off != name);
    }
    if !catalog.is_on(config, at, name) {
        add(catalog, config, platform, name);
    }
    let on = catalog.on(config, at);
    let is_set = catalog.is_toolset(config, name);
    if is_set && !ALL.contains(&name) {
        let off: Vec<String> =
            catalog.toolsets.resolve(name).tools.into_iter().filter(|tool| !on.contains(tool)).collect();
        if !off.is_empty() {
            done.notes.push(format!("{} off: turned off individually or with another toolset", stay(&off)));
        }
    }
    if platform.is_none() {
        let elsewhere =
            config.tools.platforms.iter().filter(|(_, settings)| settings.disabled.iter().any(|off| off == name));
        let elsewhere: Vec<&str> = elsewhere.map(|(platform, _)| platform.as_str()).collect();
        if !elsewhere.is_empty() {
            done.notes.push(format!("{name} stays off for {}; turn it on there with --platform", elsewhere.join(", ")));
        }
    }
    if !config.tools.terminal.enabled && on.contains("terminal") {
        if matches!(name, "terminal" | "process") {
            config.tools.terminal.enabled = true;
            done.notes.push(DANGER.to_owned());
        } else if is_set && catalog.toolsets.resolve(name).tools.contains("terminal") {
            done.notes.push(
                "its tools terminal and process need tools.terminal.enabled: true; \
                 `cdpilot tools enable terminal` sets it"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// `a stays`, `a, b stay`.
fn stay(names: &[String]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "stays" } else { "stay" })
}

/// Adds a name to the toolsets that are on.
fn add(catalog: &Catalog, config: &mut Config, platform: Option<&str>, name: &str) {
    let at = platform.unwrap_or(CLI);
    let own = config.tools.platforms.get(at).is_some_and(|settings| settings.toolsets.is_some());
    let list = if platform.is_none() && !own {
        &mut config.toolsets
    } else {
        let now = catalog.enabled(config, at).toolsets;
        config.tools.platforms.entry(at.to_owned()).or_default().toolsets.get_or_insert(now)
    };
    if !list.iter().any(|there| there == name) {
        list.push(name.to_owned());
    }
}

fn turn_off(catalog: &Catalog, done: &mut Changed, platform: Option<&str>, name: &str) -> Result<(), Failure> {
    if ALL.contains(&name) {
        return Err(Failure::usage(format!("{name:?} cannot be turned off; give names of tools or toolsets")));
    }
    let config = &mut done.config;
    match platform {
        Some(platform) => disable(config, platform, name),
        None if config.tools.disabled.iter().any(|off| off == name) => {}
        None => config.tools.disabled.push(name.to_owned()),
    }
    let at = platform.unwrap_or(CLI);
    let on = catalog.on(config, at);
    let still: Vec<String> =
        catalog.toolsets.resolve(name).tools.into_iter().filter(|tool| on.contains(tool)).collect();
    if !still.is_empty() {
        done.notes.push(format!("{} on for {at}: included in another enabled toolset", stay(&still)));
    }
    Ok(())
}

/// Turns the `wanted` tools of `rows` on for a platform, and the other ones of `rows` off.
pub(super) fn set(
    catalog: &Catalog,
    config: &Config,
    platform: &str,
    rows: &[Row],
    wanted: &BTreeSet<String>,
) -> Result<Changed, Failure> {
    let missing =
        |from: &BTreeSet<String>, to: &BTreeSet<String>| to.difference(from).cloned().collect::<Vec<String>>();
    let before = catalog.shown_on(config, platform, rows);
    let on = turn(catalog, config, (platform != CLI).then_some(platform), &missing(&before, wanted), Toggle::On)?;
    let mut done = turn(catalog, &on.config, Some(platform), &missing(wanted, &before), Toggle::Off)?;
    let after = catalog.shown_on(&done.config, platform, rows);
    done.changed = [(&before, &after, "on"), (&after, &before, "off")]
        .into_iter()
        .flat_map(|(from, to, word)| missing(from, to).into_iter().map(move |name| format!("{name}: {word}")))
        .collect();
    done.notes = [on.notes, done.notes].concat();
    let other: Vec<String> = after.symmetric_difference(wanted).cloned().collect();
    if !other.is_empty() {
        done.notes.push(format!(
            "not as chosen: {}, because a tool that was chosen has the name of its toolset",
            other.join(", ")
        ));
    }
    Ok(done)
}

fn disable(config: &mut Config, platform: &str, name: &str) {
    let off = &mut config.tools.platforms.entry(platform.to_owned()).or_default().disabled;
    if !off.iter().any(|there| there == name) {
        off.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use cdpilot_server::config::Home;
    use cdpilot_server::tools::toolsets::Toolsets;
    use cdpilot_server::tools::{Outcome, Registry, Scope, Tool, ToolboxOptions};

    fn catalog(config: &Config) -> Catalog {
        let registry = Arc::new(Registry::new());
        for (toolset, name) in [
            ("browser", "browser_click"),
            ("browser", "browser_navigate"),
            ("todo", "todo"),
            ("web", "web_extract"),
            ("web", "web_search"),
            ("terminal", "terminal"),
            ("terminal", "process"),
        ] {
            let tool = Tool::of::<serde_json::Value, _>(name, "For tests.", |_, _| Ok(Outcome::default()));
            registry.register(toolset, tool).unwrap();
        }
        let toolsets = Toolsets::new(Arc::clone(&registry), config.custom_toolsets.clone());
        let scope = Scope::new(&Home::at("nowhere"), config, &ToolboxOptions::default());
        Catalog { registry, toolsets, scope, _servers: None }
    }

    fn config(text: &str) -> Config {
        Config::parse(text, Path::new("config.yaml")).unwrap()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The settings after a change, and what there is to know about it.
    fn turned(text: &str, platform: Option<&str>, list: &[&str], toggle: Toggle) -> Changed {
        let config = config(text);
        turn(&catalog(&config), &config, platform, &names(list), toggle).unwrap()
    }

    fn is_on(config: &Config, platform: &str, name: &str) -> bool {
        catalog(config).on(config, platform).contains(name)
    }

    #[test]
    fn off_is_off_everywhere_or_for_one_platform() {
        let done = turned("", None, &["todo", "browser_click"], Toggle::Off);
        assert_eq!(done.config.tools.disabled, ["todo", "browser_click"]);
        assert_eq!(done.changed, ["todo", "browser_click"]);
        for (platform, name) in [("cli", "todo"), ("acp", "todo"), ("mcp", "browser_click")] {
            assert!(!is_on(&done.config, platform, name), "{name} for {platform}");
        }
        let done = turned("", Some("acp"), &["todo"], Toggle::Off);
        assert_eq!((done.config.tools.disabled.len(), is_on(&done.config, "cli", "todo")), (0, true));
        assert!(!is_on(&done.config, "acp", "todo"));
        let again = turned("tools: {disabled: [todo]}", None, &["todo"], Toggle::Off);
        assert_eq!((again.changed.len(), again.unchanged), (0, names(&["todo"])));
    }

    #[test]
    fn a_toolset_that_is_off_takes_nothing_from_others() {
        let done = turned("", None, &["browser"], Toggle::Off);
        assert!(!is_on(&done.config, "cli", "browser_click") && is_on(&done.config, "cli", "web_search"));
        // It is on there by its own name.
        assert!(is_on(&done.config, "mcp", "browser_click"));
        assert!(done.notes.iter().any(|note| note.contains("web_search stays on")), "{:?}", done.notes);
        let done = turned("toolsets: [browser]", None, &["web"], Toggle::Off);
        assert!(is_on(&done.config, "cli", "web_search"));
    }

    #[test]
    fn on_takes_back_what_was_off_and_adds_what_was_not_there() {
        let done = turned("tools: {disabled: [todo, web]}", None, &["todo"], Toggle::On);
        assert_eq!((done.config.tools.disabled.clone(), done.config.toolsets.len()), (names(&["web"]), 1));
        let done = turned("toolsets: [browser]", None, &["todo", "todo"], Toggle::On);
        assert_eq!((done.config.toolsets, done.changed), (names(&["browser", "todo"]), names(&["todo"])));
        let done = turned("", Some("mcp"), &["todo"], Toggle::On);
        assert_eq!(done.config.tools.platforms["mcp"].toolsets, Some(names(&["cdpilot-mcp", "todo"])));
        assert_eq!(done.config.toolsets, ["cdpilot-cli"]);
        let done = turned("", None, &["todo"], Toggle::On);
        assert_eq!((done.changed.len(), done.unchanged), (0, names(&["todo"])));
        let done = turned(
            "tools: {platforms: {cli: {toolsets: [web]}, acp: {disabled: [todo]}}}",
            None,
            &["todo"],
            Toggle::On,
        );
        assert_eq!(done.config.tools.platforms["cli"].toolsets, Some(names(&["web", "todo"])));
        assert!(done.notes.iter().any(|note| note.contains("stays off for acp")), "{:?}", done.notes);
    }

    #[test]
    fn one_tool_of_a_toolset_that_is_off_can_be_on() {
        let done = turned("tools: {disabled: [browser]}", None, &["browser_click"], Toggle::On);
        assert_eq!(done.config.toolsets, ["cdpilot-cli", "browser_click"]);
        assert!(is_on(&done.config, "cli", "browser_click") && !is_on(&done.config, "cli", "browser_navigate"));
        let refused = config("tools: {disabled: [todo]}");
        let refused = turn(&catalog(&refused), &refused, Some("mcp"), &names(&["todo"]), Toggle::On).unwrap_err();
        assert!(refused.error.contains("off on all platforms") && refused.exit == Exit::Failed, "{refused:?}");
    }

    #[test]
    fn names_that_nobody_knows_change_nothing() {
        let now = config("mcp_servers: {files: {command: x}}");
        let attempt = |names: &[&str], toggle: Toggle| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            turn(&catalog(&now), &now, None, &names, toggle)
        };
        let refused = attempt(&["todo", "browser_clik"], Toggle::Off).unwrap_err();
        assert!(refused.error.contains("browser_click") && refused.exit == Exit::Usage, "{refused:?}");
        assert!(attempt(&["all"], Toggle::Off).is_err() && attempt(&["all"], Toggle::On).is_ok());
        for server in ["files", "mcp-files"] {
            assert_eq!(attempt(&[server], Toggle::On).unwrap().config.toolsets, ["cdpilot-cli", server]);
            let off = attempt(&[server], Toggle::Off).unwrap().config;
            assert_eq!(off.tools.disabled, [server]);
        }
    }

    #[test]
    fn the_terminal_takes_more_than_its_name() {
        let done = turned("", None, &["terminal"], Toggle::On);
        assert!(done.config.tools.terminal.enabled && done.notes.iter().any(|note| note.contains("run commands")));
        let done = turned("", None, &["debugging"], Toggle::On);
        assert!(!done.config.tools.terminal.enabled);
        assert!(done.notes.iter().any(|note| note.contains("tools.terminal.enabled")), "{:?}", done.notes);
        let done = turned("tools: {terminal: {enabled: true}}", None, &["terminal"], Toggle::On);
        assert_eq!((done.changed.len(), done.notes.len()), (0, 0));
    }

    #[test]
    fn a_choice_turns_single_tools_on_and_off() {
        let chosen = |text: &str, platform: &str, on: &[&str], off: &[&str]| {
            let config = config(text);
            let catalog = catalog(&config);
            let rows = catalog.rows(&config, platform);
            let mut wanted = catalog.shown_on(&config, platform, &rows);
            wanted.extend(names(on));
            wanted.retain(|name| !off.contains(&name.as_str()));
            set(&catalog, &config, platform, &rows, &wanted)
        };
        let done = chosen("tools: {disabled: [todo]}", "cli", &["todo"], &["browser_click"]).unwrap();
        assert_eq!(done.changed, ["todo: on", "browser_click: off"]);
        assert_eq!(done.config.tools.platforms["cli"].disabled, ["browser_click"]);
        assert!(is_on(&done.config, "mcp", "browser_click") && done.config.tools.disabled.is_empty());
        let done = chosen("mcp_servers: {files: {command: x}}", "mcp", &["mcp-files"], &[]).unwrap();
        assert_eq!(done.config.tools.platforms["mcp"].toolsets, Some(names(&["cdpilot-mcp", "mcp-files"])));
        assert!(chosen("", "mcp", &[], &[]).unwrap().config == config(""));
        assert!(chosen("tools: {disabled: [todo]}", "mcp", &["todo"], &[]).is_err());
        // `terminal` is the name of a toolset too.
        let done = chosen("", "cli", &[], &["terminal"]).unwrap();
        assert!(done.notes.iter().any(|note| note.contains("process")), "{done:?}");
    }
}
