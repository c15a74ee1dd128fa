//! The `cdpilot` program: reads its arguments, calls the rooms below, prints.
//!
//! | file | what it holds |
//! |---|---|
//! | `args` | what can be typed |
//! | `settings` | flags and environment variables put together |
//! | `output`, `failure` | text or one JSON object; exit codes |
//! | `browser` | the commands that go to the control server |
//! | `connect`, `client`, `autostart` | finding that server, asking it, starting it |
//! | `files` | files that commands write |
//! | `seal` | encrypting saved login states |
//! | `nearby` | tools that concern the folder a command is typed in |
//! | `serve`, `signals` | being that server |
//! | `tool`, `tools` | one tool called from a shell; which tools models have |
//! | `mcp` | the tools for models on stdin and stdout |
//! | `memory` | giving freed memory back to the system |
//! | `demo`, `doctor`, `install`, `supervise`, `bench`, `ui`, `completions`, `man` | the other commands |
//!
//! Nothing in here knows how a browser works.

mod args;
mod autostart;
mod bench;
mod browser;
mod client;
mod completions;
mod connect;
mod demo;
mod doctor;
mod failure;
mod files;
mod install;
mod man;
mod mcp;
mod memory;
mod nearby;
mod output;
mod seal;
mod serve;
mod settings;
#[cfg(unix)]
mod signals;
mod supervise;
mod tool;
mod tools;
mod ui;

#[doc(hidden)]
pub mod fuzzing {
    //! Doors for fuzzers; no stable interface.

    pub use super::supervise::fuzzing::{Read, stdin_lines};
}

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use serde::Serialize;

use crate::browser::redact;
use args::{Cli, Command};
use failure::{Exit, Failure};
use output::Out;
use settings::Settings;

/// Runs the program on the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(shell) = settings::env(completions::VARIABLE) {
        return completions::complete(&shell);
    }
    let cli = match parsed(std::env::args_os()) {
        Ok(cli) => cli,
        Err(problem) => return not_parsed(&problem),
    };
    let out = Out::new(cli.global.json, cli.global.quiet);
    // What only asks a server is over in milliseconds, and has nothing to log of its own.
    if !matches!(cli.command, Command::Browser(_)) || settings::wants_log(&cli.global) {
        settings::start_log(&cli.global);
    }
    if matches!(&cli.command, Command::Serve(args) if !args.stop) || matches!(cli.command, Command::Mcp(_)) {
        memory::become_frugal();
    }
    let outcome = Settings::new(&cli.global).and_then(|settings| match cli.command {
        Command::Demo(args) => demo::run(&args, &settings, &out),
        Command::Browser(command) => browser::run(&command, &cli.global, &settings, &out),
        Command::Serve(args) => serve::run(&args, &cli.global, &out),
        Command::Tool(args) => tool::run(&args, &cli.global, &settings, &out),
        Command::Tools(args) => tools::run(&args, &settings, &out),
        Command::Mcp(args) => mcp::run(&args, &cli.global),
        Command::Ui => ui::run(&cli.global, &settings, &out),
        Command::Doctor(args) => doctor::run(&args, &cli.global, &settings, &out),
        Command::Install(args) => install::run(&args, &out),
        Command::Supervise(args) => supervise::run(&args, &settings, &out),
        Command::Bench(args) => bench::run(&args, &settings, &out),
        Command::Completions { shell } => completions::run(shell, &out),
        Command::Man { folder, markdown } => man::run(folder.as_deref(), markdown, &out),
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            out.failure(&failure);
            failure.exit.into()
        }
    }
}

/// Parses the command line. Builds the commands only once: that takes a good part of the time of a short command.
fn parsed(args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let args = browser::disambiguate(&command, args);
    let mut matches = command.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|problem| problem.format(&mut command))
}

/// Usage errors, `--help` and `--version`: as text, or as one object when `--json` was typed.
fn not_parsed(problem: &clap::Error) -> ExitCode {
    #[derive(Serialize)]
    struct Asked<'a> {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<String>,
    }
    let json = std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let text = problem.to_string();
    let told = redact(&text); // an address may stand where none is expected
    if !json {
        // A closed pipe is no reason to complain.
        let _ = if told == text { problem.print() } else { std::io::stderr().write_all(told.as_bytes()) };
        return if problem.use_stderr() { Exit::Usage } else { Exit::Done }.into();
    }
    let out = Out::new(true, false);
    match problem.kind() {
        ErrorKind::DisplayVersion => {
            out.object(&Asked { ok: true, version: Some(env!("CARGO_PKG_VERSION")), help: None });
            Exit::Done.into()
        }
        ErrorKind::DisplayHelp => {
            out.object(&Asked { ok: true, version: None, help: Some(text) });
            Exit::Done.into()
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            out.failure(&Failure::usage("no command given; `cdpilot --help` lists them"));
            Exit::Usage.into()
        }
        _ => {
            out.failure(&Failure::usage(one_sentence(&told)));
            Exit::Usage.into()
        }
    }
}

/// What clap has to say, without its heading, its usage lines and its line breaks.
fn one_sentence(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let wanted = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    wanted.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
