//! The `cdpilot` program: parses its arguments, calls the lower modules and prints the result.
//!
//! | module | contents |
//! |---|---|
//! | `args` | the command line |
//! | `settings` | flags combined with environment variables |
//! | `output`, `style`, `failure` | text or one JSON object; symbols and colors; errors and exit codes |
//! | `browser` | the commands that send a request to the control server |
//! | `connect`, `client`, `autostart` | finding that server, sending requests, starting it |
//! | `files` | writing files atomically |
//! | `skills` | `cdpilot skill`: saved instructions for models |
//! | `notes` | `cdpilot memory`: notes for later conversations |
//! | `editor` | the editor of the user |
//! | `secrets` | `cdpilot secrets`: secrets that conversations may type |
//! | `local_tools` | tools that run in the command's own process and folder |
//! | `serve`, `signals` | running the server |
//! | `tool_calls`, `tool_settings` | `cdpilot tool`: calling a tool; `cdpilot tools`: choosing which tools models may call |
//! | `chat` | `cdpilot chat`: a client of the conversations of the server |
//! | `record`, `routine` | `cdpilot record`: recording a person; `cdpilot routine`: tasks that are written down |
//! | `eval` | `cdpilot eval`: models on mock sites |
//! | `mcp` | the MCP server on stdin and stdout |
//! | `memory` | returning freed memory to the system |
//! | `demo`, `doctor`, `install`, `supervise`, `bench`, `ui`, `completions`, `man` | the other commands |

mod args;
mod autostart;
mod bench;
mod browser;
mod chat;
mod client;
mod completions;
mod connect;
mod demo;
mod doctor;
mod editor;
mod eval;
mod failure;
mod files;
mod install;
mod local_tools;
mod man;
mod mcp;
mod memory;
mod models;
mod notes;
mod output;
mod record;
mod routine;
mod secrets;
mod serve;
mod settings;
#[cfg(unix)]
mod signals;
mod skills;
mod style;
mod supervise;
mod tool_calls;
mod tool_settings;
mod ui;
mod values;

#[doc(hidden)]
pub mod fuzzing {
    //! Entry points for fuzz targets; not a stable interface.

    pub use super::supervise::fuzzing::{Read, stdin_lines};
}

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use serde::Serialize;

use args::{Cli, Command};
use cdpilot::browser::redact;
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
    // Setting up the log is skipped where it would be a good part of the run time.
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
        Command::Tool(args) => tool_calls::run(&args, &cli.global, &settings, &out),
        Command::Chat(args) => chat::run(&args, &cli.global, &settings, &out),
        Command::Tools(args) => tool_settings::run(&args, &settings, &out),
        Command::Secrets(args) => secrets::run(&args, &cli.global, &settings, &out),
        Command::Memory(args) => notes::run(&args, &out),
        Command::Skill(args) => skills::run(&args, &out),
        Command::Record(args) => record::run(&args, &cli.global, &settings, &out),
        Command::Routine(args) => routine::run(&args, &cli.global, &settings, &out),
        Command::Models(args) => models::run(&args, &cli.global, &settings, &out),
        Command::Eval(args) => eval::run(&args, &cli.global, &settings, &out),
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

/// Parses the command line. The commands are built only once: that takes a good part of a short command's run time.
fn parsed(args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let args = browser::disambiguate(&command, args);
    let mut matches = match command.try_get_matches_from_mut(args.clone()) {
        Ok(matches) => matches,
        // Browser commands may be typed without `browser`, so they are suggested for misspelled ones too.
        Err(problem) if problem.kind() == ErrorKind::InvalidSubcommand => {
            let known = browser::with_short_forms(Cli::command());
            return Err(known.try_get_matches_from(args).err().unwrap_or(problem));
        }
        Err(problem) if problem.kind() == ErrorKind::UnknownArgument => {
            return Err(without_wrong_tip(&command, problem));
        }
        Err(problem) => return Err(problem),
    };
    Cli::from_arg_matches_mut(&mut matches).map_err(|problem| problem.format(&mut command))
}

/// Without the tip to pass an option of another command as a value.
fn without_wrong_tip(command: &clap::Command, mut problem: clap::Error) -> clap::Error {
    let is_option = match problem.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) => {
            arg.strip_prefix("--").is_some_and(|name| has_option(command, name.split('=').next().unwrap_or_default()))
        }
        _ => false,
    };
    if is_option && let Some(ContextValue::StyledStrs(mut tips)) = problem.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value, use"));
        if !tips.is_empty() {
            problem.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    problem
}

/// Whether the command or one below it has this option.
fn has_option(command: &clap::Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
        || command.get_subcommands().any(|below| has_option(below, name))
}

/// Usage errors, `--help` and `--version`: as text, or as one object when `--json` was typed.
fn not_parsed(problem: &clap::Error) -> ExitCode {
    #[derive(Serialize)]
    struct Output<'a> {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<String>,
    }
    let json = std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let text = problem.to_string();
    let redacted = redact(&text); // it repeats arguments, which may be URLs with secrets
    if !json {
        // A closed pipe is not an error.
        let _ = if redacted == text { problem.print() } else { std::io::stderr().write_all(redacted.as_bytes()) };
        return if problem.use_stderr() { Exit::Usage } else { Exit::Done }.into();
    }
    let out = Out::new(true, false);
    match problem.kind() {
        ErrorKind::DisplayVersion => {
            out.object(&Output { ok: true, version: Some(env!("CARGO_PKG_VERSION")), help: None });
            Exit::Done.into()
        }
        ErrorKind::DisplayHelp => {
            out.object(&Output { ok: true, version: None, help: Some(text) });
            Exit::Done.into()
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            out.failure(&Failure::usage("no command given; `cdpilot --help` lists the commands"));
            Exit::Usage.into()
        }
        _ => {
            out.failure(&Failure::usage(one_sentence(&redacted)));
            Exit::Usage.into()
        }
    }
}

/// The message of clap on one line, without its heading and usage.
fn one_sentence(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let wanted = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    wanted.map(str::trim).filter(|line| !line.is_empty()).fold(String::new(), |mut sentence, line| {
        // A list follows a colon.
        sentence.push_str(match sentence.as_str() {
            "" => "",
            before if before.ends_with(':') => " ",
            _ => "; ",
        });
        sentence.push_str(line);
        sentence
    })
}
