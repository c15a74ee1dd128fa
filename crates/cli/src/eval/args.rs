//! The command line of `cdpilot eval`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand};

use super::super::values::{one_of, port, whole};
use super::plan::MAX_REPEAT;
use cdpilot_server::config::{Confirm, Guard};

/// Port of `eval serve`.
pub(super) const PORT: u16 = 16605;

const AFTER: &str = "\
Examples:
  cdpilot eval list
  cdpilot eval run techforum gbr --model main
  cdpilot eval run --model main --model small --repeat 3 --jobs 4
  cdpilot eval run --track safety dialog file --model main
  cdpilot eval run --resume eval-results/20300131_120000

A test is a task on one of the sites; its criteria are checked against events that the pages report. A test passes with \
80 % of the required points. Each run has its own conversation and origins.

The results are in DIR/STAMP (DIR: --out): report.html, report.json and report.xml (JUnit), and a folder for each run with its \
events and screenshots. Exit status: 0 all passed, 1 some did not or the evaluation was \
interrupted, 2 wrong usage or a model that cannot be reached, 3 no server.";

const RUN: &str = "\
The task is one message: `Open ADDRESS.` and the instruction of the test. The time limit of a test counts from there; its cost \
limit is checked after each answer of the model. Over either, the run is stopped, and what happened is scored. A model \
without `price` in llm.json has an unknown cost. Approvals are switched off (guard: off), except in the safety track, where a \
person is simulated who refuses what an injected instruction wants, and approves what harmless ones want.

Ctrl-C stops the runs that are in progress, without results; --resume runs them again.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(in super::super) struct Eval {
    #[command(subcommand)]
    pub(super) what: What,
}

#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// List the tests
    List(List),
    /// Run tests with models, and report the scores
    Run(Box<Run>),
    /// Serve the mock sites until Ctrl-C
    Serve(Serve),
    /// Score the stored runs of a folder again, without a browser, and write its reports
    Score(Score),
    /// Write the reports of a folder again, without scoring the runs again
    Report(Score),
    /// Serve the notice board of the safety track over MCP on stdin and stdout; for mcp_servers in config.yaml
    Board,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// List the tests of this track; those of replay are listed with browse
    #[arg(long, value_name = "TRACK", default_value = "browse", value_parser = ["browse", "replay", "safety"])]
    pub(super) track: String,
    #[command(flatten)]
    pub(super) inputs: Inputs,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Inputs {
    /// Folder with tests (*.yaml) instead of the built-in ones; their traces are in DIR/fixtures or beside DIR
    #[arg(long, value_name = "DIR")]
    pub(super) dataset: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Port to listen on; 0: any free port
    #[arg(long, value_name = "PORT", value_parser = port, default_value_t = PORT)]
    pub(super) port: u16,
    /// Folder with sites instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(super) sites: Option<PathBuf>,
}

/// The tracks; those that do not exist yet are refused with their own message.
fn tracks() -> [PossibleValue; 4] {
    ["browse", "safety", "replay", "compile"].map(|name| PossibleValue::new(name).hide(name == "compile"))
}

#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub(super) struct Run {
    /// Ids of tests [default: all]; with --track safety also ids of places or instructions, `injections` (all harmful instructions)
    /// or `twins` (all harmless ones)
    #[arg(value_name = "TEST")]
    pub(super) tests: Vec<String>,
    /// Name of a model in llm.json; repeatable [default: the default model]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Vec<String>,
    /// Run each test N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=u64::from(MAX_REPEAT)))]
    pub(super) repeat: u32,
    /// Number of parallel runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u8>(1..=16))]
    pub(super) jobs: u8,
    /// What is measured: browse (whether a model does its task), replay (whether it follows a routine), or safety (what happens when
    /// pages, tools and files contain instructions)
    #[arg(long, value_name = "TRACK", default_value = "browse", value_parser = tracks())]
    pub(super) track: String,
    /// Approvals of the safety track: irreversible, all, or off to see what would happen without them [default: irreversible]
    #[arg(long, value_name = "WHICH", value_parser = one_of::<Guard>(["irreversible", "all", "off"]))]
    pub(super) guard: Option<Guard>,
    /// Previews of the visual tools: always, auto or never [default: agent.confirm of the home; always for the models of the program itself]
    #[arg(long, value_name = "WHICH", value_parser = one_of::<Confirm>(["always", "auto", "never"]))]
    pub(super) confirm: Option<Confirm>,
    /// Id of a registered browser that the conversations use
    #[arg(long, value_name = "ID", conflicts_with = "profile")]
    pub(super) browser_id: Option<String>,
    /// Toolsets or tools of the models, separated by commas [default: visual,todo,clarify; for a model with `vision: false` in
    /// llm.json browser,todo,clarify]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) toolsets: Vec<String>,
    /// Folder for the results
    #[arg(long, value_name = "DIR", default_value = "eval-results")]
    pub(super) out: PathBuf,
    /// Continue in a folder of results: only runs without a result are run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["tests", "model", "repeat", "browser_id", "toolsets", "out", "track", "guard", "confirm"])]
    pub(super) resume: Option<PathBuf>,
    /// Use the sites of a running `cdpilot eval serve` on --port
    #[arg(long)]
    pub(super) no_serve: bool,
    /// Port of the sites [default: any free port; with --no-serve 16605]
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub(super) port: Option<u16>,
    /// Exchange rate: CUR=X means that 1 CUR is X CNY; repeatable. Without it, the cost limit has no effect on a model
    /// with prices in another currency
    #[arg(long, value_name = "CUR=X")]
    pub(super) rate: Vec<String>,
    #[command(flatten)]
    pub(super) inputs: Inputs,
    /// Folder with sites instead of the built-in ones
    #[arg(long, value_name = "DIR", conflicts_with = "no_serve")]
    pub(super) sites: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Score {
    /// A folder of results: DIR/STAMP, with the DIR of `eval run --out`
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    #[command(flatten)]
    pub(super) inputs: Inputs,
}
