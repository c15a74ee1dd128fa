//! What is kept for later conversations: two files of notes, which people edit, too.
//!
//! | file | contents |
//! |---|---|
//! | `notes` | notes and their origins |
//! | `checks` | what is not kept |
//!
//! Changes are made under a lock that all processes respect, and written whole; each can be undone.

mod checks;
mod notes;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub(crate) use checks::unseen_in;
pub use notes::{AGENT, FROM, Note, Notes, PERSON};

use crate::config::{Home, lock_file, replace_file};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;

/// Changes that can be undone.
const MOST_CHANGES: usize = 100;
/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// What the agent has learnt: sites, tools, ways that work.
    Memory,
    /// What it knows of the user.
    User,
}

impl Target {
    /// Both files, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Its name in arguments.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    /// How long all its notes may be, in characters.
    #[must_use]
    pub fn limit(self) -> usize {
        match self {
            Self::Memory => 4_000,
            Self::User => 2_000,
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Memory => "agent.md",
            Self::User => "user.md",
        }
    }
}

/// Why notes are not changed or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not kept.
    #[error("nothing was kept: {0}")]
    Refused(String),
    /// There is no room.
    #[error(
        "nothing was kept: the notes would have {chars} of {limit} characters; replace notes by shorter ones or remove some, then try again"
    )]
    Full {
        /// The length with the new note, in characters.
        chars: usize,
        /// The most characters.
        limit: usize,
    },
    /// It is there already.
    #[error("nothing was kept: there is this note already: {0:?}")]
    Known(String),
    /// No note contains the text.
    #[error("no note contains {0:?}; `list` shows them")]
    NotFound(String),
    /// Several notes contain the text.
    #[error("{count} notes contain {text:?}; give a longer part of one")]
    Several {
        /// The part of a note that was given.
        text: String,
        /// How many notes contain it.
        count: usize,
    },
    /// There is nothing to undo.
    #[error("no change is left to undo")]
    NothingToUndo,
    /// The notes are not those that were edited.
    #[error("nothing was changed: the notes were changed meanwhile; read them again")]
    Changed,
    /// Another process holds the lock.
    #[error("the notes are being changed by another process; try again")]
    Busy,
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
}

impl Error {
    /// Its code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(_) | Self::Several { .. } => Code::BadRequest,
            Self::Full { .. } => Code::TooLarge,
            Self::Known(_) | Self::NothingToUndo | Self::Changed | Self::Busy => Code::Conflict,
            Self::NotFound(_) => Code::NotFound,
            Self::File { .. } => Code::Internal,
        }
    }
}

/// A change of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new note.
    Add {
        /// Its text.
        content: String,
    },
    /// Another text for the note that contains `old_text`.
    Replace {
        /// A part of the present text.
        old_text: String,
        /// The new text.
        content: String,
    },
    /// Removes the note that contains `old_text`.
    Remove {
        /// A part of its text.
        old_text: String,
    },
}

/// A change as it is kept for undoing it.
#[derive(Debug, Serialize, Deserialize)]
struct Before {
    at: u64,
    target: Target,
    file: String,
    /// The file after the change: it is another one if somebody has edited it since.
    #[serde(default)]
    after: String,
}

/// The notes of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Memory {
    folder: PathBuf,
}

