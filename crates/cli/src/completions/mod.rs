//! `cdpilot completions`: completion scripts, which call this program for candidates, and the candidates.
//!
//! | file | contents |
//! |---|---|
//! | `values` | candidates for tabs, refs, profiles and devices |
//! | `cdpilot.bash` | the script for bash |
//!
//! The script sets [`VARIABLE`] and passes the words of the command line. PowerShell gets a script with commands and
//! options only: calling a program there would evaluate the typed words.

mod values;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCandidates;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Zsh};
use serde::Serialize;

use super::args::Cli;
use super::browser::with_short_forms;
use super::failure::{Exit, Failure};
use super::output::Out;
use values::{Kind, Values};

/// Environment variable by which a shell requests completions; its value is the shell's name.
pub(super) const VARIABLE: &str = "CDPILOT_COMPLETE";
const NAME: &str = "cdpilot";

pub(super) fn run(shell: Shell, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Made {
        ok: bool,
        shell: String,
        script: String,
    }
    let mut script = Vec::new();
    let written = match (shell, live(&shell.to_string())) {
        (Shell::Bash, _) => script.write_all(include_bytes!("cdpilot.bash")),
        (_, Some(shell)) => shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script),
        (shell, None) => {
            clap_complete::generate(shell, &mut with_short_forms(Cli::command()), NAME, &mut script);
            Ok(())
        }
    };
    written.map_err(|problem| Failure::internal(problem.to_string()))?;
    let script = String::from_utf8(script).map_err(|problem| Failure::internal(problem.to_string()))?;
    out.text(&script);
    out.object(&Made { ok: true, shell: shell.to_string(), script });
    Ok(Exit::Done)
}

/// The implementation for shells that call this program.
fn live(shell: &str) -> Option<&'static dyn EnvCompleter> {
    let known: [&dyn EnvCompleter; 4] = [&Bash, &Zsh, &Fish, &Elvish];
    known.into_iter().find(|known| known.is(shell))
}

/// Prints the completions of the words after `--`. Prints nothing on failure.
pub(super) fn complete(shell: &str) -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let Some(shell) = live(shell).filter(|_| !words.is_empty()) else { return Exit::Usage.into() };
    let mut command = with_values(with_short_forms(Cli::command()), &Values::of(&words));
    let mut answer = Vec::new();
    let folder = std::env::current_dir().ok();
    if shell.write_complete(&mut command, words, folder.as_deref(), &mut answer).is_err() {
        return Exit::Failed.into();
    }
    let _ = io::stdout().lock().write_all(&answer);
    Exit::Done.into()
}

/// Adds candidates to every argument that takes a tab, ref, profile or device.
fn with_values(command: Command, values: &Values) -> Command {
    let of_profiles = command.get_name() == "profiles";
    let command = command.mut_args(|arg| with_kinds(arg, values, false));
    command.mut_subcommands(|inner| {
        let inner = with_values(inner, values);
        let named = of_profiles && matches!(inner.get_name(), "delete" | "reset");
        inner.mut_args(|arg| with_kinds(arg, values, named))
    })
}

fn with_kinds(arg: Arg, values: &Values, is_profile: bool) -> Arg {
    let named: Vec<&str> = arg.get_value_names().into_iter().flatten().map(|name| name.as_str()).collect();
    let kinds: &[Kind] = match (named.first().copied().unwrap_or_default(), arg.get_id().as_str()) {
        (_, "profile") => &[Kind::Profile],
        (_, "name") if is_profile => &[Kind::Profile],
        (_, "device") => &[Kind::Device],
        ("TAB", _) => &[Kind::Tab],
        ("TAB|REF", _) => &[Kind::Tab, Kind::Ref],
        ("REF" | "REF|TEXT" | "REF|VALUE" | "FROM" | "TO", _) => &[Kind::Ref],
        _ => return arg,
    };
    let values = values.clone();
    arg.add(ArgValueCandidates::new(move || kinds.iter().flat_map(|kind| values.candidates(*kind)).collect()))
}
