//! `cdpilot tools`: what models may call, by platform.
//!
//! | file | what it holds |
//! |---|---|
//! | `catalog` | what there is, and what is on |
//! | `change` | from settings to settings |
//! | `save` | changes, written to `tools.json` |
//! | `list`, `screen` | what is printed, and what is asked at a terminal |

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
use crate::config::{Config, Home, Layers, Running};
pub(super) use catalog::Catalog;
use change::Way;

/// What MCP servers may take to start and to tell their tools.
const LOADING: Duration = Duration::from_secs(30);

const AFTER: &str = "\
Without a command it asks at the terminal. Platforms are the front doors that models come through: cli, mcp, acp,
api-server, telegram, … Names are those of tools and of toolsets; `all` stands for every toolset.";

/// Choose the tools that models may call; without a command, at the terminal
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Tools {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List tools: on or off, and what is missing for those that cannot be used
    List(List),
    /// Turn tools or toolsets on
    Enable(Turn),
    /// Turn tools or toolsets off
    Disable(Turn),
}

#[derive(Debug, Args)]
struct List {
    /// The platform [default: cli]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Toolsets instead of tools
    #[arg(long)]
    toolsets: bool,
    /// Start the MCP servers, and list their tools too
    #[arg(long)]
    servers: bool,
}

#[derive(Debug, Args)]
struct Turn {
    /// Tools and toolsets
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// For one platform only [default: `disable` turns off everywhere; `enable` takes that back, and turns on for cli]
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

pub(super) fn run(tools: &Tools, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let home = Home::find()?;
    match &tools.command {
        None => screen::run(&home, out),
        Some(Command::List(list)) => {
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
        Some(Command::Enable(turn)) => turned(&home, turn, Way::On, settings, out),
        Some(Command::Disable(turn)) => turned(&home, turn, Way::Off, settings, out),
    }
}

fn turned(home: &Home, turn: &Turn, way: Way, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Told<'a> {
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
    // It may be a tool that only its server knows.
    if !config.mcp_servers.is_empty() && catalog.check(&config, &turn.names).is_err() {
        catalog.load(settings.deadline(LOADING), out);
    }
    let (platform, done) = save::change(home, |config| {
        let platform = turn.platform.as_deref().map(|typed| Catalog::platform(config, typed)).transpose()?;
        let done = change::turn(&catalog, config, platform.as_deref(), &turn.names, way)?;
        Ok((done.config.clone(), (platform, done)))
    })?;
    let word = if way == Way::On { "on" } else { "off" };
    let place = match (&platform, way) {
        (Some(platform), _) => format!("for {platform}"),
        (None, Way::On) => "for cli".to_owned(),
        (None, Way::Off) => "everywhere".to_owned(),
    };
    done.changed.iter().for_each(|name| out.line(&format!("{name}: {word} {place}")));
    done.unchanged.iter().for_each(|name| out.line(&format!("{name}: was {word} {place} already")));
    done.notes.iter().for_each(|note| out.line(&format!("  {}", out.look.yellow(note))));
    let saved = Saved::of(home, !done.notes.iter().any(|note| note == change::DANGER));
    saved.told(out);
    out.object(&Told {
        ok: true,
        platform: platform.as_deref(),
        on: way == Way::On,
        changed: &done.changed,
        unchanged: &done.unchanged,
        notes: &done.notes,
        path: home.tools().display().to_string(),
        restart: saved.restart,
    });
    Ok(Exit::Done)
}

/// Settings that were saved.
struct Saved {
    /// Whether a server runs that does not know of them yet.
    restart: bool,
}

impl Saved {
    /// What is on and off is known at once; `is_known` says whether that is all that changed.
    fn of(home: &Home, is_known: bool) -> Self {
        Self { restart: !is_known && Running::of(home).is_ok_and(|running| running.is_some()) }
    }

    fn told(&self, out: &Out) {
        if self.restart {
            out.aside("the server that runs has no terminal until it is started anew: `cdpilot serve --stop` ends it");
        }
    }
}