impl Memory {
    /// The notes of a home. Nothing is created before the first note.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { folder: home.memory() }
    }

    /// The path of a file, for people.
    #[must_use]
    pub fn path(&self, target: Target) -> PathBuf {
        self.folder.join(target.file())
    }

    /// The notes.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn read(&self, target: Target) -> Result<Notes, Error> {
        Ok(Notes::parse(&self.file(&self.path(target))?))
    }

    /// Whether a change can be made now. Returns the note that it replaces or removes.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub fn check(&self, target: Target, change: &Change, secrets: &Secrets) -> Result<Option<Note>, Error> {
        let mut notes = self.read(target)?;
        let old = notes.meant(change)?.cloned();
        notes.apply(change, PERSON, secrets)?;
        notes.fit(target, &self.read(target)?, change)?;
        Ok(old)
    }

    /// Changes notes. `origin`: who does it, and what was read before. A note keeps the origins that it has. `expected`: the note that is
    /// to be replaced or removed, as [`check`](Self::check) returned it; `None` for whichever it is. Returns the notes and the origin of the
    /// one that was changed.
    ///
    /// # Errors
    /// All of [`Error`] but [`Error::NothingToUndo`]; nothing is changed then.
    pub fn change(
        &self,
        target: Target,
        change: &Change,
        (origin, expected): (&str, Option<&Note>),
        secrets: &Secrets,
        deadline: Deadline<'_>,
    ) -> Result<(Notes, String), Error> {
        let _lock = self.lock(deadline)?;
        let before = self.file(&self.path(target))?;
        let mut notes = Notes::parse(&before);
        if expected.is_some() && notes.meant(change)? != expected {
            return Err(Error::Changed);
        }
        let own = notes.apply(change, origin, secrets)?;
        notes.fit(target, &Notes::parse(&before), change)?;
        self.write(target, before, &notes.print())?;
        Ok((notes, own))
    }

    /// Writes a file as a person has edited it. Notes that were there keep their origins, with and without their comments. `read`: what
    /// the person had before them; `None` replaces whatever is there.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Changed`], [`Error::Busy`], [`Error::File`].
    pub fn edit(
        &self,
        target: Target,
        file: &str,
        read: Option<&Notes>,
        deadline: Deadline<'_>,
    ) -> Result<Notes, Error> {
        let _lock = self.lock(deadline)?;
        let before = self.file(&self.path(target))?;
        let known = Notes::parse(&before);
        if read.is_some_and(|read| *read != known) {
            return Err(Error::Changed);
        }
        let notes = Notes::parse(file).with_origins_of(&known);
        let (chars, limit) = (notes.chars(), target.limit());
        if chars > limit {
            return Err(Error::Full { chars, limit });
        }
        self.write(target, before, &notes.print())?;
        Ok(notes)
    }

    /// Undoes the last change of either file. Returns which, and its notes.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`], [`Error::Busy`], [`Error::File`].
    pub fn undo(&self, deadline: Deadline<'_>) -> Result<(Target, Notes), Error> {
        let _lock = self.lock(deadline)?;
        let mut changes = self.changes()?;
        let Before { target, file, after, at } = changes.pop().ok_or(Error::NothingToUndo)?;
        let now = self.file(&self.path(target))?;
        if now != after {
            // What was written by hand is not lost: it is what the next undo goes back to.
            changes.push(Before { at, target, file: now, after: file.clone() });
        }
        self.keep(&changes)?;
        self.put(&self.path(target), &file)?;
        Ok((target, Notes::parse(&file)))
    }

    /// Both files as a prompt has them; empty without notes. What cannot be read, or is too long, is said.
    #[must_use]
    pub fn for_prompt(&self) -> String {
        let mut text = String::new();
        for target in Target::ALL {
            let shown = match self.read(target) {
                Ok(notes) => notes.within(target.limit()),
                Err(problem) => {
                    tracing::warn!(%problem, "notes cannot be read");
                    "(these notes cannot be read; tell the user)\n".to_owned()
                }
            };
            if !shown.is_empty() {
                let head = if target == Target::User { "About the user:" } else { "From earlier work:" };
                text.push_str(&format!("{head}\n{shown}"));
            }
        }
        text
    }

    fn write(&self, target: Target, before: String, now: &str) -> Result<(), Error> {
        let mut changes = self.changes()?;
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        changes.push(Before { at, target, file: before, after: now.to_owned() });
        let from = changes.len().saturating_sub(MOST_CHANGES);
        // First: a change that is not made after all is undone to what is there.
        self.keep(changes.get(from..).unwrap_or_default())?;
        self.put(&self.path(target), now)
    }

    fn history(&self) -> PathBuf {
        self.folder.join("changes.json")
    }

    fn changes(&self) -> Result<Vec<Before>, Error> {
        let text = self.file(&self.history())?;
        // Damaged, it is begun anew: the notes are what matters.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    fn keep(&self, changes: &[Before]) -> Result<(), Error> {
        let text = serde_json::to_string(changes).map_err(|problem| failed(&self.history(), problem))?;
        self.put(&self.history(), &text)
    }

    /// The text of a file; empty if it is missing.
    fn file(&self, path: &Path) -> Result<String, Error> {
        match fs::metadata(path) {
            Ok(facts) if facts.len() > MOST_BYTES => return Err(failed(path, "it is larger than 1 MiB")),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Ok(_) => {}
            Err(problem) => return Err(failed(path, problem)),
        }
        fs::read_to_string(path).map_err(|problem| failed(path, problem))
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), Error> {
        replace_file(path, text.as_bytes()).map_err(|problem| failed(path, problem))
    }

    fn lock(&self, deadline: Deadline<'_>) -> Result<File, Error> {
        let path = self.folder.join("lock");
        lock_file(&path, deadline).map_err(|problem| failed(&path, problem))?.ok_or(Error::Busy)
    }
}

fn failed(path: &Path, problem: impl ToString) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.to_string() }
}
