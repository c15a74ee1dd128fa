//! `cdpilot memory`: the notes that models keep for later conversations.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::{Out, clean};
use super::{editor, files};
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;
use cdpilot_server::config::Home;
use cdpilot_server::memory::{Change, Error, Memory, Notes, PERSON, Target};

/// Time limit for the lock.
const LOCK: Duration = Duration::from_secs(10);
/// Size limit of a file, in bytes.
const MOST: u64 = 64 * 1024;

const AFTER: &str = "\
Examples:
  cdpilot memory list                     all notes, with their origins
  cdpilot memory forget user 'window'     remove the note about the user that contains this text
  cdpilot memory edit memory              change the notes of the agent in $VISUAL or $EDITOR
  cdpilot memory undo                     undo the last change, whoever made it

Models keep notes with the tool `memory`, in conversations whose toolsets have it: `cdpilot chat --toolsets visual,memory`. \
A conversation reads them when it begins. The files are memory/agent.md and memory/user.md in the home.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct NotesArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// What the agent has learnt
    Memory,
    /// What it knows of the user
    User,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the notes
    List {
        /// Only these
        target: Option<Which>,
    },
    /// Change notes in an editor; what is not changed keeps its origin
    Edit {
        /// Which notes
        target: Which,
        /// Take the notes from a file instead of an editor, one on each line; - is stdin
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Undo the last change; repeat it to undo earlier ones
    Undo,
    /// Remove a note
    Forget {
        /// Which notes
        target: Which,
        /// A part of the note that no other note has
        text: String,
    },
}

impl From<Which> for Target {
    fn from(which: Which) -> Self {
        match which {
            Which::Memory => Self::Memory,
            Which::User => Self::User,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

pub(super) fn run(args: &NotesArgs, out: &Out) -> Result<Exit, Failure> {
    let home = Home::find()?;
    home.prepare()?;
    let memory = Memory::of(&home);
    let lock = Deadline::after(LOCK);
    match &args.what {
        What::List { target } => {
            let wanted = target.map(Target::from);
            let all = Target::ALL.into_iter().filter(|target| wanted.is_none_or(|wanted| wanted == *target));
            let read = |target: Target| Ok((target, memory.read(target)?));
            let all: Vec<(Target, Notes)> = all.map(read).collect::<Result<_, Error>>()?;
            let shown: Vec<_> = all
                .iter()
                .map(|(target, notes)| {
                    let list: Vec<_> =
                        notes.0.iter().map(|note| json!({ "text": note.text, "origin": note.origin })).collect();
                    json!({ "target": target, "chars": notes.chars(), "limit": target.limit(), "notes": list })
                })
                .collect();
            out.object(&json!({ "ok": true, "memory": shown }));
            for (target, notes) in &all {
                print(&memory, *target, notes, out);
            }
        }
        What::Edit { target, file } => {
            let target = Target::from(*target);
            let before = memory.read(target)?;
            let (text, kept) = match file {
                Some(file) => (files::read_text(file, MOST)?, None),
                None => edited(target, &before).map(|(text, path)| (text, Some(path)))?,
            };
            // A file replaces what is there; in an editor it was read before.
            let read = file.is_none().then_some(&before);
            let notes = match Notes::parse(&text) == before {
                true => before,
                false => memory.edit(target, &text, read, Deadline::after(LOCK)).inspect_err(|_| {
                    if let Some(path) = &kept {
                        out.aside(&format!("your text is kept in {}", path.display()));
                    }
                })?,
            };
            kept.iter().for_each(|path| drop(std::fs::remove_file(path)));
            changed(target, &notes, out);
        }
        What::Undo => {
            let (target, notes) = memory.undo(lock)?;
            state(target, &notes, out);
            out.line(&format!("undone: {} has {} now", target.as_str(), counted(&notes)));
        }
        What::Forget { target, text } => {
            let target = Target::from(*target);
            let change = Change::Remove { old_text: text.clone() };
            let (notes, _) = memory.change(target, &change, (PERSON, None), &Secrets::default(), lock)?;
            changed(target, &notes, out);
        }
    }
    Ok(Exit::Done)
}

/// Has a person edit the notes.
fn edited(target: Target, before: &Notes) -> Result<(String, PathBuf), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "there is no terminal for an editor; give the notes with --file FILE, or --file - for stdin",
        ));
    }
    let path = editor::kept_path(&format!("memory-{}", target.as_str()));
    editor::write(&path, &before.print())?;
    editor::open(&path)?;
    Ok((editor::read(&path)?, path))
}

fn print(memory: &Memory, target: Target, notes: &Notes, out: &Out) {
    let path = memory.path(target);
    let head = if target == Target::User { "about the user" } else { "of the agent" };
    out.line(&format!("{head} ({} of {} characters, {})", notes.chars(), target.limit(), path.display()));
    for note in &notes.0 {
        out.line(&format!("  - {}  [{}]", clean(&note.text), clean(&note.origin)));
    }
    if notes.0.is_empty() {
        out.aside("  no notes");
    }
}

fn changed(target: Target, notes: &Notes, out: &Out) {
    state(target, notes, out);
    out.line(&format!(
        "{} has {} now; `cdpilot memory undo` takes the last change back",
        target.as_str(),
        counted(notes)
    ));
}

fn counted(notes: &Notes) -> String {
    let count = notes.0.len();
    format!("{count} note{}", if count == 1 { "" } else { "s" })
}

fn state(target: Target, notes: &Notes, out: &Out) {
    out.object(&json!({ "ok": true, "target": target, "text": notes.shown(), "chars": notes.chars(), "limit": target.limit() }));
}
