//! `cdpilot tool`: calls one tool from a shell, through the server, so that the browser stays open between calls.
//!
//! | file | contents |
//! |---|---|
//! | `ask` | questions of tools to the user |
//! | `call` | requests to the server |
//! | `describe` | prints the arguments of a tool |
//! | `show` | prints the result of a call |

mod ask;
mod call;
mod describe;
mod show;

use std::io::Read as _;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::Global;
use super::failure::{Exit, Failure};
use super::local_tools::LocalTools;
use super::output::Out;
use super::settings::Settings;
use super::tool_settings::Catalog;
use ask::TerminalUser;
use call::ToolClient;
use cdpilot_server::config::{Config, Home};

/// Size limit for arguments from stdin, bytes.
const MAX_INPUT: u64 = 1 << 20;

const AFTER: &str = "\
Examples:
  cdpilot tool browser_navigate '{\"url\": \"https://example.com\"}'
  cdpilot tool browser_click '{\"ref\": \"e3\"}'

Without NAME, lists the tools that can be called. Images in results are saved to media/ in the home. With \
--json, prints the tool's result object {success, …} on one line.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Tool {
    /// Tool to call [default: list the tools]
    name: Option<String>,
    /// Arguments as a JSON object; `-`: read from stdin [default: {}]
    #[arg(value_name = "JSON", requires = "name")]
    arguments: Option<String>,
    /// Comma-separated toolsets and tools that may be called [default: those enabled for the platform cli]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// Show the description and arguments of the tool without calling it
    #[arg(long, alias = "help-schema", requires = "name", conflicts_with = "arguments")]
    schema: bool,
}

pub(super) fn run(tool: &Tool, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let Some(name) = &tool.name else { return listed(&tool.toolsets, out) };
    let client = ToolClient::new(global, settings, &tool.toolsets, out)?;
    let known = local(name);
    if tool.schema {
        let described = match known {
            Some(known) => known,
            None => client.find(name)?,
        };
        describe::show(&described, out);
        return Ok(Exit::Done);
    }
    let arguments = arguments(tool.arguments.as_deref(), name, known.as_ref())?;
    let home = client.home().cloned();
    super::tool_settings::warn_of_models(out);
    if let Some(home) = &home {
        let local_tools = LocalTools::new(home, "cli", &tool.toolsets, &["todo"], TerminalUser::at_terminal())?;
        let arguments = Value::Object(arguments.clone());
        if local_tools.does(name, &arguments) {
            let result = local_tools.call(name, arguments);
            let result = result.map_err(|fault| Failure::usage(fault.message))?;
            return show::result(name, result, Some(home), out);
        }
    }
    show::result(name, client.call(name, arguments)?, home.as_ref(), out)
}

/// The description of a built-in tool, without a server.
fn local(name: &str) -> Option<describe::Described> {
    let (catalog, _) = catalog().ok()?;
    let tool = catalog.registry.get(name)?;
    Some(describe::Described {
        name: name.to_owned(),
        description: tool.description.to_string(),
        schema: (*tool.schema).clone(),
    })
}

fn catalog() -> Result<(Catalog, Config), Failure> {
    let home = Home::find()?;
    let config = Config::of(&home)?;
    Ok((Catalog::open(&home, &config)?, config))
}

/// Reads the arguments of the tool.
fn arguments(
    typed: Option<&str>,
    name: &str,
    known: Option<&describe::Described>,
) -> Result<Map<String, Value>, Failure> {
    let mut text = typed.unwrap_or("{}").to_owned();
    let from = if text == "-" { "the input from stdin" } else { "the JSON argument" };
    if text == "-" {
        text.clear();
        let read = std::io::stdin().lock().take(MAX_INPUT + 1).read_to_string(&mut text);
        read.map_err(|problem| Failure::usage(format!("cannot read stdin: {problem}")))?;
        if text.len() as u64 > MAX_INPUT {
            return Err(Failure::usage(format!("{from} is larger than 1 MiB, the limit; give less")));
        }
        if text.trim().is_empty() {
            text = "{}".to_owned();
        }
    }
    let example = known.map_or_else(|| "{\"name\": \"value\"}".to_owned(), describe::Described::example);
    let hint = format!("give an object, for example: cdpilot tool {name} '{example}'");
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Failure::usage(format!("{from} is JSON but not an object; {hint}"))),
        Err(problem) => Err(Failure::usage(format!("{from} is not valid JSON: {problem}; {hint}"))),
    }
}

/// Lists the tools that are on for the platform cli, or those of toolsets.
fn listed(toolsets: &[String], out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Output {
        ok: bool,
        tools: Vec<Listed>,
    }
    #[derive(Serialize)]
    struct Listed {
        name: String,
        description: String,
        available: bool,
    }
    let (catalog, config) = catalog()?;
    catalog.check(&config, toolsets)?;
    super::tool_settings::warn_of_models(out);
    let rows = catalog.callable(&config, toolsets);
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    for row in &rows {
        let why = row.availability.explanation();
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        out.line(&format!("{:width$}  {}{}", row.name, row.description, out.style.dim(&why)));
    }
    if rows.is_empty() {
        out.warning("no tools are enabled here; `cdpilot tools list` shows all of them, and `cdpilot doctor` checks the settings");
    }
    out.aside("`cdpilot tool NAME --schema` shows the arguments of a tool, `cdpilot tools` turns tools on and off");
    let tools = rows.into_iter().map(|row| Listed {
        available: row.availability.explanation().is_empty(),
        name: row.name,
        description: row.description,
    });
    out.object(&Output { ok: true, tools: tools.collect() });
    Ok(Exit::Done)
}
