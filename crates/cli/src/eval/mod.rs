//! `cdpilot eval`: measures how well models use a browser, on mock sites.
//!
//! | file | contents |
//! |---|---|
//! | `args` | the command line |
//! | `inputs` | the dataset and the sites: those of the program, or of folders |
//! | `list`, `serve` | `eval list`, `eval serve` |
//! | `prepare` | what is decided before anything runs: the plan, its folder, whether it can work |
//! | `run` | `eval run`: workers, interruption |
//! | `plan` | what is run: tests, models, repetitions; `plan.json` |
//! | `models` | the models of the server, and whether their endpoints answer |
//! | `scripted` | the oracle, and models that must not pass |
//! | `origins` | the server of the sites, in this process or elsewhere |
//! | `play` | one run: a conversation, its events, its limits |
//! | `record` | the files of a run |
//! | `progress` | bars on a terminal, lines elsewhere |
//! | `results` | reading the results of a folder, totals; `eval score`, `eval report` |
//! | `safety` | the safety track: cases, secrets, approvals, the notice board |
//! | `report` | the report as HTML, JSON and JUnit XML |
//!
//! It is a client of the control server: for each run it creates a conversation, sends the task, follows the stream and
//! deletes the conversation. `result.json` of a run is written last; a run without one is repeated by `--resume`, after
//! the conversation and the secret that it left are deleted. A locked file keeps a second evaluation out of the folder.
//! A lost stream is opened again five times without news, then the run is an error.

mod args;
mod inputs;
mod list;
mod models;
mod origins;
mod plan;
mod play;
mod prepare;
mod progress;
mod record;
mod report;
mod results;
mod run;
mod safety;
mod scripted;
mod serve;

use super::args::Global;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::Settings;
pub(super) use args::Eval;
use args::What;

pub(super) fn run(eval: &Eval, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    match &eval.what {
        What::List(args) => list::run(args, out),
        What::Serve(args) => serve::run(args, out),
        What::Run(args) => run::run(args, global, settings, out),
        What::Score(args) => results::score(args, true, out),
        What::Report(args) => results::score(args, false, out),
        What::Board => safety::board(),
    }
}
