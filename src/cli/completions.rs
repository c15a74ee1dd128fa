//! `cdpilot completions`: a completion script, made from the same definition that parses.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use super::args::Cli;
use super::failure::{Exit, Failure};
use super::output::Out;

pub(super) fn run(shell: Shell, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Made {
        ok: bool,
        shell: String,
        script: String,
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cdpilot", &mut script);
    let script = String::from_utf8(script).map_err(|problem| Failure::internal(problem.to_string()))?;
    out.text(&script);
    out.object(&Made { ok: true, shell: shell.to_string(), script });
    Ok(Exit::Done)
}
