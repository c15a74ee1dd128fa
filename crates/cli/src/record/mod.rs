//! `cdpilot record`: recording what a person does in a browser.
//!
//! | file | contents |
//! |---|---|
//! | `start` | starting a recording and following its events |
//! | `find` | the recording that a command means |
//! | `lines` | events as lines of text |
//! | `file` | export and import |

mod file;
pub(super) mod find;
pub(super) mod lines;
mod start;

use std::io::{self, IsTerminal as _, Read as _};

use clap::{Args, Subcommand};
use inquire::Confirm;
use serde_json::Value;

use super::args::Global;
use super::chat::link::Link;
use super::client::Request;
use super::failure::{Exit, Failure};
use super::output::{Out, clean, one_line};
use super::settings::Settings;
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{RecordingEventsPage, SetIntentNote};

/// Events that are read at once.
const PAGE: usize = 1_000;
/// Size limit of a note, in bytes; the server accepts less.
const MOST_NOTE: u64 = 64 << 10;

const AFTER: &str = "\
Examples:
  cdpilot record start https://shop.example    open a window, record it, print a line for each event; Ctrl-C stops
  cdpilot record start --conversation ID       record what the tabs of a conversation do
  cdpilot record note 'Buy a ticket for Friday'
  cdpilot record export ID --out ticket.json

Commands without an ID use the active recording. An ID may be shortened, and a name may be given instead. Passwords, one-time codes and \
card numbers are not recorded.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Record {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Record a browser window; prints one line per event until Ctrl-C
    Start(start::Start),
    /// Pause a recording
    Pause {
        /// ID or name of the recording [default: the active one]
        id: Option<String>,
    },
    /// Continue a paused recording
    Resume {
        /// ID or name of the recording [default: the active one]
        id: Option<String>,
    },
    /// Stop a recording
    Stop {
        /// ID or name of the recording [default: the active one]
        id: Option<String>,
    },
    /// List the recordings
    List,
    /// Print a recording and its events
    Show {
        /// ID or name of the recording [default: the active one, else the last one]
        id: Option<String>,
        /// Print the steps that the events amount to, instead of the events
        #[arg(long)]
        draft: bool,
    },
    /// Say what you wanted to do; a model that makes a routine of the recording reads it
    Note {
        /// The note; - reads it from stdin
        text: String,
        /// ID or name of the recording [default: the active one, else the last one]
        id: Option<String>,
    },
    /// Write a recording to a file
    Export(file::Export),
    /// Store a recording from a file, of cdpilot or of the Recorder of Chrome DevTools
    Import(file::Import),
    /// Delete a recording with its events and screenshots; routines that were made from it stay
    Delete {
        /// ID or name of the recording
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(record: &Record, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let link = Link::new(global, settings, out)?;
    match &record.what {
        What::Start(args) => return start::run(&link, args, global, out),
        What::Pause { id } => {
            let answer = link.ask(&Request::at(op::PAUSE_RECORDING, &[&find::active(&link, id.as_deref())?]))?;
            out.object(&answer);
            out.line("paused; `cdpilot record resume` continues");
        }
        What::Resume { id } => {
            let answer = link.ask(&Request::at(op::RESUME_RECORDING, &[&find::active(&link, id.as_deref())?]))?;
            out.object(&answer);
            out.line("recording");
        }
        What::Stop { id } => {
            let answer = link.ask(&Request::at(op::STOP_RECORDING, &[&find::active(&link, id.as_deref())?]))?;
            out.object(&answer);
            out.line(&lines::ended(&answer["recording"]));
        }
        What::List => list(&link.ask(&Request::of(op::RECORDINGS))?, out),
        What::Show { id, draft: false } => show(&link, &find::active_or_last(&link, id.as_deref())?, out)?,
        What::Show { id, draft: true } => {
            let id = find::active_or_last(&link, id.as_deref())?;
            let answer = link.ask(&Request::at(op::WORKFLOW_DRAFT, &[&id]))?;
            out.object(&answer);
            lines::draft(&answer).iter().for_each(|line| out.line(line));
        }
        What::Note { text, id } => {
            let note = SetIntentNote { intent_note: note(text)? };
            let id = find::active_or_last(&link, id.as_deref())?;
            let answer = link.ask(&Request::at(op::SET_INTENT_NOTE, &[&id]).and(&note))?;
            out.object(&answer);
            out.line("stored the note");
        }
        What::Export(args) => return file::export(&link, args, out),
        What::Import(args) => return file::import(&link, args, out),
        What::Delete { id, yes } => {
            let found = find::find(&link, id)?;
            confirm(id, *yes)?;
            out.object(&link.ask(&Request::at(op::DELETE_RECORDING, &[&found]))?);
            out.line(&format!("deleted {}", clean(id)));
        }
    }
    Ok(Exit::Done)
}

fn list(answer: &Value, out: &Out) {
    out.object(answer);
    for one in answer["recordings"].as_array().into_iter().flatten() {
        out.line(&lines::recording(one));
    }
    if answer["count"] == 0 {
        out.aside("no recordings; `cdpilot record start URL` makes one");
    }
}

/// Prints a recording, and all its events.
fn show(link: &Link<'_>, id: &str, out: &Out) -> Result<(), Failure> {
    let answer = link.ask(&Request::at(op::RECORDING, &[id]))?;
    out.object(&answer);
    let recording = &answer["recording"];
    out.aside(&lines::recording(recording));
    let note = recording["intent_note"].as_str().unwrap_or_default();
    if !note.is_empty() {
        out.aside(&format!("note: {}", one_line(note)));
    }
    let mut after = Some(0);
    while let Some(last) = after.filter(|_| !out.json) {
        let page = RecordingEventsPage { after: Some(last), limit: Some(PAGE) };
        let answer = link.ask(&Request::at(op::RECORDING_EVENTS, &[id]).and(&page))?;
        let events = answer["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        events.iter().for_each(|event| out.line(&lines::event(event)));
        after = events.last().and_then(|event| event["event_index"].as_u64());
    }
    Ok(())
}

fn note(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut note = String::new();
    let read = io::stdin().lock().take(MOST_NOTE).read_to_string(&mut note);
    read.map_err(|problem| Failure::usage(format!("cannot read the note from stdin: {problem}")))?;
    Ok(note)
}

/// Asks whether a recording is to be deleted.
fn confirm(name: &str, is_sure: bool) -> Result<(), Failure> {
    if is_sure {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("nothing was deleted: stdin is not a terminal; add --yes"));
    }
    let question = format!("Delete {} with its events and screenshots?", clean(name));
    match Confirm::new(&question).with_default(false).prompt() {
        Ok(true) => Ok(()),
        _ => Err(Failure::new(Code::Cancelled, "nothing was deleted")),
    }
}
