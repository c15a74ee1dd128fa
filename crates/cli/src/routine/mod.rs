//! `cdpilot routine`: tasks that are written down, so that a model repeats them step by step.
//!
//! | file | contents |
//! |---|---|
//! | `compile` | turning a recording into a routine |
//! | `edit` | writing and changing a routine in an editor |
//! | `run` | running a routine and following the run |
//! | `show` | printing routines, versions and reports |

mod compile;
mod edit;
mod run;
mod show;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use inquire::Confirm;
use std::io::{self, IsTerminal as _};

use super::args::Global;
use super::chat::link::Link;
use super::client::Request;
use super::failure::{Exit, Failure};
use super::output::{Out, clean};
use super::settings::Settings;
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{ExportRoutine, Login, RecordConversation, RoutineFormat, VersionQuery};
use cdpilot_server::config::Guard;

const AFTER: &str = "\
Examples:
  cdpilot routine edit orders                      write a routine, or change it, in $VISUAL or $EDITOR
  cdpilot routine edit orders --file orders.md     the same from a file; - is stdin
  cdpilot routine compile ticket --name orders     make a routine of the recording ticket
  cdpilot routine run orders --input month=May --input note=@note.txt
  cdpilot routine runs orders                      what its runs did, step by step

A routine is Markdown with steps, inputs and a result; docs/routines.md describes it. A model follows it in a browser of its own or in the \
logged-in context of a profile. `run` exits with 0 when it is done, 1 when it failed or was stopped, 4 when it waits for a person. Ctrl-C stops the run.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Routine {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the routines
    List,
    /// Print the text of a routine, and what is known of it on stderr
    Show {
        /// Name or id of the routine
        name: String,
        /// Print this version instead of the present one
        #[arg(long, value_name = "N")]
        version: Option<u64>,
        /// Print in which lines the version differs from this one
        #[arg(long, value_name = "N")]
        against: Option<u64>,
    },
    /// Write a routine or change it in an editor; an invalid text is refused with its problems, and kept
    Edit {
        /// Name of the routine; a new one is created
        name: String,
        /// Take the text from a file instead of an editor; - is stdin
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// Give it this name
        #[arg(long, value_name = "NAME")]
        rename: Option<String>,
    },
    /// Turn a recording into a routine with a model; asks you what the recording does not show
    Compile(compile::Compile),
    /// Make a recording of what the agent did in a conversation that has ended, without a recorder; `compile` turns it into a routine
    FromConversation {
        /// Id of the conversation
        id: String,
        /// Name of the recording [default: the title of the conversation]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Run a routine; prints one line a step
    Run(Box<run::Run>),
    /// Continue a run that was stopped, interrupted or has failed
    Resume {
        /// Name or id of the routine
        name: String,
        /// Id of the run
        run: String,
    },
    /// List the runs of a routine, or show the report of one
    Runs {
        /// Name or id of the routine
        name: String,
        /// Id of a run
        run: Option<String>,
    },
    /// Print a routine as its text, as a test of Playwright or as a script; what that does not do is named on stderr
    Export {
        /// Name or id of the routine
        name: String,
        /// What is printed
        #[arg(long, value_enum, default_value = "markdown")]
        format: Format,
    },
    /// List the versions of a routine
    History {
        /// Name or id of the routine
        name: String,
    },
    /// Make a proposed or an older version the text of the routine
    Approve {
        /// Name or id of the routine
        name: String,
        /// Number of the version [default: the newest proposed one]
        version: Option<u64>,
    },
    /// Reject a version that a run proposes
    Reject {
        /// Name or id of the routine
        name: String,
        /// Number of the version [default: the newest proposed one]
        version: Option<u64>,
    },
    /// Take back what was allowed for later runs; `show` numbers what is allowed
    Disallow {
        /// Name or id of the routine
        name: String,
        /// Number of the permission, from 0
        index: u32,
    },
    /// Delete a routine with its versions and the reports of its runs
    Delete {
        /// Name or id of the routine
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// What `export` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The text of the routine.
    Markdown,
    /// A test of Playwright in TypeScript; the routine has to be verified.
    Playwright,
    /// A Python script that uses the HTTP API; the routine has to be verified.
    Http,
}

impl Format {
    fn wanted(self) -> RoutineFormat {
        match self {
            Self::Markdown => RoutineFormat::Markdown,
            Self::Playwright => RoutineFormat::Playwright,
            Self::Http => RoutineFormat::Http,
        }
    }
}

pub(super) fn run(routine: &Routine, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let link = Link::new(global, settings, out)?;
    let changed = |request: &Request, done: &str| -> Result<Exit, Failure> {
        let answer = link.ask(request)?;
        out.object(&answer);
        out.line(done);
        Ok(Exit::Done)
    };
    match &routine.what {
        What::List => show::list(&link.ask(&Request::of(op::ROUTINES))?, out),
        What::Show { name, version: None, against: None } => {
            show::routine(&link.ask(&Request::at(op::ROUTINE, &[name]))?, out);
        }
        What::Show { name, version, against } => {
            let version = match version {
                Some(version) => *version,
                None => {
                    link.ask(&Request::at(op::ROUTINE, &[name]))?["routine"]["version"].as_u64().unwrap_or_default()
                }
            };
            let query = VersionQuery { against: *against };
            let request = Request::at(op::ROUTINE_VERSION, &[name, &version.to_string()]).and(&query);
            show::version(&link.ask(&request)?, out);
        }
        What::Edit { name, file, rename } => return edit::edit(&link, name, file.as_deref(), rename.as_deref(), out),
        What::Compile(args) => return compile::run(&link, args, global, out),
        What::FromConversation { id, name } => {
            let wanted = RecordConversation { name: name.clone() };
            show::recorded(&link.ask(&Request::at(op::RECORD_CONVERSATION, &[id]).and(&wanted))?, out);
        }
        What::Run(args) => return run::run(&link, args, global, out),
        What::Resume { name, run } => return run::resume(&link, name, run, global, out),
        What::Runs { name, run: None } => show::runs(&link.ask(&Request::at(op::ROUTINE_RUNS, &[name]))?, out),
        What::Runs { name, run: Some(run) } => {
            show::run(name, &link.ask(&Request::at(op::ROUTINE_RUN, &[name, run]))?, out)
        }
        What::Export { name, format } => {
            let query = ExportRoutine { format: format.wanted() };
            show::exported(&link.ask(&Request::at(op::EXPORT_ROUTINE, &[name]).and(&query))?, out);
        }
        What::History { name } => show::history(&link.ask(&Request::at(op::ROUTINE_VERSIONS, &[name]))?, out),
        What::Approve { name, version } => {
            let version = proposed(&link, name, *version)?;
            let request = Request::at(op::APPROVE_VERSION, &[name, &version.to_string()]);
            return changed(&request, &format!("version {version} is the text of {} now", clean(name)));
        }
        What::Reject { name, version } => {
            let version = proposed(&link, name, *version)?;
            let request = Request::at(op::REJECT_VERSION, &[name, &version.to_string()]);
            return changed(&request, &format!("rejected version {version} of {}", clean(name)));
        }
        What::Disallow { name, index } => {
            let request = Request::at(op::REMOVE_PERMISSION, &[name, &index.to_string()]);
            return changed(&request, &format!("took permission {index} of {} back", clean(name)));
        }
        What::Delete { name, yes } => {
            confirm(name, *yes)?;
            return changed(&Request::at(op::DELETE_ROUTINE, &[name]), &format!("deleted {}", clean(name)));
        }
    }
    Ok(Exit::Done)
}

/// The version that is decided about.
fn proposed(link: &Link<'_>, name: &str, version: Option<u64>) -> Result<u64, Failure> {
    if let Some(version) = version {
        return Ok(version);
    }
    let answer = link.ask(&Request::at(op::ROUTINE, &[name]))?;
    answer["routine"]["proposed"]["version"].as_u64().ok_or_else(|| {
        let problem = format!("no version of {} is proposed; give the number of a version", clean(name));
        Failure::new(Code::NotFound, problem)
    })
}

/// Asks whether a routine is to be deleted.
fn confirm(name: &str, is_sure: bool) -> Result<(), Failure> {
    if is_sure {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("nothing was deleted: add --yes, since nobody can be asked here"));
    }
    let question = format!("Delete {} with its versions and the reports of its runs?", clean(name));
    match Confirm::new(&question).with_default(false).prompt() {
        Ok(true) => Ok(()),
        _ => Err(Failure::new(Code::Cancelled, "nothing was deleted")),
    }
}

/// The names of values in requests.
fn login(own: bool) -> Login {
    if own { Login::Own } else { Login::Profile }
}

/// A guard by its name.
fn guard(text: &str) -> Result<Guard, String> {
    match text {
        "off" => Ok(Guard::Off),
        "irreversible" => Ok(Guard::Irreversible),
        "all" => Ok(Guard::All),
        _ => Err("give off, irreversible or all".to_owned()),
    }
}

/// Time limit for following a run.
fn following(global: &Global) -> Option<Duration> {
    global.timeout.map(Duration::from_millis)
}
