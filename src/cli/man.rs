//! `cdpilot man`: manual pages and `docs/cli.md`, made from the same definition that parses.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use serde::Serialize;

use super::args::Cli;
use super::failure::{Exit, Failure};
use super::output::Out;

pub(super) fn run(folder: Option<&Path>, markdown: bool, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Made {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        page: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    }
    let failed = |problem: std::io::Error| Failure::internal(format!("manual pages cannot be written: {problem}"));
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
        out.line(&folder.display().to_string());
        out.object(&Made { ok: true, page: None, folder: Some(folder.display().to_string()) });
        return Ok(Exit::Done);
    }
    let page = if markdown {
        as_markdown()
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(failed)?;
        String::from_utf8_lossy(&page).into_owned()
    };
    out.text(&page);
    out.object(&Made { ok: true, page: Some(page), folder: None });
    Ok(Exit::Done)
}

/// All commands with all that they take.
fn as_markdown() -> String {
    let mut all = Cli::command();
    all.build();
    let mut text =
        "# Commands\n\nMade by `UPDATE_DOCS=1 cargo test cli_docs`; written by hand it is overwritten.\n".to_owned();
    let _ = writeln!(text, "\n## Options for every command\n");
    rows(&mut text, all.get_arguments().filter(|arg| arg.is_global_set()));
    if let Some(more) = all.get_after_help() {
        let _ = writeln!(text, "\n```text\n{more}\n```");
    }
    for command in shown(&all) {
        section(&mut text, command, "cdpilot", 2);
    }
    // Where a part is left out, two empty lines meet.
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim_end().to_owned() + "\n"
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
}

fn section(text: &mut String, command: &Command, above: &str, level: usize) {
    let name = format!("{above} {}", command.get_name());
    let _ = writeln!(text, "\n{} `{name}`\n", "#".repeat(level.min(4)));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let _ = writeln!(text, "{about}.\n");
    }
    if !command.has_subcommands() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "```text\n{usage}\n```\n");
    }
    rows(text, command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()));
    if let Some(more) = command.get_after_help() {
        let _ = writeln!(text, "\n{more}");
    }
    shown(command).for_each(|sub| section(text, sub, &name, level + 1));
}

fn rows<'a>(text: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let args: Vec<&Arg> = args.filter(|arg| arg.get_id() != "help" && arg.get_id() != "version").collect();
    if args.is_empty() {
        return;
    }
    let _ = writeln!(text, "| | |\n|---|---|");
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let values = arg.get_possible_values();
        let flag = !arg.get_action().takes_values();
        let choices: Vec<&str> =
            values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name()).collect();
        let choices = if flag || choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
        let default: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default =
            if flag || default.is_empty() { String::new() } else { format!(" [default: {}]", default.join(", ")) };
        let told = format!("{help}{choices}{default}").replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {told} |", typed(arg).replace('|', "\\|"));
    }
}

/// An argument as it is typed.
fn typed(arg: &Arg) -> String {
    let names: Vec<&str> = arg.get_value_names().into_iter().flatten().map(clap::builder::Str::as_str).collect();
    let value = if names.is_empty() { arg.get_id().as_str().to_uppercase() } else { names.join(" ") };
    let takes = arg.get_action().takes_values();
    match (arg.get_short(), arg.get_long()) {
        (None, None) => value,
        (short, long) => {
            let short = short.map(|letter| format!("-{letter}"));
            let long = long.map(|name| format!("--{name}"));
            let flags = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
            if takes { format!("{flags} {value}") } else { flags }
        }
    }
}
