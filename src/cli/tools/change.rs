//! Tools and toolsets turned on and off: from settings to settings.

use std::collections::BTreeSet;

use super::super::failure::{Exit, Failure};
use super::catalog::{CLI, Catalog, Row};
use crate::config::Config;

/// Names that mean all toolsets.
const ALL: [&str; 2] = ["all", "*"];
/// What is more than a name can say.
const DANGER: &str = "tools.terminal.enabled is set to true: from now on models may run commands on this machine";

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    On,
    Off,
}

/// What a change comes to.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) config: Config,
    /// What was turned.
    pub(super) changed: Vec<String>,
    /// What was that way already.
    pub(super) unchanged: Vec<String>,
    /// What there is to know about it.
    pub(super) notes: Vec<String>,
}

/// Turns tools and toolsets on or off: for one platform, or without one everywhere. Nothing is changed when one of the
/// names is unknown.
pub(super) fn turn(
    catalog: &Catalog,
    config: &Config,
    platform: Option<&str>,
    names: &[String],
    way: Way,
) -> Result<Changed, Failure> {
    catalog.check(config, names)?;
    let mut done = Changed { config: config.clone(), changed: Vec::new(), unchanged: Vec::new(), notes: Vec::new() };
    for name in names {
        let before = done.config.clone();
        match way {
            Way::On => turn_on(catalog, &mut done, platform, name)?,
            Way::Off => turn_off(catalog, &mut done, platform, name)?,
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
        let what = format!("{name} is off everywhere (tools.disabled), so it cannot be on for {at} alone");
        let hint = format!("`cdpilot tools enable {name}` turns it on everywhere");
        return Err(Failure::new("CONFLICT", format!("{what}; {hint}")).with(Exit::Failed));
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
            done.notes
                .push(format!("of {name}, {} stays off: turned off by itself, or with its toolset", off.join(", ")));
        }
    }
    if platform.is_none() {
        let elsewhere =
            config.tools.platforms.iter().filter(|(_, settings)| settings.disabled.iter().any(|off| off == name));
        let elsewhere: Vec<&str> = elsewhere.map(|(platform, _)| platform.as_str()).collect();
        if !elsewhere.is_empty() {
            done.notes.push(format!("{name} stays off for {}; --platform turns it on there", elsewhere.join(", ")));
        }
    }
    if !config.tools.terminal.enabled && on.contains("terminal") {
        if matches!(name, "terminal" | "process") {
            config.tools.terminal.enabled = true;
            done.notes.push(DANGER.to_owned());
        } else if is_set && catalog.toolsets.resolve(name).tools.contains("terminal") {
            done.notes.push(
                "its terminal and process are there once tools.terminal.enabled is true; \
                 `cdpilot tools enable terminal` sets that"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// Adds a name to what is on.
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
        return Err(Failure::usage(format!("{name:?} cannot be turned off; name tools or toolsets")));
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
        let others = format!("another toolset that is on for {at} has them too");
        done.notes.push(format!("of {name}, {} stays on: {others}", still.join(", ")));
    }
    Ok(())
}

/// Turns on for a platform what is wanted of what was shown, and the rest of that off.
pub(super) fn set(
    catalog: &Catalog,
    config: &Config,
    platform: &str,
    rows: &[Row],
    wanted: &BTreeSet<String>,
) -> Changed {
    let state = |config: &Config| catalog.shown_on(config, platform, rows);
    let before = state(config);
    let shown: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    let of = |toolset: &str| {
        rows.iter().filter(|row| row.toolset == toolset).map(|row| row.name.clone()).collect::<BTreeSet<_>>()
    };
    let toolset = |name: &String| rows.iter().find(|row| row.name == *name).map_or("", |row| row.toolset.as_str());
    let mut new = config.clone();
    let off: BTreeSet<String> = before.difference(wanted).cloned().collect();
    let on: BTreeSet<String> = wanted.difference(&before).filter(|name| shown.contains(*name)).cloned().collect();
    // A whole toolset goes by its name, unless that takes something else with it.
    for toolset in off.iter().map(toolset).collect::<BTreeSet<_>>() {
        let all = of(toolset);
        if all.len() < 2 || !all.is_disjoint(wanted) {
            continue;
        }
        let mut tried = new.clone();
        disable(&mut tried, platform, toolset);
        if state(&new).difference(&state(&tried)).all(|name| !wanted.contains(name)) {
            new = tried;
        }
    }
    for name in state(&new).intersection(&off) {
        disable(&mut new, platform, name);
    }
    for name in &on {
        let whole = of(toolset(name)).is_subset(wanted);
        if let Some(settings) = new.tools.platforms.get_mut(platform) {
            settings.disabled.retain(|off| off != name && !(whole && off == toolset(name)));
        }
    }
    let place = (platform != CLI).then_some(platform);
    for name in &on {
        let now = state(&new);
        if now.contains(name) || new.tools.disabled.contains(name) {
            continue;
        }
        let mut tried = new.clone();
        add(catalog, &mut tried, place, toolset(name));
        let then = state(&tried);
        if then.contains(name) && then.difference(&now).all(|name| wanted.contains(name)) {
            new = tried;
        } else {
            add(catalog, &mut new, place, name);
        }
    }
    let after = state(&new);
    let turned = |mark: &'static str, from: &BTreeSet<String>, to: &BTreeSet<String>| {
        to.difference(from).map(|name| format!("{mark} {name}")).collect::<Vec<_>>()
    };
    let changed = [turned("+", &before, &after), turned("-", &after, &before)].concat();
    let unchanged: Vec<String> =
        shown.into_iter().filter(|name| after.contains(name) != wanted.contains(name)).collect();
    let why = |name: &String| match new.tools.disabled.contains(name) {
        true => format!("{name} is off everywhere (tools.disabled); `cdpilot tools enable {name}` turns it on"),
        false => format!("{name} goes with the rest of its toolset"),
    };
    let mut notes: Vec<String> = unchanged.iter().map(why).collect();
    if !new.tools.terminal.enabled && on.contains("terminal") && after.contains("terminal") {
        new.tools.terminal.enabled = true;
        notes.push(DANGER.to_owned());
    }
    Changed { config: new, changed, unchanged, notes }
}

fn disable(config: &mut Config, platform: &str, name: &str) {
    let off = &mut config.tools.platforms.entry(platform.to_owned()).or_default().disabled;
    if !off.iter().any(|there| there == name) {
        off.push(name.to_owned());
    }
}
