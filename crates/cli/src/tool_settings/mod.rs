//! `cdpilot tools`: chooses which tools models may call, per platform.
//!
//! | file | contents |
//! |---|---|
//! | `catalog` | the existing tools and toolsets, and which are on |
//! | `change` | turns tools on and off in the settings |
//! | `save` | writes `tools.json` |
//! | `list`, `screen` | the printed list, and the interactive one |

mod catalog;
mod change;
mod list;
mod save;
mod screen;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::Settings;
pub(super) use catalog::Catalog;
use cdpilot_server::config::{Config, Home, Layers, Running};
use cdpilot_server::llm::Models;
use change::{Changed, Toggle};

/// Time limit for MCP servers to start and list their tools.
const LOADING: Duration = Duration::from_secs(30);

const AFTER: &str = "\
Without a command, choose in a list in the terminal: Enter saves, Esc leaves without a change. A platform is an entry point for models, with its own choice of \
tools: cli or mcp; acp, api-server, telegram, … are reserved. The toolset `all` contains every tool.";

#[derive(Debug, Args)]
#[command(after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(super) struct Tools {
    /// Platform to choose tools for
    #[arg(long, value_name = "NAME", default_value = catalog::CLI)]
    platform: String,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List tools: on or off, and what unavailable ones need
    List(List),
    /// Turn tools or toolsets on
    Enable(Enable),
    /// Turn tools or toolsets off
    Disable(Disable),
}

#[derive(Debug, Args)]
struct List {
    /// Platform to list [default: cli]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// List toolsets instead of tools
    #[arg(long)]
    toolsets: bool,
    /// Start the configured MCP servers and include their tools
    #[arg(long)]
    servers: bool,
}

#[derive(Debug, Args)]
struct Enable {
    /// Tools and toolsets to turn on
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Turn them on for this platform only [default: cli; also removes what `tools disable` without
    /// --platform turned off]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

#[derive(Debug, Args)]
struct Disable {
    /// Tools and toolsets to turn off
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Turn them off for this platform only [default: for all platforms]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

/// The tools to turn on or off, and the platform.
struct Turn<'a> {
    names: &'a [String],
    platform: Option<&'a str>,
}

pub(super) fn run(tools: &Tools, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let home = Home::find()?;
    match &tools.command {
        None => screen::run(&home, &tools.platform, out),
        Some(Command::List(list)) => {
            warn_of_models(out);
            let layers = Layers::of(&home)?;
            let config = layers.config();
            let platform = Catalog::platform(&config, list.platform.as_deref().unwrap_or(catalog::CLI))?;
            let catalog = Catalog::open(&home, &config)?;
            if list.servers {
                catalog.load(settings.deadline(LOADING), out);
            }
            match list.toolsets {
                true => list::toolsets(&catalog, &config, &platform, out),
                false => list::tools(&catalog, &layers, &platform, out),
            }
            Ok(Exit::Done)
        }
        Some(Command::Enable(Enable { names, platform })) => {
            turned(&home, &Turn { names, platform: platform.as_deref() }, Toggle::On, settings, out)
        }
        Some(Command::Disable(Disable { names, platform })) => {
            turned(&home, &Turn { names, platform: platform.as_deref() }, Toggle::Off, settings, out)
        }
    }
}

/// Warns of an invalid `llm.json`.
pub(super) fn warn_of_models(out: &Out) {
    if let Some(Err(problem)) = Home::find().ok().map(|home| Models::of(&home)) {
        out.aside(&format!("warning: {problem}; tools that need a model are off"));
    }
}

fn turned(home: &Home, turn: &Turn<'_>, toggle: Toggle, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Output<'a> {
        ok: bool,
        platform: Option<&'a str>,
        on: bool,
        changed: &'a [String],
        unchanged: &'a [String],
        notes: &'a [String],
        path: String,
        restart: bool,
    }
    let config = Config::of(home)?;
    let catalog = Catalog::open(home, &config)?;
    // An unknown name may be a tool of an MCP server.
    if !config.mcp_servers.is_empty() && catalog.check(&config, turn.names).is_err() {
        catalog.load(settings.deadline(LOADING), out);
    }
    let (platform, done) = save::change(home, |config| {
        let platform = turn.platform.map(|typed| Catalog::platform(config, typed)).transpose()?;
        let done = change::turn(&catalog, config, platform.as_deref(), turn.names, toggle)?;
        Ok((done.config.clone(), (platform, done)))
    })?;
    let word = if toggle == Toggle::On { "on" } else { "off" };
    let place = match (&platform, toggle) {
        (Some(platform), _) => format!("for {platform}"),
        (None, Toggle::On) => "for cli".to_owned(),
        (None, Toggle::Off) => "everywhere".to_owned(),
    };
    done.changed.iter().for_each(|name| out.line(&format!("{name}: {word} {place}")));
    done.unchanged.iter().for_each(|name| out.line(&format!("{name}: already {word} {place}")));
    done.notes.iter().for_each(|note| out.line(&format!("  {}", out.style.yellow(note))));
    let restart = needs_restart(home, &done, out);
    out.object(&Output {
        ok: true,
        platform: platform.as_deref(),
        on: toggle == Toggle::On,
        changed: &done.changed,
        unchanged: &done.unchanged,
        notes: &done.notes,
        path: home.tools().display().to_string(),
        restart,
    });
    Ok(Exit::Done)
}

/// Whether the running server must be restarted to use the change; says so. A server picks up tools that were turned on or
/// off immediately, but not that the terminal is enabled.
fn needs_restart(home: &Home, done: &Changed, out: &Out) -> bool {
    let restart = done.notes.iter().any(|note| note == change::DANGER)
        && Running::of(home).is_ok_and(|running| running.is_some());
    if restart {
        out.aside(
            "the running server offers the terminal tools only after a restart: stop it with `cdpilot serve --stop`",
        );
    }
    restart
}
